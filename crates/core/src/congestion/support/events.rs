//! Events reported to controllers: acknowledgements, RTTs, losses and congestion.

#[cfg(doc)]
use crate::congestion::Controller;
use crate::primitives::signal::Signal;
use crate::primitives::units::{Segments, Time, TimeDelta};
use crate::settings::words;
use serde::{Deserialize, Serialize};

words! {
    /// Unit in which acknowledgements open the window.
    pub enum AckCounting ("acknowledgement ack_counting") {
        /// Bytes acknowledged: RFC 3465, which RFC 5681 section 3.1 recommends.
        Bytes = "bytes",
        /// Acknowledgements received, whatever they acknowledge: RFC 5681 section 3.1 equation (3), and earlier senders. With delayed
        /// acknowledgements the window opens half as fast.
        Acknowledgements = "acknowledgements",
    }
}

/// New data was acknowledged outside loss recovery.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub now: Time,
    /// Segments that left the network with this acknowledgement.
    pub acked: Segments,
    /// Segments for which the window opens: `acked`, fewer or none in slow start, or one, depending on how the sender counts
    /// ([`AckCounting`]).
    pub counted: Segments,
    /// An RTT sample, if this acknowledgement provided one.
    pub rtt: Option<TimeDelta>,
    /// Segments sent and not yet acknowledged, before this acknowledgement.
    pub in_flight: Segments,
    /// Whether the window may open: it is smaller than the receiver's, and used as far as the sender's window validation requires.
    pub window_validated: bool,
    /// The requested parts of the signal ([`Subscriptions`](crate::congestion::Subscriptions)).
    pub signal: Signal,
}

#[cfg(test)]
impl Ack {
    /// An acknowledgement of one segment, with a full window.
    pub(crate) fn of_one(now: Time) -> Ack {
        Ack {
            now,
            acked: Segments(1),
            counted: Segments(1),
            rtt: None,
            in_flight: Segments(1),
            window_validated: true,
            signal: Signal::default(),
        }
    }
}

/// An RTT was measured.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    pub sample: TimeDelta,
    /// The retransmission timer's average, which excludes some samples.
    pub smoothed: Option<TimeDelta>,
}

/// Congestion, detected by loss recovery or signalled by a mark.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    pub now: Time,
    /// Outstanding segments at detection: RFC 5681's FlightSize.
    pub in_flight: Segments,
    /// Estimated number of these segments still in the network.
    pub pipe: Segments,
    /// Lower bound of the reduced window.
    pub min_window: Segments,
    /// A repeated timeout of the same segment: the threshold stays (RFC 5681 section 3.1).
    pub repeated: bool,
    pub cause: Cause,
}

/// A segment was found lost. Names in brackets are from draft-ietf-ccwg-bbr-06.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lost {
    pub now: Time,
    /// Segments found lost in total, including this one (C.lost).
    pub lost: u64,
    /// That total when this segment was sent (P.lost).
    pub prior_lost: u64,
    /// Estimated number of segments in the network after it was sent (P.tx_in_flight).
    pub in_flight: Segments,
    /// When it was sent, the application did not have enough data to fill the window.
    pub app_limited: bool,
    /// It does not directly follow the previously lost segment.
    pub begins_range: bool,
}

/// Cause of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Also a loss assumed by a timer.
    Loss,
    /// The echo of a mark, which occurs once per window.
    Mark,
}

impl Congestion {
    /// A first loss, with all outstanding segments in the network.
    pub(crate) fn of(now: Time, in_flight: Segments) -> Congestion {
        Congestion { now, in_flight, pipe: in_flight, min_window: Segments(2), repeated: false, cause: Cause::Loss }
    }
}
