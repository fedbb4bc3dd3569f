//! Flows with the available bit rate service (`abr`), and the queues that control their rates.

use super::cells::Crossing;
use super::graph::Graph;
use crate::problem::Report;
use crate::quantity::Rate;
use crate::schema::{self, Buffer};
use std::collections::BTreeSet;
use tailback_core::abr::{SourceSpec, TCR};
use tailback_core::network::{self, Abr, Network, PortId};
use tailback_core::primitives::units;
use tailback_core::primitives::units::Units;

/// Converts the service for the core; `at` is the path of the flow group.
pub(super) fn abr(flow: &schema::Flow, at: &str, report: &mut Report) -> Option<Abr> {
    let given = flow.abr.as_ref()?;
    let at_abr = format!("{at}.abr");
    if flow.framing.is_none() {
        report.add(&at_abr, "`abr` requires `framing`").expected("also `framing`, or no `abr`");
        return None;
    }
    let access = flow.sender_access.as_ref().and_then(|access| access.rate);
    let Some(pcr) = given.pcr.or(access) else {
        let problem = report.add(format!("{at_abr}.pcr"), "`pcr` is missing, and `sender_access` has no rate");
        problem.expected("a rate such as `155 Mbps`, or a `rate` of `sender_access`");
        return None;
    };
    if access.is_some_and(|access| pcr.rate() > access.rate()) {
        let problem = report.add(format!("{at_abr}.pcr"), "`pcr` exceeds the rate of `sender_access`");
        problem.given(pcr.to_string()).expected(format!("at most the rate of `{at}.sender_access`"));
    }
    let icr = given.icr.unwrap_or(pcr);
    let mut bounded = |key: &str, rate: Option<Rate>, max: Rate, what: &str| {
        if let Some(rate) = rate.filter(|rate| rate.rate() > max.rate()) {
            let problem = report.add(format!("{at_abr}.{key}"), format!("`{key}` exceeds {what}"));
            problem.given(rate.to_string()).expected(format!("at most {max}"));
        }
    };
    bounded("icr", given.icr, pcr, "the peak cell rate");
    bounded("mcr", given.mcr, icr, "the initial cell rate");
    for (key, rate) in [("pcr", Some(pcr)), ("icr", given.icr)] {
        if let Some(rate) = rate.filter(|rate| rate.rate() < TCR) {
            let problem = report
                .add(format!("{at_abr}.{key}"), format!("`{key}` is below 10 cells per second, which every source may send"));
            problem.given(rate.to_string()).expected(format!("at least {} bps", TCR.0));
        }
    }
    for (key, share) in [("rif", given.rif), ("rdf", given.rdf)] {
        let at = format!("{at_abr}.{key}");
        if share.0 == 0.0 && report.is_valid(&at) {
            let problem = report.add(at, format!("`{key}` of 0 stops the rate from following the network's feedback"));
            problem.given("0").expected("above 0, at most 1, such as 0.0625");
        }
    }
    if given.ack_threshold.is_some() && flow.tcp.is_none() {
        report
            .add(format!("{at_abr}.ack_threshold"), "`ack_threshold` requires `tcp`: datagrams are not acknowledged")
            .expected("`tcp`, or no `ack_threshold`");
    }
    if let (Some(threshold), Buffer::Packets(places)) = (given.ack_threshold, given.buffer)
        && threshold.0 > places
    {
        let problem = report.warn(
            format!("{at_abr}.ack_threshold"),
            "`ack_threshold` exceeds the edge's buffer: no acknowledgement is held back",
        );
        problem.given(threshold.0.to_string()).expected(format!("at most {places}, the edge's `buffer`"));
    }
    let source = SourceSpec {
        minimum: given.mcr.map(Rate::rate),
        initial: icr.rate(),
        nrm: given.nrm.0 as u32,
        trm: given.trm.time_delta(),
        rif: given.rif.0,
        rdf: given.rdf.0,
        cdf: given.cdf.0,
        adtf: given.adtf.time_delta(),
        tbe: given.tbe.0 as u32,
        ..SourceSpec::with_peak(pcr.rate())
    };
    let holds_acks_from = given.ack_threshold.map(|count| Units(count.0));
    Some(Abr { source, buffer: buffer(given.buffer, &at_abr, report)?, holds_acks_from })
}

