//! Random networks with fixed seeds. They combine anything that a scenario can describe and are valid by construction.

use super::{TestRandom, flow, group, link, one_link, port, reno, route, tcp};
use std::collections::BTreeMap;
use tailback_core::abr::SourceSpec;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::*;
use tailback_core::price::{Feedback, Identification, Mapping, MappingKind, PriceMeaning, PriceSpec, SchemeSpec};
use tailback_core::primitives::segment_number::SegmentNumber;
use tailback_core::primitives::token_bucket::BucketSpec;
use tailback_core::primitives::units::{Bytes, Rate, Segments, Time, TimeDelta, Units};
use tailback_core::queue::PolicySpec;
use tailback_core::schedule::SchedulerSpec;
use tailback_core::settings::PlainWords;
use tailback_core::tcp::{
    AckCounting, DelayedAck, EcnCapable, Recovery, SlowStart, SsthreshFrom, TcpSpec, TimerForm, TimerSpec, WindowValidation,
};
use tailback_core::traffic::{
    ApplicationSpec, Arrivals, BurstSpec, DatagramSpec, Exchange, MessagesSpec, PacketSize, ProcessSpec, RequestsSpec,
    ResponsesSpec, ScriptSpec, ScriptedWrite,
};

/// In some networks, queues with prices and senders that use them, with any scheme. The draws are separate, so that other networks do not
/// change.
fn random_prices(seed: u64, ports: &mut [Port], groups: &mut [Group]) -> PriceSpec {
    let mut dice = TestRandom::new(seed + (1 << 43));
    if !dice.chance(3) {
        // No scenario combines senders with prices of a different meaning.
        let meanings: Vec<PriceMeaning> = ports.iter().filter_map(|port| port.policy.price_meaning()).collect();
        for group in groups {
            if let Transport::Tcp(_, law) = &mut group.transport
                && law.abilities().price_meaning.is_some_and(|meaning| meanings.iter().any(|&other| other != meaning))
            {
                *law = ControllerSpec::Reno(());
            }
        }
        return PriceSpec::default();
    }
    let meaning = dice.one_of(&[
        PriceMeaning::Cost,
        PriceMeaning::Marginal,
        PriceMeaning::Rate,
        PriceMeaning::Wait,
        PriceMeaning::Feedback,
    ]);
    let laws: Vec<ControllerSpec> =
        ControllerSpec::samples().into_iter().filter(|law| law.abilities().price_meaning == Some(meaning)).collect();
    let policies: Vec<PolicySpec> =
        PolicySpec::samples().into_iter().filter(|policy| policy.price_meaning() == Some(meaning)).collect();
    for port in ports {
        if !dice.chance(4) {
            port.policy = dice.one_of(&policies);
            port.scheduling = None;
        }
    }
    for group in groups {
        if let Transport::Tcp(_, law) = &mut group.transport {
            *law = dice.one_of(&laws);
        }
    }
    let (kind, min, max) = match meaning {
        PriceMeaning::Rate => (MappingKind::Logarithmic, 1e-9, 1e-3),
        PriceMeaning::Marginal => (MappingKind::Linear, 0.0, 1.0),
        PriceMeaning::Wait => (MappingKind::Linear, 0.0, 0.1),
        _ => dice.one_of(&[(MappingKind::Linear, 0.0, 10.0), (MappingKind::Signed, -5.0, 20.0)]),
    };
    PriceSpec {
        scheme: dice.one_of(&SchemeSpec::samples()),
        mapping: Mapping { kind, min, max, scale: 0.5 },
        identification: dice.one_of(Identification::ALL),
        feedback: dice.one_of(Feedback::ALL),
    }
}

/// Twenty bottlenecks of 1 Gbit/s in a row, with five flows over all of them and five over each.
pub fn long_parking_lot() -> Network {
    let (hops, rate, delay) = (20, Rate(1_000_000_000), TimeDelta::from_millis(1));
    let bottleneck = |hop| Port { buffer: Buffer::Units(100), ..port(&format!("there{hop}"), rate, delay) };
    let ports = (0..hops).map(bottleneck).chain((0..hops).map(|hop| port(&format!("back{hop}"), rate, delay)));
    let over = |first: u32, last: u32| {
        [(first..=last).map(PortId).collect(), (first..=last).rev().map(|hop| PortId(hops + hop)).collect()]
    };
    let paths = over(0, hops - 1).into_iter().chain((0..hops).flat_map(|hop| over(hop, hop))).collect();
    let one = |index: u32| Flow {
        sender_access: AccessLink { rate: Some(rate), delay: TimeDelta::from_micros(1000 + 37 * u64::from(index)) },
        receiver_access: AccessLink { rate: Some(rate), delay: TimeDelta::from_micros(100) },
        interface: None,
        start: Time(u64::from(index) * 1_000_000_000),
        ..flow(0, 2 * (index / 5), 2 * (index / 5) + 1)
    };
    let spec = TcpSpec {
        mss: Bytes(1460),
        initial_window: 10.0,
        initial_ssthresh: 64.0,
        ack_counting: AckCounting::Acknowledgements,
        abc_limit: Segments::UNLIMITED,
        timer: TimerSpec { min_rto: TimeDelta::from_millis(10), ..TimerSpec::rfc6298() },
        ..tcp(Recovery::NewReno)
    };
    let flows = (0..5 * (hops + 1)).map(one).collect();
    let network =
        one_link([port("", rate, delay), port("", rate, delay)], group("greedy", reno(spec)), flows, TimeDelta::from_millis(300));
    Network { ports: ports.collect(), paths, ..network }
}

