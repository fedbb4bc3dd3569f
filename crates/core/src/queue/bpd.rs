//! BPD, balanced packet discard: EPD that spares VCs that have just lost a packet (the document `bpd-2001`, section 4). A VC that has lost
//! a packet is *damaged* for the next `gap` packets and is subject to the upper threshold; all others are subject to the lower one. Losses
//! thus spread over the VCs instead of hitting one window several times, which TCP would repair only by a timeout.
//!
//! The document's flow chart (its figure 10) is lost except for its caption. According to the text, any loss, at a threshold or by
//! overflow, marks the VC as damaged; the count begins at the loss and decreases at each end of a packet. The end of the lost packet itself
//! is not counted ("subsequent" packets), and a loss in the recovery period begins a new one. The text has a queue that "exceeds" a
//! threshold where EPD's "reaches" it; both are implemented as reaches, so that BPD with equal thresholds is EPD. The other interpretation
//! needs no setting: a queue exceeds N cells where it reaches N + 1. With `gap` 0 or equal thresholds, BPD is EPD; with both thresholds at
//! the end of the buffer it is PPD.
//!
//! **Choosing the gap.** Let B be the number of cells between the thresholds, N the number of VCs, M the cells per packet and G the gap.
//! The document requires N G M < B, which is the number of cells that all VCs may send while damaged at the same time. That is sufficient
//! if they become damaged when the queue is at the lower threshold. But a queue that reaches the threshold accepts M - 1 more cells of each
//! packet in progress, and then the last cell of each packet that is lost there: N M cells. The first cell of the last protected packet may
//! therefore find N M (G + 1) - M cells above the lower threshold, and nothing is lost at the upper one if that is less than B. The
//! smallest case between the two bounds is N = 2, G = 1, M = 2, B = 5. Both bounds assume that a VC reacts to its loss within G packets,
//! until the queue is below the lower threshold again. A VC that does not react is no longer damaged, loses at the lower threshold and
//! gains another G packets, so the queue climbs to the upper threshold however large the distance.

use super::support::frame::{Frame, nothing_begins};
use super::support::{DropReason, Occupancy, Policy, Unit, Verdict};
use crate::primitives::units::{Time, Units};
use crate::settings::{Kind, SettingConflict, Settings, member};
use serde::{Deserialize, Serialize};

member! {
    /// Balanced packet discard: early packet discard that spares VCs that have just lost a packet.
    Bpd = "bpd", "bpd-2001 section 4";

    pub struct BpdSpec {
        /// Queue length in cells from which packets of most VCs are refused (LT).
        lower_threshold: u64 => Kind::Cells { or_none: false }; "25 %",
        /// Queue length in cells from which packets of VCs that have just lost a packet are refused (UT).
        upper_threshold: u64 => Kind::Cells { or_none: false }; "75 %",
        /// Number of packets after a loss for which a VC is subject to `upper_threshold` instead of `lower_threshold` (GAP).
        gap: u32 => Kind::Integer { min: 0, max: 1_000_000 }; "5",
    }
}

impl Settings for BpdSpec {
    fn check(&self) -> Vec<SettingConflict> {
        let BpdSpec { lower_threshold: lower, upper_threshold: upper, gap } = *self;
        if lower > upper {
            return vec![SettingConflict::error(
                &["lower_threshold", "upper_threshold"],
                "`lower_threshold` exceeds `upper_threshold`",
                "`lower_threshold` no higher than `upper_threshold`",
            )];
        }
        let level = (lower == upper).then(|| {
            let message = "`lower_threshold` equals `upper_threshold`: this policy is `epd`";
            SettingConflict::warning(
                &["lower_threshold", "upper_threshold"],
                message,
                "`lower_threshold` below `upper_threshold`",
            )
        });
        let no_gap = (gap == 0).then(|| {
            let message = "`gap` of 0 spares no VC after a loss: this policy is `epd`";
            SettingConflict::warning(&["gap"], message, "at least 1")
        });
        let nothing_begins = (lower == 0).then(|| nothing_begins(&["lower_threshold"]));
        level.into_iter().chain(no_gap).chain(nothing_begins).collect()
    }

