//! Loss of a trunk in the detailed model, by simulation, with a 95 % confidence interval of a requested width.
//!
//! **Replications.** 32 trajectories have independent random numbers, and the interval is Student's over them. Half of them start empty
//! and half full. While a trajectory depends on its start, the halves differ and the interval is wide. A round counts only if the
//! halves agree within statistical error.
//!
//! **Rounds.** Each round continues from the end of the previous one, resets all counts, and has a length determined by the
//! rounds before it. The interval is that of the last round alone. The measured value therefore does not determine when measuring
//! stops, which would bias the interval: runs with a low variance by chance would end early. The first round is the warm-up;
//! where losses are rare, further rounds find thresholds for [`super::splitting`].
//!
//! Results do not depend on which thread runs the [`TrajectorySegment`]s of a round, or on their slicing.

use super::coupled::Coupled;
use super::fresh::Fresh;
use super::memoryless::Memoryless;
use super::own_length::OwnLength;
use super::random::Random;
use super::splitting::{ENOUGH, SplittingFactors, SplittingTrajectory, Trajectory};
use super::{OfferedTraffic, Switch};
use crate::parameter::ParameterError;
use crate::trunk::{Trunk, TrunkVariant};

/// Parameters of a simulation and its accuracy.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub trunk: Trunk,
    /// Intended load per transmitter, rho of (3.14).
    pub load: f64,
    pub variant: TrunkVariant,
    /// Width of the 95 % interval relative to the loss, above 0 and up to 0.5.
    pub relative_width: f64,
    /// Maximum number of packets to simulate in total: 100,000 to 10^15.
    pub max_arrivals: u64,
    /// Whether to use splitting for rare losses.
    pub splitting: bool,
    pub seed: u64,
}

/// A simulation in progress.
pub struct Simulation {
    settings: Settings,
    trajectories: Vec<Box<dyn Trajectory>>,
    splitting: SplittingFactors,
    stage: Stage,
    /// Packets per trajectory in this round, not counting copies.
    length: u64,
    /// Packets simulated in completed rounds.
    simulated: u64,
    /// Expected number of packets of the whole simulation; infinite while unknown.
    expected: f64,
    estimate: Estimate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Warm-up.
    Settling,
    /// The rarity of each occupancy is being estimated.
    Exploring,
    /// The loss is being measured.
    Measuring,
    Done,
}

/// Result of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Fraction of packets that are discarded.
    pub loss: f64,
    /// Half-width of its 95 % interval; NaN if by chance no packet was lost.
    pub half_width: f64,
    /// Whether the interval is as narrow as requested and the warm-up is complete.
    pub narrow: bool,
    /// Packets that arrived in the measured round, not counting copies.
    pub arrivals: u64,
    /// Packets that were discarded in it, counting copies.
    pub lost: u64,
    /// Packets simulated in all rounds, counting copies.
    pub simulated: u64,
    /// Occupancies at which trajectories were split, and the number of trajectories after the split; empty for a direct simulation.
    pub thresholds: Vec<(u32, u32)>,
}

const REPLICATIONS: u64 = 32;
/// Two-sided 95 % points of Student's t with 31 and with 30 degrees of freedom.
const STUDENT: f64 = 2.039_513_446_396_408;
const STUDENT_OF_HALVES: f64 = 2.042_272_456_301_238;
/// Packets per trajectory in the first rounds.
const FIRST_LENGTH: u64 = 1 << 11;
/// With fewer copies direct simulation takes no longer.
const WORTH_COPIES: f64 = 32.0;
/// Maximum growth from round to round, because the interval of a short round is unreliable.
const MAX_GROWTH: f64 = 8.0;
/// Rounds aim at a narrower interval than requested, so that they seldom miss by chance.
const AIM: f64 = 0.85;

