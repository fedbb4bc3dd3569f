//! Greedy flows that fill one bottleneck: the sawtooth of a single flow, a closed loop, or normally distributed total window.

use crate::bundle::Bundle;
use crate::delay_based;
use crate::number_text::{digits, packets, time};
use crate::prediction::{AppliedModel, Prediction, Window};
use crate::round_trips::RoundTrips;
use crate::traffic::{TcpGroup, capacity_bps, link, occupancy, sum, waiting_places};
use crate::trunk_map::accuracy;
use crate::windows::window_over_rtt;
use tailback_core::network::{Flow, Port, PortId};
use tailback_models::ParameterError;
use tailback_models::limits::{FEW_FLOWS, QUIET_LOAD, SHORT_QUEUE, SMALL_WINDOW, is_slow};
use tailback_models::parameter::{Count, NonNegative, Positive, Servers};
use tailback_models::sizing::{Bottleneck, Link, appenzeller_utilisation, cubic_utilisation, synchronised_utilisation};
use tailback_models::tcp::single_flow_mean_queue;
use tailback_models::trunk::{ClosedLoop, G1DM, GreedyFlows, MMKKB, OpenLoop, Trunk, TrunkVariant, closed_loop};

/// Smaller buffers do not hold the bursts that acknowledgements of two segments cause.
const SMALL_BUFFER: u64 = 4;
/// Buffers of at least this part of a window hold the bursts of flows with equal RTTs: docs/evidence/theory.md.
const BURSTS: f64 = 0.1;
/// Round trips without full use of the link after slow start of CUBIC has overflowed the buffer.
const CUBIC_REPAIR: f64 = 30.0;
/// Part of the capacity that is missing while windows grow for the first time, compared with the sawtooth.
const SLOW_GROWTH: f64 = 0.3;
/// Part of the time without effect on the mean of one flow, and of several, which repair their losses at different times.
const NEGLIGIBLE: f64 = 0.18;
const NEGLIGIBLE_OF_MANY: f64 = 0.4;
/// Number of flows from which small windows are not synchronised, and the largest such window: docs/evidence/theory.md.
const UNSYNCHRONISED: (usize, f64) = (16, 5.0);
/// The same for paced flows in a closed loop.
const SMOOTH_BURSTS: f64 = 0.3;
/// Above this number of packets in flight, a buffer for the packets of an acknowledgement is too small.
const LARGE_WINDOW: f64 = 16.0;
/// Part of the bandwidth-delay product in the buffer that keeps the link busy.
const NEARLY_ALL: f64 = 0.9;
/// Up to this number of packets in flight, two waiting places hold the bursts of flows with RACK.
const TINY_WINDOW: f64 = 2.0;
/// One paced flow with at least this number of packets in flight needs no buffer for bursts.
const PACED_WINDOW: f64 = 8.0;
/// Up to this number of packets in flight, two waiting places hold the bursts of one flow of CUBIC without RACK.
const CUBIC_WINDOW: f64 = 48.0;
/// Buffers of at least this part of the bandwidth-delay product hold the overlap of windows of flows with different RTTs.
const OVERLAP: f64 = 0.13;
/// The same for CUBIC, which reduces windows less.
const CUBIC_OVERLAP: f64 = 0.08;

/// Unlimited number of input links.
const COUNTLESS: u64 = 1_000_000;

/// The bottleneck with its flows.
struct Saturated<'b, 't, 'a> {
    bundle: &'b Bundle<'t, 'a>,
    index: PortId,
    port: &'a Port,
    /// Waiting places.
    buffer: u64,
    packet_bytes: f64,
    flows: usize,
    rtts: RoundTrips,
    segments_per_increase: u32,
    /// Whether packets arrive smoothly: paced, or over slow access links.
    is_smooth: bool,
    /// Whether all flows have CUBIC; otherwise all have Reno.
    is_cubic: bool,
}

/// Result of a model. NaN where the model gives no value.
struct Outcome {
    model: AppliedModel,
    utilisation: f64,
    loss: f64,
    /// Number of waiting packets.
    queue: f64,
    window: Option<Window>,
}

