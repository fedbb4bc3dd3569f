//! A flow limited only by its window or by the link.

use crate::model::{arguments, models};
use crate::parameter::Positive;

arguments! {
    /// A flow with a fixed window.
    pub struct WindowLimited {
        /// Bytes in flight that the window allows, counted as for the resulting rate: payload alone or with headers.
        window_bytes: Positive,
        /// Round trip through the empty network, serialisation included.
        rtt_s: Positive,
        /// Rate of the slowest link, for the same bytes.
        capacity_bps: Positive,
    }
}

models! {
    /// Rate of a flow limited by its window or by the link: a window per round trip, or the link rate if that is lower.
    ///
    /// Exact for a fixed window without loss.
    pub fn window_limited_rate(flow: WindowLimited) -> f64 {
        (8.0 * flow.window_bytes.get() / flow.rtt_s.get()).min(flow.capacity_bps.get())
    }
    quantity: "rate of a window-limited flow";
    equation: "min(W / RTT, C)";
    source: "RFC 7323, section 1.1";
    assumes: ["no loss"];
    returns: "bit/s.";
    example: ">>> tb.models.window_limited_rate(window_bytes=65535, rtt_s=0.1, capacity_bps=1e9)\n5242800.0";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    fn rate(window_bytes: f64) -> Result<f64, ParameterError> {
        Ok(window_limited_rate(WindowLimited {
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
