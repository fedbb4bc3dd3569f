//! M/M/1/K: one transmitter, packets of exponential length.

use super::{FiniteQueue, mmck};
use crate::model::models;
use crate::parameter::{Load, Places, Servers};

models! {
    /// M/M/1/K: Poisson arrivals, exponential service, one transmitter.
    ///
    /// Packets of one size lose less: see `md1k`.
    pub fn mm1k(load: Load, places: Places) -> FiniteQueue {
        mmck(load, Servers::ONE, places)
    }
    quantity: "M/M/1/K loss, number, wait";
    equation: "p(k) = load p(k-1) / (1 + load p(k-1))";
    source: "Kleinrock, Queueing Systems 1, 1975, section 3.6";
    assumes: ["Poisson arrivals", "packets of exponential length"];
    example: ">>> tb.models.mm1k(load=1.0, places=4).loss\n0.2";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    #[test]
    fn at_load_one_all_states_are_equally_likely() -> Result<(), ParameterError> {
        // Five states of 1/5: loss 1/5, number 2; an accepted unit finds 0 to 3 units with equal probability, 1.5 on average.
        let port = mm1k(Load::new(1.0)?, Places::new(4)?);
        assert!((port.loss - 0.2).abs() < 1e-15);
        assert!((port.mean_number - 2.0).abs() < 1e-15);
        assert!((port.mean_wait - 1.5).abs() < 1e-15);
        Ok(())
    }

    #[test]
    fn half_load_in_two_places() -> Result<(), ParameterError> {
        // Weights 1, 1/2, 1/4: loss 1/7, number (1/2 + 2/4) / (7/4); a third of the accepted units wait one service time.
        let port = mm1k(Load::new(0.5)?, Places::new(2)?);
        assert!((port.loss - 1.0 / 7.0).abs() < 1e-15);
        assert!((port.mean_number - 4.0 / 7.0).abs() < 1e-15);
        assert!((port.mean_wait - 1.0 / 3.0).abs() < 1e-15);
        Ok(())
    }
}
