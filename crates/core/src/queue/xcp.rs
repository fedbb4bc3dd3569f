//! XCP's router: once per mean RTT it computes the desired change of the aggregate rate and divides it among packets, increases equally
//! among flows, decreases in proportion to their rates (Katabi, Handley and Rohrs, "Congestion control for high bandwidth-delay product
//! networks", SIGCOMM 2002, in the rates of draft-falk-xcp-spec, whose names are used here).
//!
//! Differs: a control interval ends with the first `period` at which it is due, and the persistent queue is the shortest at the end of any
//! `period` of the interval, where the draft looks at every packet.

use super::support::{Occupancy, PeriodEnd, Policy, Unit, Verdict};
use crate::price::PriceMeaning;
use crate::primitives::signal::PriceHeader;
use crate::primitives::units::{Time, TimeDelta};
use crate::settings::{Kind, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};

// The paper's own values.
member! {
    /// XCP router: once per mean RTT it computes the change of the aggregate rate and divides it among packets as feedback.
    Xcp = "xcp", "Katabi, Handley and Rohrs, SIGCOMM 2002";

    pub struct XcpSpec {
        /// Fraction of the spare capacity that is allocated per control interval (alpha).
        alpha: f64 = 0.4 => Kind::Number { min: 0.0, max: 10.0 },
        /// Gain of the persistent queue (beta).
        beta: f64 = 0.226 => Kind::Number { min: 0.0, max: 10.0 },
        /// Fraction of the traffic that is redistributed per control interval, for fairness (gamma).
        gamma: f64 = 0.1 => Kind::Probability,
        /// Fraction of the link's rate that the flows may use together.
        target: f64 = 1.0 => Kind::Probability,
        /// Timer resolution of the control interval (the mean RTT), at least 1 us.
        period: TimeDelta = TimeDelta::from_millis(1) => Kind::Duration { min: TimeDelta::from_micros(1) },
    }
}

impl Settings for XcpSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.alpha == 0.0 => ["alpha"], "`alpha` of 0 allocates no capacity", "above 0";
            error if self.target == 0.0 => ["target"], "`target` of 0 allocates no capacity", "above 0, at most 1";
        }
    }

    fn samples() -> Vec<XcpSpec> {
        let usual = XcpSpec::default();
        vec![usual, XcpSpec { gamma: 0.0, target: 0.9, period: TimeDelta::from_millis(5), ..usual }]
    }
}

/// Maximum length of a control interval, whatever the RTTs (draft section on the average round trip).
const MAX_INTERVAL_S: f64 = 1.0;

/// Rates in bytes per second, times in seconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Xcp {
    spec: XcpSpec,
    /// Bytes that arrived in this interval.
    input_traffic: f64,
    /// Sums over packets of the time between packets of a flow (X), and of that time multiplied by the flow's RTT.
    sum_inv_throughput: f64,
    sum_rtt_by_throughput: f64,
    /// Elapsed time and planned length of the interval.
    elapsed: f64,
    ctl_interval: f64,
    /// Shortest queue in this interval, in bytes.
    min_queue: f64,
    /// Remaining increase and decrease to distribute, and the factors of each packet's part of them (Cp and Cn).
    residue_pos_fbk: f64,
    residue_neg_fbk: f64,
    cp: f64,
    cn: f64,
}

impl Xcp {
    pub(super) fn new(spec: &XcpSpec) -> Xcp {
        Xcp {
            spec: *spec,
            input_traffic: 0.0,
            sum_inv_throughput: 0.0,
            sum_rtt_by_throughput: 0.0,
            elapsed: 0.0,
            ctl_interval: spec.period.seconds(),
            min_queue: f64::INFINITY,
            residue_pos_fbk: 0.0,
            residue_neg_fbk: 0.0,
            cp: 0.0,
            cn: 0.0,
        }
    }

    /// Efficiency controller and fairness controller at the end of an interval (section 3.5 of the paper).
    fn end_interval(&mut self, capacity: f64) {
        let avg_rtt = if self.sum_inv_throughput > 0.0 { self.sum_rtt_by_throughput / self.sum_inv_throughput } else { 0.0 };
        if avg_rtt > 0.0 {
            let input_bw = self.input_traffic / self.elapsed;
            let f = self.spec.alpha * (capacity - input_bw) - self.spec.beta * self.min_queue / avg_rtt;
            let shuffled_traffic = (self.spec.gamma * input_bw - f.abs()).max(0.0);
            self.residue_pos_fbk = shuffled_traffic + f.max(0.0);
            self.residue_neg_fbk = shuffled_traffic + (-f).max(0.0);
            self.cp = self.residue_pos_fbk / self.sum_inv_throughput;
            self.cn = self.residue_neg_fbk / self.input_traffic;
        } else {
            (self.residue_pos_fbk, self.residue_neg_fbk, self.cp, self.cn) = (0.0, 0.0, 0.0, 0.0);
        }
        self.ctl_interval = avg_rtt.max(self.spec.period.seconds());
        (self.input_traffic, self.sum_inv_throughput, self.sum_rtt_by_throughput, self.elapsed) = (0.0, 0.0, 0.0, 0.0);
        self.min_queue = f64::INFINITY;
    }

    /// X, the time between packets of the flow; `None` before the sender has measured an RTT.
    fn x(header: &PriceHeader) -> Option<f64> {
        (header.rtt > TimeDelta::ZERO && header.window > 0.0).then(|| header.rtt.seconds() / header.window)
    }
}

