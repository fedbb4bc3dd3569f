//! TCP: the limit of each group of flows, and the model that applies to it.

use crate::bundle::Bundle;
use crate::number_text::digits;
use crate::prediction::Prediction;
use crate::traffic::{FlowGroup, TcpGroup, Traffic, Violation, capacity_bps, is_drop_tail, link, policy, sum};
use crate::{random_loss, saturated, windows};
use tailback_core::network::{Buffer, PortId};
use tailback_models::limits::QUIET_LOAD;

/// Predicts every bundle of TCP groups separately: limited by windows, by random loss, or by one saturated bottleneck.
pub(crate) fn predict(traffic: &Traffic, found: &mut Prediction) {
    let mut usable = Vec::new();
    for group in traffic.groups.iter().filter_map(FlowGroup::tcp) {
        match violation(traffic, &group) {
            Some((at, why)) => found.exclude(at, why),
            None => usable.push(group),
        }
    }
    for bundle in bundles(traffic, usable) {
        predict_bundle(&bundle, found);
    }
}

/// The first violated assumption of all TCP models.
fn violation(traffic: &Traffic, group: &TcpGroup) -> Option<Violation> {
    let (at, flows) = (group.flows.at(), group.flows);
    let Some(path) = flows.path() else { return Some((at, "its flows take different routes".into())) };
    if !flows.is_greedy() {
        return Some((at, "not greedy for the whole run; models require flows that always have data to send".into()));
    }
    if flows.group.framing.is_some() {
        return Some((format!("{at}.framing"), "packets travel in cells, but models count packets".into()));
    }
    if flows.has_processing() {
        return Some((at, "no model covers processing times at hosts".into()));
    }
    let shares = |other: &FlowGroup| other.path().is_none_or(|others| others.iter().any(|port| path.contains(port)));
    let strangers = traffic.groups.iter().filter(|other| other.datagrams().is_some() && shares(other));
    let strangers: Vec<String> = strangers.map(FlowGroup::at).collect();
    if !strangers.is_empty() {
        return Some((at, format!("datagrams ({}) share its links", strangers.join(", "))));
    }
    // RTTs also depend on the links of acknowledgements.
    for port in &traffic.network.ports {
        if let Some(feature) = port.unmodelled() {
            return Some((link(port), format!("it {feature}, which no model covers")));
        }
    }
    for &port in path {
        let port = traffic.port(port);
        if !is_drop_tail(port) {
            let why = format!("the policy is {}, but models require drop_tail", policy(port));
            return Some((format!("{}.queue", link(port)), why));
        }
        if !port.listed_drops.is_empty() {
            return Some((format!("{}.loss.drops", link(port)), "listed packets are discarded".into()));
        }
        if matches!(port.buffer, Buffer::Bytes(_)) {
            let why = "the buffer is in bytes, but models count packets";
            return Some((format!("{}.queue.buffer", link(port)), why.into()));
        }
    }
    violation_of_ack_paths(traffic, group)
}

/// Assumption of the models: acknowledgements are neither lost nor queued.
fn violation_of_ack_paths(traffic: &Traffic, group: &TcpGroup) -> Option<Violation> {
    for &index in group.flows.ways_back.iter().copied().flatten() {
        let port = traffic.port(index);
        if port.random_loss > 0.0 {
            return Some((link(port), "it loses acknowledgements, but in models all of them arrive".into()));
        }
        let crossing = traffic.groups.iter().filter(|other| other.ways_back.iter().any(|way| way.contains(&index)));
        let acks_bps = sum(crossing.filter_map(FlowGroup::tcp).map(|other| max_ack_bps(traffic, &other)));
        if acks_bps > QUIET_LOAD * capacity_bps(port) {
            let share = digits(100.0 * acks_bps / capacity_bps(port), 3);
            let why = format!("acknowledgements can take up to {share} % of it, but in models none of them wait");
            return Some((link(port), why));
        }
    }
    None
}

/// Maximum rate of acknowledgements, given the narrowest link of the data or the maximum windows and base RTTs.
fn max_ack_bps(traffic: &Traffic, group: &TcpGroup) -> f64 {
    let window_bits = 8.0 * group.receiver_window() as f64 * group.packet_bytes();
    let windows_bps = sum(group.flows.base_rtts_s.iter().filter(|&&rtt| rtt > 0.0).map(|rtt| window_bits / rtt));
    let path = group.flows.path().unwrap_or_default();
    let narrowest_bps = path.iter().map(|&port| capacity_bps(traffic.port(port))).fold(f64::INFINITY, f64::min);
    windows_bps.min(narrowest_bps) * group.spec.ack_size.0 as f64 / (group.packet_bytes() * f64::from(group.segments_per_ack()))
}

/// Partitions the groups into bundles of groups that share links.
fn bundles<'t, 'a>(traffic: &'t Traffic<'a>, mut left: Vec<TcpGroup<'t, 'a>>) -> Vec<Bundle<'t, 'a>> {
    let mut bundles = Vec::new();
    while !left.is_empty() {
        let mut groups = vec![left.remove(0)];
        loop {
            let shares = |group: &TcpGroup| groups.iter().any(|member: &TcpGroup| share_a_link(member, group));
            let (joining, others): (Vec<_>, Vec<_>) = left.into_iter().partition(shares);
            left = others;
            if joining.is_empty() {
                break;
            }
            groups.extend(joining);
        }
        let ports = PortId::all(traffic.network.ports.len()).filter(|&port| groups.iter().any(|group| group.flows.crosses(port)));
        bundles.push(Bundle { traffic, ports: ports.collect(), groups });
    }
    bundles
}

fn share_a_link(one: &TcpGroup, other: &TcpGroup) -> bool {
    one.flows.path().unwrap_or_default().iter().any(|&port| other.flows.crosses(port))
}

fn predict_bundle(bundle: &Bundle, found: &mut Prediction) {
    let is_member = |group: &FlowGroup| bundle.groups.iter().any(|member| member.flows.first == group.first);
    for &port in &bundle.ports {
        let strangers: Vec<String> = bundle.traffic.crossing(port).filter(|group| !is_member(group)).map(FlowGroup::at).collect();
        if !strangers.is_empty() {
            let why = format!("{}, which no model covers, cross it too", strangers.join(", "));
            return found.exclude(link(bundle.traffic.port(port)), why);
        }
    }
    if windows::are_limits(bundle) {
        windows::predict(bundle, found);
    } else if bundle.ports.iter().any(|&port| bundle.traffic.port(port).random_loss > 0.0) {
        random_loss::predict(bundle, found);
    } else {
        saturated::predict(bundle, found);
    }
}