/// Bottlenecks in a row, with greedy flows over all of them and over each, and one return link for each. Receivers are alike or different.
pub fn random_parking_lot(seed: u64) -> Network {
    let mut dice = TestRandom::new(seed + (1 << 44));
    let hops = dice.pick(1, 4) as u32;
    let are_alike = dice.chance(2);
    // In some networks many events are simultaneous: a packet takes 1 ms, or a quarter of that on its access link, and delays are multiples
    // of 250 us.
    let step = if dice.chance(2) { 250 } else { 1 };
    let rate = if step > 1 { Rate(8_320_000) } else { Rate(dice.pick(2, 20) * 1_000_000) };
    let mut micros = |max: u64| TimeDelta::from_micros(step * dice.pick(1, max / step));
    let delay = micros(3000);
    let bottleneck = |hop| Port { buffer: Buffer::Units(10), ..port(&format!("there{hop}"), rate, delay) };
    let ports = (0..hops).map(bottleneck).chain((0..hops).map(|hop| port(&format!("back{hop}"), Rate(2 * rate.0), delay)));
    let over = |first: u32, last: u32| {
        [(first..=last).map(PortId).collect(), (first..=last).rev().map(|hop| PortId(hops + hop)).collect()]
    };
    let paths = (0..hops).flat_map(|hop| over(hop, hop)).chain(over(0, hops - 1)).collect();
    let mut flows = Vec::new();
    for place in (0..=hops).flat_map(|place| [place; 3]) {
        let receiver = if are_alike { delay } else { micros(9000) };
        flows.push(Flow {
            sender_access: AccessLink { rate: Some(Rate(4 * rate.0)), delay: micros(9000) },
            receiver_access: AccessLink { rate: Some(Rate(4 * rate.0)), delay: receiver },
            interface: None,
            ..flow(0, 2 * place, 2 * place + 1)
        });
    }
    let ack_size = Bytes(if step > 1 { 1040 } else { 40 });
    let greedy = group("greedy", reno(TcpSpec { ack_size, ..tcp(Recovery::NewReno) }));
    let one = one_link([port("", rate, delay), port("", rate, delay)], greedy, flows, TimeDelta::from_millis(500));
    Network { ports: ports.collect(), paths, ..one }
}

