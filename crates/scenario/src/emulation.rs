//! Emulation: real packets between the nodes of a scenario, and real TCP instead of some of its flows.
//!
//! Each node becomes a host with an address, and so does each end of a flow that the kernel runs. The packets from one address to another are
//! an external flow of the network.

use crate::network::{self, IP_HEADER};
use crate::problem::{Errors, Report, Warnings};
use crate::scenario::Scenario;
use crate::schema::Description;
use crate::schema::{Application, Flow, FlowTcp, Nodes};
use crate::values::Name;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{
    Buffer, Change, ChangeKind, Flow as CoreFlow, FlowId, Group, GroupId, MAX_PACKET, Network, Port, Transport,
};
use tailback_core::primitives::random::Entity;
use tailback_core::primitives::segment_number::SegmentNumber;
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};
use tailback_core::tcp::TcpSpec;
use tailback_core::traffic::{ApplicationSpec, Arrivals, DatagramSpec, MessagesSpec, PacketSize};

/// A network with real packets.
#[derive(Clone, Debug)]
pub struct Emulated {
    pub network: Network,
    pub warnings: Warnings,
    pub hosts: Vec<Host>,
    /// Sorted by addresses.
    pub ways: Vec<AddressPair>,
    pub played: Vec<Played>,
    /// Minimum time from an event at a port to the delivery of a real packet: the propagation delay behind the last port.
    pub lead: TimeDelta,
    /// Reverse links that lose nothing, with unlimited buffers, although the links that they belong to lose packets.
    pub lossless_reverses: Vec<String>,
}

/// A host with its own network stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Name of the node, or `GROUP.sender` and `GROUP.receiver` for a group that the kernel runs.
    pub name: String,
    /// The first is the primary address.
    pub addresses: Vec<Ipv4Addr>,
}

/// External flow of the packets from one address to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressPair {
    pub from: Ipv4Addr,
    pub to: Ipv4Addr,
    pub flow: FlowId,
}

/// A flow group that the kernel runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    pub group: String,
    /// Index of the host.
    pub sender: usize,
    pub receiver: usize,
    pub tcp: TcpSpec,
    pub controller: ControllerSpec,
    pub transfers: Vec<Transfer>,
}

/// A flow that the kernel runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    pub from: Ipv4Addr,
    pub to: Ipv4Addr,
    pub start: Time,
    /// [`Time::NEVER`] without a stop.
    pub stop: Time,
    /// `None` for a greedy flow.
    pub size: Option<Bytes>,
    /// Segments in listed drops of the flow.
    pub listed: Vec<SegmentNumber>,
    /// Times at which its application writes, with the bytes written until then; `None` without an application.
    pub writes: Option<Vec<(Time, Bytes)>>,
    /// Requests of the receiver, which the data of the flow answer.
    pub conversation: Option<Conversation>,
}

/// The messages of both directions of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    pub requests: MessagesSpec,
    /// The flow of the requests.
    pub requested_on: FlowId,
    pub responses: MessagesSpec,
    /// Whether messages wait for the handshake.
    pub handshake: bool,
}

/// Maximum number of hosts. Each pair of hosts has two external flows, and each host has its own processes.
const MAX_HOSTS: usize = 64;

/// Bytes in which a request names the size of the chunk.
const SIZE_OF_A_CHUNK: u64 = 8;

/// 198.18.0.0/15 is reserved for network tests (RFC 2544, RFC 6890).
const FIRST_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
const ADDRESSES: u32 = (1 << 17) - 2;

