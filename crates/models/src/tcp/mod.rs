//! The rate of one TCP flow, and the losses that lead to a timeout.

mod cubic;
mod fast_retransmit;
mod mathis;
mod padhye;
mod random_loss;
mod single_flow;
mod slow_start;
mod window_limited;

pub use fast_retransmit::{Condition, FastRetransmit, fast_retransmit};
pub use random_loss::{LossRepair, LossyFlow, LossyRate, lossy_rate};

use crate::model::family;

family! { single_flow, mathis, cubic, padhye, slow_start, window_limited }
