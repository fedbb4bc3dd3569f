//! Conditions under which Reno repairs the losses of one window without a timeout.
//!
//! Source: the balanced-packet-discard paper (bpd-2001), section 2.2, conditions (1) to (4). The sender always fills a window of
//! W segments; no new segment is lost.
//!
//! Differs: the paper writes W/2 and W/4 and does not specify odd windows. Here every halving rounds down, as in a sender that
//! counts whole segments, so that W/4 is half of the rounded half. The conditions then hold for every W.
//!
//! The paper also states that no new segment is sent between the end of the first recovery and the next duplicate. One is sent if
//! all losses after the first are at the end of the window (n2 - n1 = W - N + 1), and causes one more duplicate. A sender with W
//! = 8 or 9 that loses the first and the last segment then repairs both, although condition (2) excludes it; with more losses a
//! later one still times out. The function follows the paper; `tests/abstract_reno.rs` simulates every pattern.

use crate::parameter::ParameterError;

/// Outcome for the losses of one window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FastRetransmit {
    /// Whether all losses are repaired without a timeout.
    pub recovers: bool,
    /// Number of losses repaired by fast retransmit; these are the first ones.
    pub retransmitted: u32,
    /// New segments sent during each of these recoveries.
    pub new_segments: Vec<u32>,
    /// The first condition that does not hold; that loss is repaired by the timer.
    pub failed: Option<Condition>,
}

/// The paper's conditions for the fast retransmit of the first to fourth loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    First,
    Second,
    Third,
    Fourth,
}

impl Condition {
    /// 1 to 4, as the paper numbers them.
    pub fn number(self) -> u32 {
        match self {
            Condition::First => 1,
            Condition::Second => 2,
            Condition::Third => 3,
            Condition::Fourth => 4,
        }
    }

    /// The inequality, for N losses n1 < n2 < ... of a window W.
    pub fn formula(self) -> &'static str {
        match self {
            Condition::First => "W - N >= 3",
            Condition::Second => "W/2 - N >= 3",
            Condition::Third => "n2 - n1 >= 3W/4 + 3",
            Condition::Fourth => "n3 - n1 >= 11W/8 - N + 3",
        }
    }
}

/// Section 2.2 of bpd-2001 for a window of `window` segments, 1 to 1,000,000, in which the segments at positions `lost` (0 to
/// `window - 1`, increasing) are lost.
///
/// # Errors
/// A window out of range; positions outside the window or not strictly increasing.
pub fn fast_retransmit(window: u32, lost: &[u32]) -> Result<FastRetransmit, ParameterError> {
    check(window, lost)?;
    let mut result = FastRetransmit { recovers: true, retransmitted: 0, new_segments: Vec::new(), failed: None };
    let conditions = [Condition::First, Condition::Second, Condition::Third, Condition::Fourth];
    for (condition, (duplicates, sent)) in conditions.into_iter().zip(recoveries(window, lost)).take(lost.len()) {
        if duplicates < 3 {
            return Ok(FastRetransmit { recovers: false, failed: Some(condition), ..result });
        }
        result.retransmitted += 1;
        result.new_segments.push(sent.max(0) as u32);
    }
    Ok(result)
}

/// Duplicates that arrive for each of the first four losses, and the new segments sent in its recovery, which cause the
/// duplicates of the next. Negative numbers mean that the window is too full to send.
fn recoveries(window: u32, lost: &[u32]) -> [(i64, i64); 4] {
    let position = |index: usize| lost.get(index).copied().map_or(0, i64::from);
    let (window, count) = (i64::from(window), lost.len() as i64);
    let half = window / 2;
    let quarter = half / 2;
    let eighth = quarter / 2;
    let first = half - count;
    let second = position(1) - position(0) - (window - quarter);
    let third = position(2) - position(0) - (window + half - eighth - count);
    [(window - count, first), (first, second), (second, third), (third, 0)]
}

fn check(window: u32, lost: &[u32]) -> Result<(), ParameterError> {
    if !(1..=1_000_000).contains(&window) {
        return Err(ParameterError::new("window", window, "1 to 1000000 segments"));
    }
    if let Some(position) = lost.iter().find(|&&position| position >= window) {
        return Err(ParameterError::new("lost", position, "positions from 0 to window - 1"));
    }
    if let Some(pair) = lost.windows(2).find(|pair| pair[0] >= pair[1]) {
        let given = format!("{} before {}", pair[0], pair[1]);
        return Err(ParameterError::new("lost", given, "strictly increasing positions"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_losses_need_a_window_of_ten() -> Result<(), ParameterError> {
        let ten = fast_retransmit(10, &[0, 4])?;
        // W/2 - N = 3 new segments in the first recovery; 4 - (10 - 2) < 0 in the second.
        assert_eq!(ten, FastRetransmit { recovers: true, retransmitted: 2, new_segments: vec![3, 0], failed: None });
        let nine = fast_retransmit(9, &[0, 4])?;
        assert_eq!((nine.recovers, nine.failed), (false, Some(Condition::Second)));
        assert_eq!(nine.new_segments, [2]);
        Ok(())
    }

    #[test]
    fn three_losses_of_24_are_repaired_when_the_first_two_are_21_apart() -> Result<(), ParameterError> {
        // 3W/4 + 3 = 21. First recovery 12 - 3 = 9 new segments, second 21 - 18 = 3, third 22 - 33 + 3 < 0.
        let apart = fast_retransmit(24, &[0, 21, 22])?;
        assert_eq!(apart, FastRetransmit { recovers: true, retransmitted: 3, new_segments: vec![9, 3, 0], failed: None });
        let close = fast_retransmit(24, &[0, 20, 22])?;
        assert_eq!((close.retransmitted, close.failed), (2, Some(Condition::Third)));
        Ok(())
    }

    #[test]
    fn a_small_window_cannot_repair_even_one_loss() -> Result<(), ParameterError> {
        assert_eq!(fast_retransmit(3, &[1])?.failed, Some(Condition::First));
        assert!(fast_retransmit(4, &[1])?.recovers);
        assert!(fast_retransmit(1, &[])?.recovers);
        Ok(())
    }

    #[test]
    fn four_losses_always_time_out() -> Result<(), ParameterError> {
        let spread = fast_retransmit(1000, &[0, 990, 998, 999])?;
        assert_eq!((spread.retransmitted, spread.failed), (3, Some(Condition::Fourth)));
        Ok(())
    }

    #[test]
    fn errors_name_the_invalid_position() {
        let given = |window, lost: &[u32]| fast_retransmit(window, lost).map_err(|error| (error.name, error.given));
        assert_eq!(given(8, &[3, 8]), Err(("lost", "8".into())));
        assert_eq!(given(8, &[3, 3]), Err(("lost", "3 before 3".into())));
        assert_eq!(given(8, &[5, 3]), Err(("lost", "5 before 3".into())));
        assert_eq!(given(0, &[]), Err(("window", "0".into())));
    }
}
