//! The page of presets, `docs/reference/presets.md`.

use super::{PRESETS, Preset};
use crate::schema::{Controller, Tcp, Timer};
use serde::Serialize;
use serde_json::Value;
use tailback_core::primitives::units::{Segments, TimeDelta};
use tailback_core::tcp::{
    AckCounting, EcnCapable, EcnEcho, NewRenoVariant, Paws, Recovery, ReoWndGrowth, SlowStart, SsthreshFrom, TcpSpec, TimerForm,
    WindowValidation,
};

/// A mechanism that some presets use.
struct Mechanism {
    name: &'static str,
    source: &'static str,
    is_on: fn(&TcpSpec) -> bool,
}

const MECHANISMS: &[Mechanism] = &[
    Mechanism {
        name: "appropriate byte counting",
        source: "RFC 3465, RFC 5681 section 3.1",
        is_on: |spec| spec.ack_counting == AckCounting::Bytes,
    },
    Mechanism {
        name: "byte counting without a limit in slow start",
        source: "observed in Linux 6.18",
        is_on: |spec| spec.abc_limit == Segments::UNLIMITED && spec.ack_counting == AckCounting::Bytes,
    },
    Mechanism {
        name: "exit from slow start before a loss",
        source: "Ha and Rhee 2011, RFC 9406",
        is_on: |spec| spec.slow_start != SlowStart::Standard,
    },
    Mechanism { name: "a SYN opens the connection", source: "RFC 9293 section 3.5", is_on: |spec| spec.handshake },
    Mechanism {
        name: "without a SYN, the connection is established and has the RTT sample of its handshake",
        source: "RFC 6298 section 2, with the SYN as the first sample",
        is_on: |spec| spec.established,
    },
    Mechanism {
        name: "acknowledgements of SYN and FIN, and the FIN of a short transfer, are packets",
        source: "RFC 9293 sections 3.5 and 3.6; observed in Linux 6.12",
        is_on: |spec| spec.bare_segments,
    },
    Mechanism {
        name: "a connection whose first SYN is lost does without ECN",
        source: "RFC 3168 section 6.1.1.1; Linux, `tcp_ecn_fallback`",
        is_on: |spec| spec.ecn_fallback,
    },
    Mechanism {
        name: "one lost SYN does not reduce the initial window",
        source: "observed in Linux 6.18; not RFC 5681 section 3.1",
        is_on: |spec| spec.syn_timeouts_to_reset > 1,
    },
    Mechanism {
        name: "the first timeouts of a SYN are equally long",
        source: "Linux documentation, tcp_syn_linear_timeouts; not RFC 6298 rule 5.5",
        is_on: |spec| spec.syn_linear_timeouts > 0,
    },
    Mechanism { name: "fast retransmit", source: "RFC 5681 section 3.2", is_on: |spec| spec.fast_retransmit.is_some() },
    Mechanism {
        name: "fast recovery",
        source: "RFC 5681 section 3.2",
        is_on: |spec| spec.fast_retransmit.is_some() && spec.recovery != Recovery::Tahoe,
    },
    Mechanism {
        name: "fast recovery continues after partial acknowledgements",
        source: "RFC 6582",
        is_on: |spec| !matches!(spec.recovery, Recovery::Tahoe | Recovery::Reno),
    },
    Mechanism { name: "limited transmit", source: "RFC 3042", is_on: |spec| spec.limited_transmit },
    Mechanism { name: "SACK", source: "RFC 2018", is_on: |spec| spec.recovery.uses_sack() },
    Mechanism { name: "loss detection by SACKed segments", source: "RFC 6675", is_on: |spec| spec.recovery == Recovery::Sack },
    Mechanism { name: "loss detection by time (RACK), also for retransmissions", source: "RFC 8985 section 6", is_on: by_time },
    Mechanism { name: "tail loss probe", source: "RFC 8985 section 7", is_on: by_time },
    Mechanism {
        name: "timers expire on ticks of 4 ms, long ones on coarser ticks, and probes and reordering timers 2 ms later",
        source: "Linux, timer wheel, `TCP_TIMEOUT_MIN_US` and HZ 250",
        is_on: |spec| spec.timer.jiffy > TimeDelta::ZERO,
    },
    Mechanism {
        name: "the timers of a paced sender start when it may send again",
        source: "Linux 5.1, observed in 6.18: after paced retransmissions the RTO is longer by the pacing delay",
        is_on: |spec| spec.timer.after_pacing,
    },
    Mechanism {
        name: "the first ten segments are not paced, and a late segment shortens the next gap",
        source: "Linux, pacing within TCP; observed in 6.12",
        is_on: |spec| spec.pacing_credit,
    },
    Mechanism { name: "proportional rate reduction (PRR)", source: "RFC 9937", is_on: by_time },
    Mechanism { name: "duplicate SACK (DSACK)", source: "RFC 2883", is_on: by_time },
    Mechanism {
        name: "a DSACK widens RACK's reordering window only after reordering",
        source: "observed in Linux 6.18; not RFC 8985 section 6.2",
        is_on: |spec| spec.reo_wnd_growth == ReoWndGrowth::AfterReordering,
    },
    Mechanism {
        name: "DSACKs beyond the number of retransmissions are ignored, and the others count as deliveries",
        source: "Linux 5.10 and later; observed in 6.1 and 6.12",
        is_on: |spec| spec.limit_dsacks,
    },
    Mechanism {
        name: "an acknowledgement that advances and SACKs measures RACK's RTT by the segment below",
        source: "observed in Linux 6.12; RFC 8985 section 6.2 leaves the order open",
        is_on: |spec| spec.cumulative_rack_rtt,
    },
    Mechanism {
        name: "whether a retransmission has arrived is decided by the minimum RTT, which includes that of the handshake",
        source: "observed in Linux 6.12; half of RFC 8985 section 6.2 step 2",
        is_on: |spec| spec.retransmissions_by_min_rtt,
    },
    Mechanism { name: "SACK information is kept after a timeout", source: "RFC 8985 section 6.3", is_on: by_time },
    Mechanism { name: "F-RTO", source: "RFC 5682 section 3.1", is_on: by_time },
    Mechanism {
        name: "F-RTO after repeated timeouts",
        source: "observed in Linux 6.12; RFC 5682 section 3.1 step 1 excludes it",
        is_on: |spec| spec.f_rto_repeats,
    },
    Mechanism {
        name: "a retransmission lost after a timeout begins a fast recovery with another reduction",
        source: "observed in Linux 6.12",
        is_on: |spec| spec.fast_recovery_after_timeout,
    },
    Mechanism {
        name: "a timeout during a fast recovery keeps ssthresh",
        source: "Linux, `tcp_enter_loss`",
        is_on: |spec| spec.timeout_keeps_reduction,
    },
    Mechanism {
        name: "new data after a tail loss probe brings back the timeout of the oldest segment",
        source: "observed in Linux 6.12",
        is_on: |spec| spec.new_data_ends_probe,
    },
    Mechanism {
        name: "a write that finds nothing unsent begins an application-limited phase of the delivery rate, not the end of the data",
        source: "observed in Linux 6.12",
        is_on: |spec| spec.window_validation == WindowValidation::Linux,
    },
    Mechanism { name: "unnecessary reductions are undone", source: "RFC 3522, RFC 3708, RFC 9438 section 4.9", is_on: by_time },
    Mechanism {
        name: "the acknowledgement that ends recovery opens the window",
        source: "observed in Linux 6.18",
        is_on: by_time,
    },
    Mechanism {
        name: "slow-start threshold from the flight size, not from the window",
        source: "RFC 5681 equation (4)",
        is_on: |spec| spec.ssthresh_from == SsthreshFrom::FlightSize,
    },
    Mechanism {
        name: "segments with old timestamps are discarded (PAWS)",
        source: "RFC 7323 section 5; one tick is accepted as in Linux",
        is_on: |spec| spec.paws != Paws::Off,
    },
    Mechanism { name: "delayed acknowledgements", source: "RFC 5681 section 4.2", is_on: |spec| spec.delayed_ack.is_some() },
    Mechanism {
        name: "the first segments are acknowledged one by one",
        source: "observed in Linux 6.18",
        is_on: |spec| spec.delayed_ack.is_some_and(|rule| rule.quickack_segments > Segments(0)),
    },
    Mechanism {
        name: "segments from a duplicate on are acknowledged one by one",
        source: "observed in Linux 6.12",
        is_on: |spec| spec.delayed_ack.is_some_and(|rule| rule.quickacks_after_duplicate > 0),
    },
    Mechanism {
        name: "the last segment of a write is acknowledged immediately",
        source: "observed in Linux 6.1, 6.12 and 6.18",
        is_on: |spec| spec.delayed_ack.is_some_and(|rule| rule.ack_pushed),
    },
    Mechanism {
        name: "SACK compression",
        source: "Linux, `tcp_comp_sack_delay_ns`",
        is_on: |spec| spec.delayed_ack.is_some_and(|rule| rule.sack_compression > TimeDelta::ZERO),
    },
    Mechanism {
        name: "ECN marks, window reductions and segments without ECN are acknowledged immediately",
        source: "observed in Linux 6.12 and 6.18",
        is_on: |spec| spec.delayed_ack.is_some_and(|rule| rule.ack_ce_immediately),
    },
    Mechanism {
        name: "each change between marked and unmarked segments is acknowledged",
        source: "RFC 8257 section 3.2; Linux",
        is_on: |spec| spec.ecn && spec.ecn_echo == EcnEcho::Rfc8257,
    },
    Mechanism {
        name: "all packets are ECN-capable, not only new data",
        source: "RFC 8257 section 3.6; Linux",
        is_on: |spec| spec.ecn && spec.ecn_capable == EcnCapable::All,
    },
    Mechanism {
        name: "an unused window does not grow",
        source: "RFC 7661; observed in Linux",
        is_on: |spec| matches!(spec.window_validation, WindowValidation::Rfc7661 | WindowValidation::Linux),
    },
    Mechanism {
        name: "the window shrinks while the flow is idle",
        source: "RFC 5681 section 4.1, RFC 2861; after five minutes RFC 7661",
        is_on: |spec| spec.window_validation != WindowValidation::None,
    },
    Mechanism {
        name: "each partial acknowledgement restarts the timer",
        source: "RFC 6582 section 4",
        is_on: |spec| spec.timer.newreno_variant == NewRenoVariant::SlowButSteady || by_time(spec),
    },
    Mechanism {
        name: "timer without ticks",
        source: "RFC 6298",
        is_on: |spec| matches!(spec.timer.form, TimerForm::Exact { .. }),
    },
];

