//! User code: Reno, drop-tail and a Poisson source supplied by the caller give the results of the built-in ones, on random networks, in
//! slices, and from copies. A failure stops the run where it takes place.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::common::{TestRandom, dumbbell, flow, group, link, random_network, tcp};
use std::sync::Arc;
use tailback_core::congestion::{Ack, AckCounting, Congestion, Control, ControllerSpec, RoundTrip, Start, UserController};
use tailback_core::network::*;
use tailback_core::primitives::random::Draws;
use tailback_core::primitives::signal::Signal;
use tailback_core::primitives::units::{Bytes, Cwnd, Segments, Time, TimeDelta};
use tailback_core::queue::{Departure, Occupancy, PeriodEnd, PolicySpec, Unit, UserPolicy, Verdict};
use tailback_core::tcp::{Recovery, SlowStart, WindowValidation};
use tailback_core::traffic::{Arrivals, DatagramSpec, Next, PacketSize, ProcessSpec, UserSource};
use tailback_core::user_code::{Fault, UserCode};
use tailback_core::{Code, Engine};

fn fault(text: &str) -> Fault {
    Arc::from(Box::<dyn std::error::Error + Send + Sync>::from(text))
}

/// Reno that fails after a number of acknowledgements.
#[derive(Clone)]
struct Reno {
    control: Control,
    ack_counting: AckCounting,
    acks: u32,
    fails_after: Option<u32>,
    can_be_copied: bool,
}

/// Congestion avoidance: RFC 3465 section 2.1, or equation (3) of RFC 5681.
fn avoid(window: f64, counted: f64, ack_counting: AckCounting) -> f64 {
    if ack_counting == AckCounting::Acknowledgements || counted == 0.0 {
        return window + counted / window;
    }
    let mut segments = window.floor();
    let mut acknowledged = ((window - segments) * segments).round() + counted;
    while acknowledged >= segments {
        acknowledged -= segments;
        segments += 1.0;
    }
    segments + acknowledged / segments
}

impl Reno {
    fn halve(&mut self, in_flight: Segments) {
        self.control.ssthresh = f64::from(in_flight.0 / 2).max(2.0);
    }
}

impl UserController for Reno {
    fn control(&mut self) -> Result<Control, Fault> {
        Ok(self.control)
    }

    fn on_ack(&mut self, ack: &Ack) -> Result<Control, Fault> {
        self.acks += 1;
        if self.fails_after.is_some_and(|acks| self.acks > acks) {
            return Err(fault("tired"));
        }
        if ack.window_validated {
            let Control { window, ssthresh, .. } = self.control;
            let counted = f64::from(ack.counted.0);
            let opens = if window < ssthresh { counted.min((ssthresh - window).ceil()) } else { 0.0 };
            self.control.window += opens;
            self.control.window = avoid(self.control.window, counted - opens, self.ack_counting);
        }
        Ok(self.control)
    }

    fn on_other_ack(&mut self, _: &Ack) -> Result<Control, Fault> {
        Ok(self.control)
    }

    fn on_one_way_delay(&mut self, _: TimeDelta, _: Time) -> Result<Control, Fault> {
        Ok(self.control)
    }

    fn on_round_trip(&mut self, _: &RoundTrip) -> Result<Control, Fault> {
        Ok(self.control)
    }

    fn on_congestion(&mut self, seen: &Congestion) -> Result<Control, Fault> {
        self.halve(seen.in_flight);
        self.control.window = f64::from((seen.in_flight.0 / 2).max(seen.min_window.0));
        Ok(self.control)
    }

    fn on_timeout(&mut self, seen: &Congestion) -> Result<Control, Fault> {
        if !seen.repeated {
            self.halve(seen.in_flight);
        }
        self.control.window = 1.0;
        Ok(self.control)
    }

    fn limit_window(&mut self, max: Cwnd) -> Result<Control, Fault> {
        self.control.window = self.control.window.min(max.0);
        Ok(self.control)
    }

