//! Every rule for the buffer of a bottleneck, side by side, and which of them is meant for the case: what `tailback size-buffer` and the
//! calculator of the lab answer.
//!
//! The rules themselves are models (`tailback_models::sizing`). Here is what speaks for and against each: [`Question`] is what is asked,
//! `judgement.rs` what each rule answers and what speaks against it, `advice.rs` which one to take.

mod advice;
mod judgement;
mod question;
mod trunk_map;
mod words;

pub use judgement::Answer;
pub use question::{Question, RoundTrips};

/// All answers to a question, and the one to take.
#[derive(Debug)]
pub struct Answers {
    /// In the order of the models.
    pub rules: Vec<Answer>,
    /// The rule that is meant for this case; `None` where no buffer reaches the target.
    pub recommended: Option<&'static str>,
    /// Why, in a sentence or two.
    pub advice: String,
}

pub fn answers(question: &Question) -> Answers {
    let rules = judgement::answers(question);
    let (recommended, advice) = advice::advice(question, &rules);
    Answers { rules, recommended, advice }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 Gbit/s x 0.1 s / 8000 bit = 12,500 packets.
    fn question() -> Question {
        Question {
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
        }
    }

    fn of<'a>(answers: &'a Answers, name: &str) -> Option<&'a Answer> {
        answers.rules.iter().find(|answer| answer.rule == name)
    }

    fn why<'a>(answers: &'a Answers, name: &str) -> &'a str {
        of(answers, name).map_or("", |answer| &answer.why)
    }

    #[test]
    fn a_hundred_flows_need_a_tenth_of_the_product_or_about_that() {
        let found = answers(&question());
        let packets = |name| of(&found, name).and_then(|answer| answer.packets);
        assert_eq!(packets("bandwidth_delay"), Some(12_500));
        assert!(packets("appenzeller").is_some_and(|packets| (900..1500).contains(&packets)), "{found:?}");
        assert_eq!(found.recommended, Some("appenzeller"));
    }

    #[test]
    fn what_speaks_against_a_rule_stands_beside_it() {
        let found = answers(&Question { flows: 2, paced: Some(false), access_rate_bps: Some(1e9), ..question() });
        assert_eq!(why(&found, "appenzeller"), "fewer than 100 flows may halve together");
        assert_eq!(of(&found, "beheshti").map(|answer| (answer.packets, answer.most)), Some((Some(10), Some(20))));
        assert_eq!(of(&found, "gorinsky").and_then(|answer| answer.packets), Some(4));
        assert_eq!(of(&found, "enachescu").and_then(|answer| answer.packets), None);
        assert!(why(&found, "cui_link").contains("; asks for far too much above 95 %"));
    }

    #[test]
    fn senders_whose_own_links_bring_too_little_get_no_rule() {
        let of_access =
            |access| answers(&Question { access_rate_bps: Some(access), target: 0.8, paced: Some(true), ..question() });
        let slow = of_access(5e6);
        assert_eq!(slow.recommended, None);
        assert_eq!(slow.advice, "No buffer gives 80 %: the senders' own links bring 50 % of the capacity at most.");
        assert_eq!(of_access(8e6).recommended, Some("cui_link"));
    }

    #[test]
    fn where_a_flow_has_a_tenth_of_a_channel_single_flows_decide() {
        let trunk = Question { transmitters: 4, rate_bps: 2.5e8, inputs: Some(16), target: 0.8, paced: Some(true), ..question() };
        let of_flows = |flows| answers(&Question { flows, ..trunk.clone() });
        assert!(of_flows(40).advice.contains("single flows decide"), "{:?}", of_flows(40));
        assert!(why(&of_flows(40), "cui_trunk").contains("single flows decide"));
        assert!(!of_flows(41).advice.contains("single flows decide"));
    }

    #[test]
    fn short_windows_wait_for_timeouts() {
        // 1250 flows have 10 packets under way each, 625 have 20, and 5000 have 2.5.
        let of_flows = |flows| answers(&Question { flows, target: 0.7, paced: Some(true), ..question() });
        let short = of_flows(1250);
        assert!(why(&short, "cui_link").starts_with("provided that timeouts cost little"), "{short:?}");
        assert_eq!(short.recommended, Some("cui_link"));
        assert!(short.advice.contains("with fewer than 12 packets under way flows wait for timeouts"), "{short:?}");
        assert!(!why(&of_flows(625), "cui_link").contains("timeouts"));
        assert!(why(&of_flows(5000), "cui_link").contains("fewer than four packets"));
    }
}
