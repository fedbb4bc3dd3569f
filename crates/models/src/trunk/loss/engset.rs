//! Engset with a buffer: only input links that are not receiving generate arrivals, in the four variants of section 3.6.

use crate::trunk::Trunk;
use crate::trunk::chain::InverseLoss;

/// Input links that the chain counts as receiving, in addition to the busy ones.
#[derive(Clone, Copy)]
pub(super) struct ReceivingInputs {
    /// Fraction of packets that keep their link discarding for their length, P_B of (3.5).
    pub discarding: f64,
    /// Whether (3.8) counts links whose packets are being stored.
    pub inserting: bool,
}

/// Logarithm of the loss by (3.13), for more input links than channels and a load above 0.
///
/// State i of the chain is the number of packets in the trunk. For packets of mean length 1 and the mean gap of an idle link by
/// (3.14) and (3.5), its rates are (3.6) and (3.9): departures min(i, K); arrivals (M - i) / gap up to K, and above K (M - min(i,
/// M)) / gap + (min(i, M) - K) / (gap + alpha(i)), with alpha = 0 where inserting links count as idle.
pub(super) fn ln_loss(trunk: &Trunk, load: f64, ports: ReceivingInputs) -> f64 {
    let (inputs, transmitters) = (f64::from(trunk.inputs), f64::from(trunk.transmitters));
    let gap = (inputs - load * transmitters) / (load * transmitters) + ports.discarding;
    // Departures per arrival at K, less 1, in a form without cancellation near 1.
    let excess = (inputs * (1.0 - load) / load + transmitters * ports.discarding) / (inputs - transmitters);

    let mut chain = InverseLoss::of_one_state();
    for packets in 1..=trunk.transmitters {
        let packets = f64::from(packets);
        chain.extend(packets * gap / (inputs - packets));
    }
    if !ports.inserting {
        return -chain.ln_extended_evenly(excess, 1.0, trunk.buffer);
    }

    let span = trunk.transmitters.max(trunk.buffer);
    let last = trunk.transmitters + trunk.buffer;
    for packets in trunk.transmitters + 1..=last.min(trunk.inputs) {
        let slowed = gap + alpha(trunk, span, packets);
        let waiting = f64::from(packets) - transmitters;
        let arrivals = (inputs - f64::from(packets)) / gap + waiting / slowed;
        chain.extend(transmitters / arrivals);
    }
    if last <= trunk.inputs {
        return -chain.ln();
    }
    // Every link has a packet in the trunk now: departures per arrival are K (gap + alpha(i)) / (M - K), linear in the state.
    let slope = transmitters / ((inputs - transmitters) * f64::from(span));
    let first = f64::from(span) * gap + f64::from(span - trunk.buffer);
    -chain_with_linear_ratios(&chain, LinearDepartures { slope, first, states: last - trunk.inputs })
}

/// (3.10): the fraction of the links with a packet above the K-th in the trunk that are still receiving it.
fn alpha(trunk: &Trunk, span: u32, packets: u32) -> f64 {
    1.0 - f64::from(packets - trunk.transmitters) / f64::from(span)
}

/// States whose departures per arrival fall linearly: `slope * (first + j)` in the j-th from the top, j from 0.
#[derive(Clone, Copy)]
struct LinearDepartures {
    slope: f64,
    first: f64,
    states: u32,
}

impl LinearDepartures {
    fn ratio(self, from_top: u32) -> f64 {
        self.slope * (self.first + f64::from(from_top))
    }

    /// Logarithm of the product of all ratios.
    fn ln_product(self) -> f64 {
        // Stirling's series is accurate to the last bit from this value; smaller factors are multiplied one by one.
        const LARGE: f64 = 30.0;
        let by_hand = (LARGE - self.first).clamp(0.0, f64::from(self.states)).ceil() as u32;
        let small: f64 = (0..by_hand.min(self.states)).map(|from_top| libm::log(self.ratio(from_top))).sum();
        let (start, count) = (self.first + f64::from(by_hand), f64::from(self.states.saturating_sub(by_hand)));
        if count == 0.0 {
            return small;
        }
        // ln Gamma(start + count) - ln Gamma(start) + count ln slope, rearranged to avoid cancellation.
        let end = start + count;
        let correction = |x: f64| (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * x * x)) / (x * x)) / (x * x)) / x;
        let large = count * libm::log(self.slope * end) + (start - 0.5) * libm::log1p(count / start) - count;
        small + large + correction(end) - correction(start)
    }
}

/// Logarithm of 1 / P after the states of `ratios` have been added to `chain`.
///
/// 1 / P is the sum of t(j), the product of the topmost j ratios, over all j below their number, plus the product of all ratios
/// times the 1 / P of `chain`. The ratios rise from the top down, so that ln t(j) is convex: between two ends no term exceeds the
/// larger end. The sum proceeds from both ends inwards, always at the larger one, and stops when the remaining terms cannot
/// change the last bit. That takes a few thousand terms out of a million.
fn chain_with_linear_ratios(chain: &InverseLoss, ratios: LinearDepartures) -> f64 {
    const NEGLIGIBLE: f64 = 1e-17;
    let ln_product = ratios.ln_product();
    let ln_below = ln_product + chain.ln();
    // Terms are relative to the largest known one: the topmost, which is 1, or the contribution of the states below.
    let scale = ln_below.max(0.0);
    let (mut top, mut bottom) = (libm::exp(-scale), libm::exp(ln_product - scale));
    let mut total = libm::exp(ln_below - scale);
    let (mut from_top, mut end) = (0, ratios.states);
    bottom /= ratios.ratio(end - 1);
    while from_top < end {
        let left = f64::from(end - from_top);
        if top.max(bottom) * left < NEGLIGIBLE * total {
            break;
        }
        if top >= bottom {
            total += top;
            top *= ratios.ratio(from_top);
            from_top += 1;
        } else {
            total += bottom;
            end -= 1;
            if end > from_top {
                bottom /= ratios.ratio(end - 1);
            }
        }
    }
    scale + libm::log(total)
}
