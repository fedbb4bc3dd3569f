//! SPD, single packet discard: one early loss for each VC whose queue builds up, so that TCP slows down before the switch is congested,
//! with EPD as a fallback (Sun, "Regulation of TCP Flow in Heterogeneous Networks Using Packet Discarding Schemes", MIT 1998, section 3.3).
//!
//! When the VC's own queue has reached `dropping_threshold` and the whole queue exceeds `congestion_threshold`, one packet is discarded,
//! and no other for this reason until the VC's own queue has been empty. (Section 3.2 has "the buffer" empty; the code, its comment and the
//! text after it mean the VC's own cells.) Without a dropping threshold, or without room between the congestion threshold and EPD's, it is
//! EPD.
//!
//! The printed code has two interpretations. Its `Dropping == FALSE;`, where the single discard should be recorded, is a comparison without
//! effect. *Corrected*, it is the assignment described in the text. *As printed*, nothing is recorded, and every packet that begins under
//! these conditions is discarded.

use super::support::frame::Frame;
use super::support::{DropReason, Occupancy, Policy, Unit, Verdict};
use crate::primitives::units::{Time, Units};
use crate::settings::{Kind, PlainWords, SettingConflict, Settings, conflicts, member, words};
use serde::{Deserialize, Serialize};

member! {
    /// Single packet discard: one early loss for each VC whose own queue builds up, with early packet discard as a fallback.
    Spd = "spd", "spd-1998 section 3.3";

    pub struct SpdSpec {
        /// Number of cells of the VC from which one of its packets is discarded (SPDth); `none` disables this.
        dropping_threshold: Option<u64> => Kind::Cells { or_none: true }; "10 %",
        /// Queue length in cells from which no packet may begin.
        epd_threshold: u64 => Kind::Cells { or_none: false }; "75 %",
        /// Queue length in cells that must be exceeded for the single discard (CongestTh).
        congestion_threshold: u64 => Kind::Cells { or_none: false }; "50 %",
        /// Interpretation of the printed code.
        variant: SpdVariant = SpdVariant::Corrected => Kind::Words(&SpdVariant::WORDS),
    }
}

words! {
    /// Interpretation of the printed code of single packet discard.
    pub enum SpdVariant ("variant") {
        /// As described in the text: one packet, and no other until the VC's own queue has been empty.
        Corrected = "corrected",
        /// As printed: every packet that begins while the queue is built up.
        Printed = "printed",
    }
}

impl Settings for SpdSpec {
    fn check(&self) -> Vec<SettingConflict> {
        let SpdSpec { dropping_threshold, epd_threshold, congestion_threshold, .. } = *self;
        let out_of_reach = dropping_threshold.is_some_and(|cells| cells >= epd_threshold);
        let never = dropping_threshold.is_some() && congestion_threshold.saturating_add(1) >= epd_threshold;
        conflicts! {
            warning if never => ["congestion_threshold", "epd_threshold"],
                "`congestion_threshold` leaves SPD no packet to discard: this policy is `epd`",
                "`congestion_threshold` at least two cells below `epd_threshold`";
            warning if out_of_reach && !never => ["dropping_threshold", "epd_threshold"],
                "`dropping_threshold` is not below `epd_threshold`: this policy is `epd`",
                "`dropping_threshold` below `epd_threshold`";
            warning if dropping_threshold == Some(0) => ["dropping_threshold"],
                "`dropping_threshold` of 0 discards every packet during congestion", "at least `1 cell`, or `none`";
        }
    }

    fn samples() -> Vec<SpdSpec> {
        let usual =
            SpdSpec { dropping_threshold: Some(5), epd_threshold: 150, congestion_threshold: 20, variant: SpdVariant::Corrected };
        vec![
            usual,
            SpdSpec { variant: SpdVariant::Printed, ..usual },
            SpdSpec { dropping_threshold: None, ..usual },
            SpdSpec { dropping_threshold: Some(25), epd_threshold: 100, congestion_threshold: 0, ..usual },
        ]
    }
}

/// Switch state per VC.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct SpdVc {
    frame: Frame,
    /// The single packet has been discarded, and the VC's queue has not been empty since (`Dropping` is false).
    spent: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spd(SpdSpec);

impl Spd {
    pub(super) fn new(spec: &SpdSpec) -> Spd {
        Spd(*spec)
    }

    /// Why a packet may not begin, if it may not. [`DropReason::Single`] applies unless the VC's single packet has already been discarded.
    #[inline]
    fn refuses(&self, buffer: &Occupancy) -> Option<DropReason> {
        if buffer.units >= Units(self.0.epd_threshold) {
            return Some(DropReason::Early);
        }
        let built_up = self.0.dropping_threshold.is_some_and(|threshold| buffer.of_flow >= Units(threshold));
        let single = built_up && buffer.units > Units(self.0.congestion_threshold);
        single.then_some(DropReason::Single)
    }
}

impl Policy for Spd {
    type PerFlow = SpdVc;
    const IS_RANDOM: bool = false;
    const DISCARDS_FRAMES: bool = true;

