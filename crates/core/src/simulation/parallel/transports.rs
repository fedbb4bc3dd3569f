//! Transports outside the engine, in a divided run.

use crate::primitives::units::Time;
use crate::simulation::state::Engine;
use std::ops::ControlFlow;

/// Transports at the ends of external flows. They inject datagrams into the engine of the first domain and read the fates of these there.
pub trait Transports {
    /// Lets the engine handle all events before `time`, with all actions of the transports before then. An action at one instant takes
    /// effect at the next: the engine must have handled the events up to and including the first. [`ControlFlow::Break`] stops the run soon
    /// after; no other domain has then handled an event after the latest action.
    fn run_until(&mut self, engine: &mut Engine, time: Time) -> ControlFlow<()>;

    /// The run has been advanced to `time`. If this is its end, transports may act at that instant, too.
    fn reach(&mut self, engine: &mut Engine, time: Time);

    /// The time of the next action that is not caused by an event of the engine; [`Time::NEVER`] if there is none.
    fn next_time(&mut self) -> Time;

    /// Actions until now, which count as events where a run is interrupted after a number of events.
    fn actions(&self) -> u64;
}

/// The engine runs alone.
#[derive(Clone, Copy, Debug)]
pub struct NoTransports;

impl Transports for NoTransports {
    fn run_until(&mut self, engine: &mut Engine, time: Time) -> ControlFlow<()> {
        engine.advance_with_arrivals(time);
        ControlFlow::Continue(())
    }

    fn reach(&mut self, _engine: &mut Engine, _time: Time) {}

    fn next_time(&mut self) -> Time {
        Time::NEVER
    }

    fn actions(&self) -> u64 {
        0
    }
}
