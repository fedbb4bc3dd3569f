//! Selection of the rule that applies to a case, with the reason.

use super::judgement::{SizingResult, has_few_of_a_channel, is_too_near_full, is_tried};
use super::sizing_case::SizingCase;
use crate::number_text::{digits, packets, thousands};
use crate::trunk_map::is_measured;
use tailback_models::limits::{FEW_FLOWS, LOSE_TOGETHER, SHORT_WINDOW};

/// The answers to a case, by rule name.
struct RuleResults<'a>(&'a [SizingResult]);

impl RuleResults<'_> {
    fn get(&self, rule: &str) -> Option<&SizingResult> {
        self.0.iter().find(|answer| answer.rule == rule)
    }

    fn packets(&self, rule: &str) -> Option<u64> {
        self.get(rule).and_then(|answer| answer.packets)
    }

    /// 0 where the rule has no answer.
    fn places(&self, rule: &str) -> u64 {
        self.packets(rule).unwrap_or(0)
    }

    /// The buffer as text. The recommended rules are at least a product of rate and time, which is defined unless it exceeds
    /// integer range.
    fn size_text(&self, rule: &str) -> String {
        self.packets(rule).map_or_else(|| "2^53 packets or more".into(), packets)
    }

    fn applies(&self, rule: &str) -> bool {
        self.get(rule).is_some_and(|answer| answer.applies)
    }

    /// Reason why the buffer of a rule that does not apply is not recommended.
    fn instead_of(&self, rule: &str) -> String {
        match self.get(rule) {
            Some(SizingResult { applies: false, packets: Some(places), why, .. }) => {
                format!(" The {} of {rule} do not apply: {why}.", packets(*places))
            }
            _ => String::new(),
        }
    }
}

/// A recommendation, with an explanation in a sentence or two.
pub(super) struct Advice {
    pub(super) rule: Option<&'static str>,
    /// Whether a simulation has a better answer than the rule, or alone may have one.
    pub(super) is_uncovered: bool,
    pub(super) text: String,
}

impl Advice {
    fn rule(rule: &'static str, text: String) -> Self {
        Self { rule: Some(rule), is_uncovered: false, text }
    }

    fn none(text: String) -> Self {
        Self { rule: None, is_uncovered: false, text }
    }

    fn simulation(text: String) -> Self {
        Self { rule: None, is_uncovered: true, text }
    }
}

pub(super) fn advice(case: &SizingCase, answers: &[SizingResult]) -> Advice {
    let known = RuleResults(answers);
    let poisson = if case.is_plain_link() { "cui_link" } else { "cui_trunk" };
    let target = format!("{} %", digits(100.0 * case.target, 6));
    if let Some(inputs) = case.inputs.filter(|inputs| (*inputs as f64) < case.target * case.transmitters as f64) {
        let max_share = digits(100.0 * inputs as f64 / case.transmitters as f64, 3);
        let why = format!("the inputs, each as fast as a transmitter, carry at most {max_share} % of the capacity");
        return Advice::none(format!("No buffer achieves {target}: {why}."));
    }
    if let Some(load) = case.access_limit().filter(|load| *load < case.target) {
        let max_share = digits(100.0 * load, 3);
        let why = format!("the senders' access links carry at most {max_share} % of the capacity");
        return Advice::none(format!("No buffer achieves {target}: {why}."));
    }
    let is_covered = case.other_controllers.is_empty();
    if case.target >= 1.0 && is_covered {
        let rule = if known.packets("full_utilisation").is_some() { "full_utilisation" } else { "bandwidth_delay" };
        return Advice::rule(rule, format!("Full utilisation requires {} ({rule}).", known.size_text(rule)));
    }
    if let Some(load) = case.over_provision().filter(|load| *load <= case.target) {
        let max_share = digits(100.0 * load, 3);
        return Advice::none(format!(
            "No buffer achieves {target}: at their largest windows all flows together use {max_share} %."
        ));
    }
    if known.applies("enachescu") {
        let places = known.size_text("enachescu");
        let why = "The largest windows do not fill the link, so that the buffer only has to absorb bursts";
        return Advice::rule("enachescu", format!("{why}: {places}."));
    }
    if !is_covered {
        return of_other_controllers(case, &known, &target);
    }
    // Few flows may halve together; the buffer has to absorb their bursts as well.
    let bursts = if known.applies("unpaced") { "unpaced" } else { "appenzeller" };
    let is_few = case.flows < FEW_FLOWS || known.packets(bursts).is_none();
    let otherwise = if is_few { of_few(case, &known) } else { bursts };
    if known.applies(poisson) && case.flows > 1 {
        return if_smooth(case, &known, poisson, otherwise, &target);
    }
    if is_few {
        return Advice { is_uncovered: true, ..for_few(case, &known, poisson, otherwise, &target) };
    }
    if bursts == "appenzeller" && is_too_near_full(case) {
        let why = known.instead_of(bursts);
        return Advice::simulation(format!("No rule is accurate enough for {target}: simulate the case.{why}"));
    }
    Advice::rule(bursts, format!("For {target}: {} ({bursts}).{}", known.size_text(bursts), known.instead_of(poisson)))
}

