//! The available bit rate service (ABR): the rate of the source of a virtual channel, as controlled by returning resource management cells
//! (RM cells) (ATM Forum, "Traffic management specification version 4.0", af-tm-0056.000, 1996, section 5.10.4; rules are numbered as
//! there).
//!
//! Differs: rates are exact, not in the 16-bit floating point of RM cells (section 5.10.3.2). There are no out-of-rate RM cells (rule 11):
//! a source whose rate would fall below TCR keeps TCR, the rate of such cells (`SourceSpec::min`). CRM follows from TBE and Nrm (section
//! 5.10.2), but ICR is a setting and is not reduced to TBE / FRTT. The two directions of a channel are independent: a destination returns
//! backward RM cells on arrival, and they use none of its sending rate (rule 3b).

use crate::primitives::rm_cell::RmCell;
use crate::primitives::sizes::CELL_BYTES;
use crate::primitives::units::{Rate, Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// Parameters that a source has negotiated with the network (section 5.10.2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceSpec {
    /// Peak cell rate (PCR), in whole cells of 53 bytes.
    pub peak: Rate,
    /// Minimum cell rate (MCR); `None` is zero.
    pub minimum: Option<Rate>,
    /// Initial cell rate (ICR), from MCR to PCR.
    pub initial: Rate,
    /// Maximum number of cells per forward RM cell, including the RM cell (Nrm); at least 2.
    pub nrm: u32,
    /// Minimum number of cells between two forward RM cells (Mrm).
    pub mrm: u32,
    /// Maximum time between forward RM cells if Mrm cells have been sent (Trm).
    pub trm: TimeDelta,
    /// Maximum rate increase per RM cell, as a fraction of PCR (RIF), above 0, at most 1.
    pub rif: f64,
    /// Rate decrease per RM cell with CI, as a fraction of the rate (RDF), above 0, at most 1.
    pub rdf: f64,
    /// Rate decrease per forward RM cell while none returns, as a fraction of the rate (CDF), 0 to 1.
    pub cdf: f64,
    /// Time after which an unused rate above ICR is lost (ADTF).
    pub adtf: TimeDelta,
    /// Cells that may be sent before the first RM cell returns (transient buffer exposure, TBE), at least 1.
    pub tbe: u32,
}

/// Tagged cell rate (TCR), 10 cells per second, at which out-of-rate RM cells are sent (section 5.10.2).
pub const TCR: Rate = Rate(10 * 8 * CELL_BYTES.0);

impl SourceSpec {
    /// Default values of the specification (section 5.10.2) for this peak rate.
    pub const fn with_peak(peak: Rate) -> SourceSpec {
        SourceSpec {
            peak,
            minimum: None,
            initial: peak,
            nrm: 32,
            mrm: 2,
            trm: TimeDelta::from_millis(100),
            rif: 1.0 / 16.0,
            rdf: 1.0 / 16.0,
            cdf: 1.0 / 16.0,
            adtf: TimeDelta::from_millis(500),
            tbe: 16_777_215,
        }
    }

    /// Lower bound of the rate.
    pub fn min(&self) -> Rate {
        self.minimum.map_or(TCR, |minimum| minimum.max(TCR)).min(self.peak)
    }

    /// Forward RM cells that may be sent before one returns (CRM).
    fn crm(&self) -> u32 {
        self.tbe.div_ceil(self.nrm)
    }
}

/// State of a source.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Source {
    /// Allowed cell rate (ACR).
    acr: Rate,
    /// Time of the last forward RM cell.
    last_rm: Option<Time>,
    /// Cells sent since, excluding that one.
    since_rm: u32,
    /// Forward RM cells sent since one returned.
    unanswered: u32,
}

impl Source {
    /// Rule 2.
    pub fn new(spec: &SourceSpec) -> Source {
        Source { acr: spec.initial, last_rm: None, since_rm: 0, unanswered: 0 }
    }

    /// ACR.
    pub fn rate(&self) -> Rate {
        self.acr
    }

    /// Time between cells.
    pub fn spacing(&self) -> TimeDelta {
        self.acr.time_to_send(CELL_BYTES)
    }

    /// Whether the next cell must be a forward RM cell (rules 2 and 3a).
    pub fn owes_rm(&self, spec: &SourceSpec, now: Time) -> bool {
        let Some(last) = self.last_rm else { return true };
        self.since_rm + 1 >= spec.nrm || (self.since_rm >= spec.mrm && now.since(last) >= spec.trm)
    }

    /// A data cell is sent.
    pub fn on_data(&mut self) {
        self.since_rm += 1;
    }

    /// A forward RM cell is sent, by rules 5 to 7 and 10. Returns its fields.
    pub fn on_forward_rm(&mut self, spec: &SourceSpec, now: Time) -> RmCell {
        if self.acr > spec.initial && self.last_rm.is_some_and(|last| now.since(last) > spec.adtf) {
            self.acr = spec.initial;
        }
        if self.unanswered >= spec.crm() {
            self.reduce(spec, spec.cdf);
        }
        (self.last_rm, self.since_rm) = (Some(now), 0);
        self.unanswered = self.unanswered.saturating_add(1);
        RmCell { ccr: self.acr, er: spec.peak, ci: false, ni: false }
    }

    /// A backward RM cell is received (rules 8 and 9).
    pub fn on_backward_rm(&mut self, spec: &SourceSpec, rm: &RmCell) {
        self.unanswered = 0;
        if rm.ci {
            self.reduce(spec, spec.rdf);
        } else if !rm.ni {
            let more = (spec.rif * spec.peak.0 as f64) as u64;
            self.acr = Rate(self.acr.0.saturating_add(more)).min(spec.peak);
        }
        self.acr = self.acr.min(rm.er).max(spec.min());
    }

