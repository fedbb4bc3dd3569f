//! Congestion controllers, one file each, behind one interface. They own the window; loss recovery tells them what happened.

mod fixed;
mod reno;

use crate::base::units::{Span, Time};
use fixed::Fixed;
use reno::Reno;
use serde::{Deserialize, Serialize};

/// New data was acknowledged outside loss recovery.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub now: Time,
    /// Segments that left the network with this acknowledgement.
    pub acked: u32,
    /// A round-trip sample, where this acknowledgement gave one.
    pub rtt: Option<Span>,
    /// Segments sent and not yet acknowledged, before this acknowledgement.
    pub in_flight: u32,
    /// The window, not the receiver or the application, held the sender back.
    pub window_limited: bool,
}

/// Loss recovery found congestion.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    pub now: Time,
    /// Segments outstanding when it was found: RFC 5681's FlightSize.
    pub in_flight: u32,
    /// A timeout of a segment that had timed out before: the threshold stays (RFC 5681 section 3.1).
    pub repeated: bool,
}

/// The control law of one flow. It hears what loss recovery concluded, never how.
pub trait Controller {
    /// Congestion window in segments.
    fn window(&self) -> f64;
    /// Slow-start threshold in segments; infinite where the law has none.
    fn ssthresh(&self) -> f64;
    fn on_ack(&mut self, ack: &Ack);
    /// Once per episode.
    fn on_congestion(&mut self, seen: &Congestion);
    fn on_timeout(&mut self, seen: &Congestion);
    /// Loss recovery is over and may not release more than this many segments at once (RFC 6582 section 3.2 step 3).
    fn limit_window(&mut self, segments: f64);
}

/// The settings with which a controller starts.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Segments.
    pub window: f64,
    /// Segments.
    pub ssthresh: f64,
}

/// Names, states and dispatch, from one list: a new controller is its file and one line here. Controllers of one kind lie in one
/// array, so that the loop knows their type once per group.
macro_rules! controllers {
    ($($name:literal => $variant:ident),+ $(,)?) => {
        /// Names as a scenario writes them.
        pub const CONTROLLER_NAMES: &[&str] = &[$($name),+];

        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum ControllerKind { $($variant),+ }

        impl ControllerKind {
            pub fn from_name(name: &str) -> Option<ControllerKind> {
                match name { $($name => Some(ControllerKind::$variant),)+ _ => None }
            }

            pub fn name(self) -> &'static str {
                match self { $(ControllerKind::$variant => $name),+ }
            }
        }

        /// The controller of one flow.
        #[derive(Clone, Copy, Debug, Serialize, Deserialize)]
        pub(crate) enum Controllers { $($variant($variant)),+ }

        impl Controllers {
            pub(crate) fn new(kind: ControllerKind, start: Start) -> Controllers {
                match kind { $(ControllerKind::$variant => Controllers::$variant($variant::new(start))),+ }
            }
        }

        impl Controller for Controllers {
            #[inline]
            fn window(&self) -> f64 {
                match self { $(Controllers::$variant(law) => law.window()),+ }
            }
            #[inline]
            fn ssthresh(&self) -> f64 {
                match self { $(Controllers::$variant(law) => law.ssthresh()),+ }
            }
            #[inline]
            fn on_ack(&mut self, ack: &Ack) {
                match self { $(Controllers::$variant(law) => law.on_ack(ack)),+ }
            }
            fn on_congestion(&mut self, seen: &Congestion) {
                match self { $(Controllers::$variant(law) => law.on_congestion(seen)),+ }
            }
            fn on_timeout(&mut self, seen: &Congestion) {
                match self { $(Controllers::$variant(law) => law.on_timeout(seen)),+ }
            }
            fn limit_window(&mut self, segments: f64) {
                match self { $(Controllers::$variant(law) => law.limit_window(segments)),+ }
            }
        }
    };
}

controllers! {
    "reno" => Reno,
    "fixed" => Fixed,
}
