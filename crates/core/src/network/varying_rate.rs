//! The rate of a link that varies.

use super::{DeliveryTrace, RateSchedule};
use crate::primitives::units::{Rate, Time};
use serde::{Deserialize, Serialize};

/// How the rate of a port varies. Copies share their data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum VaryingRate {
    /// The link sends only at the opportunities of a trace.
    Opportunities(DeliveryTrace),
    /// The link sends at the rate of a schedule.
    Schedule(RateSchedule),
}

impl VaryingRate {
    /// Mean rate over a period.
    pub fn mean_rate(&self) -> Rate {
        match self {
            VaryingRate::Opportunities(trace) => trace.mean_rate(),
            VaryingRate::Schedule(schedule) => schedule.mean_rate(),
        }
    }

    /// Rate of the best millisecond, or of the best step.
    pub fn highest_rate(&self) -> Rate {
        match self {
            VaryingRate::Opportunities(trace) => trace.highest_rate(),
            VaryingRate::Schedule(schedule) => schedule.highest_rate(),
        }
    }

    /// Mean rate in bit/s from the start of the run to this time.
    pub fn mean_rate_before(&self, time: Time) -> f64 {
        let bits = match self {
            VaryingRate::Opportunities(trace) => trace.count_before(time) as f64 * DeliveryTrace::OPPORTUNITY.0 as f64 * 8.0,
            VaryingRate::Schedule(schedule) => schedule.capacity_before(time) as f64 / 1e12,
        };
        bits / time.seconds()
    }

    /// Memory in bytes.
    pub fn memory(&self) -> u64 {
        match self {
            VaryingRate::Opportunities(trace) => trace.memory(),
            VaryingRate::Schedule(schedule) => schedule.memory(),
        }
    }

    /// Whether the two are copies of one trace or schedule.
    pub fn shares_data_with(&self, other: &VaryingRate) -> bool {
        match (self, other) {
            (VaryingRate::Opportunities(one), VaryingRate::Opportunities(other)) => one.shares_data_with(other),
            (VaryingRate::Schedule(one), VaryingRate::Schedule(other)) => one.shares_data_with(other),
            _ => false,
        }
    }
}