/// Edge routers before a trunk with several channels, and greedy flows of any controller whose packets all have the same size, paced or
/// not.
pub fn random_trunk(seed: u64) -> Network {
    let mut dice = TestRandom::new(seed + (1 << 43));
    let edges = dice.pick(1, 6) as u32;
    // In some networks many events are simultaneous.
    let is_coarse = dice.chance(2);
    let delay = |dice: &mut TestRandom| {
        if is_coarse { TimeDelta::from_millis(dice.pick(0, 3)) } else { TimeDelta(dice.pick(0, 9_000_000_000)) }
    };
    let rate = Rate(8_320_000);
    let trunk = |name: &str, buffer: Buffer, dice: &mut TestRandom| Port {
        transmitters: dice.pick(2, 5) as u32,
        buffer,
        counts_in_service: !matches!(buffer, Buffer::Units(0)) && dice.chance(3),
        switching: dice.one_of(&[Switching::StoreAndForward, Switching::StoreAndForward, Switching::CutThrough]),
        ..port(name, rate, delay(dice) + TimeDelta::from_micros(250))
    };
    let places = [Buffer::Units(0), Buffer::Units(1), Buffer::Units(12), Buffer::Bytes(5000), Buffer::Unlimited];
    let places = dice.one_of(&places);
    let mut ports = vec![trunk("trunk", places, &mut dice), trunk("back", Buffer::Unlimited, &mut dice)];
    for edge in 0..edges {
        let link = delay(&mut dice) + TimeDelta::from_micros(250);
        ports.extend([port(&format!("input{edge}"), rate, link), port(&format!("output{edge}"), rate, link)]);
    }
    let paths = (0..edges).flat_map(|edge| [route([2 + 2 * edge, 0]), route([1, 3 + 2 * edge])]).collect();
    let groups: Vec<Group> = (0..dice.pick(1, 3))
        .map(|index| {
            let transport = match random_tcp(&mut dice) {
                Transport::Tcp(spec, law) => Transport::Tcp(TcpSpec { handshake: false, pacing: dice.chance(2), ..spec }, law),
                other => other,
            };
            group(&format!("group{index}"), transport)
        })
        .collect();
    let rates = [None, Some(rate), Some(Rate(4 * rate.0))];
    let receivers =
        AccessLink { rate: dice.one_of(&rates), delay: if dice.chance(2) { TimeDelta::ZERO } else { delay(&mut dice) } };
    let mut flows = Vec::new();
    for (index, _) in groups.iter().enumerate() {
        for _ in 0..dice.pick(1, 6) {
            let path = 2 * dice.pick(0, u64::from(edges) - 1) as u32;
            flows.push(Flow {
                sender_access: AccessLink { rate: dice.one_of(&rates), delay: delay(&mut dice) },
                receiver_access: receivers,
                interface: None,
                start: Time(TimeDelta::from_millis(dice.pick(0, 20)).0),
                stop: if dice.chance(6) { Time(TimeDelta::from_millis(dice.pick(300, 600)).0) } else { Time::NEVER },
                ..flow(index as u32, path, path + 1)
            });
        }
    }
    let one = one_link(
        [port("", rate, TimeDelta::ZERO), port("", rate, TimeDelta::ZERO)],
        groups[0].clone(),
        flows,
        TimeDelta::from_millis(800),
    );
    Network { ports, paths, groups, ..one }
}

/// A chain of one to three hops each way, with flows over parts of it. Everything else is random.
pub fn random_network(seed: u64) -> Network {
    let mut dice = TestRandom::new(seed);
    let hops = dice.pick(1, 3);
    let coarse = dice.chance(2);
    let in_cells = dice.chance(3);
    let mut ports: Vec<Port> = Vec::new();
    for way in ["there", "back"] {
        for hop in 0..hops {
            ports.push(random_port(&format!("{way}{hop}"), &mut dice, coarse, in_cells));
        }
    }
    let mut paths = Vec::new();
    for first in 0..hops {
        for last in first..hops {
            paths.push((first..=last).map(|hop| PortId(hop as u32)).collect::<Vec<_>>());
            paths.push((first..=last).rev().map(|hop| PortId((hops + hop) as u32)).collect());
        }
    }
    let mut groups: Vec<Group> =
        (0..dice.pick(1, 3)).map(|index| random_group(&format!("group{index}"), &mut dice, in_cells)).collect();
    let mut flows = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        for _ in 0..dice.pick(1, 4) {
            flows.push(random_flow(index as u32, group, paths.len() as u64 / 2, &mut dice, coarse));
        }
    }
    if dice.chance(3) {
        // Equal receivers make reverse paths orderly.
        let access = flows[0].receiver_access;
        flows.iter_mut().for_each(|flow| flow.receiver_access = access);
    }
    if dice.chance(3) {
        let port = dice.pick(0, hops - 1) as usize;
        for _ in 0..dice.pick(1, 10) {
            let flow = FlowId(dice.pick(0, flows.len() as u64 - 1) as u32);
            let (segment, transmission) = (SegmentNumber(dice.pick(0, 40) as u32), dice.pick(1, 2) as u32);
            let cell = (in_cells && dice.chance(2)).then(|| dice.pick(0, 12) as u32);
            ports[port].listed_drops.push(ListedDrop { flow, segment, transmission, cell });
        }
    }
    let duration = TimeDelta::from_millis(dice.pick(200, 3000));
    let mut changes = random_changes(&mut dice, &ports, &flows, paths.len() as u64 / 2, duration);
    if dice.chance(3) {
        let chosen: Vec<bool> = ports.iter().map(|_| dice.chance(2)).collect();
        cut_through(&chosen, &mut ports, &paths, &mut flows, &mut changes);
    }
    // A virtual channel keeps its route.
    changes.retain(|change| !(in_cells && matches!(change.what, ChangeKind::Route(..))));
    let kinds = [
        TraceKind::Cwnd,
        TraceKind::State,
        TraceKind::Rtt,
        TraceKind::Segments,
        TraceKind::Packets,
        TraceKind::Throughput(TimeDelta::from_millis(70)),
    ];
    let mut traces = Vec::new();
    if dice.chance(2) {
        traces = kinds.map(|kind| Trace { kind, of: (0..flows.len() as u32).collect() }).to_vec();
        traces.push(Trace { kind: TraceKind::Queue, of: (0..ports.len() as u32).collect() });
        traces.push(Trace { kind: TraceKind::Drops, of: (0..ports.len() as u32).collect() });
        traces.push(Trace { kind: TraceKind::Departures, of: (0..ports.len() as u32).collect() });
    }
    let prices = random_prices(seed, &mut ports, &mut groups);
    give_rates(seed, &mut groups);
    give_capability(seed, &mut groups);
    let queue_flows = impair(seed, &mut ports, &paths, &mut changes, in_cells);
    let before = flows.len() as u32;
    let messages = give_messages(seed, &mut groups, &mut flows);
    for trace in traces.iter_mut().filter(|trace| !trace.kind.is_of_ports()) {
        trace.of.extend(before..flows.len() as u32);
    }
    Network {
        messages,
        ports,
        paths,
        groups,
        flows,
        changes,
        duration,
        warmup: if dice.chance(2) { TimeDelta::ZERO } else { TimeDelta(duration.0 / 4) },
        seed,
        record: Recording { traces, delay_percentiles: dice.chance(2), queue_flows },
        stepped: false,
        prices,
    }
}

