//! A case from the values of a question, or from the bottleneck of a scenario.

use super::SizingCase;
use crate::round_trips::RoundTrips;
use crate::traffic::{FlowGroup, TcpGroup, Traffic, USER, capacity_bps, is_drop_tail, policy};
use std::collections::BTreeSet;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Buffer, Flow, Network, PortId};
use tailback_models::ParameterError;
use tailback_scenario::{BufferQuestion, Distribution, Duration};

/// Number of flows from which evenly spaced RTTs are treated as a uniform distribution.
const MANY: u64 = 1000;

const EXPECTED: &str = "expected flows without a `size`, or a question with the number of concurrent `flows`";

/// The case of a port of a network.
#[derive(Debug)]
pub struct PortCase {
    /// With a target of 1.
    pub case: SizingCase,
    /// Name of the link.
    pub link: String,
    /// Properties of the scenario that no rule takes into account.
    pub warnings: Vec<String>,
}

impl SizingCase {
    /// # Errors
    /// An RTT of 0.
    pub fn of_question(question: &BufferQuestion) -> Result<SizingCase, ParameterError> {
        let flows = question.flows.0;
        let base_rtt = round_trips(&question.base_rtt, flows);
        let base_rtt = base_rtt.filter(|rtts| rtts.harmonic_s > 0.0 && rtts.mean_s.is_finite());
        let is_paced = || question.presets().all(|preset| (preset.spec)(None).pacing);
        Ok(SizingCase {
            rate_bps: question.rate.rate().0 as f64,
            packet_bytes: question.packet_size.bytes() as f64,
            transmitters: question.transmitters.0,
            flows,
            base_rtt: base_rtt.ok_or_else(|| ParameterError::new("base_rtt", "0 s", "times above 0, such as `100 ms`"))?,
            target: question.target.0,
            inputs: question.inputs.map(|inputs| inputs.0),
            access_rate_bps: question.access_rate.map(|rate| rate.rate().0 as f64),
            paced: question.paced.or_else(|| (!question.preset.is_empty()).then(is_paced)),
            window: question.window.map(|window| window.0),
            other_controllers: others(question.presets().map(|preset| &preset.controller)),
        })
    }

    /// The case of a port, or without one of the port with the smallest capacity per TCP flow.
    ///
    /// # Errors
    /// An error message: no TCP flow crosses the port.
    pub fn of_network(network: &Network, port: Option<PortId>) -> Result<PortCase, String> {
        let traffic = Traffic::of(network);
        let index = port.map_or_else(|| bottleneck(&traffic), Ok)?;
        let port = traffic.port(index);
        let lasting = lasting(&traffic, index);
        if lasting.is_empty() {
            return Err(format!("no long-lived TCP flow crosses `{}`; {EXPECTED}", port.name));
        }
        let flows: Vec<&Flow> = lasting.iter().flat_map(|group| crossing_flows(&traffic, group, index)).collect();
        let rtts: Vec<f64> = flows.iter().map(|flow| network.base_rtt(flow).seconds()).collect();
        let access = lasting.iter().map(|group| group.flows.sender_access).collect::<Option<Vec<_>>>();
        let case = SizingCase {
            rate_bps: port.rate.0 as f64,
            packet_bytes: lasting.iter().map(TcpGroup::packet_bytes).fold(0.0, f64::max),
            transmitters: port.transmitters.into(),
            flows: flows.len() as u64,
            base_rtt: RoundTrips::listed(&rtts),
            target: 1.0,
            inputs: traffic.inputs(index),
            access_rate_bps: access.and_then(|rates| rates.into_iter().max()).map(|rate| rate.0 as f64),
            paced: Some(lasting.iter().all(|group| group.spec.pacing)),
            window: lasting.iter().map(TcpGroup::receiver_window).max(),
            other_controllers: others(lasting.iter().map(|group| group.law)),
        };
        Ok(PortCase { case, link: port.name.clone(), warnings: warnings(&traffic, index, &lasting) })
    }
}

/// Names of the controllers whose windows do not halve, each once.
fn others<'a>(controllers: impl Iterator<Item = &'a ControllerSpec>) -> Vec<String> {
    let others = controllers.filter(|law| !matches!(law, ControllerSpec::Reno(_)));
    let names: BTreeSet<&str> = others.map(|law| law.name().unwrap_or(USER)).collect();
    names.into_iter().map(ToString::to_string).collect()
}

