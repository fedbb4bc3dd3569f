//! Datagram flows at their first link: queues in equilibrium.

use crate::number_text::digits;
use crate::prediction::{AppliedModel, Prediction, QueuePrediction};
use crate::starts::Measured;
use crate::traffic::{
    FlowGroup, Traffic, Violation, capacity_bps, is_drop_tail, link, occupancy, places, policy, sum, waiting_places,
};
use tailback_core::network::{Buffer, Port, PortId};
use tailback_core::traffic::{Arrivals, PacketSize, ProcessSpec};
use tailback_models::ParameterError;
use tailback_models::parameter::{Load, NonNegative, Places, Servers, StableLoad};
use tailback_models::queues::{md1_mean_wait, md1k, mg1_mean_wait, mmck};

/// Buffer that approximates an unlimited one at any load with a reasonable equilibrium.
const ROOMY: u64 = 1_000_000;
/// Limit of `md1k`.
const MAX_MD1K_PLACES: u64 = 10_000;

/// The packets of a group.
struct PoissonSource<'g, 'a> {
    flows: &'g FlowGroup<'a>,
    /// Of one flow.
    packets_per_s: f64,
    payload_bytes: f64,
    wire_bytes: f64,
    /// Mean square of the size on the wire.
    square_bytes: f64,
    sizes: Sizes,
}

/// Distribution of the packet sizes at a port.
#[derive(Clone, Copy, PartialEq)]
enum Sizes {
    Constant,
    Exponential,
    /// Any other, with this squared coefficient of variation.
    General(f64),
}

/// Predicts every link with datagram flows only, if it is the first link of all of them and no source is alternating.
pub(crate) fn predict(traffic: &Traffic, found: &mut Prediction) {
    for port in PortId::all(traffic.network.ports.len()) {
        let crossing = || traffic.crossing(port);
        if crossing().next().is_none() || crossing().any(|group| group.datagrams().is_none() || group.alternating().is_some()) {
            continue;
        }
        let sources: Result<Vec<PoissonSource>, Violation> = crossing().map(|group| source(traffic, port, group)).collect();
        match sources.and_then(|sources| violation(traffic.port(port), &sources).map_or(Ok(sources), Err)) {
            Ok(sources) => predict_port(traffic, port, &sources, found),
            Err((at, why)) => found.exclude(at, why),
        }
    }
}

/// The packets of a group that arrive at its first link, or the violated assumption.
fn source<'g, 'a>(traffic: &Traffic, port: PortId, group: &'g FlowGroup<'a>) -> Result<PoissonSource<'g, 'a>, Violation> {
    let violated = |why: &str| Err((group.at(), why.to_string()));
    let Some(spec) = group.datagrams() else { return violated("packets do not arrive as a Poisson process") };
    let (Arrivals::Process(ProcessSpec::Poisson(_)), Some(payload_bytes), Some(packets_per_s)) =
        (&spec.arrivals, spec.packet.mean(), spec.per_second())
    else {
        return violated("packets do not arrive as a Poisson process");
    };
    let is_exponential = matches!(spec.packet, PacketSize::Exponential { .. });
    if group.path().is_none_or(|path| path[0] != port) {
        let why = format!("{} reaches it over other links, which change the arrival process", group.at());
        return Err((link(traffic.port(port)), why));
    }
    if group.sender_access.is_some() || group.has_host_delays() {
        return violated("a private link, jitter or processing changes the arrival process");
    }
    violation_of_source(group).map_or(Ok(()), Err)?;
    let wire_bytes = payload_bytes + spec.header.0 as f64;
    let variance = if is_exponential { payload_bytes * payload_bytes } else { 0.0 };
    let sizes = match is_exponential {
        true if spec.header.0 == 0 => Sizes::Exponential,
        true => Sizes::General(variance / (wire_bytes * wire_bytes)),
        false => Sizes::Constant,
    };
    let square_bytes = wire_bytes * wire_bytes + variance;
    Ok(PoissonSource { flows: group, packets_per_s, payload_bytes, wire_bytes, square_bytes, sizes })
}

/// Mean size on the wire of all packets, and the distribution of their sizes.
fn mixed(sources: &[PoissonSource]) -> (f64, Sizes) {
    let first = &sources[0];
    if sources.iter().all(|source| (source.sizes, source.wire_bytes) == (first.sizes, first.wire_bytes)) {
        return (first.wire_bytes, first.sizes);
    }
    let mean = |of: fn(&PoissonSource) -> f64| {
        let rate = |source: &PoissonSource| source.packets_per_s * source.flows.count() as f64;
        sum(sources.iter().map(|source| rate(source) * of(source))) / sum(sources.iter().map(rate))
    };
    let (bytes, square) = (mean(|source| source.wire_bytes), mean(|source| source.square_bytes));
    (bytes, Sizes::General((square / (bytes * bytes) - 1.0).max(0.0)))
}

