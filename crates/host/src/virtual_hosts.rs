//! Hosts in virtual time: the clock jumps to the next arrival or deadline.

use crate::frame::{Datagram, Framing};
use crate::host::{Endless, Host, Outbox, reported};
use crate::hosts::Hosts;
use crate::ip;
use crate::nat::{Nat, Rebinding};
use crate::pacer::Clock;
use crate::report::{TransportReport, Watch};
use std::any::Any;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::net::Ipv4Addr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{error, fmt, io};
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};

/// A clock that only [`VirtualHosts`] advance.
#[derive(Clone, Default)]
pub(crate) struct VirtualClock(Arc<AtomicU64>);

impl VirtualClock {
    fn set(&self, elapsed: TimeDelta) {
        self.0.store(elapsed.0, Ordering::Relaxed);
    }
}

impl Clock for VirtualClock {
    fn elapsed(&self) -> TimeDelta {
        TimeDelta(self.0.load(Ordering::Relaxed))
    }
}

/// A fault of a host, which ends the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    /// Its name.
    pub host: String,
    pub at: Time,
    /// Number of packets that it had sent before.
    pub sent: u64,
    pub fault: HostFault,
}

/// The kind of a host's fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostFault {
    /// It panicked, with this message.
    Panicked(String),
    /// It reported a fault itself ([`report_fault`](crate::report_fault)).
    Reported(String),
    /// After a poll, its deadline was before the time of the poll.
    DeadlineInThePast(Time),
    /// It asked to be polled this many times within 10 us, without a packet.
    NoProgress(u32),
    /// It sent packets without end in one poll.
    EndlessPackets,
    /// It sent a packet of this size (with headers), above the MTU of its interface.
    PacketTooLarge { bytes: Bytes, mtu: Bytes },
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HostError { host, at, sent, fault } = self;
        write!(f, "the host `{host}` ")?;
        match fault {
            HostFault::Panicked(message) => write!(f, "panicked: {message}")?,
            HostFault::Reported(message) => write!(f, "failed: {message}")?,
            HostFault::DeadlineInThePast(deadline) => write!(f, "has a deadline in the past, {} s", deadline.seconds())?,
            HostFault::NoProgress(polls) => write!(f, "asked to be polled {polls} times within 10 us without a packet")?,
            HostFault::EndlessPackets => write!(f, "sent packets without end in one poll")?,
            HostFault::PacketTooLarge { bytes, mtu } => {
                write!(f, "sent a packet of {} bytes; its interface has an MTU of {} bytes", bytes.0, mtu.0)?;
            }
        }
        write!(f, " (at {} s, after {sent} packets)", at.seconds())
    }
}

impl error::Error for HostError {}

/// A host and its interface.
pub(crate) struct VirtualHost {
    pub(crate) name: String,
    pub(crate) address: Ipv4Addr,
    /// The time of its first poll.
    start: Time,
    has_been_polled: bool,
    /// The time of the next poll if nothing arrives.
    deadline: Option<Time>,
    /// Writes of its application that are yet to come, in order, with the bytes written until then.
    writes: VecDeque<(Time, Bytes)>,
    /// `None`: nobody is there.
    pub(crate) transport: Option<Box<dyn Host>>,
    outbox: Outbox,
    /// Largest packet that its interface sends.
    pub(crate) mtu: Bytes,
    sent: u64,
    /// Reports that the run reads after polls.
    pub(crate) watch: Watch,
    /// The time of the last packet that it has received.
    pub(crate) last_arrival: Option<Time>,
    /// Polls because of deadlines since the last packet, within [`FRUITLESS`] of the first of them, and its time.
    fruitless_polls: u32,
    fruitless_since: Time,
    nat: Nat,
}

/// Polls because of deadlines without a packet within [`FRUITLESS`]. Transports have a handful of timers.
const MOST_POLLS: u32 = 1000;
/// A host whose deadline is always one step of its clock ahead, a picosecond or a nanosecond, makes no progress either.
const FRUITLESS: TimeDelta = TimeDelta(10_000_000);

impl VirtualHost {
    pub(crate) fn new(name: String, address: Ipv4Addr, mtu: Bytes) -> VirtualHost {
        VirtualHost {
            name,
            address,
            start: Time::ZERO,
            has_been_polled: false,
            deadline: None,
            writes: VecDeque::new(),
            transport: None,
            outbox: Outbox::new(Framing::default()),
            mtu,
            sent: 0,
            watch: Watch::Nothing,
            last_arrival: None,
            fruitless_polls: 0,
            fruitless_since: Time::ZERO,
            nat: Nat::default(),
        }
    }

