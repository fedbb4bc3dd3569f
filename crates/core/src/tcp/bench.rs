//! A test bench for senders: tests set its clock and provide its acknowledgements. They write numbers of segments as plain integers.

use super::observed::Signalled;
use super::sender::{Sender, Tcp};
use super::sequence::IncomingAck;
use super::signal_reader::AckExtras;
use super::slow_start::SlowStartState;
use super::spec::{TcpSpec, WindowValidation};
use super::validation::{HostQueue, Usage};
use crate::congestion::{Controller, ControllerSpec, Controllers, Start};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Bytes, Segments, Time, TimeDelta};

/// NewReno of RFC 6582 without optional features.
pub(in crate::tcp) fn plain() -> TcpSpec {
    TcpSpec {
        mss: Bytes(1000),
        initial_window: 4.0,
        initial_ssthresh: 4.0,
        receiver_window: Segments(100),
        limited_transmit: false,
        delayed_ack: None,
        window_validation: WindowValidation::None,
        ..TcpSpec::default()
    }
}

/// A sender with the Reno controller.
pub(in crate::tcp) struct SenderHarness {
    pub spec: TcpSpec,
    pub sender: Sender,
    pub now: Time,
    pub slow_start_state: SlowStartState,
    /// Set if its data comes from an application.
    pub usage: Option<Usage>,
}

impl SenderHarness {
    /// A sender with all of its data available: this many segments.
    pub fn new(spec: TcpSpec, start: Start, limit: u32) -> SenderHarness {
        let law = Controllers::new(&ControllerSpec::Reno(()), start);
        SenderHarness {
            sender: Sender::new(law, &spec, SegmentNumber(limit)),
            slow_start_state: SlowStartState::of(spec.slow_start),
            spec,
            now: Time::ZERO,
            usage: None,
        }
    }

    /// A sender with an application that has not handed over any data.
    pub fn with_application(spec: TcpSpec, start: Start) -> SenderHarness {
        SenderHarness { usage: Some(Usage::of(spec.window_validation)), ..SenderHarness::new(spec, start, 0) }
    }

    pub fn with<T>(&mut self, act: impl FnOnce(&mut Tcp) -> T) -> T {
        let (sender, spec) = (&mut self.sender, &self.spec);
        let (now, warmup, clock_phase) = (self.now, Time::ZERO, TimeDelta::ZERO);
        let (slow_start_state, usage) = (Some(&mut self.slow_start_state), self.usage.as_mut());
        act(&mut Tcp {
            sender,
            spec,
            slow_start_state,
            usage,
            reader: None,
            now,
            warmup,
            clock_phase,
            host_queue: HostQueue::Short,
        })
    }

    pub fn window(&self) -> f64 {
        self.sender.controller.window().0
    }

    /// Sets the clock.
    pub fn at(&mut self, milliseconds: u64) -> &mut SenderHarness {
        self.now = Time(TimeDelta::from_millis(milliseconds).0);
        self
    }

    /// The application hands over this many segments. Returns the segments sent.
    pub fn offer(&mut self, segments: u32) -> Vec<u32> {
        let end = self.sender.sequence.limit + Segments(segments);
        self.sender.offer(end, self.usage.as_mut(), self.now, &self.spec);
        self.send()
    }

    /// Sends all segments that may be sent now.
    pub fn send(&mut self) -> Vec<u32> {
        self.with(|tcp| {
            let sent = std::iter::from_fn(|| tcp.next_segment::<Signalled>().map(|sent| sent.segment.0)).collect();
            tcp.rearm();
            sent
        })
    }

    /// An acknowledgement. Returns the segments sent in response. It echoes the time of its segment as if that had left at time 0.
    pub fn process_ack(&mut self, ack: u32, blocks: &[(u32, u32)]) -> Vec<u32> {
        self.process_echo(ack, blocks, Time::ZERO)
    }

    /// An acknowledgement with the time of its segment. Returns the segments sent in response.
    pub fn process_echo(&mut self, ack: u32, blocks: &[(u32, u32)], echo: Time) -> Vec<u32> {
        let blocks: Vec<_> = blocks.iter().map(|&(start, end)| (SegmentNumber(start), SegmentNumber(end))).collect();
        self.process_ack_with(&IncomingAck { ack: SegmentNumber(ack), blocks: &blocks, echo }, &AckExtras::default())
    }

    /// An acknowledgement that echoes a mark. Returns the segments sent in response.
    pub fn process_marked_ack(&mut self, ack: u32) -> Vec<u32> {
        let incoming = IncomingAck { ack: SegmentNumber(ack), blocks: &[], echo: Time::ZERO };
        self.process_ack_with(&incoming, &AckExtras { echoes_mark: true, ..AckExtras::default() })
    }

    fn process_ack_with(&mut self, incoming: &IncomingAck, extras: &AckExtras) -> Vec<u32> {
        self.with(|tcp| tcp.on_ack::<Signalled>(incoming, extras));
        self.send()
    }

    /// The timer expires. Returns whether it is a retransmission timeout.
    pub fn expire(&mut self) -> bool {
        self.now = self.sender.timer.deadline;
        self.with(|tcp| {
            let is_timeout = tcp.on_timer(Time::NEVER);
            tcp.rearm();
            is_timeout
        })
    }
}
