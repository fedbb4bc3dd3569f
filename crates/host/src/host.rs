//! The interface of a transport.

use crate::frame::{Datagram, Framing};
use crate::report::TransportReport;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::resume_unwind;
use tailback_core::primitives::units::{Bytes, Time};

/// A transport that performs no input or output of its own and has no clock.
///
/// Times are those of the simulation, from 0. A host is polled at the start, after each packet that it has received, and when its deadline
/// is reached. All of its behaviour must follow from these calls and from fixed seeds, so that a run can be repeated.
pub trait Host: Any + Send {
    /// A packet has arrived.
    fn receive(&mut self, now: Time, datagram: &Datagram<'_>);

    /// Hand out everything that may be sent now.
    fn poll(&mut self, now: Time, outbox: &mut Outbox);

    /// The time at which to poll next if nothing arrives; `None` if only an arrival can cause an action. Read after each poll, and not
    /// before the time of that poll.
    fn deadline(&self) -> Option<Time>;

    /// The application of a sender has written this number of bytes since the start; the transport may not send more. Called before polls,
    /// and for the first time, with 0, before the first poll. Never called for flows without an application.
    fn offer(&mut self, _written: Bytes) {
        report_fault("this transport does not support `application`".into());
    }

    /// The contents of its packets.
    fn framing(&self) -> Framing {
        Framing::Udp
    }

    /// Its state for the results of the run, after the last poll; never before the first. Nothing is known by default.
    fn report(&mut self) -> TransportReport {
        TransportReport::default()
    }
}

/// Packets that a host sends.
pub struct Outbox {
    framing: Framing,
    packets: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Packets of [`Outbox::try_send`] that were refused.
    refused: usize,
    /// Buffers for packets.
    spare: Vec<Vec<u8>>,
}

/// More packets, or bytes, in one poll than any window holds: the host is in an endless loop.
const MOST: usize = 1 << 18;
const MOST_BYTES: usize = 1 << 29;

/// Unwinds from an endless loop of a host.
pub(crate) struct Endless;

/// Unwinds from a call with a fault that the host itself reports.
struct Reported(String);

/// Ends the run from inside a call of a [`Host`], with [`HostFault::Reported`](crate::HostFault::Reported).
pub fn report_fault(message: String) -> ! {
    resume_unwind(Box::new(Reported(message)))
}

/// The message of a fault that the host has reported.
pub(crate) fn reported(panic: Box<dyn Any + Send>) -> Result<String, Box<dyn Any + Send>> {
    panic.downcast::<Reported>().map(|reported| reported.0)
}

impl Outbox {
    /// An empty outbox of a host with this framing.
    pub fn new(framing: Framing) -> Outbox {
        Outbox { framing, packets: VecDeque::new(), bytes: 0, refused: 0, spare: Vec::new() }
    }

    /// Sends a datagram.
    pub fn send(&mut self, datagram: &Datagram<'_>) {
        if self.is_full() {
            resume_unwind(Box::new(Endless));
        }
        let mut packet = self.spare.pop().unwrap_or_default();
        self.framing.write(datagram, &mut packet);
        self.bytes += packet.len();
        self.packets.push_back(packet);
    }

    /// Sends a datagram, or refuses it if the host is in an endless loop: it returns then by itself, unlike from [`Outbox::send`]. A host
    /// that ignores refusals is unwound, too.
    pub(crate) fn try_send(&mut self, datagram: &Datagram<'_>) -> bool {
        if !self.is_full() {
            self.send(datagram);
            return true;
        }
        self.refused += 1;
        if self.refused > MOST {
            resume_unwind(Box::new(Endless));
        }
        false
    }

    /// Ends the run if the last poll has ended after a refusal.
    pub(crate) fn check_refused(&self) {
        if self.refused > 0 {
            resume_unwind(Box::new(Endless));
        }
    }

    fn is_full(&self) -> bool {
        self.packets.len() == MOST || self.bytes > MOST_BYTES
    }

    /// Sends a train (generic segmentation offload, as `UDP_SEGMENT` of udp(7)): one datagram for each `segment` bytes of the payload.
    /// The last may be shorter; a segment size of 0 sends one datagram.
    pub fn send_train(&mut self, train: &Datagram<'_>, segment: usize) {
        let segment = if segment == 0 { train.payload.len().max(1) } else { segment };
        for payload in train.payload.chunks(segment) {
            self.send(&Datagram { payload, ..*train });
        }
    }

    /// The next packet to send: IPv4, with all headers.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        let packet = self.packets.pop_front()?;
        self.bytes -= packet.len();
        Some(packet)
    }

    /// Returns the buffer of a packet for reuse.
    pub fn recycle(&mut self, packet: Vec<u8>) {
        self.spare.push(packet);
    }

    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }
}
