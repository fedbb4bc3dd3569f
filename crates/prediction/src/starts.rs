//! Late starts: the part of the measurement interval in which a flow sends.

use tailback_core::network::{Flow, Network};

/// Flows whose parts of the interval differ by less than this count as starting together.
const TOGETHER: f64 = 0.05;

/// Parts into which the interval is divided if flows that start in it share a queue.
const PARTS: usize = 64;

/// The measurement interval of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    start_s: f64,
    end_s: f64,
}

impl Measured {
    pub(crate) fn of(network: &Network) -> Measured {
        Measured { start_s: network.warmup.seconds(), end_s: network.duration.seconds() }
    }

    pub(crate) fn length_s(&self) -> f64 {
        self.end_s - self.start_s
    }

    /// Part of the interval in which the flow sends, 0 to 1.
    pub(crate) fn part(&self, flow: &Flow) -> f64 {
        ((self.end_s - self.begin_s(flow)) / self.length_s()).clamp(0.0, 1.0)
    }

    fn begin_s(&self, flow: &Flow) -> f64 {
        flow.start.seconds().max(self.start_s)
    }

    /// Time for which the flow sends before the interval.
    pub(crate) fn before_s(&self, flow: &Flow) -> f64 {
        self.start_s - flow.start.seconds().min(self.start_s)
    }

    /// The mean part of the interval in which flows send that start at about the same time; the reason if they do not.
    pub(crate) fn together<'a>(&self, flows: impl Iterator<Item = &'a Flow>) -> Result<f64, String> {
        let parts: Vec<f64> = flows.map(|flow| self.part(flow)).collect();
        let (low, high) = parts.iter().fold((1.0_f64, 0.0_f64), |(low, high), &part| (low.min(part), high.max(part)));
        match high - low <= TOGETHER {
            true => Ok(parts.iter().sum::<f64>() / parts.len() as f64),
            false => Err(format!(
                "its flows start during the measurement interval, one up to {:.3} s after another; the model requires flows that start \
                 together or before the end of `warmup`",
                (high - low) * self.length_s()
            )),
        }
    }

    /// Parts of the interval in which the same flows send, with their shares of it: one part if all start together.
    pub(crate) fn parts<'a>(&self, flows: impl Iterator<Item = &'a Flow> + Clone) -> Vec<(Measured, f64)> {
        if let Ok(share) = self.together(flows.clone()) {
            let last_s = flows.map(|flow| self.begin_s(flow)).fold(self.start_s, f64::max);
            return vec![(Measured { start_s: last_s, ..*self }, share)];
        }
        let step_s = self.length_s() / PARTS as f64;
        let part = |place: usize| {
            let start_s = self.start_s + step_s * place as f64;
            (Measured { start_s, end_s: start_s + step_s }, 1.0 / PARTS as f64)
        };
        (0..PARTS).map(part).collect()
    }

    /// Part of the interval's capacity that each flow gets if active flows share it by weight, and the part in which any is active.
    pub(crate) fn divided(&self, flows: &[(&Flow, f64)]) -> (Vec<f64>, f64) {
        let mut order: Vec<usize> = (0..flows.len()).collect();
        order.sort_by(|&one, &other| self.begin_s(flows[one].0).total_cmp(&self.begin_s(flows[other].0)));
        let begin = |place: usize| order.get(place).map_or(self.end_s, |&flow| self.begin_s(flows[flow].0).min(self.end_s));
        // The time per unit of weight from each start to the end, which is the same for all flows that are active.
        let mut active: f64 = flows.iter().map(|(_, weight)| weight).sum();
        let (mut left, mut shares) = (0.0, vec![0.0; flows.len()]);
        for place in (0..order.len()).rev() {
            left += (begin(place + 1) - begin(place)) / active;
            let weight = flows[order[place]].1;
            shares[order[place]] = weight * left / self.length_s();
            active -= weight;
        }
        (shares, (self.end_s - begin(0)) / self.length_s())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailback_core::primitives::units::{Time, TimeDelta};
    use tailback_scenario::Scenario;

    /// Two flows of a run of 60 s, measured from 10 s.
    fn flows(starts: [f64; 2]) -> Result<(Measured, Vec<Flow>), String> {
        let toml = "duration = \"60 s\"\nwarmup = \"10 s\"\n[topology]\ndumbbell = {rate = \"8 Mbps\", delay = \"1 ms\", queue = \
                    {buffer = \"5 packets\"}}\n[flows.a]\ncount = 2\ntcp = {preset = \"sack\"}\n";
        let network = Scenario::from_toml(toml, "").and_then(|scenario| scenario.build()).map_err(|error| error.to_string())?;
        let mut flows = network.flows.clone();
        flows.iter_mut().zip(starts).for_each(|(flow, start)| flow.start = Time::ZERO + TimeDelta::from_seconds(start));
        Ok((Measured::of(&network), flows))
    }

    #[test]
    fn a_flow_that_starts_at_half_time_sends_for_three_fifths_of_the_interval() -> Result<(), String> {
        let (measured, flows) = flows([30.0, 5.0])?;
        assert!((measured.part(&flows[0]) - 0.6).abs() < 1e-12);
        assert!((measured.part(&flows[1]) - 1.0).abs() < 1e-12 && (measured.before_s(&flows[1]) - 5.0).abs() < 1e-12);
        assert!(measured.together(flows.iter()).is_err());
        Ok(())
    }

    #[test]
    fn active_flows_divide_the_interval_by_weight() -> Result<(), String> {
        // The first alone for 20 of 50 s, then 1 : 3 for 30 s: 20 / 50 + 30 / 50 / 4 and 3 / 4 of 30 / 50.
        let (measured, flows) = flows([0.0, 30.0])?;
        let (shares, active) = measured.divided(&[(&flows[0], 1.0), (&flows[1], 3.0)]);
        assert!((shares[0] - 0.55).abs() < 1e-12 && (shares[1] - 0.45).abs() < 1e-12 && active == 1.0, "{shares:?} {active}");
        Ok(())
    }

    #[test]
    fn parts_of_the_interval_add_up_to_it() -> Result<(), String> {
        for (starts, count) in [([30.0, 31.0], 1), ([20.0, 40.0], PARTS)] {
            let (measured, flows) = flows(starts)?;
            let parts = measured.parts(flows.iter());
            assert_eq!(parts.len(), count);
            for flow in &flows {
                let sum: f64 = parts.iter().map(|(part, share)| share * part.part(flow)).sum();
                assert!((sum - measured.part(flow)).abs() < 0.011, "{sum}");
            }
        }
        Ok(())
    }
}
