//! What one TCP flow can carry, and when its losses cost a timeout.

mod cubic;
mod fast_retransmit;
mod mathis;
mod padhye;
mod single_flow;
mod slow_start;
mod window_limited;

pub use cubic::*;
pub use fast_retransmit::{Condition, FastRetransmit, fast_retransmit};
pub use mathis::*;
pub use padhye::*;
pub use single_flow::*;
pub use slow_start::*;
pub use window_limited::*;

use crate::model::Model;

pub(crate) const MODELS: &[&[Model]] =
    &[single_flow::MODELS, mathis::MODELS, cubic::MODELS, padhye::MODELS, slow_start::MODELS, window_limited::MODELS];