/// In some networks, flows of messages: scripts, and conversations with additional flows for the requests. The draws are separate.
fn give_messages(seed: u64, groups: &mut Vec<Group>, flows: &mut Vec<Flow>) -> BTreeMap<FlowId, MessagesSpec> {
    let mut dice = TestRandom::new(seed + (1 << 50));
    let mut messages = BTreeMap::new();
    for index in 0..groups.len() as u32 {
        let group = &mut groups[index as usize];
        if !matches!(group.transport, Transport::Tcp(..)) || group.abr.is_some() || !dice.chance(4) {
            continue;
        }
        group.application = Some(ApplicationSpec::Messages);
        let of_group: Vec<FlowId> = FlowId::all(flows.len()).filter(|&id| flows[id.index()].group == GroupId(index)).collect();
        of_group.iter().for_each(|&id| flows[id.index()].size = None);
        if dice.chance(3) {
            for id in of_group {
                messages.insert(id, MessagesSpec::Script(random_script(&mut dice)));
            }
            continue;
        }
        let requests = GroupId(groups.len() as u32);
        groups.push(Group { name: format!("{}.requests", groups[index as usize].name), ..groups[index as usize].clone() });
        let (connections, first) = (if dice.chance(2) { 1 } else { of_group.len() }, flows.len() as u32);
        for (place, id) in (0..).zip(of_group.iter().copied()) {
            let of = flows[id.index()].clone();
            let (sender_access, receiver_access) = (of.receiver_access, of.sender_access);
            let follows = place % connections > 0;
            let start = if follows { Time::NEVER } else { of.start };
            flows[id.index()].start = start;
            flows.push(Flow {
                group: requests,
                forward: of.backward,
                backward: of.forward,
                sender_access,
                receiver_access,
                interface: None,
                start,
                ..of
            });
            let count = dice.pick(1, 20) as usize;
            let exchanges: Vec<Exchange> = (0..count).map(|_| random_exchange(&mut dice)).collect();
            let (exchanges, parallel, asks) = (exchanges.into(), dice.pick(1, 4) as u32, FlowId(first + place as u32));
            let next = (place + 1 < of_group.len() && (place + 1) % connections > 0).then_some(FlowId(asks.0 + 1));
            messages.insert(
                asks,
                MessagesSpec::Requests(RequestsSpec {
                    exchanges: std::sync::Arc::clone(&exchanges),
                    at_start: if follows { 0 } else { parallel },
                    responses: id,
                }),
            );
            let next_connection = next.map(|flow| (flow, TimeDelta::from_millis(3)));
            messages.insert(id, MessagesSpec::Responses(ResponsesSpec { exchanges, parallel, requests: asks, next_connection }));
        }
    }
    messages
}

fn random_script(dice: &mut TestRandom) -> ScriptSpec {
    let mut at = TimeDelta::ZERO;
    let writes: Vec<ScriptedWrite> = (0..dice.pick(1, 6))
        .map(|_| {
            at = at + TimeDelta::from_micros(dice.one_of(&[0, 0, 700, 30_000, 400_000]));
            ScriptedWrite { at, size: Bytes(dice.one_of(&[1, 1000, 1001, 40_000])) }
        })
        .collect();
    let repeat = dice.chance(2).then_some(at + TimeDelta::from_millis(5));
    let count = writes.len() as u32 * if repeat.is_some() { dice.pick(1, 50) as u32 } else { 1 };
    ScriptSpec { writes: writes.into(), repeat, count }
}

