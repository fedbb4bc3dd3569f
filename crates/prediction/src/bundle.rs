//! TCP groups that a model has to treat together.

use crate::starts::Measured;
use crate::traffic::{TcpGroup, Traffic, capacity_bps, sum};
use tailback_core::network::{Flow, PortId};

/// TCP groups that share links, directly or through other groups, with these links.
pub(crate) struct Bundle<'t, 'a> {
    pub(crate) traffic: &'t Traffic<'a>,
    pub(crate) groups: Vec<TcpGroup<'t, 'a>>,
    pub(crate) ports: Vec<PortId>,
}

impl<'t, 'a> Bundle<'t, 'a> {
    /// Number of flows of all groups.
    pub(crate) fn flows(&self) -> usize {
        self.groups.iter().map(|group| group.flows.count()).sum()
    }

    pub(crate) fn crossing(&self, port: PortId) -> impl Iterator<Item = (usize, &TcpGroup<'t, 'a>)> {
        self.groups.iter().enumerate().filter(move |(_, group)| group.flows.crosses(port))
    }

    /// All flows.
    pub(crate) fn all_flows(&self) -> impl Iterator<Item = &'a Flow> + Clone {
        self.groups.iter().flat_map(|group| group.flows.flows)
    }

    /// Mean rates of the flows of each group in the measurement interval, given their rates while they send.
    pub(crate) fn during(&self, measured: Measured, rates: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let of_group = |(group, rates): (&TcpGroup, Vec<f64>)| {
            group.flows.flows.iter().zip(rates).map(|(flow, rate)| rate * measured.part(flow)).collect()
        };
        self.groups.iter().zip(rates).map(of_group).collect()
    }

    /// Load of a port at these rates, in packets per second, of the flows of each group.
    pub(crate) fn load(&self, port: PortId, rates: &[Vec<f64>]) -> f64 {
        let bits = self.crossing(port).map(|(place, group)| 8.0 * group.packet_bytes() * sum(rates[place].iter().copied()));
        sum(bits) / capacity_bps(self.traffic.port(port))
    }

    pub(crate) fn groups_at(&self) -> impl Iterator<Item = String> {
        self.groups.iter().map(|group| group.flows.at())
    }

    pub(crate) fn all_base_rtts_s(&self) -> impl Iterator<Item = f64> {
        self.groups.iter().flat_map(|group| group.flows.base_rtts_s.iter().copied())
    }

    pub(crate) fn has_several_sizes(&self) -> bool {
        self.groups.iter().any(|group| group.packet_bytes() != self.groups[0].packet_bytes())
    }
}
