//! A port of which each departure is an event: it has several transmitters, changes to come, or a policy that acts on departures or from
//! time to time.

use super::care::Observes;
use super::equipment::{Equipment, Held};
use crate::primitives::line::Line;
use crate::primitives::packet::{Packet, Prices};
use crate::primitives::units::{Bytes, Rate, Span, Time, Units};
use crate::queue::{PeriodEnd, Reason, Turn, Unit, Verdict};
use crate::simulation::window::Window;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The buffer and the transmitters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Stepped {
    pub(crate) queue: Line,
    waiting_bytes: Bytes,
    pub(crate) transmitters: Vec<Option<Sending>>,
    /// Number of the first transmitter among those of all ports.
    pub(crate) first: u32,
    in_service: u32,
    in_service_bytes: Bytes,
    /// When the last transmitter finished, if all are idle.
    idle_from: Time,
    /// Nothing leaves the delay line before this: packets do not overtake when the delay shrinks.
    last_out: Time,
}

/// What a transmitter sends.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Sending {
    pub(crate) packet: Packet,
    /// The next port decides on its head, which is on its way already: this is but the rest of it.
    pub(crate) head_is_gone: bool,
}

/// What became of an arrival.
pub(crate) enum Arrival {
    Discarded(Reason),
    /// It waits in the buffer.
    Waits,
    /// This transmitter sends it from now on, for that long.
    Serves(u32, Span),
}

/// What goes on the wire, with its time at the far end, and whether the wire loses it.
pub(crate) type OnWire = (Packet, Result<(), Reason>);

impl Stepped {
    /// `transmitters`: their numbers among those of all ports.
    pub(super) fn new(transmitters: Range<u32>) -> Stepped {
        Stepped {
            queue: Line::default(),
            waiting_bytes: Bytes(0),
            transmitters: vec![None; transmitters.len()],
            first: transmitters.start,
            in_service: 0,
            in_service_bytes: Bytes(0),
            idle_from: Time::ZERO,
            last_out: Time::ZERO,
        }
    }

    /// A packet arrives. The caller stores it if it waits.
    pub(crate) fn arrive(
        &mut self,
        equipment: &mut Equipment,
        packet: &mut Packet,
        bytes: Bytes,
        window: &Window,
        prices: &mut Prices,
    ) -> Arrival {
        let now = packet.time;
        let idle = self.transmitters.iter().position(Option::is_none);
        let idle_for = if self.in_service == 0 { now.since(self.idle_from) } else { Span::ZERO };
        let (units, held_bytes) = self.held(equipment);
        let transmitters = self.transmitters.len() as u64;
        let held = Held { busy: idle.is_none(), units, bytes: held_bytes, idle: idle_for, transmitters };
        if packet.has_price() {
            equipment.hear_of_sender(packet, bytes, prices);
        }
        if let Err(reason) = equipment.admit::<Observes>(packet, bytes, &held, window, prices) {
            equipment.rest.counts.discarded[reason as usize].add(window.part(now), 1);
            return Arrival::Discarded(reason);
        }
        equipment.count_accepted(now, &held, window);
        if idle.is_none() || equipment.counts_in_service {
            equipment.rest.policy.on_stored(packet.flow);
        }
        match idle {
            Some(transmitter) => {
                if let Err(reason) = self.let_go(equipment, packet, now, bytes, window, prices) {
                    return Arrival::Discarded(reason);
                }
                let service = self.begin_service(equipment, transmitter as u32, packet, now, bytes, window);
                self.trace(equipment, now, 0);
                Arrival::Serves(transmitter as u32, service)
            }
            None => {
                self.waiting_bytes += bytes;
                self.trace(equipment, now, 1);
                Arrival::Waits
            }
        }
    }

    /// Units and bytes in the buffer.
    fn held(&self, equipment: &Equipment) -> (Units, Bytes) {
        let waiting = u64::from(self.queue.len());
        if !equipment.counts_in_service {
            return (Units(waiting), self.waiting_bytes);
        }
        (Units(waiting + u64::from(self.in_service)), self.waiting_bytes + self.in_service_bytes)
    }

