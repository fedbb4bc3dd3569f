//! A policy that the core does not know.

use crate::primitives::signal::Signal;
use crate::primitives::units::{Span, Time};
use crate::queue::{Occupancy, PeriodEnd, Policy, Turn, Unit, Verdict};
use crate::user_code::{Copies, Fault, Instance, UserCode, only_in_memory};
use serde::{Deserialize, Serialize};

/// [`Policy`] for code that the core does not know.
pub trait UserPolicy: Send + Sync {
    /// See [`Policy::on_arrival`]. `flow` numbers the flows (VCs) from 0 in the order of their first units: what is remembered of each
    /// may lie in a list.
    ///
    /// # Errors
    /// Here and below: the code's own.
    fn on_arrival(&mut self, unit: &Unit, flow: u32, buffer: &Occupancy, now: Time) -> Result<Verdict, Fault>;
    /// See [`Policy::on_departure`].
    ///
    /// # Errors
    fn on_departure(&mut self, unit: &Unit, turn: &Turn) -> Result<Verdict, Fault>;
    /// See [`Policy::on_signal`].
    ///
    /// # Errors
    fn on_signal(&mut self, unit: &Unit, turn: &Turn, signal: &mut Signal) -> Result<(), Fault>;
    /// See [`Policy::period`]: asked once, and above zero.
    fn period(&self) -> Option<Span>;
    /// See [`Policy::on_period`].
    ///
    /// # Errors
    fn on_period(&mut self, end: &PeriodEnd) -> Result<(), Fault>;
    /// The same policy with all that it remembers, to go on from here on its own.
    ///
    /// # Errors
    /// What keeps it from being copied.
    fn copy(&self) -> Result<Box<dyn UserPolicy>, Fault>;
}

impl Copies for dyn UserPolicy {
    fn copied(&self) -> Result<Box<Self>, Fault> {
        self.copy()
    }
}

#[derive(Clone, Debug)]
pub struct User {
    policy: Instance<dyn UserPolicy>,
    period: Option<Span>,
    /// Flows that have a number.
    flows: u32,
}

/// The number that the policy knows a flow by, once it has seen it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Numbered(Option<u32>);

impl User {
    /// A policy that was not brought along.
    pub(in crate::queue) fn new(code: &UserCode) -> User {
        User::of(Instance::absent(code))
    }

    pub(in crate::queue) fn of(policy: Instance<dyn UserPolicy>) -> User {
        let period = policy.object().and_then(UserPolicy::period);
        User { policy, period, flows: 0 }
    }

    pub(crate) fn instance(&self) -> &Instance<dyn UserPolicy> {
        &self.policy
    }
}

impl Policy for User {
    type PerFlow = Numbered;
    /// What it does on a departure or from time to time is not known.
    const IS_STEPPED: bool = true;

    // Out of the way of the others: where policies are told apart, this is a call.
    #[cold]
    #[inline(never)]
    fn on_arrival(&mut self, unit: &Unit, flow: &mut Numbered, buffer: &Occupancy, now: Time) -> Verdict {
        let flow = *flow.0.get_or_insert_with(|| {
            self.flows += 1;
            self.flows - 1
        });
        self.policy.call(|policy| policy.on_arrival(unit, flow, buffer, now)).unwrap_or(Verdict::Accept)
    }

    fn on_departure(&mut self, unit: &Unit, turn: &Turn) -> Verdict {
        self.policy.call(|policy| policy.on_departure(unit, turn)).unwrap_or(Verdict::Accept)
    }

    fn on_signal(&mut self, unit: &Unit, turn: &Turn, signal: &mut Signal) {
        self.policy.call(|policy| policy.on_signal(unit, turn, signal));
    }

    fn period(&self) -> Option<Span> {
        self.period
    }

    fn on_period(&mut self, end: &PeriodEnd) {
        self.policy.call(|policy| policy.on_period(end));
    }
}

only_in_memory!(User);
