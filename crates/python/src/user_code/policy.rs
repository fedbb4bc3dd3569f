//! Adapter for a queue policy in Python.

use super::views::{Departure, Occupancy, Unit, UnitSignal};
use super::{Draw, attached, copied_together, made, number, overrides, shown};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use tailback_core::network::CodeKind;
use tailback_core::primitives::random::Draws;
use tailback_core::primitives::signal::Signal;
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_core::queue::{self, DropReason, PeriodEnd, UserPolicy};
use tailback_core::user_code::{Fault, UserCode};

pub struct Policy {
    policy: Py<PyAny>,
    /// Its per-flow state, in order of first arrival.
    flows: Vec<Py<PyAny>>,
    /// Whether it also decides on departures.
    departs: bool,
    /// Whether it writes signals.
    signals: bool,
    period: Option<TimeDelta>,
    verdicts: Verdicts,
}

/// The members of `tailback.user_code.Verdict` and their meaning. They are compared by identity.
struct Verdicts([(Py<PyAny>, queue::Verdict); 6]);

impl Policy {
    pub fn new(py: Python<'_>, code: &UserCode, draws: Draws) -> PyResult<Policy> {
        let policy = made(py, CodeKind::Policy, code, None)?;
        policy.call_method1(intern!(py, "draw_from"), (Draw(draws),))?;
        let period = period(&policy.getattr(intern!(py, "period_s"))?)?;
        let departs = overrides(&policy, "Policy", "on_departure")?;
        let signals = overrides(&policy, "Policy", "on_signal")?;
        Ok(Policy { policy: policy.unbind(), flows: Vec::new(), departs, signals, period, verdicts: Verdicts::new(py)? })
    }
}

/// The same range as for PIE in a scenario: a period much shorter than a packet's serialisation would only cause events.
fn period(value: &Bound<'_, PyAny>) -> PyResult<Option<TimeDelta>> {
    if value.is_none() {
        return Ok(None);
    }
    let expected = "None, or a time of at least 1e-6 s";
    let seconds = number(value, "`period_s`", expected)?;
    if (1e-6..1e9).contains(&seconds) {
        return Ok(Some(TimeDelta::from_seconds(seconds)));
    }
    Err(PyValueError::new_err(format!("`period_s` is {}; expected {expected}", shown(value))))
}

impl Verdicts {
    fn new(py: Python<'_>) -> PyResult<Verdicts> {
        use queue::Verdict::{Accept, Discard, Mark};
        let verdicts = py.import("tailback.user_code")?.getattr("Verdict")?;
        let member = |name: &str| Ok::<_, PyErr>(verdicts.getattr(name)?.unbind());
        Ok(Verdicts([
            (member("ACCEPT")?, Accept),
            (member("MARK")?, Mark),
            (member("DISCARD")?, Discard(DropReason::Early)),
            (member("DISCARD_PARTIAL")?, Discard(DropReason::Partial)),
            (member("DISCARD_SINGLE")?, Discard(DropReason::Single)),
            (member("DISCARD_FULL")?, Discard(DropReason::Full)),
        ]))
    }

    fn of(&self, answer: &Bound<'_, PyAny>) -> PyResult<queue::Verdict> {
        let found = self.0.iter().find(|(member, _)| answer.is(member));
        found.map(|(_, verdict)| *verdict).ok_or_else(|| {
            PyTypeError::new_err(format!("the verdict is {}; expected a member of `tailback.user_code.Verdict`", shown(answer)))
        })
    }

    fn clone_ref(&self, py: Python<'_>) -> Verdicts {
        Verdicts(self.0.each_ref().map(|(member, verdict)| (member.clone_ref(py), *verdict)))
    }
}

impl UserPolicy for Policy {
    fn on_arrival(
        &mut self,
        unit: &queue::Unit,
        flow: u32,
        buffer: &queue::Occupancy,
        now: Time,
    ) -> Result<queue::Verdict, Fault> {
        attached(|py| {
            let policy = self.policy.bind(py);
            if flow as usize == self.flows.len() {
                self.flows.push(policy.call_method0(intern!(py, "new_flow"))?.unbind());
            }
            let arguments = (Unit::from(unit), &self.flows[flow as usize], Occupancy::from(buffer), now.seconds());
            self.verdicts.of(&policy.call_method1(intern!(py, "on_arrival"), arguments)?)
        })
    }

    fn on_departure(&mut self, unit: &queue::Unit, departure: &queue::Departure) -> Result<queue::Verdict, Fault> {
        if !self.departs {
            return Ok(queue::Verdict::Accept);
        }
        attached(|py| {
            let arguments = (Unit::from(unit), Departure::from(departure));
            self.verdicts.of(&self.policy.bind(py).call_method1(intern!(py, "on_departure"), arguments)?)
        })
    }

    fn on_signal(&mut self, unit: &queue::Unit, departure: &queue::Departure, signal: &mut Signal) -> Result<(), Fault> {
        if !self.signals {
            return Ok(());
        }
        let (is_marked, price) = (signal.marks > 0, signal.price);
        attached(|py| {
            let seen = Py::new(py, UnitSignal { ecn_capable: departure.is_capable, is_marked, price })?;
            let arguments = (Unit::from(unit), Departure::from(departure), &seen);
            self.policy.bind(py).call_method1(intern!(py, "on_signal"), arguments)?;
            let written = seen.borrow(py);
            if let Some(price) = written.price
                && !price.is_finite()
            {
                return Err(PyValueError::new_err(format!("the price is {price}; expected None, or a finite number")));
            }
            (signal.marks, signal.price) = (written.is_marked.into(), written.price);
            Ok(())
        })
    }

    fn period(&self) -> Option<TimeDelta> {
        self.period
    }

    fn on_period(&mut self, end: &PeriodEnd) -> Result<(), Fault> {
        attached(|py| self.policy.bind(py).call_method1(intern!(py, "on_period"), (end.bytes.0, end.rate.0)).map(|_| ()))
    }

    fn copy(&self) -> Result<Box<dyn UserPolicy>, Fault> {
        attached(|py| {
            let all = std::iter::once(&self.policy).chain(&self.flows).map(|object| object.bind(py).clone());
            let mut copies = copied_together(all.collect())?.into_iter().map(Bound::unbind);
            let policy = copies.next().ok_or_else(|| PyValueError::new_err("nothing was copied"))?;
            let verdicts = self.verdicts.clone_ref(py);
            let (departs, signals, period) = (self.departs, self.signals, self.period);
            Ok(Box::new(Policy { policy, flows: copies.collect(), departs, signals, period, verdicts }) as Box<dyn UserPolicy>)
        })
    }
}
