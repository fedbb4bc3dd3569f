//! EBD, Engset with buffer and discarding: input links that insert are counted as idle.

use super::engset::{self, ReceivingInputs};
use super::loss_model::{Chain, LossModel};

pub const EBD: LossModel = LossModel {
    name: "ebd",
    title: "EBD",
    help: "Engset with a buffer and discarding: input links that insert are counted as idle",
    source: "cui-thesis, section 3.6.2",
    knows_inputs: true,
    chain: Chain::OfDiscarding(|trunk, load, discarding| {
        engset::ln_loss(trunk, load, ReceivingInputs { discarding, inserting: false })
    }),
};
