//! Flows whose transport is outside the engine, as the transport and its application describe them.

use super::measurement_interval::MeasurementInterval;
use crate::primitives::ids::FlowId;
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::record::Column;
use std::collections::BTreeMap;

/// An external flow. Counts are those of the measurement interval; `None` is missing in the results.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExternalFlow {
    /// Round-trip time of a full packet and its acknowledgement through the empty network.
    pub base_rtt: Option<TimeDelta>,
    pub start: Time,
    /// The time at which the application gives up the transfer, if it does.
    pub stop: Option<Time>,
    /// `None`: without an end.
    pub size: Option<Bytes>,
    /// Payload that the application of the receiver has read.
    pub delivered: Option<Bytes>,
    /// The time at which it had read the whole transfer.
    pub completed: Option<Time>,
    /// The time of the last packet at the receiver.
    pub last_arrival: Option<Time>,
    pub retransmitted_packets: Option<u64>,
    /// Packets that the transport has declared lost.
    pub lost_packets: Option<u64>,
    pub timeouts: Option<u64>,
    pub mean_rtt: Option<TimeDelta>,
    /// Over the whole run.
    pub min_rtt: Option<TimeDelta>,
}

/// The external flows that are known.
pub type ExternalFlows = BTreeMap<FlowId, ExternalFlow>;

/// Columns of the table of flows that simulated flows do not have.
pub(super) const REPORTED_ONLY: [&str; 2] = ["lost_packets", "min_rtt_s"];

impl ExternalFlow {
    /// Enters a value in a column of the table of flows, in the row of the flow. Values that are not reported remain as they are.
    pub(super) fn overlay(&self, name: &str, row: FlowId, column: &mut Column, interval: &MeasurementInterval, until: Time) {
        let count = |count: Option<u64>| count.map(|count| count as f64);
        let value = match name {
            "base_rtt_s" => self.base_rtt.map(TimeDelta::seconds),
            "start_s" => Some(self.start.seconds()),
            "size_bytes" => self.size.map(|size| size.0 as f64),
            "delivered_bytes" => self.delivered.map(|delivered| delivered.0 as f64),
            "goodput_bps" => self.delivered.map(|delivered| self.goodput(delivered, interval, until)),
            "completion_time_s" => Some(self.completion(interval)),
            "retransmitted_packets" => count(self.retransmitted_packets),
            "lost_packets" => count(self.lost_packets),
            "timeouts" => count(self.timeouts),
            "mean_rtt_s" => self.mean_rtt.map(TimeDelta::seconds),
            "min_rtt_s" => self.min_rtt.map(TimeDelta::seconds),
            _ => None,
        };
        match (column, value) {
            (Column::Float(values), Some(value)) => values[row.index()] = value,
            (Column::Integer(values), Some(value)) => values[row.index()] = value as u64,
            _ => {}
        }
    }

    /// Time from the start to the completion; NaN if there is none within the run.
    pub(super) fn completion(&self, interval: &MeasurementInterval) -> f64 {
        let completed = self.completed.filter(|&time| time < interval.end);
        completed.map_or(f64::NAN, |time| time.since(self.start).seconds())
    }

    /// As that of a simulated flow (`Engine::goodput`). The lifetime of a stopped flow ends with the last packet at the receiver: data
    /// that was written before the stop may arrive after it.
    pub(super) fn goodput(&self, delivered: Bytes, interval: &MeasurementInterval, until: Time) -> f64 {
        let end = self.stop.map_or(Time::NEVER, |stop| stop.max(self.last_arrival.unwrap_or(stop)));
        let lifetime = || until.min(end).since(self.start.max(interval.warmup));
        let (bytes, seconds) = match (self.completed.filter(|&time| time < interval.end), self.size) {
            (Some(completed), _) if completed < interval.warmup => return f64::NAN,
            (Some(completed), Some(size)) => (size, completed.since(self.start).seconds()),
            (_, size) if size.is_some() || self.stop.is_some() => (delivered, lifetime().seconds()),
            _ => (delivered, until.since(interval.warmup).seconds()),
        };
        if seconds > 0.0 { bytes.0 as f64 * 8.0 / seconds } else { f64::NAN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow that starts at 2 s, and whose application has read 1 MB of 10 MB in the measurement interval, from 1 s to 10 s.
    const FLOW: ExternalFlow = ExternalFlow {
        base_rtt: None,
        start: SECONDS[2],
        stop: None,
        size: Some(Bytes(10_000_000)),
        delivered: Some(Bytes(1_000_000)),
        completed: None,
        last_arrival: None,
        retransmitted_packets: None,
        lost_packets: None,
        timeouts: None,
        mean_rtt: None,
        min_rtt: None,
    };
    const SECONDS: [Time; 11] = {
        let mut times = [Time::ZERO; 11];
        let mut second = 0;
        while second < 11 {
            times[second] = Time(second as u64 * 1_000_000_000_000);
            second += 1;
        }
        times
    };
    const INTERVAL: MeasurementInterval = MeasurementInterval { warmup: SECONDS[1], end: SECONDS[10] };

    fn goodput(flow: ExternalFlow, until: Time) -> f64 {
        flow.goodput(FLOW.delivered.unwrap(), &INTERVAL, until)
    }

    #[test]
    fn goodput_covers_the_lifetime_or_the_measurement_interval() {
        assert_eq!(goodput(ExternalFlow { completed: Some(SECONDS[7]), ..FLOW }, SECONDS[10]), 16e6);
        assert_eq!(goodput(FLOW, SECONDS[10]), 1e6);
        assert_eq!(goodput(FLOW, SECONDS[4]), 4e6);
        assert_eq!(goodput(ExternalFlow { stop: Some(SECONDS[6]), ..FLOW }, SECONDS[10]), 2e6);
        let stopped = |last: usize| ExternalFlow { stop: Some(SECONDS[6]), last_arrival: Some(SECONDS[last]), ..FLOW };
        assert_eq!([5, 7].map(|last| goodput(stopped(last), SECONDS[10])), [2e6, 1.6e6]);
        assert_eq!(goodput(stopped(7), SECONDS[4]), 4e6);
        assert_eq!(goodput(ExternalFlow { size: None, ..FLOW }, SECONDS[9]), 1e6);
        assert!(goodput(FLOW, SECONDS[2]).is_nan());
    }

    #[test]
    fn a_completion_at_the_end_does_not_count_and_one_in_the_warm_up_has_no_goodput() {
        let at = |second: usize| ExternalFlow { start: Time::ZERO, completed: Some(SECONDS[second]), ..FLOW };
        assert_eq!((at(7).completion(&INTERVAL), at(0).completion(&INTERVAL)), (7.0, 0.0));
        assert!(at(10).completion(&INTERVAL).is_nan() && goodput(at(0), SECONDS[10]).is_nan());
        assert_eq!(goodput(at(10), SECONDS[9]), 1e6);
    }
}
