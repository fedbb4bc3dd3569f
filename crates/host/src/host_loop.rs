//! The event loop: deliver packets that are due, inject packets that hosts have sent, and sleep until the next of either.

use crate::deliveries::{Deliveries, Delivery};
use crate::hosts::Hosts;
use crate::in_flight::{InFlight, PacketKey};
use crate::ip::{self, EcnField};
use crate::pacer::{Clock, Pacer};
use crate::packet_observer::{Discard, ObservedPacket, PacketObserver};
use crate::segment_numbers::{ListedSegments, SegmentNumbers};
use crate::virtual_hosts::VirtualHosts;
use std::collections::{BTreeMap, HashMap};
use std::net::Ipv4Addr;
use std::ops::AddAssign;
use std::{fmt, io};
use tailback_core::network::FlowId;
use tailback_core::primitives::packet::Ecn;
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};
use tailback_core::record::{Column, Table};
use tailback_core::{DatagramContents, DatagramOutcome, Engine, Fate};

/// The packets from one address to another. They form an external flow of the engine, with headers of 20 bytes.
#[derive(Clone, Debug)]
pub struct AddressPair {
    pub from: Ipv4Addr,
    pub to: Ipv4Addr,
    pub flow: FlowId,
    /// The host with the address `to`.
    pub host: usize,
    /// Present if the scenario lists drops of the flow.
    pub listed: Option<ListedSegments>,
}

/// Properties of the engine's network that are known in advance.
#[derive(Clone, Copy, Debug)]
pub struct RunProperties {
    pub end: Time,
    /// The shortest time from an event at a port to the delivery of a packet.
    pub lead: TimeDelta,
}

/// Packets that were not carried, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RejectedPackets {
    /// Not IPv4.
    pub other_protocol: u64,
    /// The source or destination is no host's address, or there is no route.
    pub no_route: u64,
    /// Empty, or larger than the engine can carry.
    pub impossible_size: u64,
    /// Delivered by the engine, but refused by the host.
    pub not_taken: u64,
}

impl AddAssign for RejectedPackets {
    fn add_assign(&mut self, other: RejectedPackets) {
        self.other_protocol += other.other_protocol;
        self.no_route += other.no_route;
        self.impossible_size += other.impossible_size;
        self.not_taken += other.not_taken;
    }
}

impl RejectedPackets {
    /// Packets that a host has sent and the network has not carried.
    pub fn sent(&self) -> u64 {
        self.other_protocol + self.no_route + self.impossible_size
    }
}

/// The packets that a host has sent in vain, by reason.
impl fmt::Display for RejectedPackets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons = [
            (self.other_protocol, "are not IPv4"),
            (self.no_route, "are not from its own address to that of the other end"),
            (self.impossible_size, "are empty or too large"),
        ];
        let given = reasons.iter().filter(|(count, _)| *count > 0).map(|(count, reason)| format!("{count} {reason}"));
        f.write_str(&given.collect::<Vec<_>>().join(", "))
    }
}

/// Hosts connected to an engine, and the clock that drives them.
pub(crate) struct HostLoop<H, C> {
    hosts: H,
    pacer: Pacer<C>,
    ways: BTreeMap<u64, FlowId>,
    /// By flow: the destination host.
    to: Vec<usize>,
    in_flight: InFlight,
    /// Flows with listed drops.
    segments: HashMap<FlowId, SegmentNumbers>,
    due: Deliveries,
    /// Hosts with packets to send.
    ready: Vec<usize>,
    /// Empty between calls, to keep its memory.
    fates: Vec<Fate>,
    pub(crate) end: Time,
    lead: TimeDelta,
    sent: u64,
    delivered: u64,
    /// Of hosts with any.
    rejected: BTreeMap<usize, RejectedPackets>,
    observer: PacketObserver,
}

/// Interval at which the loop checks whether to stop.
const PATIENCE: TimeDelta = TimeDelta::from_millis(20);

impl<H: Hosts, C: Clock> HostLoop<H, C> {
    pub(crate) fn new(
        course: RunProperties,
        ways: &[AddressPair],
        observer: PacketObserver,
        (hosts, clock): (H, C),
    ) -> HostLoop<H, C> {
        let flows = ways.iter().map(|way| way.flow.index() + 1).max().unwrap_or(0);
        let mut to = vec![0; flows];
        for way in ways {
            to[way.flow] = way.host;
        }
        HostLoop {
            hosts,
            pacer: Pacer::new(clock),
            ways: ways.iter().map(|way| (ip::number((way.from, way.to)), way.flow)).collect(),
            to,
            in_flight: InFlight::new(flows),
            segments: ways.iter().filter_map(|way| Some((way.flow, SegmentNumbers::new(way.listed.as_ref()?)))).collect(),
            due: Deliveries::new(flows),
            ready: Vec::new(),
            fates: Vec::new(),
            end: course.end,
            lead: course.lead,
            sent: 0,
            delivered: 0,
            rejected: BTreeMap::new(),
            observer,
        }
    }

