//! Up to where rules are meant. Where each limit is from stands in python/tailback/prediction/_limits.py.

pub(super) const FEW_FLOWS: u64 = 100;
pub(super) const SMALL_WINDOW: f64 = 4.0;
pub(super) const NEARLY_FULL: f64 = 0.95;
pub(super) const LOSE_TOGETHER: f64 = 0.85;
pub(super) const TRIED_WINDOWS: (f64, f64) = (15.0, 90.0);
pub(super) const TRIED_UTILISATION: f64 = 0.9;

/// Whether a sender's own link spaces packets out as pacing does: a tenth of a channel and a hundredth of all of them.
pub(super) fn is_slow(access_rate_bps: f64, rate_bps: f64, transmitters: u64) -> bool {
    (100.0 / transmitters as f64).max(10.0) * access_rate_bps <= rate_bps
}