    /// Takes the transport out.
    pub(crate) fn detach(mut self) -> Option<Box<dyn Host>> {
        self.transport.take()
    }

    pub(crate) fn attach(&mut self, transport: Box<dyn Host>) {
        self.outbox = Outbox::new(transport.framing());
        self.transport = Some(transport);
        self.deadline = Some(self.start);
    }

    /// It is not polled before this time.
    pub(crate) fn start_at(&mut self, start: Time) {
        self.start = start;
        self.deadline = self.deadline.map(|_| start);
    }

    /// Its application writes at these times; before the first, it has written nothing.
    pub(crate) fn write_at(&mut self, writes: &[(Time, Bytes)]) {
        self.writes = [(Time::ZERO, Bytes(0))].into_iter().chain(writes.iter().copied()).collect();
    }

    pub(crate) fn rebind(&mut self, rebinding: Rebinding) {
        self.nat.add(rebinding);
    }

    /// IPv4 has no packets above 65,535 bytes, whatever the MTU.
    pub(crate) fn set_mtu(&mut self, mtu: Bytes) {
        self.mtu = mtu.min(Bytes(ip::LONGEST as u64));
    }

    /// Calls the transport; a panic becomes a fault.
    fn call(&mut self, now: Time, act: impl FnOnce(&mut dyn Host, &mut Outbox)) -> io::Result<()> {
        let Some(transport) = &mut self.transport else { return Ok(()) };
        let outbox = &mut self.outbox;
        match catch_unwind(AssertUnwindSafe(|| act(&mut **transport, outbox))) {
            Ok(()) => Ok(()),
            Err(panic) if panic.is::<Endless>() => Err(self.fault(now, HostFault::EndlessPackets)),
            Err(panic) => {
                let fault = reported(panic).map_or_else(|panic| HostFault::Panicked(text(&*panic)), HostFault::Reported);
                Err(self.fault(now, fault))
            }
        }
    }

    /// Polls the transport, after this arrival if there is one.
    fn poll(&mut self, now: Time, arrived: Option<Datagram<'_>>) -> io::Result<()> {
        let (is_polled, mut deadline) = (now >= self.start, None);
        let due = self.writes.partition_point(|(at, _)| *at <= now);
        let written = if is_polled { self.writes.drain(..due).next_back() } else { None };
        self.call(now, |transport, outbox| {
            if let Some((_, bytes)) = written {
                transport.offer(bytes);
            }
            if let Some(datagram) = arrived {
                transport.receive(now, &datagram);
            }
            if is_polled {
                transport.poll(now, outbox);
                deadline = transport.deadline();
            }
        })?;
        if !is_polled {
            return Ok(());
        }
        self.has_been_polled = true;
        let next_write = self.writes.front().map(|(at, _)| *at);
        self.deadline = deadline.into_iter().chain(next_write).min();
        if let Some(deadline) = deadline.filter(|&deadline| deadline < now) {
            return Err(self.fault(now, HostFault::DeadlineInThePast(deadline)));
        }
        if self.watch.needs_report() {
            let report = self.report(now)?;
            self.watch.read(now, &report);
        }
        Ok(())
    }

    /// The state of the transport. Nothing is known before its first poll.
    fn report(&mut self, now: Time) -> io::Result<TransportReport> {
        let mut report = TransportReport::default();
        if self.has_been_polled {
            self.call(now, |transport, _| report = transport.report())?;
        }
        Ok(report)
    }

    /// Polls the transport because of its deadline.
    fn poll_when_due(&mut self, now: Time) -> io::Result<()> {
        if now > self.fruitless_since + FRUITLESS {
            (self.fruitless_since, self.fruitless_polls) = (now, 0);
        }
        self.fruitless_polls += 1;
        if self.fruitless_polls > MOST_POLLS {
            return Err(self.fault(now, HostFault::NoProgress(MOST_POLLS)));
        }
        self.poll(now, None)?;
        if !self.outbox.is_empty() {
            self.fruitless_polls = 0;
        }
        Ok(())
    }

    fn fault(&self, at: Time, fault: HostFault) -> io::Error {
        io::Error::other(HostError { host: self.name.clone(), at, sent: self.sent, fault })
    }

    fn receive(&mut self, now: Time, packet: &[u8]) -> io::Result<bool> {
        let Some(packet) = self.nat.translate_received(now, packet) else { return Ok(false) };
        let Some(datagram) = self.outbox.framing().datagram(&packet).filter(|_| self.transport.is_some()) else {
            return Ok(false);
        };
        self.fruitless_polls = 0;
        self.last_arrival = Some(now);
        self.poll(now, Some(datagram))?;
        Ok(true)
    }

