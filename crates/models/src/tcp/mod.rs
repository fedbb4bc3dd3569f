//! What one TCP flow can carry, and when its losses cost a timeout.

mod fast_retransmit;
mod mathis;
mod padhye;
mod single_flow;
mod slow_start;
mod window_limited;

pub use fast_retransmit::{Condition, FastRetransmit, fast_retransmit};
pub use mathis::{Mathis, mathis_rate};
pub use padhye::{Padhye, padhye_goodput, padhye_rate};
pub use single_flow::{single_flow_mean_queue, single_flow_utilisation};
pub use slow_start::{SlowStart, Transfer, slow_start};
pub use window_limited::{WindowLimited, window_limited_rate};
