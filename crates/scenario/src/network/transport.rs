//! Transport of flows: TCP presets with the settings that replace theirs, and datagram sources.

use super::unused_tcp_settings;
use crate::member::{Member, MemberConfig};
use crate::preset_settings::PresetSettings;
use crate::presets::preset;
use crate::problem::{self, Report, listed};
use crate::quantity::{Duration, Size};
use crate::schema::{Application, Datagrams, Flow, PacketBytes, Source, Stack, StackName, Tcp, Timer, TimerForm, UserSource};
use crate::user_code;
use crate::window_size::WindowSize;
use std::ops::RangeInclusive;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Aal5, Transport};
use tailback_core::primitives::units::{self, Bytes, TimeDelta};
use tailback_core::settings::PlainWords;
use tailback_core::tcp::{self, AckCounting, EcnCapable, EcnEcho, Paws, SlowStart, TcpSpec, TimerSpec};
use tailback_core::traffic::{self, ApplicationSpec, BurstSpec, DatagramSpec, PacketSize, ProcessSpec};

pub(super) fn tcp(tcp: &Tcp, at: &str, report: &mut Report) -> Transport {
    let preset = preset(tcp.preset);
    let mut spec = (preset.spec)(tcp.timer.tick.map(Duration::time_delta));
    let (preset_limit, given) = (spec.abc_limit, &tcp.settings);
    given.replace(&mut spec);
    if let Some(window) = given.window_bytes("receiver_window") {
        set(&mut spec.receiver_window, receiver_window(window, spec.mss, at, report));
    }
    let delayed_ack = tcp.delayed_ack.as_ref().map(|setting| setting.spec(spec.delayed_ack));
    set(&mut spec.delayed_ack, delayed_ack);
    spec.abc_limit = abc_limit(given.number("abc_limit"), preset_limit, &spec, &format!("{at}.abc_limit"), report);
    paws(given, &mut spec, &format!("{at}.paws"), report);
    timer(&tcp.timer, &mut spec.timer, &format!("{at}.timer"), report);
    peak_deviation(&tcp.timer, &mut spec, &format!("{at}.timer.peak_deviation"), report);
    // A preset's SYN requires a header, too.
    spec.handshake &= given.has("handshake") || spec.header > Bytes(0);
    check(&spec, at, report);
    unused_tcp_settings::check(tcp, &spec, &(preset.spec)(tcp.timer.tick.map(Duration::time_delta)), at, report);
    let at_controller = format!("{at}.controller");
    let law = tcp.controller.as_ref().and_then(|controller| controller.0.spec(&at_controller, report));
    let law = law.unwrap_or_else(|| preset.controller.clone());
    if !given.has("slow_start") && !law.abilities().ends_slow_start {
        // The preset's slow start does not apply to this controller.
        spec.slow_start = SlowStart::Standard;
    }
    slow_start(&spec, &law, &format!("{at}.slow_start"), report);
    // User code does not say whether it requires ECN: the preset does.
    let may_require_ecn = law.abilities().requires_ecn || matches!(law, ControllerSpec::User(_));
    if !given.has("ecn_echo") && !may_require_ecn {
        spec.ecn_echo = EcnEcho::Rfc3168;
    }
    let at_capable = format!("{at}.ecn_capable");
    if !given.has("ecn_capable") {
        spec.ecn_capable = match &law {
            ControllerSpec::User(_) if spec.ecn => spec.ecn_capable,
            _ if spec.ecn && may_require_ecn => EcnCapable::All,
            _ => EcnCapable::NewData,
        };
    } else if spec.ecn_capable == EcnCapable::All && !spec.ecn && report.is_valid(&at_capable) {
        let problem = report.add(at_capable, "`ecn_capable` requires ECN, and `ecn` is off");
        problem.given("\"all\"").expected("also `ecn = true`, or no `ecn_capable`");
    }
    Transport::Tcp(spec, law)
}

/// Maximum random delay of packets at the sender, by the preset.
pub(crate) fn jitter(flow: &Flow) -> TimeDelta {
    let simulated = flow.tcp.as_ref().and_then(|tcp| tcp.simulated());
    simulated.map_or(TimeDelta::ZERO, |tcp| preset(tcp.preset).jitter)
}

