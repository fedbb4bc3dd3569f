//! Equilibrium of delay-based flows that all know the base round trip.

use crate::model::{answers, arguments, models};
use crate::parameter::{Count, Positive};

arguments! {
    /// Flows with one round trip that share one link.
    pub struct DelayBased {
        /// Packets that each flow keeps in the queue; for Vegas in segments.
        alpha: Positive,
        flows: Count,
        /// Packets per second.
        capacity_pps: Positive,
        /// Round trip of the empty path.
        base_rtt_s: Positive,
    }
}

answers! {
    /// Windows, queue and rates in equilibrium.
    pub struct DelayEquilibrium {
        /// Queued packets of all flows.
        queue_packets: f64,
        /// Queueing delay in seconds.
        queueing_delay_s: f64,
        /// Congestion window of each flow in packets.
        window_packets: f64,
        /// Rate of each flow in packets per second.
        rate_pps: f64,
    }
}

models! {
    /// Equilibrium of FAST, or of Vegas with one threshold: each flow keeps `alpha` packets in the queue, and all have the same
    /// rate.
    pub fn delay_equilibrium(flows: DelayBased) -> DelayEquilibrium {
        let (capacity, count) = (flows.capacity_pps.get(), flows.flows.get() as f64);
        let queue_packets = count * flows.alpha.get();
        let queueing_delay_s = queue_packets / capacity;
        let rate_pps = capacity / count;
        let window_packets = rate_pps * (flows.base_rtt_s.get() + queueing_delay_s);
        DelayEquilibrium { queue_packets, queueing_delay_s, window_packets, rate_pps }
    }
    quantity: "windows, rates and queue of delay-based flows";
    equation: "w = alpha D / (D - d), queue = N alpha";
    source: "cui-thesis, equations (4.3), (4.4) and (4.6)";
    assumes: ["one bottleneck", "every flow knows the base RTT", "the buffer holds the whole queue"];
    example: ">>> tb.models.delay_equilibrium(alpha=200, flows=1, capacity_pps=12500, base_rtt_s=0.1).window_packets\n1450.0";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    #[test]
    fn three_flows_keep_three_alphas_in_the_queue() -> Result<(), ParameterError> {
        let rests = delay_equilibrium(DelayBased {
            alpha: Positive::new("alpha", 200.0)?,
            flows: Count::new("flows", 3)?,
            capacity_pps: Positive::new("capacity_pps", 12_500.0)?,
            base_rtt_s: Positive::new("base_rtt_s", 0.1)?,
        });
        // 600 packets are 48 ms; a third of 12,500 packets per second over 148 ms. By (4.3): 200 * 148 / 48.
        assert_eq!((rests.queue_packets, rests.queueing_delay_s), (600.0, 0.048));
        assert!((rests.window_packets - 200.0 * 148.0 / 48.0).abs() < 1e-9);
        Ok(())
    }
}
