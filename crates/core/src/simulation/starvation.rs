//! Starved flows: with data to send for at least ten round trips of the measurement interval, they delivered nothing, or less than 1 % of an
//! equal share of their bottleneck.
//!
//! A port's rate is divided equally among the flows that cross it, at every instant among those that are alive; the least of a flow's shares
//! is that of its bottleneck. Completed transfers are not starved: they delivered all of their data.

use super::endpoints::End;
use super::external_flow::{ExternalFlow, ExternalFlows};
use super::state::Engine;
use crate::network::{ChangeKind, Transport};
use crate::primitives::ids::{FlowId, PortId};
use crate::primitives::units::{Time, TimeDelta};
use crate::traffic::ApplicationSpec;
use std::collections::BTreeMap;
use std::ops::Range;

/// Round trips with data from which a flow without deliveries is starved.
const ROUND_TRIPS: u64 = 10;
/// Fraction of an equal share below which a flow is starved.
const STARVED: f64 = 0.01;

impl Engine {
    /// For each flow, whether it is starved.
    pub(super) fn starved(&self, until: Time, external: &ExternalFlows) -> Vec<bool> {
        let flows = self.endpoints.flows();
        let capacities: Vec<f64> = PortId::all(self.network.ports.len()).map(|port| self.min_capacity(port)).collect();
        let hungry: Vec<(FlowId, Range<Time>, f64)> = flows
            .clone()
            .filter_map(|flow| {
                let with_data = self.period_with_data(flow, until, external.get(&flow))?;
                let delivered = external.get(&flow).and_then(|of| of.delivered).map(|bytes| bytes.0);
                let bits = 8.0 * delivered.unwrap_or(self.fabric.path(flow).carried.delivered_bytes) as f64;
                // The share of a flow alone on its path.
                let alone = self.rate_limit(flow, &capacities) * length(&with_data).seconds();
                (bits == 0.0 || bits < STARVED * alone).then_some((flow, with_data, bits))
            })
            .collect();
        let mut starved = vec![false; flows.len()];
        if hungry.is_empty() {
            return starved;
        }
        let shares = self.equal_shares(&hungry, &capacities, |flow| self.measured_period(flow, until, external));
        for (flow, with_data, bits) in hungry {
            let alone = self.access_rate(flow) * length(&with_data).seconds();
            let ports = self.fabric.route(self.fabric.path(flow).wire.forward);
            let share = ports.map(|port| shares[&port].bits(&with_data)).fold(alone, f64::min);
            starved[flow.index()] = bits == 0.0 || bits < STARVED * share;
        }
        starved
    }

    /// Whether a part of the flow's lifetime is measured.
    pub(super) fn is_measured(&self, flow: FlowId, until: Time, external: &ExternalFlows) -> bool {
        length(&self.measured_period(flow, until, external)) > TimeDelta::ZERO
    }

    /// The part of a flow's lifetime within the measurement interval.
    fn measured_period(&self, flow: FlowId, until: Time, external: &ExternalFlows) -> Range<Time> {
        let interval = self.fabric.clock.interval();
        match external.get(&flow) {
            Some(of) => of.measured_period(interval, until),
            None => self.start_of(flow).max(interval.warmup)..self.ended(flow).min(until),
        }
    }

    /// The last part of the measurement interval during which the flow had data without a pause, if it lasts ten round trips; `None` for
    /// completed transfers and for flows whose data is unknown.
    fn period_with_data(&self, flow: FlowId, until: Time, external: Option<&ExternalFlow>) -> Option<Range<Time>> {
        let base_rtt = external.and_then(|of| of.base_rtt).unwrap_or(self.endpoints.plan(flow).base_rtt);
        let group = &self.network.groups[self.fabric.group(flow)];
        let since = match (self.endpoints.end(flow), external) {
            (_, Some(of)) => {
                let may_pause = of.size.is_none() && of.delivered.is_none_or(|delivered| delivered.0 > 0);
                (!may_pause && of.completed.is_none()).then_some(of.start)?
            }
            (End::Datagram(_), None) => {
                let (sent, delivered) = (self.endpoints.end(flow).counts().sent, self.fabric.path(flow).carried.delivered);
                let is_lost = f64::from(delivered) < STARVED * f64::from(sent) && u64::from(sent) >= ROUND_TRIPS;
                is_lost.then(|| self.start_of(flow))?
            }
            (End::Tcp(_), None) if self.ended(flow) <= until && self.endpoints.stop(flow).is_none() => return None,
            (End::Tcp(_), None) => match (&group.application, &group.transport) {
                (None, _) => self.start_of(flow),
                (Some(ApplicationSpec::Messages), _) => self.oldest_undelivered(flow)?,
                (Some(ApplicationSpec::Bursts(bursts)), Transport::Tcp(spec, _)) => {
                    let per_second = bursts.per_second(spec.mss) * f64::from(bursts.burst);
                    let waiting = f64::from(self.endpoints.end(flow).backlog()) / per_second;
                    until.before(TimeDelta((waiting * 1e12) as u64)).max(self.start_of(flow))
                }
                (Some(ApplicationSpec::Bursts(_)), Transport::Datagram(_)) => return None,
            },
        };
        let measured = self.fabric.clock.warmup().max(since)..until.min(self.ended(flow));
        (length(&measured).0 >= base_rtt.0.max(1).saturating_mul(ROUND_TRIPS)).then_some(measured)
    }

