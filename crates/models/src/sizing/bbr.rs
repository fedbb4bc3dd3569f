//! The data that BBR keeps in flight.

use super::{Bottleneck, BufferSize};
use crate::model::models;
use crate::parameter::{ParameterError, Positive};

/// `cwnd_gain`: the largest amount of data in flight, in estimated bandwidth-delay products.
const CWND_GAIN: f64 = 2.0;

models! {
    /// Buffer that holds the queue of BBR flows without loss: two bandwidth-delay products in flight, of which the path holds one.
    pub fn bbr_buffer(bottleneck: Bottleneck, mean_rtt_s: Positive) -> Result<BufferSize, ParameterError> {
        BufferSize::of((CWND_GAIN - 1.0) * bottleneck.packets_per_s() * mean_rtt_s.get())
    }
    quantity: "queue of BBR";
    equation: "(cwnd_gain - 1) C RTT_mean, cwnd_gain = 2";
    source: "Cardwell, Cheng, Gunn, Yeganeh and Jacobson, BBR: Congestion-Based Congestion Control, ACM Queue 14(5), 2016";
    assumes: ["every flow has a correct estimate of its share of the rate", "all flows are BBR: others would fill the buffer"];
    idea: "holds all data that BBR may have in flight beyond the path, so that nothing is lost";
    example: ">>> tb.models.bbr_buffer(rate_bps=100e6, packet_bytes=1500, mean_rtt_s=0.048).buffer\n400";
}
