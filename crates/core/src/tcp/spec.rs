//! TCP settings with all defaults resolved. Presets (in the scenario crate) fill them in.

pub use crate::congestion::AckCounting;
use crate::primitives::packet::Ecn;
use crate::primitives::units::{Bytes, Cwnd, Segments, TimeDelta};
use crate::settings::{Kind, PlainWords, settings, words};
use serde::{Deserialize, Serialize};

settings! {
    /// The settings shared by all flows of a group. Default: NewReno of RFC 6582, with the settings of current RFCs.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct TcpSpec {
        /// Loss detection and recovery.
        recovery: Recovery = Recovery::NewReno => Kind::Words(&Recovery::WORDS),
        // Default: RFC 5681 equation (4).
        /// Quantity that is halved to give the slow-start threshold after a loss.
        ssthresh_from: SsthreshFrom = SsthreshFrom::FlightSize => Kind::Words(&SsthreshFrom::WORDS),
        // Default: RFC 3465, recommended by RFC 5681 section 3.1; L = 2 of its section 2.2.
        /// Unit in which acknowledgements increase the window: acknowledgements or acknowledged bytes.
        ack_counting: AckCounting = AckCounting::Bytes => Kind::Words(&AckCounting::WORDS),
        /// Maximum window increase per acknowledgement in slow start, in segments (L of RFC 3465), or `unlimited`. Requires
        /// `ack_counting = "bytes"`. With `slow_start = "hystart++"` the default is 8, or `unlimited` with `pacing` (L of RFC 9406).
        abc_limit: Segments = Segments(2) => Kind::SegmentsOrUnlimited,
        /// Exit from slow start before a loss. All words but `standard` require `timestamps = true` and a controller without its own slow
        /// start (not Vegas, FAST or user code).
        slow_start: SlowStart = SlowStart::Standard => Kind::Words(&SlowStart::WORDS),
        // Default: 1500 bytes of an Ethernet frame without 20 bytes each of IP and TCP headers: no options, and so no timestamps.
        /// Maximum segment size (payload), 1 B to 1 MB.
        mss: Bytes = Bytes(1460) => Kind::Bytes { min: 1, max: 1_000_000 },
        /// Headers of a data segment on the wire, 0 B to 1 kB.
        header: Bytes = Bytes(40) => Kind::Bytes { min: 0, max: 1_000 }; "40 B",
        /// Size of an acknowledgement on the wire, 1 B to 1 kB.
        ack_size: Bytes = Bytes(40) => Kind::Bytes { min: 1, max: 1_000 }; "40 B",
        // Default: RFC 6928 section 2.
        /// Initial congestion window.
        initial_window: f64 = 10.0 => Kind::SegmentsOrUnlimited; "10",
        /// Open the connection with a SYN before data is sent (RFC 9293). The SYN has the size of `header` and counts as a packet without
        /// payload.
        handshake: bool = false => Kind::Boolean,
        /// Bytes by which a SYN is longer than `header`, for its options, 0 B to 40 B.
        syn_options: Bytes = Bytes(0) => Kind::Bytes { min: 0, max: 40 }; "0 B",
        // Off: they contain no data.
        /// Send acknowledgements of the receiver's SYN, ahead of the data, and of its FIN, and the FIN of a transfer. The FIN is a packet of its
        /// own if the transfer fits in the initial window, and otherwise part of the last segment, because the application closes the
        /// connection before that is sent.
        bare_segments: bool = false => Kind::Boolean,
        // Default: a flow whose first RTT sample is that of data, as in RFC 6298 section 2.
        /// Without `handshake`: the connection was opened before the flow starts, and its handshake has measured the RTT of the empty path.
        established: bool = false => Kind::Boolean,
        // Default: RFC 5681 section 3.1.
        /// Number of timeouts of the SYN that reduce the initial window to one segment.
        syn_timeouts_to_reset: u32 = 1 => Kind::Integer { min: 1, max: 1000 }; "1",
        // Default: RFC 6298 rule 5.5.
        /// Number of timeouts of the SYN, from the first, that do not double the next one.
        syn_linear_timeouts: u32 = 0 => Kind::Integer { min: 0, max: 1000 }; "0",
        // Default: RFC 5681 section 3.1, "arbitrarily high".
        /// Initial slow-start threshold, or `unlimited`.
        initial_ssthresh: f64 = f64::INFINITY => Kind::SegmentsOrUnlimited,
        // Default: large enough never to limit the sender.
        /// Receive window in segments, or in bytes, which are rounded down to whole segments.
        receiver_window: Segments = Segments(1_000_000) => Kind::SegmentsOrBytes,
        // Default: RFC 5681 section 3.2.
        /// Number of duplicate acknowledgements that trigger fast retransmit; `false` turns it off. With `rack_tlp`: DupThresh of RFC 8985,
        /// the number of SACKed segments that detect a loss without a reordering window.
        fast_retransmit: Option<u32> = Some(3) => DUPLICATES; "3",
        // Default: recommended by RFC 5681 section 3.2.
        /// Send a new segment for each of the first two duplicate acknowledgements (RFC 3042).
        limited_transmit: bool = true => Kind::Boolean,
        // Default: RFC 5681, which has no such rule.
        /// With `recovery = "reno"`: start a fast retransmit only for losses above the segments that were outstanding at the last one (RFC
        /// 2582 section 5; `bugFix_` of ns-2); losses below wait for the timer. Recoveries other than `reno` always do.
        avoid_multiple_fast_retransmits: bool = false => Kind::Boolean,
        /// DSACKs that widen the reordering window of `rack_tlp`.
        reo_wnd_growth: ReoWndGrowth = ReoWndGrowth::AnyDsack => Kind::Words(&ReoWndGrowth::WORDS),
        // Off: RFC 3708 and RFC 8985 have no such limit.
        /// With `rack_tlp`: ignore DSACKs beyond the number of the connection's retransmissions, because the network has duplicated segments,
        /// and count each of the others as a delivery, as in Linux since 5.10.
        limit_dsacks: bool = false => Kind::Boolean,
        // Off: RFC 8985 section 6.2 step 2, in the order of transmissions.
        /// With `rack_tlp`: an acknowledgement that advances and also SACKs segments sets RACK.rtt to the RTT of the last segment that it
        /// acknowledges cumulatively instead of the last one that it SACKs, as in Linux.
        cumulative_rack_rtt: bool = false => Kind::Boolean,
        // Off: RFC 8985 section 6.2 step 2 requires both conditions, and timestamps identify the transmission.
        /// With `rack_tlp`: a retransmission has arrived if its RTT is at least the minimum, of which that of the handshake is the first, as
        /// in Linux, instead of by the echo of its timestamp.
        retransmissions_by_min_rtt: bool = false => Kind::Boolean,
        // Off: RFC 5682 section 3.1 step 1.
        /// With `rack_tlp`: a repeated timeout of a segment begins F-RTO, even if the first was during a recovery, so that new data follows
        /// the acknowledgement of its retransmission, as in Linux.
        f_rto_repeats: bool = false => Kind::Boolean,
        // Off: the RFCs do not describe it.
        /// With `rack_tlp`: a retransmission that is lost in the recovery from a timeout begins a fast recovery, with another reduction, and so
        /// does a loss that the reordering timer detects then, as in Linux.
        fast_recovery_after_timeout: bool = false => Kind::Boolean,
        // Off: RFC 5681 equation 4.
        /// With `rack_tlp`: a timeout before the end of a fast recovery, or of the response to a mark, does not reduce ssthresh again, as in
        /// Linux.
        timeout_keeps_reduction: bool = false => Kind::Boolean,
        // Off: RFC 8985 section 7.3 arms a full timeout with the probe.
        /// With `rack_tlp`: new data sent after a tail loss probe brings back the timeout of the oldest segment or, if that is over, lets it
        /// follow when another probe would be due, as in Linux.
        new_data_ends_probe: bool = false => Kind::Boolean,
        /// Take a round-trip sample from every acknowledgement (RFC 7323) instead of from one segment at a time.
        timestamps: bool = false => Kind::Boolean,
        /// Segments that the receiver discards by their timestamp. All words but `off` require `timestamps = true`.
        paws: Paws = Paws::Off => Kind::Words(&Paws::WORDS),
        // Default: three with a timestamp option, at most four (RFC 2018 section 3).
        /// Maximum number of SACK blocks in an acknowledgement.
        sack_blocks: u32 = 3 => Kind::Integer { min: 1, max: 4 }; "3",
        // Off: RFC 5681 section 3.1 counts cumulatively acknowledged data.
        /// With `rack_tlp`: once a segment has arrived late by more than DupThresh segments, acknowledgements that only report SACKed data
        /// open the window, too.
        sack_opens_window: bool = false => Kind::Boolean,
        /// Use explicit congestion notification (RFC 3168). Cannot be used with `framing`.
        ecn: bool = false => Kind::Boolean,
        // Off: RFC 3168 section 6.1.1.1 permits it.
        /// With `ecn` and `handshake`: do without ECN if the first SYN is lost (`tcp_ecn_fallback` of Linux).
        ecn_fallback: bool = false => Kind::Boolean,
        /// Packets sent as ECN-capable, with `ecn`; queues discard other packets instead of marking them. Default: `all` with a controller
        /// that requires it (`dctcp`, `prague`) and with user code on a preset that has it (`linux/dctcp`), otherwise `new_data`.
        ecn_capable: EcnCapable = EcnCapable::NewData => Kind::Words(&EcnCapable::WORDS),
        /// How the receiver echoes marks, with `ecn`: `rfc3168` until the sender reports a reduction of its window (section 6.1.3), `rfc8257`
        /// as the latest segment is marked, with an acknowledgement of each change (section 3.2). Default: that of the preset, but
        /// `rfc3168` with a controller that does not require ECN.
        ecn_echo: EcnEcho = EcnEcho::Rfc3168 => Kind::Words(&EcnEcho::WORDS),
        /// Pace new data at window / RTT instead of sending it when acknowledgements arrive.
        pacing: bool = false => Kind::Boolean,
        // Off: no RFC specifies pacing.
        /// With pacing, by the settings or the controller: as in Linux, the first ten segments of data are not paced, and a segment that is
        /// sent later than pacing permits shortens the next gap by the delay, at most by half.
        pacing_credit: bool = false => Kind::Boolean,
        // Default: RFC 7661, which replaces the restart of RFC 5681 section 4.1.
        /// Validation of a window that the application does not fill. With `linux`, the window grows only while it is used.
        window_validation: WindowValidation = WindowValidation::Rfc7661 => Kind::Words(&WindowValidation::WORDS),
    }
    with
    /// `None` acknowledges every segment immediately.
    delayed_ack: Option<DelayedAck> = Some(DelayedAck::default()),
    /// Retransmission timer.
    timer: TimerSpec = TimerSpec::rfc6298(),
}