/// The buffer of an edge device.
fn buffer(buffer: Buffer, at: &str, report: &mut Report) -> Option<network::Buffer> {
    let at = format!("{at}.buffer");
    match buffer {
        Buffer::Unlimited => Some(network::Buffer::Unlimited),
        Buffer::Packets(count) if count > 0 => Some(network::Buffer::Units(count)),
        Buffer::Bytes(size) if size.bytes() > 0 => Some(network::Buffer::Bytes(size.bytes())),
        Buffer::Packets(_) | Buffer::Bytes(_) => {
            report
                .add(at, "`buffer` of the edge has no room for a packet")
                .given(buffer.to_string())
                .expected("at least one packet");
            None
        }
        Buffer::Cells(_) | Buffer::Share(_) | Buffer::Time(_) => {
            let problem = report.add(at, "`buffer` of the edge cannot be in cells, percent or time");
            problem.given(buffer.to_string()).expected("a buffer such as `100 packets`, `50 kB` or `unlimited`");
            None
        }
    }
}

/// Reports conflicts between flows with the service and the queues on their paths.
pub(super) fn check(crossings: &[Crossing], graph: &Graph, report: &mut Report) {
    let mut told: BTreeSet<PortId> = BTreeSet::new();
    for crossing in crossings {
        let Some(abr) = crossing.group.abr else { continue };
        let forward: BTreeSet<PortId> = crossing.ways.iter().flat_map(|(forward, _)| forward).copied().collect();
        told.extend(&forward);
        let at = format!("flows.{}.abr", crossing.name);
        if let (network::Buffer::Bytes(bytes), Some(packet)) = (abr.buffer, crossing.group.transport.full_packet())
            && units::Bytes(bytes) < packet
            && report.is_valid(&at)
        {
            let problem = report.add(format!("{at}.buffer"), "`buffer` of the edge is smaller than a full packet");
            problem.given(format!("{bytes} B")).expected(format!("at least {} B", packet.0));
        }
        let says = |port: &&PortId| {
            let mut policies = graph.ports[**port].policies();
            policies.any(|policy| policy.writes_explicit_rate() || policy.may_mark())
        };
        if !forward.iter().any(|port| says(&port)) && report.is_valid(&at) {
            let problem =
                report.warn(&at, "`abr` receives no feedback: no queue on the path marks cells or allocates rates, so that each flow sends at its peak cell rate");
            problem.expected("a queue policy such as `threshold` (EFCI) or `erica`");
        }
    }
    for (id, port) in PortId::enumerate(&graph.ports) {
        let Some(policy) = port.policies().find(|policy| policy.writes_explicit_rate()) else { continue };
        let name = policy.name().unwrap_or_default();
        let (_, queue) = graph.buffer_as_written(id);
        if port.scheduling.is_some() && report.is_valid(queue) {
            let problem =
                report.add(format!("{queue}.policy"), "`policy` allocates the whole link, which requires a single queue");
            problem.given(name).expected("no `scheduler`, or another policy");
        }
        let is_crossed = crossings.iter().any(|crossing| crossing.ways.iter().any(|(forward, _)| forward.contains(&id)));
        if is_crossed && !told.contains(&id) && report.is_valid(queue) {
            let problem = report.warn(
                format!("{queue}.policy"),
                "`policy` allocates rates that no flow uses: the queue accepts every cell that fits",
            );
            problem.given(name).expected("flows with `abr` whose data crosses the link");
        }
    }
}

