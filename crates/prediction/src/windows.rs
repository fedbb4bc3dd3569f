//! TCP flows whose windows never overflow a buffer: window divided by RTT.

use crate::bundle::Bundle;
use crate::number_text::packets;
use crate::prediction::{AppliedModel, Prediction, Window};
use crate::traffic::{TcpGroup, Traffic, capacity_bps, link, waiting_places};
use tailback_core::network::{Buffer, Flow, PortId};

/// Buffers of at least this part of all windows hold their bursts in slow start, which sends two packets for each that leaves.
const SLOW_START: f64 = 0.5;
/// Buffers of at least this part of all windows hold their bursts in congestion avoidance: docs/evidence/theory.md.
const BURSTS: f64 = 0.3;
/// The same if no window exceeds `FEW_PACKETS`.
const BURSTS_OF_FEW: f64 = 0.15;
const FEW_PACKETS: f64 = 4.0;
/// Largest window of one flow whose bursts two places hold, with RACK and without it.
const LONE_WINDOW_OF_RACK: f64 = 10.0;
const LONE_WINDOW: f64 = 48.0;
/// Smaller buffers do not hold the bursts that acknowledgements of two segments cause.
const SMALL_BUFFER: u64 = 3;
/// Part of the measurement interval after which windows are not yet full.
const SHORT: f64 = 0.2;
/// Windows above this are practically unlimited.
const MAX_WINDOW: u64 = 1_000_000;

/// Whether windows limit all flows: links and buffers hold them, and nothing is lost.
pub(crate) fn are_limits(bundle: &Bundle) -> bool {
    bundle.groups.iter().all(|group| group.final_window().is_some_and(|window| window < MAX_WINDOW))
        && bundle.ports.iter().all(|&port| bundle.traffic.port(port).random_loss == 0.0)
        && (bundle.ports.iter().all(|&port| holds_all(bundle, port)) || fits(bundle))
}

/// Whether the buffer holds the final windows of all flows, whatever is in transit.
fn holds_all(bundle: &Bundle, index: PortId) -> bool {
    match bundle.traffic.port(index).buffer {
        Buffer::Unlimited => true,
        Buffer::Units(places) | Buffer::Bytes(places) => windows_at(bundle, index) <= places as f64,
    }
}

fn windows_at(bundle: &Bundle, index: PortId) -> f64 {
    bundle.crossing(index).map(|(_, group)| group.flows.count() as f64 * window(group)).sum()
}

/// Whether at most one link is full with all windows in flight, and its buffer holds the packets that are not in transit.
fn fits(bundle: &Bundle) -> bool {
    let all = rates(bundle, 0.0, |_| 1.0);
    let over: Vec<PortId> = bundle.ports.iter().copied().filter(|&port| bundle.load(port, &all) > 1.0).collect();
    match over[..] {
        [] => true,
        [port] => waiting_places(bundle.traffic.port(port))
            .is_none_or(|places| waiting(bundle, port, queueing_delay_s(bundle, port, |_| 1.0)) <= places as f64),
        _ => false,
    }
}

/// Number of packets that wait at this delay.
fn waiting(bundle: &Bundle, port: PortId, wait_s: f64) -> f64 {
    let packet_bytes = bundle.groups.iter().map(TcpGroup::packet_bytes).fold(0.0, f64::max);
    wait_s * capacity_bps(bundle.traffic.port(port)) / (8.0 * packet_bytes)
}

/// The final window in segments; 0 if its controller does not define one.
fn window(group: &TcpGroup) -> f64 {
    group.final_window().unwrap_or(0) as f64
}

