//! ERICA, a switch that assigns sending rates to the sources of an available bit rate service (ABR): explicit rate indication for
//! congestion avoidance (Kalyanaraman, Jain, Fahmy, Goyal and Vandalore, "The ERICA switch algorithm for ABR traffic management in ATM
//! networks", IEEE/ACM ToN 8(1), 2000; Jain and others, ATM Forum 96-1172, appendix A).
//!
//! It counts arrivals over each averaging interval. The ABR capacity is the link's rate at the target utilisation minus the other traffic,
//! and the load factor z is the ABR input divided by that capacity. A channel may send at the larger of its share of the capacity and its
//! present rate divided by z. While the load is at most delta above the target, it may also send at the largest rate allowed to any channel
//! in the previous interval, which equalises the rates of all channels that are limited here. The load may therefore settle anywhere from
//! the target to (1 + delta) times the target: within that range, allowed rates stay allowed.
//!
//! Channels with a minimum cell rate (MCR) get it in addition to a share of the rest: the share is that of the capacity without the MCRs of
//! active channels (ExcessFairshare), and load factor and rates refer to the rates above the MCRs (Vandalore, Fahmy, Jain, Goyal and Goyal, "A
//! definition of general weighted fairness and its support in explicit rate switch algorithms", ICNP 1998; the same, "Overload based
//! explicit rate switch schemes with MCR guarantees", IC3N 1999). Without MCRs this is ERICA. A part of an MCR that its channel does not use
//! is available to others.
//!
//! Differs: the explicit rate is written to forward RM cells as they leave, and the destination returns it, whereas the algorithm writes it
//! to passing backward cells; so the two directions of a link need not be one switch. A channel is active in an interval if a cell of it
//! arrived. Intervals are defined by time, not by cells; rates of channels are the reported ones (CCR); and neither the load nor the number
//! of channels is averaged over intervals. No rate is written before the first interval ends. The switch neither marks nor discards.

use super::support::{Occupancy, PeriodEnd, Policy, Unit, Verdict};
use crate::primitives::rm_cell::RmCell;
use crate::primitives::units::{Bytes, Rate, Time, TimeDelta};
use crate::settings::{Kind, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};

member! {
    /// Assigns the sources of an available bit rate service (`abr`) rates that fill the link and are fair (ERICA).
    Erica = "erica", "Kalyanaraman, Jain, Fahmy, Goyal and Vandalore, IEEE/ACM ToN 8(1), 2000; MCRs: Vandalore and others, ICNP 1998";

    pub struct EricaSpec {
        /// Target utilisation: the fraction of the link's rate that is allocated.
        target: f64 = 0.9 => Kind::Probability,
        /// Averaging interval over which load and active channels are counted, at least 1 us.
        averaging_interval: TimeDelta = TimeDelta::from_millis(5) => Kind::Duration { min: TimeDelta::from_micros(1) },
        /// Rates are equalised while the load factor is at most 1 plus this value (delta).
        delta: f64 = 0.1 => Kind::Number { min: 0.0, max: 10.0 },
    }
}

impl Settings for EricaSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.target == 0.0 => ["target"], "`target` of 0 allocates no rate", "above 0, at most 1";
            warning if self.target * (1.0 + self.delta) > 1.0 => ["target", "delta"],
                "`target` and `delta` let the load settle above the rate of the link, at up to (1 + delta) times the target",
                "at most 1 in all";
        }
    }

    fn samples() -> Vec<EricaSpec> {
        let usual = EricaSpec::default();
        vec![usual, EricaSpec { target: 0.95, averaging_interval: TimeDelta::from_millis(1), delta: 0.0 }]
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Erica {
    spec: EricaSpec,
    /// Number of the interval, from 1.
    interval: u64,
    /// ABR and other arrivals in this interval.
    abr: Bytes,
    others: Bytes,
    /// ABR arrivals in this interval above the MCRs of their channels.
    excess: Bytes,
    /// Number of ABR channels with arrivals in this interval, and the sum of their MCRs in bit/s.
    active: u32,
    guaranteed: u64,
    known: Option<IntervalMeasurement>,
    /// Largest rate above its MCR allowed to a channel in this interval, in bit/s.
    largest: f64,
}

/// Measurements of the last interval, in bit/s.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct IntervalMeasurement {
    /// ABR capacity.
    capacity: f64,
    /// Load factor of the rates above the MCRs, z.
    load: f64,
    /// Share of the capacity without the MCRs.
    fair_share: f64,
    /// Largest rate above its MCR allowed to a channel in that interval.
    largest_before: f64,
}

