//! Warnings about settings of prices with which rates do not converge: unstable gains, buffers too small for the start, and price ranges
//! too coarse to distinguish rates.

use crate::problem::Report;
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;
use std::rc::Rc;
use tailback_core::congestion::{ControllerSpec, RemSourceSpec};
use tailback_core::network::{Buffer, Flow, Network, Port, PortId, Transport};
use tailback_core::price::{Price, PriceMeaning};
use tailback_core::queue::{PolicySpec, RemSpec};

/// Phase in a round trip from which oscillations reduce the utilisation. With the queue in the price of REM, small oscillations occur at any
/// gain.
const TURN: f64 = 0.7;

/// Stability limit of a setting: a price integrates arrivals, and its effect is delayed by a round trip.
struct Limit {
    setting: &'static str,
    given: f64,
    /// The value from which small oscillations do not decay.
    min_unstable: f64,
    /// The value from which they may not decay: the queue of a large oscillation increases the round trip, or marks delay prices.
    doubtful: f64,
}

/// Warns of gains with which prices oscillate.
pub(super) fn warn_of_swings(network: &Network, places: &[Rc<str>], report: &mut Report) {
    for (port, flows) in crossing(network) {
        let rtt = flows.iter().map(|flow| network.base_rtt(flow).seconds()).fold(0.0, f64::max);
        let spec = &network.ports[port];
        let told = signalling_delay(network, spec, &flows);
        let limit = |setting, given, min_unstable| Limit { setting, given, min_unstable, doubtful: min_unstable };
        let limit = match &spec.policy {
            PolicySpec::MaxNet(maxnet) => {
                // Exponential demand: the loop gain is gain / period for any link rate.
                let period = maxnet.period.seconds();
                let max = |delay: f64| FRAC_PI_2 * period / (delay + period);
                Limit { doubtful: 0.6 * max(rtt + told), ..limit("gain", maxnet.gain, max(rtt)) }
            }
            PolicySpec::Rem(rem) => {
                let max = |delay| least_unstable_gamma(rem, spec, network, &flows, delay);
                Limit { doubtful: max(rtt + told), ..limit("gamma", rem.gamma, max(rtt)) }
            }
            // Windows change with the queue, one round trip later: the loop gain per round trip is the slope.
            PolicySpec::Clamp(clamp) => limit("slope", clamp.slope, FRAC_PI_2),
            // The same for rates, per mean round trip.
            PolicySpec::Rcp(rcp) => Limit { doubtful: FRAC_PI_2 * rtt / (rtt + told), ..limit("alpha", rcp.alpha, FRAC_PI_2) },
            PolicySpec::Xcp(xcp) => limit("alpha", xcp.alpha, FRAC_PI_2),
            _ => continue,
        };
        let at = format!("{}.{}", places[port], limit.setting);
        if limit.given > limit.doubtful && report.is_valid(&at) {
            let (max, verb) = match limit.given > limit.min_unstable {
                true => (limit.min_unstable, "makes"),
                false => (limit.doubtful, "may make"),
            };
            let bound = if max < 0.01 { format!("{max:.2e}") } else { format!("{max:.3}") };
            let by_marks =
                if told > 0.0 { format!(" and price feedback by marks in {:.0} ms", 1e3 * told) } else { String::new() };
            let message = format!(
                "`{}` {verb} price and rates oscillate, with round trips of {:.0} ms{by_marks}",
                limit.setting,
                1e3 * rtt
            );
            report
                .warn(at, message)
                .given(limit.given.to_string())
                .expected(format!("less than {bound}; half of that leaves a margin"));
        }
    }
}

/// Warns of buffers that are too small for the start of senders: they send at `max_rate` until an integrated price reduces it, which takes
/// several round trips.
pub(super) fn warn_of_starts(network: &Network, places: &[Rc<str>], report: &mut Report) {
    for (port, flows) in crossing(network) {
        let spec = &network.ports[port];
        let (rate, rtt) = (capacity(spec), flows.iter().map(|flow| network.base_rtt(flow).seconds()).fold(0.0, f64::max));
        let wanted: f64 = flows
            .iter()
            .map(|flow| law(network, flow).and_then(|law| law.rate_at(Price(0.0))).map_or(0.0, |rate| rate.0 as f64))
            .sum();
        let packet = flows.iter().map(|flow| packet_bits(network, flow)).fold(0.0, f64::max);
        let bits = match spec.buffer {
            Buffer::Units(packets) => packets as f64 * packet,
            Buffer::Bytes(bytes) => 8.0 * bytes as f64,
            Buffer::Unlimited => continue,
        };
        let integrates = matches!(spec.policy.price_meaning(), Some(PriceMeaning::Cost | PriceMeaning::Marginal));
        let at = format!("{}.buffer", places[port]);
        if integrates && wanted > 2.0 * rate && bits < rate * rtt && report.is_valid(&at) {
            let message =
                "`buffer` is too small for the initial rates of senders that use its price: many packets are lost at the start";
            let expected = format!(
                "at least a bandwidth-delay product, {:.0} packets, or a smaller `max_rate` of the controllers",
                rate * rtt / packet
            );
            report.warn(at, message).given(format!("{:.0} packets", bits / packet)).expected(expected);
        }
    }
}

