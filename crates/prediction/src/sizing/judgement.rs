//! The answer of each rule, and the objections to it in this case.

use super::sizing_case::SizingCase;
use crate::number_text::thousands;
use crate::trunk_map::is_measured;
use tailback_models::Model;
use tailback_models::limits::{
    FEW_FLOWS, FEW_FLOWS_OF_A_CHANNEL, LOSE_TOGETHER, NEARLY_FULL, SHORT_WINDOW, SMALL_WINDOW, SUM_OF_WINDOWS_ERROR,
    TRIED_UTILISATION, TRIED_WINDOWS,
};
use tailback_models::model::evaluate;

/// A number of inputs so large that it has no effect.
const COUNTLESS: f64 = 1e9;
/// The over-provisioning factor that cui-thesis uses where windows do not limit (section 3.8.1).
const OVER_PROVISION: f64 = 0.95;

/// The largest target for which the equation of a sawtooth has a solution by floating point.
const ALMOST_FULL: f64 = 1.0 - 1e-12;

/// The answer of one rule.
#[derive(Debug)]
pub struct SizingResult {
    pub model: &'static Model,
    pub rule: &'static str,
    /// `None` where the rule has no answer.
    pub packets: Option<u64>,
    /// Upper end of a range.
    pub max_packets: Option<u64>,
    /// Whether the case meets the rule's assumptions, as far as known.
    pub applies: bool,
    /// The objections, or the reason why there is no answer; if the rule applies, the conditions to ensure.
    pub why: String,
}

/// The answers of all rules. A rule is a sizing model that declares a purpose of the buffer.
pub(super) fn answers(case: &SizingCase) -> Vec<SizingResult> {
    let sizing = tailback_models::families().into_iter().filter(|(family, _)| *family == "sizing");
    let rules = sizing.flat_map(|(_, models)| models).filter(|model| !model.idea.is_empty());
    rules.map(|model| answered(case, model)).collect()
}

fn answered(case: &SizingCase, model: &'static Model) -> SizingResult {
    let rule = model.name.trim_end_matches("_buffer");
    let found = match size(case, rule, model) {
        Ok(found) => found,
        Err(error) => {
            return SizingResult {
                model,
                rule,
                packets: None,
                max_packets: None,
                applies: false,
                why: format!("no answer: {error}"),
            };
        }
    };
    // In the order of the fields of `BufferSize`: packets, the unrounded value, the upper end of a range.
    let packets = found.first().map(|packets| *packets as u64);
    let max_packets = found.get(2).filter(|max| max.is_finite()).map(|max| *max as u64);
    let against = against(case, rule, packets.unwrap_or(0));
    let applies = against.is_empty();
    let why = if applies { provided(case, rule, packets.unwrap_or(0)) } else { against.join("; ") };
    SizingResult { model, rule, packets, max_packets, applies, why }
}

fn size(case: &SizingCase, rule: &str, model: &Model) -> Result<Vec<f64>, String> {
    let transmitters = case.transmitters;
    let flows = case.flows as f64;
    let inputs = case.inputs.map(|inputs| inputs as f64);
    let (inputs, windows) = match rule {
        "cui_link" if transmitters != 1 => {
            return Err(format!("`transmitters` is {transmitters}; expected 1: this rule is for a single link"));
        }
        "gorinsky" if inputs.is_none() && transmitters != 1 => {
            return Err("`inputs` is missing; expected the number of input links".into());
        }
        // For a single link with an unknown number of inputs, the number of flows (cui-thesis, section 3.8.2).
        "gorinsky" => (inputs.unwrap_or(flows), None),
        "enachescu" => (COUNTLESS, Some(max_windows(case)?)),
        _ => (inputs.unwrap_or(COUNTLESS), None),
    };
    evaluate(model, |name| match name {
        "inputs" => Some(inputs),
        "window" => windows.map(|(window, _)| window),
        "over_provision" => windows.map(|(_, over_provision)| over_provision),
        // The limit for full utilisation is the buffer that holds the whole reduction.
        "utilisation" if rule == "cubic" => Some(case.target.min(ALMOST_FULL)),
        "utilisation" => Some(case.target),
        _ => of_bottleneck(case, name),
    })
}

fn of_bottleneck(case: &SizingCase, name: &str) -> Option<f64> {
    match name {
        "transmitters" => Some(case.transmitters as f64),
        "rate_bps" => Some(case.rate_bps),
        "packet_bytes" => Some(case.packet_bytes),
        "flows" => Some(case.flows as f64),
        "harmonic_rtt_s" => Some(case.base_rtt.harmonic_s),
        "mean_rtt_s" => Some(case.base_rtt.mean_s),
        "max_rtt_s" => Some(case.base_rtt.max_s),
        _ => None,
    }
}

/// Window and over-provisioning factor: the values of the flows, or the default of cui-thesis.
pub fn max_windows(case: &SizingCase) -> Result<(f64, f64), String> {
    if let (Some(window), Some(over_provision)) = (case.window, case.over_provision().filter(|load| *load < 1.0)) {
        return Ok((window as f64, over_provision));
    }
    let model = tailback_models::named("enachescu_window").ok_or("no model `enachescu_window`")?;
    let window = evaluate(model, |name| of_bottleneck(case, name))?;
    Ok((window.first().copied().unwrap_or(f64::NAN), OVER_PROVISION))
}

/// Whether the flows' largest windows do not fill the bottleneck.
fn is_limited(case: &SizingCase) -> bool {
    case.over_provision().is_some_and(|load| load < 1.0)
}