/// Switch state per virtual channel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Channel {
    /// Minimum cell rate (MCR), if it is above 0.
    minimum: Option<Rate>,
    /// Arrivals since the start of the last interval in which a unit arrived.
    arrived: Bytes,
    /// Current cell rate in bit/s, after the first RM cell. A channel with a rate belongs to ABR.
    ccr: Option<f64>,
    /// Last interval in which a unit of the channel arrived.
    seen: u64,
    /// Last allowed rate in bit/s, and its interval. The rate is constant within an interval.
    assigned_rate: f64,
    assigned_interval: u64,
}

impl Channel {
    fn guaranteed(&self) -> Rate {
        self.minimum.unwrap_or(Rate(0))
    }
}

impl Erica {
    pub(super) fn new(spec: &EricaSpec) -> Erica {
        let none = Bytes(0);
        Erica {
            spec: *spec,
            interval: 1,
            abr: none,
            others: none,
            excess: none,
            active: 0,
            guaranteed: 0,
            known: None,
            largest: 0.0,
        }
    }

    /// Allowed rate above the MCR of a channel at this rate above it, in bit/s.
    fn allowed(&self, known: &IntervalMeasurement, ccr: f64) -> f64 {
        // Without load, the rate divided by the load factor is unbounded.
        let own = if known.load > 0.0 { ccr / known.load } else { known.capacity };
        let others = if known.load > 1.0 + self.spec.delta { known.fair_share } else { known.largest_before };
        let allowed = own.max(others).max(known.fair_share);
        // A channel below its share first rises to the share, so that others have time to make room for more.
        if allowed > known.fair_share && ccr < known.fair_share { known.fair_share } else { allowed }.min(known.capacity)
    }
}

impl Policy for Erica {
    type PerFlow = Channel;
    const IS_RANDOM: bool = false;
    const IS_STEPPED: bool = true;
    const PROCESSES_RM: bool = true;

    fn assigned_share(&self) -> Option<f64> {
        Some(self.spec.target)
    }

    fn on_arrival(&mut self, unit: &Unit, channel: &mut Channel, _buffer: &Occupancy, _now: Time) -> Verdict {
        if channel.ccr.is_none() {
            self.others += unit.bytes;
            return Verdict::Accept;
        }
        self.abr += unit.bytes;
        if channel.seen != self.interval {
            (channel.seen, channel.arrived) = (self.interval, Bytes(0));
            self.active += 1;
            self.guaranteed += channel.guaranteed().0;
        }
        channel.arrived += unit.bytes;
        let guaranteed = channel.guaranteed().bytes_in(self.spec.averaging_interval);
        self.excess += unit.bytes.min(Bytes(channel.arrived.0.saturating_sub(guaranteed.0)));
        Verdict::Accept
    }

    fn guarantee(channel: &mut Channel, rate: Rate) {
        channel.minimum = Some(rate);
    }

    fn on_forward_rm(&mut self, channel: &mut Channel, rm: &RmCell) {
        channel.ccr = Some(rm.ccr.0 as f64);
    }

    fn explicit_rate(&mut self, channel: &mut Channel) -> Option<Rate> {
        let (known, ccr) = (self.known?, channel.ccr?);
        if channel.assigned_interval != self.interval {
            let guaranteed = channel.guaranteed().0 as f64;
            let above = self.allowed(&known, (ccr - guaranteed).max(0.0));
            self.largest = self.largest.max(above);
            let rate = guaranteed + above.min((known.capacity - guaranteed).max(0.0));
            (channel.assigned_rate, channel.assigned_interval) = (rate, self.interval);
        }
        Some(Rate(channel.assigned_rate as u64))
    }

