//! Importance factors in the form RESTART (Villen-Altamirano and Villen-Altamirano, "RESTART: a method for accelerating rare event
//! simulations", ITC-13, 1991; Garvels, "The factors method in rare event simulation", thesis, University of Twente, 2000).
//!
//! Each time a trajectory enters an occupancy that is a threshold, it is split: `factor - 1` copies continue from there, each with its
//! own random numbers, until they fall below the threshold at which they were created. The trajectory itself continues indefinitely. If
//! the product of the factors up to an occupancy is P, there are P times as many trajectories, each with weight 1/P, and the expected
//! sum is the long-run count of a single trajectory for any thresholds and factors. These determine only the effort. No regeneration is
//! required, which would never occur in a large trunk.

use super::Switch;
use super::random::Random;

/// Splitting factors by the occupancy entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplittingFactors {
    /// By occupancy; 1 where there is no threshold.
    by_occupancy: Vec<u32>,
}

/// Number of entries into an occupancy that determines its frequency to about ten per cent.
pub const ENOUGH: u64 = 100;

impl SplittingFactors {
    /// No thresholds, for a trunk with a capacity of `places` packets.
    pub fn none(places: u32) -> SplittingFactors {
        SplittingFactors { by_occupancy: vec![1; places as usize + 1] }
    }

    /// Capacity of the trunk in packets.
    pub fn places(&self) -> u32 {
        self.by_occupancy.len() as u32 - 1
    }

    /// Factors by which every occupancy above the usual ones is entered as often as these, as far as the counts `entered`,
    /// obtained with the present factors, allow. This equalises the effort per threshold, which is near the optimum (Garvels, chapter 2).
    pub fn refined(&self, entered: &[u64]) -> SplittingFactors {
        let mut frequencies = vec![0.0; entered.len()];
        let mut copies = 1.0;
        for occupancy in 1..entered.len() {
            frequencies[occupancy] = entered[occupancy] as f64 / copies;
            copies *= f64::from(self.by_occupancy[occupancy]);
        }
        let usual = (0..entered.len()).max_by(|a, b| frequencies[*a].total_cmp(&frequencies[*b])).unwrap_or(0);
        let mut refined = SplittingFactors::none(self.places());
        let mut copies = 1.0;
        for occupancy in usual + 1..=known_up_to(entered, usual) {
            let wanted = frequencies[usual] / frequencies[occupancy];
            let factor = (wanted / copies).round().clamp(1.0, f64::from(u32::MAX));
            refined.by_occupancy[occupancy] = factor as u32;
            copies *= factor;
        }
        refined
    }

    /// Occupancies at which trajectories are split, and the factors.
    pub fn thresholds(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..).zip(self.by_occupancy.iter().copied()).filter(|(_, factor)| *factor > 1)
    }

    /// Number of trajectories at a full trunk, relative to a direct simulation.
    pub fn copies(&self) -> f64 {
        self.by_occupancy.iter().map(|factor| f64::from(*factor)).product()
    }
}

/// The highest occupancy such that all occupancies from `usual` up to it were entered often enough.
pub fn known_up_to(entered: &[u64], usual: usize) -> usize {
    usual + entered[usual + 1..].iter().take_while(|count| **count >= ENOUGH).count()
}

/// Counts.
#[derive(Clone, Debug, Default)]
pub struct PacketCounts {
    /// Packets that arrived at the trajectory itself.
    pub arrived: u64,
    /// Packets that arrived at its copies, including the one at which a copy ended.
    pub retried: u64,
    /// Packets lost, in the trajectory and in its copies.
    pub lost: u64,
    /// Accepted packets by the resulting occupancy, in the trajectory and in its copies; empty if there are no thresholds and none are
    /// being searched.
    pub entered: Vec<u64>,
}

/// A trunk that is simulated indefinitely, and copies of it that are simulated for a while.
pub struct SplittingTrajectory<S> {
    switch: S,
    random: Random,
    counts: PacketCounts,
    /// One per threshold. Their contents do not outlive a retrial.
    copies: Vec<S>,
}

/// A trajectory of any variant.
pub trait Trajectory: Send + Sync {
    /// Resets the counts and uses these factors from now on.
    fn restart(&mut self, factors: &SplittingFactors, count_entries: bool);

    /// Simulates until `arrivals` packets have arrived since the restart, or for about `slice` packets including copies.
    fn advance(&mut self, factors: &SplittingFactors, arrivals: u64, slice: u64);

    fn counts(&self) -> &PacketCounts;
}

impl<S: Switch> SplittingTrajectory<S> {
    pub fn new(switch: S, random: Random) -> SplittingTrajectory<S> {
        SplittingTrajectory { switch, random, counts: PacketCounts::default(), copies: Vec::new() }
    }
}

impl<S: Switch> Trajectory for SplittingTrajectory<S> {
    fn restart(&mut self, factors: &SplittingFactors, count_entries: bool) {
        self.copies = factors.thresholds().map(|_| self.switch.clone()).collect();
        let counted = if count_entries { factors.by_occupancy.len() } else { 0 };
        self.counts = PacketCounts { entered: vec![0; counted], ..PacketCounts::default() };
    }

    fn advance(&mut self, factors: &SplittingFactors, arrivals: u64, slice: u64) {
        let SplittingTrajectory { switch, random, counts, copies } = self;
        let stop = (counts.arrived + counts.retried).saturating_add(slice);
        let counts_entries = !counts.entered.is_empty();
        let places = factors.places();
        while counts.arrived < arrivals && counts.arrived + counts.retried < stop {
            let found = switch.arrival(random);
            counts.arrived += 1;
            if found == places {
                counts.lost += 1;
            } else if counts_entries {
                entered(found + 1, switch, factors, random, counts, copies);
            }
        }
    }

    fn counts(&self) -> &PacketCounts {
        &self.counts
    }
}

/// The occupancy has increased by one. If it is a threshold, splits the trajectory. There is one copy for this threshold and each above
/// it.
fn entered<S: Switch>(
    occupancy: u32,
    switch: &S,
    factors: &SplittingFactors,
    random: &mut Random,
    counts: &mut PacketCounts,
    copies: &mut [S],
) {
    counts.entered[occupancy as usize] += 1;
    let factor = factors.by_occupancy[occupancy as usize];
    if factor == 1 {
        return;
    }
    let Some((copy, deeper)) = copies.split_first_mut() else { return };
    let places = factors.places();
    for _ in 1..factor {
        copy.clone_from(switch);
        loop {
            let found = copy.arrival(random);
            counts.retried += 1;
            if found < occupancy {
                break;
            }
            if found == places {
                counts.lost += 1;
            } else {
                entered(found + 1, copy, factors, random, counts, deeper);
            }
        }
    }
}
