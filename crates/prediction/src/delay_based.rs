//! FAST and Vegas at a bottleneck with enough buffer: equilibrium with simultaneous or sequential starts.

use crate::bundle::Bundle;
use crate::number_text::digits;
use crate::prediction::{AppliedModel, Prediction, Window};
use crate::traffic::{QueueTarget, TcpGroup, Violation, capacity_bps, link, occupancy, sum, waiting_places};
use std::collections::BTreeSet;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Port, PortId};
use tailback_models::ParameterError;
use tailback_models::delay_based::{Arrivals, VegasArrivals, fast_arrivals, vegas_arrivals};
use tailback_models::parameter::{Count, Integer, Positive};

/// Number of base RTTs after which flows count as being in equilibrium.
const AT_REST: f64 = 100.0;

/// Shares of the flows in the order of the groups, and the number of queued packets.
struct Equilibrium {
    model: AppliedModel,
    shares: Vec<f64>,
    queue: f64,
    /// Whether the number of queued packets is known although Vegas allows a range.
    is_exact: bool,
}

/// Predicts rates and queue in equilibrium.
pub(crate) fn predict(bundle: &Bundle, index: PortId, found: &mut Prediction) {
    match equilibrium(bundle, index) {
        Ok(equilibrium) => fill(bundle, index, equilibrium, found),
        Err((at, why)) => found.exclude(at, why),
    }
}

fn equilibrium(bundle: &Bundle, index: PortId) -> Result<Equilibrium, Violation> {
    let (groups, port) = (&bundle.groups, bundle.traffic.port(index));
    let laws: BTreeSet<&str> = groups.iter().map(TcpGroup::controller).collect();
    if laws.len() > 1 {
        let laws = laws.into_iter().collect::<Vec<_>>().join(" and ");
        return Err((groups[0].flows.at(), format!("{laws} share the bottleneck, but models cover only one controller")));
    }
    let mut targets = Vec::new();
    for group in groups {
        let draining = || {
            (
                format!("{}.tcp.controller", group.flows.at()),
                "its flows drain the queue, but models require flows that do not".into(),
            )
        };
        targets.push(group.queue_target().ok_or_else(draining)?);
    }
    if bundle.has_several_sizes() {
        return Err((link(port), "packets of several sizes share it".into()));
    }
    let starts: Vec<f64> = groups.iter().flat_map(|group| group.flows.flows).map(|flow| flow.start.seconds()).collect();
    let mut found = if starts.iter().all(|start| *start == starts[0]) {
        simultaneous(bundle, &targets)
    } else {
        sequential(bundle, &targets, &starts, port)?
    };
    if let Some(places) = waiting_places(port).filter(|&places| found.queue > places as f64) {
        let why =
            format!("the flows keep {} packets in a queue of {places}, and no model covers the overflow", digits(found.queue, 4));
        return Err((format!("{}.queue.buffer", link(port)), why));
    }
    found.model.at = std::iter::once(link(port)).chain(bundle.groups_at()).collect();
    if matches!(groups[0].law, ControllerSpec::Vegas(_)) {
        let text = if found.is_exact {
            "each flow keeps alpha in the queue, although alpha to beta is possible"
        } else {
            found.queue = f64::NAN;
            "each flow keeps alpha to beta packets in the queue; no model gives their number, nor the waiting time"
        };
        found.model.simplifies.push(text.into());
    }
    Ok(found)
}

/// Simultaneous starts: flows measure the base RTT of the empty path, and rates are proportional to the packets they keep.
fn simultaneous(bundle: &Bundle, targets: &[QueueTarget]) -> Equilibrium {
    let of_group = |(group, &target): (&TcpGroup, &QueueTarget)| {
        let kept = move |&rtt: &f64| match target {
            QueueTarget::Packets(packets) => packets,
            QueueTarget::Rate(pps) => pps * rtt,
        };
        group.flows.base_rtts_s.iter().map(kept).collect::<Vec<f64>>()
    };
    let kept: Vec<f64> = bundle.groups.iter().zip(targets).flat_map(of_group).collect();
    let queue = sum(kept.iter().copied());
    let source = "cui-thesis, equations (4.6) and (4.8)";
    let mut model = AppliedModel::of("delay_equilibrium", "equilibrium of delays", source, Vec::new());
    model.simplifies.push("all flows know the base RTT of the empty path".into());
    let is_exact = matches!(bundle.groups[0].law, ControllerSpec::Fast(_));
    Equilibrium { model, shares: kept.iter().map(|kept| kept / queue).collect(), queue, is_exact }
}

