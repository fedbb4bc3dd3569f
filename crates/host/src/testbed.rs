//! Hosts on the nodes of a scenario, and the results of a run.

use crate::flow_reports::{FlowReports, ReportedFlow};
use crate::host::Host;
use crate::host_loop::{RejectedPackets, RunProperties};
use crate::nat::Rebinding;
use crate::packet_observer::PacketObserver;
use crate::virtual_hosts::{HostError, VirtualHost};
use crate::virtual_run::{HostAt, VirtualRun};
use std::any::Any;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::num::NonZeroUsize;
use std::path::Path;
use std::{error, fmt, io};
use tailback_core::network::FlowId;
use tailback_core::primitives::units::{Bytes, Time};
use tailback_core::{Engine, Results};
use tailback_scenario::{Emulated, Errors, Scenario, Transfer, Warnings, hint};

/// A scenario whose nodes are hosts.
///
/// Each node has an address, and the packets from one address to another cross the scenario's links and queues together with its
/// simulated flows. A group of flows can also run on hosts of its own, one pair of addresses per flow, with its delays and start times.
pub struct Testbed {
    engine: Engine,
    properties: RunProperties,
    ways: Vec<tailback_scenario::AddressPair>,
    /// Names of the hosts of the scenario, with the addresses of each.
    names: Vec<(String, Vec<Ipv4Addr>)>,
    groups: Vec<(String, Vec<Transfer>)>,
    hosts: Vec<VirtualHost>,
    observer: PacketObserver,
    /// Reports of the flows of groups.
    reports: FlowReports,
    warnings: Warnings,
    threads: NonZeroUsize,
}

/// The MTU of Ethernet (RFC 894).
const MTU: Bytes = Bytes(1500);

/// Why a testbed cannot be set up or run.
#[derive(Debug)]
pub enum TestbedError {
    /// The scenario is invalid.
    Scenario(Errors),
    /// No host has this name.
    UnknownHost { name: String, known: Vec<String> },
    /// No host has this address.
    UnknownAddress(Ipv4Addr),
    /// The group is not run by hosts.
    UnknownGroup { name: String, known: Vec<String> },
    /// The scenario uses a class in Python of this name.
    UserCode(String),
    /// The capture cannot be written.
    Capture(io::Error),
    /// The results cannot be computed.
    Results(String),
}

impl fmt::Display for TestbedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unknown = |f: &mut fmt::Formatter<'_>, what, name: &str, known: &[String]| {
            write!(f, "there is no {what} `{name}`; valid are {}", known.join(", "))?;
            let words: Vec<&str> = known.iter().map(String::as_str).collect();
            hint(name, &words).map_or(Ok(()), |hint| write!(f, "; {hint}"))
        };
        match self {
            TestbedError::Scenario(errors) => errors.fmt(f),
            TestbedError::UnknownHost { name, known } => unknown(f, "host", name, known),
            TestbedError::UnknownAddress(address) => write!(f, "no host has the address {address}"),
            TestbedError::UnknownGroup { name, known } => unknown(f, "group that runs on hosts", name, known),
            TestbedError::UserCode(name) => write!(f, "`user:{name}` is a class in Python, which a testbed cannot run"),
            TestbedError::Capture(error) => write!(f, "the capture cannot be written: {error}"),
            TestbedError::Results(problem) => f.write_str(problem),
        }
    }
}

impl error::Error for TestbedError {}

/// The end of a run.
pub struct Outcome {
    /// Measurements, up to the fault if there is one.
    pub results: Results,
    /// The fault of a host that ended the run.
    pub fault: Option<HostError>,
    /// Packets that were not carried, for example to an address without a transport.
    pub rejected: RejectedPackets,
    hosts: Vec<HostAt>,
}

impl Outcome {
    /// The host at an address, after the run; `None` if there is none of this type.
    pub fn host<H: Host>(&self, address: Ipv4Addr) -> Option<&H> {
        let (_, host) = self.hosts.iter().find(|(of, _)| *of == address)?;
        let any: &dyn Any = &**host;
        any.downcast_ref()
    }
}