/// Whether hosts that send cells have equal clocks; those of datagram sources do.
pub(super) fn has_exact_clocks(flow: &Flow) -> bool {
    flow.tcp.as_ref().and_then(|tcp| tcp.simulated()).is_none_or(|tcp| preset(tcp.preset).exact_clocks)
}

/// The same TCP with all settings of its preset filled in. An invalid one is returned as it is.
pub(crate) fn filled(given: &Tcp) -> Tcp {
    let source = crate::location::Source::default();
    let mut report = Report::new(&source);
    match tcp(given, "", &mut report) {
        Transport::Tcp(spec, controller) if report.is_empty() => Tcp::of(given.preset, &controller, &spec),
        _ => given.clone(),
    }
}

/// The IP packets of a stack, `at` the path of its group: external datagrams with the header of RFC 791.
pub(super) fn stack(stack: &Stack, flow: &Flow, at: &str, report: &mut Report) -> Transport {
    let absent = [
        ("framing", flow.framing.is_some()),
        ("abr", flow.abr.is_some()),
        ("l4s", flow.l4s.is_some()),
        ("send_processing", flow.send_processing.is_some()),
        ("receive_processing", flow.receive_processing.is_some()),
    ];
    for (key, _) in absent.iter().filter(|(_, is_given)| *is_given) {
        let problem = report.add(format!("{at}.{key}"), format!("`{key}` cannot be used with a `stack`"));
        problem.expected(format!("no `{key}`, or simulated TCP with a `preset`"));
        if *key == "l4s" {
            problem.hint("the stack sets the ECN field of each packet, which selects its queue in `dualpi2`");
        }
    }
    if let Some(application) = &flow.application {
        application_of_stack(application, stack, &format!("{at}.application"), report);
    }
    if stack.congestion.is_some() && matches!(stack.stack, StackName::User(_)) {
        let problem = report.add(format!("{at}.tcp.congestion"), "`congestion` is a setting of installed stacks");
        problem.expected("`parameters` of the class");
    }
    if stack.congestion.is_some() && stack.parameters.has("congestion") {
        let problem = report.add(format!("{at}.tcp.parameters.congestion"), "`congestion` is given twice");
        problem.expected("`congestion` beside `stack` alone");
    }
    let mtu = bytes(Some(stack.mtu), MIN_MTU..=MAX_MTU, &format!("{at}.tcp.mtu"), report).unwrap_or(Bytes(MIN_MTU));
    let packet = PacketSize::Given { maximum: Bytes(mtu.0 - IP_HEADER.0) };
    Transport::Datagram(DatagramSpec { arrivals: traffic::Arrivals::External, packet, header: IP_HEADER })
}

/// Reports an application whose writes depend on deliveries, which stacks do not report one by one, or one over a class in Python.
fn application_of_stack(application: &Application, stack: &Stack, at: &str, report: &mut Report) {
    if matches!(stack.stack, StackName::User(_)) {
        let problem = report.add(at, "`application` cannot be used with a stack in Python");
        problem.expected("no `application`: the class decides when it sends; or an installed stack");
        return;
    }
    if let Some(word) = application.word().filter(|_| !matches!(application, Application::Script(_))) {
        let problem = report.add(at, format!("`application` of kind `{word}` cannot be used with a `stack`"));
        problem.expected("kind `script` or a process such as `constant`, or simulated TCP with a `preset`");
    }
}

/// The unit of the writes of a stack's application: a packet without the headers of IPv4 and of TCP with timestamps, as in the presets of Linux.
pub(crate) fn segment_of_stack(stack: &Stack) -> Bytes {
    Bytes(stack.mtu.bytes().saturating_sub(52).max(1))
}

/// RFC 791: every interface forwards 68 bytes, and no packet is longer than 65,535.
pub(super) const MIN_MTU: u64 = 68;
pub(super) const MAX_MTU: u64 = 65_535;