    fn copy(&self) -> Result<Box<dyn UserController>, Fault> {
        if self.can_be_copied { Ok(Box::new(self.clone())) } else { Err(fault("one of a kind")) }
    }
}

#[derive(Clone)]
struct DropTail;

impl UserPolicy for DropTail {
    fn on_arrival(&mut self, _: &Unit, _: u32, _: &Occupancy, _: Time) -> Result<Verdict, Fault> {
        Ok(Verdict::Accept)
    }

    fn on_departure(&mut self, _: &Unit, _: &Departure) -> Result<Verdict, Fault> {
        Ok(Verdict::Accept)
    }

    fn on_signal(&mut self, _: &Unit, _: &Departure, _: &mut Signal) -> Result<(), Fault> {
        Ok(())
    }

    fn period(&self) -> Option<TimeDelta> {
        None
    }

    fn on_period(&mut self, _: &PeriodEnd) -> Result<(), Fault> {
        Ok(())
    }

    fn copy(&self) -> Result<Box<dyn UserPolicy>, Fault> {
        Ok(Box::new(self.clone()))
    }
}

/// Exponential gaps, as in the built-in source.
#[derive(Clone)]
struct Poisson {
    mean_gap: TimeDelta,
    bytes: u64,
    draws: Draws,
}

impl UserSource for Poisson {
    fn next(&mut self, _: Time) -> Result<Option<Next>, Fault> {
        let wait = TimeDelta::from_seconds(self.draws.exponential() * self.mean_gap.seconds());
        Ok(Some(Next { wait, bytes: Bytes(self.bytes) }))
    }

    fn copy(&self) -> Result<Box<dyn UserSource>, Fault> {
        Ok(Box::new(self.clone()))
    }
}

/// Creates these objects. `parameters` is the number of acknowledgements before a controller fails, the gap and size of a source, or empty.
struct Outside {
    can_be_copied: bool,
}

impl Code for Outside {
    fn controller(&self, code: &UserCode, start: Start) -> Result<Box<dyn UserController>, Fault> {
        let control = Control { window: start.window, ssthresh: start.ssthresh, pacing: None, release: None };
        let fails_after = code.parameters.parse().ok();
        Ok(Box::new(Reno { control, ack_counting: start.ack_counting, acks: 0, fails_after, can_be_copied: self.can_be_copied }))
    }

    fn policy(&self, _: &UserCode, _: Draws) -> Result<Box<dyn UserPolicy>, Fault> {
        Ok(Box::new(DropTail))
    }

    fn source(&self, code: &UserCode, draws: Draws) -> Result<Box<dyn UserSource>, Fault> {
        let (gap, bytes) = code.parameters.split_once(' ').ok_or_else(|| fault("no gap and size"))?;
        let (gap, bytes) = (gap.parse().map_err(|_| fault("no gap"))?, bytes.parse().map_err(|_| fault("no size"))?);
        Ok(Box::new(Poisson { mean_gap: TimeDelta(gap), bytes, draws }))
    }
}

fn code(parameters: &str) -> UserCode {
    UserCode { name: "outside".into(), parameters: parameters.into(), at: "flows.web.tcp.controller".into() }
}

/// The same network with user code in place of Reno, drop-tail and Poisson sources.
fn from_outside(network: &Network) -> Network {
    let mut network = network.clone();
    for port in &mut network.ports {
        if port.policy == PolicySpec::DropTail(()) {
            port.policy = PolicySpec::User(code(""));
        }
    }
    for group in &mut network.groups {
        match &mut group.transport {
            Transport::Tcp(_, law) if *law == ControllerSpec::Reno(()) => *law = ControllerSpec::User(code("")),
            Transport::Datagram(DatagramSpec { arrivals, packet, header }) => {
                if let (Arrivals::Process(ProcessSpec::Poisson(process)), &PacketSize::Fixed(bytes)) = (&*arrivals, &*packet) {
                    let mean_gap = process.rate.time_to_send(bytes + *header);
                    *arrivals = Arrivals::User(code(&format!("{} {}", mean_gap.0, bytes.0)));
                    *packet = PacketSize::Given { maximum: Bytes(1500) };
                }
            }
            Transport::Tcp(..) => {}
        }
    }
    network
}

