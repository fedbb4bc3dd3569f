//! `tcp = {preset = ..., ...}`: a preset and settings that replace its values.

use super::controller::Controller;
use crate::decode::{Decode, Decoder, kind};
use crate::quantity::{Duration, Segments, Size};
use crate::record::{record, words};
use crate::tree::Node;
use crate::values::{Integer, Word};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::json;
use tailback_core::congestion::ControllerSpec;
use tailback_core::primitives::units::{self, Bytes, TimeDelta};
use tailback_core::tcp::{self, AckCounting, NewRenoVariant, Recovery, SlowStart, SsthreshFrom, TcpSpec, WindowValidation};

words! {
    /// Named settings. Plain names follow the RFCs, `linux/*` follow Linux, the others follow the document in their name.
    pub enum PresetName ("preset") {
        NewReno = "newreno",
        Reno = "reno",
        Sack = "sack",
        Tahoe = "tahoe",
        Cubic = "cubic",
        LinuxReno = "linux/reno",
        LinuxCubic = "linux/cubic",
        LinuxBbr = "linux/bbr",
        BpdReno = "bpd-2001/reno",
        BpdSack = "bpd-2001/sack",
        SpdTahoe = "spd-1998/tahoe",
    }
}

words! {
    /// Form of the retransmission timer.
    pub enum TimerForm ("form of timer") {
        /// RFC 6298 with a clock granularity.
        Exact = "exact",
        /// Whole ticks; expires exactly one timeout after it is set.
        CoarseNs = "coarse_ns",
        /// Whole ticks; expires on a tick of a free-running clock.
        CoarseBsd = "coarse_bsd",
    }
}

record! {
    /// TCP: a preset, and settings that replace its values. Windows are in segments. Default of each setting: the value of the preset.
    pub struct Tcp {
        /// Preset, which supplies all settings that are not given.
        preset: PresetName,
        /// Congestion controller. It replaces the controller of the preset with all its settings.
        controller: Option<Controller>,
        /// Loss detection and recovery.
        recovery: Option<Word<Recovery>>,
        /// Quantity that is halved to give the slow-start threshold after a loss.
        ssthresh_from: Option<Word<SsthreshFrom>>,
        /// Unit in which acknowledgements increase the window: acknowledgements or acknowledged bytes.
        ack_counting: Option<Word<AckCounting>>,
        /// Maximum window increase per acknowledgement in slow start, in segments (L of RFC 3465), or `unlimited`. Requires
        /// `ack_counting = "bytes"`. With `slow_start = "hystart++"` the default is 8, or `unlimited` with `pacing` (L of RFC 9406).
        abc_limit: Option<Segments>,
        /// Exit from slow start before a loss. All words but `standard` require `timestamps = true` and a controller without its own slow
        /// start (not Vegas, FAST or user code).
        slow_start: Option<Word<SlowStart>>,
        /// Maximum segment size (payload), 1 B to 1 MB.
        mss: Option<Size>,
        /// Headers of a data segment on the wire, 0 B to 1 kB.
        header: Option<Size>; "40 B",
        /// Size of an acknowledgement on the wire, 1 B to 1 kB.
        ack_size: Option<Size>; "40 B",
        /// Initial congestion window.
        initial_window: Option<Segments>; 10,
        /// Open the connection with a SYN before data is sent (RFC 9293). The SYN has the size of `header` and counts as a packet without
        /// payload.
        handshake: Option<bool>,
        /// Initial slow-start threshold, or `unlimited`.
        initial_ssthresh: Option<Segments>,
        /// Receive window in segments, or in bytes, which are rounded down to whole segments.
        receiver_window: Option<WindowSize>,
        /// Number of duplicate acknowledgements that trigger fast retransmit; `false` turns it off. With `rack_tlp`: DupThresh of RFC 8985,
        /// the number of SACKed segments that detect a loss without a reordering window.
        fast_retransmit: Option<FastRetransmit>; 3,
        /// Send a new segment for each of the first two duplicate acknowledgements (RFC 3042).
        limited_transmit: Option<bool>,
        /// Take a round-trip sample from every acknowledgement (RFC 7323) instead of from one segment at a time.
        timestamps: Option<bool>,
        /// Maximum number of SACK blocks in an acknowledgement.
        sack_blocks: Option<Integer<1, 4>>; 3,
        /// Delayed acknowledgements. `false` acknowledges every segment immediately. `true` uses the preset's values, or every second segment
        /// within 200 ms if the preset has none.
        delayed_ack: Option<DelayedAck>,
        /// Use explicit congestion notification (RFC 3168). Cannot be used with `framing`.
        ecn: Option<bool>,
        /// Pace new data at window / RTT instead of sending it when acknowledgements arrive.
        pacing: Option<bool>,
        /// Validation of a window that the application does not fill. With `linux`, the window grows only while it is used.
        window_validation: Option<Word<WindowValidation>>,
        /// Retransmission timer.
        timer: Timer = Timer::default(),
    }
}

