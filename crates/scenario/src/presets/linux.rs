//! Presets that follow Linux.

use super::{HOST_JITTER, Preset, modern};
use crate::schema::PresetName;
use tailback_core::congestion::{
    Bbr1Edition, Bbr1Spec, BicSpec, ControllerSpec, CubicSpec, DctcpSpec, Edition, HTcpSpec, HighSpeedSpec, HyblaSpec,
    IllinoisSpec, ScalableSpec, Steps, VegasEdition, VegasSpec, VenoSpec, WestwoodPlusSpec, YeahSpec,
};
use tailback_core::primitives::units::{Bytes, Segments, TimeDelta};
use tailback_core::tcp::{
    DelayedAck, EcnCapable, EcnEcho, NewRenoVariant, Paws, Recovery, ReoWndGrowth, SlowStart, SsthreshFrom, TcpSpec, TimerForm,
    TimerSpec, WindowValidation,
};

pub(super) const RENO: Preset = Preset {
    name: PresetName::LinuxReno,
    source: "Reno as in Linux 6.18: RFC 8985, RFC 9937 and RFC 3465 without its limit, a minimum timeout of 200 ms",
    controller: ControllerSpec::Reno(()),
    spec: |_| linux(),
    jitter: HOST_JITTER,
    exact_clocks: false,
};

pub(super) const CUBIC: Preset = Preset {
    name: PresetName::LinuxCubic,
    source: "CUBIC as in Linux 6.18, its default: in whole segments, with HyStart, otherwise as linux/reno",
    controller: ControllerSpec::Cubic(CubicSpec { fast_convergence: true, steps: Steps::WholeSegments }),
    spec: |_| TcpSpec { slow_start: SlowStart::HyStart, ..linux() },
    jitter: HOST_JITTER,
    exact_clocks: false,
};

pub(super) const BBR: Preset = Preset {
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
};

pub(super) const DCTCP: Preset = Preset {
    name: PresetName::LinuxDctcp,
    source: "DCTCP as in Linux 6.12, RFC 8257 in whole segments: ECN, also in control packets, otherwise as linux/reno",
    controller: ControllerSpec::Dctcp(DctcpSpec { gain: 0.0625, initial_alpha: 1.0, steps: Steps::WholeSegments }),
    spec: |_| TcpSpec { ecn: true, ecn_capable: EcnCapable::All, ecn_echo: EcnEcho::Rfc8257, ..linux() },
    jitter: HOST_JITTER,
    exact_clocks: false,
};

/// A congestion module of Linux 6.12 with the sender of `linux/reno`.
const fn module(name: PresetName, source: &'static str, controller: ControllerSpec) -> Preset {
    Preset { name, source, controller, spec: |_| linux(), jitter: HOST_JITTER, exact_clocks: false }
}

pub(super) const BIC: Preset = module(
    PresetName::LinuxBic,
    "BIC as in Linux 6.12: Xu, Harfoush and Rhee 2004, whose `beta` and `s_max` are the module's parameters, and measured with 6.12.117",
    ControllerSpec::Bic(BicSpec {
        s_max: 16.0,
        s_min: 0.01,
        beta: 205.0 / 1024.0,
        low_window: 14.0,
        fast_convergence: true,
        edition: Edition::Linux,
    }),
);

pub(super) const HIGHSPEED: Preset = module(
    PresetName::LinuxHighspeed,
    "HighSpeed TCP as in Linux 6.12: RFC 3649 appendix B, per acknowledgement as measured with 6.12.117",
    ControllerSpec::HighSpeed(HighSpeedSpec {
        low_window: 38.0,
        low_p: 1e-3,
        high_window: 83_000.0,
        high_p: 1e-7,
        high_decrease: 0.1,
        edition: Edition::Linux,
    }),
);

