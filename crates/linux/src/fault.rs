//! A fault of a kernel, or of the machine that runs it.

use std::fmt;

/// A text without the end of the console, which [`crate::machine::Machine`] adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault(pub(crate) String);

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A fault with this text.
pub(crate) fn fault<T>(text: impl Into<String>) -> Result<T, Fault> {
    Err(Fault(text.into()))
}
