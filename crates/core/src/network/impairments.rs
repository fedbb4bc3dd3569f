//! Impairments of a link: loss, jitter, duplication, and a limit of the packet size.

use super::Delay;
use crate::primitives::units::Bytes;
use crate::settings::{PlainWords, words};
use serde::{Deserialize, Serialize};

/// Impairments of a link; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Impairments {
    /// Location of random losses, of both [`Port::random_loss`](super::Port::random_loss) and `bursts`.
    pub loss_at: LossAt,
    pub bursts: Option<GilbertElliott>,
    pub jitter: Option<Jitter>,
    /// Probability that a packet which is not lost is duplicated, 0 to 1.
    pub duplication: f64,
    /// Largest packet that the link carries; larger ones are discarded on arrival. `None`: no limit.
    pub mtu: Option<Bytes>,
}

words! {
    /// Where a link loses packets.
    pub enum LossAt ("place of losses") {
        /// After the queue: a lost packet has been queued and has used transmission time.
        Wire = "wire",
        /// Before the queue: a lost packet never reaches it.
        BeforeQueue = "before_queue",
    }
}

impl Default for LossAt {
    fn default() -> LossAt {
        LossAt::ALL[0]
    }
}

/// Losses in bursts: a two-state Markov chain with one transition per packet. Each state has its own loss probability.
///
/// Source: E. N. Gilbert, "Capacity of a burst-noise channel", BSTJ 39(5), 1960, without loss in the good state; E. O. Elliott, "Estimates
/// of error rates for codes on burst-noise channels", BSTJ 42(5), 1963, with loss. `p` and `r` are their symbols. Their `k` and `h`, the
/// probabilities of no loss in the good and in the bad state, are `1 - loss_in_good` and `1 - loss_in_bad`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GilbertElliott {
    /// Transition probability from the good state to the bad one.
    pub p: f64,
    /// Transition probability from the bad state to the good one.
    pub r: f64,
    pub loss_in_good: f64,
    pub loss_in_bad: f64,
}

impl GilbertElliott {
    /// Stationary probability of the bad state. The chain starts in the bad state with this probability.
    pub fn share_of_bad(&self) -> f64 {
        // A chain without transitions stays in its initial state, the good one.
        if self.p == 0.0 { 0.0 } else { self.p / (self.p + self.r) }
    }

    /// Mean loss probability.
    pub fn mean_loss(&self) -> f64 {
        let bad = self.share_of_bad();
        bad * self.loss_in_bad + (1.0 - bad) * self.loss_in_good
    }
}

/// A random addition to the delay of a link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Jitter {
    pub delay: Delay,
    /// Whether a packet may overtake earlier ones. If not, it waits behind the previous packet.
    pub reordering: bool,
}

impl Impairments {
    /// Whether packets may arrive closer together than they left the queue, in another order, or more than once.
    pub fn disturbs_arrivals(&self) -> bool {
        self.jitter.is_some() || self.duplication > 0.0
    }

    pub fn reorders(&self) -> bool {
        self.jitter.is_some_and(|jitter| jitter.reordering)
    }
}