/// `None` for a distribution that a question does not accept.
fn round_trips(given: &Distribution<Duration>, flows: u64) -> Option<RoundTrips> {
    let seconds = |span: &Duration| span.time_delta().0 as f64 / 1e12;
    Some(match given {
        Distribution::Fixed(rtt) => RoundTrips::listed(&[seconds(rtt)]),
        Distribution::List(rtts) => RoundTrips::listed(&rtts.iter().map(seconds).collect::<Vec<f64>>()),
        Distribution::Uniform(low, high) => RoundTrips::uniform(seconds(low), seconds(high)),
        Distribution::Evenly(low, high) if flows <= MANY => {
            let (low, high) = (seconds(low), seconds(high));
            let step = |flow: u64| low + (high - low) * (flow as f64 + 0.5) / flows as f64;
            RoundTrips::listed(&(0..flows).map(step).collect::<Vec<f64>>())
        }
        Distribution::Evenly(low, high) => RoundTrips::uniform(seconds(low), seconds(high)),
        Distribution::Pareto { mean, shape } => RoundTrips::pareto(seconds(mean), *shape),
        Distribution::Lognormal { median, sigma } => RoundTrips::lognormal(seconds(median), *sigma),
        Distribution::Exponential(_) | Distribution::BoundedPareto { .. } | Distribution::Cdf(_) | Distribution::Workload(_) => {
            return None;
        }
    })
}

/// The port with a limited buffer and the smallest capacity per TCP flow.
fn bottleneck(traffic: &Traffic) -> Result<PortId, String> {
    let limited = PortId::all(traffic.network.ports.len()).filter(|&port| traffic.port(port).buffer != Buffer::Unlimited);
    let shares = limited.filter_map(|port| {
        let flows: usize = lasting(traffic, port).iter().map(|group| crossing_flows(traffic, group, port).count()).sum();
        (flows > 0).then(|| (port, capacity_bps(traffic.port(port)) / flows as f64))
    });
    let least = shares.min_by(|(_, one), (_, other)| one.total_cmp(other));
    let missing = || format!("the scenario has no link with a limited buffer and long-lived TCP flows; {EXPECTED}");
    least.map(|(port, _)| port).ok_or_else(missing)
}

/// Long-lived flows that cross a port. Transfers are excluded, because the number of concurrent ones is unknown.
fn lasting<'t, 'a>(traffic: &'t Traffic<'a>, port: PortId) -> Vec<TcpGroup<'t, 'a>> {
    let crosses = |group: &&FlowGroup| group.paths.iter().any(|path| path.contains(&port));
    traffic.groups.iter().filter(crosses).filter(|group| !is_transfer(group)).filter_map(FlowGroup::tcp).collect()
}

fn crossing_flows<'t>(traffic: &'t Traffic, group: &TcpGroup<'_, 't>, port: PortId) -> impl Iterator<Item = &'t Flow> {
    group.flows.flows.iter().filter(move |flow| traffic.network.paths[flow.forward as usize].contains(&port))
}

fn is_transfer(group: &FlowGroup) -> bool {
    group.flows.iter().all(|flow| flow.size.is_some())
}

fn warnings(traffic: &Traffic, index: PortId, groups: &[TcpGroup]) -> Vec<String> {
    let port = traffic.port(index);
    let (name, mut warnings) = (&port.name, Vec::new());
    if !is_drop_tail(port) {
        warnings.push(format!("`{name}` has the policy {}; the rules are for drop-tail queues", policy(port)));
    }
    if let Some(feature) = port.unmodelled() {
        warnings.push(format!("`{name}` {feature}; the rules are for a work-conserving link of constant rate"));
    }
    if port.random_loss > 0.0 || !port.listed_drops.is_empty() {
        warnings.push(format!("`{name}` has losses of its own; in the rules only a full buffer loses packets"));
    }
    for group in groups {
        let at = group.flows.at();
        if !group.is_reno() {
            warnings.push(format!("{at}: the controller is {}; most rules are for windows that halve", group.controller()));
        }
        if !group.flows.is_greedy() {
            warnings.push(format!("{at}: not greedy for the whole run; idle flows use less"));
        }
        if group.flows.group.framing.is_some() {
            warnings.push(format!("{at}: packets travel in cells; the rules count packets"));
        }
    }
    let others = |is: fn(&FlowGroup) -> bool| {
        traffic.crossing(index).filter(|group| is(group)).map(FlowGroup::at).collect::<Vec<_>>().join(", ")
    };
    let transfers = others(|group| group.tcp().is_some() && is_transfer(group));
    if !transfers.is_empty() {
        warnings.push(format!("{transfers}: transfers of limited size; the rules count long-lived flows"));
    }
    let datagrams = others(|group| group.datagrams().is_some());
    if !datagrams.is_empty() {
        warnings.push(format!("{datagrams}: datagrams use part of the link, which the rules assign to TCP"));
    }
    warnings
}