impl Testbed {
    /// A testbed of a scenario. The flows of `groups` run on hosts instead of being simulated.
    ///
    /// # Errors
    /// The scenario is invalid or uses classes in Python, or a group does not exist.
    pub fn new(scenario: &Scenario, groups: &[&str]) -> Result<Testbed, TestbedError> {
        let groups: Vec<String> = groups.iter().map(|&name| name.into()).collect();
        let Emulated { network, warnings, hosts, ways, played, lead, .. } =
            scenario.emulated(&groups).map_err(TestbedError::Scenario)?;
        let properties = RunProperties { end: Time::ZERO + network.duration, lead };
        let ports = network.ports.iter().map(|port| port.name.clone()).collect();
        let names: Vec<_> = hosts.into_iter().map(|host| (host.name, host.addresses)).collect();
        let one = |name: &str, addresses: &[Ipv4Addr], index: usize| match addresses {
            [_] => name.to_owned(),
            _ => format!("{name}[{index}]"),
        };
        let mut hosts: Vec<VirtualHost> = names
            .iter()
            .flat_map(|(name, addresses)| {
                addresses
                    .iter()
                    .enumerate()
                    .map(move |(index, &address)| VirtualHost::new(one(name, addresses, index), address, MTU))
            })
            .collect();
        let observer = PacketObserver::of_virtual_time(hosts.iter().map(|host| host.name.clone()).collect(), ports);
        let groups: Vec<(String, Vec<Transfer>)> = played.into_iter().map(|played| (played.group, played.transfers)).collect();
        let reports = FlowReports::new(reported(&groups, &ways, &hosts), &network, &mut hosts);
        let engine = Engine::new(network);
        if let Some(failure) = engine.failure() {
            return Err(TestbedError::UserCode(failure.code.name.clone()));
        }
        Ok(Testbed { engine, properties, ways, names, groups, hosts, observer, reports, warnings, threads: NonZeroUsize::MIN })
    }

    /// Warnings about the scenario.
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// The primary address of the host with this name: a node, or `GROUP.sender` or `GROUP.receiver`.
    ///
    /// # Errors
    /// There is no such host.
    pub fn address(&self, name: &str) -> Result<Ipv4Addr, TestbedError> {
        let found = self.names.iter().find(|(host, _)| host == name).and_then(|(_, addresses)| addresses.first());
        let known = || self.names.iter().map(|(host, _)| host.clone()).collect();
        found.copied().ok_or_else(|| TestbedError::UnknownHost { name: name.into(), known: known() })
    }

    /// The transfers of a group that runs on hosts: addresses, start, size.
    ///
    /// # Errors
    /// The group is not run by hosts.
    pub fn transfers(&self, group: &str) -> Result<&[Transfer], TestbedError> {
        let found = self.groups.iter().find(|(name, _)| name == group).map(|(_, transfers)| transfers.as_slice());
        let known = || self.groups.iter().map(|(name, _)| name.clone()).collect();
        found.ok_or_else(|| TestbedError::UnknownGroup { name: group.into(), known: known() })
    }

    /// Connects a transport at an address. Packets to addresses without one are lost.
    ///
    /// # Errors
    /// No host has this address.
    pub fn attach(&mut self, address: Ipv4Addr, host: impl Host) -> Result<(), TestbedError> {
        self.interface(address)?.attach(Box::new(host));
        Ok(())
    }

    /// Sets the largest packet, with headers, that the interface of a host sends: 1500 bytes by default. A larger one ends the run.
    ///
    /// # Errors
    /// No host has this address.
    pub fn set_mtu(&mut self, address: Ipv4Addr, mtu: Bytes) -> Result<(), TestbedError> {
        self.interface(address)?.set_mtu(mtu);
        Ok(())
    }

    /// Changes the source port of a host (UDP or TCP) during the run.
    ///
    /// # Errors
    /// No host has this address.
    pub fn rebind(&mut self, address: Ipv4Addr, rebinding: Rebinding) -> Result<(), TestbedError> {
        self.interface(address)?.rebind(rebinding);
        Ok(())
    }

    /// Sets the maximum number of threads, 1 by default. One of them runs all hosts; the others take parts of the network that are separated
    /// from it by a delay. Results do not depend on it.
    pub fn set_threads(&mut self, threads: NonZeroUsize) {
        self.threads = threads;
    }