impl Simulation {
    /// # Errors
    /// A load, a relative width or a number of packets out of range, or a buffer above 1,000,000 packets.
    pub fn new(settings: Settings) -> Result<Simulation, ParameterError> {
        if !(settings.relative_width > 0.0 && settings.relative_width <= 0.5) {
            return Err(ParameterError::new("relative_width", settings.relative_width, "above 0 and at most 0.5"));
        }
        if !(100_000..=1_000_000_000_000_000).contains(&settings.max_arrivals) {
            return Err(ParameterError::new("max_arrivals", settings.max_arrivals, "100000 to 10^15 packets"));
        }
        let offered = OfferedTraffic::new(&settings.trunk, settings.load)?;
        let loses = offered.can_lose();
        let mut simulation = Simulation {
            settings,
            trajectories: if loses {
                (0..REPLICATIONS).map(|index| trajectory(&offered, &settings, index)).collect()
            } else {
                Vec::new()
            },
            splitting: SplittingFactors::none(if loses { offered.places() } else { 0 }),
            stage: if loses { Stage::Settling } else { Stage::Done },
            length: FIRST_LENGTH.min(settings.max_arrivals / (8 * REPLICATIONS)),
            simulated: 0,
            expected: f64::INFINITY,
            estimate: Estimate {
                loss: 0.0,
                half_width: if loses { f64::NAN } else { 0.0 },
                narrow: !loses,
                arrivals: 0,
                lost: 0,
                simulated: 0,
                thresholds: Vec::new(),
            },
        };
        simulation.start_round();
        Ok(simulation)
    }

    /// The remainder of this round, in parts of about `slice` packets that can run in parallel.
    pub fn segments(&mut self, slice: u64) -> Vec<TrajectorySegment<'_>> {
        let (splitting, length) = (&self.splitting, self.length);
        let unfinished = self.trajectories.iter_mut().filter(|trajectory| trajectory.counts().arrived < length);
        unfinished.map(|trajectory| TrajectorySegment { trajectory: &mut **trajectory, splitting, length, slice }).collect()
    }

    /// Whether the simulation is complete. At the end of a round, plans the next one.
    pub fn conclude(&mut self) -> bool {
        if self.trajectories.iter().any(|trajectory| trajectory.counts().arrived < self.length) {
            return false;
        }
        self.simulated += self.simulated_in_round();
        match self.stage {
            Stage::Settling if self.settings.splitting => self.go_on(Stage::Exploring, 1.0),
            Stage::Settling => self.go_on(Stage::Measuring, 1.0),
            Stage::Exploring => self.explored(),
            Stage::Measuring => self.measured(),
            Stage::Done => {}
        }
        self.stage == Stage::Done
    }

    /// Estimated fraction of the work that is complete.
    pub fn progress(&self) -> f64 {
        if self.stage == Stage::Done {
            return 1.0;
        }
        (self.simulated + self.simulated_in_round()) as f64 / self.expected.min(self.settings.max_arrivals as f64)
    }

    /// Result of the last completed round.
    pub fn estimate(&self) -> Estimate {
        Estimate { simulated: self.simulated + self.simulated_in_round(), ..self.estimate.clone() }
    }

    fn explored(&mut self) {
        let entered = self.entered();
        let refined = self.splitting.refined(&entered);
        let known = refined.copies() <= self.splitting.copies() * 1.5;
        let lost: u64 = self.trajectories.iter().map(|trajectory| trajectory.counts().lost).sum();
        let rare = lost < ENOUGH || refined.copies() > WORTH_COPIES;
        self.splitting = if rare { refined } else { SplittingFactors::none(self.splitting.places()) };
        if lost >= ENOUGH || self.simulated > self.settings.max_arrivals / 2 {
            self.go_on(Stage::Measuring, 1.0);
        } else {
            // Deeper with the new thresholds; longer if there is no new one.
            self.go_on(Stage::Exploring, if known { 4.0 } else { 1.0 });
        }
    }

    fn measured(&mut self) {
        self.estimate = self.estimated();
        let relative = 2.0 * self.estimate.half_width / self.estimate.loss;
        let growth = (relative / (AIM * self.settings.relative_width)).powi(2);
        if self.estimate.narrow {
            self.stage = Stage::Done;
        } else if growth.is_finite() {
            self.expected = self.simulated as f64 + growth * self.simulated_in_round() as f64;
            self.go_on(Stage::Measuring, growth.clamp(1.2, MAX_GROWTH));
        } else {
            self.go_on(Stage::Measuring, MAX_GROWTH);
        }
    }

    /// Starts the next round, longer by a factor of `growth` if the budget allows; the last round uses the rest of the budget.
    fn go_on(&mut self, stage: Stage, growth: f64) {
        let cost = self.simulated_in_round() as f64 / self.length as f64;
        let left = self.settings.max_arrivals.saturating_sub(self.simulated) as f64;
        let affordable = (left / cost).floor();
        let wanted = (self.length as f64 * growth).round();
        // A measurement that is not longer than the previous one would be no better.
        let min_length = if self.stage == Stage::Measuring { self.length as f64 } else { 0.0 };
        if affordable.min(wanted) <= min_length {
            self.stage = Stage::Done;
            return;
        }
        self.length = affordable.min(wanted) as u64;
        self.stage = stage;
        self.start_round();
    }

    fn start_round(&mut self) {
        let counts_entries = self.stage == Stage::Exploring || self.splitting.thresholds().next().is_some();
        for trajectory in &mut self.trajectories {
            trajectory.restart(&self.splitting, counts_entries);
        }
    }

    /// Ratio of two means over the trajectories, with its variance to first order (Law, Simulation Modeling and Analysis, section 9.5).
    fn estimated(&self) -> Estimate {
        let all_counts = || self.trajectories.iter().map(|trajectory| trajectory.counts());
        let lost: u64 = all_counts().map(|counts| counts.lost).sum();
        let arrivals: u64 = all_counts().map(|counts| counts.arrived).sum();
        let copies = self.splitting.copies();
        let loss = lost as f64 / copies / arrivals as f64;
        let errors: Vec<f64> = all_counts().map(|counts| counts.lost as f64 / copies - loss * counts.arrived as f64).collect();
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        let n = errors.len() as f64;
        let half_width = if lost > 0 { STUDENT * (squares * n / (n - 1.0)).sqrt() / arrivals as f64 } else { f64::NAN };
        let narrow = 2.0 * half_width <= self.settings.relative_width * loss && halves_agree(&errors);
        let thresholds = self.splitting.thresholds().collect();
        Estimate { loss, half_width, narrow, arrivals, lost, simulated: self.simulated, thresholds }
    }

    fn entered(&self) -> Vec<u64> {
        let mut sum = Vec::new();
        for trajectory in &self.trajectories {
            sum.resize(trajectory.counts().entered.len(), 0);
            sum.iter_mut().zip(&trajectory.counts().entered).for_each(|(sum, count)| *sum += count);
        }
        sum
    }

    fn simulated_in_round(&self) -> u64 {
        if self.stage == Stage::Done {
            0
        } else {
            self.trajectories.iter().map(|trajectory| trajectory.counts().arrived + trajectory.counts().retried).sum()
        }
    }
}

