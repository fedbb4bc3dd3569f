//! A packet that waited leaves in an exponential time of its own, whatever its reception takes. No order and no time matter: the
//! trunk is a Markov chain of three counts.

use super::random::Random;
use super::{Offered, Switch};

#[derive(Clone, Copy, Debug)]
pub struct Fresh {
    trunk: Offered,
    /// Inputs that receive nothing.
    idle: u32,
    /// Inputs whose packet did not wait: its reception and its transmission are one.
    busy: u32,
    /// Transmitters that send a packet that waited.
    sending: u32,
    /// Packets that wait.
    waiting: u32,
}

impl Switch for Fresh {
    fn empty(trunk: &Offered) -> Fresh {
        Fresh { trunk: *trunk, idle: trunk.inputs, busy: 0, sending: 0, waiting: 0 }
    }

    fn full(trunk: &Offered, _random: &mut Random) -> Fresh {
        let idle = trunk.inputs - trunk.transmitters;
        Fresh { trunk: *trunk, idle, busy: trunk.transmitters, sending: 0, waiting: trunk.buffer }
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
            if which - self.sending < self.busy {
                self.busy -= 1;
                self.send_next();
            }
        }
        self.idle -= 1;
        let (sending, waiting) = (self.busy + self.sending, self.waiting);
        if sending < self.trunk.transmitters {
            self.busy += 1;
        } else if waiting < self.trunk.buffer {
            self.waiting += 1;
        }
        sending + waiting
    }
}

impl Fresh {
    /// A transmitter is free: the first that waits is sent.
    #[inline(always)]
    fn send_next(&mut self) {
        let sent = self.waiting.min(1);
        self.waiting -= sent;
        self.sending += sent;
    }
}