impl Scenario {
    /// The network in which the packets between all nodes and the flows of the groups in `played` are real. Seeds and names of simulated parts
    /// do not change, so that their random draws are the same as in a simulation.
    ///
    /// # Errors
    /// As [`Scenario::build`]; groups that do not exist or that the kernel cannot run.
    pub fn emulated(&self, played: &[String]) -> Result<Emulated, Errors> {
        let mut report = Report::new(self.source());
        let mut description = self.description.clone();
        for name in played {
            check_played(&description, name, &mut report);
        }
        for (name, _) in description.flows.iter().filter(|(_, flow)| flow.tcp.as_ref().is_some_and(|tcp| tcp.stack().is_some())) {
            let problem = report.add(format!("flows.{name}.tcp.stack"), "`stack` runs in virtual time and cannot be emulated");
            problem.expected("simulated TCP with a `preset`");
        }
        for (name, _) in description.flows.iter().filter(|(_, flow)| flow.framing.is_some()) {
            let problem =
                report.add(format!("flows.{name}.framing"), "`framing` cannot be emulated: real packets are not sent in cells");
            problem.expected("no `framing`");
        }
        if !report.is_empty() {
            return Err(report.finish());
        }
        // Errors of links are reported when the network is built.
        let mut aside = Report::new(self.source());
        let nodes = network::nodes(&description, &mut aside);
        if nodes.len() > MAX_HOSTS {
            let problem = report.add("nodes", "`nodes` has too many entries: each becomes a host with its own network stack");
            problem.given(nodes.len().to_string()).expected(format!("at most {MAX_HOSTS}"));
            return Err(report.finish());
        }
        for name in nodes.iter().filter(|name| means_something_else(name.as_str())) {
            let problem =
                report.add(format!("nodes.{name}"), format!("`{name}` is a name that programs resolve to another address"));
            problem.given(name.to_string()).expected("a name that is not `localhost` and not a number");
        }
        if !report.is_empty() {
            return Err(report.finish());
        }
        let pairs = network::connected(&description, &mut aside);
        for (from, to) in &pairs {
            let flow =
                Flow { from: Some(Nodes::one(from)), to: Some(Nodes::one(to)), tcp: Some(FlowTcp::default()), ..Flow::default() };
            description.flows.insert(between(from, to), flow);
        }
        match network::network(&description, &mut report) {
            Some(network) if network.ports.iter().any(|port| port.impairments.duplication > 0.0) => {
                let names = network.ports.iter().filter(|port| port.impairments.duplication > 0.0).map(|port| &port.name);
                let problem = report.add("links", "`duplication` cannot be emulated");
                problem.given(names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")).expected("no `duplication`");
                Err(report.finish())
            }
            Some(network) if report.is_empty() => {
                let mut build = Build::new(network, nodes);
                build.between_nodes(&pairs);
                build.play(played);
                build.finish(report)
            }
            _ => Err(report.finish()),
        }
    }
}

/// Names that a resolver does not look up.
fn means_something_else(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || name.starts_with("0x") || name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Name of the group of packets from one node to another. Names of scenarios cannot have this form.
fn between(from: &Name, to: &Name) -> Name {
    Name::made(format!("{from}->{to}"))
}

fn check_played(description: &Description, name: &str, report: &mut Report) {
    let at = format!("flows.{name}");
    let Some(flow) = Name::of(name).and_then(|name| description.flows.get(&name)) else {
        let problem = report.add("flows", format!("`flows` has no group `{}`", name.escape_debug()));
        problem.one_of(name, description.flows.keys().map(Name::as_str));
        return;
    };
    let mut refuse = |key: &str, message: &str, expected: &str| {
        report.add(format!("{at}.{key}"), message).expected(expected);
    };
    if flow.tcp.is_none() {
        refuse("source", "`source` has no transport that a host could run", "`tcp`");
    }
    if let Some(Application::User(_)) = &flow.application {
        refuse("application", "`application` in user code cannot run on a host", "an application of another kind");
    }
    if let Some(Application::Video(video)) = &flow.application
        && video.request_size.bytes() < SIZE_OF_A_CHUNK
    {
        let message = "`request_size` is too small for a flow between hosts, whose requests contain the size of a chunk";
        refuse("application.request_size", message, &format!("at least {SIZE_OF_A_CHUNK} B"));
    }
    if flow.send_processing.is_some() || flow.receive_processing.is_some() {
        let key = if flow.send_processing.is_some() { "send_processing" } else { "receive_processing" };
        refuse(key, &format!("`{key}` cannot be set for a real host"), "no processing");
    }
}

/// Both external flows of a connection.
#[derive(Clone, Copy)]
pub(crate) struct FlowPair {
    pub(crate) there: FlowId,
    pub(crate) back: FlowId,
}

pub(crate) struct Build {
    pub(crate) network: Network,
    hosts: Vec<Host>,
    pub(crate) ways: Vec<AddressPair>,
    played: Vec<Played>,
    addresses: u32,
}

impl Build {
    pub(crate) fn new(network: Network, nodes: Vec<Name>) -> Build {
        let mut build = Build { network, hosts: Vec::new(), ways: Vec::new(), played: Vec::new(), addresses: 0 };
        for node in nodes {
            let host = build.host(node.to_string());
            build.address(host);
        }
        build
    }

    pub(crate) fn host(&mut self, name: String) -> usize {
        self.hosts.push(Host { name, addresses: Vec::new() });
        self.hosts.len() - 1
    }

    pub(crate) fn address(&mut self, host: usize) -> Ipv4Addr {
        let address = Ipv4Addr::from(u32::from(FIRST_ADDRESS) + self.addresses);
        self.addresses += 1;
        self.hosts[host].addresses.push(address);
        address
    }

    pub(crate) fn group(&self, name: &str) -> Option<GroupId> {
        GroupId::enumerate(&self.network.groups).find(|(_, group)| group.name == name).map(|(index, _)| index)
    }

    pub(crate) fn flows_of(&self, group: GroupId) -> Vec<FlowId> {
        FlowId::enumerate(&self.network.flows).filter(|(_, flow)| flow.group == group).map(|(id, _)| id).collect()
    }

    fn between_nodes(&mut self, pairs: &[(Name, Name)]) {
        let own: BTreeMap<&str, Ipv4Addr> = self.hosts.iter().map(|host| (host.name.as_str(), host.addresses[0])).collect();
        let mut ways = Vec::new();
        for (from, to) in pairs {
            let Some(group) = self.group(between(from, to).as_str()) else { continue };
            let ends = (own[from.as_str()], own[to.as_str()]);
            ways.extend(self.flows_of(group).first().map(|&flow| (group, AddressPair { from: ends.0, to: ends.1, flow })));
        }
        for (group, way) in ways {
            self.network.groups[group].transport = external();
            self.ways.push(way);
        }
    }

    fn play(&mut self, played: &[String]) {
        for name in played {
            let Some(group) = self.group(name) else { continue };
            let Transport::Tcp(tcp, controller) = self.network.groups[group].transport.clone() else { continue };
            self.network.groups[group].transport = external();
            let back = self.reverse_group(group);
            let handshake = matches!(&self.network.groups[back].transport, Transport::Tcp(spec, _) if spec.handshake);
            self.network.groups[back].transport = external();
            self.network.groups[back].application = None;
            let (sender, receiver) = (self.host(format!("{name}.sender")), self.host(format!("{name}.receiver")));
            let mut transfers = Vec::new();
            let application = self.network.groups[group].application.take();
            for (index, flow) in (0..).zip(self.flows_of(group)) {
                let (from, to) = (self.address(sender), self.address(receiver));
                let given = self.network.flows[flow].clone();
                let drops = self.network.ports.iter().flat_map(|port| &port.listed_drops);
                let listed = drops.filter(|drop| drop.flow == flow).map(|drop| drop.segment).collect();
                let of = Entity { seed: self.network.seed, name, index };
                let until = given.stop.min(Time::ZERO + self.network.duration);
                let messages = self.network.messages.remove(&flow);
                let writes = match &application {
                    Some(ApplicationSpec::Bursts(bursts)) => Some(bursts.writes(of, tcp.mss, given.size, given.start..until)),
                    Some(ApplicationSpec::Messages) => {
                        let script = messages.as_ref().filter(|messages| messages.requested_on().is_none());
                        script.map(|messages| messages.writes(given.start..until))
                    }
                    None => None,
                };
                let conversation = messages.and_then(|responses| {
                    let requested_on = responses.requested_on()?;
                    let requests = self.network.messages.remove(&requested_on)?;
                    Some(Conversation { requests, requested_on, responses, handshake })
                });
                let requested_on = conversation.as_ref().map(|conversation| conversation.requested_on);
                let (start, stop, size) = (given.start, given.stop, given.size);
                transfers.push(Transfer { from, to, start, stop, size, listed, writes, conversation });
                let reverse = requested_on.unwrap_or(FlowId(self.network.flows.len() as u32));
                self.open(FlowPair { there: flow, back: reverse }, back, (from, to));
            }
            self.played.push(Played { group: name.clone(), sender, receiver, tcp, controller, transfers });
        }
    }

    /// Makes both directions of a flow external. `back` is the flow after the last, or one that exists.
    pub(crate) fn open(&mut self, flows: FlowPair, back: GroupId, (from, to): (Ipv4Addr, Ipv4Addr)) {
        // The host decides when and how much it sends, so that the flow has no limits.
        let open = CoreFlow { start: Time::ZERO, stop: Time::NEVER, size: None, ..self.network.flows[flows.there].clone() };
        let turned = CoreFlow {
            group: back,
            forward: open.backward,
            backward: open.forward,
            sender_access: open.receiver_access,
            receiver_access: open.sender_access,
            interface: None,
            ..open.clone()
        };
        self.network.flows[flows.there] = open;
        if flows.back.index() == self.network.flows.len() {
            self.network.flows.push(turned);
        } else {
            self.network.flows[flows.back] = turned;
        }
        self.ways.extend([AddressPair { from, to, flow: flows.there }, AddressPair { from: to, to: from, flow: flows.back }]);
        self.reroute_alike(flows);
    }

    /// The group of the requests of a group, or a new group, for the data in the reverse direction.
    pub(crate) fn reverse_group(&mut self, group: GroupId) -> GroupId {
        let first = self.flows_of(group).first().copied();
        let requests = first.and_then(|flow| self.network.messages.get(&flow)?.requested_on());
        if let Some(requests) = requests {
            return self.network.flows[requests].group;
        }
        let back = GroupId(self.network.groups.len() as u32);
        self.network.groups.push(Group {
            name: format!("{}.reverse", self.network.groups[group].name),
            class: 0,
            l4s: false,
            transport: external(),
            application: None,
            framing: None,
            abr: None,
            send_processing: None,
            receive_processing: None,
            jitter: Default::default(),
        });
        back
    }

    /// Applies route changes of a flow to its reverse flow.
    fn reroute_alike(&mut self, flows: FlowPair) {
        let turned = self.network.changes.iter().filter_map(|change| match change.what {
            ChangeKind::Route(of, forward, backward) if of == flows.there => {
                Some(Change { at: change.at, what: ChangeKind::Route(flows.back, backward, forward) })
            }
            _ => None,
        });
        let turned: Vec<_> = turned.collect();
        self.network.changes.extend(turned);
        self.network.changes.sort_by_key(|change| change.at);
    }

    pub(crate) fn check_addresses(&self, report: &mut Report) {
        if self.addresses > ADDRESSES {
            let problem = report.add("flows", "`flows` needs more addresses than the test network has");
            problem.given(self.addresses.to_string()).expected(format!("at most {ADDRESSES} ends"));
        }
    }

    fn finish(mut self, mut report: Report) -> Result<Emulated, Errors> {
        self.check_addresses(&mut report);
        if !report.is_empty() {
            return Err(report.finish());
        }
        self.ways.sort_by_key(|way| (way.from, way.to));
        let Build { network, hosts, ways, played, .. } = self;
        let (lead, lossless_reverses) = (lead(&network, &ways), lossless_reverses(&network));
        Ok(Emulated { network, warnings: report.warnings(), hosts, ways, played, lead, lossless_reverses })
    }
}

/// The minimum time from an event to the delivery that it causes: the delay behind the last port; 0 if it may change. On a link with
/// reordering, a packet's arrival is an event of its own, which only the receiver's access follows.
pub(crate) fn lead(network: &Network, ways: &[AddressPair]) -> TimeDelta {
    let moves = |change: &Change| matches!(change.what, ChangeKind::Delay(..) | ChangeKind::Route(..));
    if network.changes.iter().any(moves) {
        return TimeDelta::ZERO;
    }
    let of_way = |way: &AddressPair| {
        let flow = &network.flows[way.flow];
        let last = network.paths[flow.forward as usize].last().map(|&port| &network.ports[port]);
        let behind = last.filter(|port| !port.impairments.reorders()).map_or(TimeDelta::ZERO, |port| port.delay);
        behind + flow.receiver_access.delay
    };
    ways.iter().map(of_way).min().unwrap_or_default()
}

fn lossless_reverses(network: &Network) -> Vec<String> {
    let loses = |port: &Port| {
        let on_link = port.random_loss > 0.0 || port.impairments.bursts.is_some() || !port.listed_drops.is_empty();
        on_link || port.buffer != Buffer::Unlimited
    };
    let losing: BTreeSet<&str> = network.ports.iter().filter(|port| loses(port)).map(|port| port.name.as_str()).collect();
    let lossless = network.ports.iter().map(|port| port.name.as_str()).filter(|name| !losing.contains(name));
    lossless.filter(|name| name.strip_suffix(".reverse").is_some_and(|link| losing.contains(link))).map(String::from).collect()
}

/// External IP packets: everything behind the minimum header of RFC 791 is payload.
fn external() -> Transport {
    let packet = PacketSize::Given { maximum: MAX_PACKET };
    Transport::Datagram(DatagramSpec { arrivals: Arrivals::External, packet, header: IP_HEADER })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailback_core::network::AccessLink;

    const DUMBBELL: &str =
        "duration = \"10 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\nqueue = {buffer = \"9 packets\"}\n";

    fn scenario(more: &str) -> Scenario {
        Scenario::from_toml(&format!("{DUMBBELL}{more}"), "").unwrap()
    }

    fn refused(more: &str, played: &[&str]) -> String {
        let played: Vec<String> = played.iter().map(|&name| name.into()).collect();
        scenario(more).emulated(&played).unwrap_err().to_string()
    }

    #[test]
    fn deliveries_follow_arrivals_on_a_link_with_reordering() {
        let lead = |reordering| {
            let jitter = format!("jitter = {{delay = {{uniform = [\"0 ms\", \"8 ms\"]}}, reordering = {reordering}}}\n");
            scenario(&jitter).emulated(&[]).unwrap().lead
        };
        assert_eq!([lead(false), lead(true)], [TimeDelta::from_millis(10), TimeDelta::ZERO]);
    }

    #[test]
    fn all_nodes_are_hosts_and_reach_one_another() {
        let emulated = scenario("").emulated(&[]).unwrap();
        let names: Vec<_> = emulated.hosts.iter().map(|host| host.name.as_str()).collect();
        let names_of_groups: Vec<_> = emulated.network.groups.iter().map(|group| group.name.as_str()).collect();
        assert_eq!((names, names_of_groups), (vec!["left", "right"], vec!["left->right", "right->left"]));
        let [left, right] = [1, 2].map(|last| Ipv4Addr::new(198, 18, 0, last));
        assert_eq!(emulated.lead, TimeDelta::from_millis(10));
        assert_eq!(
            emulated.ways,
            [AddressPair { from: left, to: right, flow: FlowId(0) }, AddressPair { from: right, to: left, flow: FlowId(1) }]
        );
        assert!(emulated.network.groups.iter().all(|group| group.transport == external()));
    }

    #[test]
    fn a_played_group_has_hosts_and_ways_of_its_own() {
        let flows = "[flows.cross]\nfrom = \"left\"\nto = \"right\"\ntcp = {preset = \"sack\"}\n[flows.web]\ncount = 2\nfrom = \"left\"\n\
                     to = \"right\"\npropagation_rtt = \"60 ms\"\nstart = {evenly = [\"1 s\", \"2 s\"]}\nsize = \"1 MB\"\ntcp = {preset = \"cubic\"}\n";
        let emulated = scenario(flows).emulated(&["web".into()]).unwrap();
        let played = &emulated.played[0];
        let [sender, receiver] = [played.sender, played.receiver].map(|host| &emulated.hosts[host]);
        assert_eq!((sender.name.as_str(), receiver.addresses.len()), ("web.sender", 2));
        let second = &played.transfers[1];
        assert_eq!((second.start, second.size, &second.writes), (Time(1_750_000_000_000), Some(Bytes(1_000_000)), &None));
        let way = |from, to| emulated.ways.iter().find(|way| (way.from, way.to) == (from, to)).unwrap().flow;
        let there = &emulated.network.flows[way(sender.addresses[1], receiver.addresses[1])];
        let back = &emulated.network.flows[way(receiver.addresses[1], sender.addresses[1])];
        let delay = AccessLink { rate: None, delay: TimeDelta::from_millis(20) };
        assert_eq!((there.sender_access, back.receiver_access), (delay, delay));
        assert_eq!((there.forward, there.backward), (back.backward, back.forward));
        // Simulated parts are as in a simulation.
        let run = scenario(flows).build().unwrap();
        let of_cross = |network: &Network| network.flows.iter().find(|flow| network.groups[flow.group].name == "cross").cloned();
        assert_eq!(of_cross(&run).map(|flow| flow.start), of_cross(&emulated.network).map(|flow| flow.start));
    }

    #[test]
    fn an_application_writes_as_in_a_simulation() {
        let flow = "[flows.web]\nfrom = \"left\"\nto = \"right\"\nsize = \"4 kB\"\nstart = \"1 s\"\ntcp = {preset = \"sack\", mss = \"1000 B\"}\n\
                    application = {kind = \"constant\", rate = \"1 Mbps\", burst = 3}\n";
        let emulated = scenario(flow).emulated(&["web".into()]).unwrap();
        let write = |ms, bytes| (Time::ZERO + TimeDelta::from_millis(ms), Bytes(bytes));
        assert_eq!(emulated.played[0].transfers[0].writes, Some(vec![write(1000, 3000), write(1024, 4000)]));
        assert!(emulated.network.groups.iter().all(|group| group.application.is_none()));
        let script = "{kind = \"script\", writes = [{at = \"0 s\", size = \"3 segments\"}, {at = \"24 ms\", size = \"1 kB\"}]}";
        let flow = flow.split("size = ").next().unwrap().to_string()
            + "start = \"1 s\"\ntcp = {preset = \"sack\", mss = \"1000 B\"}\napplication = "
            + script;
        let scripted = scenario(&flow).emulated(&["web".into()]).unwrap();
        assert_eq!(scripted.played[0].transfers[0].writes, emulated.played[0].transfers[0].writes);
        assert!(scripted.network.messages.is_empty());
    }

    #[test]
    fn requests_travel_on_the_connection_of_their_responses() {
        let flow = "[flows.web]\nfrom = \"left\"\nto = \"right\"\ncount = 2\ntcp = {preset = \"sack\", handshake = true}\n\
                    application = {kind = \"requests\", requests = 3, response_size = \"4 kB\"}\n";
        let emulated = scenario(flow).emulated(&["web".into()]).unwrap();
        let network = &emulated.network;
        assert!(network.messages.is_empty() && network.groups.iter().all(|group| group.application.is_none()));
        for transfer in &emulated.played[0].transfers {
            let Conversation { requests, requested_on, responses, handshake } = transfer.conversation.clone().unwrap();
            assert_eq!((requests.count(), responses.count(), handshake), (3, 3, true));
            let way = |from, to| emulated.ways.iter().find(|way| (way.from, way.to) == (from, to)).map(|way| way.flow);
            assert_eq!(way(transfer.to, transfer.from), Some(requested_on));
            assert_eq!(network.groups[network.flows[requested_on].group].name, "web.requests");
            assert_eq!(transfer.writes, None);
        }
    }

    #[test]
    fn reverse_links_without_the_limits_of_their_links_are_named() {
        let named = |more: &str| scenario(more).emulated(&[]).unwrap().lossless_reverses;
        // Data cross both directions, which have the same queue unless the reverse one has its own.
        assert_eq!(named(""), [""; 0]);
        assert_eq!(named("reverse = {queue = {buffer = \"unlimited\"}}\n"), ["bottleneck.reverse"]);
        assert_eq!(named("reverse = {queue = {buffer = \"9 packets\"}}\n"), [""; 0]);
    }

    #[test]
    fn scenarios_that_no_kernel_can_run_are_refused() {
        let web = "[flows.web]\nfrom = \"left\"\nto = \"right\"\n";
        let unknown = refused(&format!("{web}tcp = {{preset = \"sack\"}}"), &["wep"]);
        assert!(unknown.contains("did you mean `web`?"), "{unknown}");
        let source = format!("{web}source = {{kind = \"constant\", rate = \"1 Mbps\", packet_size = \"1000 B\"}}");
        assert!(refused(&source, &["web"]).contains("`source` has no transport that a host could run"));
        let cells = format!("{web}framing = {{}}\ntcp = {{preset = \"bpd-2001/reno\"}}");
        assert!(refused(&cells, &["web"]).contains("real packets are not sent in cells"));
    }

    #[test]
    fn names_that_are_addresses_are_refused() {
        for name in ["localhost", "127", "0x7f000001"] {
            let text = format!(
                "duration = \"1 s\"\n[links.l]\nfrom = \"{name}\"\nto = \"b\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\n\
                 queue = {{buffer = \"9 packets\"}}\n[nodes]\n{name} = {{}}\nb = {{}}\n"
            );
            let errors = Scenario::from_toml(&text, "").unwrap().emulated(&[]).unwrap_err().to_string();
            assert!(errors.contains("is a name that programs resolve to another address"), "{errors}");
        }
    }

    #[test]
    fn nodes_without_a_path_have_no_external_flow() {
        let text = "duration = \"1 s\"\n[nodes]\na = {}\nb = {}\nc = {}\n[links.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbps\"\n\
                    delay = \"1 ms\"\nqueue = {buffer = \"9 packets\"}\n";
        let emulated = Scenario::from_toml(text, "").unwrap().emulated(&[]).unwrap();
        assert_eq!((emulated.hosts.len(), emulated.ways.len()), (3, 2));
    }
}
