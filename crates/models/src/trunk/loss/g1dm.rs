//! G1DM, the general one-dimensional model, (3.5) to (3.12): busy, inserting and discarding input links take no new packet.

use super::engset::{self, ReceivingInputs};
use super::loss_model::{Chain, LossModel};

pub const G1DM: LossModel = LossModel {
    name: "g1dm",
    title: "G1DM",
    help: "the general one-dimensional model: busy, inserting and discarding input links take no new packet",
    source: "cui-thesis, section 3.6.2",
    knows_inputs: true,
    chain: Chain::OfDiscarding(|trunk, load, discarding| {
        engset::ln_loss(trunk, load, ReceivingInputs { discarding, inserting: true })
    }),
};
