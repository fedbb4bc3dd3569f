//! M/M/c/K, which with c = K transmitters and B waiting places is the M/M/K/(K+B) of trunk sizing.
//!
//! The solution is a recurrence over the number of places. State k relates to k - 1 as r(k) = load servers / min(k, servers). The
//! last state of a chain that ends at k has probability p(k) = x / (1 + x), where x = r(k) p(k-1) is its weight over the sum of
//! the weights before it. Means follow in the same way: m(k) = (m(k-1) + x k) / (1 + x). There is no exception at load = 1 and
//! nothing overflows. An accepted unit sees the chain without its last state (Poisson arrivals see time averages), and a unit
//! that finds k units waits for k - servers + 1 departures of 1/servers each.

use super::FiniteQueue;
use crate::model::models;
use crate::parameter::{Load, Places, Servers};

models! {
    /// M/M/c/K: Poisson arrivals, exponential service, `servers` transmitters.
    ///
    /// The offered traffic is `load * servers` erlangs.
    pub fn mmck(load: Load, servers: Servers, places: Places) -> FiniteQueue {
        let transmitters = f64::from(servers.get());
        let mut port = FiniteQueue { loss: 1.0, mean_number: 0.0, mean_wait: 0.0 };
        let mut seen_wait = 0.0;
        for units in 1..=places.get() {
            let found = f64::from(units);
            let weight = load.get() * transmitters / found.min(transmitters) * port.loss;
            let wait = (found - transmitters + 1.0).max(0.0) / transmitters;
            port.mean_wait = seen_wait;
            seen_wait = (seen_wait + weight * wait) / (1.0 + weight);
            port.mean_number = (port.mean_number + weight * found) / (1.0 + weight);
            port.loss = weight / (1.0 + weight);
        }
        port
    }
    quantity: "M/M/c/K loss, number, wait";
    equation: "p(k) = r(k) p(k-1) / (1 + r(k) p(k-1)), r(k) = load servers / min(k, servers)";
    source: "Kleinrock, Queueing Systems 1, 1975, sections 3.5 to 3.8";
    assumes: ["Poisson arrivals", "packets of exponential length", "c transmitters; with c = K and K + B places, the M/M/K/(K+B) of trunk sizing"];
    example: ">>> tb.models.mmck(load=1.0, servers=1, places=4) == tb.models.mm1k(load=1.0, places=4)\nTrue";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    fn port(load: f64, servers: u64, places: u64) -> Result<FiniteQueue, ParameterError> {
        Ok(mmck(Load::new(load)?, Servers::new(servers)?, Places::new(places)?))
    }

    #[test]
    fn two_transmitters_and_one_waiting_place() -> Result<(), ParameterError> {
        // One erlang: weights 1, 1, 1/2, 1/4. Loss (1/4)/(11/4), number (1 + 1 + 3/4)/(11/4); of the accepted units, (1/2)/(5/2)
        // find both busy and wait half a service time.
        let port = port(0.5, 2, 3)?;
        assert!((port.loss - 1.0 / 11.0).abs() < 1e-15);
        assert!((port.mean_number - 1.0).abs() < 1e-15);
        assert!((port.mean_wait - 0.1).abs() < 1e-15);
        Ok(())
    }

    #[test]
    fn a_million_places_at_ten_times_the_load_lose_nine_tenths() -> Result<(), ParameterError> {
        let port = port(10.0, 1, 1_000_000)?;
        assert!((port.loss - 0.9).abs() < 1e-12);
        assert!((port.mean_number - (1e6 - 1.0 / 9.0)).abs() < 1e-6);
        Ok(())
    }

    #[test]
    fn littles_law_holds() -> Result<(), ParameterError> {
        // Number = accepted arrivals per service time * (wait + one service time).
        for (load, servers, places) in [(0.3, 1, 7), (0.9, 4, 9), (1.7, 3, 3), (2.5, 10, 40), (0.6, 8, 5)] {
            let port = port(load, servers, places)?;
            let accepted = load * servers as f64 * (1.0 - port.loss);
            assert!((port.mean_number - accepted * (port.mean_wait + 1.0)).abs() < 1e-12, "{load} {servers} {places}");
        }
        Ok(())
    }

    #[test]
    fn no_places_lose_everything_and_no_load_loses_nothing() -> Result<(), ParameterError> {
        assert_eq!(port(0.5, 1, 0)?, FiniteQueue { loss: 1.0, mean_number: 0.0, mean_wait: 0.0 });
        assert_eq!(port(0.0, 2, 5)?, FiniteQueue { loss: 0.0, mean_number: 0.0, mean_wait: 0.0 });
        Ok(())
    }
}