pub(super) const HTCP: Preset = module(
    PresetName::LinuxHtcp,
    "H-TCP as in Linux 6.12: draft-leith-tcp-htcp-06, in whole numbers as measured with 6.12.117",
    ControllerSpec::HTcp(HTcpSpec {
        delta_l: TimeDelta::from_millis(1000),
        adaptive_backoff: true,
        rtt_scaling: true,
        edition: Edition::Linux,
    }),
);

pub(super) const HYBLA: Preset = Preset {
    name: PresetName::LinuxHybla,
    source: "Hybla as in Linux 6.12: increases per acknowledgement, in whole 128ths of a segment. The first window is that of RTTs below 50 ms, \
             RTT / 25 ms in whole segments. Caini and Firrincieli 2004, and measured with 6.12.117",
    controller: ControllerSpec::Hybla(HyblaSpec {
        rtt_0: TimeDelta::from_millis(25),
        max_slow_start_increment: 15.0,
        edition: Edition::Linux,
    }),
    spec: |_| TcpSpec { initial_window: 1.0, ..linux() },
    jitter: HOST_JITTER,
    exact_clocks: false,
};

pub(super) const ILLINOIS: Preset = module(
    PresetName::LinuxIllinois,
    "Illinois as in Linux 6.12: Liu, Basar and Srikant 2008, in whole numbers as measured with 6.12.117, and Reno below 15 segments (the module's `win_thresh`)",
    ControllerSpec::Illinois(IllinoisSpec {
        alpha_min: 0.3,
        alpha_max: 10.0,
        beta_min: 0.125,
        beta_max: 0.5,
        eta_1: 0.01,
        eta_2: 0.1,
        eta_3: 0.8,
        w_thresh: 15.0,
        theta: 5,
        edition: Edition::Linux,
    }),
);

pub(super) const SCALABLE: Preset = module(
    PresetName::LinuxScalable,
    "Scalable TCP as in Linux 6.12: Kelly 2003, and at least as fast as Reno, as measured with 6.12.117",
    ControllerSpec::Scalable(ScalableSpec { a: 0.01, b: 0.125, lwnd: 0.0, edition: Edition::Linux }),
);

pub(super) const VEGAS: Preset = module(
    PresetName::LinuxVegas,
    "Vegas as in Linux 6.12: Brakmo and Peterson 1995 with the module's `alpha`, `beta` and `gamma`; slow start doubles every round, as measured with 6.12.117",
    ControllerSpec::Vegas(VegasSpec {
        alpha: 2.0,
        beta: 4.0,
        gamma: 1.0,
        alpha_rate: None,
        beta_rate: None,
        slow_start: true,
        edition: VegasEdition::Linux,
    }),
);

pub(super) const VENO: Preset = module(
    PresetName::LinuxVeno,
    "Veno as in Linux 6.12: Fu and Liew 2003, in whole numbers as measured with 6.12.117",
    ControllerSpec::Veno(VenoSpec { beta: 3.0, edition: Edition::Linux }),
);

pub(super) const WESTWOOD: Preset = module(
    PresetName::LinuxWestwood,
    "Westwood+ as in Linux 6.12, whose module is called `westwood`: Grieco and Mascolo 2004, with the window set at the end of recovery, as measured with 6.12.117",
    ControllerSpec::WestwoodPlus(WestwoodPlusSpec { alpha: 0.9, edition: Edition::Linux }),
);

pub(super) const YEAH: Preset = module(
    PresetName::LinuxYeah,
    "YeAH as in Linux 6.12: Baiocchi, Castellani and Vacirca 2007, in whole numbers as measured with 6.12.117",
    ControllerSpec::Yeah(YeahSpec {
        q_max: 80.0,
        phi: 8.0,
        a: 0.01,
        delta: 0.125,
        epsilon: 0.5,
        rho: 16,
        zeta: 50,
        edition: Edition::Linux,
    }),
);

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
        f_rto_repeats: true,
        new_data_ends_probe: true,
        timeout_keeps_reduction: true,
        fast_recovery_after_timeout: true,
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
