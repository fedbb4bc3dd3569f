//! A controller with a constant window that records its notifications, for tests of the notifications.

use super::abilities::{Abilities, Subscriptions};
use super::controller::{Controller, Start};
use super::events::{Ack, Congestion, Lost};
use crate::primitives::units::{Cwnd, Segments, Time, TimeDelta};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeSpec {
    pub subscriptions: Subscriptions,
    pub release: Option<Segments>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct Probe {
    window: f64,
    pub(crate) log: Box<ProbeLog>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProbeLog {
    spec: ProbeSpec,
    /// Acknowledgements of new data outside recovery, during recovery, and duplicates.
    pub acks: [u32; 3],
    pub acked: u32,
    pub marks: u32,
    pub prices: Vec<Option<f64>>,
    pub one_way_delays: Vec<TimeDelta>,
    /// Delivery rate, and whether it is app-limited.
    pub rates: Vec<(f64, bool)>,
    pub window_validated: u32,
    pub lost: Vec<Lost>,
    pub congestion: u32,
    pub timeouts: u32,
}

impl Probe {
    pub(in crate::congestion) fn new(spec: &ProbeSpec, start: Start) -> Probe {
        let log = ProbeLog {
            spec: *spec,
            acks: [0; 3],
            acked: 0,
            marks: 0,
            prices: Vec::new(),
            one_way_delays: Vec::new(),
            rates: Vec::new(),
            window_validated: 0,
            lost: Vec::new(),
            congestion: 0,
            timeouts: 0,
        };
        Probe { window: start.window, log: Box::new(log) }
    }

    fn process_ack(&mut self, ack: &Ack, kind: usize) {
        let log = &mut *self.log;
        log.acks[kind] += 1;
        log.acked += ack.acked.0;
        log.marks += ack.signal.marks;
        log.prices.push(ack.signal.price);
        log.rates.extend(ack.signal.delivered_rate.map(|sample| (sample.rate, sample.app_limited)));
        log.window_validated += u32::from(ack.window_validated);
    }
}

impl Controller for Probe {
    const ABILITIES: Abilities = Abilities { heap_bytes: size_of::<ProbeLog>(), ..Abilities::NONE };

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    fn abilities(&self) -> Abilities {
        Abilities { subscriptions: self.log.spec.subscriptions, ..Self::ABILITIES }
    }

    fn release(&self) -> Option<Segments> {
        self.log.spec.release
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.process_ack(ack, 0);
    }

    fn on_other_ack(&mut self, ack: &Ack) {
        self.process_ack(ack, if ack.acked > Segments(0) { 1 } else { 2 });
    }

    fn on_one_way_delay(&mut self, delay: TimeDelta, _: Time) {
        self.log.one_way_delays.push(delay);
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.log.lost.push(*lost);
    }

    fn on_congestion(&mut self, _: &Congestion) {
        self.log.congestion += 1;
    }

    fn on_timeout(&mut self, _: &Congestion) {
        self.log.timeouts += 1;
    }

    fn limit_window(&mut self, _: Cwnd) {}
}