/// `framing` bounds the size of a datagram.
pub(super) fn datagrams(source: &Source, framing: Option<Aal5>, at: &str, report: &mut Report) -> Transport {
    let header = bytes(Some(source.header), 0..=KILOBYTE, &format!("{at}.header"), report).unwrap_or_default();
    let (arrivals, packet) = match &source.arrivals {
        Member::BuiltIn(config, Datagrams { packet_size }) => {
            let packet = payload(packet_size, &format!("{at}.packet_size"), report);
            (process(config, at, report).map_or(traffic::Arrivals::External, traffic::Arrivals::Process), packet)
        }
        Member::User(UserSource { kind, parameters }) => {
            let frame = framing.map_or(MEGABYTE, |framing| Aal5::MAX_FRAME.0.saturating_sub((framing.overhead + header).0));
            let code = user_code::code(kind, parameters, at.into());
            (traffic::Arrivals::User(code), PacketSize::Given { maximum: Bytes(frame.min(MEGABYTE)) })
        }
    };
    Transport::Datagram(DatagramSpec { arrivals, packet, header })
}

/// The application of a TCP flow; `None` if an error was reported.
pub(super) fn application(given: &Application, at: &str, report: &mut Report) -> Option<ApplicationSpec> {
    let Application::Bursts(bursts) = given else { return Some(ApplicationSpec::Messages) };
    let Member::BuiltIn(config, _) = &bursts.arrivals else { return None };
    Some(ApplicationSpec::Bursts(BurstSpec { process: process(config, at, report)?, burst: bursts.burst.0 as u32 }))
}

fn process(config: &MemberConfig, at: &str, report: &mut Report) -> Option<ProcessSpec> {
    let values = config.values(None, report);
    let process = ProcessSpec::read(config.name(), &values)?;
    config.complain(process.check(), &values, at, None, report);
    Some(process)
}

/// Whole segments of a window in bytes.
fn receiver_window(window: Size, mss: Bytes, at: &str, report: &mut Report) -> Option<units::Segments> {
    let count = window.bytes() / mss.0;
    if (1..=u64::from(WindowSize::MAX)).contains(&count) {
        return Some(units::Segments(count as u32));
    }
    let at_window = format!("{at}.receiver_window");
    if report.is_valid(&at_window) && report.is_valid(&format!("{at}.mss")) {
        let (min, max) = (Size::new(mss.0), Size::new(mss.0 * u64::from(WindowSize::MAX)));
        let problem = report.add(at_window, "`receiver_window` is out of range");
        problem.given(window.to_string()).expected(format!("{min} to {max}: 1 to {} segments", WindowSize::MAX));
    }
    None
}

/// Checks the conditions for an exit from slow start before a loss.
fn slow_start(spec: &TcpSpec, law: &ControllerSpec, at: &str, report: &mut Report) {
    if spec.slow_start == SlowStart::Standard || !report.is_valid(at) {
        return;
    }
    let given = format!("\"{}\"", spec.slow_start.word());
    if !spec.timestamps {
        let problem = report.add(at, "`slow_start` requires `timestamps`");
        problem.given(given).expected("also `timestamps = true`, which gives a round-trip sample for every acknowledgement");
    } else if !law.abilities().ends_slow_start {
        let samples = ControllerSpec::samples();
        let mut hear: Vec<&str> =
            samples.iter().filter(|law| law.abilities().ends_slow_start).filter_map(ControllerSpec::name).collect();
        hear.dedup();
        let problem = report.add(at, "`slow_start` cannot be changed: the controller has its own");
        problem.given(given).expected(format!("\"standard\", or a controller that is {}", listed(&hear)));
    }
}

/// PAWS compares timestamps. The preset's rule does not apply without them.
fn paws(given: &PresetSettings<TcpSpec>, spec: &mut TcpSpec, at: &str, report: &mut Report) {
    if spec.timestamps || spec.paws == Paws::Off {
        return;
    }
    if given.has("paws") && report.is_valid(at) {
        let problem = report.add(at, "`paws` requires `timestamps`");
        problem.given(format!("\"{}\"", spec.paws.word())).expected("also `timestamps = true`, or \"off\"");
    }
    spec.paws = Paws::Off;
}

/// The preset's rule does not apply to coarse timers, or without timestamps.
fn peak_deviation(given: &Timer, spec: &mut TcpSpec, at: &str, report: &mut Report) {
    if !spec.timer.peak_deviation || (spec.timestamps && matches!(spec.timer.form, tcp::TimerForm::Exact { .. })) {
        return;
    }
    if given.settings.has("peak_deviation") && report.is_valid(at) {
        let problem = report.add(at, "`peak_deviation` requires `timestamps`, and the timer form `exact`");
        problem.given("true").expected("also `timestamps = true` and `form = \"exact\"`, or false");
    }
    spec.timer.peak_deviation = false;
}

