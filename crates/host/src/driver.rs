//! An engine and hosts in real time, or with any other clock.

use crate::host_loop::{AddressPair, HostLoop, RunProperties};
use crate::hosts::Hosts;
use crate::pacer::Clock;
use crate::packet_observer::PacketObserver;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tailback_core::Engine;
use tailback_core::primitives::units::Time;
use tailback_core::record::Table;

/// Access from other threads while the loop runs.
#[derive(Debug, Default)]
pub struct DriverControl {
    stopped: AtomicBool,
    now: AtomicU64,
}

impl DriverControl {
    /// Ends the loop.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// The time reached.
    pub fn now(&self) -> Time {
        Time(self.now.load(Ordering::Relaxed))
    }
}

/// An engine with the hosts connected to it.
pub struct Driver<H, C> {
    engine: Engine,
    hosts: HostLoop<H, C>,
}

impl<H: Hosts, C: Clock> Driver<H, C> {
    /// `clock` starts now.
    pub fn new(
        engine: Engine,
        course: RunProperties,
        ways: &[AddressPair],
        observer: PacketObserver,
        hosts: H,
        clock: C,
    ) -> Driver<H, C> {
        Driver { engine, hosts: HostLoop::new(course, ways, observer, (hosts, clock)) }
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The observed traffic at the hosts' devices.
    pub fn observer(&mut self) -> &mut PacketObserver {
        self.hosts.observer()
    }

    /// Runs to the end, or until `control` stops it, or user code has failed.
    ///
    /// # Errors
    /// A device failed.
    pub fn run(&mut self, control: &DriverControl) -> io::Result<()> {
        let Driver { engine, hosts } = self;
        let mut next = hosts.next(engine);
        while !control.stopped.load(Ordering::Relaxed) && hosts.turn(engine, next)? {
            control.now.store(engine.now().0, Ordering::Relaxed);
            next = hosts.next(engine);
            hosts.wait(next, hosts.end)?;
        }
        hosts.settle(engine);
        control.now.store(engine.now().0, Ordering::Relaxed);
        Ok(())
    }

    /// Timing accuracy and packets not carried: a table of one row.
    pub fn report(&self) -> Table {
        self.hosts.report()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_loop::RejectedPackets;
    use crate::ip::tests::packet;
    use std::cell::{Cell, RefCell};
    use std::collections::VecDeque;
    use std::net::Ipv4Addr;
    use std::rc::Rc;
    use tailback_core::network::*;
    use tailback_core::price::PriceSpec;
    use tailback_core::primitives::units::{Bytes, Rate, TimeDelta};
    use tailback_core::queue::{PolicySpec, RedQueueUnit, RedSignals, RedSpec};
    use tailback_core::traffic::{Arrivals, DatagramSpec, PacketSize};

    const LEFT: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
    const RIGHT: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);

    /// A test environment with a clock that is advanced by hand. The left host (0) sends at given times; the right host (1)
    /// answers each packet at once with one of 40 bytes.
    #[derive(Default)]
    struct TestEnvironment {
        now: Cell<TimeDelta>,
        to_send: RefCell<VecDeque<(TimeDelta, Vec<u8>)>>,
        answers: RefCell<VecDeque<Vec<u8>>>,
        seen: RefCell<Vec<ObservedPacket>>,
        /// The time at which the machine stalls, and the duration.
        stall: Cell<Option<(TimeDelta, TimeDelta)>>,
    }

    /// Time in microseconds, host, ECN field.
    type ObservedPacket = (u64, usize, u8);

    struct ManualClock(Rc<TestEnvironment>);
    struct FakeHosts(Rc<TestEnvironment>);

    impl Clock for ManualClock {
        fn elapsed(&self) -> TimeDelta {
            self.0.now.get()
        }
    }

    impl Hosts for FakeHosts {
        fn take(&mut self, host: usize, packet: &mut Vec<u8>) -> io::Result<bool> {
            let taken = if host == 0 {
                let mut to_send = self.0.to_send.borrow_mut();
                let is_there = to_send.front().is_some_and(|(at, _)| *at <= self.0.now.get());
                if is_there { to_send.pop_front().map(|(_, packet)| packet) } else { None }
            } else {
                self.0.answers.borrow_mut().pop_front()
            };
            Ok(taken.map(|taken| *packet = taken).is_some())
        }

        fn give(&mut self, host: usize, given: &[u8]) -> io::Result<bool> {
            self.0.seen.borrow_mut().push((self.0.now.get().0 / 1_000_000, host, given[1] & 3));
            if host == 1 {
                self.0.answers.borrow_mut().push_back(packet((RIGHT, LEFT), 40, 0));
            }
            Ok(true)
        }

        fn wait(&mut self, at_most: TimeDelta, ready: &mut Vec<usize>) -> io::Result<()> {
            let next = self.0.to_send.borrow().front().map_or(TimeDelta(u64::MAX), |(at, _)| *at - self.0.now.get());
            self.0.now.set(self.0.now.get() + at_most.min(next).max(TimeDelta(1000)));
            if let Some((at, length)) = self.0.stall.get().filter(|(at, _)| *at <= self.0.now.get()) {
                self.0.now.set(at + length);
                self.0.stall.set(None);
            }
            ready.extend([0, 1]);
            Ok(())
        }
    }

    fn port(name: &str, policy: PolicySpec, buffer: Buffer) -> Port {
        Port {
            name: name.into(),
            rate: Rate(12_000_000),
            delay: TimeDelta::from_millis(5),
            transmitters: 1,
            switching: Switching::StoreAndForward,
            buffer,
            counts_in_service: false,
            policy,
            scheduling: None,
            shaper: None,
            random_loss: 0.0,
            listed_drops: Vec::new(),
            impairments: Impairments::default(),
            varying: None,
        }
    }

    /// 12 Mbit/s: 1500 bytes take 1 ms; 5 ms each way.
    fn world(to_send: Vec<(TimeDelta, Vec<u8>)>, policy: PolicySpec) -> (Rc<TestEnvironment>, Driver<FakeHosts, ManualClock>) {
        led(TimeDelta::from_millis(5), to_send, policy)
    }

    fn led(
        lead: TimeDelta,
        to_send: Vec<(TimeDelta, Vec<u8>)>,
        policy: PolicySpec,
    ) -> (Rc<TestEnvironment>, Driver<FakeHosts, ManualClock>) {
        let spec =
            DatagramSpec { arrivals: Arrivals::External, packet: PacketSize::Given { maximum: MAX_PACKET }, header: Bytes(20) };
        let group = |name: &str| Group {
            name: name.into(),
            class: 0,
            l4s: false,
            transport: Transport::Datagram(spec.clone()),
            application: None,
            framing: None,
            abr: None,
            send_processing: None,
            receive_processing: None,
            jitter: TimeDelta::ZERO,
        };
        let flow = |group, forward, backward| Flow {
            group,
            forward,
            backward,
            sender_access: AccessLink::default(),
            receiver_access: AccessLink::default(),
            interface: None,
            start: Time::ZERO,
            stop: Time::NEVER,
            size: None,
        };
        let network = Network {
            ports: vec![port("there", policy, Buffer::Units(2)), port("back", PolicySpec::DropTail(()), Buffer::Unlimited)],
            paths: vec![vec![PortId(0)], vec![PortId(1)]],
            groups: vec![group("there"), group("back")],
            flows: vec![flow(GroupId(0), 0, 1), flow(GroupId(1), 1, 0)],
            messages: Default::default(),
            changes: Vec::new(),
            duration: TimeDelta::from_millis(100),
            warmup: TimeDelta::ZERO,
            seed: 1,
            record: Recording::default(),
            stepped: false,
            prices: PriceSpec::default(),
        };
        let world = Rc::new(TestEnvironment { to_send: RefCell::new(to_send.into()), ..TestEnvironment::default() });
        let ways = [
            AddressPair { from: LEFT, to: RIGHT, flow: FlowId(0), host: 1, listed: None },
            AddressPair { from: RIGHT, to: LEFT, flow: FlowId(1), host: 0, listed: None },
        ];
        let course = RunProperties { end: Time(TimeDelta::from_millis(100).0), lead };
        let emulation = Driver::new(
            Engine::new(network),
            course,
            &ways,
            PacketObserver::new(vec![], vec![]),
            FakeHosts(world.clone()),
            ManualClock(world.clone()),
        );
        (world, emulation)
    }

    fn sends(milliseconds: &[u64], ecn: u8) -> Vec<(TimeDelta, Vec<u8>)> {
        milliseconds.iter().map(|&ms| (TimeDelta::from_millis(ms), packet((LEFT, RIGHT), 1500, ecn))).collect()
    }

    #[test]
    fn packets_arrive_after_serialisation_and_delay_and_answers_return() {
        let (world, mut emulation) = world(sends(&[10, 10, 10, 10], 0), PolicySpec::DropTail(()));
        emulation.run(&DriverControl::default()).unwrap();
        // One is served, two wait, the fourth is discarded. An answer of 40 bytes takes 27 us and 5 ms.
        let expected = [(16_000, 1, 0), (17_000, 1, 0), (18_000, 1, 0), (21_026, 0, 0), (22_026, 0, 0), (23_026, 0, 0)];
        let near = |(a, b): (&ObservedPacket, &ObservedPacket)| a.0.abs_diff(b.0) <= 1 && a.1 == b.1 && a.2 == b.2;
        let seen = world.seen.borrow();
        assert!(seen.len() == 6 && seen.iter().zip(&expected).all(near), "{seen:?}");
        let results = emulation.engine().results().unwrap();
        assert_eq!(results.queues.floats("dropped_full").unwrap()[0], 1.0);
        assert!(results.complete);
        let report = emulation.report();
        assert_eq!(report.floats("delivered_packets").unwrap(), [6.0]);
        assert_eq!(report.floats("slipped_share").unwrap(), [0.0]);
        assert_eq!(emulation.hosts.rejected(), RejectedPackets::default());
    }

    #[test]
    fn deferring_events_changes_nothing() {
        let seen = |lead| {
            let (world, mut emulation) = led(lead, sends(&[1, 1, 3, 7, 7, 7, 20], 0), PolicySpec::DropTail(()));
            emulation.run(&DriverControl::default()).unwrap();
            let rounded: Vec<_> = world.seen.borrow().iter().map(|seen| (seen.0 / 10, seen.1)).collect();
            (rounded, emulation.engine().results().unwrap().bytes())
        };
        assert_eq!(seen(TimeDelta::ZERO), seen(TimeDelta::from_millis(5)));
    }

    #[test]
    fn a_stall_causes_no_burst() {
        let (world, mut emulation) = world(sends(&[10, 10, 10], 0), PolicySpec::DropTail(()));
        world.stall.set(Some((TimeDelta::from_micros(15_500), TimeDelta::from_millis(7))));
        emulation.run(&DriverControl::default()).unwrap();
        // The first was due at 16 ms and leaves at 22.5 ms; the others keep their distance of one millisecond.
        let at_right: Vec<u64> = world.seen.borrow().iter().filter(|seen| seen.1 == 1).map(|seen| seen.0).collect();
        assert_eq!(at_right, [22_500, 23_500, 24_500]);
        let report = emulation.report();
        assert_eq!(report.floats("slips").unwrap(), [1.0]);
        assert!((report.floats("slipped_s").unwrap()[0] - 0.0065).abs() < 1e-6);
    }

    #[test]
    fn ecn_capable_packets_are_marked() {
        let red = RedSpec {
            min_threshold: 0.into(),
            max_threshold: 1.into(),
            max_probability: 1.0,
            weight: 1.0,
            gentle: false,
            mean_packet_size: 1000,
            queue_unit: RedQueueUnit::Packets,
            min_queue: 0,
            signals: RedSignals::Marks,
        };
        let fields = |ecn| {
            let (world, mut emulation) = world(sends(&[10, 10, 10], ecn), PolicySpec::Red(red));
            emulation.run(&DriverControl::default()).unwrap();
            let seen = world.seen.borrow();
            seen.iter().filter(|seen| seen.1 == 1).map(|seen| seen.2).collect::<Vec<_>>()
        };
        // The third packet finds one waiting.
        assert_eq!((fields(0b10), fields(0b00)), (vec![0b10, 0b10, 0b11], vec![0, 0]));
    }

    #[test]
    fn packets_without_a_route_are_counted() {
        let stranger = Ipv4Addr::new(198, 18, 0, 9);
        let to_send = vec![
            (TimeDelta::from_millis(1), packet((LEFT, stranger), 100, 0)),
            (TimeDelta::from_millis(2), vec![0x60; 40]),
            (TimeDelta::from_millis(3), Vec::new()),
        ];
        let (world, mut emulation) = world(to_send, PolicySpec::DropTail(()));
        emulation.run(&DriverControl::default()).unwrap();
        assert!(world.seen.borrow().is_empty());
        assert_eq!(emulation.hosts.rejected(), RejectedPackets { other_protocol: 2, no_route: 1, ..RejectedPackets::default() });
    }

    #[test]
    fn it_stops_on_request() {
        let (_world, mut emulation) = world(Vec::new(), PolicySpec::DropTail(()));
        let control = DriverControl::default();
        control.stop();
        emulation.run(&control).unwrap();
        assert!(!emulation.engine().results().unwrap().complete);
        assert_eq!(control.now(), Time::ZERO);
    }
}
