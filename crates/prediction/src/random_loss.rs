//! Reno and CUBIC under random loss, on links that are not near their capacity.

use crate::bundle::Bundle;
use crate::number_text::{digits, packets, rate};
use crate::prediction::{AppliedModel, FlowPrediction, Prediction, Window};
use crate::traffic::{TcpGroup, link, waiting_places};
use tailback_core::congestion::{ControllerSpec, Steps};
use tailback_core::network::{Flow, PortId};
use tailback_core::tcp::Recovery;
use tailback_models::ParameterError;
use tailback_models::limits::QUIET_LOAD;
use tailback_models::parameter::{Count, Loss, Positive};
use tailback_models::tcp::{CubicFlow, LossRepair, LossyFlow, LossyRate, Mathis, cubic_curve_rate, lossy_rate, mathis_rate};

/// Up to this loss the square-root law may neglect timeouts (`mathis_rate`).
const LIGHT_LOSS: f64 = 0.01;
/// Numerical tolerance for a loss probability.
const ROUNDING: f64 = 1e-9;

/// Factor of the curve of RFC 9438, which assumes periodic losses, if they are random: fitted in docs/evidence/theory.md.
const RANDOM_CURVE: f64 = 1.2;
/// Largest loss at which the chain was compared with simulations over all round trips.
const HEAVY_LOSS: f64 = 0.06;
/// A buffer of this part of a window holds its bursts.
const WHOLE_WINDOW: f64 = 0.5;
/// Round trips, times the square root of the loss, in which the initial slow start is negligible.
const SETTLED: f64 = 18.0;
/// The same if the interval begins after it.
const MEASURED: f64 = 5.0;
/// Windows in whole segments grow more slowly where CUBIC follows Reno: fitted in docs/evidence/theory.md.
const WHOLE_SEGMENTS: f64 = 0.92;
/// Largest expected standard deviation of the mean of a group, relative to it.
const NOISE: f64 = 0.13;
/// The same for CUBIC, whose rate varies more than this estimate.
const CUBIC_NOISE: f64 = 0.07;
/// Largest part of the time in timeouts with selective acknowledgements; the other recoveries were within 10 % whatever this part.
const LONG_PAUSES: f64 = 0.4;

/// Rate in packets per second, and results.
type OfFlow = (f64, FlowPrediction);

/// The rate at the loss of the route, if no link is close to its capacity.
pub(crate) fn predict(bundle: &Bundle, found: &mut Prediction) {
    let measured = bundle.traffic.measured;
    let mut flows: Vec<(Chain, Vec<OfFlow>)> = Vec::new();
    for group in &bundle.groups {
        match of_group(bundle, group) {
            Ok(of_group) => flows.push(of_group),
            Err((at, why)) => return found.exclude(at, why),
        }
    }
    let rates: Vec<Vec<f64>> = flows.iter().map(|(_, flows)| flows.iter().map(|(rate, _)| *rate).collect()).collect();
    let loads: Vec<(PortId, f64)> = bundle.ports.iter().map(|&port| (port, bundle.load(port, &rates))).collect();
    let busiest = loads.iter().copied().rev().max_by(|(_, one), (_, other)| one.total_cmp(other));
    if let Some((port, load)) = busiest.filter(|(_, load)| *load > QUIET_LOAD) {
        let percent = digits(100.0 * load.min(99.0), 3);
        let why = format!("its load under random losses would be {percent} %; no model covers its queueing delay");
        return found.exclude(link(bundle.traffic.port(port)), why);
    }
    let rates = bundle.during(measured, rates);
    for &port in &bundle.ports {
        let random_loss = bundle.traffic.port(port).random_loss;
        (found.queue(port).utilisation, found.queue(port).loss_rate) = (bundle.load(port, &rates), random_loss);
    }
    for (group, (_, flows)) in bundle.groups.iter().zip(&flows) {
        for ((place, flow), (_, known)) in group.flows.flows.iter().zip(found.of(group.flows)).zip(flows) {
            *flow = FlowPrediction { goodput_bps: known.goodput_bps * measured.part(place), ..*known };
        }
    }
    let (cubic, reno): (Vec<&TcpGroup>, Vec<&TcpGroup>) = bundle.groups.iter().partition(|group| group.is_cubic());
    let mut warnings: Vec<String> =
        bundle.groups.iter().zip(&flows).flat_map(|(group, flows)| warnings(bundle, group, flows)).collect();
    if !reno.is_empty() {
        let model = AppliedModel {
            equation: "segments / (RTT + timeouts T0), segments and timeouts per round trip from the equilibrium of a Markov chain of \
                       windows: w grows by 1/b per round trip, and halves after a round with a loss, 1 - (1 - p)^w; a lost \
                       retransmission is repaired by RACK, or else by a timeout",
            assumes: &["losses are independent", "the RTT does not depend on the window"],
            warnings: std::mem::take(&mut warnings),
            simplifies: vec!["the first timeout is the minimum, or one RTT".into()],
            ..AppliedModel::of("", "windows under random loss", "Tailback, docs/evidence/theory.md", places(&reno))
        };
        found.models.push(model);
    }
    if !cubic.is_empty() {
        let mut model = AppliedModel::of("cubic_rate", "CUBIC", "RFC 9438, section 5.1; docs/evidence/theory.md", places(&cubic));
        model.simplifies.push("a smooth maximum of 1.2 times the cubic curve and of Reno under random loss, both fitted".into());
        model.warnings = warnings;
        found.models.push(model);
    }
}