    /// The next packet that leaves its interface.
    fn take(&mut self, now: Time) -> io::Result<Option<Vec<u8>>> {
        let Some(mut packet) = self.outbox.take() else { return Ok(None) };
        if packet.len() as u64 > self.mtu.0 {
            return Err(self.fault(now, HostFault::PacketTooLarge { bytes: Bytes(packet.len() as u64), mtu: self.mtu }));
        }
        self.sent += 1;
        self.nat.translate_sent(now, &mut packet);
        Ok(Some(packet))
    }
}

/// The results are complete when a transport is dropped, and its panic changes nothing.
impl Drop for VirtualHost {
    fn drop(&mut self) {
        let transport = self.transport.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(transport)));
    }
}

pub(crate) fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|&text| text.to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}

/// All hosts of a testbed, and their clock.
pub(crate) struct VirtualHosts {
    pub(crate) hosts: Vec<VirtualHost>,
    clock: VirtualClock,
    /// By host: its valid entry in the queue. Most deadlines move with every packet, but an entry only when it is reached.
    queued: Vec<Option<Time>>,
    /// An entry per host at its deadline or before, and entries that no longer apply.
    queue: BinaryHeap<Reverse<(Time, usize)>>,
}

impl VirtualHosts {
    pub(crate) fn new(hosts: Vec<VirtualHost>, clock: VirtualClock) -> VirtualHosts {
        let (queued, queue) = (vec![None; hosts.len()], BinaryHeap::new());
        let mut all = VirtualHosts { hosts, clock, queued, queue };
        (0..all.hosts.len()).for_each(|host| all.schedule(host));
        all
    }

    /// The state of a host's transport.
    pub(crate) fn report(&mut self, host: usize) -> io::Result<TransportReport> {
        let now = self.now();
        self.hosts[host].report(now)
    }

    /// Notes the deadline of a host, which may have changed.
    #[inline]
    fn schedule(&mut self, host: usize) {
        let (deadline, queued) = (self.hosts[host].deadline, &mut self.queued[host]);
        if let Some(time) = deadline.filter(|&time| queued.is_none_or(|queued| time < queued)) {
            *queued = deadline;
            self.queue.push(Reverse((time, host)));
        }
    }

    /// The earliest deadline; [`Time::NEVER`] if there is none.
    pub(crate) fn next_deadline(&mut self) -> Time {
        self.first(Time::NEVER).map_or(Time::NEVER, |(deadline, _)| deadline)
    }

    /// The host with the earliest deadline, if that is not after `last`.
    fn first(&mut self, last: Time) -> Option<(Time, usize)> {
        while let Some(&Reverse((time, host))) = self.queue.peek()
            && time <= last
        {
            let deadline = self.hosts[host].deadline;
            if deadline == Some(time) {
                return Some((time, host));
            }
            self.queue.pop();
            if self.queued[host] == Some(time) {
                self.queued[host] = deadline;
                self.queue.extend(deadline.map(|time| Reverse((time, host))));
            }
        }
        None
    }

    fn now(&self) -> Time {
        Time(self.clock.elapsed().0)
    }
}

impl Hosts for VirtualHosts {
    fn take(&mut self, host: usize, packet: &mut Vec<u8>) -> io::Result<bool> {
        let now = self.now();
        let host = &mut self.hosts[host];
        let Some(taken) = host.take(now)? else { return Ok(false) };
        host.outbox.recycle(std::mem::replace(packet, taken));
        Ok(true)
    }

    fn give(&mut self, host: usize, packet: &[u8]) -> io::Result<bool> {
        let now = self.now();
        let is_taken = self.hosts[host].receive(now, packet);
        self.schedule(host);
        is_taken
    }

    fn wait(&mut self, at_most: TimeDelta, ready: &mut Vec<usize>) -> io::Result<()> {
        let before = self.now();
        let last = before + at_most;
        let mut first = self.first(last);
        let now = first.map_or(last, |(deadline, _)| deadline.max(before));
        self.clock.set(TimeDelta(now.0));
        while let Some((_, host)) = first {
            self.queue.pop();
            (self.hosts[host].deadline, self.queued[host]) = (None, None);
            ready.push(host);
            first = self.first(now);
        }
        for &host in &*ready {
            self.hosts[host].poll_when_due(now)?;
            self.schedule(host);
        }
        ready.retain(|&host| !self.hosts[host].outbox.is_empty());
        Ok(())
    }
}