impl Policy for Xcp {
    type PerFlow = ();
    const TRACKS_FLOWS: bool = false;
    const IS_STEPPED: bool = true;
    const PRICE_MEANING: Option<PriceMeaning> = Some(PriceMeaning::Feedback);

    fn on_arrival(&mut self, unit: &Unit, _flow: &mut (), _buffer: &Occupancy, _now: Time) -> Verdict {
        self.input_traffic += unit.bytes.0 as f64;
        Verdict::Accept
    }

    fn on_price_header(&mut self, _unit: &Unit, header: &PriceHeader) {
        if let Some(x) = Xcp::x(header) {
            self.sum_inv_throughput += x;
            self.sum_rtt_by_throughput += x * header.rtt.seconds().min(MAX_INTERVAL_S);
        }
    }

    fn write_price_header(&mut self, unit: &Unit, header: &mut PriceHeader) {
        let Some(x) = Xcp::x(header) else {
            header.feedback = header.feedback.min(0.0);
            return;
        };
        let mut pos_fbk = (self.cp * x).min(self.residue_pos_fbk);
        let mut neg_fbk = (self.cn * unit.bytes.0 as f64).min(self.residue_neg_fbk);
        let feedback = pos_fbk - neg_fbk;
        if header.feedback >= feedback {
            header.feedback = feedback;
        } else {
            // Another queue grants less: the remainder is left for other flows.
            neg_fbk = self.residue_neg_fbk.min(neg_fbk + feedback - header.feedback);
            pos_fbk = (header.feedback + neg_fbk).max(0.0);
        }
        self.residue_pos_fbk = (self.residue_pos_fbk - pos_fbk).max(0.0);
        self.residue_neg_fbk = (self.residue_neg_fbk - neg_fbk).max(0.0);
    }

    fn period(&self) -> Option<TimeDelta> {
        Some(self.spec.period)
    }

    fn on_period(&mut self, end: &PeriodEnd) {
        self.elapsed += self.spec.period.seconds();
        self.min_queue = self.min_queue.min(end.bytes.0 as f64);
        if self.elapsed >= self.ctl_interval {
            self.end_interval(self.spec.target * end.rate.0 as f64 / 8.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::{Bytes, Rate, Units};

    const PACKET: Unit = Unit { bytes: Bytes(1000), is_last: true };

    fn header(window: f64) -> PriceHeader {
        PriceHeader { rtt: TimeDelta::from_millis(10), window, feedback: f64::INFINITY, ..PriceHeader::default() }
    }

    /// The feedback written after an interval of 10 ms at 8 Mbit/s, a million bytes per second, in which packets with these windows
    /// arrived.
    fn feedback_of(windows: &[f64], queue: u64) -> Vec<f64> {
        let mut xcp = Xcp::new(&XcpSpec { period: TimeDelta::from_millis(10), ..XcpSpec::default() });
        for &window in windows {
            xcp.on_price_header(&PACKET, &header(window));
            xcp.on_arrival(&PACKET, &mut (), &Occupancy::of(Units(0), Bytes(0)), Time::ZERO);
        }
        xcp.on_period(&PeriodEnd { units: Units(0), bytes: Bytes(1000 * queue), rate: Rate(8_000_000), first_waited: None });
        let feedback_for = |&window: &f64| {
            let mut header = header(window);
            xcp.write_price_header(&PACKET, &mut header);
            header.feedback
        };
        windows.iter().map(feedback_for).collect()
    }

    #[test]
    fn spare_capacity_is_divided_equally_among_flows_whatever_their_rates() {
        // Five packets of 1000 bytes in 10 ms are half of the link: 0.4 x 500,000 bytes per second are allocated. The four packets of one
        // flow together get as much as the single packet of the other.
        let feedback_of = feedback_of(&[4.0, 4.0, 4.0, 4.0, 1.0], 0);
        assert!((feedback_of.iter().sum::<f64>() - 200_000.0).abs() < 1e-6, "{feedback_of:?}");
        assert!((feedback_of[..4].iter().sum::<f64>() - feedback_of[4]).abs() < 1e-6, "{feedback_of:?}");
    }

    #[test]
    fn a_queue_reduces_rates_in_proportion_and_a_tenth_is_shuffled_in_balance() {
        // Ten packets fill the link; a queue of ten packets removes 0.226 x 10,000 / 0.01.
        let taken = feedback_of(&[10.0; 10], 10);
        assert!((taken.iter().sum::<f64>() + 226_000.0).abs() < 1e-6, "{taken:?}");
        // In balance a tenth of a million is shuffled, from a flow with nine packets to one with a single packet.
        let mut windows = [9.0; 10];
        windows[9] = 1.0;
        let shuffled = feedback_of(&windows, 0);
        assert!(shuffled.iter().sum::<f64>().abs() < 1e-6, "{shuffled:?}");
        assert!((shuffled[9] - (50_000.0 - 10_000.0)).abs() < 1e-6, "{shuffled:?}");
    }

    #[test]
    fn the_lowest_feedback_of_a_path_applies_and_the_remainder_is_left_for_others() {
        let mut xcp = Xcp { cp: 1e7, residue_pos_fbk: 1e5, ..Xcp::new(&XcpSpec::default()) };
        let mut limited = PriceHeader { feedback: 100.0, ..header(10.0) };
        xcp.write_price_header(&PACKET, &mut limited);
        assert_eq!((limited.feedback, xcp.residue_pos_fbk), (100.0, 1e5 - 100.0));
        let mut new = PriceHeader { rtt: TimeDelta::ZERO, ..header(1.0) };
        xcp.write_price_header(&PACKET, &mut new);
        assert_eq!(new.feedback, 0.0);
    }
}