/// Whether bursts overflow a buffer, or the run has too few losses for an equilibrium.
fn warnings(bundle: &Bundle, group: &TcpGroup, (chain, flows): &(Chain, Vec<OfFlow>)) -> Vec<String> {
    let at = group.flows.at();
    let measured = bundle.traffic.measured;
    let sending_s = || group.flows.flows.iter().map(|flow| measured.part(flow) * measured.length_s());
    let windows = flows.iter().zip(&group.flows.base_rtts_s).map(|((pps, _), rtt_s)| pps * rtt_s);
    let largest = windows.fold(0.0, f64::max);
    let path = group.flows.path().unwrap_or_default().iter().map(|&port| bundle.traffic.port(port));
    let small =
        path.filter_map(|port| Some((port, waiting_places(port)?))).find(|(_, places)| (*places as f64) < WHOLE_WINDOW * largest);
    let mut found = Vec::new();
    if let Some((port, places)) = small {
        found.push(format!(
            "{at}: windows of {} packets, and a buffer of {} at {}: bursts overflow it, which the model neglects",
            digits(largest, 3),
            packets(places),
            link(port)
        ));
    }
    let loss_rate = flows.first().map_or(0.0, |(_, known)| known.loss_rate);
    let is_limited = group.receiver_window() as f64 * loss_rate.sqrt() < 1.0;
    // In units of 1 / sqrt(p) round trips, the time in which a window grows back.
    let is_settled = |(flow, rtt_s): (&Flow, &f64)| {
        let cycles = |seconds: f64| seconds / rtt_s * loss_rate.sqrt();
        let within = cycles(measured.part(flow) * measured.length_s());
        within >= SETTLED || within >= MEASURED && cycles(measured.before_s(flow)) >= 1.0
    };
    let has_settled = group.flows.flows.iter().zip(&group.flows.base_rtts_s).all(is_settled);
    let losses: f64 = sending_s().zip(flows).map(|(sending_s, (pps, _))| sending_s * pps * loss_rate).sum();
    let (mut timeouts, mut paused_s) = (0.0, 0.0);
    for (sending_s, &rtt_s) in sending_s().zip(&group.flows.base_rtts_s) {
        let paused = chain.rate.paused(rtt_s, group.min_rto_s(rtt_s));
        paused_s += sending_s * paused;
        timeouts += sending_s * paused / group.min_rto_s(rtt_s);
    }
    let paused = paused_s / sending_s().sum::<f64>();
    let deviation = (0.3 / losses + 2.0 * paused * paused / timeouts.max(f64::MIN_POSITIVE)).sqrt();
    if loss_rate > HEAVY_LOSS || paused > LONG_PAUSES && group.recovery() == "sack" {
        found.push(format!(
            "{at}: loses {} %, and waits for timeouts during {} % of the time; above {} %, and with SACK above {} %, the model was off by \
             up to a third",
            digits(100.0 * loss_rate, 3),
            digits(100.0 * paused, 2),
            100.0 * HEAVY_LOSS,
            100.0 * LONG_PAUSES
        ));
    }
    let noise = if group.is_cubic() { CUBIC_NOISE } else { NOISE };
    if !is_limited && (!has_settled || deviation > noise) {
        found.push(format!(
            "{at}: {} losses are expected in the measurement interval, too few for the mean of the model",
            digits(losses, 3)
        ));
    }
    found
}

fn places(groups: &[&TcpGroup]) -> Vec<String> {
    groups.iter().map(|group| group.flows.at()).collect()
}

