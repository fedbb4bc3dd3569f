//! Flows whose ends are transport stacks, in virtual time. Each direction of such a flow is an external flow of the network.

use crate::emulation::{AddressPair, Build, FlowPair, lead};
use crate::network::segment_of_stack;
use crate::problem::{Errors, Report, Warnings};
use crate::scenario::{Scenario, check_flows};
use crate::schema::Stack;
use std::net::Ipv4Addr;
use tailback_core::network::{CodeKind, FlowId, GroupId, Network};
use tailback_core::primitives::random::{Entity, Purpose, Stream};
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};
use tailback_core::traffic::ApplicationSpec;
use tailback_core::user_code::UserCode;

/// A network, and the flows that run on stacks.
#[derive(Clone, Debug)]
pub struct Hosted {
    pub network: Network,
    pub warnings: Warnings,
    pub hosts: HostedFlows,
}

/// The flows that run on stacks.
#[derive(Clone, Debug, Default)]
pub struct HostedFlows {
    /// Groups with a stack.
    pub stacks: Vec<StackSettings>,
    /// In the order of the flows.
    pub flows: Vec<HostedFlow>,
    /// The groups of the packets in the reverse direction, such as acknowledgements.
    pub reverse: Vec<GroupId>,
    /// Minimum time from an event at a port to the delivery of a packet.
    pub lead: TimeDelta,
}

/// The stack of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct StackSettings {
    pub group: String,
    /// Name, parameters as JSON, and path. For an installed stack, the parameters include `congestion`.
    pub code: UserCode,
    /// A class in Python, or an installed stack.
    pub kind: CodeKind,
    pub mtu: Bytes,
    /// Whether the flows have a `size`.
    pub has_size: bool,
}

/// A flow that runs on stacks.
#[derive(Clone, Debug, PartialEq)]
pub struct HostedFlow {
    /// Index in [`HostedFlows::stacks`].
    pub stack: usize,
    /// Number within its group.
    pub index: u64,
    pub from: Ipv4Addr,
    pub to: Ipv4Addr,
    /// The data.
    pub there: FlowId,
    pub back: FlowId,
    pub start: Time,
    /// [`Time::NEVER`] without a stop.
    pub stop: Time,
    /// `None` for a greedy flow.
    pub size: Option<Bytes>,
    /// Seeds of the sender's and the receiver's random numbers.
    pub seeds: [u64; 2],
    /// Times at which a NAT gives the sender another port.
    pub rebinds: Vec<Time>,
    /// Times of the application's writes, with the bytes written until then; `None` without an application.
    pub writes: Option<Vec<(Time, Bytes)>>,
}

impl Scenario {
    /// The groups that run on stacks, with their settings.
    pub fn stacks(&self) -> Vec<StackSettings> {
        let stacks = self.description.flows.iter().filter_map(|(name, flow)| {
            let stack = StackSettings::of(name.as_str(), flow.tcp.as_ref()?.stack()?);
            Some(StackSettings { has_size: flow.size.is_some(), ..stack })
        });
        stacks.collect()
    }