fn by_time(spec: &TcpSpec) -> bool {
    spec.recovery.is_by_time()
}

/// Every setting of every preset, as a page in Markdown.
pub fn presets_markdown() -> String {
    let mut page = String::from(
        "# Presets\n\n`tcp = {preset = \"newreno\"}` takes all settings from a preset; other keys replace individual settings. Plain names follow the RFCs, `linux/*` follow Linux, `datacentre/*` suit networks with short round trips, and the others follow the document in their name.\n\n",
    );
    let mut line = |text: String| {
        page.push_str(&text);
        page.push('\n');
    };
    for preset in PRESETS {
        line(format!("* `{}`: {}.", preset.name.word(), preset.source));
    }
    let columns = columns();
    let names = columns.iter().map(|column| column.names.join(", ")).collect::<Vec<_>>().join(" | ");
    line("\nPresets that differ only in their controllers share a column of the tables below.".into());
    line(format!("\n## Mechanisms\n\n| Mechanism | Source | {names} |\n|---|---|{}", "---|".repeat(columns.len())));
    for mechanism in MECHANISMS {
        let marks = columns.iter().map(|column| if (mechanism.is_on)(&column.spec) { "on" } else { "" });
        line(format!("| {} | {} |{}", mechanism.name, mechanism.source, cells(marks)));
    }
    line(
        "\nObservations of Linux without a version are of 6.18.44 at 250 Hz, by [`tailback validate`](../evidence/validation.md) and captures. Other versions \
         differ: before 6.5 all timeouts of a SYN double, from 5.16 to 6.13 HyStart's rounds begin only at 16 segments (not in the stable 6.1.192 and 6.12.117), before 5.6 its trains end without the allowance for bursts and \
         pacing, before 4.18 there is no SACK compression, before 4.9 no BBR, and before 4.4 no RACK. The pacing of its `fq` is not \
         modelled: twice the window per round trip in slow start, 1.2 times later. `pacing = true` sends one window per round trip. Buffers are \
         not modelled either: the receive window of Linux grows with the transfer, which holds back slow start in 6.12 (0.44 s instead of 0.34 s \
         for 3000 segments at 40 ms), and a send buffer of 4 MiB holds about 2 MB of single segments. `receiver_window` bounds the data in \
         flight. The window of a SYN is at most 64 KiB, so that with an MTU of 9000 the first flight of 6.12 has 7 segments, not 10. In 6.12 with \
         a `tcp_rmem` of 6 MB from the start, as `tailback validate` sets it, 373 segments are acknowledged one by one, and in 7.2 `sack_compression_percent` is 33."
            .into(),
    );
    line("\n## Controllers\n\n| Preset | `controller` |\n|---|---|".into());
    for preset in PRESETS {
        line(format!("| `{}` | {} |", preset.name.word(), shown(Some(Controller::of(&preset.controller)))));
    }
    line("\nTailback has no counterpart of the congestion modules `cdg`, `nv` and `lp`. The stack `linux` runs them.".into());
    line(format!("\n## Settings\n\n| Setting | {names} |\n|---|{}", "---|".repeat(columns.len())));
    for (row, (name, _)) in columns[0].settings.iter().enumerate() {
        let values: Vec<&str> = columns.iter().map(|column| column.settings[row].1.as_str()).collect();
        let changes = values.iter().enumerate().map(|(place, &value)| {
            let is_same = place > 0 && values[place - 1] == value;
            if is_same { "" } else { value }
        });
        line(format!("| `{name}` |{}", cells(changes)));
    }
    line("\nAn empty cell has the value to its left. In coarse presets `min_rto` is two ticks and changes with `tick`. Windows are in segments. In a scenario, `off` is `false` and `on` is `true`.".into());
    page
}