/// Predicts groups that share links, if one port is the bottleneck of all flows.
pub(crate) fn predict(bundle: &Bundle, found: &mut Prediction) {
    let first = &bundle.groups[0];
    let is_delay_based = bundle.groups.iter().any(TcpGroup::is_delay_based);
    let is_cubic = bundle.groups.iter().all(TcpGroup::is_cubic);
    if let Some(other) = bundle.groups.iter().find(|group| !is_delay_based && !is_cubic && !group.is_reno()) {
        let nearest = "the nearest answer is the prediction with `controller = \"reno\"`";
        let why = format!("the controller is {}, but models require Reno, or CUBIC alone; {nearest}", other.controller());
        return found.exclude(format!("{}.tcp.controller", other.flows.at()), why);
    }
    let bottleneck = match bottleneck(bundle) {
        Ok(port) => port,
        Err(why) => return found.exclude(first.flows.at(), why),
    };
    if is_delay_based {
        return delay_based::predict(bundle, bottleneck, found);
    }
    let outcome = Saturated::of(bundle, bottleneck).and_then(|saturated| {
        let outcome = saturated.outcome().map_err(|error| (link(saturated.port), error.to_string()))?;
        if outcome.utilisation > 0.0 {
            return Ok((saturated, outcome));
        }
        Err((format!("{}.queue.buffer", link(saturated.port)), "without a buffer the model predicts no throughput".into()))
    });
    match outcome {
        Ok((saturated, outcome)) => saturated.fill(outcome, found),
        Err((at, why)) => found.exclude(at, why),
    }
}

/// The port with the smallest capacity per flow, if all flows cross it and no other is close; otherwise the reason.
fn bottleneck(bundle: &Bundle) -> Result<PortId, String> {
    let network = bundle.traffic;
    // In the order in which flows cross them.
    let mut crossed: Vec<PortId> = Vec::new();
    for &port in bundle.groups.iter().flat_map(|group| group.flows.path().unwrap_or_default()) {
        if !crossed.contains(&port) {
            crossed.push(port);
        }
    }
    let flows = |port: PortId| bundle.crossing(port).map(|(_, group)| group.flows.count()).sum::<usize>();
    let share = |port: PortId| capacity_bps(network.port(port)) / flows(port) as f64;
    let tight =
        crossed.iter().copied().min_by(|&one, &other| share(one).total_cmp(&share(other))).ok_or("no flow crosses a link")?;
    let (name, total) = (link(network.port(tight)), bundle.flows());
    if flows(tight) != total {
        return Err(format!("no link is the bottleneck of all flows: {name} is the bottleneck of {} of {total}", flows(tight)));
    }
    if let Some(&rival) = crossed.iter().find(|&&port| port != tight && QUIET_LOAD * share(port) < share(tight)) {
        return Err(format!("{} limits the flows about as much as {name}", link(network.port(rival))));
    }
    let access = bundle.groups.iter().flat_map(|group| [group.flows.sender_access, group.flows.receiver_access]);
    match access.flatten().min() {
        Some(rate) if rate.0 as f64 * total as f64 <= capacity_bps(network.port(tight)) => {
            Err(format!("private links of {} bit/s limit the flows, not {name}", digits(rate.0 as f64, 6)))
        }
        _ => Ok(tight),
    }
}

