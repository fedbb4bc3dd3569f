//! TCP flows whose windows never overflow a buffer: window divided by RTT.

use crate::bundle::Bundle;
use crate::prediction::{AppliedModel, Prediction, Window};
use crate::traffic::{TcpGroup, capacity_bps, link};
use tailback_core::network::{Buffer, PortId};

/// Windows above this are practically unlimited.
const MAX_WINDOW: u64 = 1_000_000;

/// Whether links and buffers hold the final windows of all flows, so that nothing is ever lost.
pub(crate) fn are_limits(bundle: &Bundle) -> bool {
    let holds = |&index: &PortId| {
        let port = bundle.traffic.port(index);
        // Packets in transit are ignored: nothing is lost whatever the RTTs.
        let windows: f64 = bundle.crossing(index).map(|(_, group)| group.flows.count() as f64 * window(group)).sum();
        let fit = match port.buffer {
            Buffer::Unlimited => true,
            Buffer::Units(places) | Buffer::Bytes(places) => windows <= places as f64,
        };
        fit && port.random_loss == 0.0
    };
    bundle.groups.iter().all(|group| group.final_window().is_some_and(|window| window < MAX_WINDOW))
        && bundle.ports.iter().all(holds)
}

/// The final window in segments; 0 if its controller does not define one.
fn window(group: &TcpGroup) -> f64 {
    group.final_window().unwrap_or(0) as f64
}

/// Window divided by RTT, increased by the queueing delay of the one link that would be overloaded.
pub(crate) fn predict(bundle: &Bundle, found: &mut Prediction) {
    let name = |port: PortId| link(bundle.traffic.port(port));
    let mut rates: Vec<Vec<f64>> = bundle.groups.iter().map(|group| rates_pps(group, 0.0)).collect();
    let over: Vec<PortId> = bundle.ports.iter().copied().filter(|&port| bundle.load(port, &rates) > 1.0).collect();
    if let [first, second, ..] = over[..] {
        return found.exclude(name(second), format!("a second bottleneck in addition to {}", name(first)));
    }
    if let [over] = over[..] {
        let wait_s = queueing_delay_s(bundle, over);
        for (place, group) in bundle.crossing(over) {
            rates[place] = rates_pps(group, wait_s);
        }
        let packet_bytes = bundle.groups.iter().map(TcpGroup::packet_bytes).fold(0.0, f64::max);
        let queue = found.queue(over);
        queue.mean_queue_units = wait_s * capacity_bps(bundle.traffic.port(over)) / (8.0 * packet_bytes);
        queue.mean_wait_s = wait_s;
    }
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
    if bundle.groups.iter().any(|group| group.segments_per_ack() > 1) {
        model.simplifies.push("acknowledgements are not delayed; if they are, a small window carries less".into());
    }
    found.models.push(model);
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
    group.flows.base_rtts_s.iter().map(|rtt| (window(group) / (rtt + wait_s)).min(limit)).collect()
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
