//! A flow that its window or the link holds back, and nothing else.

use crate::parameter::Positive;

#[derive(Clone, Copy, Debug)]
pub struct WindowLimited {
    /// Bytes in flight that the window allows, counted as the rate shall be: payload alone or with headers.
    pub window_bytes: Positive,
    /// Empty network, serialisation included.
    pub rtt_s: Positive,
    /// Of the slowest link, for the same bytes.
    pub capacity_bps: Positive,
}

/// Rate in bit/s: a window per round trip, or the link if that is slower, min(W / RTT, C).
///
/// Source: RFC 7323 section 1.1. Exact for a fixed window without loss.
pub fn window_limited_rate(flow: &WindowLimited) -> f64 {
    (8.0 * flow.window_bytes.get() / flow.rtt_s.get()).min(flow.capacity_bps.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    fn rate(window_bytes: f64) -> Result<f64, ParameterError> {
        Ok(window_limited_rate(&WindowLimited {
            window_bytes: Positive::new("window_bytes", window_bytes)?,
            rtt_s: Positive::new("rtt_s", 0.1)?,
            capacity_bps: Positive::new("capacity_bps", 1e7)?,
        }))
    }

    #[test]
    fn the_old_64_kib_window_over_100_ms_gives_5_mbps_and_a_larger_one_the_link() -> Result<(), ParameterError> {
        assert!((rate(65_536.0)? - 5_242_880.0).abs() < 1e-6);
        assert_eq!(rate(200_000.0)?, 1e7);
        Ok(())
    }
}