const DUPLICATES: Kind =
    Kind::IntegerOrFalse { name: "FastRetransmit", noun: "number of duplicate acknowledgements", min: 1, max: 1000 };

impl TcpSpec {
    /// ECN field of packets that are not new data: SYNs, acknowledgements and retransmissions. A mark on a retransmission counts as any
    /// other; on a SYN or an acknowledgement it has no effect, as in Linux without accurate ECN.
    pub(crate) fn ecn_of_others(&self) -> Ecn {
        if self.ecn && self.ecn_capable == EcnCapable::All { Ecn::ECT } else { Ecn::NOT_ECT }
    }

    /// `floor(min(cwnd, receiver window))`, at least one segment.
    #[inline(always)]
    pub(crate) fn usable(&self, Cwnd(window): Cwnd) -> Segments {
        Segments((window.min(f64::from(self.receiver_window.0)) as u32).max(1))
    }
}

words! {
    /// How slow start ends before a loss.
    pub enum SlowStart ("slow start") {
        /// At the slow-start threshold only: RFC 5681.
        Standard = "standard",
        /// When the RTT grows, or after a long train of closely spaced acknowledgements (Ha and Rhee 2011).
        HyStart = "hystart",
        /// `hystart` with rounds that begin at a window of 16 segments, as in Linux 5.16 to 6.13 (cubic-bulk-166k.pkt of packetdrill).
        HyStartFrom16 = "hystart_from_16",
        /// RFC 9406: when the RTT grows, after five rounds of slower growth. Only in the first slow start of a flow.
        HyStartPlusPlus = "hystart++",
    }
}

