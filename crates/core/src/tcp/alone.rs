//! A TCP sender without a network. Its caller sets the time, writes data, passes acknowledgements, and takes the segments that it sends.

use super::observed::Signalled;
use super::recovery::outcome::{LossRecovery, TimeRecovery};
use super::sender::{Sender, Tcp};
use super::sequence::{IncomingAck, Phase};
use super::signal_reader::{AckExtras, SignalReader};
use super::slow_start::SlowStartState;
use super::spec::TcpSpec;
use super::validation::{HostQueue, Usage};
use crate::congestion::{Controller, ControllerSpec, Controllers, Start};
use crate::price::PriceSpec;
use crate::primitives::packet::Ecn;
use crate::primitives::random::{Draws, Entity, Purpose, Stream};
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::signal::ReceiverFeedback;
use crate::primitives::units::{Segments, Time, TimeDelta};

/// A sender whose segments are not transmitted. Segment 0 is the SYN if [`TcpSpec::handshake`] is set; data follows it.
pub struct LoneSender {
    spec: TcpSpec,
    sender: Sender,
    slow_start_state: SlowStartState,
    usage: Usage,
    reader: SignalReader,
    now: Time,
    departures: Vec<Departure>,
}

/// A segment that the sender has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    pub time: Time,
    pub segment: SegmentNumber,
    pub is_new: bool,
    /// It reports a reduction of the window (CWR, RFC 3168).
    pub reports_reduction: bool,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct AckFields<'a> {
    /// Next segment expected by the receiver.
    pub ack: SegmentNumber,
    /// SACKed segments: first, and one past the last.
    pub blocks: &'a [SackBlock],
    /// Transmission time of the segment that caused it.
    pub echo: Time,
    /// It echoes a mark (ECE, RFC 3168).
    pub echoes_mark: bool,
    /// Receive window.
    pub window: Segments,
}

/// States of a sender, as in the `ca_state` of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionState {
    Open,
    /// Segments are SACKed, and none is lost.
    Disorder,
    /// The window is reduced because of a mark.
    Cwr,
    Recovery,
    Loss,
}

/// The state of a sender at one time, in segments.
#[derive(Clone, Copy, Debug)]
pub struct SenderSnapshot {
    /// While a reduction is spread over an RTT, the segments in the network and those permitted, as Linux reports it.
    pub cwnd: f64,
    /// Infinite before the first loss.
    pub ssthresh: f64,
    pub state: CongestionState,
    /// Segments sent and not acknowledged.
    pub unacked: Segments,
    pub sacked: Segments,
    /// Estimated number of segments in the network.
    pub pipe: Segments,
    pub rto: TimeDelta,
    /// `None` before the first sample.
    pub srtt: Option<TimeDelta>,
    pub retransmitted: u32,
}

impl LoneSender {
    /// A sender of a network in which it does not compete. The controller cannot be user code, and gets no prices.
    pub fn new(spec: TcpSpec, controller: &ControllerSpec, seed: u64) -> LoneSender {
        let of = Entity { seed, name: "sender", index: 0 };
        let start = Start {
            window: spec.initial_window,
            ssthresh: spec.initial_ssthresh,
            ack_counting: spec.ack_counting,
            packet: spec.mss + spec.header,
            has_selective_acks: spec.recovery.uses_sack(),
            draws: Draws::new(Stream::new(of, Purpose::Controller)),
            ..Start::default()
        };
        let subscriptions = controller.abilities().subscriptions;
        LoneSender {
            sender: Sender::new(Controllers::new(controller, start), &spec, SegmentNumber::FIRST),
            slow_start_state: SlowStartState::of(spec.slow_start),
            usage: Usage::of(spec.window_validation),
            reader: SignalReader::new(subscriptions, &spec, &PriceSpec::default(), Stream::new(of, Purpose::Price)),
            spec,
            now: Time::ZERO,
            departures: Vec::new(),
        }
    }

    /// Time passes until `until`: timers expire, and the pacer releases segments. Earlier times have no effect.
    pub fn advance(&mut self, until: Time) {
        while let Some(next) = self.next_event().filter(|&next| next <= until) {
            self.now = next.max(self.now);
            let is_timeout = self.with(|tcp| (tcp.sender.timer.deadline <= tcp.now).then(|| tcp.on_timer(Time::NEVER)));
            match is_timeout {
                Some(true) => self.reader.on_timeout(),
                Some(false) => self.reader.on_other_deadline(),
                None => {}
            }
            self.send();
        }
        self.now = self.now.max(until);
    }

    /// The application writes this many segments.
    pub fn write(&mut self, segments: Segments) {
        let end = self.sender.sequence.limit.max(self.spec.first_data()).saturating_add(segments);
        self.sender.offer(end, Some(&mut self.usage), self.now, &self.spec);
        self.send();
    }

    /// An acknowledgement arrives. Returns false if it acknowledges segments that were not sent, and has no effect.
    pub fn acknowledge(&mut self, fields: &AckFields) -> bool {
        let sent = self.sender.sequence.snd_max;
        if fields.ack > sent || fields.blocks.iter().any(|&(first, end)| first >= end || end > sent) {
            return false;
        }
        self.spec.receiver_window = fields.window;
        let incoming = IncomingAck { ack: fields.ack, blocks: fields.blocks, echo: fields.echo };
        let read = self.reader.read(self.now, &incoming, &ReceiverFeedback::default(), self.sender.scoreboard());
        let extras = AckExtras { echoes_mark: fields.echoes_mark, ..read };
        self.with(|tcp| tcp.on_ack::<Signalled>(&incoming, &extras));
        self.reader.bound_release(&self.sender.controller, &self.sender.sequence);
        self.send();
        true
    }