const OUTSIDE: Outside = Outside { can_be_copied: true };

#[test]
fn user_code_gives_the_same_bytes_as_built_in_code() {
    let (mut laws, mut sources) = (0, 0);
    for seed in 0..100 {
        let mut network = random_network(seed);
        for group in &mut network.groups {
            let Transport::Tcp(spec, _) = &mut group.transport else { continue };
            // HyStart needs a controller that supports it, undo needs a controller that can be copied, and window validation raises the
            // threshold only of built-in controllers.
            spec.slow_start = SlowStart::Standard;
            spec.window_validation = WindowValidation::None;
            if spec.recovery == Recovery::RackTlp {
                spec.recovery = Recovery::Sack;
            }
        }
        let brought = from_outside(&network);
        laws += brought.user_code().filter(|(kind, _)| *kind == CodeKind::Controller).count();
        sources += brought.user_code().filter(|(kind, _)| *kind == CodeKind::Source).count();
        let mut built_in = Engine::new(network);
        built_in.run_until(Time::NEVER);
        let mut dice = TestRandom::new(seed + (1 << 33));
        let mut engine = Engine::with_code(brought, &OUTSIDE);
        while !engine.run_for(Time::NEVER, dice.pick(1, 3000)) {
            if dice.chance(2) {
                let copy = engine.clone();
                engine.run_until(Time::NEVER);
                engine = copy;
            }
        }
        assert!(engine.failure().is_none(), "seed {seed}: {:?}", engine.failure());
        let (ours, theirs) = (built_in.results().unwrap(), engine.results().unwrap());
        for (left, right) in ours.tables().zip(theirs.tables()) {
            // The transmission time of a typical packet is unknown if user code chooses the sizes.
            let of_size = ["base_rtt_s", "frame_cells"];
            let columns = left.columns.iter().zip(&right.columns).filter(|((name, _), _)| !of_size.contains(&name.as_str()));
            for (ours, theirs) in columns {
                assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "seed {seed}: {} of {}", ours.0, left.name);
            }
        }
    }
    assert!(laws > 20 && sources > 3, "{laws} laws, {sources} sources");
}

/// One flow over 8 Mbit/s whose controller fails after the number of acknowledgements in `parameters`.
fn one_flow(parameters: &str) -> Network {
    let bottleneck = link("bottleneck", 8, TimeDelta::from_millis(5), Buffer::Units(10));
    let transport = Transport::Tcp(tcp(Recovery::Reno), ControllerSpec::User(code(parameters)));
    dumbbell(bottleneck, group("web", transport), vec![flow(0, 0, 1)], TimeDelta::from_millis(1000))
}

#[test]
fn a_failure_stops_the_run_where_it_happens_however_it_is_sliced() {
    // Three segments of 1040 bytes leave at once; the second is acknowledged 1.04 ms after the first.
    let mut whole = Engine::with_code(one_flow("1"), &OUTSIDE);
    assert!(whole.run_for(Time::NEVER, u64::MAX));
    let failure = whole.failure().unwrap();
    assert_eq!((failure.fault.to_string().as_str(), failure.time), ("tired", whole.now()));
    assert_eq!(failure.time, Time(TimeDelta::from_micros(2 * 1040 + 10_000 + 40).0));
    assert!(failure.to_string().starts_with("flows.web.tcp.controller: `user:outside` failed at 0.01212 s"), "{failure}");
    let events = whole.events();
    assert!(whole.run_for(Time::NEVER, 5) && whole.events() == events);
    whole.results().expect("conservation holds after a failure");
    let mut sliced = Engine::with_code(one_flow("1"), &OUTSIDE);
    while !sliced.run_for(Time::NEVER, 1) {}
    assert_eq!((sliced.events(), sliced.now()), (events, whole.now()));
}

