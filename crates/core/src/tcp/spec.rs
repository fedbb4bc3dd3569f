//! What a TCP is made of, with every default already chosen. Presets (in the scenario crate) fill it in.

pub use crate::congestion::Counting;
use crate::primitives::units::{Bytes, Segments, Span};
use crate::settings::words;
use serde::{Deserialize, Serialize};

/// The settings that all flows of a group share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TcpSpec {
    pub recovery: Recovery,
    /// Payload of a full segment.
    pub mss: Bytes,
    /// Headers on the wire with each data segment.
    pub header: Bytes,
    /// An acknowledgement on the wire.
    pub ack_size: Bytes,
    /// Segments, at least 1.
    pub initial_window: f64,
    /// A connection is opened first: data waits for the SYN's acknowledgement (RFC 9293 section 3.5).
    pub handshake: bool,
    /// Segments; infinite if arbitrarily high (RFC 5681 section 3.1).
    pub initial_ssthresh: f64,
    /// Receiver window, at least 1.
    pub receiver_window: Segments,
    /// Duplicate acknowledgements that start a fast retransmit; `None` leaves all repair to the timer.
    pub fast_retransmit: Option<u32>,
    /// RFC 3042: a new segment for each of the first two duplicate acknowledgements.
    pub limited_transmit: bool,
    /// One round-trip sample per acknowledgement (as with RFC 7323 timestamps) instead of one segment timed at a time.
    pub timestamps: bool,
    /// SACK blocks per acknowledgement, 1 to 4. Only read by the recoveries that use SACK.
    pub sack_blocks: u32,
    pub delayed_ack: Option<DelayedAck>,
    /// Explicit congestion notification (RFC 3168): queues may mark new data instead of discarding it. Of packets that travel whole only.
    pub ecn: bool,
    /// Spread new data at `cwnd / RTT` instead of sending on the acknowledgement's heels.
    pub pacing: bool,
    /// Whether a window that is not used may open, and what becomes of it. Of flows with an application.
    pub window_validation: WindowValidation,
    pub timer: TimerSpec,
    /// What loss halves.
    pub halves: Halves,
    /// What opens the window.
    pub counting: Counting,
    /// At most for so many segments does an acknowledgement open the window in slow start: L of RFC 3465 section 2.2, and one until all that was
    /// outstanding at a timeout is acknowledged (section 2.3). [`Segments::UNLIMITED`]: for all, also then. Of those that count bytes.
    pub slow_start_limit: Segments,
    /// What ends slow start, beside losses, marks and the threshold. HyStart needs `timestamps`: without, a round has one sample.
    pub slow_start: SlowStart,
}

words! {
    /// How slow start ends before a loss.
    pub enum SlowStart ("slow start") {
        /// At the slow-start threshold only: RFC 5681.
        Standard = "standard",
        /// When the RTT grows, or after a long train of closely spaced acknowledgements (Ha and Rhee 2011).
        HyStart = "hystart",
        /// RFC 9406: when the RTT grows, after five rounds of slower growth. Only in the first slow start of a flow.
        HyStartPlusPlus = "hystart++",
    }
}

words! {
    /// How a window that the application does not fill is treated.
    pub enum WindowValidation ("window validation") {
        /// Every acknowledgement opens the window, and idle time does not reduce it: RFC 2001 and senders of its time.
        None = "none",
        /// Every acknowledgement opens the window; after more than a timeout without transmission it is reset to the initial window (RFC
        /// 5681 section 4.1).
        Rfc5681 = "rfc5681",
        /// The window opens only while half of it is in use, and is preserved for five minutes; congestion reduces the part that was in
        /// use.
        Rfc7661 = "rfc7661",
        /// The window opens in slow start up to twice the amount in use, later only if it is full, and is halved for each timeout without
        /// transmission.
        Linux = "linux",
    }
}

words! {
    /// Quantity whose half becomes the slow-start threshold when a segment is lost.
    pub enum Halves ("quantity to halve") {
        /// Outstanding segments: RFC 5681 equation (4). A repeated timeout of the same segment does not change the threshold.
        FlightSize = "flight_size",
        /// Effective window, `floor(min(cwnd, receiver window))`, at every loss: bpd-2001 section 2.1, spd-1998 section 4.1.2.
        Window = "window",
    }
}

