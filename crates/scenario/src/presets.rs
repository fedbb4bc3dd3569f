//! TCP presets. `docs/reference/presets.md` is [`presets_markdown`].

use crate::schema::{PresetName, Tcp, Timer};
use serde::Serialize;
use serde_json::Value;
use tailback_core::congestion::{Bbr1Edition, Bbr1Spec, ControllerSpec, CubicSpec, DctcpSpec, Steps, SwiftSpec, TimelySpec};
use tailback_core::primitives::units::{Bytes, Rate, Segments, TimeDelta};
use tailback_core::tcp::{
    AckCounting, DelayedAck, EcnCapable, NewRenoVariant, Paws, Recovery, ReoWndGrowth, SlowStart, SsthreshFrom, TcpSpec,
    TimerForm, TimerSpec, WindowValidation,
};

/// A TCP preset with the sources of its settings.
pub struct Preset {
    pub name: PresetName,
    pub source: &'static str,
    pub controller: ControllerSpec,
    /// The settings, with the given tick or the preset's own. Presets with an exact timer ignore the tick.
    pub spec: fn(tick: Option<TimeDelta>) -> TcpSpec,
    /// Maximum random delay of packets at the sender, unless the flows have a `jitter`.
    pub jitter: TimeDelta,
    /// Whether the clocks of hosts that send cells are exact, as in the documents' simulators.
    pub exact_clocks: bool,
}

/// 100 ns: hosts are not locked in phase, even if their links have the same rate, and otherwise picoseconds would decide the shares of flows.
const HOST_JITTER: TimeDelta = TimeDelta(100_000);

