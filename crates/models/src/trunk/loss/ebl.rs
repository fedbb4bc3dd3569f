//! EBL: Engset with a buffer and lengths. Not from the thesis: a closed form for packets that keep their lengths.
//!
//! **Recurrence.** With u = 1/rho - 1, each waiting place changes the loss from P to P' with 1/P' = (1 + s u) / P + s, that is
//! 1/P' + 1/u = (1/P + 1/u) (1 + s u). For s = 1 this is exactly M/M/K/(K+B). In general s is the one parameter that satisfies
//! three limits at once:
//!
//! - light load: P falls by 1 / (1 + s u) per place;
//! - load 1: P tends to 1 / (s B), the loss of a diffusion of variance 2/s per packet between two barriers;
//! - overload: P tends to 1 - 1/rho for any s.
//!
//! **Limit of many places.** s = (M / (M - K))^2. A link that receives adds work to the trunk at the rate at which one channel
//! serves it, so that work is a fluid from M on-off sources. A backlog for which K channels need the time t has probability
//! exp(-z K t) with z = (1 + lambda) (1 - rho) / (1 - K/M) (Anick, Mitra and Sondhi, Bell System Technical Journal 61(8), 1982).
//! During the backlog the packets behind it wait, and each arrival takes one more place. The most likely t balances the two: a
//! place costs the logarithm h at which packets weighted with e^h each grow as fast as backlogs fall, M G(h) = z K, where
//! e^h = (1 + G) (lambda + G) / lambda for a link that is idle for 1/lambda and receives for 1. With lambda from (3.14) this is
//! e^h = 1 + u (M / (M - K))^2. At load 1 the diffusion has the same s, because the work of on-off sources has the variance
//! 2 (1 - K/M)^2.
//!
//! **First places.** Before any packet has waited only the busy links are known to receive, which gives Engset's s = M / (M - K).
//! From there s approaches its limit as 1 - exp(-j/L) in the j-th place; see [`MEMORY`] for L.
//!
//! **Without places.** Links that discard are counted in the states in which they discard: see [`bufferless`].

use super::loss_model::{Chain, LossModel};
use crate::trunk::Trunk;
use crate::trunk::chain::InverseLoss;

pub const EBL: LossModel = LossModel {
    name: "ebl",
    title: "EBL",
    help: "Tailback's own, Engset with a buffer and lengths: packets are sent in the time of their reception, and links discard while the trunk \
           is full; three of its constants are fitted to simulations",
    source: "docs/evidence/trunk_accuracy.md",
    knows_inputs: true,
    chain: Chain::Of(ln_loss),
};

/// L = 1 / (a + b (1 - rho)) + c K (1 - rho) places, with 1 - rho taken as 0 in overload: [a, b, c]. The second term is the
/// growth of the queue, on its way to overflow, during the time in which links forget; the first is its remainder with one
/// channel. The form is not derived, and the numbers are fitted to the simulated losses of five trunks (M, K = 2, 1; 4, 1; 16, 2;
/// 16, 8; 80, 20) with 1 to 40 places at loads from 0.3 to 1.15. docs/evidence/trunk_accuracy.md gives the accuracy elsewhere.
const MEMORY: [f64; 3] = [0.11, 1.2, 0.7];

/// Logarithm of the loss, for more input links than channels and a load above 0.
fn ln_loss(trunk: &Trunk, load: f64) -> f64 {
    let (inputs, transmitters) = (f64::from(trunk.inputs), f64::from(trunk.transmitters));
    let spare = (1.0 - load) / load;
    let engset = inputs / (inputs - transmitters);
    let [constant, slope, growth] = MEMORY;
    let below = (1.0 - load).max(0.0);
    let forgets = libm::exp(-1.0 / (1.0 / (constant + slope * below) + growth * transmitters * below));

    let mut chain = bufferless(trunk, load);
    let mut fresh = 1.0;
    for place in 0..trunk.buffer {
        fresh *= forgets;
        let slowing = engset * (1.0 + (1.0 - fresh) * transmitters / (inputs - transmitters));
        if slowing * spare <= -1.0 {
            // At this overload one place suffices.
            return libm::log1p(-1.0 / load);
        }
        if fresh < f64::EPSILON {
            return -chain.ln_extended_evenly(slowing * spare, slowing, trunk.buffer - place);
        }
        chain.extend_by(1.0 + slowing * spare, slowing);
    }
    -chain.ln()
}