    fn samples() -> Vec<BpdSpec> {
        let of = |(lower, upper, gap)| BpdSpec { lower_threshold: lower, upper_threshold: upper, gap };
        [(0, 100, 5), (30, 120, 1), (80, 80, 25), (60, 180, 0)].map(of).into()
    }
}

/// Switch state per VC.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct BpdVc {
    frame: Frame,
    /// Remaining packets of the recovery period (Gap[i]).
    gap: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bpd(BpdSpec);

impl Bpd {
    pub(super) fn new(spec: &BpdSpec) -> Bpd {
        Bpd(*spec)
    }
}

impl Policy for Bpd {
    type PerFlow = BpdVc;
    const IS_RANDOM: bool = false;
    const DISCARDS_FRAMES: bool = true;

    #[inline]
    fn on_arrival(&mut self, cell: &Unit, vc: &mut BpdVc, buffer: &Occupancy, _now: Time) -> Verdict {
        let prior_lost = vc.frame == Frame::Discarding;
        let limit = if vc.gap > 0 { self.0.upper_threshold } else { self.0.lower_threshold };
        let verdict = vc.frame.judge(cell, buffer, || (buffer.units >= Units(limit)).then_some(DropReason::Early));
        if verdict != Verdict::Accept {
            vc.gap = self.0.gap;
        } else if cell.is_last && !prior_lost {
            vc.gap = vc.gap.saturating_sub(1);
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::epd::{Epd, EpdSpec};
    use crate::queue::ppd::Ppd;
    use crate::queue::support::model_buffer::{ModelBuffer, TestRandom, traffic};

    fn model(lower: u64, upper: u64, gap: u32, places: u64, vcs: u32) -> ModelBuffer<Bpd> {
        ModelBuffer::new(Bpd::new(&BpdSpec { lower_threshold: lower, upper_threshold: upper, gap }), places, vcs)
    }

    #[test]
    fn a_loss_protects_the_next_five_packets_and_the_end_of_the_lost_one_is_not_counted() {
        assert_eq!(model(1, 50, 5, 99, 1).play("aAaAaAaAaAaAaAaA"), "++E+++++++++++E+");
    }

    #[test]
    fn only_the_vc_that_lost_is_judged_by_the_upper_threshold() {
        // b loses at 2; at 3 b is spared, but a, which is not damaged, is not.
        assert_eq!(model(2, 9, 1, 99, 2).play("aAbBbBaA"), "++E+++E+");
    }

    #[test]
    fn a_packet_that_has_begun_ignores_both_thresholds() {
        assert_eq!(model(1, 2, 1, 99, 1).play("aaaA"), "++++");
    }

    #[test]
    fn a_loss_at_the_upper_threshold_begins_a_new_recovery_period() {
        // Thresholds 1 and 6, gap 3. A loss at 2; two packets pass at 3 and 5; the third is lost at 7. After draining from 8 to 2, three
        // packets pass.
        let before = model(1, 6, 3, 99, 1).play("aAaAaAaAaA");
        assert_eq!(before, "++E+++++E+");
        let after = model(1, 6, 3, 99, 1).play("aAaAaAaAaA......aA..aA..aA..aA");
        assert_eq!(after, before + "......++..++..++..E+");
    }

    #[test]
    fn an_overflow_damages_a_vc_as_a_threshold_does() {
        // The seventh cell overflows. At 3, the lower threshold, two packets pass and the third does not.
        assert_eq!(model(3, 6, 2, 6, 1).play("aaaaaaaA...aA..aA..aA"), "++++++FF...++..++..E+");
    }

    #[test]
    fn a_last_cell_that_overflows_damages_its_vc_too() {
        assert_eq!(model(2, 3, 1, 3, 1).play("aaaA.a.A.a"), "+++F.+.+.E");
    }

    #[test]
    fn a_last_cell_that_overflows_in_the_recovery_period_begins_a_new_one() {
        // Gap 1: b loses at 2, and its next packet passes at 3 except for its last cell, so the packet after it is spared at 2 too.
        assert_eq!(model(2, 4, 1, 4, 2).play("aAbBbB..b.B.b"), "++E++F..+.+.E");
    }

    #[test]
    fn without_a_gap_it_is_epd_at_the_lower_threshold() {
        let events = traffic("gap 0", 7, 12);
        let epd = ModelBuffer::new(Epd::new(&EpdSpec { threshold: 25 }), 60, 7).replay(&events);
        assert_eq!(model(25, 50, 0, 60, 7).replay(&events), epd);
    }

    #[test]
    fn with_equal_thresholds_it_is_epd() {
        let events = traffic("equal thresholds", 7, 12);
        let epd = ModelBuffer::new(Epd::new(&EpdSpec { threshold: 40 }), 60, 7).replay(&events);
        assert_eq!(model(40, 40, 5, 60, 7).replay(&events), epd);
    }

    #[test]
    fn with_both_thresholds_at_the_end_of_the_buffer_it_is_ppd() {
        let events = traffic("end of the buffer", 7, 12);
        assert_eq!(model(60, 60, 5, 60, 7).replay(&events), ModelBuffer::new(Ppd, 60, 7).replay(&events));
    }

    #[test]
    fn with_different_thresholds_and_a_gap_it_is_not_epd() {
        let events = traffic("gap 5", 7, 12);
        let epd = ModelBuffer::new(Epd::new(&EpdSpec { threshold: 25 }), 60, 7).replay(&events);
        assert_ne!(model(25, 50, 5, 60, 7).replay(&events), epd);
    }

    /// N, M and G of a switch, and its lower threshold.
    #[derive(Debug)]
    struct Case {
        vcs: u32,
        packet: u64,
        gap: u64,
        lower: u64,
    }

    impl Case {
        fn random(dice: &mut TestRandom) -> Case {
            let (vcs, packet, gap) = (dice.pick(1, 6) as u32, dice.pick(2, 8), dice.pick(1, 4));
            Case { vcs, packet, gap, lower: dice.pick(1, 40) }
        }

        /// A switch with this many cells between the thresholds, in a buffer that does not overflow.
        fn model(&self, space: u64) -> ModelBuffer<Bpd> {
            let upper = self.lower + space;
            model(self.lower, upper, self.gap as u32, 10 * upper, self.vcs + 1)
        }

        /// The document's bound on the space.
        fn protected(&self) -> u64 {
            u64::from(self.vcs) * self.gap * self.packet
        }

        /// The bound including packets in progress and the last cells of lost packets.
        fn worst(&self) -> u64 {
            u64::from(self.vcs) * self.packet * (self.gap + 1) - self.packet
        }
    }

    /// A VC that sends some packets and, after a loss, `gap` more.
    #[derive(Clone)]
    struct Sender {
        packets: u64,
        sent: u64,
        losses: u32,
    }

    /// Cells of all senders in random order, interleaved with departures, until all senders have finished.
    fn run(case: &Case, buffer: &mut ModelBuffer<Bpd>, senders: &mut [Sender], dice: &mut TestRandom) {
        let leave = dice.pick(0, 60);
        loop {
            let busy: Vec<usize> = (0..senders.len()).filter(|&vc| senders[vc].packets > 0).collect();
            if busy.is_empty() {
                return;
            }
            if dice.pick(0, 99) < leave {
                buffer.leave();
                continue;
            }
            let vc = busy[dice.pick(0, busy.len() as u64 - 1) as usize];
            let sender = &mut senders[vc];
            let is_first = sender.sent == 0;
            sender.sent = (sender.sent + 1) % case.packet;
            let is_last = sender.sent == 0;
            sender.packets -= u64::from(is_last);
            if buffer.arrive(vc as u32, is_last) == Verdict::Discard(DropReason::Early) {
                assert!(is_first);
                sender.losses += 1;
                if sender.losses == 1 {
                    sender.packets = 1 + case.gap;
                }
            }
        }
    }

    #[test]
    fn nothing_is_lost_at_the_upper_threshold_if_all_are_damaged_at_the_lower_one_and_n_g_m_is_less_than_the_space() {
        for number in 0..500 {
            let mut dice = TestRandom::new("bound of the document", number);
            let case = Case::random(&mut dice);
            let mut buffer = case.model(case.protected() + 1);
            // An additional VC fills the queue to the lower threshold with packets of one cell. Each VC then loses a packet there.
            (0..case.lower).for_each(|_| assert_eq!(buffer.arrive(case.vcs, true), Verdict::Accept));
            for vc in 0..case.vcs {
                assert_eq!(buffer.arrive(vc, false), Verdict::Discard(DropReason::Early));
                assert_eq!(buffer.arrive(vc, true), Verdict::Accept);
                buffer.leave();
            }
            let mut senders = vec![Sender { packets: case.gap, sent: 0, losses: 0 }; case.vcs as usize];
            run(&case, &mut buffer, &mut senders, &mut dice);
            assert!(senders.iter().all(|sender| sender.losses == 0), "{case:?}");
        }
    }

    #[test]
    fn nothing_is_lost_at_the_upper_threshold_if_n_m_times_g_plus_1_less_m_is_less_than_the_space() {
        let mut damaged = 0;
        for number in 0..500 {
            let mut dice = TestRandom::new("bound with packets under way", number);
            let case = Case::random(&mut dice);
            let mut buffer = case.model(case.worst() + 1);
            for _ in 0..10 {
                let level = dice.pick(0, case.lower - 1);
                while buffer.occupancy() > level {
                    buffer.leave();
                }
                let packets = dice.pick(1, 20);
                let mut senders = vec![Sender { packets, sent: 0, losses: 0 }; case.vcs as usize];
                run(&case, &mut buffer, &mut senders, &mut dice);
                // One loss at the lower threshold each; a loss at the upper threshold would be a second one.
                assert!(senders.iter().all(|sender| sender.losses <= 1), "{case:?}");
                damaged += senders.iter().filter(|sender| sender.losses == 1).count();
            }
        }
        assert!(damaged > 5_000, "only {damaged} losses: the queue rarely reached the thresholds");
    }

    /// Whether a protected packet is lost in the worst order: all packets are in progress when the queue is at the lower threshold, then
    /// they continue, each VC loses a packet, and sends its protected packets.
    fn loses_at_the_upper_threshold(case: &Case, space: u64) -> bool {
        let mut buffer = case.model(space);
        let packet = |buffer: &mut ModelBuffer<Bpd>, vc: u32| {
            let verdicts: Vec<Verdict> = (1..=case.packet).map(|cell| buffer.arrive(vc, cell == case.packet)).collect();
            verdicts[0]
        };
        (0..case.vcs).for_each(|vc| assert_eq!(buffer.arrive(vc, false), Verdict::Accept));
        for vc in 0..case.vcs {
            (2..=case.packet).for_each(|cell| assert_eq!(buffer.arrive(vc, cell == case.packet), Verdict::Accept));
        }
        (0..case.vcs).for_each(|vc| assert_eq!(packet(&mut buffer, vc), Verdict::Discard(DropReason::Early)));
        let firsts: Vec<Verdict> =
            (0..case.vcs).flat_map(|vc| std::iter::repeat_n(vc, case.gap as usize)).map(|vc| packet(&mut buffer, vc)).collect();
        firsts.iter().any(|first| *first != Verdict::Accept)
    }

    #[test]
    fn with_one_cell_less_a_packet_can_be_lost_at_the_upper_threshold() {
        for (vcs, packet, gap) in (1..=5).flat_map(|n| (2..=6).flat_map(move |m| (1..=4).map(move |g| (n, m, g)))) {
            let case = Case { vcs, packet, gap, lower: vcs.into() };
            assert!(loses_at_the_upper_threshold(&case, case.worst()), "{case:?}");
            assert!(!loses_at_the_upper_threshold(&case, case.worst() + 1), "{case:?}");
        }
    }

    #[test]
    fn two_vcs_with_packets_of_two_cells_lose_at_the_upper_threshold_though_n_g_m_is_less_than_the_space() {
        // N G M = 4 < B = 5, thresholds 2 and 7. Packets in progress: 4 cells; the ends of two lost packets: 6; a protected packet: 8, and
        // b loses.
        assert_eq!(model(2, 7, 1, 99, 2).play("abABaAbBaAbB"), "++++E+E+++E+");
    }

    #[test]
    fn a_vc_that_does_not_react_loses_at_the_upper_threshold_however_wide_the_space() {
        // Each lost packet leaves one cell and admits a packet of two cells: three cells per round, until the queue is at 1 + 1000.
        let played = model(1, 1001, 1, 9999, 1).play(&"aA".repeat(1000));
        assert!(played.contains("E+E+"));
        assert!(played.starts_with(&("++".to_string() + &"E+++".repeat(300))));
    }
}
