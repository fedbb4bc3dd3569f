//! The interface of clients in user code.

use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::user_code::{Fault, TryClone};

/// Why a client is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// The flow starts.
    Start,
    /// The response of this number is delivered.
    Response(u32),
    /// A time has come for which the client asked.
    Timer,
}

/// A decision of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAction {
    /// Write a request after this wait, and have this response.
    Request { wait: TimeDelta, request: Bytes, response: Bytes },
    /// Call the client after this wait, above 0.
    Wake(TimeDelta),
}

/// The client of one flow, from user code.
pub trait UserApplication: Send + Sync {
    /// The decisions of the client now.
    ///
    /// # Errors
    /// Errors of the user code.
    fn act(&mut self, occasion: Occasion, now: Time) -> Result<Vec<ClientAction>, Fault>;

    /// An independent copy of the client with its state.
    ///
    /// # Errors
    /// The reason why it cannot be copied.
    fn copy(&self) -> Result<Box<dyn UserApplication>, Fault>;
}

impl TryClone for dyn UserApplication {
    fn try_clone(&self) -> Result<Box<Self>, Fault> {
        self.copy()
    }
}