fn violation(port: &Port, sources: &[PoissonSource]) -> Option<Violation> {
    if matches!(mixed(sources).1, Sizes::General(_)) && (port.buffer != Buffer::Unlimited || port.transmitters > 1) {
        return Some((
            link(port),
            "packets of several sizes share it, and its buffer is limited or it has several transmitters".into(),
        ));
    }
    violation_of_port(port)
}

/// Assumptions of all queues in equilibrium: packets instead of cells, and flows that last for the whole run.
pub(crate) fn violation_of_source(group: &FlowGroup) -> Option<Violation> {
    if group.group.framing.is_some() {
        return Some((group.at(), "packets travel in cells".into()));
    }
    (!group.is_greedy()).then(|| (group.at(), "does not send during the whole run".into()))
}

/// Assumptions about a port: a drop-tail queue that counts packets.
pub(crate) fn violation_of_port(port: &Port) -> Option<Violation> {
    let at = link(port);
    if let Some(feature) = port.unmodelled() {
        return Some((at, format!("it {feature}")));
    }
    if !is_drop_tail(port) {
        return Some((format!("{at}.queue"), format!("the policy is {}, not drop_tail", policy(port))));
    }
    if !port.listed_drops.is_empty() {
        return Some((format!("{at}.loss.drops"), "listed packets are discarded".into()));
    }
    matches!(port.buffer, Buffer::Bytes(_))
        .then(|| (format!("{at}.queue.buffer"), "the buffer is in bytes, but models count packets".into()))
}

fn predict_port(traffic: &Traffic, index: PortId, sources: &[PoissonSource], found: &mut Prediction) {
    let port = traffic.port(index);
    let arrivals = sum(sources.iter().map(|source| source.packets_per_s * source.flows.count() as f64));
    let (bytes, sizes) = mixed(sources);
    let service_s = 8.0 * bytes / port.rate.0 as f64;
    let load = arrivals * service_s / f64::from(port.transmitters);
    let waiting = waiting_places(port);
    if waiting.is_none() && load >= 1.0 {
        found.exclude(link(port), overload(load));
        found.queues[index].utilisation = 1.0;
        return;
    }
    let queue = match queue(port, load, waiting, sizes) {
        Ok(queue) => queue,
        Err(why) => return found.exclude(link(port), why),
    };
    let (mut phases, mut sum_of) = (Vec::new(), Sums::default());
    let parts = traffic.measured.parts(sources.iter().flat_map(|source| source.flows.flows));
    if parts.len() > 1 && matches!(sizes, Sizes::General(_)) {
        return found.exclude(link(port), "flows with packets of different sizes start at different times");
    }
    for (part, share) in parts {
        let of_source =
            |source: &PoissonSource| source.packets_per_s * sum(source.flows.flows.iter().map(|flow| part.part(flow)));
        let now = sum(sources.iter().map(of_source));
        let (loss, mean_wait) = match self::queue(port, load * now / arrivals, waiting, sizes) {
            Ok(queue) => (queue.loss, queue.mean_wait),
            Err(why) => return found.exclude(link(port), why),
        };
        sum_of.arrivals += share * now;
        sum_of.accepted += share * now * (1.0 - loss);
        sum_of.waits += share * now * (1.0 - loss) * mean_wait * service_s;
        phases.push(Phase { part, share, kept: (1.0 - loss) * (1.0 - port.random_loss) });
    }
    let utilisation = load * sum_of.accepted / arrivals;
    found.queues[index] = QueuePrediction {
        loss_rate: 1.0 - sum_of.accepted / sum_of.arrivals * (1.0 - port.random_loss),
        utilisation,
        mean_queue_units: occupancy(port, sum_of.waits, utilisation),
        mean_wait_s: sum_of.waits / sum_of.accepted,
    };
    for source in sources {
        deliver(traffic, (source, index), &phases, found);
    }
    let at = places(port, sources.iter().map(|source| source.flows));
    found.models.push(AppliedModel::of(queue.closed_form, queue.name, queue.source, at));
}

/// A part of the measurement interval in which the same flows send, and its share of the interval.
struct Phase {
    part: Measured,
    share: f64,
    /// Share of packets that arrive.
    kept: f64,
}

