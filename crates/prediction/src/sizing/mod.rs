//! Every buffer sizing rule for a bottleneck, side by side, with the rule that applies: the results of `tailback size-buffer` and
//! of the lab's calculator.
//!
//! The rules themselves are models (`tailback_models::sizing`). [`SizingCase`] describes the case, `question.rs` makes one from a
//! question or a network, `judgement.rs` computes each rule's answer and the objections to it, and `advice.rs` selects the
//! recommended rule.

mod advice;
mod judgement;
mod question;
mod sizing_case;

pub use judgement::{SizingResult, max_windows};
pub use question::PortCase;
pub use sizing_case::SizingCase;

/// All answers to a case, and the recommended one.
#[derive(Debug)]
pub struct SizingResults {
    /// In the order of the models.
    pub rules: Vec<SizingResult>,
    /// The rule that applies to this case; `None` if no buffer reaches the target, or only a simulation has an answer.
    pub recommended: Option<&'static str>,
    /// Whether a simulation has a better answer than the rule, or alone may have one.
    pub is_uncovered: bool,
    /// The reason, in a sentence or two.
    pub advice: String,
}

pub fn answers(case: &SizingCase) -> SizingResults {
    let rules = judgement::answers(case);
    let advice = advice::advice(case, &rules);
    SizingResults { rules, recommended: advice.rule, is_uncovered: advice.is_uncovered, advice: advice.text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RoundTrips;

    /// 1 Gbit/s x 0.1 s / 8000 bit = 12,500 packets.
    fn case() -> SizingCase {
        SizingCase {
            rate_bps: 1e9,
            packet_bytes: 1000.0,
            transmitters: 1,
            flows: 100,
            base_rtt: RoundTrips { harmonic_s: 0.1, mean_s: 0.1, max_s: 0.1 },
            target: 0.98,
            inputs: None,
            access_rate_bps: None,
            paced: None,
            window: None,
            other_controllers: Vec::new(),
        }
    }

    fn of<'a>(answers: &'a SizingResults, name: &str) -> Option<&'a SizingResult> {
        answers.rules.iter().find(|answer| answer.rule == name)
    }

    fn why<'a>(answers: &'a SizingResults, name: &str) -> &'a str {
        of(answers, name).map_or("", |answer| &answer.why)
    }

    #[test]
    fn a_hundred_flows_need_about_a_tenth_of_the_product() {
        let found = answers(&case());
        let packets = |name| of(&found, name).and_then(|answer| answer.packets);
        assert_eq!(packets("bandwidth_delay"), Some(12_500));
        assert!(packets("appenzeller").is_some_and(|packets| (900..1500).contains(&packets)), "{found:?}");
        assert_eq!(found.recommended, Some("appenzeller"));
    }

    fn of_controllers(names: &[&str], changes: SizingCase) -> SizingResults {
        answers(&SizingCase { other_controllers: names.iter().map(ToString::to_string).collect(), ..changes })
    }

    #[test]
    fn one_flow_of_cubic_has_a_rule_for_buffers_that_hold_its_bursts() {
        let cubic = of_controllers(&["cubic"], SizingCase { flows: 1, ..case() });
        assert_eq!(cubic.recommended, Some("cubic"));
        assert_eq!(of(&cubic, "cubic").and_then(|answer| answer.packets), Some(2208));
        let full = of_controllers(&["cubic"], SizingCase { flows: 1, target: 1.0, ..case() });
        assert_eq!(of(&full, "cubic").and_then(|answer| answer.packets), Some(5358));
        let bbr = of_controllers(&["bbrv1"], SizingCase { target: 1.0, ..case() });
        assert_eq!((bbr.recommended, bbr.is_uncovered), (None, true));
        let tiny = of_controllers(&["cubic"], SizingCase { flows: 1, target: 0.75, ..case() });
        assert_eq!((tiny.recommended, tiny.is_uncovered), (None, true), "{tiny:?}");
        assert_eq!(
            why(&answers(&case()), "cubic"),
            "for flows of CUBIC; several flows seldom reduce their windows together: larger than necessary"
        );
    }

    #[test]
    fn no_rule_is_recommended_for_mixes_and_several_flows_whose_windows_do_not_halve() {
        for (names, nearest) in [
            (
                &["cubic"][..],
                "No rule covers 100 flows of cubic: simulate the case. If all flows reduced their windows together:",
            ),
            (&["bbrv1", "bbrv3"], "Without loss: 12,500 packets (bbr)."),
            (&["bbrv1", "cubic"], "No rule covers 100 flows of bbrv1 and cubic: simulate the case."),
        ] {
            let found = of_controllers(names, case());
            assert_eq!(found.recommended, None);
            assert!(found.advice.contains(nearest), "{}", found.advice);
            assert!(!found.rules.iter().any(|answer| answer.applies), "{found:?}");
            assert!(why(&found, "bandwidth_delay").starts_with("for windows that halve, unlike those of"));
        }
        // Windows below the capacity of the link lose no packets.
        let limited = SizingCase { window: Some(100), flows: 112, paced: Some(true), target: 0.7, ..case() };
        let found = of_controllers(&["cubic"], limited);
        assert_eq!(found.recommended, Some("enachescu"), "{found:?}");
    }

    #[test]
    fn objections_are_listed_with_each_rule() {
        let found = answers(&SizingCase { flows: 2, paced: Some(false), access_rate_bps: Some(1e9), ..case() });
        assert_eq!(why(&found, "appenzeller"), "fewer than 100 flows may halve together");
        assert_eq!(of(&found, "beheshti").map(|answer| (answer.packets, answer.max_packets)), Some((Some(10), Some(20))));
        assert_eq!(of(&found, "gorinsky").and_then(|answer| answer.packets), Some(4));
        assert_eq!(of(&found, "enachescu").and_then(|answer| answer.packets), None);
        assert!(why(&found, "cui_link").contains("; far too large above 95 %"));
    }

    #[test]
    fn no_rule_is_recommended_if_access_links_are_too_slow() {
        let of_access = |access| answers(&SizingCase { access_rate_bps: Some(access), target: 0.8, paced: Some(true), ..case() });
        let slow = of_access(5e6);
        assert_eq!(slow.recommended, None);
        assert_eq!(slow.advice, "No buffer achieves 80 %: the senders' access links carry at most 50 % of the capacity.");
        assert_eq!(of_access(8e6).recommended, Some("cui_link"));
    }

    #[test]
    fn individual_flows_matter_where_each_has_a_tenth_of_a_channel() {
        let trunk = SizingCase { transmitters: 4, rate_bps: 2.5e8, inputs: Some(16), target: 0.8, paced: Some(true), ..case() };
        let of_flows = |flows| answers(&SizingCase { flows, ..trunk.clone() });
        assert!(of_flows(40).advice.contains("individual flows determine"), "{:?}", of_flows(40));
        assert!(why(&of_flows(40), "cui_trunk").contains("individual flows determine"));
        assert!(!of_flows(41).advice.contains("individual flows determine"));
    }

    #[test]
    fn short_windows_cause_timeouts() {
        // 1250 flows have 10 packets in flight each, 625 have 20, and 5000 have 2.5.
        let of_flows = |flows| answers(&SizingCase { flows, target: 0.7, paced: Some(true), ..case() });
        let short = of_flows(1250);
        assert!(why(&short, "cui_link").starts_with("provided that timeouts cost little"), "{short:?}");
        assert_eq!(short.recommended, Some("cui_link"));
        assert!(short.advice.contains("with fewer than 12 packets in flight per flow, timeouts are frequent"), "{short:?}");
        assert!(!why(&of_flows(625), "cui_link").contains("timeouts"));
        assert!(why(&of_flows(5000), "cui_link").contains("fewer than four packets"));
    }
}
