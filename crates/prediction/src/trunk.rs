//! Inputs of a switch that share a trunk: the detailed model of cui-thesis, section 3.6.1, and the closest other models.

use crate::datagrams::{may_lose, overload, violation_of_port, violation_of_source};
use crate::number_text::digits;
use crate::prediction::{AppliedModel, Prediction};
use crate::traffic::{AlternatingGroup, FlowGroup, Traffic, Violation, capacity_bps, link, occupancy, places, waiting_places};
use crate::trunk_map::{TrunkAccuracy, accuracy};
use tailback_core::network::{Port, PortId, Switching};
use tailback_models::ParameterError;
use tailback_models::model::{EvaluationError, InterruptCheck};
use tailback_models::trunk::{EBL, IntendedLoad, LOSS_MODELS, LossModel, Trunk, TrunkVariant, exact_trunk_loss, trunk_loss};

const THESIS: &str = "cui-thesis, section 3.6.1";
/// Inputs times transmitters up to which the exact chain without a buffer takes a fraction of a second.
const SMALL_CHAIN: u64 = 1024;
/// Limits of the models of a trunk.
const MAX_INPUTS: u64 = 1_000_000;
const MAX_PLACES: u64 = 1_000_000_000;

/// Predicts every link with alternating sources and without TCP.
pub(crate) fn predict(traffic: &Traffic, found: &mut Prediction) {
    let mut predicted = Vec::new();
    for port in PortId::all(traffic.network.ports.len()) {
        let mut crossing = traffic.crossing(port);
        if crossing.clone().any(|group| group.tcp().is_some()) || !crossing.any(|group| group.alternating().is_some()) {
            continue;
        }
        match inputs(traffic, port) {
            Ok(groups) => predicted.extend(predict_port(traffic, port, &groups, found).then_some(port)),
            Err((at, why)) => found.exclude(at, why),
        }
    }
    for group in traffic.groups.iter().filter_map(FlowGroup::alternating) {
        deliver(traffic, &group, &predicted, found);
    }
}

/// The inputs of a link, or the first violated assumption of the detailed model.
fn inputs<'t, 'a>(traffic: &'t Traffic<'a>, port: PortId) -> Result<Vec<AlternatingGroup<'t, 'a>>, Violation> {
    let at = link(traffic.port(port));
    let groups = traffic.crossing(port).map(|group| input(traffic, port, group)).collect::<Result<Vec<_>, _>>()?;
    let packets = |group: &AlternatingGroup| (group.mean_bytes, group.mean_idle_s);
    if let Some(other) = groups.iter().find(|group| packets(group) != packets(&groups[0])) {
        let (first, other) = (groups[0].flows.at(), other.flows.at());
        return Err((at, format!("{first} and {other} differ in packets or idle times, but inputs of the model are equal")));
    }
    if count(&groups) > MAX_INPUTS {
        return Err((at, format!("there are more than {MAX_INPUTS} inputs, the limit of the models")));
    }
    violation_of_port(traffic.port(port)).map_or(Ok(groups), Err)
}

fn count(groups: &[AlternatingGroup]) -> u64 {
    groups.iter().map(|group| group.flows.count() as u64).sum()
}