    /// The turn of a packet has come, and nothing of it waits any more. The policy may mark or discard it yet, or write on its signal.
    pub(crate) fn let_go(
        &mut self,
        equipment: &mut Equipment,
        packet: &mut Packet,
        now: Time,
        bytes: Bytes,
        window: &Window,
        prices: &mut Prices,
    ) -> Result<(), Reason> {
        let unit = Unit { bytes, is_last: packet.is_last() };
        let (waited, bytes_behind) = (now.since(packet.time), self.waiting_bytes);
        let turn = Turn { now, waited, bytes_behind, is_capable: packet.is_capable() };
        let goes = match equipment.rest.policy.on_departure(&unit, &turn) {
            Verdict::Accept => Ok(()),
            Verdict::Mark => equipment.mark(packet, now, Reason::Late, window),
            Verdict::Discard(_) => Err(Reason::Late),
        };
        if goes.is_err() {
            if equipment.counts_in_service {
                equipment.rest.policy.on_left(packet.flow);
            }
            equipment.rest.counts.discarded[Reason::Late as usize].add(window.part(now), 1);
            equipment.rest.counts.held += u128::from(window.overlap(packet.time, now).0);
        } else {
            equipment.signal(packet, &unit, &turn, window, prices);
        }
        goes
    }

    /// The policy is to be heard.
    pub(crate) fn on_period(&mut self, equipment: &mut Equipment) {
        let (units, bytes) = self.held(equipment);
        let rate = Rate(equipment.rest.rate.0 * self.transmitters.len() as u64);
        equipment.rest.policy.on_period(&PeriodEnd { units, bytes, rate });
    }

    /// Put a packet that arrived at `packet.time` on a transmitter. Returns how long sending takes.
    pub(crate) fn begin_service(
        &mut self,
        equipment: &mut Equipment,
        transmitter: u32,
        packet: &Packet,
        now: Time,
        bytes: Bytes,
        window: &Window,
    ) -> Span {
        let service = equipment.service(bytes);
        equipment.count_service(packet.time, now, now + service, bytes, window);
        equipment.count_wait(packet.time, now, window);
        self.transmitters[transmitter as usize] = Some(Sending { packet: *packet, head_is_gone: false });
        self.in_service += 1;
        self.in_service_bytes += bytes;
        service
    }

    /// A transmitter finished. Returns the packet on its way to the far end; nothing if its head has gone ahead.
    pub(crate) fn finish(
        &mut self,
        equipment: &mut Equipment,
        sent: Sending,
        now: Time,
        bytes: Bytes,
        window: &Window,
    ) -> Option<OnWire> {
        self.in_service -= 1;
        self.in_service_bytes -= bytes;
        self.idle_from = now;
        if equipment.counts_in_service {
            equipment.rest.policy.on_left(sent.packet.flow);
        }
        (!sent.head_is_gone).then(|| self.set_out(equipment, sent.packet, now, now, window))
    }

    /// A transmitter has begun to send a packet whose next port decides on its head, and has sent it at `departure`. The same as
    /// [`Stepped::finish`] of the head.
    pub(crate) fn send_head(
        &mut self,
        equipment: &mut Equipment,
        transmitter: u32,
        now: Time,
        departure: Time,
        window: &Window,
    ) -> Option<OnWire> {
        let is_alone = self.transmitters.len() == 1;
        let sending = self.transmitters[transmitter as usize].as_mut()?;
        sending.head_is_gone = true;
        let packet = sending.packet;
        let gone = self.set_out(equipment, packet, now, departure, window);
        if is_alone {
            // The next one's head follows its last bit.
            self.last_out += departure.since(now);
        }
        Some(gone)
    }

    /// A packet is on the wire: the bit that counts left the transmitter now, the last one at `departure`.
    fn set_out(&mut self, equipment: &mut Equipment, mut packet: Packet, now: Time, departure: Time, window: &Window) -> OnWire {
        self.last_out = self.last_out.max(now + equipment.delay);
        packet.time = self.last_out;
        packet.next_hop();
        (packet, equipment.survives_wire(departure, window))
    }

    /// The caller took a packet off the queue to serve it.
    pub(crate) fn leave_queue(&mut self, equipment: &mut Equipment, flow: u32, bytes: Bytes) {
        self.waiting_bytes -= bytes;
        if !equipment.counts_in_service {
            equipment.rest.policy.on_left(flow);
        }
    }

    /// Trace a departure that changes what is counted: something left the queue, or the unit in service counts.
    pub(crate) fn trace_departure(&self, equipment: &mut Equipment, now: Time) {
        self.trace(equipment, now, 0);
    }

    /// The occupancy after a change; `arriving` packets are accepted but not stored yet.
    fn trace(&self, equipment: &mut Equipment, now: Time, arriving: u32) {
        let in_service = if equipment.counts_in_service { self.in_service } else { 0 };
        if let Some(trace) = &mut equipment.rest.trace {
            trace.push((now, self.queue.len() + arriving + in_service));
        }
    }
}