/// Mean time in seconds until marks have encoded a changed price, if the flows share the link.
fn signalling_delay(network: &Network, port: &Port, flows: &[&Flow]) -> f64 {
    let bits: f64 = flows.iter().map(|flow| packet_bits(network, flow)).sum();
    f64::from(network.prices.scheme.cycle()) / 2.0 * bits / capacity(port)
}

fn capacity(port: &Port) -> f64 {
    port.rate.0 as f64 * f64::from(port.transmitters)
}

fn packet_bits(network: &Network, flow: &Flow) -> f64 {
    match &network.groups[flow.group].transport {
        Transport::Tcp(spec, _) => 8.0 * (spec.mss + spec.header).0 as f64,
        Transport::Datagram(_) => 0.0,
    }
}

/// The controller of a flow that uses prices.
fn law<'a>(network: &'a Network, flow: &Flow) -> Option<&'a ControllerSpec> {
    match &network.groups[flow.group].transport {
        Transport::Tcp(_, law) if law.abilities().price_meaning.is_some() => Some(law),
        _ => None,
    }
}

/// With rates w / q the loop gain is K = gamma c / q times 1 / s + (alpha / period) / s^2, and q is at most the sum of weights over the link rate.
fn least_unstable_gamma(rem: &RemSpec, port: &Port, network: &Network, flows: &[&Flow], rtt: f64) -> f64 {
    let rate = capacity(port);
    let weights: f64 = rem_sources(network, flows).map(|source| source.weight.0 as f64).sum();
    let wanted: f64 = rem_sources(network, flows).map(|source| source.max_rate.0 as f64).sum();
    if wanted <= rate {
        // A link that its flows cannot fill has a price of 0.
        return f64::INFINITY;
    }
    let queue = rem.alpha / rem.period.seconds();
    let swings = |gain: f64| {
        // The crossover frequency, and the phase margin there.
        let crossover = (gain * (gain + (gain * gain + 4.0 * queue * queue).sqrt()) / 2.0).sqrt();
        crossover * rtt > (crossover / queue).atan().max(TURN)
    };
    // Bisection between a stable gain and the limit without the queue.
    let (mut calm, mut wild) = (0.0, FRAC_PI_2 / rtt);
    for _ in 0..50 {
        let between = (calm + wild) / 2.0;
        *(if swings(between) { &mut wild } else { &mut calm }) = between;
    }
    wild * weights / rate / (rate / (8.0 * f64::from(rem.mean_packet_size)))
}

/// Warns of ranges with too few levels: there should be at least one between the price at which the flows of a queue fill its link and
/// twice that price, or the one at which demand falls to a third.
pub(super) fn warn_of_coarse_ranges(network: &Network, places: &[Rc<str>], report: &mut Report) {
    let spec = &network.prices;
    if !spec.has_range() {
        return;
    }
    for (port, flows) in crossing(network) {
        let rate = capacity(&network.ports[port]);
        let at_rest = match network.ports[port].policy.price_meaning() {
            Some(PriceMeaning::Cost) => (0.0, 1.0),
            Some(PriceMeaning::Rate) => (1.0 / rate, 2.0 / rate),
            Some(PriceMeaning::Marginal) => {
                let price = rem_sources(network, &flows).map(|source| source.weight.0 as f64).sum::<f64>() / rate;
                (price, 2.0 * price)
            }
            Some(PriceMeaning::Wait | PriceMeaning::Feedback) | None => continue,
        };
        let share = (spec.mapping.mapped(at_rest.1).0 - spec.mapping.mapped(at_rest.0).0) * spec.scheme.resolution();
        if share < 1.0 && spec.mapping.covers(at_rest.0) {
            let message = format!(
                "`prices` has too wide a range: the prices {:.3e} and {:.3e} of `{}` are encoded alike, though rates differ by a factor of 2 or more",
                at_rest.0, at_rest.1, places[port]
            );
            let given = format!("least = {:e}, most = {:e}", spec.mapping.min, spec.mapping.max);
            report.warn("prices", message).given(given).expected("a narrower range, or `mapping = \"logarithmic\"`");
            return;
        }
    }
}

/// For each port the flows that cross it and use a price.
fn crossing(network: &Network) -> BTreeMap<PortId, Vec<&Flow>> {
    let mut crossing: BTreeMap<PortId, Vec<&Flow>> = BTreeMap::new();
    for flow in &network.flows {
        if law(network, flow).is_some() {
            network.paths[flow.forward as usize].iter().for_each(|&port| crossing.entry(port).or_default().push(flow));
        }
    }
    crossing
}

fn rem_sources<'a>(network: &'a Network, flows: &[&'a Flow]) -> impl Iterator<Item = &'a RemSourceSpec> {
    flows.iter().filter_map(|flow| match law(network, flow) {
        Some(ControllerSpec::Rem(source)) => Some(source),
        _ => None,
    })
}
