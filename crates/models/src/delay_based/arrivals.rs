//! Flows that arrive one after the other and mistake queueing delay for part of the propagation delay.

use super::{ArrivalEquilibrium, few};
use crate::model::{arguments, models};
use crate::parameter::{Count, Integer, ParameterError, Positive};
use crate::root::root;

arguments! {
    /// The flows that share a link, and the flow of interest.
    pub struct Arrivals {
        /// Flows that were present before and know the base round trip.
        existing: Integer = 0,
        /// New flows. Each arrives after the flows before it have reached equilibrium.
        arrived: Count,
        /// Flow whose rate is returned: 1 is the first to arrive, 0 any of the flows that were present before.
        flow: Integer = 1,
    }
}

arguments! {
    /// Arrivals of Vegas flows, whose thresholds are rates.
    pub struct VegasArrivals {
        /// Threshold: the rate that the window would have on the empty path, less the actual rate, in packets per second.
        alpha_pps: Positive,
        /// Packets per second.
        capacity_pps: Positive,
        /// New flows. Each arrives after the flows before it have reached equilibrium.
        arrived: Count,
        /// Flow whose rate is returned: 1 is the first to arrive.
        flow: Count = 1,
    }
}

models! {
    /// Persistent congestion of FAST: rates and queue when flows arrive one after the other.
    ///
    /// A new flow never sees the path empty. It mistakes the queueing delay that it finds for propagation delay and adds more
    /// than `alpha` packets to the queue. The steps are independent of `alpha`, the capacity and the round trip.
    pub fn fast_arrivals(arrivals: Arrivals) -> Result<ArrivalEquilibrium, ParameterError> {
        let Arrivals { existing, arrived, flow } = arrivals;
        let (existing, count, flow) = (existing.get() as f64, few(arrived)?, flow.get());
        check_flow(flow, arrived)?;
        if flow == 0 && existing == 0.0 {
            return Err(ParameterError::new("flow", flow, "at least 1, because `existing` is 0"));
        }
        let mut since = Vec::with_capacity(count);
        let mut step = 0.0;
        for arrival in 1..=count {
            let before = since.first().copied().unwrap_or(0.0);
            // The rates of the new flows, less the rate that the existing flows have lost. At a step of 1 the newcomer would have
            // the whole capacity. At a step equal to the number of flows no rate exceeds an equal share.
            let excess = |step: f64| {
                let new: f64 = 1.0 / step + since.iter().map(|waits| 1.0 / (step + waits)).sum::<f64>();
                new - (before + step) / (existing + before + step)
            };
            step = root(excess, 1.0, existing + arrival as f64);
            since.iter_mut().for_each(|waits| *waits += step);
            since.push(step);
        }
        let queue = existing + since[0];
        let old = 1.0 / queue;
        let rates = || since.iter().map(|waits| 1.0 / waits);
        let squares = existing * old * old + rates().map(|rate| rate * rate).sum::<f64>();
        let total = existing * old + rates().sum::<f64>();
        let flows = existing + count as f64;
        let share = if flow == 0 { old } else { 1.0 / since[flow as usize - 1] };
        Ok(ArrivalEquilibrium { step, queue, share, relative_share: share * flows, fairness: total * total / (flows * squares) })
    }
    quantity: "rates of FAST flows that arrive one after the other";
    equation: "N / (N + sum_k b_k) + sum_j 1 / sum_(k = j..i) b_k = 1, for each arrival i in turn; queues b in units of alpha";
    source: "cui-thesis, equations (4.19), (4.20), (4.24), (4.30) and (C.4)";
    assumes: ["one bottleneck whose buffer holds the queue", "each flow arrives in equilibrium", "base RTT estimates never expire"];
    refuses: "more than 10,000 arrivals, and a `flow` above `arrived`";
    example: ">>> round(tb.models.fast_arrivals(arrived=2).share, 5)\n0.38197";

    /// Persistent congestion of Vegas, whose thresholds are rates. Steps grow, by a factor near `alpha / capacity` where that is
    /// large.
    pub fn vegas_arrivals(arrivals: VegasArrivals) -> Result<ArrivalEquilibrium, ParameterError> {
        let VegasArrivals { alpha_pps, capacity_pps, arrived, flow } = arrivals;
        let (count, ratio) = (few(arrived)?, alpha_pps.get() / capacity_pps.get());
        check_flow(flow.get(), arrived)?;
        if !ratio.is_normal() {
            let expected = "a rate closer to the capacity: their ratio is out of floating-point range";
            return Err(ParameterError::new("alpha_pps", alpha_pps.get(), expected));
        }
        // In units of the base round trip: the base round trip that each arrival assumed, and the queueing delay added since.
        let (mut taken, mut since) = (Vec::with_capacity(count), Vec::<f64>::with_capacity(count));
        let mut step = 0.0;
        for _ in 0..count {
            let path = 1.0 + since.first().copied().unwrap_or(0.0);
            taken.push(path);
            let excess = |step: f64| {
                let earlier: f64 = taken.iter().zip(&since).map(|(taken, waits)| taken / (step + waits)).sum();
                earlier + path / step - 1.0 / ratio
            };
            let upper = ratio * taken.iter().sum::<f64>();
            if !upper.is_finite() {
                let expected = "fewer arrivals, or a threshold closer to the capacity: delays are out of floating-point range";
                return Err(ParameterError::new("arrived", arrived.get(), expected));
            }
            step = root(excess, ratio * path, upper);
            since.iter_mut().for_each(|waits| *waits += step);
            since.push(step);
        }
        let rates = || taken.iter().zip(&since).map(|(taken, waits)| ratio * taken / waits);
        let (total, squares) = (rates().sum::<f64>(), rates().map(|rate| rate * rate).sum::<f64>());
        let at = flow.get() as usize - 1;
        let share = ratio * taken[at] / since[at];
        let flows = count as f64;
        Ok(ArrivalEquilibrium { step, queue: since[0], share, relative_share: share * flows, fairness: total * total / (flows * squares) })
    }
    equation: "sum_j (1 + p_(j-1)) / (p_i - p_(j-1)) = c / alpha, for each arrival i in turn; delays p in units of the base round trip";
    source: "cui-thesis, equations (4.10), (4.12) and (4.24)";
    assumes: ["one bottleneck whose buffer holds the queue", "each flow arrives in equilibrium", "one threshold"];
    refuses: "more than 10,000 arrivals, a `flow` above `arrived`, and delays out of floating-point range";
}

