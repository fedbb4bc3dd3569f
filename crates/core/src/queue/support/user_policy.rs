//! User-defined policies.

use super::policy::{Departure, Occupancy, PeriodEnd, Policy, Unit, Verdict};
use crate::primitives::signal::Signal;
use crate::primitives::units::{Time, TimeDelta};
use crate::user_code::{Fault, TryClone, UserCode, UserObject, only_in_memory};
use serde::{Deserialize, Serialize};

/// [`Policy`] for user code.
pub trait UserPolicy: Send + Sync {
    /// See [`Policy::on_arrival`]. `flow` numbers the flows (VCs) from 0 in the order of their first units, so per-flow state can be stored
    /// in a list.
    ///
    /// # Errors Here and below: errors of the user code.
    fn on_arrival(&mut self, unit: &Unit, flow: u32, buffer: &Occupancy, now: Time) -> Result<Verdict, Fault>;
    /// See [`Policy::on_departure`].
    ///
    /// # Errors
    fn on_departure(&mut self, unit: &Unit, departure: &Departure) -> Result<Verdict, Fault>;
    /// See [`Policy::on_signal`].
    ///
    /// # Errors
    fn on_signal(&mut self, unit: &Unit, departure: &Departure, signal: &mut Signal) -> Result<(), Fault>;
    /// See [`Policy::period`]. It is called once, and the result is above zero.
    fn period(&self) -> Option<TimeDelta>;
    /// See [`Policy::on_period`].
    ///
    /// # Errors
    fn on_period(&mut self, end: &PeriodEnd) -> Result<(), Fault>;
    /// An independent copy of the policy with its state.
    ///
    /// # Errors The reason why it cannot be copied.
    fn copy(&self) -> Result<Box<dyn UserPolicy>, Fault>;
}

impl TryClone for dyn UserPolicy {
    fn try_clone(&self) -> Result<Box<Self>, Fault> {
        self.copy()
    }
}

#[derive(Clone, Debug)]
pub struct User {
    policy: UserObject<dyn UserPolicy>,
    period: Option<TimeDelta>,
    /// Number of flows that have been numbered.
    flows: u32,
}

/// The number by which the policy identifies a flow, after its first unit.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Numbered(Option<u32>);

impl User {
    /// A policy whose user code is not loaded.
    pub(in crate::queue) fn new(code: &UserCode) -> User {
        User::of(UserObject::absent(code))
    }

    pub(in crate::queue) fn of(policy: UserObject<dyn UserPolicy>) -> User {
        let period = policy.object().and_then(UserPolicy::period);
        User { policy, period, flows: 0 }
    }

    pub(crate) fn instance(&self) -> &UserObject<dyn UserPolicy> {
        &self.policy
    }
}

impl Policy for User {
    type PerFlow = Numbered;
    /// User code may act on departures or periodically.
    const IS_STEPPED: bool = true;
    const WRITES_SIGNALS: bool = true;

    // A cold call, so that user policies do not slow down the dispatch to built-in ones.
    #[cold]
    #[inline(never)]
    fn on_arrival(&mut self, unit: &Unit, flow: &mut Numbered, buffer: &Occupancy, now: Time) -> Verdict {
        let flow = *flow.0.get_or_insert_with(|| {
            self.flows += 1;
            self.flows - 1
        });
        self.policy.call(|policy| policy.on_arrival(unit, flow, buffer, now)).unwrap_or(Verdict::Accept)
    }

    fn on_departure(&mut self, unit: &Unit, departure: &Departure) -> Verdict {
        self.policy.call(|policy| policy.on_departure(unit, departure)).unwrap_or(Verdict::Accept)
    }

    fn on_signal(&mut self, unit: &Unit, departure: &Departure, signal: &mut Signal) {
        self.policy.call(|policy| policy.on_signal(unit, departure, signal));
    }

    fn period(&self) -> Option<TimeDelta> {
        self.period
    }

    fn on_period(&mut self, end: &PeriodEnd) {
        self.policy.call(|policy| policy.on_period(end));
    }
}

only_in_memory!(User);
