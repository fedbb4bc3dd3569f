//! Random numbers of one replication: fast, and identical on every platform.
//!
//! A simulation draws about ten billion of them in sequence and needs no random access. The counter-based streams of the engine,
//! which provide it, cost several times as much. This module therefore uses xoshiro256++ (Blackman and Vigna, "Scrambled linear
//! pseudorandom number generators", ACM TOMS 47(4), 2021), and the ziggurat method for exponential times (Marsaglia and Tsang,
//! "The ziggurat method for generating random variables", Journal of Statistical Software 5(8), 2000).

use std::sync::LazyLock;

/// The draws of one replication.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
    ziggurat: &'static Ziggurat,
}

impl Random {
    /// Replication `index` of a simulation. Different pairs of seed and index never share a state, because mixing is one to one.
    pub fn new(seed: u64, index: u64) -> Random {
        let (seed, index) = (mixed(seed.wrapping_add(WEYL)), mixed(index.wrapping_add(WEYL.wrapping_mul(2))));
        let state = [seed, index, mixed(seed ^ index.rotate_left(32)), mixed(seed.wrapping_add(index))];
        let mut random = Random { state, ziggurat: &ZIGGURAT };
        // The indices differ in few bits: let the differences spread through the state.
        for _ in 0..32 {
            random.bits();
        }
        random
    }

    #[inline(always)]
    fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in [0, 1), 53 bits.
    #[inline(always)]
    pub fn uniform(&mut self) -> f64 {
        unit(self.bits())
    }

    /// Exponential with mean 1.
    #[inline(always)]
    pub fn exponential(&mut self) -> f64 {
        let bits = self.bits();
        // Layer and position within it come from different bits.
        let layer = (bits & 0xff) as usize;
        let x = unit(bits) * self.ziggurat.edge[layer];
        if x < self.ziggurat.edge[layer + 1] { x } else { self.exponential_at_the_edge(layer, x) }
    }

    #[cold]
    fn exponential_at_the_edge(&mut self, layer: usize, x: f64) -> f64 {
        if layer == 0 {
            // The tail is the same distribution, shifted.
            return TAIL + self.exponential();
        }
        let (below, above) = (self.ziggurat.height[layer], self.ziggurat.height[layer + 1]);
        let height = below + (above - below) * self.uniform();
        if height < libm::exp(-x) { x } else { self.exponential() }
    }
}

/// The top 53 bits as a number in [0, 1).
#[inline(always)]
fn unit(bits: u64) -> f64 {
    (bits >> 11) as i64 as f64 * (1.0 / (1u64 << 53) as f64)
}

const WEYL: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): one to one.
fn mixed(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// Layers of equal area under exp(-x).
#[derive(Debug)]
struct Ziggurat {
    /// Right edges, falling to 0; the edge of the base layer is widened to include the tail.
    edge: [f64; LAYERS + 1],
    /// exp(-edge); for the base layer at the start of the tail.
    height: [f64; LAYERS + 1],
}

const LAYERS: usize = 256;
/// Start of the tail, and area of each layer (Marsaglia and Tsang, table for 256 layers).
const TAIL: f64 = 7.697_117_470_131_05;
const AREA: f64 = 0.003_949_659_822_581_557;

static ZIGGURAT: LazyLock<Ziggurat> = LazyLock::new(|| {
    let (mut edge, mut height) = ([0.0; LAYERS + 1], [1.0; LAYERS + 1]);
    (edge[0], height[0]) = (AREA / libm::exp(-TAIL), 0.0);
    (edge[1], height[1]) = (TAIL, libm::exp(-TAIL));
    for layer in 2..LAYERS {
        height[layer] = height[layer - 1] + AREA / edge[layer - 1];
        edge[layer] = -libm::log(height[layer]);
    }
    Ziggurat { edge, height }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layers_close_at_the_top() {
        // The last layer extends from its height to 1 with the same area as all others.
        let area = ZIGGURAT.edge[LAYERS - 1] * (1.0 - ZIGGURAT.height[LAYERS - 1]);
        assert!((area / AREA - 1.0).abs() < 1e-9, "{area}");
    }

    #[test]
    fn tail_probabilities_are_exponential() {
        let mut random = Random::new(1, 0);
        let n = 4_000_000;
        let points = [0.001, 0.01, 0.06, 0.3, 1.0, 2.5, 5.0, 7.5, 7.8, 10.0, 12.0];
        let mut above = [0u32; 11];
        let mut sum = 0.0;
        for _ in 0..n {
            let x = random.exponential();
            sum += x;
            for (count, point) in above.iter_mut().zip(points) {
                *count += u32::from(x > point);
            }
        }
        let error = |share: f64| (share * (1.0 - share) / f64::from(n)).sqrt();
        for (count, point) in above.into_iter().zip(points) {
            let (seen, expected) = (f64::from(count) / f64::from(n), libm::exp(-point));
            assert!((seen - expected).abs() < 4.0 * error(expected), "beyond {point}: {seen} for {expected}");
        }
        assert!((sum / f64::from(n) - 1.0).abs() < 4.0 / f64::from(n).sqrt());
    }

    #[test]
    fn replications_and_seeds_are_uncorrelated() {
        // Correlation of neighbouring streams over 100,000 draws, in standard errors.
        for (other_seed, other_index) in [(1, 1), (2, 0), (0, 1)] {
            let (mut one, mut other) = (Random::new(1, 0), Random::new(other_seed, other_index));
            let n = 100_000;
            let product: f64 = (0..n).map(|_| (one.uniform() - 0.5) * (other.uniform() - 0.5)).sum();
            assert!((product / f64::from(n) * 12.0 * f64::from(n).sqrt()).abs() < 4.0, "{other_seed} {other_index}");
        }
    }

    #[test]
    fn draws_are_pinned_because_results_depend_on_them() {
        let mut random = Random::new(1, 2);
        let drawn = [random.bits(), random.bits(), random.bits()];
        assert_eq!(drawn, [449_060_024_332_971_278, 7_313_986_043_204_787_802, 14_721_531_686_533_425_457]);
    }
}
