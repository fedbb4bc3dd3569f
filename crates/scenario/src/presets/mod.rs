//! TCP presets. `docs/reference/presets.md` is [`presets_markdown`].

mod linux;
mod page;

pub use page::presets_markdown;

use crate::schema::PresetName;
use tailback_core::congestion::{ControllerSpec, CubicSpec, Steps, SwiftSpec, TimelySpec};
use tailback_core::primitives::units::{Bytes, Rate, Segments, TimeDelta};
use tailback_core::tcp::{AckCounting, Recovery, SsthreshFrom, TcpSpec, TimerSpec, WindowValidation};

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
    linux::RENO,
    linux::CUBIC,
    linux::BBR,
    linux::DCTCP,
    linux::BIC,
    linux::HIGHSPEED,
    linux::HTCP,
    linux::HYBLA,
    linux::ILLINOIS,
    linux::SCALABLE,
    linux::VEGAS,
    linux::VENO,
    linux::WESTWOOD,
    linux::YEAH,
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

#[cfg(test)]
mod tests {
    use super::*;
    use tailback_core::tcp::TimerForm;

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
