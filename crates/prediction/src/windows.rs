//! TCP flows whose windows never overflow a buffer: window divided by RTT.

use crate::bundle::Bundle;
use crate::prediction::{AppliedModel, Prediction, Window};
use crate::number_text::packets;
use crate::traffic::{TcpGroup, capacity_bps, link, waiting_places};
use tailback_core::network::{Buffer, PortId};

/// Buffers of at least this part of all windows hold their bursts: slow start sends two packets for each that leaves.
const BURSTS: f64 = 0.5;
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
    let rates: Vec<Vec<f64>> = bundle.groups.iter().map(|group| rates_pps(group, 0.0)).collect();
    let over: Vec<PortId> = bundle.ports.iter().copied().filter(|&port| bundle.load(port, &rates) > 1.0).collect();
    match over[..] {
        [] => true,
        [port] => {
            waiting_places(bundle.traffic.port(port)).is_none_or(|places| waiting(bundle, port, queueing_delay_s(bundle, port)) <= places as f64)
        }
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
    let mut rates: Vec<Vec<f64>> = bundle.groups.iter().map(|group| rates_pps(group, 0.0)).collect();
    let over: Vec<PortId> = bundle.ports.iter().copied().filter(|&port| bundle.load(port, &rates) > 1.0).collect();
    if let [first, second, ..] = over[..] {
        return found.exclude(name(second), format!("a second bottleneck in addition to {}", name(first)));
    }
    if let [over] = over[..] {
        let part = match measured.together(bundle.all_flows()) {
            Ok(part) => part,
            Err(why) => return found.exclude(format!("{}.start", bundle.groups[0].flows.at()), why),
        };
        let wait_s = queueing_delay_s(bundle, over);
        for (place, group) in bundle.crossing(over) {
            rates[place] = rates_pps(group, wait_s);
        }
        let queue = found.queue(over);
        queue.mean_queue_units = waiting(bundle, over, wait_s) * part;
        queue.mean_wait_s = wait_s;
    }
    let rates = bundle.during(measured, rates);
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
    found.models.push(model);
}

/// A warning if bursts may overflow a buffer that does not hold all windows, although their sum fits link and buffer.
fn overflow(bundle: &Bundle, index: PortId) -> Option<String> {
    let places = waiting_places(bundle.traffic.port(index))?;
    let windows = windows_at(bundle, index);
    (!holds_all(bundle, index) && (places as f64) < BURSTS * windows).then(|| {
        let at = link(bundle.traffic.port(index));
        format!("{at}: bursts of windows of {windows} packets may overflow a buffer of {}, which the model neglects", packets(places))
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
fn rates_pps(group: &TcpGroup, wait_s: f64) -> Vec<f64> {
    let limits = [group.flows.sender_access, group.flows.receiver_access, group.pacing_rate()];
    let limit_bps = limits.into_iter().flatten().min().map_or(f64::INFINITY, |rate| rate.0 as f64);
    let limit = limit_bps / (8.0 * group.packet_bytes());
    group.flows.base_rtts_s.iter().map(|rtt| acked_pps(group, rtt + wait_s).min(limit)).collect()
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
fn queueing_delay_s(bundle: &Bundle, port: PortId) -> f64 {
    let bits = bundle.crossing(port).map(|(_, group)| 8.0 * group.packet_bytes() * group.flows.count() as f64 * window(group));
    let (mut low, mut high) = (0.0, bits.sum::<f64>() / capacity_bps(bundle.traffic.port(port)));
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        let rates: Vec<Vec<f64>> = bundle.groups.iter().map(|group| rates_pps(group, middle)).collect();
        if bundle.load(port, &rates) > 1.0 { low = middle } else { high = middle }
    }
    high
}
