//! A packet that waited has an exponential transmission time of its own: variants `fresh` and `coupled`. They differ only in the
//! fate of its reception, which [`WaitingPackets`] abstracts.

use super::random::Random;
use super::{OfferedTraffic, Switch};

#[derive(Debug)]
pub struct Memoryless<W> {
    trunk: OfferedTraffic,
    /// Inputs that receive nothing.
    idle: u32,
    /// Inputs whose packet is cut through: reception and transmission end together.
    busy: u32,
    /// Transmitters that send a packet whose input is not `busy`.
    sending: u32,
    waiting: W,
}

/// The waiting packets, and the inputs that receive one of these or a discarded packet.
pub trait WaitingPackets: Clone + Send + Sync {
    /// The given number of packets that have arrived.
    fn of(packets: u32) -> Self;

    fn packets(&self) -> u32;

    /// Adds a packet that has begun to arrive.
    fn join(&mut self);

    /// Discards a packet that has begun to arrive.
    fn discard(&mut self);

    /// One of the receptions of packets that are not cut through ends; `which` is its index.
    fn received(&mut self, which: u32);

    /// Removes the first packet, if any. Returns whether its reception ends with its transmission.
    fn leave(&mut self) -> Option<bool>;
}

impl<W: WaitingPackets> Switch for Memoryless<W> {
    fn empty(trunk: &OfferedTraffic) -> Memoryless<W> {
        Memoryless { trunk: *trunk, idle: trunk.inputs, busy: 0, sending: 0, waiting: W::of(0) }
    }

    fn full(trunk: &OfferedTraffic, _random: &mut Random) -> Memoryless<W> {
        let idle = trunk.inputs - trunk.transmitters;
        Memoryless { trunk: *trunk, idle, busy: trunk.transmitters, sending: 0, waiting: W::of(trunk.buffer) }
    }

    #[inline(always)]
    fn arrival(&mut self, random: &mut Random) -> u32 {
        loop {
            let starts = f64::from(self.idle) * self.trunk.lambda;
            let ends = self.trunk.inputs - self.idle + self.sending;
            let which = random.uniform() * (starts + f64::from(ends));
            if which < starts {
                break;
            }
            // Rounding may reach the upper end.
            let which = ((which - starts) as u32).min(ends - 1);
            if which < self.sending {
                self.sending -= 1;
                self.send_next();
                continue;
            }
            self.idle += 1;
            let which = which - self.sending;
            if which < self.busy {
                self.busy -= 1;
                self.send_next();
            } else {
                self.waiting.received(which - self.busy);
            }
        }
        self.idle -= 1;
        let (sending, waiting) = (self.busy + self.sending, self.waiting.packets());
        if sending < self.trunk.transmitters {
            self.busy += 1;
        } else if waiting < self.trunk.buffer {
            self.waiting.join();
        } else {
            self.waiting.discard();
        }
        sending + waiting
    }
}

impl<W: WaitingPackets> Memoryless<W> {
    /// A transmitter has become free.
    #[inline(always)]
    fn send_next(&mut self) {
        match self.waiting.leave() {
            Some(true) => self.busy += 1,
            Some(false) => self.sending += 1,
            None => {}
        }
    }
}

impl<W: WaitingPackets> Clone for Memoryless<W> {
    fn clone(&self) -> Memoryless<W> {
        Memoryless { waiting: self.waiting.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Memoryless<W>) {
        self.waiting.clone_from(&source.waiting);
        let Memoryless { trunk, idle, busy, sending, .. } = *source;
        (self.trunk, self.idle, self.busy, self.sending) = (trunk, idle, busy, sending);
    }
}