/// All presets, the plain names first.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: PresetName::Tahoe,
        source: "RFC 5681 without fast recovery: the third duplicate acknowledgement triggers slow start from one segment",
        controller: ControllerSpec::Reno(()),
        spec: |_| modern(Recovery::Tahoe),
        jitter: TimeDelta::ZERO,
        exact_clocks: false,
    },
    Preset {
        name: PresetName::Reno,
        source: "RFC 5681",
        controller: ControllerSpec::Reno(()),
        spec: |_| modern(Recovery::Reno),
        jitter: TimeDelta::ZERO,
        exact_clocks: false,
    },
    Preset {
        name: PresetName::NewReno,
        source: "RFC 5681 and RFC 6582",
        controller: ControllerSpec::Reno(()),
        spec: |_| modern(Recovery::NewReno),
        jitter: TimeDelta::ZERO,
        exact_clocks: false,
    },
    Preset {
        name: PresetName::Sack,
        source: "RFC 5681, RFC 2018 and RFC 6675",
        controller: ControllerSpec::Reno(()),
        spec: |_| modern(Recovery::Sack),
        jitter: TimeDelta::ZERO,
        exact_clocks: false,
    },
    Preset {
        name: PresetName::Cubic,
        source: "RFC 9438 with the slow start of RFC 5681, RFC 2018 and RFC 6675",
        controller: ControllerSpec::Cubic(CubicSpec { fast_convergence: true, steps: Steps::Fractions }),
        spec: |_| modern(Recovery::Sack),
        jitter: TimeDelta::ZERO,
        exact_clocks: false,
    },
    Preset {
        name: PresetName::LinuxReno,
        source: "Reno as in Linux 6.18: RFC 8985, RFC 9937 and RFC 3465 without its limit, a minimum timeout of 200 ms",
        controller: ControllerSpec::Reno(()),
        spec: |_| linux(),
        jitter: HOST_JITTER,
        exact_clocks: false,
    },
    Preset {
        name: PresetName::LinuxCubic,
        source: "CUBIC as in Linux 6.18, its default: in whole segments, with HyStart, otherwise as linux/reno",
        controller: ControllerSpec::Cubic(CubicSpec { fast_convergence: true, steps: Steps::WholeSegments }),
        spec: |_| TcpSpec { slow_start: SlowStart::HyStart, ..linux() },
        jitter: HOST_JITTER,
        exact_clocks: false,
    },
    Preset {
        name: PresetName::LinuxBbr,
        source: "BBR version 1 as in Linux 6.18: paced 1 % below the delivery rate, with detection of policers, an allowance for aggregated \
                 acknowledgements and Linux's limits on data in flight, otherwise as linux/reno, without RFC 9937, which does not apply to BBR",
        controller: ControllerSpec::Bbr1(Bbr1Spec {
            cwnd_gain: 2.0,
            btlbw_filter_len: 10,
            rtprop_filter_len: TimeDelta::from_millis(10_000),
            probe_rtt_duration: TimeDelta::from_millis(200),
            pacing_margin: 0.01,
            policer_detection: true,
            ack_aggregation: true,
            edition: Bbr1Edition::Linux,
        }),
        spec: |_| linux(),
        jitter: HOST_JITTER,
        exact_clocks: false,
    },
    Preset {
        name: PresetName::LinuxDctcp,
        source: "DCTCP as in Linux 6.18, RFC 8257: ECN, also in control packets, otherwise as linux/reno",
        controller: ControllerSpec::Dctcp(DctcpSpec { gain: 0.0625, initial_alpha: 1.0, steps: Steps::WholeSegments }),
        spec: |_| TcpSpec { ecn: true, ecn_capable: EcnCapable::All, ..linux() },
        jitter: HOST_JITTER,
        exact_clocks: false,
    },
    Preset {
        name: PresetName::DatacentreSwift,
        source: "Kumar and others, SIGCOMM 2020, for base RTTs up to 100 us: every segment is acknowledged at once, and a minimum timeout of 1 ms (Vasudevan and others, SIGCOMM 2009)",
        controller: ControllerSpec::Swift(SwiftSpec {
            base_target: TimeDelta::from_micros(100),
            hop_delay: TimeDelta::from_micros(1),
            fs_range: TimeDelta::from_micros(100),
            fs_min_cwnd: 0.1,
            fs_max_cwnd: 100.0,
            additive_increase: 1.0,
            decrease: 0.8,
            max_mdf: 0.5,
            min_cwnd: 0.001,
            max_cwnd: 10_000.0,
            retx_reset_threshold: 5,
        }),
        spec: |_| datacentre(),
        jitter: HOST_JITTER,
        exact_clocks: false,
    },
    Preset {
        name: PresetName::DatacentreTimely,
        source: "Mittal and others, SIGCOMM 2015, for base RTTs below 500 us and hosts with 10 Gbit/s, otherwise as datacentre/swift",
        controller: ControllerSpec::Timely(TimelySpec {
            t_low: TimeDelta::from_micros(50),
            t_high: TimeDelta::from_micros(500),
            additive_step: Rate(10_000_000),
            decrease: 0.8,
            weight: 0.02,
            min_rtt: TimeDelta::from_micros(20),
            hai_threshold: 5,
            hai_factor: 5,
            segment: 64_000,
            max_rate: Rate(10_000_000_000),
            min_rate: Rate(1_000_000),
            initial_rate: None,
            max_outstanding: 1_000_000,
        }),
        spec: |_| datacentre(),
        jitter: HOST_JITTER,
        exact_clocks: false,
    },
    Preset {
        name: PresetName::BpdReno,
        source: "bpd-2001 sections 2.1 and 3: MSS 536, window 64 KB = 122 segments, an acknowledgement per segment. The tick is not \
                 given: 0.1 s matches the document's counts of timeouts and traces, 0.3 s its goodput",
        controller: ControllerSpec::Reno(()),
        spec: |tick| bpd(Recovery::Reno, tick),
        jitter: TimeDelta::ZERO,
        exact_clocks: true,
    },
    Preset {
        name: PresetName::BpdSack,
        source: "bpd-2001 section 6.1: as bpd-2001/reno, with the document's pipe rules",
        controller: ControllerSpec::Reno(()),
        spec: |tick| bpd(Recovery::BpdSack, tick),
        jitter: TimeDelta::ZERO,
        exact_clocks: true,
    },
    Preset {
        name: PresetName::SpdTahoe,
        source: "spd-1998 sections 2.1 and 4.1: packets of 1024 octets, window 64 KB = 64 segments, loss detected by the timer. Tick and fast retransmit are not given: 0.5 s is the usual coarse clock, and the document's numbers are reproduced without fast retransmit",
        controller: ControllerSpec::Reno(()),
        spec: |tick| TcpSpec {
            fast_retransmit: None,
            ..coarse(Recovery::Tahoe, Bytes(1024), Segments(64), tick.unwrap_or(TimeDelta::from_millis(500)))
        },
        jitter: TimeDelta::ZERO,
        exact_clocks: true,
    },
];

/// The preset of that name.
pub(crate) fn preset(name: PresetName) -> &'static Preset {
    match PRESETS.iter().find(|preset| preset.name == name) {
        Some(preset) => preset,
        // A test checks that every name is in the list.
        None => unreachable!("no preset is named {name:?}"),
    }
}