/// The chain of a trunk without a buffer, in which packets that find all channels busy keep their links discarding.
///
/// Closure: while i channels are busy, each link that is not busy discards with the same probability q(i), independently of the
/// others. Such a link stops at rate 1, and the others move the trunk to i - 1 and i + 1, so that q(i) + i (q(i) - q(i-1)) =
/// lambda (M - i - 1) (1 - q(i)) (q(i+1) - q(i)), and q(K) + K (q(K) - q(K-1)) = lambda (1 - q(K)). The arrival rate in state i
/// is lambda (M - i) (1 - q(i)). Compared with the exact chain for few links, the loss is within 1 % for M >= 2 K up to load 1,
/// where (3.5), which distributes the discarding links over all states, is off by up to 10 %. Near the load at which input links
/// are never idle it is too high by up to 6 % (M = 2, K = 1) or 9 % (20, 16): it exceeds its limit, 1 - K/M, and returns to it,
/// so that it falls above 0.95 of that load.
fn bufferless(trunk: &Trunk, load: f64) -> InverseLoss {
    let (inputs, channels) = (f64::from(trunk.inputs), trunk.transmitters as usize);
    let carried = load * f64::from(trunk.transmitters);
    let lambda = carried / (inputs - carried);
    let discarding = discarding_shares(inputs, channels, lambda);
    let mut chain = InverseLoss::of_one_state();
    for (busy, share) in discarding.iter().enumerate().skip(1) {
        let busy = busy as f64;
        chain.extend(busy / (lambda * (inputs - busy) * (1.0 - share)));
    }
    chain
}

