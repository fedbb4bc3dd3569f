//! `tcp = {preset = ..., ...}`: a preset and settings that replace its values.

use super::controller::Controller;
use crate::decode::{Decode, Decoder, kind};
use crate::preset_settings::PresetSettings;
use crate::quantity::Duration;
use crate::record::{record, words};
use crate::tree::Node;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::json;
use tailback_core::congestion::ControllerSpec;
use tailback_core::primitives::units::TimeDelta;
use tailback_core::tcp::{self, TcpSpec, TimerSpec};

words! {
    /// Named settings. Plain names follow the RFCs, `linux/*` follow Linux, `datacentre/*` suit networks with short round trips, the others
    /// follow the document in their name.
    pub enum PresetName ("preset") {
        NewReno = "newreno",
        Reno = "reno",
        Sack = "sack",
        Tahoe = "tahoe",
        Cubic = "cubic",
        LinuxReno = "linux/reno",
        LinuxCubic = "linux/cubic",
        LinuxBbr = "linux/bbr",
        LinuxDctcp = "linux/dctcp",
        LinuxBic = "linux/bic",
        LinuxHighspeed = "linux/highspeed",
        LinuxHtcp = "linux/htcp",
        LinuxHybla = "linux/hybla",
        LinuxIllinois = "linux/illinois",
        LinuxScalable = "linux/scalable",
        LinuxVegas = "linux/vegas",
        LinuxVeno = "linux/veno",
        LinuxWestwood = "linux/westwood",
        LinuxYeah = "linux/yeah",
        DatacentreSwift = "datacentre/swift",
        DatacentreTimely = "datacentre/timely",
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
        /// Delayed acknowledgements. `false` acknowledges every segment immediately. `true` uses the preset's values, or every second segment
        /// within 200 ms if the preset has none.
        delayed_ack: Option<DelayedAck>,
        /// Retransmission timer.
        timer: Timer = Timer::default(),
    }
    with
    /// All other settings.
    settings: PresetSettings<TcpSpec>
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
            settings: PresetSettings::of(&spec.timer),
        };
        Tcp {
            preset,
            controller: Some(Controller::of(controller)),
            delayed_ack: Some(spec.delayed_ack.map_or(DelayedAck::Off, DelayedAck::of)),
            timer,
            settings: PresetSettings::of(spec),
        }
    }
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
    }
    with
    /// All other settings.
    settings: PresetSettings<TimerSpec>
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
    pub struct DelayedAckTable {}
    with
    /// All settings.
    settings: PresetSettings<tcp::DelayedAck>
}

impl DelayedAck {
    fn of(spec: tcp::DelayedAck) -> DelayedAck {
        DelayedAck::On(DelayedAckTable { settings: PresetSettings::of(&spec) })
    }

    /// Applies these settings to the preset.
    pub(crate) fn spec(&self, preset: Option<tcp::DelayedAck>) -> Option<tcp::DelayedAck> {
        let mut spec = preset.unwrap_or_default();
        match self {
            DelayedAck::Off => return None,
            DelayedAck::AsPreset => {}
            DelayedAck::On(table) => table.settings.replace(&mut spec),
        }
        Some(spec)
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
