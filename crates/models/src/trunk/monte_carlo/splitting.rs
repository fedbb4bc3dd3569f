//! Importance splitting in the form RESTART (Villen-Altamirano and Villen-Altamirano, "RESTART: a method for accelerating rare event
//! simulations", ITC-13, 1991; Garvels, "The splitting method in rare event simulation", thesis, University of Twente, 2000).
//!
//! Each time a walk enters an occupancy that is a threshold, it is split: `factor - 1` copies continue from there, each with its
//! own random numbers, until they fall below the threshold at which they were created. The walk itself continues indefinitely. If
//! the product of the factors up to an occupancy is P, there are P times as many walks, each with weight 1/P, and the expected
//! sum is the long-run count of a single walk for any thresholds and factors. These determine only the effort. No regeneration is
//! required, which would never occur in a large trunk.

use super::Switch;
use super::random::Random;

/// Splitting factors by the occupancy entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// By occupancy; 1 where there is no threshold.
    factors: Vec<u32>,
}

/// Number of entries into an occupancy that determines its frequency to about ten per cent.
pub const ENOUGH: u64 = 100;

impl Plan {
    /// No thresholds, for a trunk with a capacity of `places` packets.
    pub fn none(places: u32) -> Plan {
        Plan { factors: vec![1; places as usize + 1] }
    }

    /// Capacity of the trunk in packets.
    pub fn places(&self) -> u32 {
        self.factors.len() as u32 - 1
    }

    /// A plan by which every occupancy above the usual ones is entered as often as these, as far as the counts `entered`,
    /// obtained under this plan, allow. This equalises the effort per threshold, which is near the optimum (Garvels, chapter 2).
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

    /// Occupancies at which walks are split, and the factors.
    pub fn thresholds(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..).zip(self.factors.iter().copied()).filter(|(_, factor)| *factor > 1)
    }

    /// Number of walks at a full trunk, relative to a direct simulation.
    pub fn copies(&self) -> f64 {
        self.factors.iter().map(|factor| f64::from(*factor)).product()
    }
}

/// The highest occupancy such that all occupancies from `usual` up to it were entered often enough.
pub fn known_up_to(entered: &[u64], usual: usize) -> usize {
    usual + entered[usual + 1..].iter().take_while(|count| **count >= ENOUGH).count()
}

/// Counts.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Packets that arrived at the walk itself.
    pub arrived: u64,
    /// Packets that arrived at its copies, including the one at which a copy ended.
    pub retried: u64,
    /// Packets lost, in the walk and in its copies.
    pub lost: u64,
    /// Accepted packets by the resulting occupancy, in the walk and in its copies; empty if there are no thresholds and none are
    /// being searched.
    pub entered: Vec<u64>,
}

/// A trunk that is simulated indefinitely, and copies of it that are simulated for a while.
pub struct Walk<S> {
    switch: S,
    random: Random,
    tally: Tally,
    /// One per threshold. Their contents do not outlive a retrial.
    copies: Vec<S>,
}

/// A walk of any variant.
pub trait Walker: Send + Sync {
    /// Resets the counts and uses this plan from now on.
    fn restart(&mut self, plan: &Plan, count_entries: bool);

    /// Simulates until `arrivals` packets have arrived since the restart, or for about `slice` packets including copies.
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

/// The occupancy has increased by one. If it is a threshold, splits the walk. There is one copy for this threshold and each above
/// it.
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
