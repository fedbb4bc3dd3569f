//! Ten to twenty packets, whatever the network.

use super::BufferSize;
use crate::model::models;

models! {
    /// Ten to twenty packets, whatever the network.
    pub fn beheshti_buffer() -> BufferSize {
        BufferSize { buffer: 10, unrounded: 10.0, max_buffer: Some(20), switch: None }
    }
    quantity: "ten to twenty packets";
    equation: "10 to 20";
    source: "Beheshti, Ganjali, Rajaduray, Blumenthal and McKeown, Buffer Sizing in All-optical Packet Switches, OFC 2006";
    assumes: [
        "packets arrive smoothly: paced, or from access links far slower than the bottleneck",
        "some loss of utilisation is acceptable: the rule guarantees none",
    ];
    idea: "absorbs the bursts that remain in smooth traffic, from experience";
}