words! {
    /// DSACKs that widen the reordering window of RACK, by a quarter of the minimum RTT per round trip.
    pub enum ReoWndGrowth ("growth of the reordering window") {
        /// All: RFC 8985 section 6.2 step 4.
        AnyDsack = "any_dsack",
        /// Those after reordering was seen, as in Linux.
        AfterReordering = "after_reordering",
    }
}

words! {
    /// Protection against wrapped sequences (PAWS): which segments a receiver discards, and acknowledges, by their timestamp in ticks of 1
    /// ms.
    pub enum Paws ("PAWS rule") {
        /// None.
        Off = "off",
        /// Timestamps before TS.Recent: RFC 7323 section 5.3.
        Rfc7323 = "rfc7323",
        /// Timestamps more than one tick before TS.Recent.
        Linux = "linux",
    }
}

impl Paws {
    /// Ticks by which an accepted timestamp may be before TS.Recent; `None` if all are accepted.
    pub(crate) fn tolerance(self) -> Option<u64> {
        match self {
            Paws::Off => None,
            Paws::Rfc7323 => Some(0),
            Paws::Linux => Some(1),
        }
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
        /// transmission. It does not open while the queue at the sender's own interface (`sender_access`, or the first link of a host)
        /// holds more than 1 ms of the flow's data, and more than two packets: TCP Small Queues.
        Linux = "linux",
    }
}