impl Tcp {
    /// Converts settings of the core for a scenario.
    pub(crate) fn of(preset: PresetName, controller: &ControllerSpec, spec: &TcpSpec) -> Tcp {
        let (form, granularity, tick) = match spec.timer.form {
            tcp::TimerForm::Exact { granularity } => (TimerForm::Exact, Some(granularity), None),
            tcp::TimerForm::CoarseNs { tick } => (TimerForm::CoarseNs, None, Some(tick)),
            tcp::TimerForm::CoarseBsd { tick } => (TimerForm::CoarseBsd, None, Some(tick)),
        };
        let timer = Timer {
            form: Some(form),
            granularity: granularity.map(duration),
            tick: tick.map(duration),
            min_rto: Some(duration(spec.timer.min_rto)),
            max_rto: Some(duration(spec.timer.max_rto)),
            initial_rto: Some(duration(spec.timer.initial_rto)),
            newreno_variant: Some(Word(spec.timer.newreno_variant)),
            max_backoff: Some(Integer(spec.timer.max_backoff.into())),
        };
        Tcp {
            preset,
            controller: Some(Controller::of(controller)),
            recovery: Some(Word(spec.recovery)),
            ssthresh_from: Some(Word(spec.ssthresh_from)),
            ack_counting: Some(Word(spec.ack_counting)),
            abc_limit: Some(segments(spec.abc_limit)),
            slow_start: Some(Word(spec.slow_start)),
            mss: Some(Size::new(spec.mss.0)),
            header: Some(Size::new(spec.header.0)),
            ack_size: Some(Size::new(spec.ack_size.0)),
            initial_window: Some(Segments::of(spec.initial_window)),
            handshake: Some(spec.handshake),
            initial_ssthresh: Some(Segments::of(spec.initial_ssthresh)),
            receiver_window: Some(WindowSize::Segments(spec.receiver_window.0)),
            fast_retransmit: Some(spec.fast_retransmit.map_or(FastRetransmit::Off, FastRetransmit::After)),
            limited_transmit: Some(spec.limited_transmit),
            timestamps: Some(spec.timestamps),
            sack_blocks: Some(Integer(spec.sack_blocks.into())),
            delayed_ack: Some(spec.delayed_ack.map_or(DelayedAck::Off, DelayedAck::of)),
            ecn: Some(spec.ecn),
            pacing: Some(spec.pacing),
            window_validation: Some(Word(spec.window_validation)),
            timer,
        }
    }
}

fn segments(count: units::Segments) -> Segments {
    Segments::of(if count == units::Segments::UNLIMITED { f64::INFINITY } else { f64::from(count.0) })
}

fn duration(span: TimeDelta) -> Duration {
    Duration::new(span.0)
}