/// The cells of a row behind its first ones.
fn cells<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.map(|text| if text.is_empty() { "|".into() } else { format!(" {text} |") }).collect()
}

/// Presets with the same settings except for their controllers.
struct Column {
    names: Vec<String>,
    spec: TcpSpec,
    settings: Vec<(String, String)>,
}

fn columns() -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for preset in PRESETS {
        let (name, spec) = (format!("`{}`", preset.name.word()), (preset.spec)(None));
        match columns.iter_mut().find(|column| column.spec == spec) {
            Some(column) => column.names.push(name),
            None => columns.push(Column { names: vec![name], settings: settings(preset, &spec), spec }),
        }
    }
    columns
}

/// Settings of a preset as in a scenario, without its controller.
fn settings(preset: &Preset, spec: &TcpSpec) -> Vec<(String, String)> {
    let Tcp { preset: _, controller: _, settings, delayed_ack, timer } = Tcp::of(preset.name, &preset.controller, spec);
    let mut rows: Vec<(String, String)> = Vec::new();
    rows.extend(settings.entries().map(|(key, value)| (key.to_string(), shown(Some(value)))));
    rows.push(("delayed_ack".into(), shown(delayed_ack)));
    let Timer { form, granularity, tick, settings } = timer;
    let of_form = [("form", shown(form)), ("granularity", shown(granularity)), ("tick", shown(tick))];
    let of_timer = of_form.into_iter().chain(settings.entries().map(|(key, value)| (key, shown(Some(value)))));
    rows.extend(of_timer.map(|(key, value)| (format!("timer.{key}"), value)));
    rows
}