fn check_flow(flow: u64, arrived: Count) -> Result<(), ParameterError> {
    let upper = arrived.get();
    if flow > upper { Err(ParameterError::new("flow", flow, format!("at most `arrived`, {upper}"))) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fast(existing: u64, arrived: u64, flow: u64) -> Result<ArrivalEquilibrium, ParameterError> {
        let (existing, flow) = (Integer::new(existing), Integer::new(flow));
        fast_arrivals(Arrivals { existing, arrived: Count::new("arrived", arrived)?, flow })
    }

    fn vegas(alpha_pps: f64, capacity_pps: f64, arrived: u64) -> Result<ArrivalEquilibrium, ParameterError> {
        vegas_arrivals(VegasArrivals {
            alpha_pps: Positive::new("alpha_pps", alpha_pps)?,
            capacity_pps: Positive::new("capacity_pps", capacity_pps)?,
            arrived: Count::new("arrived", arrived)?,
            flow: Count::ONE,
        })
    }

    #[test]
    fn the_first_of_two_flows_gets_the_smaller_part_of_the_golden_section() -> Result<(), ParameterError> {
        // (4.23): 2 / (3 + sqrt 5); the queue is 1 + (1 + sqrt 5) / 2.
        let both = fast(0, 2, 1)?;
        assert!((both.share - 2.0 / (3.0 + 5f64.sqrt())).abs() < 1e-15);
        assert!((both.step - (1.0 + 5f64.sqrt()) / 2.0).abs() < 4e-15);
        assert!((fast(0, 2, 2)?.share + both.share - 1.0).abs() < 1e-15);
        Ok(())
    }

    #[test]
    fn a_late_flow_adds_the_root_of_a_quadratic() -> Result<(), ParameterError> {
        // (4.26): (1 + sqrt(1 + 4 N)) / 2.
        for existing in [1u64, 16, 100, 1_000_000, 1_000_000_000_000] {
            let expected = (1.0 + (1.0 + 4.0 * existing as f64).sqrt()) / 2.0;
            assert!((fast(existing, 1, 1)?.step / expected - 1.0).abs() < 1e-14, "{existing}");
        }
        Ok(())
    }

    #[test]
    fn a_thousand_arrivals_are_accurate_to_the_last_digits() -> Result<(), ParameterError> {
        // Computed independently with 40 digits: the last step, and the sum of all steps.
        for (existing, step, total) in
            [(0, 7.573_741_731_857_262, 6_594.901_246_726_04), (10, 7.583_575_660_254_424, 6_648.827_718_412_16)]
        {
            let last = fast(existing, 1000, 1)?;
            assert!((last.step / step - 1.0).abs() < 1e-14, "{}", last.step);
            assert!((last.queue / (total + existing as f64) - 1.0).abs() < 1e-14, "{}", last.queue);
        }
        Ok(())
    }

    #[test]
    fn rates_sum_to_the_capacity_and_grow_with_each_arrival() -> Result<(), ParameterError> {
        let shares: Vec<f64> = (0..=20).map(|flow| Ok(fast(7, 20, flow)?.share)).collect::<Result<_, ParameterError>>()?;
        assert!(shares.windows(2).all(|pair| pair[0] < pair[1]));
        assert!((7.0 * shares[0] + shares[1..].iter().sum::<f64>() - 1.0).abs() < 1e-14);
        Ok(())
    }

    #[test]
    fn table_4_1_is_reproduced_except_its_misprints() -> Result<(), ParameterError> {
        let delays = [0.8, 18.365, 403.30, 8838.9, 1.937e5, 4.2448e6, 9.3024e7, 2.0386e9, 4.4674e10, 9.7901e11];
        for (arrived, delay) in (1..).zip(delays) {
            let found = 0.04 * vegas(2500.0, 125.0, arrived)?.queue;
            assert!((found / delay - 1.0).abs() < 1e-4, "{arrived}: {found}");
        }
        Ok(())
    }

    #[test]
    fn the_second_flow_of_vegas_by_hand() -> Result<(), ParameterError> {
        // (4.21) and (4.22) with alpha = c / 5, in units of the base round trip.
        let p1: f64 = 0.2;
        let p2 = p1 * (3.0 + p1 + ((1.0 + p1) * (5.0 + p1)).sqrt()) / 2.0;
        let both = vegas(2500.0, 12_500.0, 2)?;
        assert!((both.queue / p2 - 1.0).abs() < 4e-15 && (both.share - p1 / p2).abs() < 4e-15, "{both:?}");
        Ok(())
    }

    #[test]
    fn results_out_of_floating_point_range_are_refused() {
        assert!(vegas(2500.0, 125.0, 200).is_ok());
        assert!(vegas(2500.0, 125.0, 1000).is_err_and(|error| error.to_string().contains("out of floating-point range")));
        assert!(vegas(1e-200, 1e200, 1).is_err_and(|error| error.name == "alpha_pps"));
        assert!(fast(0, 10_001, 1).is_err() && fast(0, 3, 4).is_err() && fast(0, 3, 0).is_err());
    }
}
