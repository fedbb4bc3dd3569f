//! Transports outside the engine: results do not depend on the number of threads, with and without a stop.

#![allow(clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::common::{TestRandom, dumbbell, flow, group, port, random_network, random_parking_lot, reno, tcp};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use tailback_core::network::*;
use tailback_core::primitives::packet::Ecn;
use tailback_core::primitives::segment_number::SegmentNumber;
use tailback_core::primitives::units::{Bytes, Rate, Time, TimeDelta};
use tailback_core::queue::{CodelSpec, PolicySpec};
use tailback_core::tcp::Recovery;
use tailback_core::traffic::{Arrivals, DatagramSpec, PacketSize};
use tailback_core::{DatagramContents, DatagramOutcome, Engine, Fate, NotParallel, ParallelEngine, Results, Transports};

/// Pairs of transports. The first of a pair sends a few datagrams at times of its own and one per answer; the second answers each.
#[derive(Clone)]
struct Pairs {
    flows: Vec<[FlowId; 2]>,
    end: Time,
    /// Actions at this time or later stop the run.
    stop: Time,
    stopped_at: Option<Time>,
    timers: BTreeSet<(Time, usize)>,
    due: BinaryHeap<Reverse<Fate>>,
    /// The order of all sent datagrams, which decides their sizes.
    sent: u64,
    arrivals: Vec<Fate>,
    discards: BTreeSet<Fate>,
}

impl Pairs {
    fn new(network: &Network, stop: Time) -> Pairs {
        let external: Vec<FlowId> = FlowId::all(network.flows.len()).filter(|&flow| is_external(network, flow)).collect();
        let half = external.len() / 2;
        let flows: Vec<[FlowId; 2]> =
            external[..half].iter().zip(&external[half..]).map(|(&there, &back)| [there, back]).collect();
        let start = |pair: usize| (Time(pair as u64 % 2 * 7_000_000_000), pair);
        Pairs {
            timers: (0..flows.len()).map(start).collect(),
            flows,
            end: Time::ZERO + network.duration,
            stop,
            stopped_at: None,
            due: BinaryHeap::new(),
            sent: 0,
            arrivals: Vec::new(),
            discards: BTreeSet::new(),
        }
    }

    fn collect(&mut self, engine: &mut Engine) {
        for fate in engine.take_fates() {
            match fate.outcome {
                DatagramOutcome::Delivered { .. } => self.due.push(Reverse(fate)),
                DatagramOutcome::Discarded { .. } => drop(self.discards.insert(fate)),
                DatagramOutcome::Copied => {}
            }
        }
    }

    fn send(&mut self, engine: &mut Engine, flow: FlowId) {
        self.sent += 1;
        let ecn = [Ecn::NOT_ECT, Ecn::ECT, Ecn::L4S][self.sent as usize % 3];
        let number = engine.inject_as(flow, Bytes(40 + 300 * (self.sent % 5)), ecn, DatagramContents::Opaque);
        number.expect("an external flow");
    }

    /// All actions at `now` or before.
    fn act(&mut self, engine: &mut Engine, now: Time) {
        let next = |pairs: &mut Pairs| pairs.next_time() <= now;
        while self.stopped_at.is_none() && next(self) {
            if now >= self.stop {
                self.stopped_at = Some(now);
            } else if let Some((_, pair)) = self.timers.pop_first_if(|&(time, _)| time <= now) {
                self.timers.insert((now + TimeDelta::from_millis(40), pair));
                (0..4).for_each(|_| self.send(engine, self.flows[pair][0]));
            } else if let Some(Reverse(fate)) = self.due.pop() {
                self.arrivals.push(fate);
                let pair = self.flows.iter().find(|pair| pair.contains(&fate.flow)).expect("a flow of a pair");
                self.send(engine, pair[usize::from(pair[0] == fate.flow)]);
            }
        }
    }

    /// Everything that the run has shown. Some discards after the end are known, depending on how far they are computed ahead.
    fn seen(&self) -> (Option<Time>, u64, &[Fate], Vec<&Fate>) {
        let before = self.stopped_at.map_or(self.end, |stop| Time(stop.0 + 1));
        let discards = self.discards.iter().filter(|fate| fate.time < before).collect();
        (self.stopped_at, self.sent, &self.arrivals, discards)
    }
}

