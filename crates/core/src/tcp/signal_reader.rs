//! Sender state for a controller that requests signals, or limits the segments released by an acknowledgement (see [`Subscriptions`]). It
//! is stored outside the sender, so that other flows have no cost.

use super::delivery_rate::DeliveryRate;
use super::scoreboard::Scoreboard;
use super::send_times::SendTimes;
use super::sequence::{IncomingAck, Sequence};
use super::spec::TcpSpec;
use crate::congestion::{Controller, Controllers, Lost, Subscriptions};
use crate::price::{BitReader, Numbering, PriceSpec};
use crate::primitives::random::Stream;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::signal::{PriceHeader, Probe, ReceiverFeedback, Signal};
use crate::primitives::units::{Segments, Time, TimeDelta};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Connects the acknowledgements of a flow and its controller.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SignalReader {
    subscriptions: Subscriptions,
    /// Marks already reported to the controller.
    reported_marks: u32,
    rate: DeliveryRate,
    times: SendTimes,
    /// Recovery has reported losses below this segment.
    lost_below: SegmentNumber,
    /// Segments that may still be sent because of the last acknowledgement.
    release: u32,
    /// The release limit held back further segments.
    held_back: bool,
    /// State of a controller that uses prices.
    priced: Option<Box<Priced>>,
}

/// State of a sender that uses prices.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Priced {
    spec: PriceSpec,
    numbering: Numbering,
    bits: BitReader,
}

impl Priced {
    #[inline(never)]
    fn header(&mut self, law: &Controllers, segment: SegmentNumber) -> PriceHeader {
        let identification = self.numbering.next(self.spec.identification, segment);
        PriceHeader {
            price: None,
            probe: Probe { identification, ..Probe::default() },
            rtt: law.round_trip().unwrap_or_default(),
            window: law.window().0,
            feedback: f64::INFINITY,
        }
    }
}

/// Additional information of an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckExtras {
    /// It echoes a mark (RFC 3168).
    pub(crate) echoes_mark: bool,
    /// For a controller that requested signals; it also processes duplicates.
    pub(crate) signal: Option<Signal>,
    /// The RTT of the newest acknowledged segment, for a controller that requested it.
    pub(crate) newest_rtt: Option<TimeDelta>,
    /// The controller requested no other RTT.
    pub(crate) exact_rtt: bool,
    /// The release limit held the sender back.
    pub(crate) held_back: bool,
}

impl SignalReader {
    /// Additional bytes for a controller that uses prices.
    pub(crate) const BYTES_FOR_PRICES: usize = size_of::<Priced>();

    /// `identifies`: the stream from which packets get their identification.
    pub(crate) fn new(subscriptions: Subscriptions, spec: &TcpSpec, prices: &PriceSpec, identifies: Stream) -> SignalReader {
        let priced = || Box::new(Priced { spec: *prices, numbering: Numbering::new(identifies), bits: BitReader::default() });
        SignalReader {
            subscriptions,
            reported_marks: 0,
            rate: DeliveryRate::of(spec),
            times: if subscriptions.exact_rtt { SendTimes::exact(spec) } else { SendTimes::of(spec) },
            lost_below: SegmentNumber::FIRST,
            release: u32::MAX,
            held_back: false,
            priced: subscriptions.price.then(priced),
        }
    }

    /// Whether the controller responds to each counted mark instead of once per window.
    pub(crate) fn handles_marks(&self) -> bool {
        self.subscriptions.handles_marks
    }

    /// The one-way delay of the data, if the controller requests it.
    pub(crate) fn one_way_delay(&self, report: &ReceiverFeedback) -> Option<TimeDelta> {
        if self.subscriptions.one_way_delay { report.one_way_delay() } else { None }
    }

    /// Processes an acknowledgement that has arrived, with the receiver's feedback, before the sender does. `board`: the segments reported
    /// before.
    pub(crate) fn read(
        &mut self,
        now: Time,
        incoming: &IncomingAck,
        report: &ReceiverFeedback,
        board: Option<&Scoreboard>,
    ) -> AckExtras {
        let marks = if self.subscriptions.marks { report.marks.saturating_sub(self.reported_marks) } else { 0 };
        self.reported_marks = self.reported_marks.max(report.marks);
        let delivered_rate = match self.samples_rate() {
            true => self.rate.on_ack(now, incoming.ack, incoming.blocks, board),
            false => None,
        };
        let price = self.priced.as_mut().and_then(|priced| match report.price_bit {
            Some(bit) => Some(priced.spec.mapping.price(priced.bits.read(bit))),
            None => report.price(),
        });
        let newest_rtt = if self.subscriptions.newest_rtt { self.times.on_ack(incoming.ack, now) } else { None };
        AckExtras {
            echoes_mark: false,
            signal: self.subscriptions.has_signal().then_some(Signal { marks, price, delivered_rate, pipe: None }),
            newest_rtt,
            exact_rtt: self.subscriptions.exact_rtt && self.subscriptions.newest_rtt,
            held_back: self.held_back,
        }
    }