    fn reduce(&mut self, spec: &SourceSpec, share: f64) {
        let less = (self.acr.0 as f64 * share).ceil() as u64;
        self.acr = Rate(self.acr.0.saturating_sub(less)).max(spec.min());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEGA: u64 = 1_000_000;

    /// Peak 160 Mbit/s, initial 16, minimum 8: RIF adds 10 Mbit/s.
    fn spec() -> SourceSpec {
        let (minimum, initial) = (Some(Rate(8 * MEGA)), Rate(16 * MEGA));
        SourceSpec { minimum, initial, ..SourceSpec::with_peak(Rate(160 * MEGA)) }
    }

    /// A backward RM cell with this explicit rate in Mbit/s, and these bits.
    fn back(er: u64, ci: bool, ni: bool) -> RmCell {
        RmCell { ccr: Rate(1), er: Rate(er * MEGA), ci, ni }
    }

    fn after(rms: &[RmCell]) -> f64 {
        let mut source = Source::new(&spec());
        rms.iter().for_each(|rm| source.on_backward_rm(&spec(), rm));
        source.rate().0 as f64 / MEGA as f64
    }

    #[test]
    fn a_source_begins_with_icr() {
        assert_eq!(after(&[]), 16.0);
    }

    #[test]
    fn without_congestion_it_adds_rif_times_pcr_up_to_pcr() {
        assert_eq!(after(&[back(160, false, false)]), 26.0);
        assert_eq!(after(&[back(160, false, false); 2]), 36.0);
        // 16 + 14 * 10 = 156, and then at most 160.
        assert_eq!((after(&[back(160, false, false); 14]), after(&[back(160, false, false); 15])), (156.0, 160.0));
    }

    #[test]
    fn with_ci_it_decreases_by_rdf_times_acr_down_to_mcr() {
        assert_eq!(after(&[back(160, true, false)]), 15.0);
        // 15 - 15/16.
        assert_eq!(after(&[back(160, true, false); 2]), 14.0625);
        assert_eq!(after(&[back(160, true, false); 40]), 8.0);
    }

    #[test]
    fn with_ni_it_stays() {
        assert_eq!(after(&[back(160, false, true)]), 16.0);
        // CI takes precedence.
        assert_eq!(after(&[back(160, true, true)]), 15.0);
    }

    #[test]
    fn er_limits_the_rate_allowed_by_ci_and_ni_and_mcr_limits_er() {
        assert_eq!(after(&[back(20, false, false)]), 20.0);
        assert_eq!(after(&[back(12, true, false)]), 12.0);
        assert_eq!(after(&[back(3, false, false)]), 8.0);
    }

    #[test]
    fn without_mcr_the_minimum_is_ten_cells_per_second() {
        let spec = SourceSpec { minimum: None, ..spec() };
        let mut source = Source::new(&spec);
        source.on_backward_rm(&spec, &back(0, false, false));
        assert_eq!(source.rate(), Rate(4240));
        assert_eq!(source.spacing(), TimeDelta::from_millis(100));
    }

    #[test]
    fn the_first_and_every_32nd_cell_is_an_rm_cell() {
        let (spec, mut source) = (spec(), Source::new(&spec()));
        let mut sent = Vec::new();
        for _ in 0..65 {
            let is_rm = source.owes_rm(&spec, Time::ZERO);
            if is_rm {
                source.on_forward_rm(&spec, Time::ZERO);
            } else {
                source.on_data();
            }
            sent.push(is_rm);
        }
        let places: Vec<usize> = (0..65).filter(|&place| sent[place]).collect();
        assert_eq!(places, [0, 32, 64]);
    }

    #[test]
    fn after_trm_two_cells_are_enough() {
        let (spec, mut source) = (spec(), Source::new(&spec()));
        source.on_forward_rm(&spec, Time::ZERO);
        source.on_data();
        let (at_trm, before) = (Time::ZERO + spec.trm, Time(spec.trm.0 - 1));
        assert!(!source.owes_rm(&spec, at_trm));
        source.on_data();
        assert!(source.owes_rm(&spec, at_trm) && !source.owes_rm(&spec, before));
    }

    #[test]
    fn a_rate_above_icr_is_lost_if_unused_for_longer_than_adtf() {
        let spec = spec();
        let rate_after = |pause: TimeDelta| {
            let mut source = Source::new(&spec);
            source.on_forward_rm(&spec, Time::ZERO);
            source.on_backward_rm(&spec, &back(160, false, false));
            source.on_forward_rm(&spec, Time::ZERO + pause).ccr
        };
        assert_eq!(rate_after(spec.adtf), Rate(26 * MEGA));
        assert_eq!(rate_after(TimeDelta(spec.adtf.0 + 1)), Rate(16 * MEGA));
    }

    #[test]
    fn beyond_crm_unanswered_cells_each_forward_rm_cell_lowers_acr_by_cdf() {
        // 64 cells may be in flight: CRM is 2.
        let spec = SourceSpec { tbe: 64, ..spec() };
        let mut source = Source::new(&spec);
        let mut ccr = || source.on_forward_rm(&spec, Time::ZERO).ccr.0;
        assert_eq!([ccr(), ccr(), ccr(), ccr()], [16_000_000, 16_000_000, 15_000_000, 14_062_500]);
        source.on_backward_rm(&spec, &back(160, false, true));
        assert_eq!(source.on_forward_rm(&spec, Time::ZERO).ccr, Rate(14_062_500));
    }

    #[test]
    fn a_forward_rm_cell_carries_acr_and_requests_pcr() {
        let rm = Source::new(&spec()).on_forward_rm(&spec(), Time::ZERO);
        assert_eq!(rm, RmCell { ccr: Rate(16 * MEGA), er: Rate(160 * MEGA), ci: false, ni: false });
    }
}
