//! Consecutive RTTs, for controllers that act once per RTT.

use super::events::Ack;
use crate::primitives::units::Time;
use serde::{Deserialize, Serialize};

/// The present RTT, which ends with the acknowledgement of the first segment sent in it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Round {
    began: Time,
}

impl Round {
    /// Whether the acknowledged data was sent in this RTT. If so, the next one begins.
    #[inline]
    pub fn ends_with(&mut self, ack: &Ack) -> bool {
        let ends = ack.rtt.is_some_and(|rtt| ack.now.since(self.began) >= rtt);
        if ends {
            self.began = ack.now;
        }
        ends
    }

    /// Begins an RTT now, ignoring data sent before.
    pub fn begin(&mut self, now: Time) {
        self.began = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::TimeDelta;

    #[test]
    fn an_rtt_ends_with_the_acknowledgement_of_data_sent_in_it() {
        let mut round = Round::default();
        let ack = |now: u64, rtt: u64| Ack {
            rtt: Some(TimeDelta::from_millis(rtt)),
            ..Ack::of_one(Time(TimeDelta::from_millis(now).0))
        };
        // Sent at 0, 50, 100 and 120 ms.
        assert_eq!(
            [(100, 100), (150, 100), (200, 100), (240, 120)].map(|(now, rtt)| round.ends_with(&ack(now, rtt))),
            [true, false, true, false]
        );
        round.begin(Time(TimeDelta::from_millis(290).0));
        assert!(!round.ends_with(&ack(380, 100)));
        assert!(!round.ends_with(&Ack { rtt: None, ..ack(500, 0) }));
    }
}
