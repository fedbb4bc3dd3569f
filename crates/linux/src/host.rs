//! A kernel as one end of a flow.

use crate::command_line::{self, BASE, Data};
use crate::connection::{self, Connection};
use crate::device::REPORTS;
use crate::machine::Machine;
use crate::settings::Settings;
use std::net::{Ipv4Addr, SocketAddrV4};
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};
use tailback_host::library::EndSettings;
use tailback_host::{ConnectionState, Datagram, EcnField, Framing, Host, Outbox, TransportReport, report_fault};

/// A kernel that boots at its first call, so that checks of a scenario start none.
pub(crate) struct LinuxHost {
    end: EndSettings,
    settings: Settings,
    machine: Option<Machine>,
    data: Data,
    /// Bytes that the application has written, until the guest program has received the number.
    written: Option<Bytes>,
    /// The state of the connection when the application gave up the transfer, after which the kernel forgets it.
    stopped: Option<Connection>,
}

/// The threshold before the first reduction (`TCP_INFINITE_SSTHRESH`).
const UNLIMITED: u64 = i32::MAX as u64;

/// The kernel's own time in ns, and the time of the simulation.
fn own(now: Time) -> u64 {
    BASE + now.0 / 1000
}

fn simulated(time: u64) -> Time {
    Time(time.saturating_sub(BASE).saturating_mul(1000))
}

impl LinuxHost {
    /// A host with these settings.
    ///
    /// # Errors
    /// A parameter is not valid, or the kernel is missing.
    pub(crate) fn of(end: &EndSettings) -> Result<Box<dyn Host>, String> {
        if !(68..=65_535).contains(&end.mtu.0) {
            return Err(format!("`mtu` is {} bytes; expected 68 to 65535, as IPv4 requires", end.mtu.0));
        }
        let settings = Settings::of(&end.parameters)?;
        Ok(Box::new(LinuxHost { end: end.clone(), settings, machine: None, data: Data::Greedy, written: None, stopped: None }))
    }

    fn machine(&mut self) -> &mut Machine {
        if self.machine.is_none() {
            let arguments = command_line::arguments(&self.end, &self.settings, self.data);
            let mtu = u16::try_from(self.end.mtu.0).unwrap_or(u16::MAX);
            let machine = Machine::boot(&self.settings.kernel.path, &arguments, mtu, BASE - 1);
            self.machine = Some(machine.unwrap_or_else(|problem| report_fault(problem)));
        }
        match &mut self.machine {
            Some(machine) => machine,
            None => report_fault("the kernel has not started".into()),
        }
    }

    fn connection(&mut self) -> Option<Connection> {
        if self.stopped.is_some() {
            return self.stopped;
        }
        let machine = self.machine.as_mut()?;
        let address = machine.device.connection?;
        let read = connection::read(&machine.device.memory, &self.settings.kernel.manifest, address, self.end.remote.port());
        Some(read.unwrap_or_else(|problem| report_fault(machine.described(&problem))))
    }

    /// Keeps the state of the connection before the application gives up the transfer. The guest program may do so a little early, because
    /// its timer has microseconds and the kernel may run ahead of an arrival.
    fn keep_before_stop(&mut self, now: Time) {
        let early = TimeDelta::from_micros(3);
        if self.end.is_sender && now + early >= self.end.stop && self.stopped.is_none() {
            self.stopped = self.connection();
        }
    }
}

/// The packet with which the guest program receives the number of bytes that the application has written: from the address to which it sends
/// its own report, to the discard port (RFC 863).
fn report_of_application(local: Ipv4Addr, written: u64) -> Vec<u8> {
    let end = |address| SocketAddrV4::new(address, 9);
    let (source, destination) = (end(Ipv4Addr::from(REPORTS)), end(local));
    let mut outbox = Outbox::new(Framing::Udp);
    outbox.send(&Datagram { source, destination, ecn: EcnField::NotEct, payload: &written.to_le_bytes() });
    outbox.take().unwrap_or_default()
}

impl Host for LinuxHost {
    fn receive(&mut self, now: Time, datagram: &Datagram<'_>) {
        self.keep_before_stop(now);
        if let Err(problem) = self.machine().receive(own(now), datagram.payload) {
            report_fault(problem);
        }
    }

    fn poll(&mut self, now: Time, outbox: &mut Outbox) {
        self.keep_before_stop(now);
        if let Some(Bytes(written)) = self.written.take() {
            let packet = report_of_application(*self.end.local.ip(), written);
            if let Err(problem) = self.machine().receive(own(now), &packet) {
                report_fault(problem);
            }
        }
        let machine = self.machine();
        if let Err(problem) = machine.run_until(own(now)) {
            report_fault(problem);
        }
        while let Some(packet) = machine.device.sent.pop_front() {
            // The packet contains its addresses.
            if let Some(datagram) = Framing::Ip.datagram(&packet) {
                outbox.send(&datagram);
            }
            machine.device.recycle(packet);
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.machine.as_ref()?.next_request().map(simulated)
    }

    fn offer(&mut self, written: Bytes) {
        self.data = Data::Written;
        self.written = Some(written).filter(|written| written.0 > 0);
    }

    fn framing(&self) -> Framing {
        Framing::Ip
    }

    fn report(&mut self) -> TransportReport {
        let Some(state) = self.connection() else {
            let none = Some(0);
            return match self.end.is_sender {
                true => TransportReport {
                    retransmitted_packets: none,
                    lost_packets: none,
                    timeouts: none,
                    ..TransportReport::default()
                },
                false => TransportReport { delivered: Some(Bytes(0)), ..TransportReport::default() },
            };
        };
        if !self.end.is_sender {
            // The kernel counts the end of the connection as a byte.
            let read = state.bytes_received.saturating_sub(state.unread);
            let delivered = Bytes(self.end.size.map_or(read, |size| read.min(size.0)));
            return TransportReport { delivered: Some(delivered), ..TransportReport::default() };
        }
        let packets = |count: u64| Bytes(count * self.end.mtu.0);
        let microseconds = |value: u64| (value > 0).then(|| TimeDelta(value * 1_000_000));
        let tick = 1_000_000_000_000 / u64::from(self.settings.kernel.manifest.hz.max(1));
        TransportReport {
            cwnd: Some(packets(state.snd_cwnd)),
            ssthresh: (state.snd_ssthresh < UNLIMITED).then(|| packets(state.snd_ssthresh)),
            in_flight: Some(packets(state.in_flight)),
            state: ConnectionState::of(state.ca_state.into()),
            rto: Some(TimeDelta(state.rto * tick)),
            smoothed_rtt: microseconds(state.srtt),
            // All bits are set before the first sample.
            min_rtt: microseconds(state.min_rtt).filter(|_| state.min_rtt < u64::from(u32::MAX)),
            timeouts: Some(state.total_rto),
            retransmitted_packets: Some(state.total_retrans),
            lost_packets: Some(state.lost),
            ..TransportReport::default()
        }
    }
}