/// Whether the trajectories that began empty and the trajectories that began full, which alternate, differ only by chance: Student's
/// test. The errors sum to 0.
fn halves_agree(errors: &[f64]) -> bool {
    let n = errors.len() as f64;
    let mean = errors.iter().step_by(2).sum::<f64>() / (n / 2.0);
    let within: f64 = errors.chunks(2).map(|pair| (pair[0] - mean).powi(2) + (pair[1] + mean).powi(2)).sum();
    2.0 * mean.abs() <= STUDENT_OF_HALVES * (within / (n - 2.0) * 4.0 / n).sqrt()
}

/// Part of a round.
pub struct TrajectorySegment<'a> {
    trajectory: &'a mut dyn Trajectory,
    splitting: &'a SplittingFactors,
    length: u64,
    slice: u64,
}

impl TrajectorySegment<'_> {
    pub fn run(self) {
        self.trajectory.advance(self.splitting, self.length, self.slice);
    }
}

fn trajectory(offered: &OfferedTraffic, settings: &Settings, index: u64) -> Box<dyn Trajectory> {
    let random = Random::new(settings.seed, index);
    match settings.variant {
        TrunkVariant::OwnLength => started::<OwnLength>(offered, random, index),
        TrunkVariant::Fresh => started::<Memoryless<Fresh>>(offered, random, index),
        TrunkVariant::Coupled => started::<Memoryless<Coupled>>(offered, random, index),
    }
}

fn started<S: Switch + 'static>(offered: &OfferedTraffic, mut random: Random, index: u64) -> Box<dyn Trajectory> {
    let switch = if index.is_multiple_of(2) { S::empty(offered) } else { S::full(offered, &mut random) };
    Box::new(SplittingTrajectory::new(switch, random))
}