fn random_exchange(dice: &mut TestRandom) -> Exchange {
    Exchange {
        request: Bytes(dice.one_of(&[1, 300, 3000])),
        response: Bytes(dice.one_of(&[1, 5000, 60_000])),
        think_time: TimeDelta::from_micros(dice.one_of(&[0, 900, 200_000])),
        server_time: TimeDelta::from_micros(dice.one_of(&[0, 0, 4000])),
    }
}

/// In some groups, all packets are ECN-capable. The draws are separate.
fn give_capability(seed: u64, groups: &mut [Group]) {
    let mut dice = TestRandom::new(seed + (1 << 48));
    for group in groups {
        if let Transport::Tcp(spec, _) = &mut group.transport {
            spec.ecn_capable = dice.one_of(&[EcnCapable::NewData, EcnCapable::All]);
        }
    }
}

/// In some networks, some groups with packets in cells use the available bit rate service. The draws are separate.
fn give_rates(seed: u64, groups: &mut [Group]) {
    let mut dice = TestRandom::new(seed + (1 << 47));
    for group in groups.iter_mut().filter(|group| group.framing.is_some()) {
        if dice.chance(2) {
            continue;
        }
        let peak = Rate(dice.one_of(&[1_000_000, 4_240_000, 10_000_000]));
        let share = |dice: &mut TestRandom| dice.one_of(&[1.0, 0.25, 1.0 / 16.0, 1.0 / 512.0]);
        let source = SourceSpec {
            minimum: dice.chance(2).then(|| Rate(dice.pick(1000, 1_000_000))),
            initial: dice.one_of(&[peak, Rate(peak.0 / 10)]),
            nrm: dice.one_of(&[2, 8, 32]),
            mrm: dice.pick(0, 4) as u32,
            trm: TimeDelta::from_millis(dice.one_of(&[1, 20, 100])),
            rif: share(&mut dice),
            rdf: share(&mut dice),
            cdf: dice.one_of(&[0.0, 0.25, 1.0]),
            adtf: TimeDelta::from_millis(dice.one_of(&[10, 500])),
            tbe: dice.one_of(&[1, 64, 16_777_215]),
            ..SourceSpec::with_peak(peak)
        };
        let source = SourceSpec { initial: source.initial.max(source.min()), ..source };
        let buffer = dice.one_of(&[Buffer::Units(1), Buffer::Units(20), Buffer::Bytes(30_000), Buffer::Unlimited]);
        let holds_acks_from = dice.chance(2).then(|| Units(dice.pick(1, 5)));
        group.abr = Some(Abr { source, buffer, holds_acks_from });
    }
}

/// Make these ports cut-through, and make the ports that feed them suitable: they get delays, and are at least as fast, because 1 Mbit/s is
/// the lowest rate of any link or change.
fn cut_through(chosen: &[bool], ports: &mut [Port], paths: &[Vec<PortId>], flows: &mut [Flow], changes: &mut Vec<Change>) {
    let is_chosen = |port: PortId| chosen[port];
    for port in (0..ports.len()).filter(|&port| chosen[port]) {
        (ports[port].switching, ports[port].rate) = (Switching::CutThrough, Rate(1_000_000));
    }
    let feeds = |port: PortId| paths.iter().flat_map(|path| path.windows(2)).any(|hop| hop[0] == port && is_chosen(hop[1]));
    let min = |delay: &mut TimeDelta| *delay = (*delay).max(TimeDelta::from_millis(1));
    for port in PortId::all(ports.len()).filter(|&port| feeds(port)) {
        min(&mut ports[port].delay);
        ports[port].shaper = None;
    }
    // If access links are expanded, they are ports too.
    flows
        .iter_mut()
        .flat_map(|flow| [&mut flow.sender_access, &mut flow.receiver_access])
        .for_each(|access| min(&mut access.delay));
    changes.retain(|change| !matches!(change.what, ChangeKind::Rate(port, _) if is_chosen(port)));
    for change in changes {
        if let ChangeKind::Delay(_, delay) = &mut change.what {
            min(delay);
        }
    }
}

/// Coarse times make events of different entities simultaneous.
fn delay(dice: &mut TestRandom, coarse: bool) -> TimeDelta {
    if coarse { TimeDelta::from_millis(dice.pick(0, 4)) } else { TimeDelta(dice.pick(0, 20_000_000_000)) }
}

