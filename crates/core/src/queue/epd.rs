//! EPD, early packet discard: from a threshold on, no packet may begin (Romanow and Floyd, IEEE JSAC 13(4), 1995). A packet that has begun
//! continues, so the queue exceeds the threshold by the packets in progress: at most all cells but the first of one packet per VC.
//!
//! The document states that the queue "reaches" the threshold: a first cell is refused if the queue before it is at least as long.

use super::support::frame::{Frame, nothing_begins};
use super::support::{DropReason, Occupancy, Policy, Unit, Verdict};
use crate::primitives::units::{Time, Units};
use crate::settings::{Kind, SettingConflict, Settings, member};
use serde::{Deserialize, Serialize};

member! {
    /// Early packet discard: from a threshold on, no packet may begin. Includes partial packet discard.
    Epd = "epd", "Romanow and Floyd, IEEE JSAC 13(4), 1995";

    pub struct EpdSpec {
        /// Queue length in cells from which no packet may begin.
        threshold: u64 => Kind::Cells { or_none: false },
    }
}

impl Settings for EpdSpec {
    fn check(&self) -> Vec<SettingConflict> {
        (self.threshold == 0).then(|| nothing_begins(&["threshold"])).into_iter().collect()
    }

    fn samples() -> Vec<EpdSpec> {
        [0, 20, 90].map(|threshold| EpdSpec { threshold }).into()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Epd(EpdSpec);

impl Epd {
    pub(super) fn new(spec: &EpdSpec) -> Epd {
        Epd(*spec)
    }
}

impl Policy for Epd {
    type PerFlow = Frame;
    const IS_RANDOM: bool = false;
    const DISCARDS_FRAMES: bool = true;

    #[inline]
    fn on_arrival(&mut self, cell: &Unit, vc: &mut Frame, buffer: &Occupancy, _now: Time) -> Verdict {
        vc.judge(cell, buffer, || (buffer.units >= Units(self.0.threshold)).then_some(DropReason::Early))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::ppd::Ppd;
    use crate::queue::support::model_buffer::{ModelBuffer, traffic};

    fn model(threshold: u64, places: u64, vcs: u32) -> ModelBuffer<Epd> {
        ModelBuffer::new(Epd::new(&EpdSpec { threshold }), places, vcs)
    }

    #[test]
    fn from_the_threshold_on_no_packet_begins_and_one_that_has_begun_goes_on() {
        // a begins at 1 and continues at 2 and above; b would begin at 2.
        assert_eq!(model(2, 9, 2).play("aabaA"), "++E++");
        assert_eq!(model(2, 9, 2).play("aab.bB"), "++E.P+");
    }

    #[test]
    fn the_threshold_itself_is_reached() {
        assert_eq!(model(3, 9, 2).play("aab"), "+++");
        assert_eq!(model(3, 9, 2).play("aaab"), "+++E");
    }

    #[test]
    fn the_last_cell_of_a_refused_packet_is_kept_and_the_next_packet_is_decided_separately() {
        assert_eq!(model(2, 9, 2).play("aabbBbB...bB"), "++EP+E+...++");
    }

    #[test]
    fn a_packet_of_one_cell_is_never_refused_early() {
        assert_eq!(model(1, 2, 2).play("abBB"), "+E+F");
        assert_eq!(model(1, 3, 2).play("aBBB"), "+++F");
    }

    #[test]
    fn after_a_packet_of_one_cell_the_next_cell_is_a_first_one() {
        assert_eq!(model(2, 9, 2).play("aAAa"), "+++E");
    }

    #[test]
    fn a_packet_that_was_let_in_may_still_overflow() {
        assert_eq!(model(2, 3, 1).play("aaaa.aA"), "+++F.P+");
    }

    #[test]
    fn the_queue_exceeds_the_threshold_by_at_most_a_tail_of_every_vc() {
        // Four VCs, packets of 5 cells, threshold 6: all begin below it (at 0 to 3), and 4 x 4 cells follow. The queue reaches 4 + 16.
        let mut buffer = model(6, 99, 4);
        assert_eq!(buffer.play("abcd"), "++++");
        assert_eq!(buffer.play("aaaAbbbBcccCdddD"), "+".repeat(16));
        assert_eq!((buffer.occupancy(), buffer.play("aaaA").as_str()), (20, "EPP+"));
    }

    #[test]
    fn with_the_threshold_at_the_end_of_the_buffer_it_is_ppd() {
        let (events, places) = (traffic("epd is ppd", 7, 12), 60);
        assert_eq!(model(places, places, 7).replay(&events), ModelBuffer::new(Ppd, places, 7).replay(&events));
    }
}