record! {
    /// Retransmission timer. Default of each setting: the value of the preset.
    pub struct Timer {
        /// Form of the timer.
        form: Option<TimerForm>,
        /// Clock granularity G of RFC 6298 (form `exact`).
        granularity: Option<Duration>,
        /// Length of a tick (forms `coarse_ns` and `coarse_bsd`).
        tick: Option<Duration>,
        /// Minimum timeout. With form `exact` the default granularity is at most this.
        min_rto: Option<Duration>,
        /// Maximum timeout.
        max_rto: Option<Duration>,
        /// Timeout before the first round-trip sample.
        initial_rto: Option<Duration>,
        /// Variant of NewReno: which partial acknowledgements restart the timer.
        newreno_variant: Option<Word<NewRenoVariant>>,
        /// Maximum back-off factor, a power of two.
        max_backoff: Option<Integer<1, 65536>>,
    }
}

/// A window in segments or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowSize {
    Segments(u32),
    Bytes(Size),
}

impl Default for WindowSize {
    fn default() -> WindowSize {
        WindowSize::Segments(1)
    }
}

impl WindowSize {
    /// Maximum number of segments of a window.
    pub(crate) const MAX: u32 = 1 << 30;

    /// Whole segments; `None` if the number is 0 or too large.
    pub(crate) fn segments(self, mss: Bytes) -> Option<units::Segments> {
        match self {
            WindowSize::Segments(count) => Some(units::Segments(count)),
            WindowSize::Bytes(size) => {
                let count = size.bytes() / mss.0;
                (1..=u64::from(WindowSize::MAX)).contains(&count).then_some(units::Segments(count as u32))
            }
        }
    }
}

impl Decode for WindowSize {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<WindowSize> {
        match node {
            Node::Integer(count) if (1..=WindowSize::MAX.into()).contains(count) => Some(WindowSize::Segments(*count as u32)),
            Node::Text(_) => Size::decode(node, decoder).map(WindowSize::Bytes),
            Node::Integer(_) => decoder.invalid_value(node, "is out of range"),
            _ => decoder.invalid_value(node, "is not a window"),
        }
    }

    fn expected() -> String {
        format!("a whole number of segments from 1 to {}, or {}", WindowSize::MAX, Size::expected())
    }
}

impl std::fmt::Display for WindowSize {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WindowSize::Segments(count) => write!(out, "{count}"),
            WindowSize::Bytes(size) => write!(out, "{size}"),
        }
    }
}

impl Serialize for WindowSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            WindowSize::Segments(count) => serializer.serialize_u32(*count),
            WindowSize::Bytes(size) => size.serialize(serializer),
        }
    }
}

impl JsonSchema for WindowSize {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Window".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let size = generator.subschema_for::<Size>();
        let count = json!({"type": "integer", "minimum": 1, "maximum": WindowSize::MAX});
        schemars::json_schema!({"description": WindowSize::expected(), "anyOf": [count, size]})
    }
}

/// The threshold of duplicate acknowledgements, or no fast retransmit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastRetransmit {
    #[default]
    Off,
    After(u32),
}

impl FastRetransmit {
    pub(crate) fn threshold(self) -> Option<u32> {
        match self {
            FastRetransmit::Off => None,
            FastRetransmit::After(duplicates) => Some(duplicates),
        }
    }
}

impl Decode for FastRetransmit {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<FastRetransmit> {
        match node {
            Node::Boolean(false) => Some(FastRetransmit::Off),
            Node::Integer(count @ 1..=1000) => Some(FastRetransmit::After(*count as u32)),
            _ => decoder.invalid_value(node, "is not a number of duplicate acknowledgements"),
        }
    }

    fn expected() -> String {
        "a whole number from 1 to 1000, or false".into()
    }
}

impl Serialize for FastRetransmit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            FastRetransmit::Off => serializer.serialize_bool(false),
            FastRetransmit::After(duplicates) => serializer.serialize_u32(*duplicates),
        }
    }
}