/// A setting as text for the page.
fn shown(setting: Option<impl Serialize>) -> String {
    match serde_json::to_value(setting).unwrap_or_default() {
        Value::Null => "none".into(),
        Value::Bool(true) => "on".into(),
        Value::Bool(false) => "off".into(),
        Value::String(text) => text,
        Value::Number(number) => number.as_f64().unwrap_or_default().to_string(),
        Value::Object(mut law) if law.contains_key("kind") => {
            let name = shown(law.remove("kind"));
            law.into_iter().fold(name, |text, (key, value)| format!("{text}, {key} {}", shown(Some(value))))
        }
        Value::Object(ack) => {
            let [every, timeout, at_once, sacks] =
                ["every", "timeout", "quickack_segments", "sack_compression"].map(|key| shown(ack.get(key)));
            let first = if at_once == "0" { String::new() } else { format!(", the first {at_once} immediately") };
            let [percent, late, duplicate] = ["sack_compression_percent", "sack_compression_slack", "quickacks_after_duplicate"]
                .map(|key| shown(ack.get(key)));
            let late = if late == "0 ms" { String::new() } else { format!(" and {late} later") };
            let above = match sacks.as_str() {
                "0 ms" => String::new(),
                sacks => format!(", above a gap within {sacks} or {percent} % of the RTT{late}"),
            };
            let duplicates =
                if duplicate == "0" { String::new() } else { format!(", {duplicate} from a duplicate on immediately") };
            let pushed = if ack.get("ack_pushed") == Some(&Value::Bool(true)) { ", pushed ones immediately" } else { "" };
            let marks = if ack.get("ack_ce_immediately") == Some(&Value::Bool(true)) { ", marks immediately" } else { "" };
            format!("every {every}, within {timeout}{first}{above}{duplicates}{pushed}{marks}")
        }
        list @ Value::Array(_) => list.to_string(),
    }
}