    /// Builds the network, with the flows that run on stacks. Without any, the network is that of [`Scenario::build`].
    ///
    /// # Errors
    /// As [`Scenario::build`].
    pub fn hosted(&self) -> Result<Hosted, Errors> {
        let mut report = Report::new(self.source());
        check_flows(&self.description, &mut report);
        let (network, warnings) = self.built(report)?;
        let mut build = Build::new(network, Vec::new());
        let (mut flows, mut reverse) = (Vec::new(), Vec::new());
        let stacks = self.stacks();
        for (stack, StackSettings { group: name, .. }) in stacks.iter().enumerate() {
            let Some(group) = build.group(name) else { continue };
            let back = build.reverse_group(group);
            reverse.push(back);
            let rebinds: Vec<Time> = self
                .description
                .timeline
                .iter()
                .filter(|event| event.rebind && event.group.as_ref().is_some_and(|group| group.as_str() == name))
                .map(|event| Time::ZERO + event.at.time_delta())
                .collect();
            let application = build.network.groups[group].application.take();
            let segment = self.description.flows.iter().find(|(of, _)| of.as_str() == name);
            let segment = segment.and_then(|(_, flow)| flow.tcp.as_ref()?.stack()).map_or(Bytes(1), segment_of_stack);
            let (sender, receiver) = (build.host(format!("{name}.sender")), build.host(format!("{name}.receiver")));
            for (index, there) in (0..).zip(build.flows_of(group)) {
                let (from, to) = (build.address(sender), build.address(receiver));
                let of = Entity { seed: build.network.seed, name, index };
                let random = Stream::new(of, Purpose::Host);
                let messages = build.network.messages.remove(&there);
                let given = &build.network.flows[there];
                let during = given.start..given.stop.min(Time::ZERO + build.network.duration);
                let writes = match (&application, messages) {
                    (Some(ApplicationSpec::Bursts(bursts)), _) => Some(bursts.writes(of, segment, given.size, during)),
                    (Some(ApplicationSpec::Messages), Some(messages)) => Some(messages.writes(during)),
                    _ => None,
                };
                let ends = FlowPair { there, back: FlowId(build.network.flows.len() as u32) };
                flows.push(HostedFlow {
                    stack,
                    index,
                    from,
                    to,
                    there,
                    back: ends.back,
                    start: given.start,
                    stop: given.stop,
                    size: given.size,
                    seeds: [random.bits(0), random.bits(1)],
                    rebinds: rebinds.clone(),
                    writes,
                });
                build.open(ends, back, (from, to));
            }
        }
        let mut report = Report::new(self.source());
        build.check_addresses(&mut report);
        if !report.is_empty() {
            return Err(report.finish());
        }
        let Build { network, ways, .. } = build;
        let hosts = HostedFlows { stacks, flows, reverse, lead: lead(&network, &ways) };
        Ok(Hosted { network, warnings, hosts })
    }
}

impl StackSettings {
    fn of(group: &str, stack: &Stack) -> StackSettings {
        let (kind, code) = stack.code(format!("flows.{group}.tcp"));
        StackSettings { group: group.into(), kind, code, mtu: Bytes(stack.mtu.bytes()), has_size: false }
    }
}

