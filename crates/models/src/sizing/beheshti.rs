//! Ten to twenty packets, whatever the network.

use super::Rule;

pub const BEHESHTI: Rule = Rule {
    name: "beheshti",
    idea: "holds what is left of bursts in smooth traffic, by experience",
    equation: "10 to 20",
    source: "Beheshti, Ganjali, Rajaduray, Blumenthal and McKeown, Buffer Sizing in All-optical Packet Switches, OFC 2006",
    assumes: &[
        "packets come smoothly: paced, or from access links far slower than the bottleneck",
        "some utilisation may be lost: no promise of one",
    ],
};

/// Fewest and most packets that the authors have in mind.
pub fn beheshti_buffer() -> (f64, f64) {
    (10.0, 20.0)
}