/// Settings of current RFCs, for all plain names.
fn modern(recovery: Recovery) -> TcpSpec {
    TcpSpec { recovery, ..TcpSpec::default() }
}

/// Settings of current Linux, from RFCs, documents and observation.
fn linux() -> TcpSpec {
    TcpSpec {
        // Reno and CUBIC reduce the window, not the flight size.
        ssthresh_from: SsthreshFrom::Window,
        // With a timestamp option, 12 bytes with its padding.
        mss: Bytes(1448),
        header: Bytes(52),
        ack_size: Bytes(52),
        timestamps: true,
        paws: Paws::Linux,
        reo_wnd_growth: ReoWndGrowth::AfterReordering,
        limit_dsacks: true,
        cumulative_rack_rtt: true,
        retransmissions_by_min_rtt: true,
        // An acknowledgement of one segment is delayed by 40 ms. Each growth of the receive window permits another immediate one: with the
        // default `tcp_rmem`, at 20 Mbit/s and 40 ms, about 190 segments with Linux 6.18.44, 235 with 6.12.117, and 373 with 6.12.117 and a
        // buffer of 6 MB from the start.
        delayed_ack: Some(DelayedAck {
            timeout: TimeDelta::from_millis(40),
            quickack_segments: Segments(200),
            sack_compression: TimeDelta::from_millis(1),
            sack_compression_percent: 5,
            sack_compression_slack: TimeDelta::from_micros(100),
            quickacks_after_duplicate: 16,
            ack_pushed: true,
            ack_ce_immediately: true,
            ..DelayedAck::default()
        }),
        // The minimum bounds the variation term, not the sum: RTO = SRTT + max(200 ms, 4 RTTVAR).
        timer: TimerSpec {
            form: TimerForm::Exact { granularity: TimeDelta::from_millis(200) },
            min_rto: TimeDelta::from_millis(200),
            newreno_variant: NewRenoVariant::SlowButSteady,
            max_rto: TimeDelta::from_millis(120_000),
            // TCP_TIMEOUT_MIN, and HZ of 250.
            probe_margin: TimeDelta::from_millis(2),
            jiffy: TimeDelta::from_millis(4),
            after_pacing: true,
            peak_deviation: true,
            ..TimerSpec::rfc6298()
        },
        abc_limit: Segments::UNLIMITED,
        sack_opens_window: true,
        handshake: true,
        established: true,
        syn_options: Bytes(8),
        bare_segments: true,
        ecn_fallback: true,
        syn_timeouts_to_reset: 2,
        // tcp_syn_linear_timeouts, since Linux 6.5.
        syn_linear_timeouts: 4,
        pacing_credit: true,
        window_validation: WindowValidation::Linux,
        ..modern(Recovery::RackTlp)
    }
}

/// For controllers that measure delays of microseconds: a timestamp and an immediate acknowledgement per segment.
fn datacentre() -> TcpSpec {
    TcpSpec {
        mss: Bytes(1448),
        header: Bytes(52),
        ack_size: Bytes(52),
        timestamps: true,
        delayed_ack: None,
        timer: TimerSpec { min_rto: TimeDelta::from_millis(1), initial_rto: TimeDelta::from_millis(10), ..TimerSpec::rfc6298() },
        ..modern(Recovery::RackTlp)
    }
}

fn bpd(recovery: Recovery, tick: Option<TimeDelta>) -> TcpSpec {
    coarse(recovery, Bytes(536), Segments(122), tick.unwrap_or(TimeDelta::from_millis(100)))
}

