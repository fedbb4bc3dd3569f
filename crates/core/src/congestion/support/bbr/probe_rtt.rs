//! ProbeRTT's end (5.3.4.3): it holds little data in flight for a duration, and at least for a round.

use super::Rounds;
use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbeRtt {
    /// When the duration is over (BBR.probe_rtt_done_stamp); set once the data in flight is low enough.
    pub done_stamp: Option<Time>,
    /// A round has ended since (BBR.probe_rtt_round_done).
    round_done: bool,
}

impl ProbeRtt {
    /// Whether it ends with this acknowledgement. `low_for`: the duration to hold, if the data in flight is low enough.
    #[inline]
    pub fn ends(&mut self, now: Time, low_for: Option<TimeDelta>, rounds: &mut Rounds) -> bool {
        match (self.done_stamp, low_for) {
            (None, Some(duration)) => {
                self.done_stamp = Some(now + duration);
                rounds.begin();
                false
            }
            (None, None) => false,
            (Some(done), _) => {
                self.round_done |= rounds.started;
                self.round_done && now > done
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_after_its_duration_and_a_round_of_low_data_in_flight() {
        let (mut probe, mut rounds) = (ProbeRtt::default(), Rounds::default());
        rounds.delivered = 50;
        let mut ends = |milliseconds, is_low: bool, prior| {
            rounds.update(Some(prior));
            let low_for = is_low.then_some(TimeDelta::from_millis(200));
            probe.ends(Time(TimeDelta::from_millis(milliseconds).0), low_for, &mut rounds)
        };
        // Rounds before the data in flight is low do not count. From 100 ms on it is low: until 300 ms.
        assert_eq!([ends(0, false, 50), ends(100, true, 0)], [false, false]);
        // A round later, but at 300 ms the duration is not over.
        assert_eq!([ends(250, true, 50), ends(300, true, 0), ends(301, false, 0)], [false, false, true]);
        let mut late = ProbeRtt { done_stamp: Some(Time(1)), ..ProbeRtt::default() };
        rounds.update(Some(0));
        assert!(!late.ends(Time(2), None, &mut rounds), "no round has ended");
    }
}
