//! Reno flows that fill a link: the sawtooth of one flow, of a few synchronised flows, or of many whose windows have a normal
//! sum.

use super::bottleneck::{Greedy, Saturated, waiting_places};
use super::{Line, ObservedEntities, Panel, Theory, number};
use tailback_core::congestion::ControllerSpec;
use tailback_core::tcp::Recovery;
use tailback_models::limits::{FEW_FLOWS, SHORT_QUEUE, is_slow};

pub(super) fn lines(saturated: &Saturated, observed: &ObservedEntities) -> Result<Vec<Line>, String> {
    let Saturated { flows, described, .. } = saturated;
    if let Some(other) = flows.iter().find(|greedy| !matches!(greedy.law, ControllerSpec::Reno(_))) {
        return Err(format!("the controller is {}, but models require Reno", other.law.name().unwrap_or("user")));
    }
    let Some(buffer) = waiting_places(described) else {
        let name = &described.name;
        return Err(format!(
            "links.{name}.queue: the buffer is unlimited: windows grow up to the receiver's, with an ever longer queue"
        ));
    };
    let windows: f64 = flows.iter().map(|greedy| f64::from(greedy.tcp.receiver_window.0)).sum();
    match flows[..] {
        [one] => one_flow(saturated, &one, buffer, observed),
        _ if windows <= buffer => {
            Err("the windows never overflow the buffer: `tailback predict` covers several such flows".into())
        }
        _ => many_flows(saturated, buffer, observed),
    }
}

/// The window grows from half its peak to the peak, which is the capacity of link and buffer.
fn one_flow(saturated: &Saturated, one: &Greedy, buffer: f64, observed: &ObservedEntities) -> Result<Vec<Line>, String> {
    let product = saturated.capacity_pps() * one.rtt_s;
    let (peak, limit) = (product + buffer, f64::from(one.tcp.receiver_window.0));
    let flow = *observed.flows.first().ok_or("no flow is observed")?;
    if limit < peak {
        let theory = window_over_round_trip();
        let utilisation = (limit / product).min(1.0);
        let line = |panel, of, value, label| Line { panel, of, value, label, theory: theory.clone() };
        return Ok(vec![
            line(Panel::Cwnd, flow, limit, "receiver's window"),
            line(Panel::Queue, saturated.port, saturated.held((limit - product).max(0.0), utilisation), "queue of that window"),
            line(Panel::Goodput, flow, saturated.goodput_bps(utilisation), "window over round trip"),
        ]);
    }
    let over = [("buffer_over_bdp", buffer / product)];
    let utilisation = number("single_flow_utilisation", 0, &over)?;
    let of = |model| Theory::of(model, &["recovery lets the network drain to half a window"]).ok_or("a model is missing");
    let line = |panel, of, value, label, theory| Line { panel, of, value, label, theory };
    let teeth = Theory {
        name: "sawtooth of one flow",
        equation: "W = (1 + b) P, from W / 2 to W".into(),
        ..of("single_flow_utilisation")?
    };
    Ok(vec![
        line(Panel::Cwnd, flow, peak, "largest window", teeth.clone()),
        line(Panel::Cwnd, flow, peak / 2.0, "half of it", teeth),
        line(
            Panel::Queue,
            saturated.port,
            saturated.held(product * number("single_flow_mean_queue", 0, &over)?, utilisation),
            "mean queue",
            of("single_flow_mean_queue")?,
        ),
        line(Panel::Goodput, flow, saturated.goodput_bps(utilisation), "mean goodput", of("single_flow_utilisation")?),
    ])
}

fn window_over_round_trip() -> Theory {
    Theory {
        name: "window over round trip",
        equation: "window / round trip; packets beyond the bandwidth-delay product wait".into(),
        source: "RFC 7323, section 1.1; Little 1961 for the queue",
        assumes: vec!["no loss".into(), "all acknowledgements return without queueing".into()],
    }
}

fn many_flows(saturated: &Saturated, buffer: f64, observed: &ObservedEntities) -> Result<Vec<Line>, String> {
    let Saturated { flows, described, .. } = saturated;
    if flows.iter().any(|greedy| matches!(greedy.tcp.recovery, Recovery::Tahoe | Recovery::Reno)) {
        return Err("several losses in one window cost these flows a timeout, which models of many flows do not cover".into());
    }
    let product = saturated.capacity_pps() * saturated.mean_rtt_s();
    let slow = |greedy: &Greedy| {
        let (rate_bps, transmitters) = (described.rate.0 as f64, f64::from(described.transmitters));
        greedy.tcp.pacing || greedy.flow.sender_access.rate.is_some_and(|rate| is_slow(rate.0 as f64, rate_bps, transmitters))
    };
    if buffer <= SHORT_QUEUE * product && flows.iter().all(slow) {
        return Err("packets arrive smoothly and the queue is short: `tailback predict` covers this with a closed loop".into());
    }
    let few = (flows.len() as u64) < FEW_FLOWS;
    let model = if few { "synchronised_utilisation" } else { "appenzeller_utilisation" };
    let known = [
        ("transmitters", described.transmitters.into()),
        ("rate_bps", described.rate.0 as f64),
        ("packet_bytes", saturated.packet_bytes),
        ("mean_rtt_s", saturated.mean_rtt_s()),
        ("flows", flows.len() as f64),
        ("buffer", buffer),
    ];
    let utilisation = number(model, 0, &known)?;
    let shares = "rates are inversely proportional to round trips";
    let also: &[&str] = if few { &["all flows halve at once; otherwise the utilisation is higher", shares] } else { &[shares] };
    let theory = Theory::of(model, also).ok_or("a model is missing")?;
    // Only for synchronised flows the queue is known, which adds to all round trips.
    let queue = if few { product * number("single_flow_mean_queue", 0, &[("buffer_over_bdp", buffer / product)])? } else { 0.0 };
    let wait_s = queue / (utilisation * saturated.capacity_pps());
    let weight = |greedy: &Greedy| 1.0 / (greedy.rtt_s + wait_s);
    let whole: f64 = flows.iter().map(weight).sum();
    let goodput = |&flow: &u32| {
        let value = saturated.goodput_bps(utilisation) * weight(&flows[flow as usize]) / whole;
        Line { panel: Panel::Goodput, of: flow, value, label: "mean goodput", theory: theory.clone() }
    };
    let mut found: Vec<Line> = observed.flows.iter().map(goodput).collect();
    if few {
        let theory = Theory::of("single_flow_mean_queue", &also[..1]).ok_or("a model is missing")?;
        found.push(Line {
            panel: Panel::Queue,
            of: saturated.port,
            value: saturated.held(queue, utilisation),
            label: "mean queue",
            theory,
        });
    }
    Ok(found)
}