fn random_port(name: &str, dice: &mut TestRandom, coarse: bool, in_cells: bool) -> Port {
    let buffer = match dice.pick(0, 3) {
        0 => Buffer::Unlimited,
        1 => Buffer::Bytes(dice.pick(0, 30_000)),
        _ if in_cells => Buffer::Units(dice.pick(0, 300)),
        _ => Buffer::Units(dice.pick(0, 30)),
    };
    let counts_in_service = dice.chance(4) && !matches!(buffer, Buffer::Units(0) | Buffer::Bytes(_));
    // Policies for packets may also be applied to cells.
    let discards_frames = in_cells && dice.chance(2);
    let samples: Vec<PolicySpec> =
        PolicySpec::samples().into_iter().filter(|policy| policy.discards_frames() == discards_frames).collect();
    let policy = if dice.chance(3) { PolicySpec::DropTail(()) } else { dice.one_of(&samples) };
    let scheduling = (dice.chance(4) && policy.price_meaning().is_none()).then(|| random_scheduling(&policy, dice));
    let shaper =
        dice.chance(6).then(|| BucketSpec { rate: Rate(dice.pick(500_000, 6_000_000)), burst: Bytes(dice.pick(1, 9000)) });
    Port {
        counts_in_service,
        policy,
        scheduling: scheduling.map(Box::new),
        shaper,
        transmitters: if dice.chance(5) { dice.pick(2, 3) as u32 } else { 1 },
        random_loss: if dice.chance(3) { dice.pick(1, 50) as f64 / 1000.0 } else { 0.0 },
        ..link(name, dice.one_of(&[1, 4, 8, 10]), delay(dice, coarse), buffer)
    }
}

/// In some networks, links have impairments and queues count units per flow. The draws are separate, as for prices.
fn impair(seed: u64, ports: &mut [Port], paths: &[Vec<PortId>], changes: &mut Vec<Change>, in_cells: bool) -> bool {
    let mut dice = TestRandom::new(seed + (1 << 45));
    let is_impaired = dice.chance(2);
    for id in PortId::all(ports.len()).filter(|_| is_impaired) {
        let cuts_through = |port: PortId| ports[port].switching == Switching::CutThrough;
        let feeds_heads = paths.iter().flat_map(|path| path.windows(2)).any(|hop| hop[0] == id && cuts_through(hop[1]));
        let may_vary = !feeds_heads && !cuts_through(id);
        let port = &mut ports[id];
        port.impairments = random_impairments(&mut dice, in_cells);
        if feeds_heads {
            (port.impairments.jitter, port.impairments.duplication) = (None, 0.0);
        }
        if dice.chance(4) && may_vary {
            let rate = random_rate(&mut dice);
            (port.transmitters, port.rate, port.varying) = (1, rate.mean_rate(), Some(rate));
            changes.retain(|change| !matches!(change.what, ChangeKind::Rate(port, _) if port == id));
        }
    }
    dice.chance(3)
}

fn random_impairments(dice: &mut TestRandom, in_cells: bool) -> Impairments {
    let share = |dice: &mut TestRandom| dice.pick(1, 100) as f64 / 100.0;
    let millis = TimeDelta::from_millis;
    let delays = [
        Delay::Fixed(millis(3)),
        Delay::Uniform(millis(1), millis(8)),
        Delay::Exponential(millis(2)),
        Delay::Normal(millis(2), millis(4)),
    ];
    Impairments {
        loss_at: dice.one_of(&[LossAt::Wire, LossAt::BeforeQueue]),
        bursts: dice.chance(3).then(|| GilbertElliott {
            p: share(dice) / 50.0,
            r: share(dice),
            loss_in_good: share(dice) / 100.0,
            loss_in_bad: share(dice),
        }),
        jitter: dice.chance(3).then(|| Jitter { delay: dice.one_of(&delays), reordering: !in_cells && dice.chance(2) }),
        duplication: if !in_cells && dice.chance(4) { share(dice) / 10.0 } else { 0.0 },
        mtu: (!in_cells && dice.chance(8)).then(|| Bytes(dice.pick(300, 1600))),
    }
}

fn random_rate(dice: &mut TestRandom) -> VaryingRate {
    let trace = random_trace(dice);
    if dice.chance(2) {
        return VaryingRate::Opportunities(trace);
    }
    // Steps at the milliseconds of a trace, with a pause in places.
    let rate = |dice: &mut TestRandom| Rate(dice.one_of(&[0, 700_000, 3_000_000, 12_345_678]));
    let first = RateStep { at: TimeDelta::ZERO, rate: Rate(1_000_003) };
    let mut steps = vec![first];
    for instant in trace.instants().iter().filter(|instant| instant.millisecond > 0) {
        steps.push(RateStep { at: TimeDelta::from_millis(instant.millisecond.into()), rate: rate(dice) });
    }
    let period = trace.period() + TimeDelta::from_micros(dice.pick(1, 900));
    VaryingRate::Schedule(RateSchedule::new(steps, period).expect("a schedule"))
}