fn input<'t, 'a>(traffic: &Traffic, index: PortId, group: &'t FlowGroup<'a>) -> Result<AlternatingGroup<'t, 'a>, Violation> {
    let (at, port) = (group.at(), traffic.port(index));
    let Some(source) = group.alternating() else {
        return Err((at, "is not an alternating source, but shares the trunk with alternating sources".into()));
    };
    let path = group.path().unwrap_or_default();
    let before = path.iter().position(|&other| other == index).map(|place| &path[..place]);
    if !before.is_some_and(|before| preserves_arrivals(traffic, before)) {
        return Err((link(port), format!("{at} reaches it over other links, which change the arrival process")));
    }
    if group.has_host_delays() {
        return Err((at, "jitter or processing changes the arrival process".into()));
    }
    if !source.has_exponential_packets() {
        return Err((format!("{at}.source.packet_size"), "packet sizes, including headers, are not exponential".into()));
    }
    if source.rate != port.rate {
        let why = format!("differs from the rate of a transmitter of {}; in the model they are equal", link(port));
        return Err((format!("{at}.source.rate"), why));
    }
    // Without an access link, all bits of a packet arrive at the same time.
    let arrives_at_once = path[0] == index && group.sender_access.is_none();
    if port.switching != Switching::CutThrough && !arrives_at_once {
        let why = "store_and_forward: an input may send its next packet while its previous one is still in transmission, which the \
                   model does not allow";
        return Err((format!("{}.switching", link(port)), why.into()));
    }
    if let Err(why) = traffic.measured.together(group.flows.iter()) {
        return Err((format!("{at}.start"), why));
    }
    violation_of_source(group).map_or(Ok(source), Err)
}

/// Whether the upstream links preserve the arrival process: none, or one with a transmitter for each of its inputs.
fn preserves_arrivals(traffic: &Traffic, before: &[PortId]) -> bool {
    let [index] = *before else { return before.is_empty() };
    let (port, groups) = (traffic.port(index), || traffic.crossing(index));
    let flows: usize = groups().map(FlowGroup::count).sum();
    if flows as u64 > u64::from(port.transmitters) || port.random_loss > 0.0 || port.unmodelled().is_some() {
        return false;
    }
    // Sources must be at this link, so that the check does not recurse further.
    let first =
        |group: &FlowGroup| group.alternating().is_some() && group.path().is_some_and(|path| path.first() == Some(&index));
    groups().all(first) && inputs(traffic, index).is_ok()
}

/// Predicts a port. Returns whether it has an equilibrium.
fn predict_port(traffic: &Traffic, index: PortId, groups: &[AlternatingGroup], found: &mut Prediction) -> bool {
    let port = traffic.port(index);
    let packet_s = 8.0 * groups[0].mean_bytes / port.rate.0 as f64;
    let (inputs, transmitters) = (count(groups), u64::from(port.transmitters));
    // (3.14): inputs are never blocked, whether or not their packets are lost.
    let load = packet_s / (packet_s + groups[0].mean_idle_s) * inputs as f64 / transmitters as f64;
    let waiting = waiting_places(port);
    if waiting.is_none() && load >= 1.0 {
        found.exclude(link(port), overload(load));
        found.queue(index).utilisation = 1.0;
        return false;
    }
    let at = places(port, groups.iter().map(|group| group.flows));
    let (share, model) = match loss(port, inputs, waiting, load, at) {
        Ok(loss) => loss,
        Err(why) => {
            found.exclude(link(port), why);
            return false;
        }
    };
    // The loss of a packet does not depend on its length, so the loss of packets equals the loss of bytes.
    let utilisation = load * (1.0 - share);
    let queue = found.queue(index);
    queue.loss_rate = share + (1.0 - share) * port.random_loss;
    queue.utilisation = utilisation;
    if waiting == Some(0) || inputs <= transmitters {
        (queue.mean_queue_units, queue.mean_wait_s) = (occupancy(port, 0.0, utilisation), 0.0);
    }
    found.models.push(model);
    true
}

