//! The values of one acknowledgement.

use crate::primitives::units::{Time, TimeDelta};

/// The rate sample (RS), and other values from an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    pub now: Time,
    pub rtt: Option<TimeDelta>,
    /// Zero if there is none.
    pub delivery_rate: f64,
    pub is_app_limited: bool,
    pub delivered: f64,
    pub prior_delivered: Option<u64>,
    pub newly_acked: f64,
    pub lost: f64,
    pub tx_in_flight: f64,
    /// C.inflight, after the acknowledgement.
    pub inflight: f64,
}
