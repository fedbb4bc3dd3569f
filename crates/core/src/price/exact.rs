//! The price itself, as a number in the header of each packet. MaxNet, RCP and XCP were designed for it, and it is the reference for the
//! other schemes.

use crate::settings::member;

/// The exact scheme.
#[derive(Clone, Copy, Debug)]
pub struct Exact;

member! {
    /// The price itself, as a number in each packet's header.
    Exact = "exact", "cui-thesis section 5.3.2, of MaxNet and RCP";
}