    /// Start of the oldest message of a flow that is not delivered.
    fn oldest_undelivered(&self, flow: FlowId) -> Option<Time> {
        let messages = self.messages(flow)?;
        let end = self.fabric.clock.end();
        let delivered = messages.delivered().iter().filter(|&&time| time < end).count();
        self.message_starts(messages).get(delivered).copied()
    }

    /// Rate of all transmitters of a port in bit/s, the lowest of the run.
    fn min_capacity(&self, port: PortId) -> f64 {
        let of = &self.network.ports[port];
        let changed = self.network.changes.iter().filter_map(|change| match change.what {
            ChangeKind::Rate(other, rate) if other == port => Some(rate),
            _ => None,
        });
        changed.fold(of.rate, |least, rate| least.min(rate)).0 as f64 * f64::from(of.transmitters)
    }

    /// Rate of the slower access link in bit/s.
    fn access_rate(&self, flow: FlowId) -> f64 {
        let (wire, rates) = (&self.fabric.path(flow).wire, &self.fabric.rates);
        let rates = [wire.sender_access(rates).rate, wire.receiver_access(rates).rate];
        rates.into_iter().flatten().map(|rate| rate.0 as f64).fold(f64::INFINITY, f64::min)
    }

    /// Rate of the slowest link of the path in bit/s.
    fn rate_limit(&self, flow: FlowId, capacities: &[f64]) -> f64 {
        let ports = self.fabric.route(self.fabric.path(flow).wire.forward);
        ports.map(|port| capacities[port.index()]).fold(self.access_rate(flow), f64::min)
    }

    /// For the ports that these flows cross, the share of one flow.
    fn equal_shares(
        &self,
        hungry: &[(FlowId, Range<Time>, f64)],
        capacities: &[f64],
        lifetime: impl Fn(FlowId) -> Range<Time>,
    ) -> BTreeMap<PortId, EqualShare> {
        let route = |flow: FlowId| self.fabric.route(self.fabric.path(flow).wire.forward);
        let mut steps: BTreeMap<PortId, Vec<(Time, i64)>> =
            hungry.iter().flat_map(|(flow, ..)| route(*flow)).map(|port| (port, Vec::new())).collect();
        for flow in self.endpoints.flows() {
            let lifetime = lifetime(flow);
            for port in route(flow).filter(|_| !lifetime.is_empty()) {
                if let Some(steps) = steps.get_mut(&port) {
                    steps.extend([(lifetime.start, 1), (lifetime.end, -1)]);
                }
            }
        }
        steps.into_iter().map(|(port, steps)| (port, EqualShare::new(capacities[port.index()], steps))).collect()
    }
}

fn length(period: &Range<Time>) -> TimeDelta {
    period.end.since(period.start)
}

/// The share of one flow in a port's rate over time.
struct EqualShare {
    periods: Vec<SharePeriod>,
}

/// A period with a constant number of flows.
struct SharePeriod {
    start: Time,
    /// Bits of the share until then.
    bits: f64,
    /// The share in bit/s during it.
    rate: f64,
}

impl EqualShare {
    /// `steps`: changes of the number of flows, in any order.
    fn new(capacity: f64, mut steps: Vec<(Time, i64)>) -> EqualShare {
        steps.sort_unstable();
        let (mut flows, mut periods) = (0, vec![SharePeriod { start: Time::ZERO, bits: 0.0, rate: capacity }]);
        for (start, change) in steps {
            let bits = periods[periods.len() - 1].bits_until(start);
            flows += change;
            periods.push(SharePeriod { start, bits, rate: capacity / flows.max(1) as f64 });
        }
        EqualShare { periods }
    }

    /// Bits of the share in a period.
    fn bits(&self, during: &Range<Time>) -> f64 {
        let until = |time: Time| {
            let later = self.periods.partition_point(|period| period.start <= time);
            self.periods[later.max(1) - 1].bits_until(time)
        };
        until(during.end) - until(during.start)
    }
}

impl SharePeriod {
    /// Bits of the share until a time in this period.
    fn bits_until(&self, time: Time) -> f64 {
        self.bits + self.rate * time.since(self.start).seconds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000_000;

    #[test]
    fn a_share_is_the_rate_divided_by_the_flows_at_each_instant() {
        let at = |second: u64| Time(second * SECOND);
        // One flow from 0 to 10 s, and three more from 4 to 6 s.
        let others = [(at(4), 1), (at(6), -1)].repeat(3);
        let share = EqualShare::new(100.0, [vec![(at(10), -1), (at(0), 1)], others].concat());
        let bits = |from: u64, to: u64| share.bits(&(at(from)..at(to)));
        assert_eq!((bits(0, 10), bits(4, 6), bits(5, 8)), (850.0, 50.0, 225.0));
    }
}
