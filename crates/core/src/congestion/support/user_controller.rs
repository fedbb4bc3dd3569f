//! User-defined controllers. The window is read after each event, so that the rest of the core only reads numbers.

use super::abilities::Abilities;
use super::controller::{Controller, Start};
use super::events::{Ack, Congestion, Lost, RoundTrip};
use crate::primitives::units::{Cwnd, Rate, Segments, Time, TimeDelta};
use crate::user_code::{Fault, TryClone, UserCode, UserObject, fault, only_in_memory};

/// Output of a controller after an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// Window in segments, at least one.
    pub window: f64,
    /// Slow-start threshold in segments, at least one; infinite if the algorithm has none.
    pub ssthresh: f64,
    /// See [`Controller::pacing`].
    pub pacing: Option<Rate>,
    /// See [`Controller::release`].
    pub release: Option<Segments>,
}

/// [`Controller`] for user code. Each event returns the resulting output.
pub trait UserController: Send + Sync {
    /// The output before any event.
    ///
    /// # Errors Here and below: errors of the user code.
    fn control(&mut self) -> Result<Control, Fault>;
    /// See [`Controller::on_ack`].
    ///
    /// # Errors
    fn on_ack(&mut self, ack: &Ack) -> Result<Control, Fault>;
    /// See [`Controller::on_other_ack`].
    ///
    /// # Errors
    fn on_other_ack(&mut self, ack: &Ack) -> Result<Control, Fault>;
    /// See [`Controller::on_round_trip`].
    ///
    /// # Errors
    fn on_round_trip(&mut self, measured: &RoundTrip) -> Result<Control, Fault>;
    /// See [`Controller::on_one_way_delay`].
    ///
    /// # Errors
    fn on_one_way_delay(&mut self, delay: TimeDelta, now: Time) -> Result<Control, Fault>;
    /// See [`Controller::on_lost`].
    ///
    /// # Errors
    fn on_lost(&mut self, _lost: &Lost) -> Result<Control, Fault> {
        self.control()
    }
    /// See [`Controller::on_congestion`].
    ///
    /// # Errors
    fn on_congestion(&mut self, seen: &Congestion) -> Result<Control, Fault>;
    /// See [`Controller::on_timeout`].
    ///
    /// # Errors
    fn on_timeout(&mut self, seen: &Congestion) -> Result<Control, Fault>;
    /// See [`Controller::limit_window`].
    ///
    /// # Errors
    fn limit_window(&mut self, max: Cwnd) -> Result<Control, Fault>;
    /// An independent copy of the controller with its state.
    ///
    /// # Errors The reason why it cannot be copied.
    fn copy(&self) -> Result<Box<dyn UserController>, Fault>;
}

impl TryClone for dyn UserController {
    fn try_clone(&self) -> Result<Box<Self>, Fault> {
        self.copy()
    }
}

#[derive(Clone, Debug)]
#[repr(C)]
pub struct User {
    window: f64,
    state: Box<UserState>,
}

#[derive(Clone, Debug)]
struct UserState {
    ssthresh: f64,
    pacing: Option<Rate>,
    release: Option<Segments>,
    law: UserObject<dyn UserController>,
}

impl User {
    /// A controller whose user code is not loaded.
    pub(in crate::congestion) fn new(code: &UserCode, start: Start) -> User {
        User::of(UserObject::absent(code), start)
    }

    pub(crate) fn of(law: UserObject<dyn UserController>, start: Start) -> User {
        let mut made = User {
            window: start.window,
            state: Box::new(UserState { ssthresh: start.ssthresh, pacing: None, release: None, law }),
        };
        made.process_ack(|law| law.control());
        made
    }

    pub(crate) fn instance(&self) -> &UserObject<dyn UserController> {
        &self.state.law
    }

    /// Passes an event to the controller and stores its output. After a failure the previous output remains in force.
    fn process_ack(&mut self, callback: impl FnOnce(&mut dyn UserController) -> Result<Control, Fault>) {
        if let Some(control) = self.state.law.call(|law| callback(law).and_then(checked)) {
            self.window = control.window;
            self.state.ssthresh = control.ssthresh;
            self.state.pacing = control.pacing;
            self.state.release = control.release;
        }
    }
}

/// Checks that the sender can use the output.
fn checked(control: Control) -> Result<Control, Fault> {
    let Control { window, ssthresh, pacing, .. } = control;
    match () {
        () if !window.is_finite() || window < 1.0 => {
            Err(fault(format!("the window is {window}; expected a finite number of segments, at least 1")))
        }
        () if ssthresh.is_nan() || ssthresh < 1.0 => {
            Err(fault(format!("the slow-start threshold is {ssthresh}; expected a number of segments, at least 1, or infinity")))
        }
        () if pacing == Some(Rate(0)) => Err(fault("the pacing rate is 0 bit/s; expected at least 1 bit/s, or none")),
        () => Ok(control),
    }
}

impl Controller for User {
    const ABILITIES: Abilities =
        Abilities { heap_bytes: size_of::<UserState>() + 1024, uses_start_details: true, may_pace: true, ..Abilities::NONE };

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    fn ssthresh(&self) -> Cwnd {
        Cwnd(self.state.ssthresh)
    }

    fn pacing(&self) -> Option<Rate> {
        self.state.pacing
    }

    fn release(&self) -> Option<Segments> {
        self.state.release
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.process_ack(|law| law.on_ack(ack));
    }

    fn on_other_ack(&mut self, ack: &Ack) {
        self.process_ack(|law| law.on_other_ack(ack));
    }

    fn on_round_trip(&mut self, measured: &RoundTrip) {
        self.process_ack(|law| law.on_round_trip(measured));
    }

    fn on_one_way_delay(&mut self, delay: TimeDelta, now: Time) {
        self.process_ack(|law| law.on_one_way_delay(delay, now));
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.process_ack(|law| law.on_lost(lost));
    }

    fn on_congestion(&mut self, seen: &Congestion) {
        self.process_ack(|law| law.on_congestion(seen));
    }

    fn on_timeout(&mut self, seen: &Congestion) {
        self.process_ack(|law| law.on_timeout(seen));
    }

    fn limit_window(&mut self, max: Cwnd) {
        self.process_ack(|law| law.limit_window(max));
    }
}

only_in_memory!(User);
