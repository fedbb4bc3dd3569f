//! Ranges of validity of models and rules: each limit with its source.

/// Below this number of flows windows tend to halve together (Appenzeller, Keslassy and McKeown, SIGCOMM 2004, section 3).
pub const FEW_FLOWS: u64 = 100;

/// Below this number of packets in flight a loss is often detected by a timeout, because fewer than three duplicates follow (RFC
/// 5681).
pub const SMALL_WINDOW: f64 = 4.0;

/// Below this number of packets in flight timeouts still matter. Trunks with the buffer of (3.23) missed the target utilisation
/// with windows of 6 packets, and with windows of 8 for one of two targets, but not with windows of 12. Measured in
/// docs/howto/optical_buffers.md.
pub const SHORT_WINDOW: f64 = 12.0;

/// Up to this number of flows per wavelength channel, individual flows determine the utilisation of a trunk: by the square-root
/// law such a flow loses a packet once in half a minute on 250 Mbit/s. See docs/howto/optical_buffers.md.
pub const FEW_FLOWS_OF_A_CHANNEL: u64 = 10;

/// Above this utilisation arrivals at a link are no longer a Poisson process (cui-thesis, section 3.8.2).
pub const NEARLY_FULL: f64 = 0.95;

/// Above this target the simulated utilisation is lower than predicted: see docs/howto/buffer_sizing.md.
pub const LOSE_TOGETHER: f64 = 0.85;

/// Up to this load queueing is negligible: packets of one size with Poisson arrivals wait for two others on average (M/D/1,
/// Pollaczek-Khinchine: 0.8 / (2 (1 - 0.8)) service times). The error above this load is measured in docs/evidence/theory.md.
pub const QUIET_LOAD: f64 = 0.8;

/// Largest buffer, as a fraction of the bandwidth-delay product, for which the closed loop is used. It leaves queueing out of the
/// round trips, so that its rates are too high by at most this fraction. At this size it agrees with the normal approximation of the
/// sum of windows, which is used for larger buffers. Measured in docs/evidence/theory.md.
pub const SHORT_QUEUE: f64 = 0.1;

/// Error of the normal sum of windows, as a fraction of the capacity: docs/evidence/theory.md. 2,000 Reno flows at 10 Gbit/s over
/// 80 ms with its buffers for 99 and 99.9 % used 96 to 98 %.
pub const SUM_OF_WINDOWS_ERROR: f64 = 0.02;

/// Range of windows, in packets, over which the rule `unpaced` was tested, and the highest utilisation.
pub const TRIED_WINDOWS: (f64, f64) = (15.0, 90.0);
pub const TRIED_UTILISATION: f64 = 0.9;

/// Whether a sender's access link spaces packets as pacing does: its rate is at most a tenth of a channel and a hundredth of all
/// channels.
///
/// cui-thesis requires an order of magnitude (section 3.4), which is too little for a single channel: claims U-tenth and
/// U-hundredth of cui-thesis/unpaced measure it.
pub fn is_slow(access_rate_bps: f64, rate_bps: f64, transmitters: f64) -> bool {
    (100.0 / transmitters).max(10.0) * access_rate_bps <= rate_bps
}
