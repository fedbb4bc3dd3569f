//! Utilisation and mean queue of one TCP flow as functions of the buffer: the arithmetic behind "a bandwidth-delay product of
//! buffer".
//!
//! The model is a fluid sawtooth. The window w grows by one packet per round trip and is halved when the buffer overflows; slow
//! start, timeouts and the pause of fast recovery are not modelled. Let P be the bandwidth-delay product in packets, T the empty
//! round trip and C = P / T the rate. The peak is the capacity of link and buffer, W = (1 + b) P, and the trough W / 2.
//!
//! * While w < P the queue is empty and the round trip T. dw/dt = 1 / T and packets leave at w / T:
//!   time T (P - W/2), packets (P^2 - W^2/4) / 2.
//! * While w > P the link is full and the round trip w / C. dw/dt = C / w:
//!   packets (W^2 - P^2) / 2, and the time is that over C.
//!
//! Together these are 3 W^2 / 8 packets, in a time in which the link could carry P (P - W/2) + (W^2 - P^2) / 2. With W = (1 + b)
//! P this gives the utilisation below. At b = 1 the trough equals P and the link never idles; more buffer only adds delay.
//!
//! While w > P the queue is w - P, and dt = w dw / C. The mean queue is the integral of (w - P) w / C from max(P, W/2) to W, over
//! the duration of a tooth.

use crate::model::models;
use crate::parameter::NonNegative;

const SOURCE: &str = "Villamizar and Song, High Performance TCP in ANSNET, CCR 24(5), 1994; the sawtooth of Appenzeller, Keslassy and \
                      McKeown, Sizing Router Buffers, SIGCOMM 2004, section 2; derived in docs/evidence/theory.md";
const ASSUMES: [&str; 3] = ["a fluid sawtooth", "no slow start", "no timeout"];

models! {
    /// Utilisation of a link that carries one greedy Reno-like flow, 0.75 to 1.
    pub fn single_flow_utilisation(
        /// b, waiting places of a drop-tail port over rate times two-way propagation delay.
        buffer_over_bdp: NonNegative,
    ) -> f64 {
        let buffer = buffer_over_bdp.get().min(1.0);
        0.75 * (1.0 + buffer) * (1.0 + buffer) / (1.0 + buffer + buffer * buffer)
    }
    quantity: "utilisation by one flow over its buffer";
    equation: "(3/4) (1 + b)^2 / (1 + b + b^2) for b <= 1, and 1 above";
    source: SOURCE;
    assumes: ASSUMES;
    returns: "Utilisation, 0.75 to 1.";
    example: ">>> tb.models.single_flow_utilisation([0, 1]).tolist()\n[0.75, 1.0]";

    /// Mean queue of the sawtooth of `single_flow_utilisation`.
    pub fn single_flow_mean_queue(
        /// b, waiting places of a drop-tail port over rate times two-way propagation delay.
        buffer_over_bdp: NonNegative,
    ) -> f64 {
        let buffer = buffer_over_bdp.get();
        let peak = 1.0 + buffer;
        if buffer > 1.0 {
            return 7.0 * peak / 9.0 - 1.0;
        }
        // W^3 - 1 and W^2 - 1 as polynomials in b, to avoid cancellation.
        let (square, cube) = (buffer * (2.0 + buffer), buffer * (3.0 + buffer * (3.0 + buffer)));
        (cube / 3.0 - square / 2.0) / (0.5 * (1.0 - buffer) + square / 2.0)
    }
    quantity: "mean queue of one flow";
    equation: "((W^3 - 1) / 3 - (W^2 - 1) / 2) / (1 - W/2 + (W^2 - 1) / 2) with W = 1 + b for b <= 1, and 7 W / 9 - 1 above";
    source: SOURCE;
    assumes: ASSUMES;
    returns: "Bandwidth-delay products.";
    example: ">>> round(tb.models.single_flow_mean_queue(1), 4)\n0.5556";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    fn utilisation(buffer: f64) -> Result<f64, ParameterError> {
        Ok(single_flow_utilisation(NonNegative::new("buffer_over_bdp", buffer)?))
    }

    #[test]
    fn utilisation_is_three_quarters_without_buffer_and_full_from_one_product() -> Result<(), ParameterError> {
        assert_eq!(utilisation(0.0)?, 0.75);
        assert!((utilisation(1.0)? - 1.0).abs() < 1e-15);
        assert_eq!(utilisation(1.0)?, utilisation(1e300)?);
        Ok(())
    }

    #[test]
    fn half_a_product_gives_27_of_28() -> Result<(), ParameterError> {
        // (3/4) (9/4) / (7/4) = 27/28.
        assert!((utilisation(0.5)? - 27.0 / 28.0).abs() < 1e-15);
        Ok(())
    }

    fn mean_queue(buffer: f64) -> Result<f64, ParameterError> {
        Ok(single_flow_mean_queue(NonNegative::new("buffer_over_bdp", buffer)?))
    }

    #[test]
    fn the_mean_queue_is_zero_without_buffer_and_five_ninths_at_one_product() -> Result<(), ParameterError> {
        // W = 2: (7/3 - 3/2) / (3/2) = 5/9, and 7 * 2 / 9 - 1.
        assert_eq!(mean_queue(0.0)?, 0.0);
        assert!((mean_queue(1.0)? - 5.0 / 9.0).abs() < 1e-15);
        assert!((mean_queue(1.0 + 1e-12)? - 5.0 / 9.0).abs() < 1e-11);
        Ok(())
    }

    #[test]
    fn the_mean_queue_matches_a_sawtooth_stepped_round_by_round() -> Result<(), ParameterError> {
        let product = 10_000u64;
        for quarters in 0..=8 {
            let peak = product + product * quarters / 4;
            // Rounds of max(w, P) packet times, with w - P packets in the queue.
            let (held, time) = (peak / 2..peak).fold((0u128, 0u128), |(held, time), window| {
                let round = window.max(product);
                (held + u128::from((round - product) * round), time + u128::from(round))
            });
            let stepped = held as f64 / time as f64 / product as f64;
            assert!((mean_queue(quarters as f64 / 4.0)? - stepped).abs() < 1e-3, "{quarters} quarters: {stepped}");
        }
        Ok(())
    }

    #[test]
    fn the_utilisation_matches_a_sawtooth_stepped_round_by_round() -> Result<(), ParameterError> {
        // A window of w packets has a round trip of max(w, P) packet times; P = 10,000 keeps steps small relative to the window.
        let product = 10_000u64;
        for quarters in 0..=4 {
            let peak = product + product * quarters / 4;
            let (sent, room) = (peak / 2..peak).fold((0, 0), |(sent, room), window| (sent + window, room + window.max(product)));
            let stepped = sent as f64 / room as f64;
            assert!((utilisation(quarters as f64 / 4.0)? - stepped).abs() < 1e-4, "{quarters} quarters");
        }
        Ok(())
    }
}
