//! A run in virtual time, in slices.

use crate::flow_reports::{FlowReports, ReportedFlow};
use crate::host::Host;
use crate::host_loop::{AddressPair, HostLoop, RejectedPackets, RunProperties};
use crate::nat::Rebinding;
use crate::packet_observer::PacketObserver;
use crate::virtual_hosts::{HostError, VirtualClock, VirtualHost, VirtualHosts};
use crate::virtual_network::VirtualNetwork;
use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::num::NonZeroUsize;
use std::path::Path;
use tailback_core::network::Network;
use tailback_core::primitives::units::{Bytes, Time};
use tailback_core::record::{Column, Table};
use tailback_core::user_code::Failure;
use tailback_core::{ConservationError, Engine, NotParallel, Results};
use tailback_scenario::{HostedFlow, HostedFlows};

pub(crate) type HostAt = (Ipv4Addr, Box<dyn Host>);

/// A network with hosts during its run.
pub struct VirtualRun {
    network: VirtualNetwork,
    fault: Option<HostError>,
    /// The groups of the reverse direction, which have no rows of their own in the results, and those of the data.
    reverse: HashMap<String, String>,
    reports: FlowReports,
}

impl VirtualRun {
    pub(crate) fn new(
        engine: Engine,
        properties: RunProperties,
        ways: &[tailback_scenario::AddressPair],
        hosts: Vec<VirtualHost>,
        observer: PacketObserver,
        reports: FlowReports,
    ) -> VirtualRun {
        let index: HashMap<Ipv4Addr, usize> = hosts.iter().enumerate().map(|(index, host)| (host.address, index)).collect();
        let pair = |way: &tailback_scenario::AddressPair| AddressPair {
            from: way.from,
            to: way.to,
            flow: way.flow,
            host: index[&way.to],
            listed: None,
        };
        let ways: Vec<AddressPair> = ways.iter().map(pair).collect();
        let clock = VirtualClock::default();
        let hosts = HostLoop::new(properties, &ways, observer, (VirtualHosts::new(hosts, clock.clone()), clock));
        VirtualRun { network: VirtualNetwork::new(engine, hosts), fault: None, reverse: HashMap::new(), reports }
    }

    /// A run of a network whose hosted flows have these senders and receivers. `start` makes the engine.
    pub fn of_flows(
        network: Network,
        hosted: &HostedFlows,
        ends: Vec<[Box<dyn Host>; 2]>,
        start: impl FnOnce(Network) -> Engine,
    ) -> VirtualRun {
        let counts = hosted.flows.iter().fold(vec![0; hosted.stacks.len()], |mut counts, flow| {
            counts[flow.stack] += 1;
            counts
        });
        let mut hosts: Vec<VirtualHost> = hosted
            .flows
            .iter()
            .zip(ends)
            .flat_map(|(flow, [sender, receiver])| {
                let name = |end: &str| {
                    let group = &hosted.stacks[flow.stack].group;
                    if counts[flow.stack] == 1 { format!("{group}.{end}") } else { format!("{group}.{end}[{}]", flow.index) }
                };
                let mtu = hosted.stacks[flow.stack].mtu;
                let mut sender = connected(name("sender"), (flow.from, mtu, flow.start), sender);
                if let Some(writes) = &flow.writes {
                    sender.write_at(writes);
                }
                for (&at, port) in flow.rebinds.iter().zip((FIRST_REBOUND..=u16::MAX).cycle()) {
                    sender.rebind(Rebinding { at, port });
                }
                [sender, connected(name("receiver"), (flow.to, mtu, Time::ZERO), receiver)]
            })
            .collect();
        let ports = network.ports.iter().map(|port| port.name.clone()).collect();
        let observer = PacketObserver::of_virtual_time(hosts.iter().map(|host| host.name.clone()).collect(), ports);
        let properties = RunProperties { end: Time::ZERO + network.duration, lead: hosted.lead };
        let ways: Vec<_> = hosted.flows.iter().flat_map(HostedFlow::ways).collect();
        let flows = hosted.flows.iter().enumerate().map(|(place, flow)| ReportedFlow {
            group: hosted.stacks[flow.stack].group.clone(),
            index: flow.index,
            flow: flow.there,
            hosts: [2 * place, 2 * place + 1],
            start: flow.start,
            stop: Some(flow.stop).filter(|&stop| stop < Time::NEVER),
            size: flow.size,
        });
        let reports = FlowReports::new(flows.collect(), &network, &mut hosts);
        let names = hosted.stacks.iter().map(|stack| stack.group.clone());
        let reverse = hosted.reverse.iter().map(|&group| network.groups[group].name.clone()).zip(names).collect();
        VirtualRun { reverse, ..VirtualRun::new(start(network), properties, &ways, hosts, observer, reports) }
    }