    /// Writes all packets to a file (pcapng), one interface per host, with comments on discarded ones.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn capture_to(&mut self, file: &Path) -> Result<(), TestbedError> {
        self.observer.capture_to(file).map_err(TestbedError::Capture)
    }

    fn interface(&mut self, address: Ipv4Addr) -> Result<&mut VirtualHost, TestbedError> {
        self.hosts.iter_mut().find(|host| host.address == address).ok_or(TestbedError::UnknownAddress(address))
    }

    /// Runs to the end of the scenario, or to the fault of a host.
    ///
    /// # Errors
    /// The capture or the results cannot be written. A fault of a host is no error: [`Outcome::fault`] has it.
    pub fn run(self) -> Result<Outcome, TestbedError> {
        let Testbed { engine, properties, ways, hosts, observer, reports, threads, .. } = self;
        let (mut run, _) = VirtualRun::new(engine, properties, &ways, hosts, observer, reports).on_threads(threads);
        run.run_for(Time::NEVER, u64::MAX);
        if let Some(problem) = run.finish_capture() {
            return Err(TestbedError::Capture(io::Error::other(problem)));
        }
        let results = run.results().map_err(|error| TestbedError::Results(error.to_string()))?;
        let fault = run.fault().cloned();
        let (hosts, rejected) = run.into_hosts();
        Ok(Outcome { results, fault, rejected, hosts })
    }
}

