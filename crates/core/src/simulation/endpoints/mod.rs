//! The state of the sending ends of all flows.

mod domains;
mod end;
mod setup;

pub(super) use self::end::End;
use self::setup::{make_applications, make_ends, make_slow_starts, make_usages};
use super::user_code_factory::UserCodeFactory;
use super::wiring::{FlowPlan, first_flows};
use crate::network::Network;
use crate::primitives::ids::FlowId;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::Time;
use crate::tcp::signal_reader::SignalReader;
use crate::tcp::slow_start::SlowStartState;
use crate::tcp::validation::Usage;
use crate::traffic::Application;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Endpoints {
    pub(super) ends: Vec<End>,
    pub(super) plans: Vec<FlowPlan>,
    /// The first flow of each group.
    pub(super) first_flows: Vec<FlowId>,
    /// Stop times of the flows that stop.
    pub(super) stops: BTreeMap<FlowId, Time>,
    /// By flow; empty if no group has any.
    pub(super) applications: Vec<Application>,
    /// Slow-start state by flow; empty if all groups use the standard rule.
    pub(super) slow_starts: Vec<SlowStartState>,
    /// Window usage by flow; empty if no group records it.
    pub(super) usages: Vec<Usage>,
    /// Signal readers of the flows whose controllers request signals, group by group ([`GroupProfile::unsignalled_before`](super::group_profile::GroupProfile)).
    pub(super) readers: Vec<SignalReader>,
    /// Transmission numbers of retransmitted segments, for listed drops and traces; `None` if unused.
    pub(super) transmissions: Option<BTreeMap<(FlowId, SegmentNumber), u32>>,
}

impl Endpoints {
    /// Without transmission numbers.
    pub(super) fn new(network: &Network, readers: Vec<SignalReader>, factory: &UserCodeFactory) -> Endpoints {
        let stops = FlowId::enumerate(&network.flows).filter(|(_, flow)| flow.stop != Time::NEVER);
        Endpoints {
            ends: make_ends(network, factory),
            plans: network.flows.iter().map(|flow| FlowPlan::of(flow, network)).collect(),
            first_flows: first_flows(network),
            stops: stops.map(|(index, flow)| (index, flow.stop)).collect(),
            applications: make_applications(network),
            slow_starts: make_slow_starts(network),
            usages: make_usages(network),
            readers,
            transmissions: None,
        }
    }
}
