//! How many rows the traces of a network can have: estimated before a run, so that one whose traces cannot fit is refused.
//!
//! What reaches a receiver is bounded by the links: no more packets than the narrowest of its way carries in the time. The traces of
//! acknowledgements follow from that. What is lost beside it is bounded for a sender that hears of losses (some in each round trip, and
//! once what fills pipes and buffers), and at worst by what acknowledgements and timeouts can set going.

use super::in_flight::places;
use crate::congestion::{ControllerSpec, MOST_QUANTITIES};
use crate::network::{
    Buffer, CELL_BYTES, Change, ChangeKind, DeliveryTrace, Flow, Group, Network, Port, Trace, TraceKind, Transport,
};
use crate::price::Meaning;
use crate::primitives::units::{Bytes, Span, Time};
use crate::tcp::{TcpSpec, WindowValidation};
use crate::traffic::{Arrivals, DatagramSpec, PacketSize};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes that a row takes at most: kept with the slack of a growing list, sorted, and as a column.
pub(super) const ROW_BYTES: u64 = 128;

/// The same of a packet, which has more columns, and of which an acknowledgement may have four SACK blocks as text.
const PACKET_ROW_BYTES: u64 = 512;

/// Bytes that all traces take at most.
pub(super) fn trace_bytes(network: &Network) -> u64 {
    let bytes = |(rows, trace): (u64, &Trace)| {
        rows.saturating_mul(if trace.kind == TraceKind::Packets { PACKET_ROW_BYTES } else { ROW_BYTES })
    };
    trace_rows(network).into_iter().zip(&network.record.traces).map(bytes).fold(0, u64::saturating_add)
}

/// At most so many rows for each of the traces that are asked for, in their order.
pub fn trace_rows(network: &Network) -> Vec<u64> {
    let ways = Ways::of(network);
    let rows = |trace: &Trace| match trace.kind {
        kind if kind.is_of_ports() => trace.of.iter().map(|&port| ways.rows_of_port(kind, port)).sum::<f64>() * ways.copies,
        kind => ways.rows_of_flows(kind, &trace.of) * ways.copies,
    };
    network.record.traces.iter().map(|trace| rows(trace).ceil() as u64).collect()
}

/// A network, and what changes in it.
struct Ways<'a> {
    network: &'a Network,
    /// The highest rate that each port ever has, all transmitters together, in bit/s.
    rates: Vec<f64>,
    /// Further paths of flows that change theirs: forward and backward.
    further: BTreeMap<u32, Vec<(u32, u32)>>,
    /// Packets that fill all pipes and buffers.
    room: f64,
    /// The highest probability that a wire ever loses a packet with.
    loss: f64,
    /// Flows whose datagrams are handed in.
    external: f64,
    /// Of a packet and its acknowledgement, at most so many arrive, copies included.
    copies: f64,
}

/// Bit/s of a transmitter; of one that sends by a trace in the mean of the run.
fn rate(port: &Port, duration: Span) -> f64 {
    port.trace.as_ref().map_or(port.rate.0 as f64, |trace| {
        let bytes = trace.count_before(Time(duration.0)) as f64 * DeliveryTrace::OPPORTUNITY.0 as f64;
        bytes * 8.0 / duration.seconds()
    })
}

/// The highest probability that a packet is lost with on a link.
fn loss_of(port: &Port) -> f64 {
    let in_bursts = port.impairments.bursts.map_or(0.0, |chain| chain.loss_in_bad.max(chain.loss_in_good));
    1.0 - (1.0 - port.random_loss) * (1.0 - in_bursts)
}

/// A link that duplicates packets makes twice as many more of them as in the mean, and at most doubles them.
fn copies(network: &Network, flow: &Flow) -> f64 {
    let ports = [flow.forward, flow.backward].into_iter().flat_map(|path| &network.paths[path as usize]);
    ports.map(|&port| 1.0 + (2.0 * network.ports[port as usize].impairments.duplication).min(1.0)).product()
}