/// Common settings of both documents: slow start from one segment up to the window, every segment acknowledged immediately, one segment
/// timed at a time, and the timer.
fn coarse(recovery: Recovery, mss: Bytes, window: Segments, tick: TimeDelta) -> TcpSpec {
    TcpSpec {
        recovery,
        ssthresh_from: SsthreshFrom::Window,
        mss,
        initial_window: 1.0,
        initial_ssthresh: f64::from(window.0),
        receiver_window: window,
        limited_transmit: false,
        delayed_ack: None,
        // Every acknowledgement opens the window, whatever was sent.
        window_validation: WindowValidation::None,
        timer: TimerSpec::coarse(tick),
        // Every segment is acknowledged. If an acknowledgement covers several, after a repair, the window opens as for one.
        ack_counting: AckCounting::Acknowledgements,
        abc_limit: Segments::UNLIMITED,
        ..TcpSpec::default()
    }
}

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
        name: "ECN marks and window reductions are acknowledged immediately",
        source: "observed in Linux 6.18",
        is_on: |spec| spec.delayed_ack.is_some_and(|rule| rule.ack_ce_immediately),
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
    let columns: Vec<Vec<(String, String)>> = PRESETS.iter().map(settings).collect();
    let names = PRESETS.iter().map(|preset| format!("`{}`", preset.name.word())).collect::<Vec<_>>().join(" | ");
    line(format!("\n## Mechanisms\n\n| Mechanism | Source | {names} |\n|---|---|{}", "---|".repeat(PRESETS.len())));
    let specs: Vec<TcpSpec> = PRESETS.iter().map(|preset| (preset.spec)(None)).collect();
    for mechanism in MECHANISMS {
        let marks = specs.iter().map(|spec| if (mechanism.is_on)(spec) { "on" } else { "" });
        line(format!("| {} | {} |{}", mechanism.name, mechanism.source, cells(marks)));
    }
    line(
        "\nObservations of Linux without a version are of 6.18.44 at 250 Hz, by [`tailback validate`](../evidence/validation.md) and captures. Other versions \
         differ: before 6.5 all timeouts of a SYN double, from 5.16 to 6.13 HyStart's rounds begin only at 16 segments (not in the stable 6.1.192 and 6.12.117), before 5.6 its trains end without the allowance for bursts and \
         pacing, before 4.18 there is no SACK compression, before 4.9 no BBR, and before 4.4 no RACK. The pacing of its `fq` is not \
         modelled: twice the window per round trip in slow start, 1.2 times later. `pacing = true` sends one window per round trip. Buffers are \
         not modelled either: the receive window of Linux grows with the transfer, which holds back slow start in 6.12 (0.44 s instead of 0.34 s \
         for 3000 segments at 40 ms), and a send buffer of 4 MiB holds about 2 MB of single segments. `receiver_window` bounds the data in \
         flight."
            .into(),
    );
    line(format!("\n## Settings\n\n| Setting | {names} |\n|---|{}", "---|".repeat(PRESETS.len())));
    for (row, (name, _)) in columns[0].iter().enumerate() {
        let values: Vec<&str> = columns.iter().map(|column| column[row].1.as_str()).collect();
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

/// Settings of a preset as in a scenario.
fn settings(preset: &Preset) -> Vec<(String, String)> {
    let Tcp { preset: _, controller, settings, delayed_ack, timer } =
        Tcp::of(preset.name, &preset.controller, &(preset.spec)(None));
    let mut rows = vec![("controller".to_string(), shown(controller))];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_preset() {
        for &name in PresetName::ALL {
            assert_eq!(PRESETS.iter().filter(|preset| preset.name == name).count(), 1, "{name:?}");
        }
    }

    #[test]
    fn hints_know_the_plain_presets_and_those_of_linux() {
        let is_common = |name: &&str| !name.contains('/') || name.starts_with("linux/");
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name.word()).filter(is_common).collect();
        assert_eq!(names, crate::misplaced::PRESET_NAMES);
    }

    #[test]
    fn the_page_lists_every_setting_that_a_scenario_can_give() {
        let page = presets_markdown();
        let schema = crate::json_schema();
        let keys = |table: &str| schema["$defs"][table]["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let (tcp, timer) = (keys("Tcp"), keys("Timer"));
        let settings = tcp.iter().filter(|key| !["preset", "timer"].contains(&key.as_str())).cloned();
        for setting in settings.chain(timer.iter().map(|key| format!("timer.{key}"))) {
            assert!(page.contains(&format!("| `{setting}` |")), "{setting}");
        }
    }

    #[test]
    fn a_tick_sets_the_shortest_timeout_of_a_coarse_preset() {
        let spec = (preset(PresetName::BpdReno).spec)(Some(TimeDelta::from_millis(300)));
        assert_eq!(
            (spec.timer.form, spec.timer.min_rto),
            (TimerForm::CoarseNs { tick: TimeDelta::from_millis(300) }, TimeDelta::from_millis(600))
        );
    }

    #[test]
    fn windows_of_the_documents_are_64_kilobytes() {
        // 65536 / 536 = 122.3 and 65536 / 1024 = 64.
        assert_eq!((preset(PresetName::BpdSack).spec)(None).receiver_window, Segments(65536 / 536));
        assert_eq!((preset(PresetName::SpdTahoe).spec)(None).receiver_window, Segments(65536 / 1024));
    }
}