/// Means over the measurement interval, in packets per second, and the number of waiting packets.
#[derive(Default)]
struct Sums {
    arrivals: f64,
    accepted: f64,
    waits: f64,
}

/// The reason why an unlimited buffer has no equilibrium.
pub(crate) fn overload(load: f64) -> String {
    format!("a load of {} with an unlimited buffer has no equilibrium", digits(load, 3))
}

/// Goodput of each flow, if nothing is lost beyond its first link.
fn deliver(traffic: &Traffic, (source, first): (&PoissonSource, PortId), phases: &[Phase], found: &mut Prediction) {
    let group = source.flows;
    for port in group.path().unwrap_or_default().iter().skip(1).map(|&port| traffic.port(port)) {
        if may_lose(port) {
            return found.exclude(group.at(), "no model covers losses beyond its first link");
        }
        if capacity_bps(port) <= found.queues[first].utilisation * capacity_bps(traffic.port(first)) {
            return found.exclude(link(port), "packets arrive faster than it sends, which no model of a second link covers");
        }
    }
    let sent_bps = 8.0 * source.packets_per_s * source.payload_bytes;
    for (place, flow) in group.flows.iter().zip(found.of(group)) {
        let sent = sum(phases.iter().map(|phase| phase.share * phase.part.part(place)));
        let kept = sum(phases.iter().map(|phase| phase.share * phase.part.part(place) * phase.kept));
        (flow.goodput_bps, flow.loss_rate) = (sent_bps * kept, 1.0 - kept / sent);
    }
}

/// Whether a port may lose or delay packets in a way that no model covers.
pub(crate) fn may_lose(port: &Port) -> bool {
    port.buffer != Buffer::Unlimited || port.random_loss > 0.0 || port.unmodelled().is_some()
}

struct Queue {
    closed_form: &'static str,
    name: String,
    source: &'static str,
    loss: f64,
    /// Of accepted packets, in service times.
    mean_wait: f64,
}

/// Loss and wait by the model that applies to this port, or the reason why there is none.
fn queue(port: &Port, load: f64, waiting: Option<u64>, sizes: Sizes) -> Result<Queue, String> {
    let servers = u64::from(port.transmitters);
    let places = waiting.map_or(ROOMY, |waiting| servers + waiting);
    let queue = |closed_form, name: &str, source, (loss, mean_wait)| {
        let is_finite = matches!(closed_form, "mmck" | "md1k") && waiting.is_some();
        let name = if is_finite { format!("{name}/{places}") } else { name.to_string() };
        Queue { closed_form, name, source, loss, mean_wait }
    };
    let text = |error: ParameterError| error.to_string();
    let transmitters = Servers::new(servers).map_err(text)?;
    let offered = Load::new(load).map_err(text)?;
    if servers > 1 && waiting == Some(0) {
        // The closed form of Erlang B, also for an overload.
        let loss = mmck(offered, transmitters, Places::new(servers).map_err(text)?).loss;
        return Ok(queue("erlang_b", "Erlang B", "Erlang 1917", (loss, 0.0)));
    }
    if let Sizes::General(squared_cv) = sizes {
        let squared_cv = NonNegative::new("squared_cv", squared_cv).map_err(text)?;
        let wait = mg1_mean_wait(StableLoad::new(load).map_err(text)?, squared_cv);
        return Ok(queue("mg1_mean_wait", "M/G/1", "Pollaczek-Khinchine", (0.0, wait)));
    }
    if sizes == Sizes::Exponential {
        let found = mmck(offered, transmitters, Places::new(places).map_err(text)?);
        let source = "Kleinrock, Queueing Systems 1, 1975";
        // An unlimited buffer loses nothing, although its approximation does.
        let loss = if waiting.is_some() { found.loss } else { 0.0 };
        return Ok(queue("mmck", &format!("M/M/{servers}"), source, (loss, found.mean_wait)));
    }
    if servers > 1 {
        return Err(format!("no model covers packets of constant size on {servers} transmitters with a buffer"));
    }
    if waiting.is_none() {
        let wait = md1_mean_wait(StableLoad::new(load).map_err(text)?);
        return Ok(queue("md1_mean_wait", "M/D/1", "Pollaczek-Khinchine", (0.0, wait)));
    }
    if places > MAX_MD1K_PLACES {
        return Err(format!("M/D/1/{places} exceeds the limit of the model, {MAX_MD1K_PLACES} places"));
    }
    let found = md1k(offered, Places::new(places).map_err(text)?).map_err(text)?;
    Ok(queue("md1k", "M/D/1", "the chain at departures", (found.loss, found.mean_wait)))
}