    /// Whether the controller requests delivery rate samples and the data in the network.
    #[inline]
    pub(crate) fn samples_rate(&self) -> bool {
        self.subscriptions.delivered_rate || self.subscriptions.losses
    }

    /// Whether it has to be notified of transmissions and losses of the sender.
    #[inline]
    pub(crate) fn tracks_sending(&self) -> bool {
        self.samples_rate() || self.subscriptions.newest_rtt || self.subscriptions.release || self.subscriptions.price
    }

    /// Whether the controller limits the segments released by an acknowledgement. It is then queried once more than there is data, which
    /// shows whether the limit holds the sender back.
    #[inline]
    pub(crate) fn is_bounded(&self) -> bool {
        self.subscriptions.release
    }

    /// Whether the controller requests losses.
    #[inline]
    pub(crate) fn counts_losses(&self) -> bool {
        self.subscriptions.losses
    }

    /// Recovery considers a segment lost. Returns the notification for the controller.
    pub(in crate::tcp) fn on_lost(&mut self, segment: SegmentNumber, now: Time) -> Option<Lost> {
        if self.subscriptions.losses { self.rate.on_lost(segment, now) } else { None }
    }

    /// A needless retransmission has arrived, and counts as a delivery.
    pub(in crate::tcp) fn on_duplicate(&mut self) {
        if self.samples_rate() {
            self.rate.count_duplicate();
        }
    }

    /// These segments are lost, unless they have arrived. Returns the segments above all losses reported before.
    pub(in crate::tcp) fn newly_lost(&mut self, lost: Range<SegmentNumber>) -> Range<SegmentNumber> {
        let report = self.lost_below;
        self.lost_below = report.max(lost.end);
        report.max(lost.start)..lost.end
    }

    /// Limits the segments released by the acknowledgement, which has been processed.
    #[inline]
    pub(crate) fn bound_release(&mut self, law: &Controllers, sequence: &Sequence) {
        let bound = if self.subscriptions.release { law.release() } else { None };
        let outstanding = sequence.snd_max > sequence.snd_una;
        self.release = bound.map_or(u32::MAX, |bound| bound.0.max(u32::from(!outstanding)));
        self.held_back = false;
    }

    /// Price header of a data packet with this segment, if it requires one.
    #[inline]
    pub(crate) fn price_header(&mut self, law: &Controllers, segment: SegmentNumber) -> Option<PriceHeader> {
        self.priced.as_mut().map(|priced| priced.header(law, segment))
    }

    /// An event other than an acknowledgement lets the sender continue.
    pub(crate) fn on_timeout(&mut self) {
        self.release = u32::MAX;
    }

    /// A probe may be due, or a retransmission.
    pub(crate) fn on_other_deadline(&mut self) {
        self.release = self.release.max(1);
    }

    /// Whether the limit lets the sender send. Fast retransmits are always permitted.
    #[inline]
    pub(crate) fn may_send(&mut self, sequence: &Sequence) -> bool {
        if self.release > 0 {
            return true;
        }
        self.held_back |= sequence.snd_nxt < sequence.limit;
        sequence.repairs
    }

    /// The sender has sent a segment, the only one outstanding.
    pub(crate) fn on_sent_alone(&mut self, segment: SegmentNumber, now: Time) {
        if self.samples_rate() {
            self.rate.begin_flight(now);
        }
        self.on_sent(segment, now, Segments(1));
    }

    /// The sender has sent a segment. `in_flight` includes it, for a controller that requests losses.
    #[inline]
    pub(crate) fn on_sent(&mut self, segment: SegmentNumber, now: Time, in_flight: Segments) {
        self.release = self.release.saturating_sub(1);
        if self.samples_rate() {
            self.rate.on_sent(segment, now, in_flight);
        }
        if self.subscriptions.newest_rtt {
            self.times.on_sent(segment, now);
        }
    }

    /// The sender has sent all that it may send now.
    #[inline]
    pub(crate) fn on_all_sent(&mut self, sequence: &Sequence, window: impl Fn() -> Segments) {
        let is_dry =
            sequence.snd_max >= sequence.limit && sequence.snd_nxt >= sequence.snd_max && sequence.in_flight() < window();
        match self.samples_rate() {
            true if is_dry => self.rate.on_dry(sequence.in_flight()),
            true => self.rate.on_held_back(),
            false => {}
        }
    }
}