/// Sequential starts: each flow mistakes the existing queueing delay for propagation delay.
fn sequential(bundle: &Bundle, targets: &[QueueTarget], starts: &[f64], port: &Port) -> Result<Equilibrium, Violation> {
    let at = || format!("{}.start", bundle.groups[0].flows.at());
    let mut sorted = starts.to_vec();
    sorted.sort_by(f64::total_cmp);
    let apart = sorted.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let rtts: Vec<f64> = bundle.all_base_rtts_s().collect();
    if apart < AT_REST * rtts.iter().copied().fold(0.0, f64::max) {
        let apart = digits(apart, 3);
        let why = format!("flows start {apart} s apart; models require simultaneous starts, or one after another in equilibrium");
        return Err((at(), why));
    }
    if targets.iter().any(|target| *target != targets[0]) {
        return Err((at(), "flows that start sequentially have different queue targets; models require equal ones".into()));
    }
    if matches!(targets[0], QueueTarget::Rate(_)) && rtts.iter().any(|rtt| *rtt != rtts[0]) {
        return Err((at(), "flows of Vegas that start sequentially have different RTTs; models require equal ones".into()));
    }
    // 1 is the first to arrive.
    let places = starts.iter().map(|start| sorted.partition_point(|other| other < start) as u64 + 1);
    let capacity_pps = capacity_bps(port) / (8.0 * bundle.groups[0].packet_bytes());
    let arrivals = places.map(|place| arrived(targets[0], capacity_pps, starts.len() as u64, place));
    let arrivals = arrivals.collect::<Result<Vec<_>, ParameterError>>().map_err(|error| (at(), error.to_string()))?;
    let (closed_form, source, unit) = match targets[0] {
        QueueTarget::Packets(packets) => ("fast_arrivals", "cui-thesis, equations (4.19) and (4.20)", packets),
        QueueTarget::Rate(_) => ("vegas_arrivals", "cui-thesis, equations (4.10) and (4.12)", rtts[0] * capacity_pps),
    };
    let mut model = AppliedModel::of(closed_form, "arrivals one by one", source, Vec::new());
    let text = "each flow starts when earlier ones are in equilibrium, and mistakes the existing queueing delay for propagation";
    model.simplifies.push(text.into());
    let queue = unit * arrivals[0].1;
    Ok(Equilibrium { model, shares: arrivals.into_iter().map(|(share, _)| share).collect(), queue, is_exact: true })
}

/// Share of the capacity of a flow, and the whole queue in the unit of its model.
fn arrived(target: QueueTarget, capacity_pps: f64, flows: u64, place: u64) -> Result<(f64, f64), ParameterError> {
    let arrived = Count::new("arrived", flows)?;
    let found = match target {
        QueueTarget::Packets(_) => fast_arrivals(Arrivals { existing: Integer::new(0), arrived, flow: Integer::new(place) })?,
        QueueTarget::Rate(pps) => vegas_arrivals(VegasArrivals {
            alpha_pps: Positive::new("alpha_pps", pps)?,
            capacity_pps: Positive::new("capacity_pps", capacity_pps)?,
            arrived,
            flow: Count::new("flow", place)?,
        })?,
    };
    Ok((found.share, found.queue))
}

/// The link is full, and nothing is lost.
fn fill(bundle: &Bundle, index: PortId, equilibrium: Equilibrium, found: &mut Prediction) {
    let (port, first) = (bundle.traffic.port(index), &bundle.groups[0]);
    let Equilibrium { model, shares, queue, .. } = equilibrium;
    let wait_s = queue * 8.0 * first.packet_bytes() / capacity_bps(port);
    let of_port = found.queue(index);
    (of_port.utilisation, of_port.loss_rate) = (1.0, 0.0);
    (of_port.mean_queue_units, of_port.mean_wait_s) = (occupancy(port, queue, 1.0), wait_s);
    let mut shares = shares.into_iter();
    for group in &bundle.groups {
        for ((flow, &rtt), share) in found.of(group.flows).iter_mut().zip(&group.flows.base_rtts_s).zip(&mut shares) {
            flow.goodput_bps = share * capacity_bps(port) * first.mss() / first.packet_bytes();
            flow.loss_rate = 0.0;
            let window = share * capacity_bps(port) / (8.0 * first.packet_bytes()) * (rtt + wait_s);
            flow.window = (!window.is_nan()).then_some(Window::Constant(window));
        }
    }
    found.models.push(model);
}