fn abc_limit(given: Option<f64>, preset: units::Segments, spec: &TcpSpec, at: &str, report: &mut Report) -> units::Segments {
    let count = given.unwrap_or(f64::INFINITY);
    match spec.ack_counting {
        AckCounting::Acknowledgements if count.is_finite() && report.is_valid(at) => {
            let problem = report.add(at, "`abc_limit` requires `ack_counting = \"bytes\"`");
            problem.given(count.to_string()).expected("also `ack_counting = \"bytes\"`, or no `abc_limit`");
        }
        AckCounting::Bytes if count.is_finite() && count.fract() > 0.0 && report.is_valid(at) => {
            report
                .add(at, "`abc_limit` is not a whole number of segments")
                .given(count.to_string())
                .expected("a whole number of segments, or \"unlimited\"");
        }
        _ => {}
    }
    match spec.ack_counting {
        // RFC 9406 section 4.2.
        AckCounting::Bytes if given.is_none() && spec.slow_start == SlowStart::HyStartPlusPlus => {
            if spec.pacing {
                units::Segments::UNLIMITED
            } else {
                units::Segments(8)
            }
        }
        AckCounting::Bytes if given.is_none() => preset,
        AckCounting::Bytes if count.is_finite() => units::Segments(count as u32),
        _ => units::Segments::UNLIMITED,
    }
}

/// Payload of a datagram.
fn payload(packet: &PacketBytes, at: &str, report: &mut Report) -> PacketSize {
    match *packet {
        PacketBytes::Fixed(size) => PacketSize::Fixed(bytes(Some(size), 1..=MEGABYTE, at, report).unwrap_or(Bytes(1))),
        PacketBytes::Exponential(mean) => {
            let Bytes(payload) = bytes(Some(mean), 1..=MEGABYTE / 10, at, report).unwrap_or(Bytes(1));
            // Only one packet in e^100 would exceed the maximum, which is a hundred times the mean.
            PacketSize::Exponential { mean: payload as f64, maximum: Bytes(100 * payload) }
        }
    }
}

/// Bytes of a full data packet on the wire, or of a datagram of mean size.
pub(super) fn wire_bytes(transport: &Transport) -> u64 {
    let header = match transport {
        Transport::Tcp(spec, _) => spec.header,
        Transport::Datagram(spec) => spec.header,
    };
    payload_bytes(transport) + header.0
}

/// Payload of a full data packet, or of a datagram of mean size.
pub(super) fn payload_bytes(transport: &Transport) -> u64 {
    match transport {
        Transport::Tcp(spec, _) => spec.mss.0,
        Transport::Datagram(DatagramSpec { packet: PacketSize::Fixed(bytes), .. }) => bytes.0,
        Transport::Datagram(DatagramSpec { packet: PacketSize::Exponential { mean, .. }, .. }) => *mean as u64,
        // The sizes are unknown, and checks of rates do not apply.
        Transport::Datagram(DatagramSpec { packet: PacketSize::Given { .. }, .. }) => MEGABYTE,
    }
}

pub(crate) const IP_HEADER: Bytes = Bytes(20);

const KILOBYTE: u64 = 1_000;
const MEGABYTE: u64 = 1_000_000;

fn timer(given: &Timer, spec: &mut TimerSpec, at: &str, report: &mut Report) {
    given.settings.replace(spec);
    let tick = match spec.form {
        tcp::TimerForm::CoarseNs { tick } | tcp::TimerForm::CoarseBsd { tick } => tick,
        // The usual coarse clock (bpd-2001 section 2.1).
        tcp::TimerForm::Exact { .. } => given.tick.map_or(TimeDelta::from_millis(500), Duration::time_delta),
    };
    let granularity = match spec.form {
        tcp::TimerForm::Exact { granularity } => granularity,
        _ => TimeDelta::from_millis(1),
    };
    match given.form {
        Some(TimerForm::Exact) => spec.form = tcp::TimerForm::Exact { granularity },
        Some(TimerForm::CoarseNs) => spec.form = tcp::TimerForm::CoarseNs { tick },
        Some(TimerForm::CoarseBsd) => spec.form = tcp::TimerForm::CoarseBsd { tick },
        None => {}
    }
    match &mut spec.form {
        tcp::TimerForm::Exact { granularity } => {
            // The granularity is a lower bound of the variation term: a shorter minimum timeout shortens it too.
            let min = given.settings.has("min_rto").then(|| spec.min_rto.min(*granularity));
            set(granularity, given.granularity.map(Duration::time_delta).or(min));
            if given.tick.is_some() {
                let problem = report.add(format!("{at}.tick"), "`tick` cannot be used with the timer form `exact`");
                problem.expected("`granularity`, or form = \"coarse_ns\" or \"coarse_bsd\"");
            }
        }
        tcp::TimerForm::CoarseNs { tick } | tcp::TimerForm::CoarseBsd { tick } => {
            above_zero(*tick, &format!("{at}.tick"), report);
            if given.granularity.is_some() {
                report
                    .add(format!("{at}.granularity"), "`granularity` cannot be used with a coarse timer")
                    .expected("`tick`, or form = \"exact\"");
            }
        }
    }
}