words! {
    /// Packets that are sent as ECN-capable.
    pub enum EcnCapable ("ECN-capable packets") {
        /// Data segments in their first transmission (RFC 3168 sections 6.1.1, 6.1.4 and 6.1.5).
        NewData = "new_data",
        /// Also SYNs, acknowledgements and retransmissions (RFC 8257 section 3.6, RFC 9331 appendix A.2.1, draft-ietf-tcpm-generalized-ecn;
        /// Linux, with controllers that require ECN).
        All = "all",
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
    /// How a receiver echoes marks.
    pub enum EcnEcho ("echo of marks") {
        /// From a mark until the sender reports a reduction of its window (RFC 3168 section 6.1.3).
        Rfc3168 = "rfc3168",
        /// The state of the latest segment. If it differs from that of the segment before, a delayed acknowledgement is sent with the old
        /// state, and another one with the new state (RFC 8257 section 3.2).
        Rfc8257 = "rfc8257",
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

settings! {
    /// Delayed acknowledgements (RFC 5681 section 4.2). Default: every second full segment and within 200 ms, as in implementations; the RFC
    /// requires 500 ms.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct DelayedAck {
        /// Acknowledge at least every N full segments.
        every: u32 = 2 => Kind::Integer { min: 1, max: 1000 },
        /// Maximum delay of an acknowledgement after the arrival of the first unacknowledged segment.
        timeout: TimeDelta = TimeDelta::from_millis(200) => Kind::Duration { min: TimeDelta::ZERO },
        /// Time between the reads of the receiver's application. Each read acknowledges the segments in order that have arrived; until then
        /// only `timeout`, `quickack_segments` and `quickacks_after_duplicate` do, as in Linux. 0 s: the application reads at once.
        read_interval: TimeDelta = TimeDelta::ZERO => Kind::Duration { min: TimeDelta::ZERO },
        /// Number of segments at the start of a flow that are acknowledged one by one.
        quickack_segments: Segments = Segments(0) => Kind::Integer { min: 0, max: 1_000_000_000 },
        /// SACK compression: after `quickack_segments` and three immediate acknowledgements above a gap, send one per interval of this length
        /// or of `sack_compression_percent` of the round-trip time, whichever is shorter. 0 s turns it off.
        sack_compression: TimeDelta = TimeDelta::ZERO => Kind::Duration { min: TimeDelta::ZERO },
        // Default: Linux 7.2, `tcp_comp_sack_rtt_percent`.
        /// Limit of the interval of SACK compression, in percent of the round-trip time.
        sack_compression_percent: u32 = 33 => Kind::Integer { min: 1, max: 100 }; "33",
        /// Time by which the timer of SACK compression expires late.
        sack_compression_slack: TimeDelta = TimeDelta::ZERO => Kind::Duration { min: TimeDelta::ZERO },
        /// Number of segments acknowledged one by one, beginning with one that had arrived before.
        quickacks_after_duplicate: u32 = 0 => Kind::Integer { min: 0, max: 255 }; "0",
        /// Acknowledge immediately the last segment of a transfer or of a write by the application, which has the flag PSH, unless the
        /// receiver sends data, too.
        ack_pushed: bool = false => Kind::Boolean,
        /// Acknowledge immediately, with `ecn`, the first two marked segments since the last window reduction, segments with CWR, and each
        /// segment that is not ECN-capable, as retransmissions are, with the one after it.
        ack_ce_immediately: bool = false => Kind::Boolean,
    }
}

settings! {
    /// The retransmission timer. Default: [`TimerSpec::rfc6298`].
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    pub struct TimerSpec {
        /// Minimum timeout. With form `exact` the default granularity is at most this.
        min_rto: TimeDelta = TimeDelta::from_millis(1_000) => Kind::Duration { min: TimeDelta::ZERO },
        /// Maximum timeout.
        max_rto: TimeDelta = TimeDelta::from_millis(60_000) => Kind::Duration { min: TimeDelta::ZERO },
        /// Timeout before the first round-trip sample.
        initial_rto: TimeDelta = TimeDelta::from_millis(1_000) => Kind::Duration { min: TimeDelta::ZERO },
        /// Variant of NewReno: which partial acknowledgements restart the timer.
        newreno_variant: NewRenoVariant = NewRenoVariant::Impatient => Kind::Words(&NewRenoVariant::WORDS),
        /// Maximum back-off factor, a power of two.
        max_backoff: u32 = 1 << 16 => Kind::Integer { min: 1, max: 65536 },
        // Default: RFC 8985 section 7.2 leaves a minimum to implementations.
        /// Time added to two round-trip times before a tail loss probe if several segments are outstanding, and to the reordering timer of
        /// `rack_tlp`.
        probe_margin: TimeDelta = TimeDelta::ZERO => Kind::Duration { min: TimeDelta::ZERO },
        /// Period of the clock that expires the timers of `rack_tlp`, as the timer wheel of Linux does: at the tick after whole periods, and
        /// from 63, 504 and 4032 periods on at the multiple of 8, 64 and 512 ticks after them. 0 s: they expire exactly.
        jiffy: TimeDelta = TimeDelta::ZERO => Kind::Duration { min: TimeDelta::ZERO },
        // Off: RFC 6298 rule 2.3.
        /// With form `exact` and `timestamps`: the variation is the largest mean deviation of a round trip, at least a quarter of `granularity`;
        /// it rises at once, falls by a quarter of the difference per round trip, and grows slowly with shorter RTTs (Sarolahti and Kuznetsov
        /// 2002, section 4; Linux).
        peak_deviation: bool = false => Kind::Boolean,
        /// With `rack_tlp`: start the retransmission timer and the probe's when pacing permits the next transmission, except after a
        /// timeout.
        after_pacing: bool = false => Kind::Boolean,
    }
    with
    /// How times are measured.
    form: TimerForm = TimerForm::Exact { granularity: TimeDelta::from_millis(1) },
}

impl TimerSpec {
    /// RFC 6298 with a clock of 1 ms: according to section 4, clocks finer than 100 ms perform better. The minimum timeout is that of
    /// (2.4), the maximum that of (2.5), the initial one that of (2.1); (5.5) bounds only the product of timeout and back-off.
    pub fn rfc6298() -> TimerSpec {
        TimerSpec::default()
    }

    /// Whole ticks as in NS: at least two of them, 3 s before the first sample, at most 64 s and a back-off of at most 64. The timer of
    /// bpd-2001 and spd-1998.
    pub fn coarse(tick: TimeDelta) -> TimerSpec {
        TimerSpec {
            form: TimerForm::CoarseNs { tick },
            min_rto: tick + tick,
            max_rto: TimeDelta::from_millis(64_000),
            initial_rto: TimeDelta::from_millis(3_000),
            // BSD and NS; RFC 6298 bounds only the product, by `max_rto`.
            max_backoff: 64,
            ..TimerSpec::default()
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
