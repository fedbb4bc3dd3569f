//! Reno and CUBIC under random loss, on links that are not near their capacity.

use crate::bundle::Bundle;
use crate::number_text::digits;
use crate::prediction::{AppliedModel, FlowPrediction, Prediction, Window};
use crate::traffic::{TcpGroup, link};
use tailback_core::network::PortId;
use tailback_models::ParameterError;
use tailback_models::limits::QUIET_LOAD;
use tailback_models::parameter::{Count, Loss, Positive};
use tailback_models::tcp::{CubicFlow, Mathis, Padhye, cubic_rate, mathis_rate, padhye_goodput, padhye_rate};

/// Up to this loss the square-root law may neglect timeouts (`mathis_rate`).
const LIGHT_LOSS: f64 = 0.01;
/// Numerical tolerance for a loss probability.
const ROUNDING: f64 = 1e-9;

/// Rate in packets per second, and results.
type OfFlow = (f64, FlowPrediction);

/// The rate at the loss of the route, by Padhye or for CUBIC, if no link is close to its capacity.
pub(crate) fn predict(bundle: &Bundle, found: &mut Prediction) {
    let mut flows: Vec<Vec<OfFlow>> = Vec::new();
    for group in &bundle.groups {
        match of_group(bundle, group) {
            Ok(of_group) => flows.push(of_group),
            Err((at, why)) => return found.exclude(at, why),
        }
    }
    let rates: Vec<Vec<f64>> = flows.iter().map(|flows| flows.iter().map(|(rate, _)| *rate).collect()).collect();
    let loads: Vec<(PortId, f64)> = bundle.ports.iter().map(|&port| (port, bundle.load(port, &rates))).collect();
    let busiest = loads.iter().copied().rev().max_by(|(_, one), (_, other)| one.total_cmp(other));
    if let Some((port, load)) = busiest.filter(|(_, load)| *load > QUIET_LOAD) {
        let percent = digits(100.0 * load.min(99.0), 3);
        let why = format!("its load under random losses would be {percent} %; no model covers its queueing delay");
        return found.exclude(link(bundle.traffic.port(port)), why);
    }
    for (port, load) in loads {
        (found.queue(port).utilisation, found.queue(port).loss_rate) = (load, bundle.traffic.port(port).random_loss);
    }
    for (group, flows) in bundle.groups.iter().zip(flows) {
        found.of(group.flows).iter_mut().zip(flows).for_each(|(flow, (_, known))| *flow = known);
    }
    let (cubic, reno): (Vec<&TcpGroup>, Vec<&TcpGroup>) = bundle.groups.iter().partition(|group| group.is_cubic());
    if !reno.is_empty() {
        let source = "Padhye, Firoiu, Towsley and Kurose, 1998 and 2000";
        let mut model = AppliedModel::of("padhye_goodput", "Padhye", source, places(&reno));
        model.simplifies.push("a loss implies the loss of the rest of its round".into());
        model.simplifies.push("the first timeout is the minimum, or one RTT".into());
        found.models.push(model);
    }
    if !cubic.is_empty() {
        let mut model = AppliedModel::of("cubic_rate", "CUBIC", "RFC 9438, section 5.1", places(&cubic));
        model.simplifies.push("losses are periodic, and none causes a timeout".into());
        found.models.push(model);
    }
}

fn places(groups: &[&TcpGroup]) -> Vec<String> {
    groups.iter().map(|group| group.flows.at()).collect()
}

fn of_group(bundle: &Bundle, group: &TcpGroup) -> Result<Vec<OfFlow>, (String, String)> {
    let at = group.flows.at();
    if !group.is_reno() && !group.is_cubic() {
        let why = format!("the controller is {}, but models require Reno or CUBIC", group.controller());
        return Err((format!("{at}.tcp.controller"), why));
    }
    let path = group.flows.path().unwrap_or_default();
    let kept: f64 = path.iter().map(|&port| 1.0 - bundle.traffic.port(port).random_loss).product();
    match kept {
        0.0 => return Err((at, "loses everything".into())),
        1.0 => return Err((at, "has no random loss, but flows on shared links do".into())),
        _ => {}
    }
    if group.is_cubic() && 1.0 - kept > LIGHT_LOSS * (1.0 + ROUNDING) {
        let why = format!(
            "loses {} %; above {} % timeouts matter, which the model of CUBIC neglects",
            digits(100.0 * (1.0 - kept), 3),
            100.0 * LIGHT_LOSS
        );
        return Err((at, why));
    }
    if group.is_cubic() && group.segments_per_increase() > 1 {
        let why = "the window grows by delayed acknowledgements, but the model of CUBIC requires growth by acknowledged segments";
        return Err((format!("{at}.tcp.ack_counting"), why.into()));
    }
    let of_one = if group.is_cubic() { of_cubic_flow } else { of_flow };
    let flows = group.flows.base_rtts_s.iter().map(|&rtt_s| of_one(group, rtt_s, 1.0 - kept));
    flows.collect::<Result<_, ParameterError>>().map_err(|error| (at, error.to_string()))
}

fn of_flow(group: &TcpGroup, rtt_s: f64, loss_rate: f64) -> Result<OfFlow, ParameterError> {
    let mss_bytes = Positive::new("mss_bytes", group.mss())?;
    let rtt = Positive::new("rtt_s", rtt_s)?;
    let loss = Loss::new(loss_rate)?;
    let segments_per_ack = Count::new("segments_per_ack", group.segments_per_increase().into())?;
    let padhye = Padhye {
        mss_bytes,
        rtt_s: rtt,
        loss,
        rto_s: Positive::new("rto_s", group.spec.timer.min_rto.seconds().max(rtt_s))?,
        receiver_window: Count::new("receiver_window", group.receiver_window())?,
        segments_per_ack,
    };
    // Without timeouts and window limit the mean window is that of the square-root law.
    let segments = mathis_rate(Mathis { mss_bytes, rtt_s: rtt, loss, segments_per_ack }) * rtt_s / (8.0 * group.mss());
    let is_light = loss_rate <= LIGHT_LOSS * (1.0 + ROUNDING) && segments < group.receiver_window() as f64;
    let window = is_light.then_some(Window::Mean(segments));
    let known = FlowPrediction { goodput_bps: padhye_goodput(padhye), loss_rate, window };
    Ok((padhye_rate(padhye) / (8.0 * group.mss()), known))
}

/// The rate of CUBIC, at most that of the receiver's window.
fn of_cubic_flow(group: &TcpGroup, rtt_s: f64, loss_rate: f64) -> Result<OfFlow, ParameterError> {
    let flow = CubicFlow {
        mss_bytes: Positive::new("mss_bytes", group.mss())?,
        rtt_s: Positive::new("rtt_s", rtt_s)?,
        loss: Loss::new(loss_rate)?,
    };
    let segment_bits = 8.0 * group.mss();
    let window = group.receiver_window() as f64;
    let rate_pps = (cubic_rate(flow) / segment_bits).min(window / rtt_s);
    let mean = rate_pps * rtt_s;
    let known = FlowPrediction {
        goodput_bps: rate_pps * segment_bits * (1.0 - loss_rate),
        loss_rate,
        window: (mean < window).then_some(Window::Mean(mean)),
    };
    Ok((rate_pps, known))
}
