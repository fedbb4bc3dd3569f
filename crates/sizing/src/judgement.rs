//! What each rule answers, and what speaks against it here.

use crate::question::Question;
use crate::trunk_map::is_measured;
use crate::words::thousands;
use tailback_models::Model;
use tailback_models::limits::{
    FEW_FLOWS, FEW_FLOWS_OF_A_CHANNEL, LOSE_TOGETHER, NEARLY_FULL, SHORT_WINDOW, SMALL_WINDOW, TRIED_UTILISATION, TRIED_WINDOWS,
};
use tailback_models::model::evaluate;

/// Inputs that stand for a number so large that it does not matter.
const COUNTLESS: f64 = 1e9;
/// The over-provision with which cui-thesis computes where windows do not limit (section 3.8.1).
const OVER_PROVISION: f64 = 0.95;

/// One rule's.
#[derive(Debug)]
pub struct Answer {
    pub model: &'static Model,
    pub rule: &'static str,
    /// `None` where the rule has no answer.
    pub packets: Option<u64>,
    /// The other end of a range.
    pub most: Option<u64>,
    /// Whether nothing known contradicts the rule's assumptions.
    pub meant: bool,
    /// What does, or why there is no answer; where it is meant, what must be ensured.
    pub why: String,
}

/// Of every rule: of the models of a buffer those that say what it is for.
pub(crate) fn answers(question: &Question) -> Vec<Answer> {
    let sizing = tailback_models::families().into_iter().filter(|(family, _)| *family == "sizing");
    let rules = sizing.flat_map(|(_, models)| models).filter(|model| !model.idea.is_empty());
    rules.map(|model| answered(question, model)).collect()
}

fn answered(question: &Question, model: &'static Model) -> Answer {
    let rule = model.name.trim_end_matches("_buffer");
    let found = match size(question, rule, model) {
        Ok(found) => found,
        Err(error) => return Answer { model, rule, packets: None, most: None, meant: false, why: format!("no answer: {error}") },
    };
    // As `BufferSize` orders its numbers: packets, the same unrounded, the other end of a range.
    let packets = found.first().map(|packets| *packets as u64);
    let most = found.get(2).filter(|most| most.is_finite()).map(|most| *most as u64);
    let against = against(question, rule);
    let meant = against.is_empty();
    let why = if meant { provided(question, rule, packets.unwrap_or(0)) } else { against.join("; ") };
    Answer { model, rule, packets, most, meant, why }
}

fn size(question: &Question, rule: &str, model: &Model) -> Result<Vec<f64>, String> {
    let transmitters = question.transmitters;
    let flows = question.flows as f64;
    let inputs = question.inputs.map(|inputs| inputs as f64);
    let (inputs, windows) = match rule {
        "cui_link" if transmitters != 1 => {
            return Err(format!("`transmitters` is {transmitters}; expected 1: this rule is for a single link"));
        }
        "gorinsky" if inputs.is_none() && transmitters != 1 => {
            return Err("`inputs` is not given; expected the number of input links".into());
        }
        // Of a single link whose inputs are not known, the flows (cui-thesis, section 3.8.2).
        "gorinsky" => (inputs.unwrap_or(flows), None),
        "enachescu" => (COUNTLESS, Some(windows(question)?)),
        _ => (inputs.unwrap_or(COUNTLESS), None),
    };
    evaluate(model, |name| match name {
        "inputs" => Some(inputs),
        "window" => windows.map(|(window, _)| window),
        "over_provision" => windows.map(|(_, over_provision)| over_provision),
        "utilisation" => Some(question.target),
        _ => of_bottleneck(question, name),
    })
}

fn of_bottleneck(question: &Question, name: &str) -> Option<f64> {
    match name {
        "transmitters" => Some(question.transmitters as f64),
        "rate_bps" => Some(question.rate_bps),
        "packet_bytes" => Some(question.packet_bytes),
        "flows" => Some(question.flows as f64),
        "harmonic_rtt_s" => Some(question.base_rtt.harmonic_s),
        "mean_rtt_s" => Some(question.base_rtt.mean_s),
        "max_rtt_s" => Some(question.base_rtt.max_s),
        _ => None,
    }
}

/// Window and over-provision: those of the flows, or those with which cui-thesis computes.
fn windows(question: &Question) -> Result<(f64, f64), String> {
    if let (Some(window), Some(over_provision)) = (question.window, question.over_provision().filter(|load| *load < 1.0)) {
        return Ok((window as f64, over_provision));
    }
    let model = tailback_models::named("enachescu_window").ok_or("no model `enachescu_window`")?;
    let window = evaluate(model, |name| of_bottleneck(question, name))?;
    Ok((window.first().copied().unwrap_or(f64::NAN), OVER_PROVISION))
}

