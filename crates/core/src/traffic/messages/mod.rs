//! Messages above TCP: data with a beginning and an end, whose delivery is an event for the application. One file per kind, behind one
//! interface: the sizes of the messages of a flow, the times of its writes, and the writes on another flow that follow a delivery.
//!
//! A message begins with a new segment, and its last segment may be short and is sent at once (`MSG_EOR` and `TCP_NODELAY`). The data of
//! one flow travel in one direction, so that a conversation has two flows. Each acknowledges the other's data by packets without data.

mod client;
mod ends;
mod exchange;
mod interface;
mod playback;
mod rules;
mod script;
mod user;
mod video;

pub use client::{ClientAction, Occasion, UserApplication};
pub(crate) use ends::MessageFlow;
pub use exchange::{Exchange, RequestsSpec, ResponsesSpec};
pub(crate) use interface::FollowUp;
pub use playback::Playback;
pub use rules::MessageRules;
pub use script::{ScriptSpec, ScriptedWrite};
pub use user::{UserRequestsSpec, UserResponsesSpec};
pub use video::{Adaptation, VideoSpec};

use crate::primitives::ids::FlowId;
use crate::primitives::units::{Bytes, Time};
use crate::user_code::{UserCode, UserObject};
use exchange::{Requests, Responses};
use interface::{Act, Messages};
use script::Script;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use user::{UserRequests, UserResponses};
use video::Video;

/// Settings and dispatch, generated from one list: a new kind is a file and one line here.
macro_rules! kinds {
    ($($kind:ident($spec:ident),)+) => {
        /// The messages of one flow.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum MessagesSpec { $($kind($spec)),+ }

        #[derive(Clone, Debug, Serialize, Deserialize)]
        enum Kinds { $($kind($kind)),+ }

        impl Kinds {
            fn new(spec: MessagesSpec) -> Kinds {
                match spec { $(MessagesSpec::$kind(spec) => Kinds::$kind($kind::from(spec))),+ }
            }

            fn count(&self) -> u32 {
                match self { $(Kinds::$kind(kind) => kind.count()),+ }
            }

            fn known(&self) -> u32 {
                match self { $(Kinds::$kind(kind) => kind.known()),+ }
            }

            fn size(&self, message: u32) -> Bytes {
                match self { $(Kinds::$kind(kind) => kind.size(message)),+ }
            }

            fn max_size(&self, message: u32) -> Bytes {
                match self { $(Kinds::$kind(kind) => kind.max_size(message)),+ }
            }

            fn first(&mut self, start: Time) -> Vec<Time> {
                match self { $(Kinds::$kind(kind) => kind.first(start)),+ }
            }

            fn act(&mut self, now: Time) -> Act {
                match self { $(Kinds::$kind(kind) => kind.act(now)),+ }
            }

            fn take_announced(&mut self) -> Option<(FlowId, Vec<Bytes>)> {
                match self { $(Kinds::$kind(kind) => kind.take_announced()),+ }
            }

            fn learn(&mut self, sizes: Vec<Bytes>) {
                match self { $(Kinds::$kind(kind) => kind.learn(sizes)),+ }
            }

            fn user(&mut self) -> Option<(&UserCode, &mut UserObject<dyn UserApplication>)> {
                match self { $(Kinds::$kind(kind) => kind.user()),+ }
            }

            fn user_object(&self) -> Option<&UserObject<dyn UserApplication>> {
                match self { $(Kinds::$kind(kind) => kind.user_object()),+ }
            }

            fn after_write(&self, message: u32, start: Time) -> Option<Time> {
                match self { $(Kinds::$kind(kind) => kind.after_write(message, start)),+ }
            }

            fn after_delivery(&mut self, message: u32, time: Time) -> Option<FollowUp> {
                match self { $(Kinds::$kind(kind) => kind.after_delivery(message, time)),+ }
            }

            fn answers_on(&self) -> Vec<FlowId> {
                match self { $(Kinds::$kind(kind) => kind.answers_on()),+ }
            }

            fn requested_on(&self) -> Option<FlowId> {
                match self { $(Kinds::$kind(kind) => kind.requested_on()),+ }
            }

            fn joins_ends(&self) -> bool {
                match self { $(Kinds::$kind(kind) => kind.joins_ends()),+ }
            }

            fn playback(&self, delivered: usize, until: Time) -> Option<Playback> {
                match self { $(Kinds::$kind(kind) => kind.playback(delivered, until)),+ }
            }

            fn is_transfer(&self) -> bool {
                match self { $(Kinds::$kind(kind) => kind.is_transfer()),+ }
            }
        }

        impl MessagesSpec {
            /// Number of messages of the flow.
            pub fn count(&self) -> u32 {
                Kinds::new(self.clone()).count()
            }

            /// The user code that decides about the messages.
            pub(crate) fn user_code(&self) -> Option<&UserCode> {
                if let MessagesSpec::UserRequests(spec) = self { Some(&spec.code) } else { None }
            }

            /// The flow whose messages request those of this flow.
            pub fn requested_on(&self) -> Option<FlowId> {
                Kinds::new(self.clone()).requested_on()
            }

            /// Maximum number of segments of the flow.
            pub(crate) fn max_segments(&self, mss: Bytes) -> u64 {
                let kind = Kinds::new(self.clone());
                (0..kind.count()).map(|message| kind.max_size(message).0.div_ceil(mss.0)).sum()
            }

            /// Times of the writes of a flow in `during`, with the bytes written until then, if nothing else causes writes.
            pub fn writes(&self, during: Range<Time>) -> Vec<(Time, Bytes)> {
                let mut kind = Kinds::new(self.clone());
                let (mut writes, mut written) = (Vec::new(), Bytes(0));
                let mut next = kind.first(during.start).first().copied();
                while let Some(now) = next.filter(|now| during.contains(now)) {
                    let message = writes.len() as u32;
                    written += kind.size(message);
                    writes.push((now, written));
                    next = kind.after_write(message, during.start);
                }
                writes
            }
        }
    };
}

kinds! {
    Script(ScriptSpec),
    Requests(RequestsSpec),
    Responses(ResponsesSpec),
    Video(VideoSpec),
    UserRequests(UserRequestsSpec),
    UserResponses(UserResponsesSpec),
}