fn is_external(network: &Network, flow: FlowId) -> bool {
    let transport = &network.groups[network.flows[flow].group].transport;
    matches!(transport, Transport::Datagram(spec) if matches!(spec.arrivals, Arrivals::External))
}

trait PopFirstIf<T> {
    fn pop_first_if(&mut self, is_wanted: impl Fn(&T) -> bool) -> Option<T>;
}

impl<T: Ord> PopFirstIf<T> for BTreeSet<T> {
    fn pop_first_if(&mut self, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
        if self.first().is_some_and(is_wanted) { self.pop_first() } else { None }
    }
}

impl Transports for Pairs {
    fn run_until(&mut self, engine: &mut Engine, time: Time) -> ControlFlow<()> {
        while self.stopped_at.is_none() {
            self.collect(engine);
            let next = engine.next_event_time().unwrap_or(Time::NEVER).min(self.next_time());
            if next >= time {
                break;
            }
            engine.run_until(Time(next.0 + 1));
            self.collect(engine);
            self.act(engine, next);
            if self.stopped_at.is_some() {
                return ControlFlow::Break(());
            }
        }
        engine.run_until(time);
        self.collect(engine);
        ControlFlow::Continue(())
    }

    fn reach(&mut self, engine: &mut Engine, time: Time) {
        self.collect(engine);
        if time == self.end {
            self.act(engine, time);
        }
    }

    fn next_time(&mut self) -> Time {
        if self.stopped_at.is_some() {
            return Time::NEVER;
        }
        let timer = self.timers.first().map_or(Time::NEVER, |&(time, _)| time);
        timer.min(self.due.peek().map_or(Time::NEVER, |Reverse(fate)| fate.time))
    }

    fn actions(&self) -> u64 {
        0
    }
}

/// The network with one to three pairs of external flows over its paths, some with access links, some with listed drops.
fn with_external_flows(seed: u64, mut network: Network) -> Network {
    let mut dice = TestRandom::new(seed + (5 << 40));
    let spec =
        DatagramSpec { arrivals: Arrivals::External, packet: PacketSize::Given { maximum: Bytes(9000) }, header: Bytes(20) };
    let first = network.groups.len() as u32;
    network.groups.extend(["there", "back"].map(|name| group(name, Transport::Datagram(spec.clone()))));
    let delays = [TimeDelta::ZERO, TimeDelta::ZERO, TimeDelta::from_micros(250), TimeDelta::from_millis(3)];
    let there: Vec<Flow> = (0..dice.pick(1, 3))
        .map(|_| {
            let path = 2 * dice.pick(0, network.paths.len() as u64 / 2 - 1) as u32;
            let access = |dice: &mut TestRandom| AccessLink { rate: None, delay: dice.one_of(&delays) };
            let ends = (access(&mut dice), access(&mut dice));
            let (start, stop) = (Time::ZERO, Time::NEVER);
            let (group, size) = (GroupId(first), None);
            let (sender_access, receiver_access) = ends;
            Flow { group, forward: path, backward: path + 1, sender_access, receiver_access, interface: None, start, stop, size }
        })
        .collect();
    let back = |flow: &Flow| Flow {
        group: GroupId(first + 1),
        forward: flow.backward,
        backward: flow.forward,
        sender_access: flow.receiver_access,
        receiver_access: flow.sender_access,
        ..flow.clone()
    };
    let back: Vec<Flow> = there.iter().map(back).collect();
    if dice.chance(3) {
        let flow = FlowId(network.flows.len() as u32);
        let port = network.paths[there[0].forward as usize][0];
        let listed = |segment| ListedDrop { flow, segment: SegmentNumber(segment), transmission: 1, cell: None };
        network.ports[port].listed_drops.extend([2, 3, 9].map(listed));
    }
    network.flows.extend(there.into_iter().chain(back));
    network
}

/// The run on one thread.
fn alone(network: &Network, stop: Time) -> (Pairs, Results) {
    let mut engine = Engine::new(network.clone());
    let mut pairs = Pairs::new(network, stop);
    let end = pairs.end;
    let _ = pairs.run_until(&mut engine, end);
    match pairs.stopped_at {
        Some(at) => engine.run_until(Time(at.0 + 1)),
        None => pairs.reach(&mut engine, end),
    }
    (pairs, engine.results().expect("conservation holds"))
}

