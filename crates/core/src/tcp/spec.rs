//! TCP settings with all defaults resolved. Presets (in the scenario crate) fill them in.

pub use crate::congestion::AckCounting;
use crate::primitives::units::{Bytes, Segments, TimeDelta};
use crate::settings::words;
use serde::{Deserialize, Serialize};

/// The settings shared by all flows of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TcpSpec {
    pub recovery: Recovery,
    /// Payload of a full segment.
    pub mss: Bytes,
    /// Header bytes on the wire per data segment.
    pub header: Bytes,
    /// Size of an acknowledgement on the wire.
    pub ack_size: Bytes,
    /// Initial window in segments, at least 1.
    pub initial_window: f64,
    /// Open a connection first: data waits for the acknowledgement of the SYN (RFC 9293 section 3.5).
    pub handshake: bool,
    /// Initial slow-start threshold in segments; infinite if arbitrarily high (RFC 5681 section 3.1).
    pub initial_ssthresh: f64,
    /// Receiver window, at least 1.
    pub receiver_window: Segments,
    /// Number of duplicate acknowledgements that start a fast retransmit; `None` leaves all repair to the timer.
    pub fast_retransmit: Option<u32>,
    /// RFC 3042: a new segment for each of the first two duplicate acknowledgements.
    pub limited_transmit: bool,
    /// One RTT sample per acknowledgement (as with RFC 7323 timestamps) instead of one segment timed at a time.
    pub timestamps: bool,
    /// SACK blocks per acknowledgement, 1 to 4. Used only by recoveries with SACK.
    pub sack_blocks: u32,
    pub delayed_ack: Option<DelayedAck>,
    /// Explicit congestion notification (RFC 3168): queues may mark new data instead of discarding it. Only for packets that are not cut
    /// into cells.
    pub ecn: bool,
    /// Pace new data at `cwnd / RTT` instead of sending in response to acknowledgements.
    pub pacing: bool,
    /// Whether an unused window may open, and how it is reduced. For flows with an application.
    pub window_validation: WindowValidation,
    pub timer: TimerSpec,
    /// Quantity that a loss halves.
    pub ssthresh_from: SsthreshFrom,
    /// Unit in which acknowledgements open the window.
    pub ack_counting: AckCounting,
    /// Maximum number of segments for which an acknowledgement opens the window in slow start: L of RFC 3465 section 2.2, and one until all
    /// data outstanding at a timeout is acknowledged (section 2.3). [`Segments::UNLIMITED`]: no limit in either case. Only if bytes are
    /// counted.
    pub abc_limit: Segments,
    /// End of slow start in addition to losses, marks and the threshold. HyStart requires `timestamps`: without them a round has one
    /// sample.
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
    pub enum SsthreshFrom ("slow-start threshold basis") {
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
    pub enum NewRenoVariant ("timer variant") {
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
    /// Maximum time after the first unacknowledged segment.
    pub timeout: TimeDelta,
    /// Number of initial segments of a flow that are acknowledged immediately. As observed with Linux, whose receiver delays no
    /// acknowledgement while the window that it offers still opens.
    pub quickack_segments: Segments,
    /// With SACK, above a gap, after three immediate acknowledgements: one for all arrivals within this time that its blocks can report, or
    /// within two thirds of the one-way delay of a segment if that is less, a third of an RTT; zero for one per segment. Linux,
    /// `tcp_comp_sack_delay_ns`, `tcp_comp_sack_nr` and `tcp_comp_sack_rtt_percent` of its documentation.
    pub sack_compression: TimeDelta,
    /// Acknowledge immediately the first marked segment since the sender last reduced its window, the next segment, and one that reports a
    /// reduction, as observed with Linux.
    pub ack_ce_immediately: bool,
}

impl DelayedAck {
    /// RFC 5681 section 4.2: every second full segment and within 500 ms; implementations use 200 ms.
    pub const USUAL: DelayedAck = DelayedAck {
        every: 2,
        timeout: TimeDelta::from_millis(200),
        quickack_segments: Segments(0),
        sack_compression: TimeDelta::ZERO,
        ack_ce_immediately: false,
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimerSpec {
    pub form: TimerForm,
    pub min_rto: TimeDelta,
    pub max_rto: TimeDelta,
    /// Timeout before the first sample.
    pub initial_rto: TimeDelta,
    /// Acknowledgements that restart the timer during loss recovery.
    pub newreno_variant: NewRenoVariant,
    /// Largest back-off factor, a power of two (RFC 6298 bounds only the product, by `max_rto`; BSD and NS stop at 64).
    pub max_backoff: u32,
}

impl TimerSpec {
    /// RFC 6298 with a clock of 1 ms: according to section 4, clocks finer than 100 ms perform better. The minimum timeout is that of
    /// (2.4), the maximum that of (2.5), the initial one that of (2.1); (5.5) bounds only the product of timeout and back-off.
    pub const fn rfc6298() -> TimerSpec {
        TimerSpec {
            form: TimerForm::Exact { granularity: TimeDelta::from_millis(1) },
            min_rto: TimeDelta::from_millis(1_000),
            max_rto: TimeDelta::from_millis(60_000),
            initial_rto: TimeDelta::from_millis(1_000),
            newreno_variant: NewRenoVariant::Impatient,
            max_backoff: 1 << 16,
        }
    }

    /// Whole ticks as in NS: at least two of them, 3 s before the first sample, at most 64 s and a back-off of at most 64. The timer of
    /// bpd-2001 and spd-1998.
    pub fn coarse(tick: TimeDelta) -> TimerSpec {
        TimerSpec {
            form: TimerForm::CoarseNs { tick },
            min_rto: tick + tick,
            max_rto: TimeDelta::from_millis(64_000),
            initial_rto: TimeDelta::from_millis(3_000),
            newreno_variant: NewRenoVariant::Impatient,
            max_backoff: 64,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimerForm {
    /// RFC 6298 with the clock granularity G of its section 2.
    Exact { granularity: TimeDelta },
    /// Integer ticks, fires exactly RTO after being set (the NS simulator's form).
    CoarseNs { tick: TimeDelta },
    /// Integer ticks, fires on a boundary of a free-running clock with a random phase per flow (the BSD form).
    CoarseBsd { tick: TimeDelta },
}
