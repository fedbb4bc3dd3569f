//! Opening of a connection: the SYN, its acknowledgement and its timeout.

use super::acknowledgements::RttSamples;
use super::{Sender, Tcp};
use crate::congestion::{Controller, RoundTrip};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Cwnd, Time, TimeDelta};
use crate::tcp::handshake::SYN;
use crate::tcp::sequence::IncomingAck;
use crate::tcp::spec::TcpSpec;
use crate::tcp::timer::Progress;

impl Sender {
    /// The connection was established before the flow starts, by a handshake with this RTT.
    pub(crate) fn adopt_handshake(&mut self, rtt: TimeDelta, spec: &TcpSpec) {
        let estimator = &mut self.timer.estimator;
        estimator.sample(rtt, Progress { snd_una: self.sequence.snd_una, snd_nxt: self.sequence.snd_nxt }, &spec.timer);
        let smoothed = estimator.round_trip(&spec.timer);
        self.controller.on_round_trip(&RoundTrip { sample: rtt, smoothed });
    }
}

impl Tcp<'_> {
    /// Whether the SYN has not been acknowledged.
    pub(crate) fn is_opening(&self) -> bool {
        self.spec.is_syn(self.sender.sequence.snd_una)
    }

    /// An acknowledgement without data is sent.
    pub(crate) fn count_bare_ack(&mut self) {
        let counts = &mut self.sender.sequence.counts;
        counts.sent_in_all += 1;
        counts.sent += u32::from(self.now >= self.warmup);
    }

    /// The SYN, if it is due.
    pub(super) fn next_of_handshake(&mut self) -> Option<SegmentNumber> {
        let sequence = &mut self.sender.sequence;
        let is_due = sequence.snd_nxt == SYN && sequence.limit > SYN;
        is_due.then(|| {
            sequence.snd_nxt = SYN.next();
            SYN
        })
    }

    /// Processes an acknowledgement of the SYN, or one before it. Returns the RTT sample.
    pub(super) fn on_syn_ack(&mut self, incoming: &IncomingAck) -> Option<TimeDelta> {
        if incoming.ack == SYN {
            return None;
        }
        let rtt = self.round_trip_sample(incoming);
        self.measure(RttSamples::of_one(rtt), incoming.ack);
        self.sender.sequence.snd_una = incoming.ack;
        self.sender.sequence.snd_nxt = incoming.ack;
        if !incoming.blocks.is_empty() {
            // This SYN is a duplicate: the receiver agreed to ECN with the first one, and only its answer was lost.
            self.sender.sequence.accept_ecn();
        }
        self.sender.timer.stop();
        self.sender.sequence.timed_out = false;
        if self.syns_sent() > self.spec.syn_timeouts_to_reset {
            self.sender.controller.reduce_initial_window(Cwnd(1.0));
        }
        rtt
    }

    /// Before data is sent, SYNs are the only segments.
    fn syns_sent(&self) -> u32 {
        self.sender.sequence.counts.sent_in_all
    }

    /// Timeout of the SYN. It does not affect the window.
    pub(super) fn on_timeout_of_syn(&mut self) {
        self.count_timeout(Time::NEVER);
        self.sender.sequence.timed_out = true;
        if self.spec.ecn_fallback {
            self.sender.sequence.refuse_ecn();
        }
        self.sender.sequence.snd_nxt = SYN;
        self.discard_timing();
        if self.syns_sent() > self.spec.syn_linear_timeouts {
            self.sender.timer.estimator.back_off(&self.spec.timer);
        }
        self.start_timer();
    }
}
