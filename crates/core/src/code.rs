//! User code: control laws, policies and sources that the core does not know.
//!
//! A network names such code and keeps its parameters ([`UserCode`]); whoever runs it brings a [`Code`] along, which makes the objects.
//! An object that fails once is not called again, and the run stops behind the event that it was called in. Built-in parts pay
//! nothing for any of this: an engine without user code runs the same loop as before.

use crate::base::random::Draws;
use crate::base::units::Time;
use crate::congestion::{Start, UserController, Wants};
use crate::queue::UserPolicy;
use crate::traffic::UserSource;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Code that a network names, and what it is to be made with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserCode {
    /// Without the `user:` of a scenario.
    pub name: String,
    /// A JSON object.
    pub parameters: String,
    /// Where the scenario names it.
    pub at: String,
}

/// Why user code failed, in the words of whoever brought it along.
pub type Fault = Arc<dyn Error + Send + Sync>;

/// Brings user code along: makes the object of each flow or port that asks for one.
pub trait Code {
    /// What laws of this code want beside what all hear ([`Controller::wants`](crate::congestion::Controller::wants)). Asked once a group.
    fn wants(&self, _code: &UserCode) -> Wants {
        Wants::default()
    }

    /// The control law of a flow. `packet` is a full segment with its headers, bytes on the wire.
    ///
    /// # Errors
    /// What keeps it from being made.
    fn controller(&self, code: &UserCode, start: Start, packet: u32, draws: Draws) -> Result<Box<dyn UserController>, Fault>;

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

/// User code that failed: the run has stopped there, and its results are of no use.
#[derive(Clone, Debug)]
pub struct Failure {
    pub code: UserCode,
    /// When.
    pub time: Time,
    pub fault: Fault,
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (UserCode { name, at, .. }, seconds) = (&self.code, self.time.seconds());
        write!(out, "{at}: `user:{name}` failed at {seconds} s of simulated time: {}", self.fault)
    }
}

impl Error for Failure {}

/// For a network whose user code nobody has brought along.
pub(crate) struct NoCode;

impl Code for NoCode {
    fn controller(&self, _: &UserCode, _: Start, _: u32, _: Draws) -> Result<Box<dyn UserController>, Fault> {
        Err(fault(NOWHERE))
    }

    fn policy(&self, _: &UserCode, _: Draws) -> Result<Box<dyn UserPolicy>, Fault> {
        Err(fault(NOWHERE))
    }

    fn source(&self, _: &UserCode, _: Draws) -> Result<Box<dyn UserSource>, Fault> {
        Err(fault(NOWHERE))
    }
}

const NOWHERE: &str = "user code does not run here; it does in Python, and with `tailback run FILE --code CODE.py`";

/// A fault that the core itself finds.
pub(crate) fn fault(text: impl Into<String>) -> Fault {
    Arc::from(Box::<dyn Error + Send + Sync>::from(text.into()))
}

/// Tells an engine that some code failed. Clones of an engine share it: who hears of a failure looks whether it is one of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alarm(Arc<AtomicU64>);

impl Alarm {
    fn raise(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How often it was raised.
    pub(crate) fn raised(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
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
        let made = if self.alarm.raised() == 0 { make(self.code) } else { Err(fault("not made, because other code failed")) };
        if made.is_err() {
            self.alarm.raise();
        }
        Instance { code: Arc::new(code.clone()), object: made, alarm: self.alarm.clone() }
    }
}

/// What an engine may be asked to copy.
pub(crate) trait Copies {
    fn copied(&self) -> Result<Box<Self>, Fault>;
}

/// One object of user code, until it fails.
pub(crate) struct Instance<T: ?Sized> {
    code: Arc<UserCode>,
    object: Result<Box<T>, Fault>,
    alarm: Alarm,
}

impl<T: ?Sized> Instance<T> {
    /// One that never was.
    pub(crate) fn absent(code: &UserCode) -> Instance<T> {
        Instance { code: Arc::new(code.clone()), object: Err(fault(NOWHERE)), alarm: Alarm::default() }
    }

    /// What the object answers; nothing if it fails, or has failed.
    pub(crate) fn call<R>(&mut self, call: impl FnOnce(&mut T) -> Result<R, Fault>) -> Option<R> {
        match call(self.object.as_mut().ok()?) {
            Ok(answer) => Some(answer),
            Err(fault) => {
                self.object = Err(fault);
                self.alarm.raise();
                None
            }
        }
    }

    pub(crate) fn object(&self) -> Option<&T> {
        self.object.as_deref().ok()
    }

    /// What came of it, if it failed before or at `time`.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        let fault = self.object.as_ref().err()?.clone();
        Some(Failure { code: (*self.code).clone(), time, fault })
    }

    /// Only data can be written down.
    pub(crate) fn cannot_be_written(&self) -> String {
        let UserCode { name, at, .. } = &*self.code;
        format!("{at}: `user:{name}` is code and cannot be written down; a copy of the engine in memory is a snapshot")
    }
}

impl<T: ?Sized + Copies> Clone for Instance<T> {
    /// A copy that cannot be made has failed at once.
    fn clone(&self) -> Instance<T> {
        let object = match &self.object {
            Ok(object) => object.copied(),
            Err(fault) => Err(fault.clone()),
        };
        if object.is_err() {
            self.alarm.raise();
        }
        Instance { code: self.code.clone(), object, alarm: self.alarm.clone() }
    }
}

impl<T: ?Sized> fmt::Debug for Instance<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "user:{}", self.code.name)
    }
}

/// Writing and reading of states that hold an [`Instance`]: neither is possible, and the writing says why.
macro_rules! only_in_memory {
    ($state:ty) => {
        impl serde::Serialize for $state {
            fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                Err(serde::ser::Error::custom(self.instance().cannot_be_written()))
            }
        }

        impl<'de> serde::Deserialize<'de> for $state {
            fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
                Err(serde::de::Error::custom("user code cannot be read from a snapshot"))
            }
        }
    };
}

pub(crate) use only_in_memory;
