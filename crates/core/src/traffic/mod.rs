//! Traffic without a transport. Greedy and finite transfers are a TCP flow's `size`; here are the sources that theory needs.

mod source;
mod spec;
mod user;

pub(crate) use source::Source;
pub use spec::*;
pub use user::{Next, UserSource};