impl HostedFlow {
    /// Both directions, by addresses.
    pub fn ways(&self) -> [AddressPair; 2] {
        let HostedFlow { from, to, there, back, .. } = *self;
        [AddressPair { from, to, flow: there }, AddressPair { from: to, to: from, flow: back }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailback_core::network::AccessLink;

    const DUMBBELL: &str =
        "duration = \"10 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\nqueue = {buffer = \"9 packets\"}\n";
    const FLOWS: &str = "[flows.cross]\nfrom = \"left\"\nto = \"right\"\ntcp = {preset = \"sack\"}\n[flows.web]\ncount = 2\n\
                         from = \"left\"\nto = \"right\"\npropagation_rtt = \"60 ms\"\nstart = {evenly = [\"1 s\", \"2 s\"]}\nsize = \"1 MB\"\n\
                         stop = \"8 s\"\n";

    fn scenario(tcp: &str, more: &str) -> Scenario {
        let text = format!("{DUMBBELL}{FLOWS}tcp = {{{tcp}}}\n{more}");
        Scenario::from_toml(&text, "").unwrap_or_else(|errors| panic!("{errors}"))
    }

    #[test]
    fn flows_on_stacks_have_external_flows_in_both_directions() {
        let hosted = scenario("stack = \"quinn\", congestion = \"bbr\", parameters = {train = 3}", "").hosted().unwrap();
        let [stack] = &hosted.hosts.stacks[..] else { panic!("one stack") };
        assert_eq!((stack.code.name.as_str(), stack.kind, stack.mtu), ("quinn", CodeKind::Stack, Bytes(1500)));
        assert_eq!(stack.code.parameters, "{\"congestion\":\"bbr\",\"train\":3}");
        let [first, second] = &hosted.hosts.flows[..] else { panic!("two flows") };
        assert_eq!(
            (second.start, second.stop, second.size),
            (Time(1_750_000_000_000), Time(8_000_000_000_000), Some(Bytes(1_000_000)))
        );
        assert_eq!([first.there, second.there, first.back, second.back], [FlowId(1), FlowId(2), FlowId(3), FlowId(4)]);
        assert!(first.seeds[0] != first.seeds[1] && first.seeds != second.seeds);
        let (there, back) = (&hosted.network.flows[second.there], &hosted.network.flows[second.back]);
        let delay = AccessLink { rate: None, delay: TimeDelta::from_millis(20) };
        assert_eq!((there.sender_access, back.receiver_access), (delay, delay));
        assert_eq!((there.forward, there.backward, there.size, there.start), (back.backward, back.forward, None, Time::ZERO));
        assert_eq!(hosted.network.groups[hosted.hosts.reverse[0]].name, "web.reverse");
    }

    #[test]
    fn a_nat_forgets_the_senders_of_a_group() {
        let event = |group| format!("[[timeline]]\nat = \"4 s\"\ngroup = \"{group}\"\nrebind = true\n");
        let hosted = scenario("stack = \"quinn\"", &event("web")).hosted().unwrap().hosts;
        assert!(hosted.flows.iter().all(|flow| flow.rebinds == [Time(4_000_000_000_000)]));
        let refused = scenario("stack = \"quinn\"", &event("cross")).hosted().unwrap_err().to_string();
        assert!(refused.contains("`rebind` requires a `stack`"), "{refused}");
    }

    #[test]
    fn without_stacks_the_network_is_that_of_a_simulation() {
        let plain = scenario("preset = \"cubic\"", "");
        let hosted = plain.hosted().unwrap();
        assert_eq!((hosted.network, hosted.hosts.flows.len()), (plain.build().unwrap(), 0));
    }

    #[test]
    fn listed_drops_of_a_stack_are_refused() {
        let drops = |group| {
            let link = format!("buffer = \"9 packets\"}}\nloss = {{drops = [{{group = \"{group}\", segment = 3}}]}}\n");
            let text = DUMBBELL.replace("buffer = \"9 packets\"}\n", &link) + FLOWS + "tcp = {stack = \"smoltcp\"}\n";
            Scenario::from_toml(&text, "").and_then(|scenario| scenario.hosted()).map_err(|errors| errors.to_string())
        };
        assert!(drops("cross").is_ok());
        let refused = drops("web").unwrap_err();
        assert!(refused.contains("topology.dumbbell.loss.drops[0].group") && refused.contains("no such numbers"), "{refused}");
    }

    #[test]
    fn a_stack_without_mtu_discovery_on_a_small_link_is_warned_about() {
        let warnings = |stack: &str| {
            let text = DUMBBELL.replace("delay =", "mtu = \"1400 B\"\ndelay =")
                + &FLOWS.replace("\"sack\"", "\"sack\", mss = \"1000 B\"");
            let text = format!("{text}tcp = {{stack = {stack}}}\n");
            let scenario = Scenario::from_toml(&text, "").unwrap_or_else(|errors| panic!("{errors}"));
            scenario.hosted().unwrap_or_else(|errors| panic!("{errors}")).warnings.list
        };
        let [found] = &warnings("\"smoltcp\"")[..] else { panic!("one warning") };
        assert_eq!(found.at, "flows.web.tcp.mtu");
        assert!(format!("{found:?}").contains("1500 B") && format!("{found:?}").contains("1400 B"), "{found:?}");
        assert!(warnings("\"quinn\"").is_empty() && warnings("\"smoltcp\", mtu = \"1400 B\"").is_empty());
    }

    #[test]
    fn a_stack_is_written_and_read() {
        let scenario = scenario("stack = \"user:arq\", mtu = \"1280 B\", parameters = {window = 4}", "");
        assert!(scenario.to_json().contains(r#""tcp":{"stack":"user:arq","mtu":"1280 B","parameters":{"window":4}}"#));
        assert_eq!(Scenario::from_json(&scenario.to_json(), "").unwrap().to_json(), scenario.to_json());
        let [(_, code)] = &scenario.user_code()[..] else { panic!("one class") };
        assert_eq!((code.name.as_str(), code.at.as_str()), ("arq", "flows.web.tcp"));
    }

    #[test]
    fn an_application_has_the_times_of_its_writes() {
        let writes = |application: &str, size: &str| {
            let flows = FLOWS.replace("size = \"1 MB\"\n", size);
            let text = format!("{DUMBBELL}{flows}tcp = {{stack = \"quinn\"}}\napplication = {{{application}}}\n");
            let scenario = Scenario::from_toml(&text, "").unwrap_or_else(|errors| panic!("{errors}"));
            let hosted = scenario.hosted().unwrap_or_else(|errors| panic!("{errors}"));
            assert!(hosted.network.messages.is_empty() && hosted.network.groups.iter().all(|group| group.application.is_none()));
            let HostedFlow { start, size, writes, .. } = &hosted.hosts.flows[0];
            (start.0, *size, writes.clone().unwrap())
        };
        let script = "kind = \"script\", writes = [{at = \"0 s\", size = \"4 kB\"}, {at = \"10 ms\", size = \"1 kB\"}]";
        let (start, size, found) = writes(script, "");
        let expected = [(Time(start), Bytes(4000)), (Time(start + 10_000_000_000), Bytes(5000))];
        assert_eq!((size, found.as_slice()), (Some(Bytes(5000)), &expected[..]));
        // Three segments of 1448 bytes at 1.1584 Mbit/s: every 30 ms.
        let (start, _, found) = writes("kind = \"constant\", rate = \"1.1584 Mbps\", burst = 3", "size = \"10 kB\"\n");
        let expected = [(0, 4344), (30, 8688), (60, 10_000)].map(|(ms, bytes)| (Time(start + ms * 1_000_000_000), Bytes(bytes)));
        assert_eq!(found, expected);
    }

    #[test]
    fn settings_of_simulated_tcp_are_refused() {
        let refused = |tcp: &str, more: &str| {
            let text = format!("{DUMBBELL}{FLOWS}tcp = {{{tcp}}}\n{more}");
            Scenario::from_toml(&text, "").and_then(|scenario| scenario.hosted()).unwrap_err().to_string()
        };
        let both = refused("stack = \"quinn\", preset = \"sack\"", "");
        assert!(both.contains("has no key `preset`"), "{both}");
        assert!(
            refused("stack = \"user:arq\", congestion = \"reno\"", "").contains("`congestion` is a setting of installed stacks")
        );
        assert!(refused("stack = \"quinn\", mtu = \"40 B\"", "").contains("`mtu` is out of range"));
        let twice = refused("stack = \"quinn\", congestion = \"bbr\", parameters = {congestion = \"cubic\"}", "");
        assert!(twice.contains("`congestion` is given twice"), "{twice}");
        let requests = "application = {kind = \"requests\", requests = 3, response_size = \"1 kB\"}\n";
        let text = refused("stack = \"quinn\"", requests);
        assert!(text.contains("`application` of kind `requests` cannot be used with a `stack`"), "{text}");
        let bursts = "application = {kind = \"constant\", rate = \"1 Mbps\", burst = 3}\n";
        assert!(refused("stack = \"user:arq\"", bursts).contains("`application` cannot be used with a stack in Python"));
        for value in [true, false] {
            let l4s = refused("stack = \"quinn\"", &format!("l4s = {value}\n"));
            assert!(l4s.contains("`l4s` cannot be used with a `stack`") && l4s.contains("the stack sets the ECN field"), "{l4s}");
        }
        let built = scenario("stack = \"quinn\"", "").build().unwrap_err().to_string();
        assert!(built.contains("`stack` runs in simulations of the Python package only"), "{built}");
        let emulated = scenario("stack = \"quinn\"", "").emulated(&[]).unwrap_err().to_string();
        assert!(emulated.contains("`stack` runs in virtual time and cannot be emulated"), "{emulated}");
    }
}
