//! A test policy that sets marks, clears marks and writes prices, for tests of the signals that a policy may write.

use super::policy::{Departure, Occupancy, Policy, Unit, Verdict};
use crate::primitives::signal::Signal;
use crate::primitives::units::Time;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeSpec {
    /// Mark every N-th arrival; 0 for none.
    pub marks: u32,
    /// `Some(true)` clears the marks of units that are sent, `Some(false)` marks all of them, and `None` leaves them.
    pub clears: Option<bool>,
    /// Added to the price of each unit.
    pub price: Option<f64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Probe {
    spec: ProbeSpec,
    arrivals: u32,
}

impl Probe {
    pub(in crate::queue) fn new(spec: &ProbeSpec) -> Probe {
        Probe { spec: *spec, arrivals: 0 }
    }
}

impl Policy for Probe {
    type PerFlow = ();
    const TRACKS_FLOWS: bool = false;
    const IS_STEPPED: bool = true;
    const WRITES_SIGNALS: bool = true;

    fn on_arrival(&mut self, _unit: &Unit, _flow: &mut (), _buffer: &Occupancy, _now: Time) -> Verdict {
        self.arrivals += 1;
        let marks = self.spec.marks > 0 && self.arrivals.is_multiple_of(self.spec.marks);
        if marks { Verdict::Mark } else { Verdict::Accept }
    }

    fn on_signal(&mut self, _unit: &Unit, _departure: &Departure, signal: &mut Signal) {
        if let Some(clears) = self.spec.clears {
            signal.marks = u32::from(!clears);
        }
        if let Some(price) = self.spec.price {
            signal.price = Some(signal.price.unwrap_or(0.0) + price);
        }
    }
}
