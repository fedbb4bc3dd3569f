//! A packet that waited leaves in an exponential time of its own, and if it is still arriving, its reception ends with it.

use super::line::Line;
use super::random::Random;
use super::{Offered, Switch};

#[derive(Debug)]
pub struct Coupled {
    trunk: Offered,
    /// Inputs that receive nothing.
    idle: u32,
    /// Inputs whose packet is being discarded.
    discarding: u32,
    /// Inputs whose packet is being sent while it arrives, whether it waited or not: both end as one.
    busy: u32,
    /// Transmitters that send a packet that has arrived.
    sending: u32,
    line: Line<()>,
}

impl Switch for Coupled {
    fn empty(trunk: &Offered) -> Coupled {
        Coupled { trunk: *trunk, idle: trunk.inputs, discarding: 0, busy: 0, sending: 0, line: Line::new() }
    }

    fn full(trunk: &Offered, _random: &mut Random) -> Coupled {
        let mut switch = Coupled::empty(trunk);
        switch.busy = trunk.transmitters;
        switch.idle -= trunk.transmitters;
        for _ in 0..trunk.buffer {
            switch.line.join_arrived(());
        }
        switch
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
                continue;
            }
            let which = which - self.busy;
            if which < self.discarding {
                self.discarding -= 1;
            } else {
                self.line.arrived(which - self.discarding, |()| ());
            }
        }
        self.idle -= 1;
        let (sending, waiting) = (self.busy + self.sending, self.line.len());
        if sending < self.trunk.transmitters {
            self.busy += 1;
        } else if waiting < self.trunk.buffer {
            self.line.join(());
        } else {
            self.discarding += 1;
        }
        sending + waiting
    }
}

impl Coupled {
    /// A transmitter is free: the first that waits is sent.
    #[inline(always)]
    fn send_next(&mut self) {
        match self.line.leave() {
            Some(((), true)) => self.busy += 1,
            Some(((), false)) => self.sending += 1,
            None => {}
        }
    }
}

impl Clone for Coupled {
    fn clone(&self) -> Coupled {
        Coupled { line: self.line.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Coupled) {
        self.line.clone_from(&source.line);
        let Coupled { trunk, idle, discarding, busy, sending, .. } = *source;
        (self.trunk, self.idle, self.discarding, self.busy, self.sending) = (trunk, idle, discarding, busy, sending);
    }
}
