//! Service of a port whose rate varies.

use super::delivery::{Delivery, ServiceStart};
use super::scheduled_service::ScheduledService;
use crate::network::VaryingRate;
use crate::primitives::units::{Bytes, Rate, Time};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum VaryingService {
    Opportunities(Delivery),
    Schedule(ScheduledService),
}

impl VaryingService {
    /// `warmup`: start of the measurement interval.
    pub(super) fn new(rate: &VaryingRate, warmup: Time) -> VaryingService {
        match rate {
            VaryingRate::Opportunities(trace) => VaryingService::Opportunities(Delivery::new(trace, warmup)),
            VaryingRate::Schedule(schedule) => VaryingService::Schedule(ScheduledService::new(schedule, warmup)),
        }
    }

    /// Time at which the last byte of a unit is sent whose service starts now.
    pub(super) fn send(&mut self, bytes: Bytes, now: Time, begins: ServiceStart) -> Time {
        match self {
            VaryingService::Opportunities(delivery) => delivery.send(bytes, now, begins),
            VaryingService::Schedule(service) => service.send(bytes, now),
        }
    }

    /// The rate that policies read, if it is not constant.
    pub(super) fn rate_at(&self, now: Time) -> Option<Rate> {
        match self {
            VaryingService::Opportunities(_) => None,
            VaryingService::Schedule(service) => Some(service.rate_at(now)),
        }
    }

    /// Used share of the measured capacity up to `until`.
    pub(super) fn used_share(&self, until: Time) -> f64 {
        match self {
            VaryingService::Opportunities(delivery) => delivery.used_share(until),
            VaryingService::Schedule(service) => service.used_share(until),
        }
    }
}
