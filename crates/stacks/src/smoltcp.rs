//! TCP of `smoltcp`, which is written for devices without an operating system.

use crate::{Transfer, Written};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IPV4_HEADER_LEN, IpCidr, IpEndpoint, TcpPacket, TcpSeqNumber};
use std::collections::VecDeque;
use std::net::SocketAddrV4;
use std::ops::Range;
use tailback_core::primitives::units::{Bytes, Time};
use tailback_host::{ConnectionEnd, Datagram, EcnField, Framing, Host, Outbox, TransportReport};

/// smoltcp's congestion controllers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Congestion {
    /// Only the receiver's window limits the sender. smoltcp's default without its features for the others.
    None,
    Reno,
    /// smoltcp's default with its feature `socket-tcp-cubic`.
    #[default]
    Cubic,
}

/// Settings that both ends have. All others are smoltcp's defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub congestion: Congestion,
    /// Determines initial sequence numbers.
    pub seed: u64,
    /// Bytes of each buffer, which bound the window.
    pub buffer: usize,
    /// Bytes of the largest packet.
    pub mtu: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { congestion: Congestion::Cubic, seed: 1, buffer: 1 << 20, mtu: 1500 }
    }
}

/// An end of a connection.
pub struct Smoltcp {
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    wire: Wire,
    local: SocketAddrV4,
    /// The connection that a sender opens.
    to_open: Option<Transfer>,
    sending: Option<Written>,
    /// All data is in the send buffer, and the end of the connection follows it.
    is_closing: bool,
    received: u64,
    /// The end of the data sent until now.
    sent_until: Option<TcpSeqNumber>,
    retransmitted: u64,
    deadline: Option<Time>,
    /// Why there is no connection.
    ended: Option<ConnectionEnd>,
}

impl Smoltcp {
    /// The end that sends a transfer.
    pub fn sender(settings: &Settings, transfer: Transfer) -> Smoltcp {
        let sending = Some(Written::none_of(&transfer));
        let deadline = Some(transfer.start);
        Smoltcp { to_open: Some(transfer), sending, deadline, ..Smoltcp::end(settings, transfer.local, 0) }
    }

    /// The end that accepts a connection and reads everything.
    pub fn receiver(settings: &Settings, local: SocketAddrV4) -> Smoltcp {
        let mut end = Smoltcp::end(settings, local, 1);
        if let Err(error) = end.socket().listen(local.port()) {
            end.ended = Some(ConnectionEnd { at: Time::ZERO, reason: error.to_string() });
        }
        end
    }

    fn end(settings: &Settings, local: SocketAddrV4, side: u64) -> Smoltcp {
        let mut wire = Wire { arrived: VecDeque::new(), sent: Vec::new(), mtu: settings.mtu };
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = settings.seed.wrapping_mul(2).wrapping_add(side);
        let mut interface = Interface::new(config, &mut wire, Instant::ZERO);
        // All hosts are in the same network, so that no route is needed.
        let mut is_full = false;
        interface.update_ip_addrs(|addresses| is_full = addresses.push(IpCidr::new((*local.ip()).into(), 0)).is_err());
        let buffer = || SocketBuffer::new(vec![0; settings.buffer]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_nagle_enabled(false);
        socket.set_congestion_control(match settings.congestion {
            Congestion::None => CongestionControl::None,
            Congestion::Reno => CongestionControl::Reno,
            Congestion::Cubic => CongestionControl::Cubic,
        });
        let mut sockets = SocketSet::new(Vec::new());
        let socket = sockets.add(socket);
        let ended = is_full.then(|| ConnectionEnd { at: Time::ZERO, reason: "the interface takes no address".into() });
        Smoltcp {
            interface,
            sockets,
            socket,
            wire,
            local,
            to_open: None,
            sending: None,
            is_closing: false,
            received: 0,
            sent_until: None,
            retransmitted: 0,
            deadline: None,
            ended,
        }
    }

    /// Bytes that the application has read.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// The end of the connection, if it could not be opened, or was reset before everything was written.
    pub fn ended(&self) -> Option<&ConnectionEnd> {
        self.ended.as_ref()
    }

    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.socket)
    }

    fn open(&mut self, now: Time) {
        let Some(transfer) = self.to_open.take_if(|transfer| transfer.start <= now) else { return };
        let socket = self.sockets.get_mut::<Socket<'_>>(self.socket);
        let remote = IpEndpoint::from(transfer.remote);
        if let Err(error) = socket.connect(self.interface.context(), remote, self.local.port()) {
            self.end_at(now, error.to_string());
        }
    }

    fn end_at(&mut self, now: Time, reason: String) {
        self.sending = None;
        self.ended.get_or_insert(ConnectionEnd { at: now, reason });
    }

    /// Lets the application read and write. Returns whether it did.
    fn turn(&mut self, now: Time) -> bool {
        let socket = self.sockets.get_mut::<Socket<'_>>(self.socket);
        let mut has_acted = false;
        while socket.can_recv() {
            match socket.recv(|data| (data.len(), data.len())) {
                Ok(bytes) if bytes > 0 => self.received += bytes as u64,
                _ => break,
            }
            has_acted = true;
        }
        let Some(written) = &mut self.sending else { return has_acted };
        if now >= written.stop {
            socket.abort();
            self.sending = None;
            return true;
        }
        while socket.can_send() {
            let next = written.next();
            if next.is_empty() && !written.is_complete() {
                break;
            }
            if next.is_empty() {
                socket.close();
                (self.sending, self.is_closing) = (None, true);
                return true;
            }
            match socket.send_slice(next) {
                Ok(bytes) if bytes > 0 => written.bytes += bytes as u64,
                _ => break,
            }
            has_acted = true;
        }
        has_acted
    }
}

