//! Congestion signals from the network to a sender: one structure from the queue that writes it to the controller that receives it.

use super::units::{Segments, TimeDelta};
use serde::{Deserialize, Serialize};

/// A congestion signal. Its parts are written as follows:
///
/// * On a data packet, queues write its mark and its price at departure (REM and RAM mark; MaxNet and RCP write prices).
/// * The receiver and its acknowledgements carry the number of all marked data packets and the price of the last data packet.
/// * The sender passes the newly reported marks to the controller, and adds the delivery rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// Marked data packets that arrived; for a single data packet, 1 if any queue has marked it, otherwise 0.
    ///
    /// For a controller this is an accurate count, as in RFC 9768 (AccECN): every acknowledgement carries the receiver's number of marked
    /// packets, so that no mark is missed if an acknowledgement is lost. Differs: the counter does not wrap. The echo of RFC 3168 (section
    /// 6.1.3) cannot carry a count: it is one bit, which stays set until the sender has responded, and thus reports at most one mark per
    /// window. Only new data can be marked (RFC 3168 section 6.1.5).
    pub marks: u32,
    /// The price written by queues, or estimated by the receiver from marks on probes. For XCP, the change of the rate in bytes per second
    /// that queues allow, summed over all data packets of the acknowledgement (Reverse_Feedback). Carried only by data packets that are not
    /// segmented into cells, of flows whose controllers request prices.
    pub price: Option<f64>,
    /// Segments considered in flight before the acknowledgement (pipe of RFC 6675). Only for controllers that request delivery-rate samples
    /// or losses.
    pub pipe: Option<Segments>,
    /// Only for controllers, if the acknowledgement gave a sample.
    pub delivered_rate: Option<RateSample>,
}

/// The receiver's report of signals and one-way delays. With it, an acknowledgement's report fills a cache line, so missing values have no
/// flags of their own.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ReceiverFeedback {
    /// [`Signal::marks`].
    pub marks: u32,
    /// The encoded price, if it returns as one bit.
    pub price_bit: Option<PriceBit>,
    /// NaN if there is none.
    price: f64,
    /// [`NO_DELAY`] if there is none.
    one_way_delay: TimeDelta,
}

const NO_DELAY: TimeDelta = TimeDelta(u64::MAX);

impl Default for ReceiverFeedback {
    fn default() -> ReceiverFeedback {
        ReceiverFeedback { marks: 0, price_bit: None, price: f64::NAN, one_way_delay: NO_DELAY }
    }
}

impl ReceiverFeedback {
    /// [`Signal::price`].
    pub(crate) fn price(&self) -> Option<f64> {
        (!self.price.is_nan()).then_some(self.price)
    }

    pub(crate) fn set_price(&mut self, price: Option<f64>) {
        self.price = price.unwrap_or(f64::NAN);
    }

    /// Minimum one-way delay of the segments that have arrived since the last acknowledgement, from transmission to reception.
    pub(crate) fn one_way_delay(&self) -> Option<TimeDelta> {
        (self.one_way_delay != NO_DELAY).then_some(self.one_way_delay)
    }

    /// A segment with this one-way delay has arrived.
    #[inline]
    pub(crate) fn note_delay(&mut self, delay: TimeDelta) {
        self.one_way_delay = self.one_way_delay.min(delay);
    }

    /// The report for an acknowledgement that is sent now. Resets the one-way delay.
    pub(crate) fn take_report(&mut self) -> ReceiverFeedback {
        let report = *self;
        self.one_way_delay = NO_DELAY;
        report
    }
}

/// A data packet as a price scheme sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Identification of the packet among those around it.
    pub identification: u16,
    /// Number of queues passed that have prices, including the current one. Routers derive it from the TTL.
    pub hops: u8,
    /// The price mark as an ECN codepoint: 0 is 01, unmarked; 1 is 10, marked, so that 11 keeps its meaning (cui-thesis section 5.3.1).
    /// Only TPM with two bits uses 2 for 11.
    pub mark: u8,
}

impl Probe {
    pub(crate) fn is_marked(&self) -> bool {
        self.mark > 0
    }
}

/// Price-related fields of a data packet, for and from queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PriceHeader {
    /// The price, if it travels as a number.
    pub price: Option<f64>,
    pub probe: Probe,
    /// RTT measured by the sender (H_rtt of XCP); zero before the first sample.
    pub rtt: TimeDelta,
    /// The sender's window in segments (H_cwnd).
    pub window: f64,
    /// Change of the sender's rate that queues allow, in bytes per second (Delta_Throughput); infinite before the first queue.
    pub feedback: f64,
}

/// The price encoded as one bit for the reverse path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceBit {
    /// In units of 1/65536, from the checksum of the acknowledged data packet, so that both ends can compute it.
    pub threshold: u16,
    pub is_above: bool,
}

/// A sample of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateSample {
    /// Segments per second.
    pub rate: f64,
    /// The data was sent while the application did not fill the window: the path may be faster.
    pub app_limited: bool,
    /// Segments delivered up to now (C.delivered).
    pub delivered: u64,
    /// Segments delivered when the data was sent (P.delivered).
    pub prior_delivered: u64,
    /// Segments lost when the data was sent (P.lost). This field and the next are set only for controllers that request losses.
    pub prior_lost: u64,
    /// Segments considered in flight when the data had been sent (P.tx_in_flight).
    pub in_flight: Segments,
    /// RTT of the newest of these segments that was sent once; without one, that of a retransmission in whole milliseconds, if the flow uses
    /// timestamps.
    pub rtt: Option<TimeDelta>,
}