fn of_group(bundle: &Bundle, group: &TcpGroup) -> Result<(Chain, Vec<OfFlow>), (String, String)> {
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
    let chain = Chain::of(group, 1.0 - kept)?;
    let flows = group.flows.base_rtts_s.iter().map(|&rtt_s| chain.of_flow(group, rtt_s));
    let flows: Vec<OfFlow> = flows.collect::<Result<_, ParameterError>>().map_err(|error| (at.clone(), error.to_string()))?;
    let largest_bps = flows.iter().map(|(pps, _)| 8.0 * group.packet_bytes() * pps).fold(0.0, f64::max);
    let access = [group.flows.sender_access, group.flows.receiver_access].into_iter().flatten().min();
    if let Some(access) = access.filter(|access| largest_bps > QUIET_LOAD * access.0 as f64) {
        return Err((at, format!("private links of {} limit the flows as much as losses do", rate(access.0 as f64))));
    }
    Ok((chain, flows))
}

/// The rate of a group by its chain, for all round trips.
struct Chain {
    rate: LossyRate,
    loss: Loss,
}

impl Chain {
    fn of(group: &TcpGroup, loss_rate: f64) -> Result<Chain, (String, String)> {
        let at = group.flows.at();
        let repair = match group.spec.recovery {
            Recovery::Reno => LossRepair::Reno,
            Recovery::NewReno => LossRepair::NewReno,
            Recovery::Sack | Recovery::BpdSack => LossRepair::Sack,
            Recovery::RackTlp => LossRepair::Rack,
            Recovery::Tahoe => {
                let why = "every loss starts slow start from one segment, which no model of random loss includes";
                return Err((format!("{at}.tcp.recovery"), why.into()));
            }
        };
        let flow = || {
            let loss = Loss::new(loss_rate)?;
            let rate = lossy_rate(LossyFlow {
                loss,
                repair,
                receiver_window: Count::new("receiver_window", group.acked_window())?,
                segments_per_increase: Count::new("segments_per_increase", group.segments_per_increase().into())?,
                segments_per_ack: Count::new("segments_per_ack", group.segments_per_ack().into())?,
            });
            Ok(Chain { rate, loss })
        };
        flow().map_err(|error: ParameterError| (at, error.to_string()))
    }

    fn of_flow(&self, group: &TcpGroup, rtt_s: f64) -> Result<OfFlow, ParameterError> {
        let rtt = Positive::new("rtt_s", rtt_s)?;
        let rto = Positive::new("rto_s", group.min_rto_s(rtt_s))?;
        let mut arrives_pps = self.rate.segments_per_s(rtt, rto);
        if group.is_cubic() {
            arrives_pps = self.of_cubic(group, rtt, arrives_pps)?;
        }
        let kept = 1.0 - self.loss.get();
        let sent_pps = arrives_pps / kept;
        // Without timeouts and window limit the mean window is that of the square-root law.
        let segments_per_ack = Count::new("segments_per_ack", group.segments_per_increase().into())?;
        let mss_bytes = Positive::new("mss_bytes", group.mss())?;
        let window = match group.is_cubic() {
            true => sent_pps * rtt_s,
            false => {
                mathis_rate(Mathis { mss_bytes, rtt_s: rtt, loss: self.loss, segments_per_ack }) * rtt_s / (8.0 * group.mss())
            }
        };
        let is_free = self.loss.get() <= LIGHT_LOSS * (1.0 + ROUNDING) && window < group.receiver_window() as f64;
        let goodput_bps = 8.0 * group.mss() * arrives_pps;
        let window = is_free.then_some(Window::Mean(window));
        Ok((sent_pps, FlowPrediction { goodput_bps, loss_rate: self.loss.get(), window }))
    }

    /// The rate of CUBIC: a smooth maximum of the rate of Reno and that of the cubic curve, at most that of the receiver's window.
    fn of_cubic(&self, group: &TcpGroup, rtt_s: Positive, reno_pps: f64) -> Result<f64, ParameterError> {
        let mss_bytes = Positive::new("mss_bytes", group.mss())?;
        let curve_bps = RANDOM_CURVE * cubic_curve_rate(CubicFlow { mss_bytes, rtt_s, loss: self.loss });
        let curve_pps = curve_bps / (8.0 * group.mss());
        let square = |x: f64| x * x;
        let is_whole = matches!(group.law, ControllerSpec::Cubic(spec) if spec.steps == Steps::WholeSegments);
        let reno_pps = if is_whole { WHOLE_SEGMENTS * reno_pps } else { reno_pps };
        let both = (square(square(curve_pps)) + square(square(reno_pps))).sqrt().sqrt();
        Ok(both.min(group.receiver_window() as f64 / rtt_s.get()))
    }
}
