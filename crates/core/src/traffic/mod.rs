//! What there is to send. A TCP flow without an application is greedy, or transfers its `size`; here are applications that hand over
//! data at their own times, and the sources without a transport that theory needs.

mod application;
mod process;
mod schedule;
mod source;
mod spec;
mod user_source;

pub(crate) use application::Application;
pub use process::*;
pub(crate) use schedule::Schedule;
pub(crate) use source::Source;
pub use spec::*;
pub use user_source::{Next, UserSource};