/// What some flows do together.
#[derive(Default)]
struct Sum {
    /// By the narrowest port of their way: segments that reach receivers if nobody shares it, and bytes of the smallest.
    received: BTreeMap<u32, (f64, f64)>,
    datagrams: f64,
    /// Reciprocal bytes of the smallest packet.
    per_byte: f64,
    /// Cells of the largest packet and of its acknowledgement, where they travel in cells; else 1.
    units: f64,
    ack_units: f64,
    flows: f64,
    /// Round trips of all flows, counted by the propagation alone; infinite where there is none.
    rounds: f64,
    /// Segments under way, in queues without end too: no window is larger than it began and what was acknowledged since.
    under_way: f64,
    /// Idle times after which a window may begin anew.
    restarts: f64,
    /// Packets that are set going by no acknowledgement: first windows, and what follows a timeout without progress.
    attempts: f64,
}

impl<'a> Ways<'a> {
    fn of(network: &'a Network) -> Ways<'a> {
        let mut rates: Vec<f64> = network.ports.iter().map(|port| rate(port, network.duration)).collect();
        let mut further: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
        let mut loss = network.ports.iter().map(loss_of).fold(0.0, f64::max);
        for change in &network.changes {
            match change.what {
                ChangeKind::Rate(port, rate) => rates[port as usize] = rates[port as usize].max(rate.0 as f64),
                ChangeKind::Route(flow, forward, backward) => further.entry(flow).or_default().push((forward, backward)),
                ChangeKind::RandomLoss(_, share) => loss = share.max(loss),
                ChangeKind::Delay(..) | ChangeKind::Buffer(..) => {}
            }
        }
        rates.iter_mut().zip(&network.ports).for_each(|(rate, port)| *rate *= f64::from(port.transmitters));
        let smallest = network.groups.iter().map(wire_bytes).fold(1500.0, f64::min);
        // What is never full discards nothing.
        let waiting: f64 = places(network, smallest).iter().sum();
        let pipe = |(port, rate): (&Port, &f64)| rate * port.delay.seconds() / 8.0 / smallest;
        let room = waiting + network.ports.iter().zip(&rates).map(pipe).sum::<f64>();
        let is_external = |flow: &&Flow| match &network.groups[flow.group as usize].transport {
            Transport::Datagram(spec) => matches!(spec.arrivals, Arrivals::External),
            Transport::Tcp(..) => false,
        };
        let external = network.flows.iter().filter(is_external).count() as f64;
        let copies = network.flows.iter().map(|flow| copies(network, flow)).fold(1.0, f64::max);
        Ways { network, rates, further, room, loss, external, copies }
    }

    fn rows_of_flows(&self, kind: TraceKind, flows: &[u32]) -> f64 {
        let mut sum = Sum::default();
        flows.iter().for_each(|&flow| self.add(&mut sum, flow));
        let acks = self.received(&sum);
        match kind {
            TraceKind::Throughput(bin) => sum.flows * (self.network.duration.seconds() / bin.seconds() + 1.0),
            TraceKind::Segments => self.sent(&sum),
            TraceKind::Packets => self.sent(&sum) + acks,
            TraceKind::Law => (acks + sum.attempts + sum.flows) * MOST_QUANTITIES as f64,
            // Timeouts come at most once in a round trip, and recoveries too.
            TraceKind::Cwnd => acks + acks.min(sum.rounds) + acks.min(sum.restarts) + sum.attempts + sum.flows,
            TraceKind::Ssthresh | TraceKind::State => {
                acks.min(4.0 * sum.rounds) + 2.0 * (acks.min(sum.restarts) + sum.attempts + sum.flows)
            }
            _ => acks,
        }
    }

    fn rows_of_port(&self, kind: TraceKind, port: u32) -> f64 {
        let crosses: BTreeSet<u32> =
            (0..).zip(&self.network.paths).filter(|(_, path)| path.contains(&port)).map(|(index, _)| index).collect();
        let (mut there, mut back) = (Sum::default(), Sum::default());
        for (flow, spec) in (0..).zip(&self.network.flows) {
            let further = self.further.get(&flow).map_or(&[][..], Vec::as_slice);
            let mut ways = further.iter().copied().chain([(spec.forward, spec.backward)]);
            if ways.clone().any(|(forward, _)| crosses.contains(&forward)) {
                self.add(&mut there, flow);
            }
            if ways.any(|(_, backward)| crosses.contains(&backward)) {
                self.add(&mut back, flow);
            }
        }
        if kind == TraceKind::Drops {
            return self.lost(&there) * there.units;
        }
        // Each unit comes and goes.
        let spec = &self.network.ports[port as usize];
        let carried = match spec.buffer {
            // Whatever is sent may be waiting.
            Buffer::Unlimited => f64::INFINITY,
            // What such a policy has let in it may discard, so that more comes and goes than is carried.
            _ if spec.scheduling.is_some() || spec.shaper.is_some() || spec.policy.is_stepped() => f64::INFINITY,
            _ => self.rates[port as usize] * self.network.duration.seconds() / 8.0 * there.per_byte + self.room,
        };
        2.0 * (self.sent(&there).min(carried) * there.units + self.received(&back) * back.ack_units)
    }

    fn add(&self, sum: &mut Sum, index: u32) {
        let network = self.network;
        let flow = &network.flows[index as usize];
        let seconds = network.duration.seconds() - flow.start.seconds();
        if seconds <= 0.0 {
            return;
        }
        let group = &network.groups[flow.group as usize];
        let (narrowest, rate) = self.narrowest(index, flow);
        let bytes = wire_bytes(group);
        let carried = rate * seconds / 8.0 / bytes + 1.0;
        sum.per_byte = sum.per_byte.max(1.0 / bytes);
        sum.units = sum.units.max(units(group));
        sum.ack_units = sum.ack_units.max(group.ack_cells().0 as f64);
        sum.flows += 1.0;
        match &group.transport {
            Transport::Datagram(spec) => {
                sum.datagrams += match spec.arrivals {
                    Arrivals::External => carried.min(HANDED_IN_PER_SECOND * seconds / self.external),
                    _ => datagrams(spec, seconds).unwrap_or(carried),
                };
            }
            Transport::Tcp(spec, law) => {
                // A timeout may send again what had arrived.
                let segments = flow.size.map_or(f64::INFINITY, |size| 3.0 * (size.0 as f64 / spec.mss.0 as f64).ceil() + 16.0);
                let received = sum.received.entry(narrowest).or_insert((0.0, f64::INFINITY));
                *received = (received.0 + carried.min(segments), received.1.min(bytes));
                let (opens, first_window) = (law.opens(), law.first_window(spec.initial_window, spec.mss + spec.header));
                sum.under_way += f64::from(spec.receiver_window.0).min(first_window + opens * carried.min(segments));
                // Beyond one for each that is acknowledged.
                sum.attempts += (opens - 1.0) * carried.min(segments);
                let rounds = seconds / self.propagation(flow).seconds() + 1.0;
                sum.rounds += rounds;
                let may_shrink = spec.window_validation != WindowValidation::None;
                sum.restarts += if group.application.is_some() && may_shrink { rounds } else { 0.0 };
                sum.attempts += if let Some(price) = self.least_price(law, rate) {
                    // What it may send at all, received or not.
                    law.rate_at(price) * seconds / 8.0 / bytes + first_window + rounds
                } else if law.ignores_losses() {
                    // Each repair and each timeout may send the whole of it again.
                    first_window * (1.0 + carried.min(rounds + seconds / spec.timer.min_rto.seconds()))
                } else {
                    attempts(spec, seconds).min(segments)
                };
            }
        }
    }

    /// The narrowest port of a flow's way, and the rate there or at its access.
    fn narrowest(&self, index: u32, flow: &Flow) -> (u32, f64) {
        const SEVERAL: u32 = u32::MAX;
        let of_path = |path: u32| {
            let ports = self.network.paths[path as usize].iter().map(|&port| (port, self.rates[port as usize]));
            ports.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((SEVERAL, f64::INFINITY))
        };
        let further = self.further.get(&index).into_iter().flatten();
        let (port, rate) = further.fold(of_path(flow.forward), |(_, rate), &(path, _)| (SEVERAL, rate.max(of_path(path).1)));
        let access = [flow.sender_access, flow.receiver_access].into_iter().filter_map(|access| access.rate);
        (port, access.fold(rate, |rate, access| rate.min(access.0 as f64)))
    }

    /// The least price that a law may hear of which it goes by one: of a link that is `rate` fast, or what receivers begin with.
    fn least_price(&self, law: &ControllerSpec, rate: f64) -> Option<f64> {
        let prices = &self.network.prices;
        let told = if prices.is_marked() { prices.mapping.least } else { f64::INFINITY };
        match law.goes_by()? {
            Meaning::Cost | Meaning::Marginal => Some(0.0),
            Meaning::Rate => Some(told.min(1.0 / rate)),
            Meaning::Wait | Meaning::Feedback => None,
        }
    }

    /// There and back; nothing, if that changes.
    fn propagation(&self, flow: &Flow) -> Span {
        let moves = |change: &Change| matches!(change.what, ChangeKind::Delay(..) | ChangeKind::Route(..));
        if self.network.changes.iter().any(moves) {
            return Span::ZERO;
        }
        let ports = [flow.forward, flow.backward].into_iter().flat_map(|path| &self.network.paths[path as usize]);
        let access = flow.sender_access.delay + flow.receiver_access.delay;
        ports.fold(access + access, |sum, &port| sum + self.network.ports[port as usize].delay)
    }

    /// Segments that reach receivers.
    fn received(&self, sum: &Sum) -> f64 {
        let of_port = |(&port, &(alone, bytes)): (&u32, &(f64, f64))| {
            let rate = self.rates.get(port as usize).copied().unwrap_or(f64::INFINITY);
            alone.min(rate * self.network.duration.seconds() / 8.0 / bytes + 1.0)
        };
        sum.received.iter().map(of_port).sum()
    }

    /// Packets that senders send; of datagrams all may be lost.
    fn sent(&self, sum: &Sum) -> f64 {
        self.received(sum) + sum.datagrams + self.at_worst(sum).min(self.heard_of(sum) + sum.under_way)
    }

    fn lost(&self, sum: &Sum) -> f64 {
        sum.datagrams + self.at_worst(sum).min(self.heard_of(sum))
    }

    /// Segments beside those received, if each of these sets two more going.
    fn at_worst(&self, sum: &Sum) -> f64 {
        2.0 * self.received(sum) + sum.attempts
    }

    /// Segments lost by senders that give way.
    fn heard_of(&self, sum: &Sum) -> f64 {
        4.0 * sum.rounds + 2.0 * (self.room + sum.attempts + self.received(sum) * self.loss)
    }
}

/// The first window, and retransmissions while nothing comes back: each waits twice as long as the one before.
fn attempts(spec: &TcpSpec, seconds: f64) -> f64 {
    let timer = &spec.timer;
    let doublings = f64::from(timer.max_backoff.max(1).ilog2());
    let unheard = doublings + 1.0 + seconds / timer.max_rto.seconds().min(timer.min_rto.seconds() * f64::from(timer.max_backoff));
    spec.initial_window + unheard
}

/// Whoever hands in datagrams does so by a clock: in all no more than this, several times what one processor has been seen to carry.
const HANDED_IN_PER_SECOND: f64 = 200_000.0;

/// Datagrams of a source; some standard deviations more where their number is random. `None` where others decide.
fn datagrams(spec: &DatagramSpec, seconds: f64) -> Option<f64> {
    match &spec.arrivals {
        Arrivals::Process(process) if process.is_random() => {
            let mean = seconds * spec.per_second()?;
            Some(mean + 10.0 * mean.sqrt() + 10.0)
        }
        // At most as many as if it never were silent.
        Arrivals::Process(process) => Some(seconds / process.rate().time_to_send(spec.wire_bytes()?).seconds() + 1.0),
        Arrivals::External | Arrivals::User(_) => None,
    }
}

/// Bytes on the wire of a full packet; of the smallest, where sizes are drawn.
fn wire_bytes(group: &Group) -> f64 {
    let smallest = group.transport.full_packet().unwrap_or(Bytes(1) + header(&group.transport));
    match group.framing {
        Some(framing) => (framing.cells(smallest).0 * CELL_BYTES.0) as f64,
        None => smallest.0 as f64,
    }
}

/// Cells of a full packet, of the largest where sizes are drawn; 1 without cells.
fn units(group: &Group) -> f64 {
    let drawn = match &group.transport {
        Transport::Datagram(DatagramSpec {
            packet: PacketSize::Exponential { maximum, .. } | PacketSize::Given { maximum },
            header,
            ..
        }) => *maximum + *header,
        _ => Bytes(1),
    };
    group.framing.map_or(1.0, |framing| framing.cells(group.transport.full_packet().unwrap_or(drawn)).0 as f64)
}

fn header(transport: &Transport) -> Bytes {
    match transport {
        Transport::Tcp(spec, _) => spec.header,
        Transport::Datagram(spec) => spec.header,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::congestion::ControllerSpec;
    use crate::network::{Access, Group, Impairments, Opportunities, Record};
    use crate::price::PriceSpec;
    use crate::primitives::units::{Rate, Segments};
    use crate::queue::{CodelSpec, PolicySpec};
    use crate::tcp::{Counting, Halves, Recovery, TimerSpec};
    use crate::traffic::{ConstantSpec, ProcessSpec};

    /// A NewReno flow over 10 ms each way and 100 waiting places.
    pub(in super::super) fn traced(megabits: u64, seconds: u64, traces: &[(TraceKind, u32)]) -> Network {
        let port = |name: &str| Port {
            name: name.into(),
            rate: Rate(megabits * 1_000_000),
            delay: Span::from_millis(10),
            transmitters: 1,
            switching: crate::network::Switching::StoreAndForward,
            buffer: Buffer::Units(100),
            counts_in_service: false,
            policy: PolicySpec::DropTail(()),
            scheduling: None,
            shaper: None,
            random_loss: 0.0,
            listed_drops: Vec::new(),
            impairments: Impairments::default(),
            trace: None,
        };
        let timer = TimerSpec { min_rto: Span::from_millis(200), ..TimerSpec::rfc6298() };
        let tcp = TcpSpec {
            recovery: Recovery::NewReno,
            mss: Bytes(960),
            header: Bytes(40),
            ack_size: Bytes(40),
            initial_window: 10.0,
            handshake: false,
            initial_ssthresh: f64::INFINITY,
            receiver_window: Segments(1_000_000),
            fast_retransmit: Some(3),
            limited_transmit: true,
            timestamps: false,
            sack_blocks: 3,
            delayed_ack: None,
            ecn: false,
            pacing: false,
            window_validation: WindowValidation::None,
            timer,
            halves: Halves::FlightSize,
            counting: Counting::Bytes,
            slow_start_limit: Segments(2),
            slow_start: crate::tcp::SlowStart::Standard,
        };
        let flow = Flow {
            group: 0,
            forward: 0,
            backward: 1,
            sender_access: Access::default(),
            receiver_access: Access::default(),
            start: Time::ZERO,
            stop: Time::NEVER,
            size: None,
        };
        let transport = Transport::Tcp(tcp, ControllerSpec::Reno(()));
        Network {
            ports: vec![port("there"), port("back")],
            paths: vec![vec![0], vec![1]],
            groups: vec![Group {
                application: None,
                framing: None,
                abr: None,
                name: "flow".into(),
                class: 0,
                l4s: false,
                transport,
                send_processing: None,
                receive_processing: None,
                jitter: Span::ZERO,
            }],
            flows: vec![flow],
            changes: Vec::new(),
            duration: Span::from_millis(1000 * seconds),
            warmup: Span::ZERO,
            seed: 1,
            record: Record {
                traces: traces.iter().map(|&(kind, of)| Trace { kind, of: vec![of] }).collect(),
                ..Record::default()
            },
            stepped: false,
            prices: PriceSpec::default(),
        }
    }

    #[test]
    fn a_trace_brings_what_it_brings_in_the_time_of_the_run() {
        // Nothing for 9 s, then 100 opportunities, of 1500 bytes: 150 packets of 1000 bytes, and one that is being sent.
        let mut network = traced(10, 10, &[(TraceKind::Acks, 0)]);
        let instants = vec![Opportunities { millisecond: 9000, count: 100 }, Opportunities { millisecond: 20_000, count: 1 }];
        network.ports[0].trace = DeliveryTrace::new(instants).ok();
        assert_eq!(trace_rows(&network), [151]);
    }

    #[test]
    fn each_link_that_duplicates_adds_twice_its_share_to_what_arrives_and_doubles_it_at_most() {
        let mut network = traced(10, 10, &[(TraceKind::Acks, 0)]);
        network.ports.iter_mut().for_each(|port| port.impairments.duplication = 0.1);
        assert_eq!(trace_rows(&network), [(1.2 * 1.2 * 12_501.0_f64).ceil() as u64]);
        network.ports.iter_mut().for_each(|port| port.impairments.duplication = 0.9);
        assert_eq!(trace_rows(&network), [4 * 12_501]);
    }

    #[test]
    fn acknowledgements_are_no_more_than_the_packets_that_the_link_carries() {
        // 10 Mbit/s for 10 s are 12500 packets of 1000 bytes, and one more is being sent at the end.
        assert_eq!(trace_rows(&traced(10, 10, &[(TraceKind::Acks, 0)])), [12_501]);
        // 5 bins of 2 s, and one more if the last is not whole.
        let bins = TraceKind::Throughput(Span::from_millis(2000));
        assert_eq!(trace_rows(&traced(10, 10, &[(bins, 0)])), [6]);
        // What is sent and what is heard.
        let of_packets = traced(10, 10, &[(TraceKind::Segments, 0), (TraceKind::Acks, 0), (TraceKind::Packets, 0)]);
        let [sent, heard, both] = trace_rows(&of_packets)[..] else { panic!() };
        assert_eq!(both, sent + heard);
        // 12 500 packets come and go on the way back.
        assert_eq!(trace_rows(&traced(10, 10, &[(TraceKind::Queue, 1)])), [25_002]);
    }

    #[test]
    fn what_codel_lets_in_may_come_and_go_without_being_carried() {
        // 3000 packets of 1000 bytes a second into a link for 125, of which CoDel discards most that it has let in.
        let mut network = traced(1, 10, &[(TraceKind::Queue, 0)]);
        // 1000 bytes on the wire in 333 us.
        let arrivals = Arrivals::Process(ProcessSpec::Constant(ConstantSpec { rate: Rate(24_024_024) }));
        network.groups[0].transport =
            Transport::Datagram(DatagramSpec { arrivals, packet: PacketSize::Fixed(Bytes(972)), header: Bytes(28) });
        let codel = CodelSpec { target: Span::from_millis(1), interval: Span::from_millis(1) };
        network.ports[0].policy = PolicySpec::Codel(codel);
        let mut engine = crate::Engine::new(network.clone());
        engine.run_until(Time::NEVER);
        let rows = engine.results().expect("nothing is lost from the books").traces[0].rows() as u64;
        let carried = 2 * (1250 + 100 + 2);
        assert!(rows > carried, "{rows}");
        assert!(rows <= trace_rows(&network)[0]);
    }

    #[test]
    fn what_obviously_fits_is_small_and_what_cannot_fit_is_large() {
        let of_flows = [
            TraceKind::Cwnd,
            TraceKind::Ssthresh,
            TraceKind::Rtt,
            TraceKind::InFlight,
            TraceKind::Segments,
            TraceKind::Acks,
            TraceKind::State,
        ];
        let all: Vec<(TraceKind, u32)> =
            of_flows.into_iter().chain([TraceKind::Queue, TraceKind::Drops]).map(|kind| (kind, 0)).collect();
        let bytes = |megabits, seconds| crate::memory_estimate(&traced(megabits, seconds, &all)).traces;
        assert!(bytes(10, 10) < 32 << 20, "{}", bytes(10, 10));
        // A gigabit per second for an hour: 450,000,000 packets.
        assert!(bytes(1000, 3600) > 6 * 450_000_000 * ROW_BYTES, "{}", bytes(1000, 3600));
        // Discards alone of the same hour fit: some in each of 180,000 round trips.
        let discards = trace_rows(&traced(1000, 3600, &[(TraceKind::Drops, 0)]))[0];
        assert!(discards < 1_000_000, "{discards}");
    }
}