/// Window divided by RTT, increased by the queueing delay of the one link that would be overloaded.
pub(crate) fn predict(bundle: &Bundle, found: &mut Prediction) {
    let measured = bundle.traffic.measured;
    let name = |port: PortId| link(bundle.traffic.port(port));
    let all = rates(bundle, 0.0, |_| 1.0);
    let over: Vec<PortId> = bundle.ports.iter().copied().filter(|&port| bundle.load(port, &all) > 1.0).collect();
    if let [first, second, ..] = over[..] {
        return found.exclude(name(second), format!("a second bottleneck in addition to {}", name(first)));
    }
    let rates = match over[..] {
        [] => rates(bundle, 0.0, |flow| measured.part(flow)),
        _ => mean_rates(bundle, over[0], found),
    };
    for (group, rates) in bundle.groups.iter().zip(&rates) {
        for (flow, rate) in found.of(group.flows).iter_mut().zip(rates) {
            (flow.goodput_bps, flow.loss_rate) = (8.0 * group.mss() * rate, 0.0);
            flow.window = Some(Window::Constant(window(group)));
        }
    }
    for &port in &bundle.ports {
        (found.queue(port).loss_rate, found.queue(port).utilisation) = (0.0, bundle.load(port, &rates).min(1.0));
    }
    let mut model = window_over_rtt("RFC 7323, section 1.1; Little 1961 for the queue");
    model.at = bundle.ports.iter().map(|&port| name(port)).chain(bundle.groups_at()).collect();
    model.simplifies.push("all acknowledgements return without queueing".into());
    model.warnings.extend(bundle.ports.iter().filter_map(|&port| overflow(bundle, port)));
    for group in bundle.groups.iter().filter(|group| is_parted(group)) {
        let text = "packets of a window of one acknowledgement that arrive apart wait for the receiver's timer, which is shorter than the RTT";
        model.warnings.push(format!("{}: {text}", group.flows.at()));
    }
    found.models.push(model);
}

/// Whether the receiver's timer may acknowledge a part of a window before the rest arrives.
fn is_parted(group: &TcpGroup) -> bool {
    let is_single = window(group) <= f64::from(group.segments_per_ack());
    let is_short = |timeout_s: f64| group.flows.base_rtts_s.iter().any(|&rtt_s| rtt_s >= timeout_s);
    is_single && group.spec.delayed_ack.is_some_and(|delayed| delayed.every > 1 && is_short(delayed.timeout.seconds()))
}

/// Mean rates in the measurement interval with a queue at a port, by the flows that send in each part of it.
fn mean_rates(bundle: &Bundle, port: PortId, found: &mut Prediction) -> Vec<Vec<f64>> {
    let mut mean: Vec<Vec<f64>> = bundle.groups.iter().map(|group| vec![0.0; group.flows.count()]).collect();
    let (mut queue, mut served) = (0.0, 0.0);
    for (part, share) in bundle.traffic.measured.parts(bundle.all_flows()) {
        let part = |flow: &Flow| part.part(flow);
        let wait_s = queueing_delay_s(bundle, port, part);
        let now = rates(bundle, wait_s, part);
        queue += share * waiting(bundle, port, wait_s) * bundle.load(port, &now);
        served += share * bundle.load(port, &now);
        mean.iter_mut().flatten().zip(now.iter().flatten()).for_each(|(mean, now)| *mean += share * now);
    }
    let of_port = found.queue(port);
    of_port.mean_queue_units = queue;
    // Little 1961.
    of_port.mean_wait_s = queue / waiting(bundle, port, 1.0) / served;
    mean
}

/// Rates of the flows of each group with a queueing delay of `wait_s`, times the part of the time in which each sends.
fn rates(bundle: &Bundle, wait_s: f64, part: impl Fn(&Flow) -> f64) -> Vec<Vec<f64>> {
    let of_group = |group: &TcpGroup| {
        group.flows.flows.iter().zip(rates_pps(bundle.traffic, group, wait_s)).map(|(flow, rate)| rate * part(flow)).collect()
    };
    bundle.groups.iter().map(of_group).collect()
}