#[test]
fn a_failing_copy_does_not_affect_the_original() {
    let mut original = Engine::with_code(one_flow(""), &Outside { can_be_copied: false });
    original.run_until(Time(TimeDelta::from_millis(50).0));
    let mut copy = original.clone();
    assert_eq!(copy.failure().unwrap().fault.to_string(), "one of a kind");
    let events = copy.events();
    copy.run_until(Time::NEVER);
    assert_eq!(copy.events(), events);
    original.run_until(Time::NEVER);
    assert!(original.failure().is_none());
    assert!(original.results().unwrap().complete);
}

#[test]
fn user_code_cannot_be_serialised() {
    let engine = Engine::with_code(one_flow(""), &OUTSIDE);
    let law = Engine::new(one_flow("")).failure().unwrap();
    assert!(law.fault.to_string().contains("tailback run FILE --code CODE.py"), "{}", law.fault);
    assert!(postcard::to_stdvec(&engine).is_err());
}

#[test]
fn an_invalid_window_is_a_failure() {
    for (window, ssthresh) in [(f64::NAN, 2.0), (0.5, 2.0), (f64::INFINITY, 2.0), (1.0, f64::NAN), (1.0, 0.0)] {
        struct Fixed(Control);
        impl Code for Fixed {
            fn controller(&self, _: &UserCode, start: Start) -> Result<Box<dyn UserController>, Fault> {
                let ack_counting = start.ack_counting;
                Ok(Box::new(Reno { control: self.0, ack_counting, acks: 0, fails_after: None, can_be_copied: true }))
            }
            fn policy(&self, _: &UserCode, _: Draws) -> Result<Box<dyn UserPolicy>, Fault> {
                Err(fault("none"))
            }
            fn source(&self, _: &UserCode, _: Draws) -> Result<Box<dyn UserSource>, Fault> {
                Err(fault("none"))
            }
        }
        let engine = Engine::with_code(one_flow(""), &Fixed(Control { window, ssthresh, pacing: None, release: None }));
        let failure = engine.failure().unwrap_or_else(|| panic!("{window}, {ssthresh}"));
        assert!(failure.fault.to_string().contains("expected a "), "{}", failure.fault);
    }
}

#[test]
fn a_source_whose_time_does_not_advance_fails() {
    #[derive(Clone)]
    struct Flood;
    impl UserSource for Flood {
        fn next(&mut self, _: Time) -> Result<Option<Next>, Fault> {
            Ok(Some(Next { wait: TimeDelta::ZERO, bytes: Bytes(1) }))
        }
        fn copy(&self) -> Result<Box<dyn UserSource>, Fault> {
            Ok(Box::new(Flood))
        }
    }
    impl Code for Flood {
        fn controller(&self, _: &UserCode, _: Start) -> Result<Box<dyn UserController>, Fault> {
            Err(fault("none"))
        }
        fn policy(&self, _: &UserCode, _: Draws) -> Result<Box<dyn UserPolicy>, Fault> {
            Err(fault("none"))
        }
        fn source(&self, _: &UserCode, _: Draws) -> Result<Box<dyn UserSource>, Fault> {
            Ok(Box::new(Flood))
        }
    }
    let spec =
        DatagramSpec { arrivals: Arrivals::User(code("")), packet: PacketSize::Given { maximum: Bytes(1000) }, header: Bytes(0) };
    let bottleneck = link("bottleneck", 8, TimeDelta::from_millis(5), Buffer::Units(10));
    let network =
        dumbbell(bottleneck, group("flood", Transport::Datagram(spec)), vec![flow(0, 0, 1)], TimeDelta::from_millis(10));
    let mut engine = Engine::with_code(network, &Flood);
    engine.run_until(Time::NEVER);
    let failure = engine.failure().unwrap();
    assert_eq!((failure.time, failure.fault.to_string().as_str()), (Time::ZERO, "more than 1000000 packets at one instant"));
}
