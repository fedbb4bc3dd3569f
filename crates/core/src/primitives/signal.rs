//! What the network tells a sender of congestion: one struct from the queue that writes it to the controller that hears it.

use super::units::{Segments, Span};
use serde::{Deserialize, Serialize};

/// A signal of congestion, wherever it travels. Who writes which part of it:
///
/// * On a data packet, queues its mark and its price, as its turn to be sent comes (REM and RAM mark, MaxNet and RCP write prices).
/// * At the receiver, and back in an acknowledgement, are the marks of all data packets so far and the price of the last one.
/// * To the controller the sender tells the marks that no acknowledgement had told of before, and adds the delivered rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// Data packets that arrived with a mark; of one data packet 1 if some queue has marked it, else 0.
    ///
    /// To a controller this is an accurate count, as RFC 9768 (AccECN) has it: the receiver's number of marked packets comes back with every
    /// acknowledgement, and none is missed when one is lost. Here it does not wrap. The echo of RFC 3168 (section 6.1.3) cannot say this: it
    /// is one bit, which stays set until the sender has answered, so that what it tells is that there was a mark, once per window. Only new
    /// data can be marked (RFC 3168 section 6.1.5).
    pub marks: u32,
    /// What queues wrote, if any did, or what the receiver concludes from their marks on probes. Of XCP's queues it is by how much the rate
    /// may change, in bytes per second, by all data packets of the acknowledgement together (Reverse_Feedback). Only data packets that travel
    /// whole carry one, of flows whose controllers ask for prices.
    pub price: Option<f64>,
    /// Segments thought to be in the network before the acknowledgement (pipe of RFC 6675). Only to a controller that asks for samples of the rate of
    /// delivery, or for losses.
    pub pipe: Option<Segments>,
    /// Only to a controller, if the acknowledgement gave a sample.
    pub delivered_rate: Option<DeliveredRate>,
}

/// What a receiver tells of the signals that have reached it, and of how long data took. An acknowledgement's report fills a cache line with it, so that
/// what is missing has no flag of its own.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ReceiverFeedback {
    /// [`Signal::marks`].
    pub marks: u32,
    /// What the price has become, where it comes back as one bit.
    pub price_bit: Option<PriceBit>,
    /// NaN while there is none.
    price: f64,
    /// [`NO_DELAY`] while there is none.
    one_way_delay: Span,
}

const NO_DELAY: Span = Span(u64::MAX);

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

    /// The least delay of the segments that have arrived since the last acknowledgement, from when each was sent until it was at its receiver.
    pub(crate) fn one_way_delay(&self) -> Option<Span> {
        (self.one_way_delay != NO_DELAY).then_some(self.one_way_delay)
    }

    /// A segment has arrived that took so long.
    #[inline]
    pub(crate) fn note_delay(&mut self, delay: Span) {
        self.one_way_delay = self.one_way_delay.min(delay);
    }

    /// What an acknowledgement says that leaves now. The next one tells of other delays.
    pub(crate) fn take_report(&mut self) -> ReceiverFeedback {
        let told = *self;
        self.one_way_delay = NO_DELAY;
        told
    }
}

/// A data packet as a price scheme sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// What tells it from the packets around it.
    pub identification: u16,
    /// Queues passed that tell prices; as a queue sees it, itself included. Routers know it by the TTL.
    pub hops: u8,
    /// The price mark by the codepoints of the ECN field: 0 is 01, unmarked; 1 is 10, marked, so that 11 keeps its meaning (cui-thesis section
    /// 5.3.1). Only TPM with two bits uses 2 for 11.
    pub mark: u8,
}

impl Probe {
    pub(crate) fn is_marked(&self) -> bool {
        self.mark > 0
    }
}

/// What data packets carry for queues that tell prices, and from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PriceHeader {
    /// The price, where it travels as a number.
    pub price: Option<f64>,
    pub probe: Probe,
    /// As the sender has measured it (H_rtt of XCP); zero before that.
    pub rtt: Span,
    /// The sender's window in segments (H_cwnd).
    pub window: f64,
    /// By how much the sender may change its rate, in bytes per second (Delta_Throughput); infinite before the first queue.
    pub feedback: f64,
}

/// The price on its way back as one bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceBit {
    /// In 65536ths, of the checksum of the data packet that is acknowledged, so that both ends know it.
    pub threshold: u16,
    pub is_above: bool,
}

/// A sample of the rate at which data is delivered (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeliveredRate {
    /// Segments per second.
    pub rate: f64,
    /// When the data was sent, the application had not enough of it to fill the window: the path may be faster.
    pub app_limited: bool,
    /// Segments delivered so far (C.delivered).
    pub delivered: u64,
    /// Of these, when the data was sent (P.delivered).
    pub delivered_before: u64,
    /// Segments lost when the data was sent (P.lost). This and the next only to a controller that asks for losses.
    pub lost_before: u64,
    /// Segments thought to be in the network when it had been sent (P.tx_in_flight).
    pub in_flight: Segments,
}