    /// Packets that hosts have sent and received.
    pub(crate) fn packets(&self) -> u64 {
        self.sent + self.delivered
    }

    pub(crate) fn hosts_mut(&mut self) -> &mut H {
        &mut self.hosts
    }

    /// The hosts, and the packets that were not carried.
    pub(crate) fn into_hosts(self) -> (H, RejectedPackets) {
        let rejected = self.rejected();
        (self.hosts, rejected)
    }

    /// Packets that were not carried, of all hosts.
    pub(crate) fn rejected(&self) -> RejectedPackets {
        let mut all = RejectedPackets::default();
        self.rejected.values().for_each(|&of_host| all += of_host);
        all
    }

    /// Packets of a host that were not carried.
    pub(crate) fn rejected_of(&self, host: usize) -> RejectedPackets {
        self.rejected.get(&host).copied().unwrap_or_default()
    }

    pub(crate) fn observer(&mut self) -> &mut PacketObserver {
        &mut self.observer
    }

    /// At most `turns` turns of the loop, and all actions before `until`. Returns true once these are done, or user code has failed.
    ///
    /// # Errors
    /// A host or a device failed.
    pub(crate) fn run_for(&mut self, engine: &mut Engine, until: Time, turns: u64) -> io::Result<bool> {
        // A clock that stops a picosecond before `until` performs no action at it, so that the next call continues as if there had been no stop.
        let last = if until < self.end { Time(until.0.saturating_sub(1)) } else { self.end };
        self.run_to(engine, last, turns)
    }

    /// At most `turns` turns of the loop, and all actions up to and including `last`. Returns true once these are done, or user code has failed.
    ///
    /// # Errors
    /// A host or a device failed.
    pub(crate) fn run_to(&mut self, engine: &mut Engine, last: Time, turns: u64) -> io::Result<bool> {
        let mut next = self.next(engine);
        for _ in 0..turns {
            if !self.turn(engine, next)? || self.pacer.now() >= last {
                return Ok(true);
            }
            next = self.next(engine);
            self.wait(next, last)?;
        }
        Ok(false)
    }

    /// Waits for the next action, at most until `last`.
    pub(crate) fn wait(&mut self, next: Option<Time>, last: Time) -> io::Result<()> {
        let next = next.unwrap_or(Time::NEVER).min(last);
        self.hosts.wait(next.since(self.pacer.now()).min(PATIENCE), &mut self.ready)
    }

    /// The time of the next action. Events of the engine may be deferred as long as no delivery depends on them.
    pub(crate) fn next(&self, engine: &mut Engine) -> Option<Time> {
        let event = engine.next_event_time().map(|time| time + self.lead);
        event.into_iter().chain(self.due.next()).min()
    }

    /// Performs the actions that are due, the first at `next`, and reads packets from hosts that have some. Returns false at the end.
    pub(crate) fn turn(&mut self, engine: &mut Engine, next: Option<Time>) -> io::Result<bool> {
        let now = match next {
            Some(due) => self.pacer.catch_up(due),
            None => self.pacer.now(),
        };
        self.advance(engine, now);
        if engine.failure().is_some() {
            return Ok(false);
        }
        while let Some(delivery) = self.due.pop(now) {
            self.deliver(engine, delivery)?;
        }
        let mut ready = std::mem::take(&mut self.ready);
        for host in ready.drain(..) {
            self.take_all(engine, host)?;
        }
        self.ready = ready;
        Ok(self.pacer.now() < self.end)
    }

    /// Lets the engine process everything up to and including `now`.
    fn advance(&mut self, engine: &mut Engine, now: Time) {
        let until = Time(now.0.saturating_add(1)).min(self.end);
        if engine.now() < until {
            engine.run_until(until);
            self.take_fates(engine);
        }
    }

    /// Takes the fates that are known, and gives those before the engine's time to the capture.
    pub(crate) fn settle(&mut self, engine: &mut Engine) {
        self.take_fates(engine);
        self.observer.settle_before(engine.now());
    }

    fn take_fates(&mut self, engine: &mut Engine) {
        // Copies first: the fates of both are in no particular order.
        let mut fates = std::mem::take(&mut self.fates);
        fates.extend(engine.take_fates());
        for fate in fates.iter().filter(|fate| fate.outcome == DatagramOutcome::Copied) {
            self.in_flight.copy(PacketKey { flow: fate.flow, number: fate.datagram });
        }
        for Fate { time, flow, datagram: number, outcome } in fates.drain(..) {
            let key = PacketKey { flow, number };
            match outcome {
                DatagramOutcome::Copied => {}
                DatagramOutcome::Delivered { is_marked } => self.due.push(Delivery { time, key, is_marked }),
                DatagramOutcome::Discarded { port, reason } => {
                    let has_copies = self.in_flight.has_copies(key);
                    let Some(packet) = self.in_flight.take(key) else { continue };
                    if !has_copies {
                        self.observer.on_discarded(time, key, Discard { port, reason });
                    }
                    self.in_flight.put_back(packet);
                }
            }
        }
        self.fates = fates;
    }

