//! Traffic. A TCP flow without an application is greedy or transfers its `size`. This module contains applications that hand over data at
//! their own times, conversations of messages, and datagram sources, which theory requires.

mod application;
mod arrival_process;
mod messages;
mod process;
mod schedule;
mod source;
mod spec;
mod user_source;

pub(crate) use application::Application;
pub use messages::{
    Adaptation, ClientAction, Exchange, MessageRules, MessagesSpec, Occasion, Playback, RequestsSpec, ResponsesSpec, ScriptSpec,
    ScriptedWrite, UserApplication, UserRequestsSpec, UserResponsesSpec, VideoSpec,
};
pub(crate) use messages::{FollowUp, MessageFlow};
pub use process::*;
pub(crate) use schedule::Schedule;
pub(crate) use source::Source;
pub use spec::*;
pub use user_source::{Next, UserSource};
