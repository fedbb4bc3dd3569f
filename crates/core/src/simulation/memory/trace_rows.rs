//! Upper estimate of the number of trace rows of a network, made before a run, so that a run whose traces cannot fit is refused.
//!
//! The packets that reach a receiver are bounded by the links: at most the number that the narrowest link of the path can carry during the
//! run. This bounds the traces of acknowledgements. Additional lost packets are bounded for senders that react to losses (some per round
//! trip, and once the capacity of pipes and buffers), and in the worst case by the packets that acknowledgements and timeouts can release.

use super::in_flight::{is_unlimited, places, units};
use crate::congestion::{ControllerSpec, MAX_QUANTITIES};
use crate::network::{Buffer, CELL_BYTES, Change, ChangeKind, Flow, Group, Network, Port, Trace, TraceKind, Transport};
use crate::price::{Price, PriceMeaning};
use crate::primitives::ids::{FlowId, PortId};
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::queue::PolicySpec;
use crate::tcp::{TcpSpec, WindowValidation};
use crate::traffic::{ApplicationSpec, Arrivals, DatagramSpec};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a row of a flow's trace: as recorded, with the slack of a growing list, and as columns.
pub(super) const ROW_BYTES: u64 = 60;

/// Bytes of a row of a queue's trace, which has fewer columns.
const QUEUE_ROW_BYTES: u64 = 48;

/// Bytes of a packet row, which has more columns; acknowledgements have SACK blocks as text.
const PACKET_ROW_BYTES: u64 = 192;

/// Maximum bytes of all traces.
pub(super) fn trace_bytes(network: &Network) -> u64 {
    let bytes = |(rows, trace): (u64, &Trace)| {
        rows.saturating_mul(match trace.kind {
            TraceKind::Packets => PACKET_ROW_BYTES,
            TraceKind::Queue => QUEUE_ROW_BYTES,
            _ => ROW_BYTES,
        })
    };
    trace_rows(network).into_iter().zip(&network.record.traces).map(bytes).fold(0, u64::saturating_add)
}

/// Maximum number of rows of each requested trace, in order.
pub fn trace_rows(network: &Network) -> Vec<u64> {
    let ways = RunBounds::of(network);
    let rows = |trace: &Trace| match trace.kind {
        kind if kind.is_of_ports() => {
            trace.of.iter().map(|&port| ways.rows_of_port(kind, PortId(port))).sum::<f64>() * ways.copies
        }
        kind => ways.rows_of_flows(kind, trace.of.iter().copied().map(FlowId)) * ways.copies,
    };
    network.record.traces.iter().map(|trace| rows(trace).ceil() as u64).collect()
}

/// A network and its changes over the run.
struct RunBounds<'a> {
    network: &'a Network,
    /// Maximum rate of each port over the run, all transmitters together, in bit/s.
    rates: Vec<f64>,
    /// Additional paths of flows with route changes: forward and backward.
    further: BTreeMap<FlowId, Vec<(u32, u32)>>,
    /// Capacity of all pipes and buffers, in packets.
    overflow: f64,
    /// Packets that may be in flight on the way to a receiver; infinite if a buffer without limit is the narrowest of a flow.
    in_flight: f64,
    /// Maximum loss probability of any link over the run.
    loss: f64,
    /// Number of external flows.
    external: f64,
    /// Maximum number of copies that arrive of a packet and its acknowledgement, including the original.
    copies: f64,
}

/// Rate of a transmitter in bit/s. For a port whose rate varies, the mean over the run.
fn rate(port: &Port, duration: TimeDelta) -> f64 {
    port.varying.as_ref().map_or(port.rate.0 as f64, |rate| rate.mean_rate_before(Time(duration.0)))
}

/// Maximum loss probability of a link.
fn loss_of(port: &Port) -> f64 {
    let in_bursts = port.impairments.bursts.map_or(0.0, |chain| chain.loss_in_bad.max(chain.loss_in_good));
    1.0 - (1.0 - port.random_loss) * (1.0 - in_bursts)
}

/// A duplicating link is estimated to produce twice its mean number of copies, but at most one per packet.
fn copies(network: &Network, flow: &Flow) -> f64 {
    let ports = [flow.forward, flow.backward].into_iter().flat_map(|path| &network.paths[path as usize]);
    ports.map(|&port| 1.0 + (2.0 * network.ports[port].impairments.duplication).min(1.0)).product()
}