impl<'b, 't, 'a> Saturated<'b, 't, 'a> {
    fn of(bundle: &'b Bundle<'t, 'a>, index: PortId) -> Result<Saturated<'b, 't, 'a>, (String, String)> {
        let port = bundle.traffic.port(index);
        let Some(buffer) = waiting_places(port) else {
            let why = "the buffer is unlimited: windows and queue grow up to the receiver's window";
            return Err((format!("{}.queue", link(port)), why.into()));
        };
        if bundle.has_several_sizes() {
            return Err((link(port), "packets of several sizes share it".into()));
        }
        let hasty = bundle.groups.iter().find(|group| matches!(group.recovery(), "tahoe" | "reno"));
        if let Some(group) = hasty.filter(|_| bundle.flows() > 1) {
            let why = "it needs a timeout for several losses of a window, which models of many flows do not include";
            return Err((format!("{}.tcp.recovery", group.flows.at()), why.into()));
        }
        let is_cubic = bundle.groups.iter().all(TcpGroup::is_cubic);
        if is_cubic && bundle.flows() as u64 >= FEW_FLOWS {
            let why = format!("no model covers {FEW_FLOWS} and more flows of CUBIC, which do not reduce their windows together");
            return Err((format!("{}.tcp.controller", bundle.groups[0].flows.at()), why));
        }
        let slow = |group: &TcpGroup| {
            let access = group.flows.sender_access;
            access.is_some_and(|access| is_slow(access.0 as f64, port.rate.0 as f64, port.transmitters.into()))
        };
        Ok(Saturated {
            bundle,
            index,
            port,
            buffer,
            packet_bytes: bundle.groups[0].packet_bytes(),
            flows: bundle.flows(),
            rtts: RoundTrips::listed(&bundle.all_base_rtts_s().collect::<Vec<f64>>()),
            segments_per_increase: bundle.groups.iter().map(TcpGroup::segments_per_increase).max().unwrap_or(1),
            is_smooth: bundle.groups.iter().all(|group| group.spec.pacing || slow(group)),
            is_cubic,
        })
    }

    /// Bandwidth-delay product in packets.
    fn product(&self) -> f64 {
        capacity_bps(self.port) * self.rtts.mean_s / (8.0 * self.packet_bytes)
    }

    fn has_closed_loop(&self) -> bool {
        self.is_smooth && !self.is_cubic && self.buffer as f64 <= SHORT_QUEUE * self.product()
    }

    /// Whether a group has this loss recovery.
    fn has(&self, recovery: &str) -> bool {
        self.bundle.groups.iter().any(|group| group.recovery() == recovery)
    }

    fn has_small_windows(&self) -> bool {
        self.product() / (self.flows as f64) < SMALL_WINDOW
    }

    fn outcome(&self) -> Result<Outcome, ParameterError> {
        let mut outcome = match () {
            () if self.flows == 1 => self.sawtooth(),
            () if self.is_cubic => self.cubic(),
            () if self.has_closed_loop() => self.closed_loop(),
            () => self.fluid(),
        }?;
        if self.rtts.max_s > self.rtts.harmonic_s {
            outcome.model.simplifies.push("flows share inversely to their RTTs".into());
        }
        outcome.model.warnings.extend(self.warnings());
        Ok(outcome)
    }

    /// Warnings about bursts and about short runs.
    fn warnings(&self) -> Vec<String> {
        let mut found = Vec::new();
        let window = self.product() / self.flows as f64;
        if !self.holds_bursts(window) {
            found.push(format!(
                "windows of {} packets and a buffer of {}: bursts overflow it, which the model neglects",
                digits(window, 3),
                packets(self.buffer)
            ));
        }
        if let Some(text) = self.transient(window) {
            found.push(text);
        }
        found
    }

    /// A warning if the mean of the interval is not that of many cycles of the sawtooth.
    fn transient(&self, window: f64) -> Option<String> {
        // With this buffer the link stays busy after every reduction, also the first.
        let repairs_at_once = self.has("rack_tlp") || self.has("sack") && !self.is_cubic;
        if repairs_at_once && self.buffer as f64 >= NEARLY_ALL * self.product() {
            return None;
        }
        let (measured, count) = (self.bundle.traffic.measured, self.flows as f64);
        let sending_s = measured.length_s() * sum(self.bundle.all_flows().map(|flow| measured.part(flow))) / count;
        let before_s = sum(self.bundle.all_flows().map(|flow| measured.before_s(flow))) / count;
        let peak = window + self.buffer as f64 / count;
        let share = self.buffer as f64 / self.product();
        // A window that halves at P + B packets takes half of that in round trips to grow back, or K by the curve of CUBIC.
        let by_curve_s = if self.is_cubic { libm::cbrt(0.3 * peak / 0.4) } else { f64::INFINITY };
        let cycle_s = (0.5 * peak * self.rtts.mean_s).min(by_curve_s);
        // Slow start overflows a short buffer early, and the window grows from there. It loses half a window, which NewReno repairs with
        // one packet per round trip.
        let growth_s = if self.is_cubic { by_curve_s } else { peak * self.rtts.mean_s } * (1.0 - share).max(0.0);
        let repair_rounds = match () {
            () if self.has("newreno") => 0.5 * peak,
            () if self.is_cubic => CUBIC_REPAIR.min(0.5 * peak),
            () => 0.0,
        };
        let repair_s = repair_rounds * self.rtts.mean_s * (1.0 + share);
        let missed_s = (SLOW_GROWTH * growth_s + repair_s - before_s).max(0.0);
        let negligible = if self.flows == 1 { NEGLIGIBLE } else { NEGLIGIBLE_OF_MANY };
        (sending_s < cycle_s || missed_s > negligible * sending_s).then(|| {
            format!(
                "the flows send for {} of the measurement interval, too short for the mean of the model: after slow start, windows need \
                 {} to reach their peak, and {} from half of it",
                time(sending_s),
                time(growth_s + repair_s),
                time(cycle_s)
            )
        })
    }

    /// Whether bursts are small, or the buffer holds them. Windows of flows with equal RTTs move in turn, and other flows' overlap.
    fn holds_bursts(&self, window: f64) -> bool {
        let buffer = self.buffer as f64;
        let of_ack = self.bundle.groups.iter().map(TcpGroup::segments_per_ack).max().unwrap_or(1);
        // An acknowledgement causes as many packets as it covers, and one more if it opens the window.
        // Two packets are too few for RACK with CUBIC, unless windows are tiny, and for NewReno of many flows.
        let has_rack = self.is_cubic && self.has("rack_tlp") && window > TINY_WINDOW;
        let is_tight = self.buffer == 2 && (self.has("newreno") && self.flows >= UNSYNCHRONISED.0 || has_rack);
        let is_small = window <= SMALL_WINDOW && !is_tight;
        let holds_acks = self.buffer > 1 && (is_small || self.buffer > of_ack.into() && window <= LARGE_WINDOW);
        let holds_windows = self.buffer >= SMALL_BUFFER && (self.flows <= 2 || buffer >= BURSTS * window);
        if self.flows == 1 {
            let needed = match () {
                () if self.is_smooth && window >= PACED_WINDOW => 0,
                () if self.has("rack_tlp") || self.is_cubic && window > CUBIC_WINDOW => 2,
                () => 1,
            };
            return self.buffer > needed && (buffer >= NEARLY_ALL * self.product() || !self.has("reno"));
        }
        if self.is_smooth && self.is_cubic && (self.buffer > 1 || self.flows == 2) {
            return true;
        }
        if self.has_closed_loop() {
            return self.buffer >= SMALL_BUFFER && buffer >= SMOOTH_BURSTS * window;
        }
        if self.is_smooth || self.rtts.max_s == self.rtts.harmonic_s || (self.flows as u64) >= FEW_FLOWS {
            return holds_acks || holds_windows;
        }
        let overlap = if self.is_cubic { CUBIC_OVERLAP } else { OVERLAP };
        holds_windows && self.buffer > SMALL_BUFFER && buffer >= overlap * self.product() || self.buffer > 2 && window < 0.5
    }

    fn model(&self, closed_form: &str, name: impl Into<String>, source: &'static str) -> AppliedModel {
        let at = std::iter::once(link(self.port)).chain(self.bundle.groups_at());
        AppliedModel::of(closed_form, name, source, at.collect())
    }

    fn bottleneck(&self) -> Result<Bottleneck, ParameterError> {
        let (rate_bps, packet_bytes) = (Positive::new("rate_bps", self.port.rate.0 as f64)?, self.packet_size()?);
        Ok(Bottleneck { transmitters: Servers::new(self.port.transmitters.into())?, link: Link { rate_bps, packet_bytes } })
    }

    fn packet_size(&self) -> Result<Positive, ParameterError> {
        Positive::new("packet_bytes", self.packet_bytes)
    }

    fn places(&self) -> Result<NonNegative, ParameterError> {
        NonNegative::new("buffer", self.buffer as f64)
    }

    /// Mean number of queued packets if all windows halve at the same time.
    fn queue_of_sawtooth(&self) -> Result<f64, ParameterError> {
        let product = self.product();
        Ok(single_flow_mean_queue(NonNegative::new("buffer_over_bdp", self.buffer as f64 / product)?) * product)
    }

    /// A single flow: utilisation, one loss per sawtooth, mean queue.
    fn sawtooth(&self) -> Result<Outcome, ParameterError> {
        let (peak, limit) = (self.product() + self.buffer as f64, self.bundle.groups[0].receiver_window() as f64);
        if limit < peak {
            // The window never overflows the buffer.
            let model = AppliedModel { at: self.model("", "", "").at, ..window_over_rtt("RFC 7323, section 1.1") };
            return Ok(Outcome {
                model,
                utilisation: (limit / self.product()).min(1.0),
                loss: 0.0,
                queue: (limit - self.product()).max(0.0),
                window: Some(Window::Constant(limit)),
            });
        }
        if self.is_cubic {
            return self.cubic();
        }
        let (_, mean_rtt_s) = self.rtts.parameters()?;
        let source = "Villamizar and Song 1994; docs/evidence/theory.md";
        let mut model = self.model("single_flow_utilisation", "sawtooth of one flow", source);
        model.simplifies.push("fluid model: packets are discrete, and window growth takes effect one RTT later".into());
        model.simplifies.push("recovery lets the network drain to half a window".into());
        Ok(Outcome {
            model,
            utilisation: synchronised_utilisation(self.bottleneck()?, mean_rtt_s, self.places()?),
            // From half the peak to the peak: 3 peak^2 / 8 packets, times the number of segments per acknowledgement.
            loss: 8.0 / (3.0 * f64::from(self.segments_per_increase) * peak * peak),
            queue: self.queue_of_sawtooth()?,
            window: Some(Window::Sawtooth(peak)),
        })
    }

    /// One flow of CUBIC, or several that reduce their windows together.
    fn cubic(&self) -> Result<Outcome, ParameterError> {
        let (_, mean_rtt_s) = self.rtts.parameters()?;
        let name = if self.flows == 1 { "sawtooth of one CUBIC flow" } else { "synchronised sawtooth of CUBIC" };
        let mut model = self.model("cubic_utilisation", name, "RFC 9438; docs/evidence/theory.md");
        model.simplifies.push("fluid model: packets are discrete, and window growth takes effect one RTT later".into());
        if self.flows > 1 {
            model
                .simplifies
                .push("all flows reduce their windows at the same time; the utilisation is higher if they do not".into());
        }
        let utilisation = cubic_utilisation(self.bottleneck()?, mean_rtt_s, self.places()?);
        Ok(Outcome { model, utilisation, loss: f64::NAN, queue: f64::NAN, window: None })
    }

    /// Smooth arrivals and a short queue: the fixed point of TCP's load and the loss at this load.
    fn closed_loop(&self) -> Result<Outcome, ParameterError> {
        let inputs = self.bundle.traffic.inputs(self.index);
        let trunk = Trunk::new(inputs.unwrap_or(COUNTLESS), self.port.transmitters.into(), self.buffer)?;
        // Arrivals are a Poisson process unless input links space the packets out.
        let (open_loop, title, lengths) = match inputs {
            Some(_) => (OpenLoop::Chain(&G1DM), G1DM.title, " and have exponential lengths"),
            None if self.port.transmitters == 1 => (OpenLoop::Md1k, "M/D/1/K", ""),
            None => (OpenLoop::Chain(&MMKKB), MMKKB.title, " and have exponential lengths"),
        };
        let (harmonic_rtt_s, _) = self.rtts.parameters()?;
        let window = self.bundle.groups.iter().map(TcpGroup::receiver_window).min().unwrap_or(1);
        let flows = GreedyFlows {
            packet_bytes: self.packet_size()?,
            flows: Count::new("flows", self.flows as u64)?,
            harmonic_rtt_s,
            segments_per_ack: Count::new("segments_per_ack", self.segments_per_increase.into())?,
            rto_s: Some(Positive::new("rto_s", self.bundle.groups[0].spec.timer.min_rto.seconds().max(self.rtts.mean_s))?),
            receiver_window: Some(Count::new("receiver_window", window)?),
        };
        let end = closed_loop(trunk, Positive::new("rate_bps", self.port.rate.0 as f64)?, flows, open_loop)?;
        let name = format!("closed loop of {title} and Padhye");
        let mut model = self.model("closed_loop", name, "cui-thesis, section 3.7; Padhye et al. 1998");
        model.simplifies.push(format!("packets arrive as a Poisson process{lengths}"));
        model.simplifies.push("losses are spread evenly over flows".into());
        if inputs.is_some() {
            let text = "no input link is saturated; a saturated one occupies a transmitter, and its flows get more";
            model.simplifies.push(text.into());
            model.warnings.extend(self.warning(&trunk, &end)?);
        }
        if !end.keeps_bound {
            model.simplifies.push("outside the range of its loss model: the link is taken as full".into());
        }
        if self.has_small_windows() {
            model.simplifies.push("windows of fewer than four packets".into());
        }
        Ok(Outcome { model, utilisation: end.utilisation, loss: end.loss, queue: f64::NAN, window: None })
    }

    /// A warning about the error of the loss by G1DM at the resulting load, unless it is within 5 %.
    fn warning(&self, trunk: &Trunk, end: &ClosedLoop) -> Result<Option<String>, ParameterError> {
        let at = format!("M = {}, K = {}, B = {}", trunk.inputs(), trunk.transmitters(), trunk.buffer());
        let page = "see docs/evidence/trunk_accuracy.md";
        if end.inputs_full {
            return Ok(Some(format!("the loss by G1DM at {at}: not mapped for saturated input links; {page}")));
        }
        let accuracy = accuracy(trunk, end.load, &G1DM, TrunkVariant::OwnLength)?;
        let load = digits(end.load, 3);
        Ok((!accuracy.is_within(1.05)).then(|| format!("the loss by G1DM at {at}, load {load}: {accuracy}; {page}")))
    }

    /// Bursty arrivals or a long queue: synchronised windows for few flows, a normally distributed total window for many.
    fn fluid(&self) -> Result<Outcome, ParameterError> {
        let (_, mean_rtt_s) = self.rtts.parameters()?;
        let (bottleneck, places) = (self.bottleneck()?, self.places()?);
        let (mut model, utilisation, queue) = if (self.flows as u64) < FEW_FLOWS {
            let source = "Villamizar and Song 1994; docs/evidence/theory.md";
            let model = self.model("synchronised_utilisation", "synchronised sawtooth", source);
            let together = synchronised_utilisation(bottleneck, mean_rtt_s, places);
            let window = self.product() / self.flows as f64;
            let is_mixed =
                self.flows >= UNSYNCHRONISED.0 && window <= UNSYNCHRONISED.1 && (self.buffer > 2 || self.has("rack_tlp"));
            (model, if is_mixed { 0.5 * (1.0 + together) } else { together }, self.queue_of_sawtooth()?)
        } else {
            let source = "Appenzeller, Keslassy and McKeown 2004";
            let model = self.model("appenzeller_utilisation", "normal sum of windows", source);
            let flows = Count::new("flows", self.flows as u64)?;
            (model, appenzeller_utilisation(bottleneck, flows, mean_rtt_s, places), f64::NAN)
        };
        if self.has_small_windows() {
            let text = "windows of fewer than four packets cause timeouts, which no fluid model includes";
            model.simplifies.push(text.into());
        }
        model.simplifies.push(if queue.is_nan() {
            "the total window is normally distributed: no bursts, no synchronised flows".into()
        } else {
            "all flows halve at the same time; the utilisation is higher if they do not".into()
        });
        Ok(Outcome { model, utilisation, loss: f64::NAN, queue, window: None })
    }

    /// Results of queue and flows; flows share inversely to their RTTs, including the mean wait in the queue.
    fn fill(&self, outcome: Outcome, found: &mut Prediction) {
        let Outcome { model, utilisation, loss, queue, window } = outcome;
        let capacity = capacity_bps(self.port);
        let wait_s = queue / (utilisation * (capacity / (8.0 * self.packet_bytes)));
        let total = utilisation * capacity * (self.bundle.groups[0].mss() / self.packet_bytes);
        let weight = |rtt: f64| 1.0 / (rtt + if wait_s.is_nan() { 0.0 } else { wait_s });
        let flows: Vec<(&Flow, f64)> = self.bundle.all_flows().zip(self.bundle.all_base_rtts_s().map(weight)).collect();
        let (shares, active) = self.bundle.traffic.measured.divided(&flows);
        let (utilisation, queue, mut shares) = (utilisation * active, queue * active, shares.into_iter());
        let of_port = found.queue(self.index);
        (of_port.utilisation, of_port.loss_rate) = (utilisation, loss);
        (of_port.mean_queue_units, of_port.mean_wait_s) = (occupancy(self.port, queue, utilisation), wait_s);
        for group in &self.bundle.groups {
            for flow in found.of(group.flows) {
                (flow.goodput_bps, flow.loss_rate, flow.window) = (total * shares.next().unwrap_or(0.0), loss, window);
            }
        }
        if self.bundle.groups.len() > 1 {
            // 17 of 20 simulated pairs of groups had other shares: docs/evidence/theory.md.
            for group in &self.bundle.groups {
                found.of(group.flows).iter_mut().for_each(|flow| flow.goodput_bps = f64::NAN);
                let why = "how groups share a drop-tail queue depends on the phases of their packets, which no model includes; see \
                           docs/howto/round_trips.md";
                found.exclude(group.flows.at(), why);
            }
        }
        found.models.push(model);
    }
}
