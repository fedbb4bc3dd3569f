//! Flows whose transport is outside the engine, as the transport and its application describe them.

use super::measurement_interval::MeasurementInterval;
use crate::primitives::ids::FlowId;
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::record::Column;
use std::collections::BTreeMap;
use std::ops::Range;

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
    /// Retransmission timeout at the end of the run.
    pub rto: Option<TimeDelta>,
    /// Packets of both ends that the network did not carry, over the whole run.
    pub rejected_packets: u64,
}

/// The external flows that are known.
pub type ExternalFlows = BTreeMap<FlowId, ExternalFlow>;

/// Columns of the table of flows that simulated flows do not have.
pub(super) const REPORTED_ONLY: [&str; 4] = ["lost_packets", "min_rtt_s", "rto_s", "rejected_packets"];

impl ExternalFlow {
    /// Enters a value in a column of the table of flows, in the row of the flow. Values that are not reported remain as they are.
    pub(super) fn overlay(&self, name: &str, row: FlowId, column: &mut Column, interval: &MeasurementInterval, until: Time) {
        let count = |count: Option<u64>| count.map(|count| count as f64);
        let value = match name {
            "base_rtt_s" => self.base_rtt.map(TimeDelta::seconds),
            "start_s" => Some(self.start.seconds()),
            "size_bytes" => self.size.map(|size| size.0 as f64),
            "delivered_bytes" => self.delivered.map(|delivered| delivered.0 as f64),
            "goodput_bps" => self.delivered.map(|delivered| delivered.0 as f64 * 8.0 / until.since(interval.warmup).seconds()),
            "completion_time_s" => Some(self.completion(interval)),
            "transfer_rate_bps" => Some(self.transfer_rate(interval)),
            "retransmitted_packets" => count(self.retransmitted_packets),
            "lost_packets" => count(self.lost_packets),
            "timeouts" => count(self.timeouts),
            "mean_rtt_s" => self.mean_rtt.map(TimeDelta::seconds),
            "min_rtt_s" => self.min_rtt.map(TimeDelta::seconds),
            "rto_s" => self.rto.map(TimeDelta::seconds),
            "rejected_packets" => Some(self.rejected_packets as f64),
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

    /// Payload of a completed transfer over its completion time; NaN for others.
    fn transfer_rate(&self, interval: &MeasurementInterval) -> f64 {
        self.size.map_or(f64::NAN, |size| size.0 as f64 * 8.0 / self.completion(interval))
    }

    /// The part of the flow's lifetime within the measurement interval until a time. The lifetime of a stopped flow ends with the last
    /// packet at the receiver: data that was written before the stop may arrive after it.
    pub(super) fn measured_period(&self, interval: &MeasurementInterval, until: Time) -> Range<Time> {
        let stopped = self.stop.map_or(Time::NEVER, |stop| stop.max(self.last_arrival.unwrap_or(stop)));
        self.start.max(interval.warmup)..self.completed.unwrap_or(stopped).min(until)
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
        rto: None,
        rejected_packets: 0,
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

    fn lifetime(flow: ExternalFlow, until: Time) -> f64 {
        let period = flow.measured_period(&INTERVAL, until);
        period.end.since(period.start).seconds()
    }

    #[test]
    fn the_measured_period_ends_with_the_completion_or_the_last_arrival_after_a_stop() {
        assert_eq!(lifetime(ExternalFlow { completed: Some(SECONDS[7]), ..FLOW }, SECONDS[10]), 5.0);
        assert_eq!((lifetime(FLOW, SECONDS[10]), lifetime(FLOW, SECONDS[4]), lifetime(FLOW, SECONDS[2])), (8.0, 2.0, 0.0));
        assert_eq!(lifetime(ExternalFlow { stop: Some(SECONDS[6]), ..FLOW }, SECONDS[10]), 4.0);
        let stopped = |last: usize| ExternalFlow { stop: Some(SECONDS[6]), last_arrival: Some(SECONDS[last]), ..FLOW };
        assert_eq!([5, 7].map(|last| lifetime(stopped(last), SECONDS[10])), [4.0, 5.0]);
    }

    #[test]
    fn a_completion_at_the_end_does_not_count_and_one_in_the_warm_up_does() {
        let at = |second: usize| ExternalFlow { start: Time::ZERO, completed: Some(SECONDS[second]), ..FLOW };
        assert_eq!((at(7).completion(&INTERVAL), at(0).completion(&INTERVAL)), (7.0, 0.0));
        assert!(at(10).completion(&INTERVAL).is_nan() && at(10).transfer_rate(&INTERVAL).is_nan());
        let early = ExternalFlow { start: Time::ZERO, completed: Some(Time(SECONDS[1].0 / 2)), ..FLOW };
        assert_eq!((at(8).transfer_rate(&INTERVAL), early.transfer_rate(&INTERVAL)), (10e6, 160e6));
    }

    #[test]
    fn the_goodput_is_that_of_the_whole_interval() {
        let goodput = |flow: ExternalFlow, until: Time| {
            let mut column = Column::Float(vec![0.0]);
            flow.overlay("goodput_bps", FlowId(0), &mut column, &INTERVAL, until);
            column
        };
        let bps = 8e6 / 9.0;
        assert_eq!(goodput(FLOW, SECONDS[10]), Column::Float(vec![bps]));
        assert_eq!(goodput(ExternalFlow { completed: Some(SECONDS[3]), ..FLOW }, SECONDS[10]), Column::Float(vec![bps]));
        assert_eq!(goodput(FLOW, SECONDS[5]), Column::Float(vec![2e6]));
    }
}
