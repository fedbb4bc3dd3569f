//! Importance splitting in the form RESTART (Villen-Altamirano and Villen-Altamirano, "RESTART: a method for accelerating rare event
//! simulations", ITC-13, 1991; Garvels, "The splitting method in rare event simulation", thesis, University of Twente, 2000).
//!
//! Each time a walk enters an occupancy that is a threshold, it is tried again from there: `factor - 1` copies go on beside it, each
//! with chances of its own, until they fall below the threshold at which they were made. The walk itself goes on for ever. So
//! where the product of the factors up to an occupancy is P, there are P times as many walks, each of which counts as 1/P, and
//! the expected sum is what one walk alone would count in the long run, whatever thresholds and factors are. These decide only the
//! effort. Nothing has to regenerate, which a large trunk never does.

use super::Switch;
use super::random::Random;

/// How often a walk is tried again, by the occupancy it enters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// By occupancy; 1 where there is no threshold.
    factors: Vec<u32>,
}

/// Entries into an occupancy that make its frequency known to some ten per cent.
pub const ENOUGH: u64 = 100;

impl Plan {
    /// No thresholds, for a trunk that holds `places` packets.
    pub fn none(places: u32) -> Plan {
        Plan { factors: vec![1; places as usize + 1] }
    }

    /// Packets that the trunk holds.
    pub fn places(&self) -> u32 {
        self.factors.len() as u32 - 1
    }

    /// A plan by which every occupancy above the usual ones is entered as often as these, as far as `entered` tells, which was counted
    /// under this plan. That keeps the effort for each threshold the same, which is near the optimum (Garvels, chapter 2).
    pub fn refined(&self, entered: &[u64]) -> Plan {
        let mut frequencies = vec![0.0; entered.len()];
        let mut copies = 1.0;
        for occupancy in 1..entered.len() {
            frequencies[occupancy] = entered[occupancy] as f64 / copies;
            copies *= f64::from(self.factors[occupancy]);
        }
        let usual = (0..entered.len()).max_by(|a, b| frequencies[*a].total_cmp(&frequencies[*b])).unwrap_or(0);
        let mut refined = Plan::none(self.places());
        let mut copies = 1.0;
        for occupancy in usual + 1..=known_up_to(entered, usual) {
            let wanted = frequencies[usual] / frequencies[occupancy];
            let factor = (wanted / copies).round().clamp(1.0, f64::from(u32::MAX));
            refined.factors[occupancy] = factor as u32;
            copies *= factor;
        }
        refined
    }

    /// Occupancies at which walks are tried again, and into how many.
    pub fn thresholds(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..).zip(self.factors.iter().copied()).filter(|(_, factor)| *factor > 1)
    }

    /// How many walks there are where the trunk is full, for each that there would be.
    pub fn copies(&self) -> f64 {
        self.factors.iter().map(|factor| f64::from(*factor)).product()
    }
}

/// The highest occupancy up to which, from `usual` on, all were entered often enough.
pub fn known_up_to(entered: &[u64], usual: usize) -> usize {
    usual + entered[usual + 1..].iter().take_while(|count| **count >= ENOUGH).count()
}

/// What was counted.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Packets that came to the walk itself.
    pub arrived: u64,
    /// Packets that came to its copies, that at which a copy ended included.
    pub retried: u64,
    /// Packets lost, in the walk and in its copies.
    pub lost: u64,
    /// Accepted packets by the occupancy that they led to, in the walk and in its copies; empty where there is no threshold and none is
    /// looked for.
    pub entered: Vec<u64>,
}

/// A trunk that is followed for ever, and copies of it that are followed for a while.
pub struct Walk<S> {
    switch: S,
    random: Random,
    tally: Tally,
    /// One for each threshold; what is in them does not outlive a retrial.
    copies: Vec<S>,
}

/// A walk of any reading.
pub trait Walker: Send + Sync {
    /// Counts anew, under this plan from now on.
    fn restart(&mut self, plan: &Plan, count_entries: bool);

    /// Goes on until `arrivals` packets have come since the restart, or for about `slice` packets, those of copies included.
    fn advance(&mut self, plan: &Plan, arrivals: u64, slice: u64);

    fn tally(&self) -> &Tally;
}

impl<S: Switch> Walk<S> {
    pub fn new(switch: S, random: Random) -> Walk<S> {
        Walk { switch, random, tally: Tally::default(), copies: Vec::new() }
    }
}

impl<S: Switch> Walker for Walk<S> {
    fn restart(&mut self, plan: &Plan, count_entries: bool) {
        self.copies = plan.thresholds().map(|_| self.switch.clone()).collect();
        let counted = if count_entries { plan.factors.len() } else { 0 };
        self.tally = Tally { entered: vec![0; counted], ..Tally::default() };
    }

    fn advance(&mut self, plan: &Plan, arrivals: u64, slice: u64) {
        let Walk { switch, random, tally, copies } = self;
        let stop = (tally.arrived + tally.retried).saturating_add(slice);
        let counts_entries = !tally.entered.is_empty();
        let places = plan.places();
        while tally.arrived < arrivals && tally.arrived + tally.retried < stop {
            let found = switch.arrival(random);
            tally.arrived += 1;
            if found == places {
                tally.lost += 1;
            } else if counts_entries {
                entered(found + 1, switch, plan, random, tally, copies);
            }
        }
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }
}

/// The trunk holds so many packets, one more than before: where that is a threshold, it is tried again from here. There is one copy
/// for this threshold and each above it.
fn entered<S: Switch>(occupancy: u32, switch: &S, plan: &Plan, random: &mut Random, tally: &mut Tally, copies: &mut [S]) {
    tally.entered[occupancy as usize] += 1;
    let factor = plan.factors[occupancy as usize];
    if factor == 1 {
        return;
    }
    let Some((copy, deeper)) = copies.split_first_mut() else { return };
    let places = plan.places();
    for _ in 1..factor {
        copy.clone_from(switch);
        loop {
            let found = copy.arrival(random);
            tally.retried += 1;
            if found < occupancy {
                break;
            }
            if found == places {
                tally.lost += 1;
            } else {
                entered(found + 1, copy, plan, random, tally, deeper);
            }
        }
    }
}
