//! Datagrams that arrive as a Poisson process at the first link on their path: its queue in equilibrium.

use super::bottleneck::{plain, waiting_places};
use super::{Line, ObservedEntities, Panel, Theory, number};
use tailback_core::network::{Network, Transport};
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_core::traffic::{Arrivals, PacketSize, ProcessSpec};

/// A buffer equivalent to an unlimited one at every relevant stable load.
const ROOMY: f64 = 1_000_000.0;
/// Largest buffer of `md1k`.
const MAX: f64 = 10_000.0;

pub(super) fn lines(network: &Network, observed: &ObservedEntities) -> Result<Vec<Line>, String> {
    // The first links; arrivals at others are not a Poisson process.
    let firsts: Vec<u32> = observed.ports.iter().copied().filter(|&port| crossing(network, port).all(|at| at == 0)).collect();
    if firsts.is_empty() {
        return Err("datagrams reach every link over other links, so that arrivals are not a Poisson process".into());
    }
    firsts.into_iter().map(|port| queue(network, port)).collect()
}

/// For each flow that crosses a port, the number of ports that it crosses before.
fn crossing(network: &Network, port: u32) -> impl Iterator<Item = usize> {
    network.flows.iter().filter_map(move |flow| network.paths[flow.forward as usize].iter().position(|&other| other == port))
}

fn queue(network: &Network, port: u32) -> Result<Line, String> {
    let described = &network.ports[port as usize];
    let name = &described.name;
    if let Some(what) = described.unmodelled() {
        return Err(format!("links.{name}: it {what}"));
    }
    plain(described)?;
    let (mut arrivals, mut packet) = (0.0, None);
    for flow in network.flows.iter().filter(|flow| network.paths[flow.forward as usize].contains(&port)) {
        let group = &network.groups[flow.group as usize];
        let uncovered = |why: &str| Err(format!("flows.{}: {why}", group.name));
        let Transport::Datagram(spec) = &group.transport else { return uncovered("TCP crosses it as well") };
        let (Arrivals::Process(ProcessSpec::Poisson(_)), Some(per_second)) = (&spec.arrivals, spec.per_second()) else {
            return uncovered("packets do not arrive as a Poisson process");
        };
        let (exponential, payload) = match spec.packet {
            PacketSize::Fixed(bytes) => (false, bytes.0 as f64),
            PacketSize::Exponential { mean, .. } if spec.header.0 == 0 => (true, mean),
            _ => return uncovered("packets have neither one size nor exponential sizes including headers"),
        };
        if flow.sender_access.rate.is_some()
            || group.jitter != TimeDelta::ZERO
            || group.send_processing.is_some()
            || group.receive_processing.is_some()
        {
            return uncovered("an access link, jitter or processing time changes the arrival process");
        }
        if group.framing.is_some() || flow.size.is_some() || flow.stop != Time::NEVER {
            return uncovered("does not send whole packets for the whole run");
        }
        let this = (exponential, payload + spec.header.0 as f64);
        if *packet.get_or_insert(this) != this {
            return Err(format!("links.{name}: packets of several sizes share it"));
        }
        arrivals += per_second;
    }
    let (exponential, bytes) = packet.ok_or_else(|| format!("links.{name}: no flow crosses it"))?;
    let servers = f64::from(described.transmitters);
    let load = arrivals * 8.0 * bytes / (described.rate.0 as f64 * servers);
    let waiting = waiting_places(described);
    if waiting.is_none() && load >= 1.0 {
        return Err(format!("links.{name}: a load of {load:.3} has no equilibrium with an unlimited buffer"));
    }
    let places = waiting.map_or(ROOMY, |waiting| servers + waiting);
    let known = [("load", load), ("servers", servers), ("places", places)];
    // Loss and mean wait of accepted packets, in service times.
    let (model, loss, wait) = match () {
        () if exponential => ("mmck", number("mmck", 0, &known)?, number("mmck", 2, &known)?),
        () if servers > 1.0 => {
            return Err(format!("links.{name}: no model covers packets of constant size on {servers} transmitters"));
        }
        () if waiting.is_none() => ("md1_mean_wait", 0.0, number("md1_mean_wait", 0, &known)?),
        () if places > MAX => return Err(format!("links.{name}: the buffer exceeds the limit of its model")),
        () => ("md1k", number("md1k", 0, &known)?, number("md1k", 2, &known)?),
    };
    // Little's law, in packets; plus packets in transmission, where they occupy the buffer.
    let sent = if described.counts_in_service { load * (1.0 - loss) * servers } else { 0.0 };
    let value = load * servers * (1.0 - loss) * wait + sent;
    let theory = Theory::of(model, &["the queue is in equilibrium"]).ok_or("a model is missing")?;
    Ok(Line { panel: Panel::Queue, of: port, value, label: "mean queue", theory })
}
