//! Up to where models and rules are meant: each limit with where it is from.

/// Below this many flows windows tend to halve together (Appenzeller, Keslassy and McKeown, SIGCOMM 2004, section 3).
pub const FEW_FLOWS: u64 = 100;

/// Below this many packets under way a loss is often found by a timeout: fewer than three duplicates follow (RFC 5681).
pub const SMALL_WINDOW: f64 = 4.0;

/// Below this many packets under way timeouts still count: trunks with the places that (3.23) asks for were used less than asked for with
/// windows of 6 packets, and of 8 for one of two targets, and not with 12. Measured in docs/howto/optical_buffers.md.
pub const SHORT_WINDOW: f64 = 12.0;

/// Up to this many flows for each wavelength channel single flows decide how far a trunk is used: by the square-root law such a flow loses
/// once in half a minute on 250 Mbit/s. See docs/howto/optical_buffers.md.
pub const FEW_FLOWS_OF_A_CHANNEL: u64 = 10;

/// Above this utilisation a link no longer sees a Poisson process (cui-thesis, section 3.8.2).
pub const NEARLY_FULL: f64 = 0.95;

/// Above this target the simulator measured less than it: see docs/howto/buffer_sizing.md.
pub const LOSE_TOGETHER: f64 = 0.85;

/// Up to this load a link's queue is as good as empty: packets of one size that come at random wait for two others on average
/// (M/D/1, Pollaczek-Khinchine: 0.8 / (2 (1 - 0.8)) service times). What more costs is measured in docs/evidence/theory.md.
pub const QUIET_LOAD: f64 = 0.8;

/// Of the bandwidth-delay product: the closed loop leaves queueing out of the round trips, so that its rates are at most this much
/// too high, and here it meets the normal sum of windows, which takes over. Measured in docs/evidence/theory.md.
pub const SHORT_QUEUE: f64 = 0.1;

/// Windows, in packets, with which the rule `unpaced` was tried, and the highest utilisation.
pub const TRIED_WINDOWS: (f64, f64) = (15.0, 90.0);
pub const TRIED_UTILISATION: f64 = 0.9;

/// Whether a sender's own link spaces packets out as pacing does: a tenth of a channel and a hundredth of all of them.
///
/// cui-thesis says an order of magnitude (section 3.4), and that is too little where there is but one: claims U-tenth and U-hundredth of
/// cui-thesis/unpaced measure it.
pub fn is_slow(access_rate_bps: f64, rate_bps: f64, transmitters: f64) -> bool {
    (100.0 / transmitters).max(10.0) * access_rate_bps <= rate_bps
}