/// Maximum timer. Together with the longest run it is below the maximum time, 213 days.
const LONGEST_TIMER: TimeDelta = TimeDelta::from_millis(24 * 3_600_000);

fn check(spec: &TcpSpec, at: &str, report: &mut Report) {
    let timer = &spec.timer;
    if spec.initial_window.is_infinite() {
        let problem = report.add(format!("{at}.initial_window"), "`initial_window` cannot be unlimited");
        problem.given("\"unlimited\"").expected("a number of segments; `receiver_window` bounds it");
    }
    if spec.handshake && spec.header == Bytes(0) && report.is_valid(&format!("{at}.header")) {
        let problem = report.add(format!("{at}.handshake"), "`handshake` requires a `header`: a SYN cannot have 0 bytes");
        problem.given("`header` of 0 B").expected("a `header` of at least 1 B, or no `handshake`");
    }
    let tick = match timer.form {
        tcp::TimerForm::Exact { granularity } => ("granularity", granularity),
        tcp::TimerForm::CoarseNs { tick } | tcp::TimerForm::CoarseBsd { tick } => ("tick", tick),
    };
    for (key, value) in [("max_rto", timer.max_rto), ("probe_margin", timer.probe_margin), ("jiffy", timer.jiffy), tick] {
        let at = format!("{at}.timer.{key}");
        if value > LONGEST_TIMER && report.is_valid(&at) {
            let (given, longest) = (Duration::new(value.0).to_string(), Duration::new(LONGEST_TIMER.0));
            report.add(at, format!("`{key}` is too long")).given(given).expected(format!("at most {longest} (24 h)"));
        }
    }
    above_zero(timer.min_rto, &format!("{at}.timer.min_rto"), report);
    above_zero(timer.max_rto, &format!("{at}.timer.max_rto"), report);
    above_zero(timer.initial_rto, &format!("{at}.timer.initial_rto"), report);
    for (key, value) in [("min_rto", timer.min_rto), ("initial_rto", timer.initial_rto)] {
        let at = format!("{at}.timer.{key}");
        if value > timer.max_rto && report.is_valid(&at) {
            let given = Duration::new(value.0).to_string();
            report
                .add(at, format!("`{key}` exceeds `max_rto`"))
                .given(given)
                .expected(format!("at most {}", Duration::new(timer.max_rto.0)));
        }
    }
    if !timer.max_backoff.is_power_of_two() {
        let at = format!("{at}.timer.max_backoff");
        if report.is_valid(&at) {
            report.add(at, "`max_backoff` is not a power of two").given(timer.max_backoff.to_string()).expected("a power of two");
        }
    }
}

fn set<T>(place: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *place = value;
    }
}

fn bytes(given: Option<Size>, fits: RangeInclusive<u64>, at: &str, report: &mut Report) -> Option<Bytes> {
    let size = given?;
    if fits.contains(&size.bytes()) {
        return Some(Bytes(size.bytes()));
    }
    if report.is_valid(at) {
        let expected = format!("{} to {}", Size::new(*fits.start()), Size::new(*fits.end()));
        report.add(at, format!("{} is out of range", problem::key(at))).given(size.to_string()).expected(expected);
    }
    None
}

