//! `tcp = {preset = ..., ...}`: a preset and what to change in it.

use super::controller::Controller;
use crate::decode::{Decode, Decoder, kind};
use crate::quantity::{Duration, Segments, Size};
use crate::record::{record, words};
use crate::tree::Node;
use crate::values::{Whole, Word};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::json;
use tailback_core::congestion::ControllerSpec;
use tailback_core::primitives::units::{self, Bytes, Span};
use tailback_core::tcp::{self, AckCounting, NewRenoVariant, Recovery, SlowStart, SsthreshFrom, TcpSpec, WindowValidation};

words! {
    /// Named settings. Plain names follow the RFCs, `linux/*` what Linux does, the others the document they name.
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
    /// How the retransmission timer counts.
    pub enum TimerForm ("form of timer") {
        /// RFC 6298 with a clock granularity.
        Exact = "exact",
        /// Whole ticks; fires exactly one timeout after it is set.
        CoarseNs = "coarse_ns",
        /// Whole ticks; fires on a tick of a free-running clock.
        CoarseBsd = "coarse_bsd",
    }
}

record! {
    /// A TCP: a preset, and settings that differ from it. Windows are counted in segments.
    pub struct Tcp {
        /// Supplies all settings that are not given.
        preset: PresetName,
        /// Control law of the window. It replaces the preset's with all its settings.
        controller: Option<Controller>,
        /// How losses are found and repaired.
        recovery: Option<Word<Recovery>>,
        /// The quantity whose half becomes the slow-start threshold when a segment is lost.
        ssthresh_from: Option<Word<SsthreshFrom>>,
        /// What of an acknowledgement opens the window.
        ack_counting: Option<Word<AckCounting>>,
        /// Segments for which an acknowledgement opens the window in slow start, at most (L of RFC 3465); `unlimited` is all that
        /// it acknowledges. Only with `ack_counting = "bytes"`. With `slow_start = "hystart++"` it is 8 unless given, and `unlimited`
        /// with `pacing` (L of RFC 9406).
        abc_limit: Option<Segments>,
        /// What ends slow start before a loss does. All but `standard` need `timestamps = true`. Of the preset only with a controller whose slow
        /// start can be ended: Vegas, FAST and a user's have a start of their own.
        slow_start: Option<Word<SlowStart>>,
        /// Payload of a full segment, 1 B to 1 MB.
        mss: Option<Size>,
        /// Headers of each data segment on the wire, 0 B to 1 kB.
        header: Option<Size>; "40 B",
        /// Size of an acknowledgement on the wire, 1 B to 1 kB.
        ack_size: Option<Size>; "40 B",
        /// Congestion window at the start.
        initial_window: Option<Segments>; 10,
        /// Open a connection before data is sent (RFC 9293): a SYN of the size of a `header`, and data once it is acknowledged. It counts as a
        /// packet without payload.
        handshake: Option<bool>,
        /// Slow-start threshold at the start; `unlimited` is arbitrarily high.
        initial_ssthresh: Option<Segments>,
        /// Receiver's window: segments, or bytes, rounded down to whole segments.
        receiver_window: Option<Window>,
        /// Duplicate acknowledgements that start a fast retransmit; `false` leaves all repair to the timer. With `rack_tlp`, whose losses are
        /// found by time, DupThresh of RFC 8985: so many segments SACKed find one without waiting for reordering.
        fast_retransmit: Option<FastRetransmit>; 3,
        /// Send a new segment for each of the first two duplicate acknowledgements (RFC 3042).
        limited_transmit: Option<bool>,
        /// A round-trip sample from every acknowledgement (as with RFC 7323) instead of from one segment at a time.
        timestamps: Option<bool>,
        /// SACK blocks that an acknowledgement can carry.
        sack_blocks: Option<Whole<1, 4>>; 3,
        /// Delayed acknowledgements; `false` acknowledges every segment at once, `true` delays as the preset does, or every second one within
        /// 200 ms if it does not.
        delayed_ack: Option<DelayedAck>,
        /// Explicit congestion notification (RFC 3168): policies that can mark need not discard. Not with `framing`.
        ecn: Option<bool>,
        /// Spread new data at window / RTT instead of sending when acknowledgements arrive.
        pacing: Option<bool>,
        /// What becomes of a window that its `application` does not fill. By `linux` the window of any flow opens only if it is used.
        window_validation: Option<Word<WindowValidation>>,
        /// Retransmission timer.
        timer: Timer = Timer::default(),
    }
}