/// Totals over some flows.
#[derive(Default)]
struct PacketTotals {
    /// By the narrowest port of the path: segments that reach receivers if the port is not shared, and bytes of the smallest.
    received: BTreeMap<PortId, (f64, f64)>,
    datagrams: f64,
    /// Reciprocal bytes of the smallest packet.
    per_byte: f64,
    /// Cells of the largest packet and of its acknowledgement; 1 without cells.
    units: f64,
    ack_units: f64,
    flows: f64,
    /// Acknowledgements per received segment: delayed ones acknowledge several, but reordered data and timers release more.
    acked_share: f64,
    /// Whether every segment gives an RTT sample.
    times_all: bool,
    /// Round trips of all flows, by propagation delay alone; infinite if that is zero.
    rounds: f64,
    /// Segments in flight, including in unlimited queues: a window is at most its initial value plus the segments acknowledged since.
    under_way: f64,
    /// Idle periods after which a window may restart.
    restarts: f64,
    /// Packets that no acknowledgement releases: initial windows, and packets sent after timeouts without progress.
    attempts: f64,
}

impl<'a> RunBounds<'a> {
    fn of(network: &'a Network) -> RunBounds<'a> {
        let mut rates: Vec<f64> = network.ports.iter().map(|port| rate(port, network.duration)).collect();
        let mut further: BTreeMap<FlowId, Vec<(u32, u32)>> = BTreeMap::new();
        let mut loss = network.ports.iter().map(loss_of).fold(0.0, f64::max);
        for change in &network.changes {
            match change.what {
                ChangeKind::Rate(port, rate) => rates[port] = rates[port].max(rate.0 as f64),
                ChangeKind::Route(flow, forward, backward) => further.entry(flow).or_default().push((forward, backward)),
                ChangeKind::RandomLoss(_, share) => loss = share.max(loss),
                ChangeKind::Delay(..) | ChangeKind::Buffer(..) => {}
            }
        }
        rates.iter_mut().zip(&network.ports).for_each(|(rate, port)| *rate *= f64::from(port.transmitters));
        let smallest = network.groups.iter().map(wire_bytes).fold(1500.0, f64::min);
        // A queue that never fills discards nothing.
        let waiting: f64 = places(network, smallest).iter().sum();
        let pipe = |(port, rate): (&Port, &f64)| rate * port.delay.seconds() / 8.0 / smallest;
        let overflow = waiting + network.ports.iter().zip(&rates).map(pipe).sum::<f64>();
        let external = FlowId::all(network.flows.len()).filter(|&flow| network.is_external(flow)).count() as f64;
        let copies = network.flows.iter().map(|flow| copies(network, flow)).fold(1.0, f64::max);
        // Twice: a sender takes as long to learn of a loss as packets are in flight.
        let in_flight = if is_unlimited(network) { f64::INFINITY } else { 2.0 * overflow };
        RunBounds { network, rates, further, overflow, in_flight, loss, external, copies }
    }

    fn rows_of_flows(&self, kind: TraceKind, flows: impl Iterator<Item = FlowId>) -> f64 {
        let mut sum = PacketTotals::default();
        flows.for_each(|flow| self.add(&mut sum, flow));
        let received = self.received(&sum);
        let acks = received * sum.acked_share;
        match kind {
            TraceKind::Throughput(bin) => sum.flows * (self.network.duration.seconds() / bin.seconds() + 1.0),
            TraceKind::Segments => self.sent(&sum),
            TraceKind::Packets => self.sent(&sum) + acks,
            TraceKind::Law => (acks + sum.attempts + sum.flows) * MAX_QUANTITIES as f64,
            // At most one timeout and one recovery per round trip.
            // A sender without timestamps or transmission times measures one segment per round trip.
            TraceKind::Rtt if !sum.times_all => acks.min(sum.rounds),
            TraceKind::Cwnd => acks + acks.min(sum.rounds) + acks.min(sum.restarts) + sum.attempts + sum.flows,
            TraceKind::Rto => acks + sum.attempts + sum.flows,
            TraceKind::Ssthresh | TraceKind::State => {
                acks.min(4.0 * sum.rounds) + 2.0 * (acks.min(sum.restarts) + sum.attempts + sum.flows)
            }
            _ => acks,
        }
    }

    fn rows_of_port(&self, kind: TraceKind, port: PortId) -> f64 {
        let crosses: BTreeSet<u32> =
            (0..).zip(&self.network.paths).filter(|(_, path)| path.contains(&port)).map(|(index, _)| index).collect();
        let (mut there, mut back) = (PacketTotals::default(), PacketTotals::default());
        for (flow, spec) in FlowId::enumerate(&self.network.flows) {
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
            return self.lost(&there) * there.units + self.lost_acks(port, &there, &back) * back.ack_units;
        }
        // One row for the arrival and one for the departure of each unit.
        let spec = &self.network.ports[port];
        let carried = match spec.buffer {
            // All sent packets may be queued.
            Buffer::Unlimited => f64::INFINITY,
            // Such a policy may discard units that it has accepted, so that more units arrive and leave than are carried.
            _ if spec.scheduling.is_some() || spec.shaper.is_some() || spec.policy.is_stepped() => f64::INFINITY,
            _ => self.rates[port] * self.network.duration.seconds() / 8.0 * there.per_byte + self.overflow,
        };
        2.0 * (self.sent(&there).min(carried) * there.units + self.received(&back) * back.acked_share * back.ack_units)
    }

    fn add(&self, sum: &mut PacketTotals, index: FlowId) {
        let network = self.network;
        let flow = &network.flows[index];
        // The start of a connection that follows another is not known.
        let start = if flow.start == Time::NEVER { Time::ZERO } else { flow.start };
        let seconds = network.duration.seconds() - start.seconds();
        if seconds <= 0.0 {
            return;
        }
        let group = &network.groups[flow.group];
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
                    _ => datagrams(spec, flow.size, seconds).unwrap_or(carried),
                };
            }
            Transport::Tcp(spec, law) => {
                // A timeout may retransmit segments that had arrived.
                let data = match (network.messages.get(&index), flow.size) {
                    (Some(messages), _) => messages.max_segments(spec.mss) as f64,
                    (None, Some(size)) => (size.0 as f64 / spec.mss.0 as f64).ceil(),
                    (None, None) => f64::INFINITY,
                };
                let segments = 3.0 * data + 16.0;
                let received = sum.received.entry(narrowest).or_insert((0.0, f64::INFINITY));
                *received = (received.0 + carried.min(segments), received.1.min(bytes));
                // The last segment of each message may be acknowledged alone.
                let delayed_ack = spec.delayed_ack.filter(|_| group.application != Some(ApplicationSpec::Messages));
                let of_ack = delayed_ack.map_or(1.0, |delay| 1.0 / f64::from(delay.every.max(1)));
                sum.acked_share = sum.acked_share.max((1.5 * of_ack).min(1.0));
                sum.times_all |= spec.timestamps || spec.recovery.is_by_time();
                let abilities = law.abilities();
                let (opens, first_window) =
                    (abilities.max_increase, law.first_window(spec.initial_window, spec.mss + spec.header));
                sum.under_way += f64::from(spec.receiver_window.0).min(first_window + opens * carried.min(segments));
                // Beyond one per acknowledged segment.
                sum.attempts += (opens - 1.0) * carried.min(segments);
                let rounds = seconds / self.propagation(flow).seconds() + 1.0;
                sum.rounds += rounds;
                let may_shrink = spec.window_validation != WindowValidation::None;
                sum.restarts += if group.application.is_some() && may_shrink { rounds } else { 0.0 };
                sum.attempts += if let Some(max) = self.min_price(law, rate).and_then(|price| law.rate_at(price)) {
                    // The maximum that it may send, whether or not it is received.
                    max.0 as f64 * seconds / 8.0 / bytes + first_window + rounds
                } else if abilities.ignores_losses {
                    // Each recovery and each timeout may send the whole window again.
                    first_window * (1.0 + carried.min(rounds + seconds / spec.timer.min_rto.seconds()))
                } else {
                    attempts(spec, seconds).min(segments)
                };
            }
        }
    }

    /// The narrowest port of a flow's path, and the lower of its rate and the access rates.
    fn narrowest(&self, index: FlowId, flow: &Flow) -> (PortId, f64) {
        const SEVERAL: PortId = PortId(u32::MAX);
        let of_path = |path: u32| {
            let ports = self.network.paths[path as usize].iter().map(|&port| (port, self.rates[port]));
            ports.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((SEVERAL, f64::INFINITY))
        };
        let further = self.further.get(&index).into_iter().flatten();
        let (port, rate) = further.fold(of_path(flow.forward), |(_, rate), &(path, _)| (SEVERAL, rate.max(of_path(path).1)));
        let access = [flow.sender_access, flow.receiver_access].into_iter().filter_map(|access| access.rate);
        (port, access.fold(rate, |rate, access| rate.min(access.0 as f64)))
    }

    /// Minimum price that a price-based controller may receive: that of a link with this `rate`, or the initial value of receivers.
    fn min_price(&self, law: &ControllerSpec, rate: f64) -> Option<Price> {
        let prices = &self.network.prices;
        let feedback = if prices.is_marked() { prices.mapping.min } else { f64::INFINITY };
        match law.abilities().price_meaning? {
            PriceMeaning::Cost | PriceMeaning::Marginal => Some(Price(0.0)),
            PriceMeaning::Rate => Some(Price(feedback.min(1.0 / rate))),
            PriceMeaning::Wait | PriceMeaning::Feedback => None,
        }
    }

    /// Propagation round trip; zero if delays or routes change.
    fn propagation(&self, flow: &Flow) -> TimeDelta {
        let moves = |change: &Change| matches!(change.what, ChangeKind::Delay(..) | ChangeKind::Route(..));
        if self.network.changes.iter().any(moves) {
            return TimeDelta::ZERO;
        }
        let ports = [flow.forward, flow.backward].into_iter().flat_map(|path| &self.network.paths[path as usize]);
        let access = flow.sender_access.delay + flow.receiver_access.delay;
        ports.fold(access + access, |sum, &port| sum + self.network.ports[port].delay)
    }

    /// Segments that reach receivers.
    fn received(&self, sum: &PacketTotals) -> f64 {
        let of_port = |(&port, &(alone, bytes)): (&PortId, &(f64, f64))| {
            let rate = self.rates.get(port.index()).copied().unwrap_or(f64::INFINITY);
            alone.min(rate * self.network.duration.seconds() / 8.0 / bytes + 1.0)
        };
        sum.received.iter().map(of_port).sum()
    }

    /// Packets that senders send. All datagrams may be lost.
    fn sent(&self, sum: &PacketTotals) -> f64 {
        self.received(sum) + sum.datagrams + self.at_worst(sum).min(self.detected_losses(sum) + sum.under_way.min(self.in_flight))
    }

    fn lost(&self, sum: &PacketTotals) -> f64 {
        sum.datagrams + self.at_worst(sum).min(self.detected_losses(sum))
    }

    /// Acknowledgements that a port discards. No loss of an acknowledgement makes receivers send fewer of them. A drop-tail queue without
    /// data overflows only while acknowledgements released by full buffers arrive.
    fn lost_acks(&self, port: PortId, data: &PacketTotals, acks: &PacketTotals) -> f64 {
        let sent = self.received(acks);
        let spec = &self.network.ports[port];
        let is_plain = matches!(spec.policy, PolicySpec::DropTail(())) && spec.scheduling.is_none() && spec.shaper.is_none();
        if is_plain && data.flows == 0.0 { sent.min(self.overflow + 2.0 * sent * self.loss) } else { sent }
    }

    /// Segments in addition to the received ones, if each received one releases two more.
    fn at_worst(&self, sum: &PacketTotals) -> f64 {
        2.0 * self.received(sum) + sum.attempts
    }

    /// Segments lost by senders that react to congestion.
    fn detected_losses(&self, sum: &PacketTotals) -> f64 {
        4.0 * sum.rounds + 2.0 * (self.overflow + sum.attempts + self.received(sum) * self.loss)
    }
}