/// The deadline of the interface as a time that is not in the past: smoltcp returns 0 for "at once".
fn deadline(at: Instant, now: Time) -> Time {
    Time(u64::try_from(at.total_micros()).unwrap_or(0).saturating_mul(1_000_000)).max(now)
}

/// The sequence numbers of the first byte of a packet's data and of the byte after the last; `None` without data. smoltcp sends no IP options.
fn data(packet: &[u8]) -> Option<Range<TcpSeqNumber>> {
    let segment = TcpPacket::new_checked(packet.get(IPV4_HEADER_LEN..)?).ok()?;
    let (first, payload) = (segment.seq_number(), segment.payload().len());
    (payload > 0).then(|| first..first + payload)
}

impl Host for Smoltcp {
    fn receive(&mut self, _now: Time, datagram: &Datagram<'_>) {
        self.wire.arrived.push_back(datagram.payload.to_vec());
    }

    fn offer(&mut self, written: Bytes) {
        if let Some(sending) = &mut self.sending {
            sending.offered = written.0;
        }
    }

    fn poll(&mut self, now: Time, outbox: &mut Outbox) {
        self.open(now);
        let instant = Instant::from_micros((now.0 / 1_000_000) as i64);
        loop {
            self.interface.poll(instant, &mut self.wire, &mut self.sockets);
            if !self.turn(now) {
                break;
            }
        }
        let is_incomplete = self.sending.is_some() || self.is_closing && self.socket().send_queue() > 0;
        if is_incomplete && self.to_open.is_none() && !self.socket().is_open() {
            self.end_at(now, "the connection was reset".into());
        }
        let own = SocketAddrV4::new(*self.local.ip(), 0);
        for packet in self.wire.sent.drain(..) {
            if let Some(data) = data(&packet) {
                let until = self.sent_until.unwrap_or(data.start);
                self.retransmitted += u64::from(data.start < until);
                self.sent_until = Some(until.max(data.end));
            }
            outbox.send(&Datagram { source: own, destination: own, ecn: EcnField::NotEct, payload: &packet });
        }
        let timer = self.interface.poll_at(instant, &self.sockets).map(|at| deadline(at, now));
        self.deadline = timer.into_iter().chain(self.to_open.map(|transfer| transfer.start)).min();
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn framing(&self) -> Framing {
        Framing::Ip
    }

    fn report(&mut self) -> TransportReport {
        let (delivered, retransmitted_packets) = (Some(Bytes(self.received)), Some(self.retransmitted));
        TransportReport { delivered, retransmitted_packets, ended: self.ended.clone(), ..TransportReport::default() }
    }
}

/// The device of a host: packets that have arrived and that are to be sent.
struct Wire {
    arrived: VecDeque<Vec<u8>>,
    sent: Vec<Vec<u8>>,
    mtu: usize,
}

struct Arrival(Vec<u8>);
struct Departure<'a>(&'a mut Vec<Vec<u8>>);

impl RxToken for Arrival {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl TxToken for Departure<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut packet = vec![0; len];
        let result = f(&mut packet);
        self.0.push(packet);
        result
    }
}

impl Device for Wire {
    type RxToken<'a> = Arrival;
    type TxToken<'a> = Departure<'a>;

    fn receive(&mut self, _timestamp: Instant) -> Option<(Arrival, Departure<'_>)> {
        self.arrived.pop_front().map(|packet| (Arrival(packet), Departure(&mut self.sent)))
    }

    fn transmit(&mut self, _timestamp: Instant) -> Option<Departure<'_>> {
        Some(Departure(&mut self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu;
        capabilities
    }
}
