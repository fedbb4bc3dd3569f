//! The detailed model of a trunk (section 3.6.1), simulated event by event.
//!
//! M inputs share K transmitters and B waiting places. An idle input starts a packet after an exponential time of mean 1/lambda;
//! packet times are exponential of mean 1, the unit of time. A packet is cut through if a transmitter is free ("busy"), stored if
//! a place is free ("inserting"), and otherwise discarded during its reception ("discarding"). A packet in transmission occupies
//! no place, so that at most B wait. Packets leave in order of arrival.
//!
//! Start in [`rounds`], which estimates the loss to a requested interval width; it uses [`splitting`] where losses are rare.
//! [`own_length`], [`fresh`] and [`coupled`] are the three variants for packets that waited. All are based on the memorylessness
//! of exponential times: the inputs in one state are only counted, and each is equally likely to end next. The cost of a packet
//! is therefore independent of M and B.

mod coupled;
mod fresh;
mod memoryless;
mod own_length;
mod packet_queue;
mod random;
mod rounds;
mod splitting;

pub use rounds::{Estimate, Settings, Simulation, TrajectorySegment};

use super::Trunk;
use crate::parameter::ParameterError;
use random::Random;

/// A trunk and its offered traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
struct OfferedTraffic {
    inputs: u32,
    transmitters: u32,
    buffer: u32,
    /// Packets that an idle input starts per packet time.
    lambda: f64,
}

/// A larger number of places would take too much memory with many trajectories.
const MAX_BUFFER: u32 = 1_000_000;

impl OfferedTraffic {
    fn new(trunk: &Trunk, load: f64) -> Result<OfferedTraffic, ParameterError> {
        trunk.check(load)?;
        if trunk.buffer > MAX_BUFFER {
            return Err(ParameterError::new("buffer", trunk.buffer, "at most 1000000 packets in a simulation"));
        }
        // Fraction of time in which an input is not idle, lambda / (lambda + 1), from (3.14).
        let active = load / trunk.max_load();
        let Trunk { inputs, transmitters, buffer } = *trunk;
        Ok(OfferedTraffic { inputs, transmitters, buffer, lambda: active / (1.0 - active) })
    }

    /// Whether a packet can find no transmitter free: inputs outnumber transmitters and the load is above 0.
    fn can_lose(&self) -> bool {
        self.inputs > self.transmitters && self.lambda > 0.0
    }

    /// Capacity in packets, packets in transmission included.
    fn places(&self) -> u32 {
        self.transmitters + self.buffer
    }
}

/// A trunk in one of the variants, simulated from arrival to arrival: between two arrivals packets only leave.
trait Switch: Clone + Send + Sync {
    /// Empty and idle.
    fn empty(trunk: &OfferedTraffic) -> Self;

    /// Every transmitter sends and every place holds a packet that has arrived.
    fn full(trunk: &OfferedTraffic, random: &mut Random) -> Self;

    /// Simulates up to the next arrival and returns the number of packets that it finds in transmission or waiting. If that
    /// number equals the capacity the packet is lost, otherwise it is added.
    fn arrival(&mut self, random: &mut Random) -> u32;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_becomes_the_rate_of_an_idle_input() -> Result<(), ParameterError> {
        // (3.14): load = M lambda / (K (lambda + 1)): 4 x 1/3 / (2 x 4/3) = 1/2.
        assert!((OfferedTraffic::new(&Trunk::new(4, 2, 0)?, 0.5)?.lambda - 1.0 / 3.0).abs() < 1e-15);
        Ok(())
    }

    #[test]
    fn invalid_parameters_are_refused_by_name() -> Result<(), ParameterError> {
        for load in [-0.1, 2.0, f64::NAN, f64::INFINITY] {
            assert_eq!(OfferedTraffic::new(&Trunk::new(2, 1, 0)?, load).map_err(|error| error.name), Err("load"), "{load}");
        }
        assert_eq!(OfferedTraffic::new(&Trunk::new(2, 1, 1_000_001)?, 0.5).map_err(|error| error.name), Err("buffer"));
        assert!(OfferedTraffic::new(&Trunk::new(2, 1, 1_000_000)?, 1.999).is_ok());
        Ok(())
    }
}