/// A trace of a few milliseconds, some of them with several opportunities, with long gaps in places.
fn random_trace(dice: &mut TestRandom) -> DeliveryTrace {
    let mut millisecond = dice.pick(0, 3) as u32;
    let mut instants = Vec::new();
    for _ in 0..dice.pick(1, 20) {
        instants.push(Opportunities { millisecond, count: dice.pick(1, 3) as u32 });
        millisecond += dice.one_of(&[1, 1, 2, 5, 40]);
    }
    instants.push(Opportunities { millisecond, count: 1 });
    DeliveryTrace::new(instants).expect("a trace")
}

fn random_scheduling(policy: &PolicySpec, dice: &mut TestRandom) -> Scheduling {
    let scheduler = dice.one_of(&SchedulerSpec::samples());
    let class = |name: &str, weight, buffer, policy| ClassQueue { name: name.into(), weight, buffer, policy };
    let queues = match dice.pick(0, 2) {
        _ if scheduler.is_aqm() => Queues::L4sAndClassic,
        0 if !scheduler.ranks() => Queues::OfFlows,
        1 if !scheduler.ranks() => Queues::Hashed(dice.pick(1, 4) as u32),
        _ => {
            let classes = vec![
                class("first", 1.0, Buffer::Units(dice.pick(0, 20)), PolicySpec::DropTail(())),
                class("second", dice.pick(1, 40) as f64 / 10.0, Buffer::Unlimited, policy.clone()),
            ];
            Queues::OfClasses(classes, vec![Some(0), Some(1), Some(0)])
        }
    };
    Scheduling { scheduler, queues }
}

fn random_group(name: &str, dice: &mut TestRandom, in_cells: bool) -> Group {
    let has_application = dice.chance(3);
    let transport = if dice.chance(4) { Transport::Datagram(random_source(dice)) } else { random_tcp(dice) };
    let delays = [
        None,
        None,
        Some(Delay::Fixed(TimeDelta::from_micros(300))),
        Some(Delay::Uniform(TimeDelta::ZERO, TimeDelta::from_micros(200))),
        Some(Delay::Exponential(TimeDelta::from_micros(100))),
    ];
    Group {
        class: dice.pick(0, 2) as u32,
        l4s: dice.chance(3),
        application: (has_application && matches!(transport, Transport::Tcp(..))).then(|| random_application(dice)),
        framing: in_cells.then(|| random_framing(dice)),
        send_processing: dice.one_of(&delays),
        receive_processing: dice.one_of(&delays),
        jitter: if dice.chance(3) { TimeDelta::from_micros(20) } else { TimeDelta::ZERO },
        ..group(name, transport)
    }
}

fn random_framing(dice: &mut TestRandom) -> Aal5 {
    let delays = [TimeDelta::ZERO, TimeDelta(300_000), TimeDelta::from_micros(700)];
    Aal5 { overhead: Bytes(dice.one_of(&[0, 8, 16])), segmentation: dice.one_of(&delays), reassembly: dice.one_of(&delays) }
}

fn random_source(dice: &mut TestRandom) -> DatagramSpec {
    let process = dice.one_of(&ProcessSpec::samples());
    let packet = if dice.chance(2) {
        PacketSize::Fixed(Bytes(500))
    } else {
        PacketSize::Exponential { mean: 500.0, maximum: Bytes(5000) }
    };
    DatagramSpec { arrivals: Arrivals::Process(process), packet, header: Bytes(28) }
}

/// Some applications never let TCP wait; others leave it idle for longer than its timeouts.
fn random_application(dice: &mut TestRandom) -> ApplicationSpec {
    let samples: Vec<ProcessSpec> = ProcessSpec::samples().into_iter().filter(|process| !process.is_of_datagrams()).collect();
    ApplicationSpec::Bursts(BurstSpec { process: dice.one_of(&samples), burst: dice.one_of(&[1, 1, 5, 40]) })
}

/// Some receivers acknowledge the first segments one at a time, some compress acknowledgements that report a gap.
fn delayed_ack(dice: &mut TestRandom) -> DelayedAck {
    let every = dice.pick(2, 4) as u32;
    DelayedAck {
        every,
        timeout: TimeDelta::from_millis(100),
        read_interval: TimeDelta::from_millis(if every == 4 { 20 } else { 0 }),
        quickack_segments: Segments(dice.one_of(&[0, 50])),
        sack_compression: TimeDelta::from_millis(dice.one_of(&[0, 1, 100])),
        sack_compression_percent: if every == 2 { 5 } else { 33 },
        sack_compression_slack: TimeDelta::from_micros(if every == 2 { 100 } else { 0 }),
        quickacks_after_duplicate: if every == 3 { 16 } else { 0 },
        ack_pushed: every < 4,
        ack_ce_immediately: dice.one_of(&[false, true]),
    }
}

