//! One CUBIC flow, or flows that all reduce their windows at once, whatever their number.
//!
//! The model is a fluid. Let P be the bandwidth-delay product in packets, T the empty round trip and W = (1 + b) P the window at
//! which the buffer overflows; a loss reduces the window to beta W. By fast convergence (RFC 9438, section 4.7), which one flow
//! triggers in every second cycle, the plateau of the cubic curve alternates between W and m W, m = (1 + beta) / 2. With
//! s = (t - K) / K the window is W (1 + (1 - beta) s^3) from s = -1 to 0 in one cycle and W (m + (1 - m) s^3) from s = -1 to 1 in the
//! other; K^3 is (1 - beta) W / C and (m - beta) W / C. A cycle in which Reno-friendly growth by alpha = 3 (1 - beta) / (1 + beta) packets
//! per round trip is faster follows that instead. Slow start, timeouts and the pause of fast recovery are not modelled.
//!
//! * By the curve, the window reaches P at s*. Until then packets leave at w / T, and at P / T afterwards: the utilisation of the cycle
//!   is the integral of min(w / P, 1) over s.
//! * By Reno-friendly growth, as in `single_flow_utilisation` with beta and alpha: (1 - beta^2) W^2 / (2 alpha) packets, in a time in
//!   which the link could carry (P (P - beta W) + (W^2 - P^2) / 2) / alpha.

use super::{Bottleneck, BufferSize};
use crate::model::models;
use crate::parameter::{NonNegative, ParameterError, Positive, Utilisation};
use crate::root::root;

/// C in packets per s^3, and the decrease factor (RFC 9438, sections 4.6 and 5.1).
const C: f64 = 0.4;
const BETA: f64 = 0.7;
/// Reno-friendly growth in packets per round trip (RFC 9438, section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// The buffer, in bandwidth-delay products, that holds the whole reduction.
const FULL: f64 = (1.0 - BETA) / BETA;

const EQUATION: &str = "b C_link RTT_mean, where U is the mean of min(w, P) / P over two cycles from beta W to W = (1 + b) P: by the cubic \
                        curve with a plateau at W, and with one at (1 + beta) W / 2 by fast convergence, or by Reno-friendly growth if \
                        that is faster; U = 1 from b = (1 - beta) / beta";
const SOURCE: &str = "RFC 9438, sections 4.2 to 4.7; the sawtooth of Appenzeller, Keslassy and McKeown, SIGCOMM 2004, section 2";
const ASSUMES: [&str; 3] = [
    "one CUBIC flow, or flows that all lose and reduce their windows together",
    "a bandwidth-delay product of many packets: a fluid",
    "no timeouts, and no slow start except the initial one",
];

models! {
    /// Buffer for one CUBIC flow, or for any number of synchronised ones: the inverse of `cubic_utilisation`.
    pub fn cubic_buffer(
        bottleneck: Bottleneck,
        mean_rtt_s: Positive,
        utilisation: Utilisation,
    ) -> Result<BufferSize, ParameterError> {
        let product = bottleneck.packets_per_s() * mean_rtt_s.get();
        let excess = |share: f64| reached(share, product, mean_rtt_s.get()) - utilisation.get();
        if excess(0.0) >= 0.0 {
            return BufferSize::of(0.0);
        }
        BufferSize::of(product * root(excess, 0.0, FULL))
    }
    quantity: "one CUBIC flow, or synchronised ones";
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;
    idea: "absorbs CUBIC's reduction to 0.7 of the window when all flows reduce at once; the link may idle briefly";
    example: ">>> tb.models.cubic_buffer(rate_bps=100e6, packet_bytes=1500, mean_rtt_s=0.1, utilisation=0.98).buffer\n148";

    /// Utilisation, 0.85 to 1, of one CUBIC flow, or of any number of synchronised ones, with `buffer`.
    pub fn cubic_utilisation(bottleneck: Bottleneck, mean_rtt_s: Positive, buffer: NonNegative) -> f64 {
        let product = bottleneck.packets_per_s() * mean_rtt_s.get();
        reached(NonNegative::ratio(buffer, product).get(), product, mean_rtt_s.get())
    }
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;
}

/// The plateau of the curve after fast convergence, as a share of the peak.
const PLATEAU: f64 = 0.5 * (1.0 + BETA);

/// Utilisation with a buffer of `share` bandwidth-delay products of `product` packets over a round trip of `rtt_s`.
fn reached(share: f64, product: f64, rtt_s: f64) -> f64 {
    let peak = 1.0 + share;
    if BETA * peak >= 1.0 {
        return 1.0;
    }
    let room = 2.0 * (1.0 - BETA * peak) + peak * peak - 1.0;
    let line = Growth { time_s: 0.5 * product * rtt_s * room / ALPHA, used: (1.0 - BETA * BETA) * peak * peak / room };
    let cycles = [curve(peak, product, 1.0, 0.0), curve(peak, product, PLATEAU, 1.0)];
    let [one, other] = cycles.map(|curve| if line.time_s < curve.time_s { line } else { curve });
    (one.time_s * one.used + other.time_s * other.used) / (one.time_s + other.time_s)
}