/// Warns of minimum cell rates that a link cannot guarantee.
pub(super) fn check_guarantees(description: &schema::Description, network: &Network, report: &mut Report) {
    let minimum = |flow: &network::Flow| Some(network.groups[flow.group].abr?.source.minimum?.0);
    for (id, port) in PortId::enumerate(&network.ports) {
        let Some(share) = port.policy.assigned_share() else { continue };
        let crosses = |flow: &&network::Flow| network.paths[flow.forward as usize].contains(&id);
        let given = || network.flows.iter().filter(crosses).filter_map(|flow| Some((flow.group, minimum(flow)?)));
        let (all, target) = (given().map(|(_, rate)| rate).fold(0, u64::saturating_add), (share * port.rate.0 as f64) as u64);
        let Some((group, _)) = given().next().filter(|_| all > target) else { continue };
        let Some((name, _)) = description.flows.get_index(group.0 as usize) else { continue };
        let message =
            format!("`mcr` is not guaranteed: the minimum cell rates of the flows exceed the target rate of `{}`", port.name);
        let problem = report.warn(format!("flows.{name}.abr.mcr"), message);
        let expected =
            format!("at most {}, the `target` of `{}` times `rate`", Rate::new(target), port.policy.name().unwrap_or_default());
        problem.given(format!("{} for all flows", Rate::new(all))).expected(expected);
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;
    use tailback_core::abr::SourceSpec;
    use tailback_core::network::{Abr, Buffer};
    use tailback_core::primitives::units::{Rate, TimeDelta, Units};

    /// A flow through an ATM switch with this queue and this `abr`.
    fn built(queue: &str, abr: &str) -> (Option<Abr>, Vec<String>) {
        let text = format!(
            "duration = \"1 s\"\n[nodes]\na = {{}}\nb = {{kind = \"host\"}}\n[links.link]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbps\"\n\
             delay = \"1 ms\"\nqueue = {{buffer = \"100 cells\", {queue}}}\n[flows.vc]\nfrom = \"a\"\nto = \"b\"\nframing = {{}}\n\
             sender_access = {{rate = \"5 Mbps\"}}\ntcp = {{preset = \"reno\"}}\n{abr}\n"
        );
        let scenario = Scenario::from_toml(&text, "").unwrap_or_else(|errors| panic!("{errors}"));
        let (network, warnings) = scenario.build_with_warnings().unwrap_or_else(|errors| panic!("{errors}"));
        let warnings = warnings.list.iter().map(|warning| format!("{}: {}", warning.at, warning.message)).collect();
        (network.groups[0].abr, warnings)
    }

    #[test]
    fn defaults_are_those_of_the_specification() {
        let (abr, warnings) = built("policy = \"erica\"", "abr = {buffer = \"9 packets\"}");
        let source = SourceSpec::with_peak(Rate(5_000_000));
        assert_eq!(abr, Some(Abr { source, buffer: Buffer::Units(9), holds_acks_from: None }));
        assert!(warnings.is_empty(), "{warnings:?}");
    }

    #[test]
    fn all_settings_reach_the_core() {
        let given = "abr = {buffer = \"9 kB\", pcr = \"4 Mbps\", icr = \"2 Mbps\", mcr = \"1 Mbps\", nrm = 16, trm = \"50 ms\", rif = 0.5, \
                     rdf = 0.25, cdf = 0.125, tbe = 64, adtf = \"1 s\", ack_threshold = 2}";
        let source = SourceSpec {
            minimum: Some(Rate(1_000_000)),
            initial: Rate(2_000_000),
            nrm: 16,
            trm: TimeDelta::from_millis(50),
            rif: 0.5,
            rdf: 0.25,
            cdf: 0.125,
            tbe: 64,
            adtf: TimeDelta::from_millis(1000),
            ..SourceSpec::with_peak(Rate(4_000_000))
        };
        let expected = Abr { source, buffer: Buffer::Bytes(9000), holds_acks_from: Some(Units(2)) };
        assert_eq!(built("policy = \"erica\"", given).0, Some(expected));
    }

    #[test]
    fn sources_without_feedback_and_switches_without_sources_cause_warnings() {
        let abr = "abr = {buffer = \"9 packets\"}";
        let silent = "flows.vc.abr: `abr` receives no feedback: no queue on the path marks cells or allocates rates, so that each flow sends at its peak cell rate";
        assert_eq!(built("policy = \"drop_tail\"", abr).1, [silent]);
        assert!(built("policy = \"threshold\", threshold = \"20 cells\"", abr).1.is_empty());
        let unheard =
            "links.link.queue.policy: `policy` allocates rates that no flow uses: the queue accepts every cell that fits";
        assert_eq!(built("policy = \"erica\"", "").1, [unheard]);
        // 40 % of 10 Mbit/s are 4.
        let mcr = |rate: &str| {
            built("policy = \"erica\", target = 0.4", &format!("abr = {{buffer = \"9 packets\", mcr = \"{rate}\"}}")).1
        };
        let exceeds =
            "flows.vc.abr.mcr: `mcr` is not guaranteed: the minimum cell rates of the flows exceed the target rate of `link`";
        assert_eq!((mcr("4.1 Mbps"), mcr("4 Mbps")), (vec![exceeds.to_string()], Vec::new()));
        let grows = "let the load settle above the rate of the link, at up to (1 + delta) times the target";
        let warned = built("policy = \"erica\", target = 0.95", abr).1;
        assert!(warned.len() == 1 && warned[0].contains(grows), "{warned:?}");
    }
}