fn random_tcp(dice: &mut TestRandom) -> Transport {
    let kinds = [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::BpdSack, Recovery::RackTlp];
    let tick = TimeDelta::from_millis(100);
    let forms = [
        TimerForm::Exact { granularity: TimeDelta::from_millis(1) },
        TimerForm::CoarseNs { tick },
        TimerForm::CoarseBsd { tick },
    ];
    let base = tcp(dice.one_of(&kinds));
    let initial_window = dice.pick(1, 10);
    let is_as_linux = initial_window.is_multiple_of(2);
    let spec = TcpSpec {
        initial_window: initial_window as f64,
        handshake: dice.chance(4),
        syn_options: Bytes(if is_as_linux { 8 } else { 0 }),
        bare_segments: is_as_linux,
        ecn_fallback: is_as_linux,
        limit_dsacks: is_as_linux,
        cumulative_rack_rtt: is_as_linux,
        retransmissions_by_min_rtt: is_as_linux,
        f_rto_repeats: is_as_linux,
        new_data_ends_probe: is_as_linux,
        timeout_keeps_reduction: is_as_linux,
        fast_recovery_after_timeout: is_as_linux,
        pacing_credit: is_as_linux,
        initial_ssthresh: dice.one_of(&[f64::INFINITY, 16.0]),
        receiver_window: Segments(dice.one_of(&[1_000_000, 20, 1])),
        fast_retransmit: if dice.chance(6) { None } else { Some(3) },
        limited_transmit: dice.chance(2),
        timestamps: dice.chance(2),
        sack_blocks: dice.pick(1, 4) as u32,
        delayed_ack: if dice.chance(3) { Some(delayed_ack(dice)) } else { None },
        ecn: dice.chance(2),
        pacing: dice.chance(5),
        window_validation: dice.one_of(&[
            WindowValidation::None,
            WindowValidation::Rfc5681,
            WindowValidation::Rfc7661,
            WindowValidation::Linux,
        ]),
        timer: TimerSpec { form: dice.one_of(&forms), ..base.timer },
        ssthresh_from: dice.one_of(&[SsthreshFrom::FlightSize, SsthreshFrom::Window]),
        ack_counting: dice.one_of(&[AckCounting::Bytes, AckCounting::Acknowledgements]),
        abc_limit: dice.one_of(&[Segments(1), Segments(2), Segments::UNLIMITED]),
        slow_start: dice.one_of(&[SlowStart::Standard, SlowStart::HyStart, SlowStart::HyStartPlusPlus]),
        ..base
    };
    let law = if dice.chance(3) { ControllerSpec::Reno(()) } else { dice.one_of(&ControllerSpec::samples()) };
    Transport::Tcp(spec, law)
}

fn random_flow(index: u32, group: &Group, routes: u64, dice: &mut TestRandom, coarse: bool) -> Flow {
    let route = dice.pick(0, routes - 1) as u32;
    let finite = dice.chance(3) && matches!(group.transport, Transport::Tcp(..));
    let access = |dice: &mut TestRandom| AccessLink {
        rate: Some(Rate(dice.one_of(&[8, 10, 100]) * 1_000_000)),
        delay: delay(dice, coarse),
    };
    Flow {
        sender_access: access(dice),
        receiver_access: access(dice),
        interface: None,
        start: Time(TimeDelta::from_millis(dice.pick(0, 300)).0),
        stop: if dice.chance(6) { Time(TimeDelta::from_millis(dice.pick(300, 1000)).0) } else { Time::NEVER },
        size: finite.then(|| Bytes(dice.pick(1, 200_000))),
        ..flow(index, 2 * route, 2 * route + 1)
    }
}

fn random_changes(dice: &mut TestRandom, ports: &[Port], flows: &[Flow], routes: u64, duration: TimeDelta) -> Vec<Change> {
    if !dice.chance(4) {
        return Vec::new();
    }
    let mut changes = Vec::new();
    for _ in 0..dice.pick(1, 4) {
        let port = PortId(dice.pick(0, ports.len() as u64 - 1) as u32);
        let flow = FlowId(dice.pick(0, flows.len() as u64 - 1) as u32);
        let route = dice.pick(0, routes - 1) as u32;
        let what = match dice.pick(0, 4) {
            0 => ChangeKind::Rate(port, Rate(dice.pick(1, 10) * 1_000_000)),
            1 => ChangeKind::Delay(port, TimeDelta::from_millis(dice.pick(0, 10))),
            2 => ChangeKind::RandomLoss(port, 0.02),
            3 => ChangeKind::Buffer(port, Buffer::Units(dice.pick(0, 60))),
            _ => ChangeKind::Route(flow, 2 * route, 2 * route + 1),
        };
        changes.push(Change { at: Time(dice.pick(0, duration.0)), what });
    }
    changes.sort_by_key(|change| change.at);
    changes
}
