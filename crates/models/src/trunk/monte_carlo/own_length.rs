//! A packet that waited is transmitted in its own length, as a real packet is.
//!
//! Lengths are never drawn. A reception ends after an exponential time, and its start matters only if the packet waits. A packet
//! that has arrived completely has the length of its reception. A packet that is sent during its reception has waited for some
//! time, and its transmission continues for exactly that time after its reception. The only times to store and sort are therefore
//! the ends of transmissions of packets that waited and have arrived: at most one per transmitter.

use super::packet_queue::PacketQueue;
use super::random::Random;
use super::{OfferedTraffic, Switch};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Debug)]
pub struct OwnLength {
    trunk: OfferedTraffic,
    /// Packet times since the origin.
    now: f64,
    /// Inputs that receive nothing.
    idle: u32,
    /// Inputs whose packet is being discarded.
    discarding: u32,
    /// Inputs whose packet is cut through: reception and transmission are one.
    busy: u32,
    /// The waiting time of each packet that waited and is now being sent during its reception.
    waited: Vec<f64>,
    /// Earliest end of transmission of a packet that waited and has arrived; infinite if there is none.
    next_end: f64,
    /// The later ends of such transmissions.
    ends: BinaryHeap<Reverse<Instant>>,
    /// Waiting packets: the start of reception if still arriving, otherwise the transmission time.
    queue: PacketQueue<f64>,
}

/// Non-negative, ordered as an integer.
type Instant = u64;

/// The origin of time moves after this number of packet times, so that times remain exact to 10^-10.
const LONG: f64 = 1e6;

impl Switch for OwnLength {
    fn empty(trunk: &OfferedTraffic) -> OwnLength {
        OwnLength {
            trunk: *trunk,
            now: 0.0,
            idle: trunk.inputs,
            discarding: 0,
            busy: 0,
            waited: Vec::new(),
            next_end: f64::INFINITY,
            ends: BinaryHeap::new(),
            queue: PacketQueue::new(),
        }
    }

    fn full(trunk: &OfferedTraffic, random: &mut Random) -> OwnLength {
        let mut switch = OwnLength::empty(trunk);
        switch.busy = trunk.transmitters;
        switch.idle -= trunk.transmitters;
        for _ in 0..trunk.buffer {
            switch.queue.join_arrived(random.exponential());
        }
        switch
    }

    #[inline(always)]
    fn arrival(&mut self, random: &mut Random) -> u32 {
        loop {
            let starts = f64::from(self.idle) * self.trunk.lambda;
            let active = self.trunk.inputs - self.idle;
            let rate = starts + f64::from(active);
            self.now += random.exponential() / rate;
            let which = random.uniform() * rate;
            if which < starts {
                break;
            }
            // Rounding may reach the upper end.
            self.received(((which - starts) as u32).min(active - 1));
        }
        if self.now > LONG {
            self.start_clock_again();
        }
        self.send_until_now();
        self.idle -= 1;
        let (sending, waiting) = (self.sending(), self.queue.len());
        if sending < self.trunk.transmitters {
            self.busy += 1;
        } else if waiting < self.trunk.buffer {
            self.queue.join(self.now);
        } else {
            self.discarding += 1;
        }
        sending + waiting
    }
}

impl OwnLength {
    /// Busy transmitters, after all transmissions up to now have ended.
    #[inline(always)]
    fn sending(&self) -> u32 {
        self.busy + self.waited.len() as u32 + self.ends.len() as u32 + u32::from(self.next_end < f64::INFINITY)
    }

    /// An active input has finished a reception.
    #[inline(always)]
    fn received(&mut self, which: u32) {
        self.idle += 1;
        if which < self.busy {
            if self.queue.len() > 0 {
                self.send_until_now();
            }
            self.busy -= 1;
            self.send_next(self.now);
            return;
        }
        let which = which - self.busy;
        if which < self.discarding {
            self.discarding -= 1;
            return;
        }
        let which = which - self.discarding;
        if which < self.waited.len() as u32 {
            let waited = self.waited.swap_remove(which as usize);
            self.ends_at(self.now + waited);
            return;
        }
        let now = self.now;
        self.queue.arrived(which - self.waited.len() as u32, |since| now - since);
    }

    /// Ends the transmissions that are due. Each lets the next packet start.
    #[inline(always)]
    fn send_until_now(&mut self) {
        while self.next_end <= self.now {
            let end = self.next_end;
            self.next_end = self.ends.pop().map_or(f64::INFINITY, |end| f64::from_bits(end.0));
            self.send_next(end);
        }
    }

    /// A transmitter becomes free: sends the first waiting packet.
    #[inline(always)]
    fn send_next(&mut self, at: f64) {
        match self.queue.leave() {
            Some((since, true)) => self.waited.push(at - since),
            Some((length, false)) => self.ends_at(at + length),
            None => {}
        }
    }

    #[inline(always)]
    fn ends_at(&mut self, end: f64) {
        let later = if end < self.next_end { std::mem::replace(&mut self.next_end, end) } else { end };
        if later < f64::INFINITY {
            self.ends.push(Reverse(later.to_bits()));
        }
    }

    /// Moves the origin of time to now.
    #[cold]
    fn start_clock_again(&mut self) {
        let now = self.now;
        self.send_until_now();
        self.now = 0.0;
        self.queue.change_arriving(|since| since - now);
        self.next_end -= now;
        self.ends = self.ends.drain().map(|end| Reverse((f64::from_bits(end.0) - now).to_bits())).collect();
    }
}

impl Clone for OwnLength {
    fn clone(&self) -> OwnLength {
        OwnLength { waited: self.waited.clone(), ends: self.ends.clone(), queue: self.queue.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &OwnLength) {
        self.waited.clone_from(&source.waited);
        self.ends.clone_from(&source.ends);
        self.queue.clone_from(&source.queue);
        let OwnLength { trunk, now, idle, discarding, busy, next_end, .. } = *source;
        (self.trunk, self.now, self.idle, self.discarding, self.busy, self.next_end) =
            (trunk, now, idle, discarding, busy, next_end);
    }
}
