//! The table of groups: sums over the flows of a group, and percentiles of their transfers.

use super::external_flow::ExternalFlows;
use super::state::Engine;
use crate::primitives::ids::FlowId;
use crate::primitives::units::Time;
use crate::record::{Column, Table, named};
use std::sync::Arc;

impl Engine {
    pub(super) fn group_table(&self, until: Time, flows: &Table, external: &ExternalFlows) -> Table {
        let names: Vec<String> = self.network.groups.iter().map(|group| group.name.clone()).collect();
        let members: Vec<Vec<FlowId>> = self.members();
        let float = |value: &dyn Fn(usize) -> f64| Column::Float((0..names.len()).map(value).collect());
        let integer = |value: &dyn Fn(usize) -> u64| Column::Integer((0..names.len()).map(value).collect());
        let of_flows = |column: &str| flows.floats(column).unwrap_or_default();
        let [goodputs, sizes, transfer_rates, starved] =
            ["goodput_bps", "size_bytes", "transfer_rate_bps", "starved"].map(of_flows);
        let [completions, slowdowns] =
            ["completion_time_s", "slowdown"].map(|column| sorted_by_group(&members, &of_flows(column)));
        let sum = |values: &[f64], group: usize| members[group].iter().map(|&i| values[i.index()]).sum::<f64>();
        // The engine does not know the acknowledgements and completions of external flows.
        let is_external: Vec<bool> = self.fabric.profiles().iter().map(|profile| profile.is_external).collect();
        let reports_delivery = |i: FlowId| external.get(&i).is_some_and(|of| of.delivered.is_some());
        let is_known = |group: usize| !is_external[group] || members[group].iter().all(|&i| reports_delivery(i));
        let of_transport = |value: &dyn Fn(usize) -> f64| match is_external.contains(&true) {
            true => float(value),
            false => integer(&|group| value(group) as u64),
        };
        let dropped_acks = |group: usize| members[group].iter().map(|&i| self.dropped_acks(i)).sum::<u64>();
        let probes = |group: usize| members[group].iter().map(|&i| u64::from(self.endpoints.end(i).probes())).sum::<u64>();
        let fairness = |group: usize| {
            let of = members[group].iter().map(|&i| i.index());
            match of.clone().all(|i| !sizes[i].is_nan()) {
                true => jain(of.map(|i| transfer_rates[i]).filter(|rate| !rate.is_nan())),
                false => jain(of.filter(|&i| self.is_measured(FlowId(i as u32), until, external)).map(|i| goodputs[i])),
            }
        };
        let mut columns = vec![
            ("group", Column::Word((0..names.len() as u32).collect(), Arc::new(names.clone()))),
            ("flows", integer(&|group| members[group].len() as u64)),
            ("goodput_bps", float(&|group| sum(&goodputs, group))),
            ("fairness", float(&fairness)),
            ("starved", of_transport(&|group| sum(&starved, group))),
            ("dropped_acks", of_transport(&|group| if is_external[group] { f64::NAN } else { dropped_acks(group) as f64 })),
            ("probes", of_transport(&|group| if is_external[group] { f64::NAN } else { probes(group) as f64 })),
            ("completed", of_transport(&|group| if is_known(group) { completions[group].len() as f64 } else { f64::NAN })),
        ];
        for (name, at) in [("completion_p50_s", 0.5), ("completion_p95_s", 0.95), ("completion_p99_s", 0.99)] {
            columns.push((name, float(&|group| nearest_rank(&completions[group], at))));
        }
        for (name, at) in [("slowdown_p50", 0.5), ("slowdown_p95", 0.95), ("slowdown_p99", 0.99)] {
            columns.push((name, float(&|group| nearest_rank(&slowdowns[group], at))));
        }
        if self.network.record.delay_percentiles {
            for (name, at) in [("delay_p50_s", 0.5), ("delay_p95_s", 0.95), ("delay_p99_s", 0.99)] {
                columns.push((name, float(&|group| self.fabric.receivers.delays()[group].percentile(at))));
            }
        }
        named("groups", columns)
    }

    fn members(&self) -> Vec<Vec<FlowId>> {
        let mut members = vec![Vec::new(); self.network.groups.len()];
        FlowId::all(self.fabric.paths().len())
            .zip(self.fabric.paths())
            .for_each(|(flow, path)| members[path.wire.group].push(flow));
        members
    }
}

/// Known values of the flows of each group, in ascending order.
fn sorted_by_group(members: &[Vec<FlowId>], values: &[f64]) -> Vec<Vec<f64>> {
    let known_sorted = |flows: &Vec<FlowId>| {
        let mut known: Vec<f64> = flows.iter().map(|&i| values[i.index()]).filter(|value| !value.is_nan()).collect();
        known.sort_by(f64::total_cmp);
        known
    };
    members.iter().map(known_sorted).collect()
}

/// Jain's index, (sum x)^2 / (n sum x^2) (Jain, Chiu and Hawe, DEC-TR-301, 1984); NaN if all are zero, and without values.
fn jain(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum, squares) = values.fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
    sum * sum / (count * squares)
}

/// The smallest value that at least `share` of the values do not exceed; NaN without values.
fn nearest_rank(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_of_equal_shares_is_one_and_of_a_monopoly_one_over_n() {
        assert_eq!(jain([2.0, 2.0, 2.0].into_iter()), 1.0);
        assert_eq!(jain([4.0, 0.0, 0.0, 0.0].into_iter()), 0.25);
    }

    #[test]
    fn percentiles_by_nearest_rank() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert_eq!((nearest_rank(&values, 0.5), nearest_rank(&values, 0.95)), (2.0, 4.0));
        assert!(nearest_rank(&[], 0.5).is_nan());
    }
}