    fn period(&self) -> Option<TimeDelta> {
        Some(self.spec.averaging_interval)
    }

    fn on_period(&mut self, end: &PeriodEnd) {
        let rate_of = |bytes: Bytes| bytes.0 as f64 * 8.0 / self.spec.averaging_interval.seconds();
        let capacity = (self.spec.target * end.rate.0 as f64 - rate_of(self.others)).max(0.0);
        let unguaranteed = capacity - rate_of(self.abr - self.excess);
        let load = if unguaranteed > 0.0 { rate_of(self.excess) / unguaranteed } else { f64::INFINITY };
        let fair_share = (capacity - self.guaranteed as f64).max(0.0) / f64::from(self.active.max(1));
        self.known = Some(IntervalMeasurement { capacity, load, fair_share, largest_before: self.largest });
        self.largest = fair_share;
        (self.abr, self.others, self.excess) = (Bytes(0), Bytes(0), Bytes(0));
        (self.active, self.guaranteed) = (0, 0);
        self.interval += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::Units;

    const CELL: Unit = Unit { bytes: Bytes(53), is_last: false };

    /// A switch of 100 Mbit/s that allocates 90, and its channels.
    struct Switch {
        erica: Erica,
        channels: Vec<Channel>,
    }

    impl Switch {
        fn of(channels: usize) -> Switch {
            let spec = EricaSpec { averaging_interval: TimeDelta::from_millis(53), ..EricaSpec::default() };
            Switch { erica: Erica::new(&spec), channels: vec![Channel::default(); channels] }
        }

        /// An interval in which channels report and send these rates in Mbit/s; 125 cells are 1 Mbit/s.
        fn interval(&mut self, rates: &[u64], others: u64) {
            let buffer = Occupancy::of(Units(0), Bytes(0));
            for (channel, &rate) in self.channels.iter_mut().zip(rates).filter(|of| *of.1 > 0) {
                self.erica.on_forward_rm(channel, &RmCell { ccr: Rate(rate * 1_000_000), er: Rate(1), ci: false, ni: false });
                for _ in 0..125 * rate {
                    self.erica.on_arrival(&CELL, channel, &buffer, Time::ZERO);
                }
            }
            for _ in 0..125 * others {
                self.erica.on_arrival(&CELL, &mut Channel::default(), &buffer, Time::ZERO);
            }
            self.erica.on_period(&PeriodEnd { units: Units(0), bytes: Bytes(0), rate: Rate(100_000_000), first_waited: None });
        }

        /// The allowed rates, in Mbit/s.
        fn assigned_rate(&mut self) -> Vec<f64> {
            let rate = |channel| self.erica.explicit_rate(channel).map_or(f64::NAN, |rate| rate.0 as f64 / 1e6);
            self.channels.iter_mut().map(rate).collect()
        }
    }

    fn near(assigned_rate: &[f64], expected: &[f64]) {
        assert!(
            assigned_rate.len() == expected.len() && assigned_rate.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5),
            "{assigned_rate:?}"
        );
    }

    #[test]
    fn before_the_first_interval_ends_it_writes_nothing() {
        assert!(Switch::of(1).assigned_rate()[0].is_nan());
    }

    #[test]
    fn one_channel_gets_the_target() {
        let mut switch = Switch::of(1);
        switch.interval(&[10], 0);
        near(&switch.assigned_rate(), &[90.0]);
    }

    #[test]
    fn in_overload_each_channel_gets_its_share_or_its_rate_over_the_load() {
        // z = 180/90 = 2. Shares are 30; half of 120 is 60; half of 40 and of 20 is less than the share, and the channel below its share
        // rises no further than to it.
        let mut switch = Switch::of(3);
        switch.interval(&[120, 40, 20], 0);
        near(&switch.assigned_rate(), &[60.0, 30.0, 30.0]);
    }