/// Objections to a rule in this case.
fn against(case: &SizingCase, rule: &str, packets: u64) -> Vec<String> {
    let reason = |holds: bool, text: &str| holds.then(|| text.to_string());
    let is_few = case.flows < FEW_FLOWS;
    let bursty = reason(
        case.smooth() == Some(false),
        "packets arrive in bursts: unpaced, and over access links of more than a hundredth of the rate",
    );
    let few = reason(is_few, &format!("fewer than {FEW_FLOWS} flows may halve together"));
    let full = reason(case.target > NEARLY_FULL, "far too large above 95 %: arrivals are no longer a Poisson process");
    let small = reason(case.share() < SMALL_WINDOW, "windows of fewer than four packets, where losses cause timeouts");
    let limited = reason(is_limited(case), "the flows' largest windows cannot fill the bottleneck");
    let many = format!("{} flows almost never halve at the same time: larger than necessary", thousands(case.flows));
    let others = case.other_controllers.join(" and ");
    let other = reason(!others.is_empty(), &format!("for windows that halve, unlike those of {others}"));
    let reasons = match rule {
        "cui_trunk" => {
            let link = reason(case.is_plain_link(), "cui_link covers one transmitter with unlimited inputs");
            vec![other, bursty, full, small, limited, link]
        }
        "cui_link" => {
            let trunk = reason(case.inputs.is_some(), "cui_trunk covers a known number of inputs");
            vec![other, bursty, full, small, limited, trunk]
        }
        "unpaced" => {
            let (min, max) = TRIED_WINDOWS;
            let fast = case.access_rate_bps.is_none_or(|access| 5.0 * access > case.rate_bps);
            vec![
                other,
                reason(case.smooth() == Some(true), "packets arrive smoothly: larger than necessary"),
                reason(!is_tried(case), &format!("tested with {min} to {max} packets in flight per flow")),
                reason(
                    case.target > TRIED_UTILISATION,
                    &format!("tested for utilisations of up to {:.0} %", 100.0 * TRIED_UTILISATION),
                ),
                reason(fast, "one flow can fill the bottleneck over access links of more than a fifth of its rate"),
                few,
                limited,
            ]
        }
        "enachescu" => {
            let text = "the flows could overload the bottleneck; computed as if their largest windows filled 95 % of it";
            vec![bursty, reason(!is_limited(case), text)]
        }
        "appenzeller" => vec![other, few, small, limited, reason(is_too_near_full(case), TOO_NEAR_FULL)],
        "synchronised" | "bandwidth_delay" => vec![other, reason(!is_few, &many)],
        "cubic" => vec![
            reason(!case.has_only("cubic"), "for flows of CUBIC"),
            reason(case.flows > 1, "several flows seldom reduce their windows together: larger than necessary"),
            reason(packets < MOST_BURST, "bursts need more than so few packets"),
            limited,
        ],
        "bbr" => vec![
            reason(!case.has_only("bbr"), "for flows of BBR"),
            reason(
                true,
                "avoids losses: BBR idles while it probes the round trip, and uses nearly as much with a smaller buffer",
            ),
            limited,
        ],
        "full_utilisation" => vec![other, reason(case.target < 1.0, "the target is below full utilisation")],
        "gorinsky" | "beheshti" => vec![reason(true, "guarantees no utilisation")],
        _ => vec![reason(true, "the conditions for this rule are not specified")],
    };
    reasons.into_iter().flatten().collect()
}

/// Buffers below this number of packets hold less than the bursts of a flow of CUBIC: simulations used up to 75 points less of links of 5 to
/// 1000 Mbit/s than the curve of RFC 9438 says.
const MOST_BURST: u64 = 20;

const TOO_NEAR_FULL: &str = "its error of up to two points of utilisation is larger than the distance of the target from 100 %";

/// Whether the target is closer to full utilisation than rules for many flows are accurate.
pub(super) fn is_too_near_full(case: &SizingCase) -> bool {
    case.target > 1.0 - SUM_OF_WINDOWS_ERROR
}

/// Whether `unpaced` was tested with windows of this size.
pub(super) fn is_tried(case: &SizingCase) -> bool {
    (TRIED_WINDOWS.0..=TRIED_WINDOWS.1).contains(&case.share())
}

/// Whether each flow has a large fraction of a channel.
pub(super) fn has_few_of_a_channel(case: &SizingCase) -> bool {
    case.flows <= FEW_FLOWS_OF_A_CHANNEL.saturating_mul(case.transmitters)
}

/// Conditions to ensure, where there are no objections to a rule.
fn provided(case: &SizingCase, rule: &str, packets: u64) -> String {
    let is_poisson = matches!(rule, "cui_trunk" | "cui_link");
    let mut provided = Vec::new();
    if (is_poisson || rule == "enachescu") && case.smooth().is_none() {
        provided.push("that packets arrive smoothly: paced, or over access links of at most a hundredth of the rate");
    }
    if is_poisson && case.target > LOSE_TOGETHER {
        provided.push("that flows do not lose packets at the same time, as paced flows did in simulations of targets above 85 %");
    }
    if is_poisson && case.share() < SHORT_WINDOW {
        provided.push(
            "that timeouts cost little: with fewer than 12 packets in flight per flow the utilisation of trunks was up to 6 points lower",
        );
    }
    if rule == "cui_trunk" && has_few_of_a_channel(case) {
        provided.push("that a simulation confirms it: where a flow has a tenth of a channel or more, individual flows determine the utilisation");
    }
    if is_poisson && !is_measured(case.inputs, case.transmitters, packets, case.target) {
        provided.push("that its loss model, EBD, overestimates the loss for such a trunk, as it did for all that were measured");
    }
    if provided.is_empty() { "applies to this case".into() } else { format!("provided {}", provided.join(", and ")) }
}
