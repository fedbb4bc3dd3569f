//! `application = {...}`: what hands data to TCP, where not all of it waits from the start.

use crate::quantity::{Duration, Rate};
use crate::record::{record, tagged};
use crate::values::Whole;

record! {
    /// An application above TCP. What TCP may not send yet it keeps, however much that is.
    pub struct Application {
        /// Mean rate of the payload that it hands over; of an on-off application, while it is on.
        rate: Rate,
        /// Full segments that it hands over at a time.
        burst: Whole<1, 1000000> = Whole(1),
    }
    with
    /// When it hands over data.
    arrivals: HandOver
}

tagged! {
    /// When an application hands over data.
    pub enum HandOver ("kind of application") by "kind" {
        "constant" => ConstantData,
        "poisson" => PoissonData,
        "on_off" => OnOffData,
    }
}

record! {
    /// Evenly spaced.
    pub struct ConstantData {}
}

record! {
    /// Exponential gaps.
    pub struct PoissonData {}
}

record! {
    /// Bursts of evenly spaced data and silences, both exponential.
    pub struct OnOffData {
        /// Mean length of a burst.
        mean_on: Duration,
        /// Mean length of a silence.
        mean_off: Duration,
    }
}
