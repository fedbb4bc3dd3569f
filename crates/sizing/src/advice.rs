//! Which rule is meant for a case, and why.

use crate::judgement::{Answer, has_few_of_a_channel, is_tried};
use crate::question::Question;
use crate::trunk_map::is_measured;
use crate::words::{digits, packets};
use tailback_models::limits::{FEW_FLOWS, LOSE_TOGETHER, SHORT_WINDOW};

/// The answers to a question, by the names of their rules.
struct Known<'a>(&'a [Answer]);

impl Known<'_> {
    fn get(&self, rule: &str) -> Option<&Answer> {
        self.0.iter().find(|answer| answer.rule == rule)
    }

    fn packets(&self, rule: &str) -> Option<u64> {
        self.get(rule).and_then(|answer| answer.packets)
    }

    /// 0 where the rule has no answer.
    fn places(&self, rule: &str) -> u64 {
        self.packets(rule).unwrap_or(0)
    }

    /// What is asked for is at the least a product of rate and time, which has an answer unless it is beyond all numbers.
    fn said(&self, rule: &str) -> String {
        self.packets(rule).map_or_else(|| "2^53 packets or more".into(), packets)
    }

    fn is_meant(&self, rule: &str) -> bool {
        self.get(rule).is_some_and(|answer| answer.meant)
    }

    /// Why the buffer of a rule that is not meant is not recommended.
    fn instead_of(&self, rule: &str) -> String {
        match self.get(rule) {
            Some(Answer { meant: false, packets: Some(places), why, .. }) => {
                format!(" Not the {} of {rule}: {why}.", packets(*places))
            }
            _ => String::new(),
        }
    }
}

/// The rule, or `None` where no buffer reaches the target; and a sentence or two.
pub(crate) fn advice(question: &Question, answers: &[Answer]) -> (Option<&'static str>, String) {
    let known = Known(answers);
    let poisson = if question.is_plain_link() { "cui_link" } else { "cui_trunk" };
    let target = format!("{} %", digits(100.0 * question.target, 6));
    if let Some(inputs) = question.inputs.filter(|inputs| (*inputs as f64) < question.target * question.transmitters as f64) {
        let most = digits(100.0 * inputs as f64 / question.transmitters as f64, 3);
        let why = format!("the inputs, each as fast as a transmitter, bring {most} % of the capacity at most");
        return (None, format!("No buffer gives {target}: {why}."));
    }
    if let Some(load) = question.most_by_access().filter(|load| *load < question.target) {
        let most = digits(100.0 * load, 3);
        return (None, format!("No buffer gives {target}: the senders' own links bring {most} % of the capacity at most."));
    }
    if question.target >= 1.0 {
        let rule = if known.packets("full_utilisation").is_some() { "full_utilisation" } else { "bandwidth_delay" };
        return (Some(rule), format!("A link that is never idle takes {}: {rule}.", known.said(rule)));
    }
    if let Some(load) = question.over_provision().filter(|load| *load <= question.target) {
        let most = digits(100.0 * load, 3);
        return (None, format!("No buffer gives {target}: at their largest windows all flows together use {most} %."));
    }
    if known.is_meant("enachescu") {
        let places = known.said("enachescu");
        return (Some("enachescu"), format!("The windows end below the capacity, so only bursts have to be held: {places}."));
    }
    // Few flows may halve together, and what they send in bursts has to be held all the same.
    let bursts = if known.is_meant("unpaced") { "unpaced" } else { "appenzeller" };
    let is_few = question.flows < FEW_FLOWS || known.packets(bursts).is_none();
    let otherwise = if is_few { of_few(question, &known) } else { bursts };
    if known.is_meant(poisson) && question.flows > 1 {
        return (Some(poisson), if_smooth(question, &known, poisson, otherwise, &target));
    }
    if is_few {
        return for_few(question, &known, poisson, otherwise, &target);
    }
    (Some(bursts), format!("For {target}: {} ({bursts}).{}", known.said(bursts), known.instead_of(poisson)))
}

fn if_smooth(question: &Question, known: &Known, poisson: &str, otherwise: &str, target: &str) -> String {
    let mut check = String::new();
    if question.target > LOSE_TOGETHER {
        check += " Simulate it: above 85 % paced flows may lose together.";
    }
    if question.share() < SHORT_WINDOW {
        check += " Simulate it: with fewer than 12 packets under way flows wait for timeouts.";
    }
    if poisson == "cui_trunk" && has_few_of_a_channel(question) {
        check += " Simulate it: with a tenth of a channel and more for each flow, single flows decide.";
    }
    let is_smooth = question.smooth() == Some(true);
    if !is_measured(question.inputs, question.transmitters, known.places(poisson), question.target) {
        check += " Nobody has measured how far the model behind it is off for such a trunk: simulate it.";
        if is_smooth {
            check += &format!(" The next rule has {} ({otherwise}).", known.said(otherwise));
        }
    }
    let text = format!("For {target}: {} ({poisson})", known.said(poisson));
    if is_smooth {
        return format!("{text}.{check}");
    }
    let smoothly = "if packets arrive smoothly, that is paced or over access links a hundredth as fast";
    format!("{text} {smoothly}; else {} ({otherwise}).{check}", known.said(otherwise))
}

fn for_few(
    question: &Question,
    known: &Known,
    poisson: &'static str,
    otherwise: &'static str,
    target: &str,
) -> (Option<&'static str>, String) {
    let paced = question.smooth() == Some(true) && known.places(poisson) > known.places("synchronised");
    let rule = if paced { poisson } else { otherwise };
    let why = if matches!(rule, "synchronised" | "bandwidth_delay") { "whatever they do" } else { "to hold their bursts" };
    let mut text = format!("So few flows may halve together: {} for {target} {why} ({rule}).", known.said(rule));
    if rule == "bandwidth_delay" && known.is_meant("synchronised") && known.places("synchronised") > 0 {
        let together = known.said("synchronised");
        text += &format!(" Not the {together} of synchronised: they hold what flows give up together, and bursts may be more.");
    }
    if rule != poisson {
        text += &known.instead_of(poisson);
    }
    (Some(rule), text)
}

/// What holds what few flows give up together, and where that is nothing or their bursts are more, these.
///
/// Bursts are no more than a bandwidth-delay product, and known for windows with which they were tried.
fn of_few(question: &Question, known: &Known) -> &'static str {
    let (together, bursts) = (known.places("synchronised"), known.places("unpaced"));
    if is_tried(question) && bursts > together {
        return if bursts <= known.places("bandwidth_delay") { "unpaced" } else { "bandwidth_delay" };
    }
    if together > 0 { "synchronised" } else { "bandwidth_delay" }
}