fn above_zero(span: TimeDelta, at: &str, report: &mut Report) {
    if span == TimeDelta::ZERO && report.is_valid(at) {
        report.add(at, format!("{} is zero", problem::key(at))).given("0 ms").expected("more than 0 ms");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::tests::dumbbell;
    use tailback_core::congestion::FixedSpec;
    use tailback_core::primitives::units::Rate;
    use tailback_core::traffic::ConstantSpec;

    fn transport(sends: &str) -> Transport {
        dumbbell(&format!("[flows.web]\nfrom = \"left\"\nto = \"right\"\n{sends}\n")).groups[0].transport.clone()
    }

    #[test]
    fn settings_replace_those_of_the_preset() {
        let given = "tcp = {preset = \"newreno\", controller = \"fixed\", mss = \"536 B\", fast_retransmit = false, delayed_ack = false, \
                     initial_ssthresh = 64, timer = {form = \"coarse_bsd\", tick = \"0.5 s\"}}";
        let Transport::Tcp(spec, controller) = transport(given) else { panic!("not TCP") };
        let preset = (preset(crate::schema::PresetName::NewReno).spec)(None);
        let form = tcp::TimerForm::CoarseBsd { tick: TimeDelta::from_millis(500) };
        let wanted = TcpSpec {
            mss: Bytes(536),
            fast_retransmit: None,
            delayed_ack: None,
            initial_ssthresh: 64.0,
            timer: TimerSpec { form, ..preset.timer },
            ..preset
        };
        assert_eq!((spec, controller), (wanted, ControllerSpec::Fixed(FixedSpec::default())));
    }

    #[test]
    fn a_preset_alone_gives_exactly_its_settings() {
        for preset in crate::presets::PRESETS {
            let given = format!("tcp = {{preset = \"{}\"}}", preset.name.word());
            assert_eq!(transport(&given), Transport::Tcp((preset.spec)(None), preset.controller.clone()));
        }
    }

    #[test]
    fn all_packets_are_ecn_capable_with_controllers_that_require_it() {
        let capable = |given: &str| {
            let Transport::Tcp(spec, _) = transport(&format!("tcp = {{{given}}}")) else { panic!("not TCP") };
            spec.ecn_capable
        };
        assert_eq!(capable("preset = \"sack\", ecn = true"), EcnCapable::NewData);
        assert_eq!(capable("preset = \"sack\", controller = \"dctcp\", ecn = true"), EcnCapable::All);
        assert_eq!(capable("preset = \"sack\", controller = \"prague\", ecn = true"), EcnCapable::All);
        assert_eq!(capable("preset = \"linux/dctcp\", controller = \"cubic\""), EcnCapable::NewData);
        assert_eq!(capable("preset = \"linux/dctcp\", controller = \"user:mine\""), EcnCapable::All);
        assert_eq!(capable("preset = \"linux/dctcp\", controller = \"user:mine\", ecn = false"), EcnCapable::NewData);
        assert_eq!(capable("preset = \"linux/dctcp\", ecn = false"), EcnCapable::NewData);
        assert_eq!(capable("preset = \"linux/dctcp\", ecn_capable = \"new_data\""), EcnCapable::NewData);
        assert_eq!(capable("preset = \"cubic\", ecn = true, ecn_capable = \"all\""), EcnCapable::All);
    }

    #[test]
    fn the_echo_of_dctcp_needs_a_controller_that_reads_it() {
        let echo = |given: &str| {
            let Transport::Tcp(spec, _) = transport(&format!("tcp = {{preset = \"linux/dctcp\"{given}}}")) else {
                panic!("not TCP")
            };
            spec.ecn_echo
        };
        assert_eq!(echo(", controller = \"user:mine\""), EcnEcho::Rfc8257);
        assert_eq!(echo(", controller = \"cubic\""), EcnEcho::Rfc3168);
        assert_eq!(echo(", controller = \"cubic\", ecn_echo = \"rfc8257\""), EcnEcho::Rfc8257);
    }

    #[test]
    fn an_acknowledgement_opens_the_window_by_at_most_the_segments_of_rfc_9406() {
        let limit = |more: &str| {
            let given = format!("tcp = {{preset = \"cubic\", slow_start = \"hystart++\", timestamps = true{more}}}");
            let Transport::Tcp(spec, _) = transport(&given) else { panic!("not TCP") };
            spec.abc_limit
        };
        assert_eq!(limit(""), units::Segments(8));
        assert_eq!(limit(", pacing = true"), units::Segments::UNLIMITED);
        assert_eq!(limit(", abc_limit = 2"), units::Segments(2));
    }

    #[test]
    fn a_controller_with_its_own_slow_start_ignores_the_presets() {
        let start = |given: &str| {
            let Transport::Tcp(spec, _) = transport(&format!("tcp = {{preset = \"linux/cubic\", {given}}}")) else {
                panic!("not TCP")
            };
            spec.slow_start
        };
        assert_eq!(start("controller = \"vegas\""), SlowStart::Standard);
        assert_eq!(start("controller = \"reno\""), SlowStart::HyStart);
    }

    #[test]
    fn a_preset_without_timestamps_has_no_paws() {
        let rule = |given: &str| {
            let Transport::Tcp(spec, _) = transport(&format!("tcp = {{preset = \"linux/reno\"{given}}}")) else {
                panic!("not TCP")
            };
            spec.paws
        };
        assert_eq!((rule(""), rule(", timestamps = false"), rule(", paws = \"off\"")), (Paws::Linux, Paws::Off, Paws::Off));
    }

    #[test]
    fn a_preset_without_timestamps_or_with_a_coarse_timer_has_no_peak_deviation() {
        let has_peaks = |given: &str| {
            let Transport::Tcp(spec, _) = transport(&format!("tcp = {{preset = \"linux/reno\"{given}}}")) else {
                panic!("not TCP")
            };
            spec.timer.peak_deviation
        };
        let without = [", timestamps = false", ", timer = {form = \"coarse_ns\"}", ", timer = {peak_deviation = false}"];
        assert!(has_peaks("") && !without.into_iter().any(has_peaks));
    }

    #[test]
    fn a_shorter_minimum_timeout_shortens_the_default_granularity() {
        let granularity = |timer: &str| {
            let Transport::Tcp(spec, _) = transport(&format!("tcp = {{preset = \"linux/reno\", timer = {{{timer}}}}}")) else {
                panic!("not TCP")
            };
            let tcp::TimerForm::Exact { granularity } = spec.timer.form else { panic!("not exact") };
            granularity
        };
        assert_eq!(granularity(""), TimeDelta::from_millis(200));
        assert_eq!(granularity("min_rto = \"5 ms\""), TimeDelta::from_millis(5));
        assert_eq!(granularity("min_rto = \"400 ms\""), TimeDelta::from_millis(200));
        assert_eq!(granularity("min_rto = \"5 ms\", granularity = \"1 ms\""), TimeDelta::from_millis(1));
    }

    #[test]
    fn absent_settings_of_delayed_acknowledgements_are_those_of_the_preset() {
        let rule = |preset: &str, given: &str| {
            let given = format!("tcp = {{preset = \"{preset}\", delayed_ack = {given}}}");
            let Transport::Tcp(spec, _) = transport(&given) else { panic!("not TCP") };
            spec.delayed_ack
        };
        let of_linux = (preset(crate::schema::PresetName::LinuxReno).spec)(None).delayed_ack.unwrap();
        assert_eq!(rule("linux/reno", "true"), Some(of_linux));
        assert_eq!(rule("linux/reno", "{every = 4}"), Some(tcp::DelayedAck { every: 4, ..of_linux }));
        assert_eq!(rule("bpd-2001/reno", "true"), Some(tcp::DelayedAck::default()));
        assert_eq!(rule("linux/reno", "false"), None);
    }

    #[test]
    fn a_source_has_its_rate_and_its_packets() {
        // 1028 bytes at 8.224 Mbit/s: one per millisecond.
        let given = "source = {kind = \"constant\", rate = \"8.224 Mbps\", packet_size = \"1000 B\", header = \"28 B\"}";
        let arrivals = traffic::Arrivals::Process(ProcessSpec::Constant(ConstantSpec { rate: Rate(8_224_000) }));
        let spec = DatagramSpec { arrivals, packet: PacketSize::Fixed(Bytes(1000)), header: Bytes(28) };
        assert_eq!(spec.per_second(), Some(1000.0));
        assert_eq!(transport(given), Transport::Datagram(spec));
    }

    #[test]
    fn the_largest_packet_is_one_for_the_core() {
        const { assert!(100 * (MEGABYTE / 10) + KILOBYTE <= tailback_core::network::MAX_PACKET.0) }
    }
}