/// The rule of one controller, or the nearest answer to flows that no rule covers. A simulation answers both better.
fn of_other_controllers(case: &SizingCase, known: &RuleResults, target: &str) -> Advice {
    if known.applies("cubic") {
        let text = format!("For {target}: {} (cubic).", known.size_text("cubic"));
        return Advice { is_uncovered: true, ..Advice::rule("cubic", text) };
    }
    let others = case.other_controllers.join(" and ");
    let flows = if case.flows == 1 { "one flow".into() } else { format!("{} flows", thousands(case.flows)) };
    let nearest = if case.has_only("cubic") {
        format!(" If all flows reduced their windows together: {} (cubic).", known.size_text("cubic"))
    } else if case.has_only("bbr") {
        format!(" Without loss: {} (bbr).", known.size_text("bbr"))
    } else {
        String::new()
    };
    Advice::simulation(format!("No rule covers {flows} of {others}: simulate the case.{nearest}"))
}

/// The rule for smooth arrivals where they are known to be smooth; otherwise both rules, of which the larger buffer is recommended.
fn if_smooth(case: &SizingCase, known: &RuleResults, poisson: &'static str, otherwise: &'static str, target: &str) -> Advice {
    let mut check = String::new();
    if case.target > LOSE_TOGETHER {
        check += "  Verify by simulation: above 85 % paced flows may lose packets at the same time.";
    }
    if case.share() < SHORT_WINDOW {
        check += "  Verify by simulation: with fewer than 12 packets in flight per flow, timeouts are frequent.";
    }
    if poisson == "cui_trunk" && has_few_of_a_channel(case) {
        check +=
            "  Verify by simulation: with a tenth of a channel or more per flow, individual flows determine the utilisation.";
    }
    let is_smooth = case.smooth() == Some(true);
    if !is_measured(case.inputs, case.transmitters, known.places(poisson), case.target) {
        check += "  The error of its loss model has not been measured for such a trunk: verify by simulation.";
        if is_smooth {
            check += &format!(" The next rule requires {} ({otherwise}).", known.size_text(otherwise));
        }
    }
    let smooth = format!("{} ({poisson})", known.size_text(poisson));
    if is_smooth {
        return Advice::rule(poisson, format!("For {target}: {smooth}.{check}"));
    }
    let smoothly = "if packets arrive smoothly (paced, or over access links of at most a hundredth of the rate)";
    let text = format!("For {target}: {} ({otherwise}); {smooth} {smoothly}.{check}", known.size_text(otherwise));
    Advice::rule(otherwise, text)
}

fn for_few(case: &SizingCase, known: &RuleResults, poisson: &'static str, otherwise: &'static str, target: &str) -> Advice {
    let paced = case.smooth() == Some(true) && known.places(poisson) > known.places("synchronised");
    let rule = if paced { poisson } else { otherwise };
    let why = if matches!(rule, "synchronised" | "bandwidth_delay") { "even if they do" } else { "to absorb their bursts" };
    let mut text = format!("So few flows may halve together: {} for {target} {why} ({rule}).", known.size_text(rule));
    if rule == "bandwidth_delay" && known.applies("synchronised") && known.places("synchronised") > 0 {
        let together = known.size_text("synchronised");
        text += &format!(
            "  The {together} of synchronised may be too few: they cover synchronised halving, but bursts may be larger."
        );
    }
    if rule != poisson {
        text += &known.instead_of(poisson);
    }
    Advice::rule(rule, text)
}

/// The rule for few flows: the one for synchronised halving, or the one for bursts where these are larger.
///
/// Bursts are at most a bandwidth-delay product, and known for windows within the tested range.
fn of_few(case: &SizingCase, known: &RuleResults) -> &'static str {
    let (together, bursts) = (known.places("synchronised"), known.places("unpaced"));
    if is_tried(case) && bursts > together {
        return if bursts <= known.places("bandwidth_delay") { "unpaced" } else { "bandwidth_delay" };
    }
    if together > 0 { "synchronised" } else { "bandwidth_delay" }
}