/// The initial window, and retransmissions without acknowledgements, with exponential backoff.
fn attempts(spec: &TcpSpec, seconds: f64) -> f64 {
    let timer = &spec.timer;
    let doublings = f64::from(timer.max_backoff.max(1).ilog2());
    let unheard = doublings + 1.0 + seconds / timer.max_rto.seconds().min(timer.min_rto.seconds() * f64::from(timer.max_backoff));
    spec.initial_window + unheard
}

/// External datagrams are injected in real time: in total at most at this rate, which is several times the highest measured throughput of
/// one processor.
const HANDED_IN_PER_SECOND: f64 = 200_000.0;

/// Datagrams of a source, plus several standard deviations if their number is random. `None` if it is not determined by the source.
pub(super) fn datagrams(spec: &DatagramSpec, size: Option<Bytes>, seconds: f64) -> Option<f64> {
    let of_source = match &spec.arrivals {
        Arrivals::Process(process) if process.is_random() => {
            let mean = seconds * spec.per_second()?;
            Some(mean + 10.0 * mean.sqrt() + 10.0)
        }
        // At most the number of a source that is never silent.
        Arrivals::Process(process) => Some(seconds / process.rate().time_to_send(spec.wire_bytes()?).seconds() + 1.0),
        Arrivals::External | Arrivals::User(_) => None,
    };
    // Random sizes need more datagrams than their mean number.
    let of_size = size.map(|size| spec.datagrams_of(size)).map(|mean| mean + 10.0 * mean.sqrt() + 10.0);
    [of_source, of_size].into_iter().flatten().reduce(f64::min)
}