    /// The segments sent since the last call.
    pub fn take_departures(&mut self) -> Vec<Departure> {
        std::mem::take(&mut self.departures)
    }

    pub fn snapshot(&mut self) -> SenderSnapshot {
        let pipe = self.with(|tcp| tcp.pipe());
        let sequence = &self.sender.sequence;
        let sacked = self.sender.recovery.sacked();
        let permitted =
            self.sender.recovery.by_time().and_then(TimeRecovery::permitted).filter(|_| sequence.phase.is_reduction());
        SenderSnapshot {
            cwnd: permitted.map_or(self.sender.controller.window().0, |permitted| f64::from(pipe.0 + permitted.0)),
            ssthresh: self.sender.controller.ssthresh().0,
            state: match sequence.phase {
                Phase::Open if sacked > Segments(0) => CongestionState::Disorder,
                Phase::Open => CongestionState::Open,
                Phase::Reducing => CongestionState::Cwr,
                Phase::Recovery => CongestionState::Recovery,
                Phase::Timeout => CongestionState::Loss,
            },
            unacked: sequence.outstanding(),
            sacked,
            pipe,
            rto: self.sender.timer.estimator.timeout(&self.spec.timer),
            srtt: self.sender.timer.estimator.round_trip(&self.spec.timer),
            retransmitted: sequence.counts.retransmitted,
        }
    }

    /// The next time at which the sender acts by itself.
    fn next_event(&mut self) -> Option<Time> {
        let timer = Some(self.sender.timer.deadline).filter(|&deadline| deadline != Time::NEVER);
        timer.into_iter().chain(self.sender.pacer.wakes_after(self.now)).min()
    }

    fn send(&mut self) {
        loop {
            if !self.reader.may_send(&self.sender.sequence) {
                break;
            }
            let is_alone = self.sender.sequence.outstanding() == Segments(0);
            let (now, is_bounded) = (self.now, self.reader.is_bounded());
            let sent = self.with(|tcp| tcp.next_segment::<Signalled>().map(|sent| (sent, tcp.announce(&sent), tcp.pipe())));
            let Some((sent, ecn, pipe)) = sent else { break };
            match is_alone {
                true => self.reader.on_sent_alone(sent.segment, now),
                false => self.reader.on_sent(sent.segment, now, pipe),
            }
            let (segment, is_new) = (sent.segment, sent.number == 1);
            self.departures.push(Departure { time: now, segment, is_new, reports_reduction: ecn == Ecn::CWR });
            if sent.fills_window && !is_bounded {
                break;
            }
        }
        self.with(|tcp| tcp.rearm());
        self.reader.on_all_sent(&self.sender.sequence, || self.sender.window(&self.spec));
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut Tcp) -> T) -> T {
        let reader = self.reader.tracks_sending().then_some(&mut self.reader);
        act(&mut Tcp {
            sender: &mut self.sender,
            spec: &self.spec,
            slow_start_state: Some(&mut self.slow_start_state),
            usage: Some(&mut self.usage),
            reader,
            now: self.now,
            warmup: Time::ZERO,
            clock_phase: TimeDelta::ZERO,
            host_queue: HostQueue::Short,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::segment_number::plain::{blocks, n};
    use crate::tcp::bench::plain;

    fn sent(sender: &mut LoneSender) -> Vec<u32> {
        sender.take_departures().iter().map(|sent| sent.segment.0).collect()
    }

    #[test]
    fn a_lost_segment_is_sent_again_by_the_third_duplicate_or_the_timer() {
        let mut sender = LoneSender::new(TcpSpec { initial_ssthresh: f64::INFINITY, ..plain() }, &ControllerSpec::Reno(()), 1);
        sender.write(Segments(4));
        assert_eq!(sent(&mut sender), [0, 1, 2, 3]);
        let ms = |at: u64| Time(TimeDelta::from_millis(at).0);
        let duplicate = AckFields { ack: n(0), blocks: &[], echo: Time::ZERO, echoes_mark: false, window: Segments(100) };
        sender.advance(ms(100));
        assert!((0..3).all(|_| sender.acknowledge(&duplicate)));
        let departures = sender.take_departures();
        assert_eq!(departures, [Departure { time: ms(100), segment: n(0), is_new: false, reports_reduction: false }]);
        assert_eq!(sender.snapshot().state, CongestionState::Recovery);
        // RFC 6298 (2.1): no sample was taken.
        sender.advance(ms(1_099));
        assert_eq!(sent(&mut sender), []);
        sender.advance(ms(1_100));
        assert_eq!(sent(&mut sender), [0]);
        assert_eq!((sender.snapshot().state, sender.snapshot().cwnd), (CongestionState::Loss, 1.0));
    }

    #[test]
    fn an_acknowledgement_of_what_was_not_sent_has_no_effect() {
        let mut sender = LoneSender::new(plain(), &ControllerSpec::Reno(()), 1);
        sender.write(Segments(2));
        let beyond = AckFields { ack: n(3), blocks: &[], echo: Time::ZERO, echoes_mark: false, window: Segments(100) };
        assert!(
            !sender.acknowledge(&beyond) && !sender.acknowledge(&AckFields { ack: n(0), blocks: &blocks(&[(1, 3)]), ..beyond })
        );
        assert_eq!(sender.snapshot().unacked, Segments(2));
    }
}
