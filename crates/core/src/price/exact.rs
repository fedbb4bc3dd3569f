//! The price itself, as a number in the header of each packet: what MaxNet, RCP and XCP were designed with, and what schemes are compared with.

use crate::settings::member;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Exact;

member! {
    /// The price itself, as a number in each packet's header.
    Exact = "exact", "cui-thesis section 5.3.2, of MaxNet and RCP";
}
