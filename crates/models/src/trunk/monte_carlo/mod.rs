//! The detailed model of a trunk (section 3.6.1), simulated event by event.
//!
//! M inputs share K transmitters and B waiting places. An idle input starts a packet after an exponential time of mean 1/lambda;
//! packet times are exponential of mean 1, the unit of time. A packet leaves while it comes if a transmitter is free ("busy"), else
//! it is stored if a place is free ("inserting"), else it is discarded while it comes ("discarding"). A packet in transmission
//! holds no place, so that at most B wait. They leave in the order in which they came.
//!
//! Start in [`rounds`], which measures the loss to a width asked for; [`splitting`] is what it does where losses are rare.
//! [`own_length`], [`fresh`] and [`coupled`] are the three readings of what becomes of a packet that waited. All rest on one fact:
//! exponential times have no memory, so that the inputs in one state are a count, and the one that ends next is any of them. What a
//! packet costs therefore depends neither on M nor on B.

mod coupled;
mod fresh;
mod line;
mod memoryless;
mod own_length;
mod random;
mod rounds;
mod splitting;

pub use rounds::{Estimate, Job, Settings, Simulation};

use super::Trunk;
use crate::parameter::ParameterError;
use random::Random;

/// A trunk and what comes to it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Offered {
    inputs: u32,
    transmitters: u32,
    buffer: u32,
    /// Packets that an idle input starts per packet time.
    lambda: f64,
}

/// More places than that would take too much memory, one walk beside the other.
const MOST_BUFFER: u32 = 1_000_000;

impl Offered {
    fn new(trunk: &Trunk, load: f64) -> Result<Offered, ParameterError> {
        trunk.check(load)?;
        if trunk.buffer > MOST_BUFFER {
            return Err(ParameterError::new("buffer", trunk.buffer, "at most 1000000 packets in a simulation"));
        }
        // The share of time in which an input is not idle, lambda / (lambda + 1), from (3.14).
        let active = load / trunk.most_load();
        let Trunk { inputs, transmitters, buffer } = *trunk;
        Ok(Offered { inputs, transmitters, buffer, lambda: active / (1.0 - active) })
    }

    /// Whether a packet can ever find no transmitter free: there are more inputs than transmitters, and they send.
    fn can_lose(&self) -> bool {
        self.inputs > self.transmitters && self.lambda > 0.0
    }

    /// Packets that fit, those in transmission included.
    fn places(&self) -> u32 {
        self.transmitters + self.buffer
    }
}

/// A trunk in one of the readings, followed from arrival to arrival: between two of them packets only leave.
trait Switch: Clone + Send + Sync {
    /// Nothing arrives, leaves or waits.
    fn empty(trunk: &Offered) -> Self;

    /// Every transmitter sends and every place holds a packet that has arrived.
    fn full(trunk: &Offered, random: &mut Random) -> Self;

    /// Goes on until a packet comes, and says how many it finds that are being sent or wait. If they are as many as fit, it is lost,
    /// else it is one more.
    fn arrival(&mut self, random: &mut Random) -> u32;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_becomes_the_rate_of_an_idle_input() -> Result<(), ParameterError> {
        // (3.14): load = M lambda / (K (lambda + 1)): 4 x 1/3 / (2 x 4/3) = 1/2.
        assert!((Offered::new(&Trunk::new(4, 2, 0)?, 0.5)?.lambda - 1.0 / 3.0).abs() < 1e-15);
        Ok(())
    }

    #[test]
    fn what_cannot_be_simulated_is_refused_by_name() -> Result<(), ParameterError> {
        for load in [-0.1, 2.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Offered::new(&Trunk::new(2, 1, 0)?, load).map_err(|error| error.name), Err("load"), "{load}");
        }
        assert_eq!(Offered::new(&Trunk::new(2, 1, 1_000_001)?, 0.5).map_err(|error| error.name), Err("buffer"));
        assert!(Offered::new(&Trunk::new(2, 1, 1_000_000)?, 1.999).is_ok());
        Ok(())
    }
}