    #[inline]
    fn on_arrival(&mut self, cell: &Unit, vc: &mut SpdVc, buffer: &Occupancy, _now: Time) -> Verdict {
        if buffer.of_flow == Units(0) {
            vc.spent = false;
        }
        let applies = |reason: &DropReason| *reason != DropReason::Single || !vc.spent;
        let verdict = vc.frame.judge(cell, buffer, || self.refuses(buffer).filter(applies));
        if verdict == Verdict::Discard(DropReason::Single) && self.0.variant == SpdVariant::Corrected {
            vc.spent = true;
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::epd::{Epd, EpdSpec};
    use crate::queue::support::model_buffer::{ModelBuffer, traffic};

    fn model(spec: SpdSpec, places: u64, vcs: u32) -> ModelBuffer<Spd> {
        ModelBuffer::new(Spd::new(&spec), places, vcs)
    }

    /// SPD from 2 cells of the VC on, above 3 cells in total; EPD from 8.
    const SPEC: SpdSpec =
        SpdSpec { dropping_threshold: Some(2), epd_threshold: 8, congestion_threshold: 3, variant: SpdVariant::Corrected };

    fn play(cells: &str) -> String {
        model(SPEC, 99, 2).play(cells)
    }

    #[test]
    fn one_packet_is_discarded_of_a_queue_that_builds_up_and_then_only_epd_discards() {
        // At 4 one packet is lost; at 5 and 7 none; at 9 EPD applies.
        assert_eq!(play("aaaAaAaAaAaA"), "++++S+++++E+");
    }

    #[test]
    fn the_rest_of_the_packet_follows_but_for_its_last_cell() {
        assert_eq!(play("aaaAaaaAaA"), "++++SPP+++");
    }

    #[test]
    fn the_queue_of_the_vc_itself_must_have_built_up() {
        // b begins at 4 without own cells, at 6 with two.
        assert_eq!(play("aaaAbBbB"), "++++++S+");
    }

    #[test]
    fn the_whole_queue_must_exceed_the_congestion_threshold() {
        assert_eq!(play("aaAaA"), "+++++");
        assert_eq!(play("aaaAaA"), "++++S+");
    }

    #[test]
    fn a_vc_whose_own_queue_has_been_empty_may_lose_another_packet() {
        // The five cells of a leave, b's two stay. An arrival finds a's queue empty; the packet after it is lost at 6.
        assert_eq!(play("aaaAaAbB.....aaaAaA"), "++++S+++.....++++S+");
        // With one of a's cells left it is not lost.
        assert_eq!(play("aaaAaAbB....aaaAaA"), "++++S+++....++++++");
    }

    #[test]
    fn each_vc_loses_its_own_packet() {
        assert_eq!(play("aaAbBbBaA"), "+++++S+S+");
    }

    #[test]
    fn as_printed_every_packet_is_discarded_while_the_queue_is_built_up() {
        let mut printed = model(SpdSpec { variant: SpdVariant::Printed, ..SPEC }, 99, 2);
        assert_eq!(printed.play("aaaAaAaAaA..aA"), "++++S+S+S+..S+");
    }

    #[test]
    fn a_packet_that_has_begun_may_overflow() {
        assert_eq!(model(SPEC, 9, 1).play("aaaaaaaaaaA.aA"), "+++++++++FF.E+");
    }

    #[test]
    fn without_a_dropping_threshold_it_is_epd() {
        let events = traffic("no dropping threshold", 7, 12);
        let epd = ModelBuffer::new(Epd::new(&EpdSpec { threshold: 40 }), 60, 7).replay(&events);
        for reading in [SpdVariant::Corrected, SpdVariant::Printed] {
            let spec = SpdSpec { dropping_threshold: None, epd_threshold: 40, congestion_threshold: 10, variant: reading };
            assert_eq!(model(spec, 60, 7).replay(&events), epd);
        }
    }

    #[test]
    fn with_the_congestion_threshold_at_epds_or_above_it_is_epd() {
        let events = traffic("congestion threshold", 7, 12);
        let epd = ModelBuffer::new(Epd::new(&EpdSpec { threshold: 40 }), 60, 7).replay(&events);
        for congestion_threshold in [40, 41, 60] {
            let spec = SpdSpec { dropping_threshold: Some(3), epd_threshold: 40, congestion_threshold, ..SPEC };
            assert_eq!(model(spec, 60, 7).replay(&events), epd);
        }
    }

    #[test]
    fn with_distinct_thresholds_it_is_not_epd_and_the_interpretations_differ() {
        let events = traffic("apart", 7, 12);
        let epd = ModelBuffer::new(Epd::new(&EpdSpec { threshold: 40 }), 60, 7).replay(&events);
        let corrected = SpdSpec { dropping_threshold: Some(3), epd_threshold: 40, congestion_threshold: 10, ..SPEC };
        let [corrected, printed] =
            [corrected, SpdSpec { variant: SpdVariant::Printed, ..corrected }].map(|spec| model(spec, 60, 7).replay(&events));
        let singles =
            |verdicts: &[Verdict]| verdicts.iter().filter(|verdict| **verdict == Verdict::Discard(DropReason::Single)).count();
        assert_ne!(corrected, epd);
        assert!(singles(&corrected) > 0 && singles(&printed) > singles(&corrected));
    }
}