    /// Writes all packets of the hosts to a file (pcapng), one interface per host, with comments on discarded ones.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn capture_to(&mut self, file: &Path) -> io::Result<()> {
        self.network.hosts().observer().capture_to(file)
    }

    /// Completes the capture. Returns the problem with it, if any.
    pub fn finish_capture(&mut self) -> Option<String> {
        self.network.hosts().observer().finish()
    }

    /// The rest of the run on at most this number of threads; one of them runs all hosts. Otherwise the reason why it remains on one.
    /// Results do not depend on the number of threads.
    pub fn on_threads(self, threads: NonZeroUsize) -> (VirtualRun, Option<NotParallel>) {
        let (network, why) = self.network.divided(threads);
        (VirtualRun { network, ..self }, why)
    }

    /// Number of threads of the run.
    pub fn threads(&self) -> usize {
        self.network.threads()
    }

    /// The time reached.
    pub fn now(&self) -> Time {
        self.network.now()
    }

    /// Performs all actions before `until`, but only about `enough` instants with actions, or events on several threads. Returns true once it
    /// is done, or after a fault. Slices do not affect the results.
    pub fn run_for(&mut self, until: Time, enough: u64) -> bool {
        if self.fault.is_some() {
            return true;
        }
        match self.advance(until, enough) {
            Ok(is_done) => is_done,
            Err(error) => {
                // The devices of virtual hosts have no other errors.
                self.fault = error.downcast::<HostError>().ok();
                if let Some(fault) = &self.fault {
                    self.network.stop(fault.at);
                }
                true
            }
        }
    }

    fn advance(&mut self, until: Time, enough: u64) -> io::Result<bool> {
        if let Some(end) = self.reports.warmup {
            let is_done = self.network.run_for(until.min(end), enough)?;
            if !is_done || until < end {
                return Ok(is_done);
            }
            self.reports.end_warmup(self.network.hosts().hosts_mut())?;
        }
        let is_done = self.network.run_for(until, enough)?;
        if is_done {
            // A host that cannot report ends the run here.
            self.reports.read(self.network.hosts().hosts_mut())?;
        }
        Ok(is_done)
    }

    /// Texts about packets of hosts that the network did not carry, and about connections that a transport has ended by itself, before the
    /// transfer was complete and before the application stopped.
    pub fn warnings(&mut self) -> Vec<String> {
        let rejections = self.reports.rejections(self.network.hosts());
        rejections.into_iter().chain(self.reports.early_ends(self.network.hosts().hosts_mut())).collect()
    }

    /// The failure of user code, if any; user code runs on one thread.
    pub fn failure(&self) -> Option<Failure> {
        self.network.failure()
    }

    /// Applies a function to the whole engine.
    pub fn with_engine<R>(&mut self, apply: impl FnOnce(&Engine) -> R) -> R {
        self.network.with_engine(apply)
    }

    /// The fault of a host that has ended the run.
    pub fn fault(&self) -> Option<&HostError> {
        self.fault.as_ref()
    }

    /// Measurements up to now. Packets in the reverse direction of a flow have no rows of their own, as in simulated TCP.
    ///
    /// # Errors
    /// The engine has lost or duplicated a packet.
    pub fn results(&mut self) -> Result<Results, ConservationError> {
        let external = self.reports.external(self.network.hosts());
        let (results, until) = self.network.with_engine(|engine| (engine.results_with(&external), engine.now()));
        let mut results = results?;
        self.reports.add_traces(self.network.hosts().hosts_mut(), until, &mut results.traces);
        for table in [&mut results.flows, &mut results.groups] {
            let kept: Vec<bool> = table.words("group").iter().flatten().map(|group| !self.reverse.contains_key(*group)).collect();
            table.keep(&kept);
        }
        if let Some(table) = &mut results.queue_flows {
            self.count_as_acks(table);
        }
        Ok(results)
    }

    /// Names the packets in the reverse direction by the groups of their flows, as acknowledgements of simulated TCP.
    fn count_as_acks(&self, table: &mut Table) {
        for (_, column) in table.columns.iter_mut().filter(|(name, _)| name == "group") {
            let Column::Word(values, words) = column else { continue };
            let position = |word: &String| words.iter().position(|known| known == self.reverse.get(word).unwrap_or(word));
            let of_data: Vec<Option<usize>> = words.iter().map(position).collect();
            values.iter_mut().for_each(|value| *value = of_data[*value as usize].map_or(*value, |found| found as u32));
        }
    }

    /// The hosts by address, and the packets that were not carried.
    pub(crate) fn into_hosts(self) -> (Vec<HostAt>, RejectedPackets) {
        let (all, rejected) = self.network.into_hosts().into_hosts();
        (all.hosts.into_iter().filter_map(|host| Some((host.address, host.detach()?))).collect(), rejected)
    }
}

/// Ports that a NAT assigns, in order. The ports of stacks are the first of the ephemeral ports (RFC 6335 section 6).
const FIRST_REBOUND: u16 = 50_000;

fn connected(name: String, (address, mtu, start): (Ipv4Addr, Bytes, Time), transport: Box<dyn Host>) -> VirtualHost {
    let mut host = VirtualHost::new(name, address, mtu);
    host.start_at(start);
    host.attach(transport);
    host
}