/// The time from beta W to W, and the utilisation meanwhile.
#[derive(Clone, Copy)]
struct Growth {
    time_s: f64,
    used: f64,
}

/// Growth by the cubic curve with this plateau, a share of the peak, from s = -1 to `end`.
fn curve(peak: f64, product: f64, plateau: f64, end: f64) -> Growth {
    let height = plateau - BETA;
    let length_s = libm::cbrt(height * peak * product / C);
    let crossing = libm::cbrt((1.0 / peak - plateau) / height).clamp(-1.0, end);
    let square = crossing * crossing;
    let below = peak * (plateau * (crossing + 1.0) + 0.25 * height * (square * square - 1.0));
    Growth { time_s: length_s * (end + 1.0), used: (below + end - crossing) / (end + 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Servers;
    use crate::sizing::Link;

    fn link(rate_bps: f64) -> Result<Bottleneck, ParameterError> {
        let link = Link { rate_bps: Positive::new("rate_bps", rate_bps)?, packet_bytes: Positive::new("packet_bytes", 1500.0)? };
        Ok(Bottleneck { transmitters: Servers::new(1)?, link })
    }

    #[test]
    fn without_a_buffer_the_curves_keep_37_of_40_and_17_of_20_and_reno_friendly_growth_51_of_60() {
        // Cycles of lengths 1 and 2^(2/3): 1 - 0.3 / 4 and (1 + 0.7) / 2.
        let longer = 2f64.powf(2.0 / 3.0);
        assert!((reached(0.0, 1e4, 1.0) - (0.925 + 0.85 * longer) / (1.0 + longer)).abs() < 1e-12);
        assert!((reached(0.0, 10.0, 0.001) - 51.0 / 60.0).abs() < 1e-12);
        assert_eq!(reached(FULL + 1e-9, 1e4, 1.0), 1.0);
    }

    /// Time and utilisation of one cycle, stepped.
    fn stepped(peak: f64, product: f64, plateau: f64) -> (f64, f64) {
        let length_s = ((plateau - BETA) * peak * product / C).cbrt();
        let (mut time, mut used, step) = (0.0, 0.0, 1e-5 * length_s);
        loop {
            let window = plateau * peak * product + C * (time - length_s).powi(3);
            if time > 0.5 * length_s && window >= peak * product * (1.0 - 1e-12) {
                return (time, used / time);
            }
            used += step * (window / product).min(1.0);
            time += step;
        }
    }

    #[test]
    fn the_utilisation_matches_windows_stepped_through_both_cycles() {
        for share in [0.0, 0.05, 0.2, 0.4] {
            let (peak, product) = (1.0 + share, 10_000.0);
            let ((one_s, one), (other_s, other)) = (stepped(peak, product, 1.0), stepped(peak, product, PLATEAU));
            let expected = (one_s * one + other_s * other) / (one_s + other_s);
            let found = reached(share, product, 0.1);
            assert!((expected - found).abs() < 1e-3, "{share}: stepped {expected}, {found}");
        }
    }

    #[test]
    fn reno_friendly_growth_matches_a_window_stepped_by_packets() {
        let product = 5_000.0;
        for share in [0.0, 0.05, 0.2, 0.4] {
            let peak: f64 = (1.0 + share) * product;
            let (mut line, mut time, mut used) = (BETA * peak, 0.0, 0.0);
            while line < peak {
                let round = (line / product).max(1.0);
                used += line / product;
                time += round;
                line += ALPHA;
            }
            let found = reached(share, product, 1e-5);
            assert!((used / time - found).abs() < 1e-3, "{share}: stepped {}, {found}", used / time);
        }
    }

    #[test]
    fn buffer_and_utilisation_invert_each_other() -> Result<(), ParameterError> {
        let rtt = Positive::new("rtt", 0.1)?;
        for target in [0.9, 0.98, 0.999] {
            let buffer = cubic_buffer(link(1e9)?, rtt, Utilisation::new(target)?)?.unrounded;
            let back = cubic_utilisation(link(1e9)?, rtt, NonNegative::new("buffer", buffer)?);
            assert!((back - target).abs() < 1e-9, "{target}: {back}");
        }
        assert_eq!(cubic_buffer(link(1e9)?, rtt, Utilisation::new(0.8)?)?.buffer, 0);
        Ok(())
    }
}
