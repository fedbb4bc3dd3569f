//! ECN has an effect only if flows and a queue on their path use it.

use crate::problem::Report;
use crate::schema::Description;
use std::collections::BTreeSet;
use std::rc::Rc;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{GroupId, Network, Port, Queues, Transport};
use tailback_core::queue::PolicySpec;

/// Warns of flows with ECN and of controllers that receive no marks, and of queues that have only packets to mark that cannot be marked.
pub(super) fn check(description: &Description, network: &Network, queue_places: &[Rc<str>], report: &mut Report) {
    if network.groups.len() != description.flows.len() {
        return;
    }
    check_flows(description, network, report);
    check_queues(description, network, queue_places, report);
}

fn check_flows(description: &Description, network: &Network, report: &mut Report) {
    for ((index, group), name) in GroupId::enumerate(&network.groups).zip(description.flows.keys()) {
        let Transport::Tcp(spec, law) = &group.transport else { continue };
        let uses_marks = uses_marks(law);
        if !spec.ecn && !uses_marks {
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
        let is_dual = |port: &Port| port.scheduling.as_ref().is_some_and(|of| matches!(of.queues, Queues::L4sAndClassic));
        if uses_marks && !group.l4s && description.flows[name].l4s.is_none() && ports.clone().any(is_dual) {
            let message =
                format!("`l4s` is not set: `{law}` shares the Classic queue of `dualpi2`, whose marks are for Reno and CUBIC");
            report.warn(format!("flows.{name}.l4s"), message).expected("`l4s = true`, or `l4s = false` if that is intended");
        }
        if ports.any(marks) {
            continue;
        }
        let expected = "a queue that marks, such as `policy = \"threshold\"`, or `scheduler = \"dualpi2\"`";
        if uses_marks {
            let message = "`controller` reacts to ECN marks, and no queue on the path marks packets";
            report.warn(format!("flows.{name}.tcp.controller"), message).given(law).expected(expected);
        } else {
            let message = "`ecn` has no effect: no queue on the path marks packets";
            report.warn(format!("flows.{name}.tcp.ecn"), message).given("true").expected(expected);
        }
    }
}

/// A policy whose only signal is a mark discards the packets of flows without ECN where it would mark others.
fn check_queues(description: &Description, network: &Network, queue_places: &[Rc<str>], report: &mut Report) {
    let mut with_tcp = vec![false; network.ports.len()];
    let mut with_marks = with_tcp.clone();
    let flows: Vec<_> = description.flows.values().collect();
    for flow in &network.flows {
        let described = flows[flow.group.0 as usize];
        // Cells of an available bit rate service have a mark of their own, and the packets of a stack may have ECN. Controllers that use
        // marks without ECN are reported above.
        let (is_tcp, can_be_marked) = match &network.groups[flow.group].transport {
            Transport::Tcp(spec, law) => (true, spec.ecn || uses_marks(law) || described.abr.is_some()),
            Transport::Datagram(_) => (false, described.tcp.as_ref().is_some_and(|tcp| tcp.stack().is_some())),
        };
        for port in network.paths[flow.forward as usize].iter().map(|port| port.0 as usize) {
            with_tcp[port] |= is_tcp;
            with_marks[port] |= can_be_marked;
        }
    }
    for (index, port) in network.ports.iter().enumerate().filter(|(index, _)| with_tcp[*index] && !with_marks[*index]) {
        let marker = port.policies().find(|policy| policy.only_marks());
        if let Some(policy) = marker.and_then(PolicySpec::name) {
            let message = format!("`{policy}` discards packets instead of marking them: no flow here has ECN");
            report.warn(&*queue_places[index], message).expected("`ecn = true` in `tcp`, or a policy such as `codel`");
        }
    }
}

fn uses_marks(law: &ControllerSpec) -> bool {
    !matches!(law, ControllerSpec::User(_)) && law.abilities().subscriptions.marks
}

/// Whether the queue may mark packets.
fn marks(port: &Port) -> bool {
    let is_aqm = port.scheduling.as_ref().is_some_and(|scheduling| scheduling.scheduler.is_aqm());
    is_aqm || port.policies().any(|policy| policy.may_mark())
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn warnings(queue: &str, tcp: &str) -> Vec<String> {
        let text = format!(
            "duration = \"1 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"1 ms\"\nqueue = {{buffer = \"90 packets\", {queue}}}\n\
             [flows.web]\nfrom = \"left\"\nto = \"right\"\ntcp = {{preset = \"sack\", {tcp}}}\n"
        );
        let scenario = Scenario::from_toml(&text, "").unwrap_or_else(|errors| panic!("{errors}"));
        let (_, warnings) = scenario.build_with_warnings().unwrap_or_else(|errors| panic!("{errors}"));
        warnings.list.iter().map(|warning| format!("{}: {}", warning.at, warning.message)).collect()
    }

    #[test]
    fn a_controller_without_marks_causes_a_warning() {
        let threshold = "policy = \"threshold\", threshold = \"20 packets\"";
        assert_eq!(
            warnings(threshold, "controller = \"dctcp\""),
            ["flows.web.tcp.ecn: `ecn` is off, and `dctcp` reacts to ECN marks"]
        );
        assert_eq!(
            warnings("policy = \"drop_tail\"", "controller = \"dctcp\", ecn = true"),
            ["flows.web.tcp.controller: `controller` reacts to ECN marks, and no queue on the path marks packets"]
        );
        assert!(warnings(threshold, "controller = \"dctcp\", ecn = true").is_empty());
    }

    #[test]
    fn a_scalable_controller_in_the_classic_queue_causes_a_warning() {
        let dctcp = "controller = \"dctcp\", ecn = true";
        let dual = |flow: &str| {
            let mut found = warnings("scheduler = \"dualpi2\"", &format!("{dctcp}}}\n{flow}\nstart = \"0 s\" #"));
            found.retain(|text| text.starts_with("flows.web.l4s"));
            found
        };
        let message =
            "flows.web.l4s: `l4s` is not set: `dctcp` shares the Classic queue of `dualpi2`, whose marks are for Reno and CUBIC";
        assert_eq!(dual(""), [message]);
        assert!(dual("l4s = true").is_empty() && dual("l4s = false").is_empty());
        assert!(warnings("scheduler = \"dualpi2\"", "controller = \"prague\", ecn = true").is_empty());
        assert!(warnings("policy = \"codel\"", dctcp).is_empty());
    }

    #[test]
    fn ecn_without_a_queue_that_marks_causes_a_warning() {
        let none = ["flows.web.tcp.ecn: `ecn` has no effect: no queue on the path marks packets"];
        assert_eq!(warnings("policy = \"drop_tail\"", "ecn = true"), none);
        for queue in ["policy = \"codel\"", "policy = \"pie\"", "scheduler = \"dualpi2\""] {
            assert!(warnings(queue, "ecn = true").is_empty(), "{queue}");
            assert!(warnings(queue, "ecn = false").is_empty(), "{queue}");
        }
    }

    #[test]
    fn a_queue_that_can_only_mark_without_flows_that_can_be_marked_causes_a_warning() {
        for (policy, settings) in [
            ("threshold", "threshold = \"20 packets\""),
            ("ramp", "min_threshold = \"10 packets\", max_threshold = \"20 packets\""),
        ] {
            let queue = format!("policy = \"{policy}\", {settings}");
            let message =
                format!("topology.dumbbell.queue: `{policy}` discards packets instead of marking them: no flow here has ECN");
            assert_eq!(warnings(&queue, "ecn = false"), [message]);
            assert!(warnings(&queue, "ecn = true").is_empty(), "{policy}");
        }
    }
}