/// The run on several threads, in slices, read in between; `None` if it cannot be divided.
fn divided(network: &Network, stop: Time, threads: usize) -> Option<(Pairs, Results)> {
    let mut dice = TestRandom::new(network.seed + threads as u64);
    let threads = NonZeroUsize::new(threads).expect("not zero");
    let parallel = match ParallelEngine::new(Engine::new(network.clone()), threads) {
        Ok(parallel) => parallel,
        Err(refused) => {
            assert!(matches!(refused.1, NotParallel::Routes | NotParallel::NoDelay), "{}", refused.1);
            return None;
        }
    };
    let mut parallel = parallel.with_transports(Pairs::new(network, stop));
    loop {
        let done = match dice.pick(0, 2) {
            0 => parallel.run_for(Time::NEVER, dice.pick(0, 3000)),
            1 => {
                parallel.run_until(Time(parallel.now().0 + dice.pick(0, network.duration.0 / 2)));
                false
            }
            _ => parallel.run_for(Time::NEVER, u64::MAX),
        };
        if let Some(at) = parallel.transports().stopped_at {
            parallel.run_until(Time(at.0 + 1));
        } else if !done {
            parallel.engine().results().expect("conservation holds");
            continue;
        }
        let results = parallel.engine().results().expect("conservation holds");
        return Some((parallel.into_transports(), results));
    }
}

/// Checks runs to the end, and runs that a transport stops. Before their end, results include hops that were computed ahead, of which there
/// are none if every hop is an event.
fn results_are_the_same_on_any_number_of_threads(networks: impl Iterator<Item = Network>) {
    let mut shared = 0;
    for network in networks {
        let stopped = Network { stepped: true, ..network.clone() };
        let half = Time(network.duration.0 / 2);
        for (network, stop) in [(&network, Time::NEVER), (&stopped, half)] {
            // Threads wait for one another, for a long time on a busy machine.
            shared += usize::from(divided_equals_alone(network, stop, [2, 3, 4][shared % 3]));
        }
    }
    assert!(shared > 25, "{shared} were shared");
}

/// Returns false if the run cannot be divided.
fn divided_equals_alone(network: &Network, stop: Time, threads: usize) -> bool {
    let what = format!("seed {}, stop at {} s, {threads} threads", network.seed, stop.seconds());
    let (pairs, results) = alone(network, stop);
    assert_eq!(pairs.stopped_at.is_some(), stop < pairs.end, "{what}");
    let Some((of_shared, on_threads)) = divided(network, stop, threads) else { return false };
    assert!(pairs.seen() == of_shared.seen(), "{what}: transports differ");
    for (one, other) in results.tables().zip(on_threads.tables()) {
        assert!(one.bytes() == other.bytes(), "{what}: table {} differs", one.name);
    }
    assert_eq!((results.events, results.simulated_s), (on_threads.events, on_threads.simulated_s), "{what}");
    true
}

/// A queue that acts on departures finds the loss of a packet when it computes the next departure, and no packet follows the last one.
#[test]
fn the_loss_of_the_last_packet_is_known_on_any_number_of_threads() {
    let policy = PolicySpec::Codel(CodelSpec::default());
    let delay = TimeDelta::from_millis(1);
    let lossy = Port { policy, random_loss: 1.0, ..port("lossy", Rate(8_000_000), delay) };
    let greedy = group("greedy", reno(tcp(Recovery::NewReno)));
    let one = dumbbell(lossy, greedy, vec![flow(0, 0, 1)], TimeDelta::from_millis(20));
    let network = with_external_flows(one.seed, one);
    let (pairs, _) = alone(&network, Time::NEVER);
    assert!(!pairs.discards.is_empty() && pairs.arrivals.is_empty());
    assert!(divided_equals_alone(&network, Time::NEVER, 2), "cannot be divided");
}

#[test]
fn transports_beside_random_networks_give_identical_bytes() {
    let is_suitable = |network: &Network| network.groups.iter().all(|group| group.framing.is_none());
    let networks = (0..80).map(|seed| (seed, random_network(seed))).filter(|(_, network)| is_suitable(network));
    results_are_the_same_on_any_number_of_threads(networks.map(|(seed, network)| with_external_flows(seed, network)));
}

#[test]
fn transports_on_parking_lots_give_identical_bytes() {
    let networks = (0..20).map(|seed| with_external_flows(seed, random_parking_lot(seed)));
    results_are_the_same_on_any_number_of_threads(networks);
}
