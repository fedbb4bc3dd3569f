//! CLAMP's access router. Its price is the time that its queue takes to be sent, above an offset and multiplied by a slope; senders bound
//! their windows by it (Andrew, Hanly and Mukhtar, "CLAMP: maximizing the performance of TCP over low bandwidth variable rate access
//! links", CUBIN technical report 2004-02-01; the same, "Active queue management for fair resource allocation in wireless networks", IEEE
//! Transactions on Mobile Computing 7(2), 2008).
//!
//! The queue includes the arriving packet. Nothing is discarded while there is room.

use super::support::{Occupancy, Policy, Unit, Verdict};
use crate::price::PriceMeaning;
use crate::primitives::units::{Bytes, Time};
use crate::settings::{Kind, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};

member! {
    /// CLAMP access router: its price is a multiple of the queueing delay and bounds the windows of CLAMP clients.
    Clamp = "clamp", "Andrew, Hanly and Mukhtar, IEEE Transactions on Mobile Computing 7(2), 2008";

    pub struct ClampSpec {
        /// Seconds of price per second of queueing delay (b). Windows oscillate above pi/2.
        slope: f64 = 0.5 => Kind::Number { min: 0.0, max: 1000.0 },
        /// Offset in bytes, subtracted from the queue times the slope (a). The price is 0 below it.
        offset: u32 = 0 => Kind::Bytes { min: 0, max: 1_000_000_000 },
    }
}

impl Settings for ClampSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.slope == 0.0 => ["slope"], "`slope` of 0 keeps the price at 0", "above 0";
        }
    }

    fn samples() -> Vec<ClampSpec> {
        vec![ClampSpec::default(), ClampSpec { slope: 1.0, offset: 2000 }]
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Clamp {
    spec: ClampSpec,
    /// p, in seconds.
    price: f64,
}

impl Clamp {
    pub(super) fn new(spec: &ClampSpec) -> Clamp {
        Clamp { spec: *spec, price: 0.0 }
    }
}

impl Policy for Clamp {
    type PerFlow = ();
    const TRACKS_FLOWS: bool = false;
    const IS_STEPPED: bool = true;
    const PRICE_MEANING: Option<PriceMeaning> = Some(PriceMeaning::Wait);

    /// p(q) = max((b q - a) / mu_c, 0).
    fn on_arrival(&mut self, unit: &Unit, _flow: &mut (), buffer: &Occupancy, _now: Time) -> Verdict {
        let Bytes(queue) = buffer.bytes + unit.bytes;
        let beyond = self.spec.slope * queue as f64 - f64::from(self.spec.offset);
        self.price = (8.0 * beyond / buffer.rate.0 as f64).max(0.0);
        Verdict::Accept
    }

    fn price(&self) -> Option<f64> {
        Some(self.price)
    }
}