words! {
    /// How losses are detected and repaired.
    pub enum Recovery ("recovery") {
        /// RFC 6582: each partial acknowledgement repairs one hole.
        NewReno = "newreno",
        /// RFC 5681: the first acknowledgement of new data ends fast recovery.
        Reno = "reno",
        /// RFC 6675 with the scoreboard of RFC 2018.
        Sack = "sack",
        /// RFC 8985: losses are detected by transmission times, and tail losses by a probe; RFC 9937 governs transmission during recovery.
        /// Requires SACK.
        RackTlp = "rack_tlp",
        /// On the third duplicate: window 1, slow start, go-back-N (spd-1998 section 4.1.2).
        Tahoe = "tahoe",
        /// The pipe rules of bpd-2001 section 6.1.
        BpdSack = "bpd_sack",
    }
}

words! {
    /// Partial acknowledgements that restart the retransmission timer: the variants of RFC 6582 section 4. With `rack_tlp` all do.
    pub enum InRecovery ("timer variant") {
        /// The first only: recovery from many losses ends with a timeout.
        Impatient = "impatient",
        /// All: many losses are repaired at one per RTT.
        SlowButSteady = "slow_but_steady",
    }
}

/// RFC 5681 section 4.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelayedAck {
    /// Acknowledge at least once per this many full segments.
    pub every: u32,
    /// At most this long after the first unacknowledged segment.
    pub timeout: Span,
    /// The first segments of a flow, each acknowledged at once: as observed of Linux, whose receiver waits for none while the window that it
    /// offers still opens.
    pub at_once: Segments,
    /// With SACK, above a gap, after three acknowledgements at once: one for all that arrives within this time and that its blocks can
    /// tell of, or two thirds of the time that a segment takes to arrive if that is less, a third of a round trip; zero for one each.
    /// Linux, `tcp_comp_sack_delay_ns`, `tcp_comp_sack_nr` and `tcp_comp_sack_rtt_percent` of its documentation.
    pub sack_timeout: Span,
    /// The first marked segment since the sender last reduced its window, the next, and one that tells of a reduction are acknowledged at once:
    /// as observed of Linux.
    pub marks_at_once: bool,
}

impl DelayedAck {
    /// RFC 5681 section 4.2: every second full segment and within 500 ms; 200 ms is what implementations use.
    pub const USUAL: DelayedAck = DelayedAck {
        every: 2,
        timeout: Span::from_millis(200),
        at_once: Segments(0),
        sack_timeout: Span::ZERO,
        marks_at_once: false,
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimerSpec {
    pub form: TimerForm,
    pub min_rto: Span,
    pub max_rto: Span,
    /// Before the first sample.
    pub initial_rto: Span,
    /// Which acknowledgements restart it while losses are repaired.
    pub in_recovery: InRecovery,
    /// Largest back-off factor, a power of two (RFC 6298 bounds the product by `max_rto` only; BSD and NS stop at 64).
    pub max_backoff: u32,
}

impl TimerSpec {
    /// RFC 6298 with a clock of 1 ms: finer than 100 ms is said to do better (section 4). The least timeout is that of (2.4), the largest
    /// that of (2.5), the first that of (2.1); (5.5) bounds the product of timeout and back-off only.
    pub const fn rfc6298() -> TimerSpec {
        TimerSpec {
            form: TimerForm::Exact { granularity: Span::from_millis(1) },
            min_rto: Span::from_millis(1_000),
            max_rto: Span::from_millis(60_000),
            initial_rto: Span::from_millis(1_000),
            in_recovery: InRecovery::Impatient,
            max_backoff: 1 << 16,
        }
    }

    /// Whole ticks as in NS: at least two of them, 3 s before the first sample, at most 64 s and a back-off of at most 64. The timer of
    /// bpd-2001 and spd-1998.
    pub fn coarse(tick: Span) -> TimerSpec {
        TimerSpec {
            form: TimerForm::CoarseNs { tick },
            min_rto: tick + tick,
            max_rto: Span::from_millis(64_000),
            initial_rto: Span::from_millis(3_000),
            in_recovery: InRecovery::Impatient,
            max_backoff: 64,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimerForm {
    /// RFC 6298 with the clock granularity G of its section 2.
    Exact { granularity: Span },
    /// Integer ticks, fires exactly RTO after being set (the NS simulator's form).
    CoarseNs { tick: Span },
    /// Integer ticks, fires on a boundary of a free-running clock with a random phase per flow (the BSD form).
    CoarseBsd { tick: Span },
}
