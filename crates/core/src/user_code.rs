//! User code: user-supplied controllers, policies, sources and applications.
//!
//! A network names such code and stores its parameters ([`UserCode`]). The caller supplies a [`Code`](crate::Code), which creates the
//! objects. Their interfaces are defined next to those of the built-in parts. An object that has failed is not called again, and the run
//! stops after the event in which it failed. Built-in parts have no cost for any of this: an engine without user code runs the unmodified
//! loop.

use crate::primitives::units::Time;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// User code named by a network, and its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserCode {
    /// Without the `user:` of a scenario.
    pub name: String,
    /// A JSON object.
    pub parameters: String,
    /// The place in the scenario that names it.
    pub at: String,
}

/// The error of user code, as reported by the caller's implementation.
pub type Fault = Arc<dyn Error + Send + Sync>;

/// A failure of user code. The run has stopped, and its results are not usable.
#[derive(Clone, Debug)]
pub struct Failure {
    pub code: UserCode,
    /// Time of the failure.
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

/// Why there is no object if the caller supplies no code.
pub(crate) const NOT_PROVIDED: &str = "user code is supported only in Python and with `tailback run FILE --code CODE.py`";

/// An error that the core itself detects.
pub(crate) fn fault(text: impl Into<String>) -> Fault {
    Arc::from(Box::<dyn Error + Send + Sync>::from(text.into()))
}

/// Signals to an engine that some code has failed. Clones of an engine share it, so each checks whether the failure is its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct FailureSignal(Arc<AtomicU64>);

impl FailureSignal {
    fn raise(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of failures.
    pub(crate) fn raised(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// State that an engine can copy.
pub(crate) trait TryClone {
    fn try_clone(&self) -> Result<Box<Self>, Fault>;
}

/// One object of user code, and its error once it has failed.
pub(crate) struct UserObject<T: ?Sized> {
    code: Arc<UserCode>,
    object: Result<Box<T>, Fault>,
    alarm: FailureSignal,
}

impl<T: ?Sized> UserObject<T> {
    /// Raises the alarm if the object could not be created.
    pub(crate) fn new(code: &UserCode, object: Result<Box<T>, Fault>, alarm: &FailureSignal) -> UserObject<T> {
        if object.is_err() {
            alarm.raise();
        }
        UserObject { code: Arc::new(code.clone()), object, alarm: alarm.clone() }
    }

    /// An instance without an object, because no code was supplied.
    pub(crate) fn absent(code: &UserCode) -> UserObject<T> {
        UserObject { code: Arc::new(code.clone()), object: Err(fault(NOT_PROVIDED)), alarm: FailureSignal::default() }
    }

    /// The result of the call, or `None` if the object fails or has failed.
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

    /// The failure, if there is one. `time` is reported as its time.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        let fault = self.object.as_ref().err()?.clone();
        Some(Failure { code: (*self.code).clone(), time, fault })
    }

    /// Error message: only plain data can be serialised.
    pub(crate) fn not_serialisable(&self) -> String {
        let UserCode { name, at, .. } = &*self.code;
        format!("{at}: `user:{name}` is code and cannot be serialised; a copy of the engine in memory serves as a snapshot")
    }
}

impl<T: ?Sized + TryClone> Clone for UserObject<T> {
    /// A copy that cannot be created counts as failed from the start.
    fn clone(&self) -> UserObject<T> {
        let object = match &self.object {
            Ok(object) => object.try_clone(),
            Err(fault) => Err(fault.clone()),
        };
        if object.is_err() {
            self.alarm.raise();
        }
        UserObject { code: self.code.clone(), object, alarm: self.alarm.clone() }
    }
}

impl<T: ?Sized> fmt::Debug for UserObject<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "user:{}", self.code.name)
    }
}

/// Serialisation of states that contain an [`UserObject`]: both directions fail with an explanation.
macro_rules! only_in_memory {
    ($state:ty) => {
        impl serde::Serialize for $state {
            fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                Err(serde::ser::Error::custom(self.instance().not_serialisable()))
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