    fn deliver(&mut self, engine: &mut Engine, Delivery { time, key, is_marked }: Delivery) -> io::Result<()> {
        let Some(mut packet) = self.in_flight.take(key) else { return Ok(()) };
        if is_marked {
            ip::mark(&mut packet);
        }
        self.pacer.note_delivery(time);
        let host = self.to[key.flow];
        self.observer.on_delivered(self.pacer.now(), key, ObservedPacket { host: host as u32, packet: &packet });
        let is_taken = self.hosts.give(host, &packet)?;
        self.delivered += u64::from(is_taken);
        if !is_taken {
            self.rejected.entry(host).or_default().not_taken += 1;
        }
        self.in_flight.put_back(packet);
        // The host's TCP ran during the write and may have replied: its packets are stamped immediately.
        self.take_all(engine, host)
    }

    fn take_all(&mut self, engine: &mut Engine, host: usize) -> io::Result<()> {
        let mut packet = self.in_flight.spare();
        while self.hosts.take(host, &mut packet)? {
            self.hand_in(engine, host, packet);
            packet = self.in_flight.spare();
        }
        self.in_flight.put_back(packet);
        Ok(())
    }

    fn hand_in(&mut self, engine: &mut Engine, host: usize, packet: Vec<u8>) {
        let Some(ends) = ip::ends(&packet) else {
            self.rejected.entry(host).or_default().other_protocol += 1;
            return;
        };
        let Some(&flow) = self.ways.get(&ip::number(ends)) else {
            self.rejected.entry(host).or_default().no_route += 1;
            return;
        };
        self.advance(engine, self.pacer.now());
        let ecn = match ip::ecn(&packet) {
            EcnField::NotEct => Ecn::NOT_ECT,
            EcnField::Ect0 => Ecn::ECT,
            EcnField::Ect1 | EcnField::Ce => Ecn::L4S,
        };
        let contents = self.segments.get_mut(&flow).map_or(DatagramContents::Unlisted, |segments| segments.identify(&packet));
        match engine.inject_as(flow, Bytes((packet.len() - ip::HEADER) as u64), ecn, contents) {
            Some(number) => {
                self.sent += 1;
                let key = PacketKey { flow, number };
                let sent = ObservedPacket { host: host as u32, packet: &packet };
                self.observer.on_sent(engine.now(), key, sent);
                self.in_flight.put(key, packet);
                // It may already be known.
                self.take_fates(engine);
            }
            None => self.rejected.entry(host).or_default().impossible_size += 1,
        }
    }

    pub(crate) fn report(&self) -> Table {
        let (elapsed, slipped) = (self.pacer.elapsed().seconds(), self.pacer.slipped.seconds());
        let slipped_share = if elapsed > 0.0 { slipped / elapsed } else { 0.0 };
        let lateness = |share| self.pacer.lateness.percentile(share);
        let RejectedPackets { other_protocol, no_route, impossible_size, not_taken } = self.rejected();
        let columns = [
            ("elapsed_s", Column::Float(vec![elapsed])),
            ("slipped_s", Column::Float(vec![slipped])),
            ("slipped_share", Column::Float(vec![slipped_share])),
            ("slips", Column::Integer(vec![self.pacer.slips])),
            ("longest_slip_s", Column::Float(vec![self.pacer.longest_slip.seconds()])),
            ("lateness_p50_s", Column::Float(vec![lateness(0.5)])),
            ("lateness_p99_s", Column::Float(vec![lateness(0.99)])),
            ("lateness_p999_s", Column::Float(vec![lateness(0.999)])),
            ("max_lateness_s", Column::Float(vec![self.pacer.max_lateness.seconds()])),
            ("sent_packets", Column::Integer(vec![self.sent])),
            ("delivered_packets", Column::Integer(vec![self.delivered])),
            ("refused_other_protocol", Column::Integer(vec![other_protocol])),
            ("refused_no_route", Column::Integer(vec![no_route])),
            ("refused_impossible_size", Column::Integer(vec![impossible_size])),
            ("refused_by_host", Column::Integer(vec![not_taken])),
        ];
        let columns = columns.into_iter().map(|(name, column)| (name.to_owned(), column)).collect();
        Table { name: "emulation".into(), columns }
    }
}

impl<C: Clock> HostLoop<VirtualHosts, C> {
    /// The time of the next delivery or deadline; [`Time::NEVER`] if there is none.
    pub(crate) fn next_action(&mut self) -> Time {
        let delivery = self.due.next().unwrap_or(Time::NEVER);
        delivery.min(self.hosts.next_deadline())
    }
}
