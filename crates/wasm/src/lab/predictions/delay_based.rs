//! FAST or Vegas flows that all start at once: each keeps a target number of packets in the queue.

use super::bottleneck::{Greedy, Saturated, waiting_places};
use super::{Line, ObservedEntities, Panel, Theory};
use tailback_core::congestion::ControllerSpec;

pub(super) fn lines(saturated: &Saturated, observed: &ObservedEntities) -> Result<Vec<Line>, String> {
    let Saturated { flows, described, .. } = saturated;
    let name = |greedy: &Greedy| greedy.law.name().unwrap_or("user");
    if let Some(other) = flows.iter().find(|greedy| name(greedy) != name(&flows[0])) {
        let (one, other) = (name(&flows[0]), name(other));
        return Err(format!("{one} and {other} share the bottleneck, but models cover only one controller"));
    }
    if flows.iter().any(|greedy| greedy.flow.start != flows[0].flow.start) {
        return Err("flows start one after the other: `tailback predict` covers their base RTT errors".into());
    }
    let kept: Vec<f64> =
        flows.iter().map(kept).collect::<Option<_>>().ok_or("its flows drain the queue, but models require flows that do not")?;
    let queue: f64 = kept.iter().sum();
    if let Some(places) = waiting_places(described).filter(|&places| queue > places) {
        return Err(format!("the flows keep {queue:.4} packets in a queue of {places}, and no model covers the overflow"));
    }
    let is_fast = matches!(flows[0].law, ControllerSpec::Fast(_));
    // Vegas keeps between alpha and beta: in that case only rates are known.
    let theory = Theory::of("delay_equilibrium", if is_fast { &[] } else { &["all flows keep the same number of packets"] })
        .ok_or("a model is missing")?;
    let line = |panel, of, value, label| Line { panel, of, value, label, theory: theory.clone() };
    let mut found = Vec::new();
    for &flow in &observed.flows {
        let share = kept[flow as usize] / queue;
        found.push(line(Panel::Goodput, flow, saturated.goodput_bps(share), "goodput in equilibrium"));
        if is_fast {
            let round_s = flows[flow as usize].rtt_s + queue / saturated.capacity_pps();
            found.push(line(Panel::Cwnd, flow, share * saturated.capacity_pps() * round_s, "window in equilibrium"));
        }
    }
    if is_fast {
        found.push(line(Panel::Queue, saturated.port, saturated.held(queue, 1.0), "queue in equilibrium"));
    }
    Ok(found)
}

/// Packets that a flow keeps in the queue; `None` if it drains the queue.
fn kept(greedy: &Greedy) -> Option<f64> {
    match greedy.law {
        ControllerSpec::Fast(fast) => fast.draining.is_none().then_some(fast.alpha),
        ControllerSpec::Vegas(vegas) => Some(vegas.alpha_rate.map_or(vegas.alpha, |pps| pps * greedy.rtt_s)),
        _ => None,
    }
}
