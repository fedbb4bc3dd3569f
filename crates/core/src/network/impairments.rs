//! What a link does to packets beside carrying them.

use super::Delay;
use crate::settings::{PlainWords, words};
use serde::{Deserialize, Serialize};

/// What a link does to packets beside carrying them; nothing, by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Impairments {
    /// Where the packets are lost that chance takes: those of [`Port::random_loss`](super::Port::random_loss) and those of
    /// `bursts`.
    pub loss_at: LossAt,
    pub bursts: Option<GilbertElliott>,
    pub jitter: Option<Jitter>,
    /// Probability that a packet which the wire does not lose arrives twice, 0 to 1.
    pub duplication: f64,
}

words! {
    /// Where a link loses packets.
    pub enum LossAt ("place of losses") {
        /// Behind the queue: a lost packet has waited, and has taken its time on the link.
        Wire = "wire",
        /// Before the queue: it never gets there.
        BeforeQueue = "before_queue",
    }
}

impl Default for LossAt {
    fn default() -> LossAt {
        LossAt::ALL[0]
    }
}

/// Losses in bursts: a Markov chain of two states that moves once a packet, each with a probability of loss of its own.
///
/// Source: E. N. Gilbert, "Capacity of a burst-noise channel", BSTJ 39(5), 1960, with no loss in the good state; E. O. Elliott,
/// "Estimates of error rates for codes on burst-noise channels", BSTJ 42(5), 1963, with some. `p` and `r` are theirs; their `k`
/// and `h`, the probabilities that nothing is lost in the good state and in the bad one, are `1 - loss_in_good` and
/// `1 - loss_in_bad`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GilbertElliott {
    /// From the good state to the bad one.
    pub p: f64,
    /// From the bad state to the good one.
    pub r: f64,
    pub loss_in_good: f64,
    pub loss_in_bad: f64,
}

impl GilbertElliott {
    /// The share of packets that meet the bad state, and the probability that the first does.
    pub fn share_of_bad(&self) -> f64 {
        // A chain that never moves stays where it begins, in the good state.
        if self.p == 0.0 { 0.0 } else { self.p / (self.p + self.r) }
    }

    /// The share of packets that are lost.
    pub fn mean_loss(&self) -> f64 {
        let bad = self.share_of_bad();
        bad * self.loss_in_bad + (1.0 - bad) * self.loss_in_good
    }
}

/// A random addition to a link's delay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Jitter {
    pub delay: Delay,
    /// Whether a packet may overtake those before it. If not, it waits behind the one before.
    pub reordering: bool,
}

impl Impairments {
    /// Whether what leaves the queue may arrive closer together than it left, in another order, or more than once.
    pub fn disturbs_arrivals(&self) -> bool {
        self.jitter.is_some() || self.duplication > 0.0
    }

    pub fn reorders(&self) -> bool {
        self.jitter.is_some_and(|jitter| jitter.reordering)
    }
}
