//! EPD with per-VC accounting: above the threshold, only VCs that hold at least their share of it lose packets (Sun, "Regulation of TCP
//! Flow in Heterogeneous Networks Using Packet Discarding Schemes", MIT 1998, section 2.5).
//!
//! The document divides the threshold by the number of active VCs, and its example counts all configured VCs ("ten active VCs", 700 cells:
//! 70 each). The alternative is to count only VCs with cells in the buffer.

use super::support::frame::{Frame, nothing_begins};
use super::support::{DropReason, Occupancy, Policy, Unit, Verdict};
use crate::primitives::units::{Time, Units};
use crate::settings::{Kind, PlainWords, SettingConflict, Settings, member, words};
use serde::{Deserialize, Serialize};

member! {
    /// Early packet discard with per-VC accounting: above the threshold, only VCs that hold at least their share of it lose packets.
    EpdPerVc = "epd_per_vc", "spd-1998 section 2.5";

    pub struct EpdPerVcSpec {
        /// Queue length in cells from which a VC that holds its share (the threshold divided by the number of active VCs) may not begin a
        /// packet.
        threshold: u64 => Kind::Cells { or_none: false },
        /// VCs that count as active.
        active_vcs: ActiveVcs = ActiveVcs::Configured => Kind::Words(&ActiveVcs::WORDS),
    }
}

words! {
    /// VCs that share a threshold.
    pub enum ActiveVcs ("set of VCs") {
        /// All VCs whose route crosses the link.
        Configured = "configured",
        /// VCs with cells in the buffer.
        Backlogged = "backlogged",
    }
}

impl Settings for EpdPerVcSpec {
    fn check(&self) -> Vec<SettingConflict> {
        (self.threshold == 0).then(|| nothing_begins(&["threshold"])).into_iter().collect()
    }

    fn samples() -> Vec<EpdPerVcSpec> {
        let of = |(threshold, active)| EpdPerVcSpec { threshold, active_vcs: active };
        [(0, ActiveVcs::Configured), (30, ActiveVcs::Backlogged), (60, ActiveVcs::Configured)].map(of).into()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EpdPerVc(EpdPerVcSpec);

impl EpdPerVc {
    pub(super) fn new(spec: &EpdPerVcSpec) -> EpdPerVc {
        EpdPerVc(*spec)
    }

    /// `Q >= threshold` and `q[i] >= threshold / active`, without rounding in a division.
    #[inline]
    fn refuses(&self, buffer: &Occupancy) -> bool {
        let active = match self.0.active_vcs {
            ActiveVcs::Configured => buffer.flows,
            ActiveVcs::Backlogged => buffer.backlogged,
        };
        buffer.units >= Units(self.0.threshold) && buffer.of_flow.0 * u64::from(active) >= self.0.threshold
    }
}

impl Policy for EpdPerVc {
    type PerFlow = Frame;
    const IS_RANDOM: bool = false;
    const DISCARDS_FRAMES: bool = true;

    #[inline]
    fn on_arrival(&mut self, cell: &Unit, vc: &mut Frame, buffer: &Occupancy, _now: Time) -> Verdict {
        vc.judge(cell, buffer, || self.refuses(buffer).then_some(DropReason::Early))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::epd::{Epd, EpdSpec};
    use crate::queue::support::model_buffer::{ModelBuffer, traffic};
    use ActiveVcs::{Backlogged, Configured};

    fn model(threshold: u64, active: ActiveVcs, vcs: u32) -> ModelBuffer<EpdPerVc> {
        ModelBuffer::new(EpdPerVc::new(&EpdPerVcSpec { threshold, active_vcs: active }), 99, vcs)
    }

    #[test]
    fn past_the_threshold_only_a_vc_with_its_share_loses() {
        // Threshold 6, three VCs: 2 cells each. At six cells a holds 4, b 2, c none.
        assert_eq!(model(6, Configured, 3).play("aaaAbBacC"), "++++++E++");
        assert_eq!(model(6, Configured, 3).play("aaaAbBbcC"), "++++++E++");
    }

    #[test]
    fn below_the_threshold_no_vc_loses() {
        assert_eq!(model(6, Configured, 3).play("aaaaAaA"), "+++++++");
    }

    #[test]
    fn a_share_need_not_be_whole() {
        // 7 / 3 = 2.33: at seven cells b, with 2, is below its share; a, with 5, is not.
        assert_eq!(model(7, Configured, 3).play("aaaaAbBb"), "++++++++");
        assert_eq!(model(7, Configured, 3).play("aaaaAbBa"), "+++++++E");
    }

    #[test]
    fn the_share_of_backlogged_vcs_is_larger() {
        // Threshold 6, a and b backlogged: 3 cells each, so b's 2 are below its share; with all three VCs they are not.
        assert_eq!(model(6, Backlogged, 3).play("aaaAbBbBaA"), "++++++++E+");
        assert_eq!(model(6, Configured, 3).play("aaaAbBbBaA"), "++++++E+E+");
    }

    #[test]
    fn once_begun_a_packet_goes_on_and_once_refused_it_does_not() {
        // Share 2: b begins at 5 with no cells, a may not begin with 5 cells, and keeps losing while the buffer is empty.
        assert_eq!(model(4, Configured, 2).play("aaaaAbbBaa........aA"), "++++++++EP........P+");
    }

    #[test]
    fn with_a_single_vc_it_is_epd() {
        let events = traffic("a single vc", 1, 12);
        let epd = ModelBuffer::new(Epd::new(&EpdSpec { threshold: 30 }), 99, 1).replay(&events);
        assert_eq!(model(30, Configured, 1).replay(&events), epd);
        assert_eq!(model(30, Backlogged, 1).replay(&events), epd);
    }
}