/// Bytes on the wire of a full packet, or of the smallest if sizes are random.
fn wire_bytes(group: &Group) -> f64 {
    let full = group.transport.full_packet().filter(|_| group.application != Some(ApplicationSpec::Messages));
    let smallest = full.unwrap_or(Bytes(1) + header(&group.transport));
    match group.framing {
        Some(framing) => (framing.cells(smallest).0 * CELL_BYTES.0) as f64,
        None => smallest.0 as f64,
    }
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
    use crate::network::{AccessLink, DeliveryTrace, Group, Impairments, Opportunities, Recording, VaryingRate};
    use crate::price::PriceSpec;
    use crate::primitives::ids::GroupId;
    use crate::primitives::units::Rate;
    use crate::queue::CodelSpec;
    use crate::tcp::TimerSpec;
    use crate::traffic::PacketSize;
    use crate::traffic::{ConstantSpec, ProcessSpec};

    /// A NewReno flow over 10 ms each way with a buffer of 100 packets.
    pub(in super::super) fn traced(megabits: u64, seconds: u64, traces: &[(TraceKind, u32)]) -> Network {
        let port = |name: &str| Port {
            name: name.into(),
            rate: Rate(megabits * 1_000_000),
            delay: TimeDelta::from_millis(10),
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
            varying: None,
        };
        let timer = TimerSpec { min_rto: TimeDelta::from_millis(200), ..TimerSpec::rfc6298() };
        let tcp = TcpSpec {
            mss: Bytes(960),
            delayed_ack: None,
            window_validation: WindowValidation::None,
            timer,
            ..TcpSpec::default()
        };
        let flow = Flow {
            group: GroupId(0),
            forward: 0,
            backward: 1,
            sender_access: AccessLink::default(),
            receiver_access: AccessLink::default(),
            interface: None,
            start: Time::ZERO,
            stop: Time::NEVER,
            size: None,
        };
        let transport = Transport::Tcp(tcp, ControllerSpec::Reno(()));
        Network {
            ports: vec![port("there"), port("back")],
            paths: vec![vec![PortId(0)], vec![PortId(1)]],
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
                jitter: TimeDelta::ZERO,
            }],
            flows: vec![flow],
            messages: Default::default(),
            changes: Vec::new(),
            duration: TimeDelta::from_millis(1000 * seconds),
            warmup: TimeDelta::ZERO,
            seed: 1,
            record: Recording {
                traces: traces.iter().map(|&(kind, of)| Trace { kind, of: vec![of] }).collect(),
                ..Recording::default()
            },
            stepped: false,
            prices: PriceSpec::default(),
        }
    }

    #[test]
    fn a_delivery_trace_counts_with_its_opportunities_during_the_run() {
        // Nothing for 9 s, then 100 opportunities of 1500 bytes: 150 packets of 1000 bytes, and one in transmission.
        let mut network = traced(10, 10, &[(TraceKind::Acks, 0)]);
        let instants = vec![Opportunities { millisecond: 9000, count: 100 }, Opportunities { millisecond: 20_000, count: 1 }];
        network.ports[0].varying = DeliveryTrace::new(instants).ok().map(VaryingRate::Opportunities);
        assert_eq!(trace_rows(&network), [151]);
    }

    #[test]
    fn each_duplicating_link_adds_twice_its_probability_and_at_most_doubles_the_arrivals() {
        let mut network = traced(10, 10, &[(TraceKind::Acks, 0)]);
        network.ports.iter_mut().for_each(|port| port.impairments.duplication = 0.1);
        assert_eq!(trace_rows(&network), [(1.2 * 1.2 * 12_501.0_f64).ceil() as u64]);
        network.ports.iter_mut().for_each(|port| port.impairments.duplication = 0.9);
        assert_eq!(trace_rows(&network), [4 * 12_501]);
    }

    #[test]
    fn acknowledgements_are_bounded_by_the_packets_that_the_link_carries() {
        // 10 Mbit/s for 10 s are 12 500 packets of 1000 bytes, and one more is in transmission at the end.
        assert_eq!(trace_rows(&traced(10, 10, &[(TraceKind::Acks, 0)])), [12_501]);
        // 5 bins of 2 s, and one more if the last is incomplete.
        let bins = TraceKind::Throughput(TimeDelta::from_millis(2000));
        assert_eq!(trace_rows(&traced(10, 10, &[(bins, 0)])), [6]);
        // Packets sent and acknowledgements received.
        let of_packets = traced(10, 10, &[(TraceKind::Segments, 0), (TraceKind::Acks, 0), (TraceKind::Packets, 0)]);
        let [sent, acked, both] = trace_rows(&of_packets)[..] else { panic!() };
        assert_eq!(both, sent + acked);
        // 12 500 packets arrive and leave on the reverse path.
        assert_eq!(trace_rows(&traced(10, 10, &[(TraceKind::Queue, 1)])), [25_002]);
    }

    #[test]
    fn packets_that_codel_accepts_and_discards_have_rows_too() {
        // 3000 packets/s of 1000 bytes into a link for 125 packets/s. CoDel accepts and later discards most of them.
        let mut network = traced(1, 10, &[(TraceKind::Queue, 0)]);
        // 1000 bytes on the wire in 333 us.
        let arrivals = Arrivals::Process(ProcessSpec::Constant(ConstantSpec { rate: Rate(24_024_024) }));
        network.groups[0].transport =
            Transport::Datagram(DatagramSpec { arrivals, packet: PacketSize::Fixed(Bytes(972)), header: Bytes(28) });
        let codel = CodelSpec { target: TimeDelta::from_millis(1), interval: TimeDelta::from_millis(1) };
        network.ports[0].policy = PolicySpec::Codel(codel);
        let mut engine = crate::Engine::new(network.clone());
        engine.run_until(Time::NEVER);
        let rows = engine.results().expect("conservation holds").traces[0].rows() as u64;
        let carried = 2 * (1250 + 100 + 2);
        assert!(rows > carried, "{rows}");
        assert!(rows <= trace_rows(&network)[0]);
    }

    #[test]
    fn estimates_are_small_for_short_traces_and_large_for_long_ones() {
        let of_flows = [
            TraceKind::Cwnd,
            TraceKind::Ssthresh,
            TraceKind::Rtt,
            TraceKind::Rto,
            TraceKind::InFlight,
            TraceKind::Segments,
            TraceKind::Acks,
            TraceKind::State,
        ];
        let all: Vec<(TraceKind, u32)> =
            of_flows.into_iter().chain([TraceKind::Queue, TraceKind::Drops]).map(|kind| (kind, 0)).collect();
        let bytes = |megabits, seconds| crate::memory_estimate(&traced(megabits, seconds, &all)).traces;
        assert!(bytes(10, 10) < 32 << 20, "{}", bytes(10, 10));
        // 1 Gbit/s for an hour: 450 000 000 packets.
        assert!(bytes(1000, 3600) > 5 * 450_000_000 * ROW_BYTES, "{}", bytes(1000, 3600));
        // The discards of the same hour fit: some in each of 180 000 round trips.
        let discards = trace_rows(&traced(1000, 3600, &[(TraceKind::Drops, 0)]))[0];
        assert!(discards < 1_000_000, "{discards}");
    }
}
