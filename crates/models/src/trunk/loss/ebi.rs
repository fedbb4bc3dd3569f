//! EBI, Engset with buffer and inserting: input links that discard are counted as idle.

use super::engset::{self, ReceivingInputs};
use super::loss_model::{Chain, LossModel};

pub const EBI: LossModel = LossModel {
    name: "ebi",
    title: "EBI",
    help: "Engset with a buffer and inserting: input links that discard are counted as idle",
    source: "cui-thesis, section 3.6.2",
    knows_inputs: true,
    chain: Chain::Of(|trunk, load| engset::ln_loss(trunk, load, ReceivingInputs { discarding: 0.0, inserting: true })),
};
