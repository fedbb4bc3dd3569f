//! Time in which a new FAST flow drains the queue, and the number of flows against which it succeeds.

use crate::model::{answers, arguments, models};
use crate::parameter::{Count, ParameterError, Positive};

arguments! {
    /// A queue that a new flow drains by reducing its rate.
    pub struct Draining {
        /// Packets that each flow keeps in the queue.
        alpha: Positive,
        /// Packets per second.
        capacity_pps: Positive,
        /// r, the factor by which the new flow slows down.
        slowdown: Positive,
    }
}

answers! {
    /// The number of flows against which draining works.
    pub struct DrainedFlows {
        /// Largest number of flows whose queue is drained within the round trip, by the exact expression.
        flows: u64,
        /// The document's approximation, (C D / alpha)^(2/3).
        approximation: f64,
    }
}

/// Whole numbers up to this one are exact in floating point.
const MAX_FLOWS: f64 = 9e15;

/// Draining time in seconds, for a real number of flows.
fn seconds(draining: Draining, flows: f64) -> Result<f64, ParameterError> {
    let Draining { alpha, capacity_pps, slowdown } = draining;
    let r = slowdown.get();
    if r <= 1.0 {
        return Err(ParameterError::new("slowdown", r, "more than 1: at 1 the queue does not drain"));
    }
    // Both terms of the document: N (1 + s) / 2 + (1 + s)^2 / 4 with s = sqrt(1 + 4 N), over C (r - 1) / (alpha r).
    let new = (1.0 + (1.0 + 4.0 * flows).sqrt()) / 2.0;
    Ok(alpha.get() * r / (capacity_pps.get() * (r - 1.0)) * new * (flows + new))
}

models! {
    /// Time in which a new FAST flow that slows down by `slowdown` drains the queue of the existing flows and its own.
    pub fn draining_time(
        draining: Draining,
        /// N, existing flows.
        flows: Count,
    ) -> Result<f64, ParameterError> {
        seconds(draining, flows.get() as f64)
    }
    quantity: "time to drain a FAST queue";
    equation: "alpha r / (C (r - 1)) b (N + b), b = (1 + sqrt(1 + 4 N)) / 2";
    source: "cui-thesis, section 4.4.3";
    assumes: ["the other flows do not react", "equal round trips"];
    refuses: "a slowdown of 1 or less";
    returns: "seconds.";
    example: ">>> round(tb.models.draining_time(alpha=50, capacity_pps=12019, slowdown=50, flows=1), 4)\n0.018";

    /// Largest number of flows whose queue a new flow can drain before the first of them reacts, one round trip later.
    pub fn drained_flows(
        draining: Draining,
        /// D, the shortest base round trip of any flow.
        base_rtt_s: Positive,
    ) -> Result<DrainedFlows, ParameterError> {
        let rtt = base_rtt_s.get();
        let approximation = libm::cbrt(draining.capacity_pps.get() * rtt / draining.alpha.get());
        let approximation = approximation * approximation;
        if approximation > MAX_FLOWS {
            return Err(ParameterError::new("base_rtt_s", rtt, "a shorter round trip: the number of flows is out of floating-point range"));
        }
        // The exact time is longer than the approximate one.
        let (mut few, mut many) = (0u64, approximation as u64 + 1);
        while many - few > 1 {
            let middle = few + (many - few) / 2;
            *(if seconds(draining, middle as f64)? <= rtt { &mut few } else { &mut many }) = middle;
        }
        Ok(DrainedFlows { flows: few, approximation })
    }
    equation: "the largest N with draining time <= RTT; about (C D / alpha)^(2/3)";
    source: "cui-thesis, equation (4.31)";
    assumes: ["the other flows do not react", "equal round trips"];
    refuses: "a slowdown of 1 or less, and numbers of flows out of floating-point range";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 4.4.3: 50 packets of 1040 bytes at 100 Mbit/s, which take 4.16 ms.
    fn draining(slowdown: f64) -> Result<Draining, ParameterError> {
        Ok(Draining {
            alpha: Positive::new("alpha", 50.0)?,
            capacity_pps: Positive::new("capacity_pps", 1e8 / 8320.0)?,
            slowdown: Positive::new("slowdown", slowdown)?,
        })
    }

    #[test]
    fn the_time_is_the_sum_of_the_documents_two_terms() -> Result<(), ParameterError> {
        for (flows, r) in [(1u64, 2.0), (9, 50.0), (100, 10.0)] {
            let (n, s) = (flows as f64, (1.0 + 4.0 * flows as f64).sqrt());
            let expected = 4.16e-3 * r / (r - 1.0) * (n * (1.0 + s) / 2.0 + (1.0 + s) * (1.0 + s) / 4.0);
            let found = draining_time(draining(r)?, Count::new("flows", flows)?)?;
            assert!((found / expected - 1.0).abs() < 1e-14, "{found}");
        }
        Ok(())
    }

    #[test]
    fn nine_flows_are_drained_at_200_ms_and_two_at_40_ms_where_the_document_has_eleven_and_three() -> Result<(), ParameterError> {
        let drained = |rtt| Ok::<u64, ParameterError>(drained_flows(draining(1e9)?, Positive::new("base_rtt_s", rtt)?)?.flows);
        assert_eq!((drained(0.2)?, drained(0.04)?), (9, 2));
        // The queue of one flow takes 17.6 ms.
        assert_eq!((drained(0.0176)?, drained(0.0177)?), (0, 1));
        Ok(())
    }

    #[test]
    fn a_flow_that_does_not_slow_down_drains_nothing() -> Result<(), ParameterError> {
        assert!(draining_time(draining(1.0)?, Count::ONE).is_err_and(|error| error.name == "slowdown"));
        Ok(())
    }
}
