//! Erlang B, the loss of M/M/K/K and M/G/K/K: transmitters without waiting places.

use super::mmck;
use crate::model::models;
use crate::parameter::{Load, Servers};

models! {
    /// Erlang B: fraction of Poisson arrivals that find all transmitters busy at a port without waiting places.
    pub fn erlang_b(
        /// Offered load per transmitter: the offered traffic is `load * servers` erlangs.
        load: Load,
        servers: Servers,
    ) -> f64 {
        mmck(load, servers, servers.as_places()).loss
    }
    quantity: "Erlang B";
    equation: "B(k) = a B(k-1) / (k + a B(k-1)), a = load * servers";
    source: "Erlang 1917; Kleinrock, Queueing Systems 1, 1975, section 3.7";
    assumes: ["Poisson arrivals", "no waiting places", "any service time: only its mean matters"];
    returns: "Loss, 0 to 1.";
    example: ">>> tb.models.erlang_b(load=1.0, servers=1)\n0.5";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    #[test]
    fn one_erlang_on_one_and_on_two_transmitters() -> Result<(), ParameterError> {
        // B(1) = 1 / (1 + 1); B(2) = (1/2) / (2 + 1/2).
        assert!((erlang_b(Load::new(1.0)?, Servers::new(1)?) - 0.5).abs() < 1e-15);
        assert!((erlang_b(Load::new(0.5)?, Servers::new(2)?) - 0.2).abs() < 1e-15);
        Ok(())
    }

    #[test]
    fn ten_erlangs_on_twenty_transmitters_match_printed_tables() -> Result<(), ParameterError> {
        assert!((erlang_b(Load::new(0.5)?, Servers::new(20)?) - 0.00187).abs() < 5e-6);
        Ok(())
    }
}
