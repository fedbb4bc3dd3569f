//! Where the objects of user code are made, as an engine is.

use crate::congestion::{AskedFor, Start, UserController};
use crate::primitives::random::Draws;
use crate::queue::UserPolicy;
use crate::traffic::UserSource;
use crate::user_code::{Alarm, Fault, Instance, NOT_BROUGHT, UserCode, fault};

/// Brings user code along: makes the object of each flow or port that asks for one.
pub trait Code {
    /// What laws of this code ask for beside what all hear ([`Controller::asks_for`](crate::congestion::Controller::asks_for)). Asked once a group.
    fn asks_for(&self, _code: &UserCode) -> AskedFor {
        AskedFor::default()
    }

    /// The control law of a flow.
    ///
    /// # Errors
    /// What keeps it from being made.
    fn controller(&self, code: &UserCode, start: Start) -> Result<Box<dyn UserController>, Fault>;

    /// The policy of a port.
    ///
    /// # Errors
    /// What keeps it from being made.
    fn policy(&self, code: &UserCode, draws: Draws) -> Result<Box<dyn UserPolicy>, Fault>;

    /// The source of a flow.
    ///
    /// # Errors
    /// What keeps it from being made.
    fn source(&self, code: &UserCode, draws: Draws) -> Result<Box<dyn UserSource>, Fault>;
}

/// For a network whose user code nobody has brought along.
pub(crate) struct NoCode;

impl Code for NoCode {
    fn controller(&self, _: &UserCode, _: Start) -> Result<Box<dyn UserController>, Fault> {
        Err(fault(NOT_BROUGHT))
    }

    fn policy(&self, _: &UserCode, _: Draws) -> Result<Box<dyn UserPolicy>, Fault> {
        Err(fault(NOT_BROUGHT))
    }

    fn source(&self, _: &UserCode, _: Draws) -> Result<Box<dyn UserSource>, Fault> {
        Err(fault(NOT_BROUGHT))
    }
}

/// The [`Code`] of one engine while it is made, and its alarm.
pub(crate) struct Workshop<'a> {
    pub(crate) code: &'a dyn Code,
    pub(crate) alarm: Alarm,
}

impl Workshop<'_> {
    /// One object. After a first failure none is made any more: of a million flows all would fail alike.
    pub(crate) fn make<T: ?Sized>(&self, code: &UserCode, make: impl FnOnce(&dyn Code) -> Result<Box<T>, Fault>) -> Instance<T> {
        let made = if self.alarm.raised() == 0 { make(self.code) } else { Err(fault("not created, because other code failed")) };
        Instance::new(code, made, &self.alarm)
    }
}
