//! Creation of user-code objects for an engine.

use crate::congestion::{Start, Subscriptions, UserController};
use crate::primitives::random::Draws;
use crate::queue::UserPolicy;
use crate::traffic::{UserApplication, UserSource};
use crate::user_code::{FailureSignal, Fault, NOT_PROVIDED, UserCode, UserObject, fault};

/// Creates the user-code object of each flow or port that needs one.
pub trait Code {
    /// The optional signals that controllers of this code request ([`Controller::subscriptions`](crate::congestion::Controller::subscriptions)).
    /// Called once per group.
    fn subscriptions(&self, _code: &UserCode) -> Subscriptions {
        Subscriptions::default()
    }

    /// The congestion controller of a flow.
    ///
    /// # Errors
    /// The reason why it cannot be created.
    fn controller(&self, code: &UserCode, start: Start) -> Result<Box<dyn UserController>, Fault>;

    /// The policy of a port.
    ///
    /// # Errors
    /// The reason why it cannot be created.
    fn policy(&self, code: &UserCode, draws: Draws) -> Result<Box<dyn UserPolicy>, Fault>;

    /// The source of a flow.
    ///
    /// # Errors
    /// The reason why it cannot be created.
    fn source(&self, code: &UserCode, draws: Draws) -> Result<Box<dyn UserSource>, Fault>;

    /// The client of a flow.
    ///
    /// # Errors
    /// The reason why it cannot be created.
    fn application(&self, _code: &UserCode, _draws: Draws) -> Result<Box<dyn UserApplication>, Fault> {
        Err(fault(NOT_PROVIDED))
    }
}

/// For networks that run without user code.
pub(crate) struct NoUserCode;

impl Code for NoUserCode {
    fn controller(&self, _: &UserCode, _: Start) -> Result<Box<dyn UserController>, Fault> {
        Err(fault(NOT_PROVIDED))
    }

    fn policy(&self, _: &UserCode, _: Draws) -> Result<Box<dyn UserPolicy>, Fault> {
        Err(fault(NOT_PROVIDED))
    }

    fn source(&self, _: &UserCode, _: Draws) -> Result<Box<dyn UserSource>, Fault> {
        Err(fault(NOT_PROVIDED))
    }
}

/// The [`Code`] of an engine under construction, and its alarm.
pub(crate) struct UserCodeFactory<'a> {
    pub(crate) code: &'a dyn Code,
    pub(crate) alarm: FailureSignal,
}

impl UserCodeFactory<'_> {
    /// Create one object. After the first failure no more objects are created, because a million flows would fail alike.
    pub(crate) fn make<T: ?Sized>(
        &self,
        code: &UserCode,
        make: impl FnOnce(&dyn Code) -> Result<Box<T>, Fault>,
    ) -> UserObject<T> {
        let made = if self.alarm.raised() == 0 { make(self.code) } else { Err(fault("not created, because other code failed")) };
        UserObject::new(code, made, &self.alarm)
    }
}
