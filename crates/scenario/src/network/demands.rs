//! Pairs of nodes that are drawn in proportion to the demands of a traffic matrix.

use super::sites::Sites;
use crate::demand_table::DemandTable;
use crate::problem::{RepeatedErrors, Report};
use crate::schema::Matrix;
use crate::values::{Name, Number};
use std::collections::BTreeMap;
use tailback_core::primitives::random::Stream;

/// Distribution over pairs of nodes.
pub(super) enum Demands {
    /// Pairs with a demand, and the sum of demands up to each.
    Listed(Vec<(usize, usize)>, Vec<f64>),
    /// Nodes, their masses, the sum of masses up to each, and that of its product with the mass of all others.
    Gravity { nodes: Vec<usize>, masses: Vec<f64>, sums: Vec<f64>, products: Vec<f64> },
}

impl Demands {
    /// Errors are reported. `at` is the path of the matrix.
    pub fn new(matrix: &Matrix, at: &str, sites: &Sites, report: &mut Report) -> Option<Demands> {
        match matrix {
            Matrix { table: Some(table), gravity: None, .. } => listed(table, &format!("{at}.table"), sites, report),
            Matrix { table: None, gravity: Some(masses), .. } => gravity(masses, &format!("{at}.gravity"), sites, report),
            _ => {
                if report.is_valid(at) {
                    let problem = report.add(at, "`matrix` must have either `table` or `gravity`");
                    problem.expected("`table` with demands of pairs, or `gravity` with masses of nodes");
                }
                None
            }
        }
    }

    /// A random pair.
    pub fn pair(&self, stream: Stream) -> (usize, usize) {
        // The largest share is below 1.
        let share = |number: u64| (stream.bits(number) >> 11) as f64 / (1_u64 << 53) as f64;
        match self {
            Demands::Listed(pairs, sums) => pairs[place(sums, share(0))],
            Demands::Gravity { nodes, masses, sums, products } => {
                // With P(i) ~ m_i (M - m_i) and P(j | i) = m_j / (M - m_i), a pair has a probability ~ m_i m_j.
                let from = place(products, share(0));
                let before = sums[from] - masses[from];
                let mut wanted = share(1) * (sums[sums.len() - 1] - masses[from]);
                wanted += if wanted >= before { masses[from] } else { 0.0 };
                let mut to = sums.partition_point(|sum| *sum <= wanted).min(nodes.len() - 1);
                if to == from {
                    // Rounding at the edge of an interval.
                    to = if from == 0 { 1 } else { from - 1 };
                }
                (nodes[from], nodes[to])
            }
        }
    }
}

/// The interval of a share of the whole.
fn place(sums: &[f64], share: f64) -> usize {
    let wanted = share * sums[sums.len() - 1];
    sums.partition_point(|sum| *sum <= wanted).min(sums.len() - 1)
}

/// Sums of all values up to each.
fn sums(values: impl Iterator<Item = f64>) -> Vec<f64> {
    values
        .scan(0.0, |sum, value| {
            *sum += value;
            Some(*sum)
        })
        .collect()
}

fn listed(table: &DemandTable, at: &str, sites: &Sites, report: &mut Report) -> Option<Demands> {
    if !report.is_valid(at) || !sites.all_named {
        return None;
    }
    let columns = &table.columns;
    let (mut pairs, mut demands, mut faults) = (Vec::new(), Vec::new(), RepeatedErrors::default());
    for (row, ((source, sink), demand)) in columns.source.iter().zip(&columns.sink).zip(&columns.demand).enumerate() {
        match (sites.find(source), sites.find(sink)) {
            (Some(_), Some(_)) if demand.value() <= 0.0 => {}
            (Some(from), Some(to)) if from != to => {
                pairs.push((from, to));
                demands.push(demand.value());
            }
            ends => report.among(&mut faults, |report| {
                for (column, name, found) in [("source", source, ends.0), ("sink", sink, ends.1)] {
                    if found.is_none() {
                        sites.node(name, &format!("{at}{}", table.place(column, row)), report);
                    }
                }
                if ends.0.is_some() && ends.0 == ends.1 {
                    let at = format!("{at}{}", table.place("sink", row));
                    let problem = report.add(at, "`source` and `sink` are the same node");
                    problem.given(sink.as_str()).expected("another node, or a demand of 0");
                }
            }),
        }
    }
    if let Some(problem) = faults.rest(at, "pairs", report) {
        problem.expected("two different nodes of the scenario for each pair");
    }
    (report.is_valid(at) && !pairs.is_empty()).then(|| Demands::Listed(pairs, sums(demands.into_iter())))
}

fn gravity(given: &BTreeMap<Name, Number>, at: &str, sites: &Sites, report: &mut Report) -> Option<Demands> {
    if !report.is_valid(at) || !sites.all_named {
        return None;
    }
    let (mut nodes, mut masses) = (Vec::new(), Vec::new());
    for (name, mass) in given {
        let at = format!("{at}.{name}");
        if !(0.0..=1e12).contains(&mass.0) {
            report.add(&at, "the mass of a node is out of range").given(mass.0.to_string()).expected("a number from 0 to 1e12");
        }
        if let Some(node) = sites.node(name, &at, report).filter(|_| mass.0 > 0.0) {
            nodes.push(node);
            masses.push(mass.0);
        }
    }
    if !report.is_valid(at) {
        return None;
    }
    if nodes.len() < 2 {
        report.add(at, "`gravity` has fewer than two nodes with a mass").expected("masses above 0 of at least two nodes");
        return None;
    }
    let all: f64 = masses.iter().sum();
    let products = sums(masses.iter().map(|mass| mass * (all - mass)));
    Some(Demands::Gravity { nodes, sums: sums(masses.iter().copied()), masses, products })
}