/// Goodput of each flow, if all links with losses are predicted.
fn deliver(traffic: &Traffic, group: &AlternatingGroup, predicted: &[PortId], found: &mut Prediction) {
    let path = group.flows.path().unwrap_or_default();
    let crossed: Vec<PortId> = path.iter().copied().filter(|port| predicted.contains(port)).collect();
    let Some(&last) = crossed.last() else { return };
    for &later in &path[crossed.len()..] {
        let port = traffic.port(later);
        let is_stranger = |group: &FlowGroup| group.path().is_some_and(|path| !path.contains(&last));
        if may_lose(port) || traffic.crossing(later).any(is_stranger) || capacity_bps(port) < capacity_bps(traffic.port(last)) {
            let why = format!("no model covers losses at {}, beyond its trunk", link(port));
            return found.exclude(group.flows.at(), why);
        }
    }
    let arrives: f64 = crossed.iter().map(|&port| 1.0 - found.queues[port].loss_rate).product();
    let bits = 8.0 * group.mean_bytes;
    let sent_bps = bits / (bits / traffic.port(last).rate.0 as f64 + group.mean_idle_s);
    let part = traffic.measured.together(group.flows.flows.iter()).unwrap_or(1.0);
    for flow in found.of(group.flows) {
        (flow.goodput_bps, flow.loss_rate) = (sent_bps * arrives * part, 1.0 - arrives);
    }
}

/// Loss by the exact chain if it is small, else by the model with the smallest error according to the map.
fn loss(port: &Port, inputs: u64, waiting: Option<u64>, load: f64, at: Vec<String>) -> Result<(f64, AppliedModel), String> {
    let transmitters = u64::from(port.transmitters);
    let text = |error: EvaluationError| match error {
        EvaluationError::Parameter(error) => error.to_string(),
        EvaluationError::Interrupted => "interrupted".into(),
    };
    if inputs <= transmitters {
        return Ok((0.0, AppliedModel::of("exact_trunk_loss", "one transmitter per input", THESIS, at)));
    }
    let Some(places) = waiting else {
        return Ok((0.0, AppliedModel::of("exact_trunk_loss", "unlimited buffer", THESIS, at)));
    };
    let trunk = Trunk::new(inputs, transmitters, places.min(MAX_PLACES)).map_err(|error| error.to_string())?;
    let intended = IntendedLoad(load);
    if places == 0 && inputs * transmitters <= SMALL_CHAIN {
        let exact = exact_trunk_loss(trunk, intended, TrunkVariant::OwnLength, InterruptCheck(|| true)).map_err(text)?;
        return Ok((
            exact.loss,
            AppliedModel::of("exact_trunk_loss", "exact chain of the detailed model of a trunk", THESIS, at),
        ));
    }
    let (model, accuracy) = nearest(&trunk, load).map_err(|error| error.to_string())?;
    let found = trunk_loss(trunk, intended, model).map_err(|error| error.to_string())?;
    let mut applied = AppliedModel::of("trunk_loss", model.title, model.source, at);
    let at = format!("M = {inputs}, K = {transmitters}, B = {places}, load {}", digits(load, 3));
    let said = format!("the loss by {} at {at}: {accuracy}; see docs/evidence/trunk_accuracy.md", model.title);
    if accuracy.is_within(1.05) {
        applied.simplifies.push(said)
    } else {
        applied.warnings.push(said)
    }
    Ok((found.loss, applied))
}

/// The model with the smallest maximum error at the surrounding points of the map; EBL, usually the best, outside the map.
fn nearest(trunk: &Trunk, load: f64) -> Result<(&'static LossModel, TrunkAccuracy), ParameterError> {
    let of_ebl = accuracy(trunk, load, &EBL, TrunkVariant::OwnLength)?;
    if !of_ebl.is_mapped() {
        return Ok((&EBL, of_ebl));
    }
    // Errors at the surrounding points decide: a model that is too low on one side and too high on the other may be right by
    // chance.
    let error = |accuracy: &TrunkAccuracy| libm::log(accuracy.low).abs().max(libm::log(accuracy.high).abs());
    let all = LOSS_MODELS.map(|model| Ok((model, accuracy(trunk, load, model, TrunkVariant::OwnLength)?)));
    let all: Vec<_> = all.into_iter().collect::<Result<_, ParameterError>>()?;
    let best = all.into_iter().min_by(|(_, one), (_, other)| error(one).total_cmp(&error(other)));
    Ok(best.unwrap_or((&EBL, of_ebl)))
}
