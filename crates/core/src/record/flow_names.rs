//! The columns that identify flows.

use super::table::Column;
use crate::network::Network;
use std::sync::Arc;

/// Group and index of each flow.
pub(crate) struct FlowNames {
    group: Vec<u32>,
    index: Vec<u64>,
    names: Arc<Vec<String>>,
}

impl FlowNames {
    /// `group`: the group of each flow.
    pub(crate) fn new(network: &Network, group: Vec<u32>) -> FlowNames {
        let mut counted = vec![0u64; network.groups.len()];
        let mut next = |group: u32| {
            counted[group as usize] += 1;
            counted[group as usize] - 1
        };
        FlowNames {
            index: group.iter().map(|&group| next(group)).collect(),
            group,
            names: Arc::new(network.groups.iter().map(|group| group.name.clone()).collect()),
        }
    }

    /// Group and index of a flow.
    pub(super) fn of(&self, flow: u32) -> (u32, u64) {
        (self.group[flow as usize], self.index[flow as usize])
    }

    /// The columns `group` and `flow` of rows about these flows.
    pub(crate) fn columns(&self, flows: &[u32]) -> (Column, Column) {
        let groups = flows.iter().map(|&flow| self.group[flow as usize]).collect();
        let indices = flows.iter().map(|&flow| self.index[flow as usize]).collect();
        (Column::Word(groups, self.names.clone()), Column::Integer(indices))
    }

    /// The first columns of tables about flows.
    pub(super) fn columns_of(&self, seconds: Vec<f64>, groups: Vec<u32>, flows: Vec<u64>) -> Vec<(&'static str, Column)> {
        vec![
            ("time_s", Column::Float(seconds)),
            ("group", Column::Word(groups, self.names.clone())),
            ("flow", Column::Integer(flows)),
        ]
    }
}