/// q(0..=K), by Newton's method from above; each step is one elimination of the tridiagonal equations.
fn discarding_shares(inputs: f64, channels: usize, lambda: f64) -> Vec<f64> {
    let mut shares = vec![lambda / (1.0 + lambda); channels + 1];
    let (mut ahead, mut step) = (vec![0.0; channels + 1], vec![0.0; channels + 1]);
    // Five to ten steps suffice. The limit guards against rounding errors that prevent convergence.
    for _ in 0..50 {
        let (mut ahead_below, mut step_below, mut share_below) = (0.0, 0.0, 0.0);
        for busy in 0..=channels {
            let (count, share) = (busy as f64, shares[busy]);
            let up = lambda * (inputs - count - 1.0);
            let (missing, own, next) = match shares.get(busy + 1) {
                Some(above) => (up * (1.0 - share) * (above - share), up * (1.0 + above - 2.0 * share), up * (1.0 - share)),
                None => (lambda * (1.0 - share), lambda, 0.0),
            };
            let error = missing - share - count * (share - share_below);
            let pivot = 1.0 + count + own - count * ahead_below;
            (ahead[busy], step[busy]) = (next / pivot, (error + count * step_below) / pivot);
            (ahead_below, step_below, share_below) = (ahead[busy], step[busy], share);
        }
        let (mut change, mut largest) = (0.0, 0.0);
        for busy in (0..=channels).rev() {
            change = step[busy] + ahead[busy] * change;
            shares[busy] = f64::max(shares[busy] + change, 0.0);
            largest = f64::max(largest, change.abs());
        }
        if largest <= f64::EPSILON * shares[channels] {
            break;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;
    use crate::trunk::{MMKKB, TrunkVariant, exact};

    fn loss((inputs, transmitters, buffer): (u64, u64, u64), load: f64) -> Result<f64, ParameterError> {
        EBL.ln_loss(&Trunk::new(inputs, transmitters, buffer)?, load).map(libm::exp)
    }

    #[test]
    fn two_links_and_one_channel_without_a_buffer() -> Result<(), ParameterError> {
        // Load 1, lambda 1: q0 = (1 - q0) (q1 - q0) and 3 q1 = 1 + q0 give 2 q0^2 - 6 q0 + 1 = 0, and
        // 1/P = 1 + 1 / (1 - q1) = sqrt 7. The exact chain loses 3/8.
        assert!((loss((2, 1, 0), 1.0)? - 1.0 / 7f64.sqrt()).abs() < 1e-15);
        Ok(())
    }

    #[test]
    fn without_a_buffer_it_is_within_a_percent_of_the_exact_chain() -> Result<(), ParameterError> {
        for (inputs, transmitters) in [(2, 1), (4, 1), (4, 2), (16, 2), (16, 8), (40, 4)] {
            for load in [0.1, 0.5, 0.9, 1.0] {
                let trunk = Trunk::new(inputs, transmitters, 0)?;
                let exact = libm::exp(exact::solved(&trunk, load, TrunkVariant::Fresh)?);
                let error = loss((inputs, transmitters, 0), load)? / exact - 1.0;
                assert!(error.abs() < 0.01, "{trunk:?} at {load}: {error}");
            }
        }
        Ok(())
    }

    #[test]
    fn one_place_by_hand() -> Result<(), ParameterError> {
        // As above with a place: at load 1 it adds s = 2 (1 + 1 - exp(-0.11)) to 1/P.
        let expected = 1.0 / (7f64.sqrt() + 2.0 * (2.0 - libm::exp(-MEMORY[0])));
        assert!((loss((2, 1, 1), 1.0)? - expected).abs() < 1e-15);
        Ok(())
    }

    #[test]
    fn many_links_are_a_poisson_process() -> Result<(), ParameterError> {
        for (transmitters, buffer) in [(1, 0), (1, 10), (5, 3), (5, 100)] {
            for load in [0.3, 0.9, 1.0, 1.2] {
                let trunk = Trunk::new(1_000_000, transmitters, buffer)?;
                let [ebl, poisson] = [&EBL, &MMKKB].map(|model| model.ln_loss(&trunk, load));
                let (ebl, poisson) = (ebl?, poisson?);
                assert!((ebl - poisson).abs() < 2e-5 * (buffer as f64 + 10.0), "{trunk:?} at {load}: {ebl} {poisson}");
            }
        }
        Ok(())
    }

    #[test]
    fn the_three_limits_hold() -> Result<(), ParameterError> {
        // s = (4/3)^2 for four links and one channel.
        let slowing = 16.0 / 9.0;
        let ln = |buffer, load| EBL.ln_loss(&Trunk::new(4, 1, buffer)?, load);
        let per_place = (ln(1100, 0.5)? - ln(1000, 0.5)?) / 100.0;
        assert!((per_place + f64::ln(1.0 + slowing)).abs() < 1e-12, "{per_place}");
        let at_one = libm::exp(ln(1_000_000, 1.0)?) * 1e6 * slowing;
        assert!((at_one - 1.0).abs() < 1e-4, "{at_one}");
        for (load, buffer) in [(1.5, 100), (3.9, 2), (3.9, 1_000_000_000)] {
            let overload = libm::exp(ln(buffer, load)?);
            assert!((overload - (1.0 - 1.0 / load)).abs() < 1e-4, "{load}: {overload}");
        }
        Ok(())
    }

    #[test]
    fn loss_grows_with_the_load_up_to_nearly_its_maximum_and_falls_with_the_buffer() -> Result<(), ParameterError> {
        for (inputs, transmitters) in [(4, 1), (16, 2), (20, 16), (2000, 1000)] {
            for buffer in [0, 1, 7, 300] {
                let max_load = inputs as f64 / transmitters as f64;
                let losses = (1..190).map(|step| loss((inputs, transmitters, buffer), max_load * f64::from(step) / 200.0));
                let losses = losses.collect::<Result<Vec<_>, _>>()?;
                assert!(losses.windows(2).all(|pair| pair[1] >= pair[0]), "{inputs} {transmitters} {buffer}: {losses:?}");
            }
        }
        for load in [0.4, 1.0, 1.2] {
            let losses = [0, 1, 2, 5, 30, 200, 10_000].map(|buffer| loss((16, 2, buffer), load));
            let losses = losses.into_iter().collect::<Result<Vec<_>, _>>()?;
            assert!(losses.windows(2).all(|pair| pair[1] <= pair[0]), "{losses:?}");
        }
        Ok(())
    }
}