/// Whether the flows' largest windows end below the bottleneck's capacity.
fn is_limited(question: &Question) -> bool {
    question.over_provision().is_some_and(|load| load < 1.0)
}

/// What speaks against a rule here.
fn against(question: &Question, rule: &str) -> Vec<String> {
    let reason = |holds: bool, text: &str| holds.then(|| text.to_string());
    let is_few = question.flows < FEW_FLOWS;
    let bursty = reason(
        question.smooth() == Some(false),
        "packets arrive in bursts: not paced, and over access links more than a hundredth as fast",
    );
    let few = reason(is_few, &format!("fewer than {FEW_FLOWS} flows may halve together"));
    let full =
        reason(question.target > NEARLY_FULL, "asks for far too much above 95 %: packets no longer arrive as a Poisson process");
    let small = reason(question.share() < SMALL_WINDOW, "windows of fewer than four packets, whose losses cost timeouts");
    let limited = reason(is_limited(question), "the flows' largest windows cannot fill the bottleneck");
    let many = format!("{} flows hardly ever halve all at once: more than is needed", thousands(question.flows));
    let reasons = match rule {
        "cui_trunk" => {
            let link = reason(question.is_plain_link(), "one transmitter with unlimited inputs is the case of cui_link");
            vec![bursty, full, small, limited, link]
        }
        "cui_link" => {
            let trunk = reason(question.inputs.is_some(), "known inputs are the case of cui_trunk");
            vec![bursty, full, small, limited, trunk]
        }
        "unpaced" => {
            let (least, most) = TRIED_WINDOWS;
            let fast = question.access_rate_bps.is_none_or(|access| 5.0 * access > question.rate_bps);
            vec![
                reason(question.smooth() == Some(true), "packets arrive smoothly: more than is needed"),
                reason(!is_tried(question), &format!("tried with {least} to {most} packets under way for each flow")),
                reason(
                    question.target > TRIED_UTILISATION,
                    &format!("tried for utilisations of up to {:.0} %", 100.0 * TRIED_UTILISATION),
                ),
                reason(fast, "over access links more than a fifth as fast one flow may take all of the bottleneck"),
                few,
                limited,
            ]
        }
        "enachescu" => {
            let text = "the flows could fill more than the bottleneck; computed as if their windows ended at 95 % of it";
            vec![bursty, reason(!is_limited(question), text)]
        }
        "appenzeller" => vec![few, small, limited],
        "synchronised" | "bandwidth_delay" => vec![reason(!is_few, &many)],
        "full_utilisation" => vec![reason(question.target < 1.0, "the target is below a full link")],
        "gorinsky" | "beheshti" => vec![reason(true, "promises no utilisation")],
        _ => vec![reason(true, "nobody has said when this rule is meant")],
    };
    reasons.into_iter().flatten().collect()
}

/// Whether `unpaced` was tried with windows like these.
pub(crate) fn is_tried(question: &Question) -> bool {
    (TRIED_WINDOWS.0..=TRIED_WINDOWS.1).contains(&question.share())
}

/// Whether each flow has a large part of a channel.
pub(crate) fn has_few_of_a_channel(question: &Question) -> bool {
    question.flows <= FEW_FLOWS_OF_A_CHANNEL.saturating_mul(question.transmitters)
}

/// What has to be made sure, where nothing speaks against a rule.
fn provided(question: &Question, rule: &str, packets: u64) -> String {
    let is_poisson = matches!(rule, "cui_trunk" | "cui_link");
    let mut provided = Vec::new();
    if (is_poisson || rule == "enachescu") && question.smooth().is_none() {
        provided.push("that packets arrive smoothly: paced, or over access links a hundredth as fast");
    }
    if is_poisson && question.target > LOSE_TOGETHER {
        provided.push("that flows do not lose together, which paced ones did in simulations of targets above 85 %");
    }
    if is_poisson && question.share() < SHORT_WINDOW {
        provided.push(
            "that timeouts cost little: with fewer than 12 packets under way for each flow trunks were used up to 6 points less",
        );
    }
    if rule == "cui_trunk" && has_few_of_a_channel(question) {
        provided.push("that a simulation says so too: where a flow has a tenth of a channel and more, single flows decide");
    }
    if is_poisson && !is_measured(question.inputs, question.transmitters, packets, question.target) {
        provided.push("that its loss model, EBD, errs on the safe side for such a trunk as for all that were measured");
    }
    if provided.is_empty() { "meant for this case".into() } else { format!("provided {}", provided.join(", and ")) }
}
