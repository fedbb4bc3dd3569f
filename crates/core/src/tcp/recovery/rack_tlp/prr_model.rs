//! The text of RFC 9937 section 6.2 as a model for [`Prr`](super::prr::Prr).

use super::state::State;
use super::tests::state;
use crate::congestion::Start;
use crate::primitives::units::Segments;
use crate::tcp::bench::{SenderHarness, plain};
use crate::tcp::lossy_path::{LossyPath, Step};
use crate::tcp::{Recovery, TcpSpec};

/// Section 6.2 of RFC 9937 literally, over the counters of a separate sender, with the names of the RFC.
#[derive(Default)]
struct Literal {
    recovery_point: u32,
    ssthresh: u32,
    recover_fs: u32,
    prr_delivered: u32,
    prr_out: u32,
    /// A timer has acted, not only acknowledgements.
    is_disturbed: bool,
}

impl Literal {
    fn snd_cnt(&mut self, delivered_data: u32, in_flight: u32, safe_ack: bool) -> u32 {
        self.prr_delivered += delivered_data;
        let mut snd_cnt = if in_flight > self.ssthresh && self.recover_fs > 0 {
            i64::from((self.prr_delivered * self.ssthresh).div_ceil(self.recover_fs)) - i64::from(self.prr_out)
        } else {
            let crb = i64::from(delivered_data).max(i64::from(self.prr_delivered) - i64::from(self.prr_out));
            let ssrb = if safe_ack { crb + 1 } else { crb };
            ssrb.min(i64::from(self.ssthresh) - i64::from(in_flight))
        };
        if self.prr_out == 0 && snd_cnt <= 0 {
            snd_cnt = 1;
        }
        snd_cnt.max(0) as u32
    }
}

/// Segments outstanding, reported, and lost without retransmission.
fn state_of(bench: &SenderHarness) -> (u32, u32, u32) {
    let outstanding = bench.sender.sequence.outstanding().0;
    let Some(State { rack, .. }) = state(bench) else { return (outstanding, 0, 0) };
    let sacked = rack.segs_sacked().0;
    (outstanding, sacked, outstanding - sacked - rack.in_flight().0)
}

#[test]
fn in_recoveries_from_random_losses_transmissions_match_prr() {
    let (mut compared, mut recoveries) = (0, 0);
    for seed in 0..400 {
        let spec = TcpSpec { recovery: Recovery::RackTlp, receiver_window: Segments(1000), ..plain() };
        let start = Start { window: 8.0 + (seed % 40) as f64, ssthresh: 8.0, ..Start::default() };
        let mut path = LossyPath::new(SenderHarness::new(spec, start, u32::MAX), seed, [4, 10, 30][seed as usize % 3]);
        let mut literal: Option<Literal> = None;
        for _ in 0..400 {
            let (outstanding, sacked, lost) = state_of(&path.bench);
            let snd_una = path.bench.sender.sequence.snd_una.0;
            let Some(step) = path.step() else { break };
            let Step::ReceivedAck(received) = step else {
                // It may have detected the start of a recovery.
                let recovery_point = path.bench.sender.sequence.recovery_point.0;
                literal = Some(Literal { is_disturbed: true, recovery_point, ..literal.unwrap_or_default() });
                continue;
            };
            if !path.bench.sender.sequence.phase.is_recovery() {
                literal = None;
                continue;
            }
            let (outstanding_now, sacked_now, lost_now) = state_of(&path.bench);
            let acked = received.ack - snd_una;
            let sent = received.sent.len() as u32;
            let resent = received.sent.iter().filter(|&&segment| segment < snd_una + outstanding).count() as u32;
            // Without reordering, segments that are lost and not retransmitted are not delivered either.
            let newly_lost = lost_now + resent - lost;
            let in_flight = outstanding_now - (sent - resent) - sacked_now - (lost_now + resent);
            let delivered_data = (outstanding - sacked) - ((outstanding - acked) - sacked_now);
            let recovery_point = path.bench.sender.sequence.recovery_point.0;
            // One recovery may begin as another ends.
            literal = literal.filter(|literal| literal.recovery_point == recovery_point);
            recoveries += u32::from(literal.is_none());
            let model = literal.get_or_insert_with(|| Literal {
                recovery_point,
                ssthresh: path.bench.window() as u32,
                // All segments that were outstanding and not known to have arrived before this acknowledgement.
                recover_fs: outstanding - sacked,
                prr_delivered: 0,
                prr_out: 0,
                is_disturbed: false,
            });
            let snd_cnt = model.snd_cnt(delivered_data, in_flight, acked > 0 && newly_lost == 0);
            if !model.is_disturbed {
                assert_eq!(sent, snd_cnt, "seed {seed}, acknowledgement of {}", received.ack);
                compared += 1;
            }
            model.prr_out += sent;
        }
    }
    assert!(compared > 10_000 && recoveries > 1000, "{compared} acknowledgements, {recoveries} recoveries");
}
