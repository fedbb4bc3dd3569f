//! The columns that identify flows.

use super::table::Column;
use crate::network::Network;
use crate::primitives::ids::{FlowId, GroupId};
use std::sync::Arc;

/// Group and index of each flow.
pub(crate) struct FlowNames {
    group: Vec<GroupId>,
    index: Vec<u64>,
    names: Arc<Vec<String>>,
}

impl FlowNames {
    /// `group`: the group of each flow.
    pub(crate) fn new(network: &Network, group: Vec<GroupId>) -> FlowNames {
        let mut counted = vec![0u64; network.groups.len()];
        let mut next = |group: GroupId| {
            counted[group] += 1;
            counted[group] - 1
        };
        FlowNames {
            index: group.iter().map(|&group| next(group)).collect(),
            group,
            names: Arc::new(network.groups.iter().map(|group| group.name.clone()).collect()),
        }
    }

    /// Group and index of a flow.
    pub(super) fn of(&self, flow: FlowId) -> (GroupId, u64) {
        (self.group[flow], self.index[flow])
    }

    /// The columns `group` and `flow` of rows about these flows.
    pub(crate) fn columns(&self, flows: &[FlowId]) -> (Column, Column) {
        let groups = flows.iter().map(|&flow| self.group[flow].0).collect();
        let indices = flows.iter().map(|&flow| self.index[flow]).collect();
        (Column::Word(groups, self.names.clone()), Column::Integer(indices))
    }

    /// The first columns of tables about flows.
    pub(super) fn columns_of(&self, seconds: Vec<f64>, groups: Vec<GroupId>, flows: Vec<u64>) -> Vec<(&'static str, Column)> {
        vec![
            ("time_s", Column::Float(seconds)),
            ("group", Column::Word(groups.into_iter().map(|group| group.0).collect(), self.names.clone())),
            ("flow", Column::Integer(flows)),
        ]
    }
}