impl JsonSchema for FastRetransmit {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FastRetransmit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": FastRetransmit::expected(),
            "anyOf": [{"type": "integer", "minimum": 1, "maximum": 1000}, {"const": false}],
        })
    }
}

/// Delayed acknowledgements.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum DelayedAck {
    #[default]
    Off,
    AsPreset,
    On(DelayedAckTable),
}

record! {
    /// Delayed acknowledgements (RFC 5681 section 4.2). Defaults: the preset's values, or every second segment within 200 ms if the preset has
    /// none.
    pub struct DelayedAckTable {
        /// Acknowledge at least every N full segments.
        every: Option<Integer<1, 1000>>,
        /// Maximum delay of an acknowledgement after the arrival of the first unacknowledged segment.
        timeout: Option<Duration>,
        /// Number of segments at the start of a flow that are acknowledged one by one.
        quickack_segments: Option<Integer<0, 1_000_000_000>>,
        /// SACK compression: after three immediate acknowledgements above a gap, send one per interval of this length or a third of the
        /// round-trip time, whichever is shorter. 0 s turns it off.
        sack_compression: Option<Duration>,
        /// Acknowledge immediately the first two marked segments since the last window reduction, and segments with CWR.
        ack_ce_immediately: Option<bool>,
    }
}

impl DelayedAck {
    fn of(spec: tcp::DelayedAck) -> DelayedAck {
        DelayedAck::On(DelayedAckTable {
            every: Some(Integer(spec.every.into())),
            timeout: Some(duration(spec.timeout)),
            quickack_segments: Some(Integer(spec.quickack_segments.0.into())),
            sack_compression: Some(duration(spec.sack_compression)),
            ack_ce_immediately: Some(spec.ack_ce_immediately),
        })
    }

    /// Applies these settings to the preset.
    pub(crate) fn spec(&self, preset: Option<tcp::DelayedAck>) -> Option<tcp::DelayedAck> {
        let preset = preset.unwrap_or(tcp::DelayedAck::USUAL);
        match self {
            DelayedAck::Off => None,
            DelayedAck::AsPreset => Some(preset),
            DelayedAck::On(DelayedAckTable { every, timeout, quickack_segments, sack_compression, ack_ce_immediately }) => {
                Some(tcp::DelayedAck {
                    every: every.map_or(preset.every, |every| every.0 as u32),
                    timeout: timeout.map_or(preset.timeout, Duration::time_delta),
                    quickack_segments: quickack_segments
                        .map_or(preset.quickack_segments, |count| units::Segments(count.0 as u32)),
                    sack_compression: sack_compression.map_or(preset.sack_compression, Duration::time_delta),
                    ack_ce_immediately: ack_ce_immediately.unwrap_or(preset.ack_ce_immediately),
                })
            }
        }
    }
}

impl Decode for DelayedAck {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<DelayedAck> {
        match node {
            Node::Boolean(false) => Some(DelayedAck::Off),
            Node::Boolean(true) => Some(DelayedAck::AsPreset),
            Node::Table(_) => DelayedAckTable::decode(node, decoder).map(DelayedAck::On),
            _ => decoder.invalid_value(node, format!("cannot be {}", kind(node))),
        }
    }

    fn expected() -> String {
        "true, false, or a table such as {every = 2, timeout = \"200 ms\"}".into()
    }
}

impl Serialize for DelayedAck {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            DelayedAck::Off => serializer.serialize_bool(false),
            DelayedAck::AsPreset => serializer.serialize_bool(true),
            DelayedAck::On(table) => table.serialize(serializer),
        }
    }
}

impl JsonSchema for DelayedAck {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DelayedAck".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<DelayedAckTable>();
        schemars::json_schema!({"description": DelayedAck::expected(), "anyOf": [json!({"type": "boolean"}), table]})
    }
}
