//! Erlang B, the loss of M/M/K/K and M/G/K/K: transmitters without waiting places.

use super::mmck;
use crate::model::models;
use crate::parameter::{Load, ParameterError, Servers};

models! {
    /// Erlang B: fraction of Poisson arrivals that find all transmitters busy at a port without waiting places.
    ///
    /// For an overload, `mmck(load, servers, places=servers)` has the same loss.
    pub fn erlang_b(
        /// Offered load per transmitter: the offered traffic is `load * servers` erlangs.
        load: Load,
        servers: Servers,
    ) -> Result<f64, ParameterError> {
        if load.get() > 1.0 {
            let (erlangs, servers) = (load.get(), servers.get());
            let each = erlangs / f64::from(servers);
            let expected = format!(
                "at most 1, the load of each transmitter: {erlangs} erlangs on {servers} transmitters are `load={each}`; for an \
                 overload use `mmck` with as many `places` as `servers`"
            );
            return Err(ParameterError::new("load", load.get(), expected));
        }
        Ok(mmck(load, servers, servers.as_places()).loss)
    }
    quantity: "Erlang B";
    equation: "B(k) = a B(k-1) / (k + a B(k-1)), a = load * servers";
    source: "Erlang 1917; Kleinrock, Queueing Systems 1, 1975, section 3.7";
    assumes: ["Poisson arrivals", "no waiting places", "any service time: only its mean matters"];
    refuses: "a load above 1, which is that of all transmitters by mistake";
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
        assert!((erlang_b(Load::new(1.0)?, Servers::new(1)?)? - 0.5).abs() < 1e-15);
        assert!((erlang_b(Load::new(0.5)?, Servers::new(2)?)? - 0.2).abs() < 1e-15);
        Ok(())
    }

    #[test]
    fn erlangs_of_all_transmitters_are_refused_with_the_load_of_each() -> Result<(), ParameterError> {
        let refused = erlang_b(Load::new(3.0)?, Servers::new(5)?).map_err(|error| error.to_string());
        assert!(refused.as_ref().is_err_and(|error| error.contains("3 erlangs on 5 transmitters are `load=0.6`")), "{refused:?}");
        // Printed tables: B(5, 3 erlangs) = 0.1101.
        assert!((erlang_b(Load::new(0.6)?, Servers::new(5)?)? - 0.1101).abs() < 5e-5);
        Ok(())
    }

    #[test]
    fn ten_erlangs_on_twenty_transmitters_match_printed_tables() -> Result<(), ParameterError> {
        assert!((erlang_b(Load::new(0.5)?, Servers::new(20)?)? - 0.00187).abs() < 5e-6);
        Ok(())
    }
}
