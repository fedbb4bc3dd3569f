//! Full-pipe detector (5.3.1.2): rounds in which the bandwidth has stopped growing.

use serde::{Deserialize, Serialize};

/// Growth below which a round has found no more bandwidth, and the number of such rounds that mean a full pipe.
const GROWTH: f64 = 1.25;
const ROUNDS: u32 = 3;

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct FullPipe {
    /// Bandwidth when it last grew by a quarter (BBR.full_bw), and the number of rounds since.
    bw: f64,
    count: u32,
    /// The pipe is full since the last reset (BBR.full_bw_now).
    pub now: bool,
    /// It has been full before (BBR.full_bw_reached).
    pub reached: bool,
}

impl FullPipe {
    /// ResetFullBW, starting at this bandwidth.
    #[inline]
    pub fn reset(&mut self, from: f64) {
        (self.bw, self.count, self.now) = (from, 0, false);
    }

    /// CheckFullBWReached, at the end of a round that was not app-limited, with its bandwidth.
    #[inline]
    pub fn end_round(&mut self, bw: f64) {
        if self.now {
            return;
        }
        if bw >= GROWTH * self.bw {
            return self.reset(bw);
        }
        self.count += 1;
        if self.count >= ROUNDS {
            self.fill();
        }
    }

    /// The pipe is full, as other signals indicate.
    #[inline]
    pub fn fill(&mut self) {
        (self.now, self.reached) = (true, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rounds_without_a_growth_of_a_quarter_fill_the_pipe() {
        // Appendix A.1: 124 is less than a quarter more than 100, whatever the rounds between; 125 starts again.
        let mut pipe = FullPipe::default();
        let mut full = |bw| {
            pipe.end_round(bw);
            pipe.now
        };
        assert_eq!(
            [100.0, 110.0, 124.0, 125.0, 130.0, 140.0, 156.0].map(&mut full),
            [false, false, false, false, false, false, true]
        );
    }

    #[test]
    fn after_a_reset_it_has_still_been_full_before() {
        let mut pipe = FullPipe::default();
        pipe.fill();
        pipe.reset(100.0);
        assert_eq!((pipe.now, pipe.reached), (false, true));
        (0..3).for_each(|_| pipe.end_round(100.0));
        // A full pipe stays full at any bandwidth.
        pipe.end_round(1000.0);
        assert!(pipe.now);
    }
}