/// The flows of groups.
fn reported(
    groups: &[(String, Vec<Transfer>)],
    ways: &[tailback_scenario::AddressPair],
    hosts: &[VirtualHost],
) -> Vec<ReportedFlow> {
    let hosts: HashMap<Ipv4Addr, usize> = hosts.iter().enumerate().map(|(index, host)| (host.address, index)).collect();
    let ways: HashMap<(Ipv4Addr, Ipv4Addr), FlowId> = ways.iter().map(|way| ((way.from, way.to), way.flow)).collect();
    let one = |group: &str, index: u64, transfer: &Transfer| {
        Some(ReportedFlow {
            group: group.to_owned(),
            index,
            flow: *ways.get(&(transfer.from, transfer.to))?,
            hosts: [*hosts.get(&transfer.from)?, *hosts.get(&transfer.to)?],
            start: transfer.start,
            stop: Some(transfer.stop).filter(|&stop| stop < Time::NEVER),
            size: transfer.size,
        })
    };
    let flows = groups.iter().flat_map(|(name, transfers)| (0..).zip(transfers).map(move |(index, of)| (name, index, of)));
    flows.filter_map(|(name, index, transfer)| one(name, index, transfer)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Datagram, Framing};
    use crate::host::Outbox;
    use crate::ip::EcnField;
    use crate::report::TransportReport;
    use crate::virtual_hosts::HostFault;
    use std::net::SocketAddrV4;
    use tailback_core::primitives::units::TimeDelta;

    const DUMBBELL: &str = "duration = \"1 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\n";

    fn testbed(queue: &str) -> Testbed {
        Testbed::new(&Scenario::from_toml(&format!("{DUMBBELL}queue = {{{queue}}}\n"), "").unwrap(), &[]).unwrap()
    }

    /// Sends a datagram of 1222 bytes (1250 on the wire, 1 ms) at each of these times, and notes when the answers arrive.
    struct Client {
        ends: (SocketAddrV4, SocketAddrV4),
        at: Vec<Time>,
        ecn: EcnField,
        seen: Vec<(Time, u16, EcnField)>,
    }

    impl Host for Client {
        fn receive(&mut self, now: Time, datagram: &Datagram<'_>) {
            self.seen.push((now, datagram.destination.port(), datagram.ecn));
        }

        fn poll(&mut self, now: Time, outbox: &mut Outbox) {
            while self.at.first().is_some_and(|&at| at <= now) {
                self.at.remove(0);
                let (source, destination) = self.ends;
                outbox.send(&Datagram { source, destination, ecn: self.ecn, payload: &[7; 1222] });
            }
        }

        fn deadline(&self) -> Option<Time> {
            self.at.first().copied()
        }
    }

    /// Returns each datagram to its source, with the ECN field that it had at its arrival.
    #[derive(Default)]
    struct Echo {
        to_return: Vec<(SocketAddrV4, SocketAddrV4, EcnField, Vec<u8>)>,
        sources: Vec<SocketAddrV4>,
    }

    impl Host for Echo {
        fn receive(&mut self, _now: Time, datagram: &Datagram<'_>) {
            self.sources.push(datagram.source);
            self.to_return.push((datagram.destination, datagram.source, datagram.ecn, datagram.payload.into()));
        }

        fn poll(&mut self, _now: Time, outbox: &mut Outbox) {
            for (source, destination, ecn, payload) in self.to_return.drain(..) {
                outbox.send(&Datagram { source, destination, ecn, payload: &payload });
            }
        }

        fn deadline(&self) -> Option<Time> {
            None
        }
    }

    const END: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(198, 18, 0, 2), 443);

    fn at(ms: u64) -> Time {
        Time::ZERO + TimeDelta::from_millis(ms)
    }

    fn client(testbed: &Testbed, times: &[u64], ecn: EcnField) -> Client {
        let end = |name, port| SocketAddrV4::new(testbed.address(name).unwrap(), port);
        Client {
            ends: (end("left", 1000), end("right", 443)),
            at: times.iter().map(|&ms| at(ms)).collect(),
            ecn,
            seen: Vec::new(),
        }
    }

    fn run(mut testbed: Testbed, client: Client) -> (Outcome, Ipv4Addr, Ipv4Addr) {
        let [left, right] = ["left", "right"].map(|name| testbed.address(name).unwrap());
        testbed.attach(left, client).unwrap();
        testbed.attach(right, Echo::default()).unwrap();
        (testbed.run().unwrap(), left, right)
    }

    #[test]
    fn round_trips_are_exact_and_a_queue_delays_a_train() {
        let testbed = testbed("buffer = \"9 packets\"");
        let sent = client(&testbed, &[0, 100, 100, 100], EcnField::NotEct);
        let (outcome, left, _) = run(testbed, sent);
        // 1 ms and 10 ms each way.
        let seen: Vec<f64> = outcome.host::<Client>(left).unwrap().seen.iter().map(|(time, ..)| time.seconds() * 1e3).collect();
        for (seen, expected) in seen.iter().zip([22.0, 122.0, 123.0, 124.0]) {
            assert!((seen - expected).abs() < 1e-6, "{seen}");
        }
        assert_eq!((seen.len(), outcome.fault.is_none()), (4, true));
        assert!(outcome.host::<Echo>(left).is_none());
    }

    #[test]
    fn equal_runs_are_equal() {
        let results = || {
            let testbed = testbed("buffer = \"9 packets\"}\nloss = {probability = \"30 %\"");
            let sent = client(&testbed, &[0, 3, 3, 3, 50, 51, 52, 53, 54], EcnField::NotEct);
            let (outcome, left, _) = run(testbed, sent);
            (outcome.results.bytes(), outcome.host::<Client>(left).unwrap().seen.clone())
        };
        assert_eq!(results(), results());
    }

    #[test]
    fn queues_mark_capable_packets() {
        for (ecn, expected) in [(EcnField::Ect0, EcnField::Ce), (EcnField::Ect1, EcnField::Ce)] {
            let testbed = testbed("buffer = \"99 packets\", policy = \"threshold\", threshold = \"2 packets\"");
            let sent = client(&testbed, &[5; 9], ecn);
            let (outcome, left, _) = run(testbed, sent);
            let seen: Vec<EcnField> = outcome.host::<Client>(left).unwrap().seen.iter().map(|(.., ecn)| *ecn).collect();
            assert_eq!((seen.len(), seen[0], seen[8]), (9, ecn, expected));
        }
    }

    #[test]
    fn after_a_rebinding_packets_to_the_old_port_are_lost() {
        let mut testbed = testbed("buffer = \"9 packets\"");
        let left = testbed.address("left").unwrap();
        testbed.rebind(left, Rebinding { at: at(110), port: 2000 }).unwrap();
        let sent = client(&testbed, &[0, 100, 200], EcnField::NotEct);
        let (outcome, left, right) = run(testbed, sent);
        // The answer to the second packet is on its way at the change.
        let seen: Vec<u64> = outcome.host::<Client>(left).unwrap().seen.iter().map(|(time, ..)| time.0 / 1_000_000_000).collect();
        assert_eq!(seen, [22, 222]);
        assert_eq!(outcome.host::<Client>(left).unwrap().seen[1].1, 1000);
        let ports: Vec<u16> = outcome.host::<Echo>(right).unwrap().sources.iter().map(SocketAddrV4::port).collect();
        assert_eq!(ports, [1000, 1000, 2000]);
    }

    /// A host that misbehaves at 500 ms.
    struct Faulty(fn(Time, &mut Outbox) -> Option<Time>, Option<Time>);

    impl Host for Faulty {
        fn receive(&mut self, _now: Time, _datagram: &Datagram<'_>) {}

        fn poll(&mut self, now: Time, outbox: &mut Outbox) {
            self.1 = if now < at(500) { Some(at(500)) } else { self.0(now, outbox) };
        }

        fn deadline(&self) -> Option<Time> {
            self.1
        }
    }

    #[test]
    fn faults_of_hosts_end_the_run_and_keep_its_results() {
        let fault = |act: fn(Time, &mut Outbox) -> Option<Time>| {
            let mut testbed = testbed("buffer = \"9 packets\"");
            let [left, right] = ["left", "right"].map(|name| testbed.address(name).unwrap());
            testbed.attach(left, Faulty(act, None)).unwrap();
            testbed.attach(right, Echo::default()).unwrap();
            let outcome = testbed.run().unwrap();
            assert!(!outcome.results.complete);
            let error = outcome.fault.unwrap();
            assert_eq!(error.host, "left");
            assert!((at(500)..at(500) + TimeDelta(2_000_000)).contains(&error.at));
            error.fault
        };
        assert_eq!(fault(|_, _| panic!("the state is impossible")), HostFault::Panicked("the state is impossible".into()));
        assert_eq!(fault(|_, _| Some(at(499))), HostFault::DeadlineInThePast(at(499)));
        assert_eq!(fault(|now, _| Some(now)), HostFault::NoProgress(1000));
        // A picosecond and a nanosecond.
        assert_eq!(fault(|now, _| Some(now + TimeDelta(1))), HostFault::NoProgress(1000));
        assert_eq!(fault(|now, _| Some(now + TimeDelta(1000))), HostFault::NoProgress(1000));
        let too_large = |_: Time, outbox: &mut Outbox| {
            outbox.send(&Datagram { source: END, destination: END, ecn: EcnField::NotEct, payload: &[0; 1500] });
            None
        };
        assert_eq!(fault(too_large), HostFault::PacketTooLarge { bytes: Bytes(1528), mtu: Bytes(1500) });
    }

    #[test]
    fn a_panic_in_any_method_is_a_fault() {
        struct Panics(&'static str);
        impl Host for Panics {
            fn receive(&mut self, _now: Time, _datagram: &Datagram<'_>) {
                assert!(self.0 != "receive", "in receive");
            }
            fn poll(&mut self, _now: Time, _outbox: &mut Outbox) {}
            fn deadline(&self) -> Option<Time> {
                assert!(self.0 != "deadline", "in deadline");
                None
            }
        }
        for (method, when) in [("receive", 111), ("deadline", 0)] {
            let mut testbed = testbed("buffer = \"9 packets\"");
            let sent = client(&testbed, &[100], EcnField::NotEct);
            let [left, right] = ["left", "right"].map(|name| testbed.address(name).unwrap());
            testbed.attach(left, sent).unwrap();
            testbed.attach(right, Panics(method)).unwrap();
            let error = testbed.run().unwrap().fault.unwrap();
            // Whole milliseconds: events are processed one picosecond later.
            assert_eq!((error.host.as_str(), error.at.0 / 1_000_000_000), ("right", when));
            assert_eq!(error.fault, HostFault::Panicked(format!("in {method}")));
        }
    }

    #[test]
    fn packets_to_nobody_are_counted() {
        let mut testbed = testbed("buffer = \"9 packets\"");
        let sent = client(&testbed, &[0, 100], EcnField::NotEct);
        testbed.attach(testbed.address("left").unwrap(), sent).unwrap();
        assert_eq!(testbed.run().unwrap().rejected, RejectedPackets { not_taken: 2, ..RejectedPackets::default() });
    }

    #[test]
    fn an_endless_poll_and_an_oversized_ip_packet_are_faults() {
        let fault = |mtu: u64, act: fn(Time, &mut Outbox) -> Option<Time>| {
            let mut testbed = testbed("buffer = \"9 packets\"");
            let left = testbed.address("left").unwrap();
            testbed.set_mtu(left, Bytes(mtu)).unwrap();
            testbed.attach(left, Faulty(act, None)).unwrap();
            testbed.run().unwrap().fault.unwrap().fault
        };
        let endless = |_: Time, outbox: &mut Outbox| loop {
            outbox.send(&Datagram { source: END, destination: END, ecn: EcnField::NotEct, payload: &[] });
        };
        assert_eq!(fault(1500, endless), HostFault::EndlessPackets);
        let giant = |_: Time, outbox: &mut Outbox| {
            outbox.send(&Datagram { source: END, destination: END, ecn: EcnField::NotEct, payload: &[0; 65_530] });
            None
        };
        assert_eq!(fault(100_000, giant), HostFault::PacketTooLarge { bytes: Bytes(65_536), mtu: Bytes(65_535) });
    }

    /// Reports a window of 90 kB.
    struct Windowed;

    impl Host for Windowed {
        fn receive(&mut self, _now: Time, _datagram: &Datagram<'_>) {}

        fn poll(&mut self, _now: Time, _outbox: &mut Outbox) {}

        fn deadline(&self) -> Option<Time> {
            None
        }

        fn report(&mut self) -> TransportReport {
            TransportReport { cwnd: Some(Bytes(90_000)), ..TransportReport::default() }
        }
    }

    #[test]
    fn traced_windows_are_in_packets_of_the_interface() {
        let flows = "queue = {buffer = \"9 packets\"}\n[flows.web]\nfrom = \"left\"\nto = \"right\"\n\
                     tcp = {preset = \"sack\"}\n[record]\ntraces = [\"cwnd\"]\n";
        let scenario = Scenario::from_toml(&format!("{DUMBBELL}{flows}"), "").unwrap();
        let mut testbed = Testbed::new(&scenario, &["web"]).unwrap();
        let sender = testbed.transfers("web").unwrap()[0].from;
        testbed.set_mtu(sender, Bytes(9000)).unwrap();
        testbed.attach(sender, Windowed).unwrap();
        let results = testbed.run().unwrap().results;
        assert_eq!(results.traces[0].floats("cwnd_packets").unwrap(), [10.0]);
    }

    #[test]
    fn classes_in_python_are_refused() {
        let flows = "queue = {buffer = \"9 packets\"}\n[flows.web]\nfrom = \"left\"\nto = \"right\"\n\
                     tcp = {preset = \"sack\", controller = \"user:mine\"}\n";
        let scenario = Scenario::from_toml(&format!("{DUMBBELL}{flows}"), "").unwrap();
        let problem = Testbed::new(&scenario, &[]).map(|_| ()).unwrap_err().to_string();
        assert_eq!(problem, "`user:mine` is a class in Python, which a testbed cannot run");
    }

    #[test]
    fn trains_are_sent_as_single_packets() {
        let mut outbox = Outbox::new(Framing::Udp);
        outbox.send_train(&Datagram { source: END, destination: END, ecn: EcnField::NotEct, payload: &[0; 2500] }, 1200);
        let lengths: Vec<usize> = std::iter::from_fn(|| outbox.take()).map(|packet| packet.len()).collect();
        assert_eq!(lengths, [1228, 1228, 128]);
    }

    #[test]
    fn unknown_names_have_hints() {
        let mut testbed = testbed("buffer = \"9 packets\"");
        assert_eq!(
            testbed.address("lefd").unwrap_err().to_string(),
            "there is no host `lefd`; valid are left, right; did you mean `left`?"
        );
        assert!(testbed.transfers("web").is_err());
        let nobody = Ipv4Addr::new(10, 0, 0, 1);
        assert_eq!(testbed.attach(nobody, Echo::default()).unwrap_err().to_string(), "no host has the address 10.0.0.1");
    }
}