/// A warning if bursts may overflow a buffer that does not hold all windows, although their sum fits link and buffer.
fn overflow(bundle: &Bundle, index: PortId) -> Option<String> {
    let places = waiting_places(bundle.traffic.port(index))?;
    let windows = windows_at(bundle, index);
    // Slow start overflows the buffer, and windows grow by a packet per round trip from the half.
    let growth_s =
        |(_, group): (usize, &TcpGroup)| 0.5 * window(group) * group.flows.base_rtts_s.iter().copied().fold(0.0, f64::max);
    let is_slow = bundle.crossing(index).map(growth_s).fold(0.0, f64::max) > SHORT * bundle.traffic.measured.length_s();
    let largest = bundle.crossing(index).map(|(_, group)| window(group)).fold(0.0, f64::max);
    let needed = match () {
        () if is_slow => SLOW_START,
        () if largest <= FEW_PACKETS => BURSTS_OF_FEW,
        () => BURSTS,
    };
    // Two places hold the bursts of one flow with a small window that does not fill the link.
    let has_rack = bundle.groups.iter().any(|group| group.recovery() == "rack_tlp");
    let is_small = bundle.flows() == 1 && places == 2 && largest <= if has_rack { LONE_WINDOW_OF_RACK } else { LONE_WINDOW };
    if is_small && !is_slow && bundle.load(index, &rates(bundle, 0.0, |_| 1.0)) < 1.0 {
        return None;
    }
    (!holds_all(bundle, index) && (places < SMALL_BUFFER || (places as f64) < needed * windows)).then(|| {
        let at = link(bundle.traffic.port(index));
        format!(
            "{at}: bursts of windows of {windows} packets may overflow a buffer of {}, which the model neglects",
            packets(places)
        )
    })
}

pub(crate) fn window_over_rtt(source: &'static str) -> AppliedModel {
    AppliedModel {
        equation: "window / RTT; packets beyond the bandwidth-delay product wait",
        assumes: &["no loss"],
        ..AppliedModel::of("", "window over round trip", source, Vec::new())
    }
}

/// Packets per second of each flow with a queueing delay of `wait_s`. All packets except the last one have the full size.
fn rates_pps(traffic: &Traffic, group: &TcpGroup, wait_s: f64) -> Vec<f64> {
    let limits = [group.flows.sender_access, group.flows.receiver_access, group.pacing_rate()];
    let limit_bps = limits.into_iter().flatten().min().map_or(f64::INFINITY, |rate| rate.0 as f64);
    let limit = limit_bps / (8.0 * group.packet_bytes());
    let path = group.flows.path().unwrap_or_default();
    let narrowest_bps = path.iter().map(|&port| traffic.port(port).rate.0 as f64).fold(f64::INFINITY, f64::min);
    // The last packet that an acknowledgement covers arrives after the first.
    let spread_s = f64::from(group.segments_per_ack() - 1) * 8.0 * group.packet_bytes() / narrowest_bps.min(limit_bps);
    group.flows.base_rtts_s.iter().map(|rtt| acked_pps(group, rtt + wait_s + spread_s).min(limit)).collect()
}

/// Packets per second of one flow. The receiver acknowledges every d packets at once, and the others of a window after its timer, unless the
/// next ones arrive before.
fn acked_pps(group: &TcpGroup, rtt_s: f64) -> f64 {
    let (window, every) = (window(group), f64::from(group.segments_per_ack()));
    let whole = (window / every).floor() * every;
    let timeout_s = group.spec.delayed_ack.map_or(0.0, |delayed| delayed.timeout.seconds());
    let late = if whole > 0.0 && timeout_s >= rtt_s { 0.0 } else { (window - whole) / (rtt_s + timeout_s) };
    whole / rtt_s + late
}

/// The queueing delay at which the total rate of all windows equals the capacity.
fn queueing_delay_s(bundle: &Bundle, port: PortId, part: impl Fn(&Flow) -> f64) -> f64 {
    let bits = bundle.crossing(port).map(|(_, group)| 8.0 * group.packet_bytes() * group.flows.count() as f64 * window(group));
    let (mut low, mut high) = (0.0, bits.sum::<f64>() / capacity_bps(bundle.traffic.port(port)));
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if bundle.load(port, &rates(bundle, middle, &part)) > 1.0 { low = middle } else { high = middle }
    }
    high
}