impl Tcp {
    /// Every setting that the core takes, as a scenario writes it.
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
            max_backoff: Some(Whole(spec.timer.max_backoff.into())),
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
            receiver_window: Some(Window::Segments(spec.receiver_window.0)),
            fast_retransmit: Some(spec.fast_retransmit.map_or(FastRetransmit::Off, FastRetransmit::After)),
            limited_transmit: Some(spec.limited_transmit),
            timestamps: Some(spec.timestamps),
            sack_blocks: Some(Whole(spec.sack_blocks.into())),
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

fn duration(span: Span) -> Duration {
    Duration::new(span.0)
}

record! {
    /// Settings of the retransmission timer that differ from the preset's.
    pub struct Timer {
        /// How it counts.
        form: Option<TimerForm>,
        /// Clock granularity G of RFC 6298 (form `exact`).
        granularity: Option<Duration>,
        /// Length of a tick (coarse forms).
        tick: Option<Duration>,
        /// Shortest timeout. With form `exact` the granularity becomes no longer than it, unless it is given.
        min_rto: Option<Duration>,
        /// Longest timeout.
        max_rto: Option<Duration>,
        /// Timeout before the first round-trip sample.
        initial_rto: Option<Duration>,
        /// Which partial acknowledgements restart it.
        newreno_variant: Option<Word<NewRenoVariant>>,
        /// Largest back-off factor, a power of two.
        max_backoff: Option<Whole<1, 65536>>,
    }
}

/// A window: segments, or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    Segments(u32),
    Bytes(Size),
}

impl Default for Window {
    fn default() -> Window {
        Window::Segments(1)
    }
}

impl Window {
    /// The most segments that a window may have.
    pub(crate) const MOST: u32 = 1 << 30;

    /// Whole segments; `None` if these are none or too many.
    pub(crate) fn segments(self, mss: Bytes) -> Option<units::Segments> {
        match self {
            Window::Segments(count) => Some(units::Segments(count)),
            Window::Bytes(size) => {
                let count = size.bytes() / mss.0;
                (1..=u64::from(Window::MOST)).contains(&count).then_some(units::Segments(count as u32))
            }
        }
    }
}

impl Decode for Window {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Window> {
        match node {
            Node::Integer(count) if (1..=Window::MOST.into()).contains(count) => Some(Window::Segments(*count as u32)),
            Node::Text(_) => Size::decode(node, decoder).map(Window::Bytes),
            Node::Integer(_) => decoder.misfit(node, "is out of range"),
            _ => decoder.misfit(node, "is not a window"),
        }
    }

    fn expected() -> String {
        format!("a whole number of segments from 1 to {}, or a size such as `64 KiB`", Window::MOST)
    }
}

impl std::fmt::Display for Window {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Window::Segments(count) => write!(out, "{count}"),
            Window::Bytes(size) => write!(out, "{size}"),
        }
    }
}

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Window::Segments(count) => serializer.serialize_u32(*count),
            Window::Bytes(size) => size.serialize(serializer),
        }
    }
}

impl JsonSchema for Window {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Window".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let size = generator.subschema_for::<Size>();
        let count = json!({"type": "integer", "minimum": 1, "maximum": Window::MOST});
        schemars::json_schema!({"description": Window::expected(), "anyOf": [count, size]})
    }
}

/// The threshold of duplicate acknowledgements, or none.
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
            _ => decoder.misfit(node, "is not a number of duplicate acknowledgements"),
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

/// Whether and how acknowledgements wait.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum DelayedAck {
    #[default]
    Off,
    AsPreset,
    On(DelayedAckTable),
}

record! {
    /// Delayed acknowledgements (RFC 5681 section 4.2), as far as they differ from the preset's, or from every second segment within 200 ms if it
    /// has none.
    pub struct DelayedAckTable {
        /// Acknowledge at least once per this many full segments.
        every: Option<Whole<1, 1000>>,
        /// Acknowledge at most this long after the first unacknowledged segment arrived.
        timeout: Option<Duration>,
        /// So many segments, the flow's first, are acknowledged one by one.
        quickack_segments: Option<Whole<0, 1_000_000_000>>,
        /// With SACK, above a gap, after three acknowledgements at once, one for all that arrives within this time, or a third of a round trip if that
        /// is less; 0 s for one each.
        sack_compression: Option<Duration>,
        /// The first marked segment since the sender last reduced its window, the next, and one that tells of a reduction are acknowledged at once.
        ack_ce_immediately: Option<bool>,
    }
}

impl DelayedAck {
    fn of(spec: tcp::DelayedAck) -> DelayedAck {
        DelayedAck::On(DelayedAckTable {
            every: Some(Whole(spec.every.into())),
            timeout: Some(duration(spec.timeout)),
            quickack_segments: Some(Whole(spec.quickack_segments.0.into())),
            sack_compression: Some(duration(spec.sack_compression)),
            ack_ce_immediately: Some(spec.ack_ce_immediately),
        })
    }

    /// `preset`: the rule that this one changes.
    pub(crate) fn spec(&self, preset: Option<tcp::DelayedAck>) -> Option<tcp::DelayedAck> {
        let preset = preset.unwrap_or(tcp::DelayedAck::USUAL);
        match self {
            DelayedAck::Off => None,
            DelayedAck::AsPreset => Some(preset),
            DelayedAck::On(DelayedAckTable { every, timeout, quickack_segments, sack_compression, ack_ce_immediately }) => {
                Some(tcp::DelayedAck {
                    every: every.map_or(preset.every, |every| every.0 as u32),
                    timeout: timeout.map_or(preset.timeout, Duration::span),
                    quickack_segments: quickack_segments
                        .map_or(preset.quickack_segments, |count| units::Segments(count.0 as u32)),
                    sack_compression: sack_compression.map_or(preset.sack_compression, Duration::span),
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
            _ => decoder.misfit(node, format!("cannot be {}", kind(node))),
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
