//! Controllers that react to ECN marks require ECN and a queue that marks.

use crate::problem::Report;
use crate::schema::Description;
use std::collections::BTreeSet;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{GroupId, Network, Port, Transport};

/// Warns of controllers that receive no marks: they react to losses only.
pub(super) fn check(description: &Description, network: &Network, report: &mut Report) {
    if network.groups.len() != description.flows.len() {
        return;
    }
    for ((index, group), name) in GroupId::enumerate(&network.groups).zip(description.flows.keys()) {
        let Transport::Tcp(spec, law) = &group.transport else { continue };
        if matches!(law, ControllerSpec::User(_)) || !law.abilities().subscriptions.marks {
            continue;
        }
        let law = law.name().unwrap_or_default();
        if !spec.ecn {
            let problem = report.warn(format!("flows.{name}.tcp.ecn"), format!("`ecn` is off, and `{law}` reacts to ECN marks"));
            problem.given("false").expected("ecn = true");
            continue;
        }
        let paths: BTreeSet<u32> = network.flows.iter().filter(|flow| flow.group == index).map(|flow| flow.forward).collect();
        let mut ports = paths.iter().flat_map(|&path| &network.paths[path as usize]).map(|&port| &network.ports[port]);
        let is_aqm = |port: &Port| port.scheduling.as_ref().is_some_and(|scheduling| scheduling.scheduler.is_aqm());
        if !ports.any(|port| is_aqm(port) || port.policies().any(|policy| policy.may_mark())) {
            let problem = report.warn(
                format!("flows.{name}.tcp.controller"),
                "`controller` reacts to ECN marks, and no queue on the path marks packets",
            );
            problem.given(law).expected("a queue that marks, such as `policy = \"threshold\"`, or `scheduler = \"dualpi2\"`");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn warnings(queue: &str, tcp: &str) -> Vec<String> {
        let text = format!(
            "duration = \"1 s\"\n[topology.dumbbell]\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\nqueue = {{buffer = \"90 packets\", {queue}}}\n\
             [flows.web]\nfrom = \"left\"\nto = \"right\"\ntcp = {{preset = \"sack\", controller = \"dctcp\"{tcp}}}\n"
        );
        let scenario = Scenario::from_toml(&text, "").unwrap_or_else(|errors| panic!("{errors}"));
        let (_, warnings) = scenario.build_with_warnings().unwrap_or_else(|errors| panic!("{errors}"));
        warnings.list.iter().map(|warning| format!("{}: {}", warning.at, warning.message)).collect()
    }

    #[test]
    fn a_controller_without_marks_causes_a_warning() {
        let threshold = "policy = \"threshold\", threshold = \"20 packets\"";
        assert_eq!(warnings(threshold, ""), ["flows.web.tcp.ecn: `ecn` is off, and `dctcp` reacts to ECN marks"]);
        let drop_tail = "policy = \"drop_tail\"";
        assert_eq!(
            warnings(drop_tail, ", ecn = true"),
            ["flows.web.tcp.controller: `controller` reacts to ECN marks, and no queue on the path marks packets"]
        );
        assert!(warnings(threshold, ", ecn = true").is_empty());
    }
}
