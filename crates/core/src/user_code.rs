//! User code: control laws, policies and sources that the core does not know.
//!
//! A network names such code and keeps its parameters ([`UserCode`]); whoever runs it brings a [`Code`](crate::Code) along, which makes the
//! objects. Their interfaces stand beside those of the built-in parts. An object that fails once is not called again, and the run stops
//! after the event that it was called in. Built-in parts pay nothing for any of this: an engine without user code runs the same loop as
//! before.

use crate::primitives::units::Time;
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

/// Why there is no object where nobody has brought the code along.
pub(crate) const NOT_BROUGHT: &str =
    "user code does not run here; it does in Python, and with `tailback run FILE --code CODE.py`";

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
    /// Raises the alarm if the object could not be made.
    pub(crate) fn new(code: &UserCode, object: Result<Box<T>, Fault>, alarm: &Alarm) -> Instance<T> {
        if object.is_err() {
            alarm.raise();
        }
        Instance { code: Arc::new(code.clone()), object, alarm: alarm.clone() }
    }

    /// One that never was.
    pub(crate) fn absent(code: &UserCode) -> Instance<T> {
        Instance { code: Arc::new(code.clone()), object: Err(fault(NOT_BROUGHT)), alarm: Alarm::default() }
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
        format!("{at}: `user:{name}` is code and cannot be serialised; a copy of the engine in memory serves as a snapshot")
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