    #[test]
    fn at_the_target_all_channels_get_the_largest_allowed_rate() {
        // z = 1. The first channel is allowed 60, so in the next interval channels that have reached their share, 45, are allowed 60, too.
        let mut switch = Switch::of(2);
        switch.interval(&[60, 30], 0);
        near(&switch.assigned_rate(), &[60.0, 45.0]);
        switch.interval(&[45, 45], 0);
        near(&switch.assigned_rate(), &[60.0, 60.0]);
        // Then z = 120/90, so each is allowed 45, and no more from then on.
        switch.interval(&[60, 60], 0);
        near(&switch.assigned_rate(), &[45.0, 45.0]);
        switch.interval(&[45, 45], 0);
        near(&switch.assigned_rate(), &[45.0, 45.0]);
    }

    #[test]
    fn other_channels_get_the_rate_unused_by_a_channel_limited_elsewhere() {
        // 10 and 50 of 90: z = 2/3. The first may have 45, and the second 50 / z = 75.
        let mut switch = Switch::of(2);
        switch.interval(&[10, 50], 0);
        near(&switch.assigned_rate(), &[45.0, 75.0]);
        switch.interval(&[10, 80], 0);
        near(&switch.assigned_rate(), &[45.0, 80.0]);
    }

    #[test]
    fn other_traffic_reduces_the_abr_capacity() {
        let mut switch = Switch::of(2);
        switch.interval(&[30, 30], 50);
        // 90 - 50 = 40 remain: z = 1.5.
        near(&switch.assigned_rate(), &[20.0, 20.0]);
        switch.interval(&[20, 20], 95);
        near(&switch.assigned_rate(), &[0.0, 0.0]);
    }

    #[test]
    fn a_channel_gets_its_mcr_and_a_share_of_the_rest() {
        // 90 - 60 = 30 without the MCR, of which each gets 15. Both begin with 60: 60 above the MCRs at 30, so z = 2.
        let mut switch = Switch::of(2);
        Erica::guarantee(&mut switch.channels[0], Rate(60_000_000));
        switch.interval(&[60, 60], 0);
        near(&switch.assigned_rate(), &[75.0, 30.0]);
        // 15 and 30 above the MCRs: z = 1.5, and then 15 and 20 from 45.
        switch.interval(&[75, 30], 0);
        near(&switch.assigned_rate(), &[75.0, 20.0]);
        // z = 35/30 > 1 + delta: 15 / z is below the share.
        switch.interval(&[75, 20], 0);
        near(&switch.assigned_rate(), &[75.0, 20.0 * 30.0 / 35.0]);
    }

    #[test]
    fn an_unused_mcr_is_available_to_others_and_returned_at_once() {
        let mut switch = Switch::of(2);
        Erica::guarantee(&mut switch.channels[0], Rate(60_000_000));
        // 10 of the 60 are used: 80 are left for 40 above the MCRs, so z = 0.5.
        switch.interval(&[10, 40], 0);
        near(&switch.assigned_rate(), &[75.0, 80.0]);
        // MCRs that exceed the capacity leave nothing for others.
        switch.interval(&[60, 80], 40);
        near(&switch.assigned_rate(), &[60.0, 0.0]);
    }

    #[test]
    fn only_channels_that_sent_have_a_share() {
        let mut switch = Switch::of(2);
        switch.interval(&[30, 30], 0);
        switch.interval(&[30, 0], 0);
        assert_eq!(switch.erica.known.map(|known| known.fair_share), Some(90e6));
    }

    #[test]
    fn the_allowed_rate_is_constant_within_an_interval() {
        let mut switch = Switch::of(1);
        switch.interval(&[180], 0);
        let before = switch.assigned_rate();
        switch.channels[0].ccr = Some(1e6);
        assert_eq!(switch.assigned_rate(), before);
    }
}
