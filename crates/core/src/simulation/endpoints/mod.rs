//! The state of the sending ends of all flows.

mod domains;
mod end;
mod setup;

pub(super) use self::end::End;
use self::setup::{make_applications, make_ends, make_slow_starts, make_usages};
use super::user_code_factory::UserCodeFactory;
use super::wiring::{FlowPlan, first_flows};
use crate::network::Network;
use crate::primitives::ids::{FlowId, GroupId};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::Time;
use crate::tcp::TcpSpec;
use crate::tcp::observed::Observed;
use crate::tcp::sender::Sender;
use crate::tcp::signal_reader::SignalReader;
use crate::tcp::slow_start::SlowStartState;
use crate::tcp::validation::Usage;
use crate::traffic::Application;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Endpoints {
    ends: Vec<End>,
    plans: Vec<FlowPlan>,
    /// The first flow of each group.
    first_flows: Vec<FlowId>,
    /// Stop times of the flows that stop.
    stops: BTreeMap<FlowId, Time>,
    /// By flow; empty if no group has any.
    applications: Vec<Application>,
    /// Slow-start state by flow; empty if all groups use the standard rule.
    slow_starts: Vec<SlowStartState>,
    /// Window usage by flow; empty if no group records it.
    usages: Vec<Usage>,
    /// Signal readers of the flows whose controllers request signals, group by group ([`GroupProfile::unsignalled_before`](super::group_profile::GroupProfile)).
    readers: Vec<SignalReader>,
    /// For listed drops and traces; `None` if unused.
    transmissions: Option<Transmissions>,
}

/// The state of a TCP flow's sender for one turn.
pub(super) struct TurnState<'a> {
    pub(super) sender: &'a mut Sender,
    pub(super) slow_start: Option<&'a mut SlowStartState>,
    pub(super) usage: Option<&'a mut Usage>,
    pub(super) reader: Option<&'a mut SignalReader>,
    pub(super) transmissions: &'a mut Option<Transmissions>,
    pub(super) plans: &'a [FlowPlan],
    pub(super) stops: &'a BTreeMap<FlowId, Time>,
}

/// Transmission numbers of retransmitted segments.
pub(super) type Transmissions = BTreeMap<(FlowId, SegmentNumber), u32>;

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

    /// Count the transmissions of each segment.
    pub(super) fn count_transmissions(&mut self) {
        self.transmissions = Some(Transmissions::new());
    }

    pub(super) fn flows(&self) -> impl ExactSizeIterator<Item = FlowId> + Clone + use<> {
        FlowId::all(self.ends.len())
    }

    /// By flow.
    #[inline]
    pub(super) fn ends(&self) -> &[End] {
        &self.ends
    }

    pub(super) fn end(&self, flow: FlowId) -> &End {
        &self.ends[flow]
    }

    #[inline]
    pub(super) fn end_mut(&mut self, flow: FlowId) -> &mut End {
        &mut self.ends[flow]
    }

    /// The TCP sender of a flow, at an event that only TCP flows have.
    #[inline]
    pub(super) fn sender(&mut self, flow: FlowId) -> &mut Sender {
        self.ends[flow].expect_tcp()
    }

    /// The TCP sender of a flow, and its signal reader, which is at this place.
    pub(super) fn sender_and_reader(&mut self, flow: FlowId, place: usize) -> (&mut Sender, &mut SignalReader) {
        (self.ends[flow].expect_tcp(), &mut self.readers[place])
    }

    /// The state of a TCP flow's sender for one turn. `place`: that of its signal reader, if it has one.
    #[inline(always)]
    pub(super) fn turn<O: Observed>(&mut self, flow: FlowId, place: Option<usize>) -> TurnState<'_> {
        TurnState {
            sender: self.ends[flow].expect_tcp(),
            slow_start: if O::SIGNALLED { self.slow_starts.get_mut(flow.index()) } else { None },
            usage: if O::SIGNALLED { self.usages.get_mut(flow.index()) } else { None },
            reader: place.map(|place| &mut self.readers[place]),
            transmissions: &mut self.transmissions,
            plans: &self.plans,
            stops: &self.stops,
        }
    }

    /// Properties of each flow.
    pub(super) fn plans(&self) -> &[FlowPlan] {
        &self.plans
    }

    pub(super) fn plan(&self, flow: FlowId) -> &FlowPlan {
        &self.plans[flow]
    }

    /// Time at which a flow stops, if it does.
    pub(super) fn stop(&self, flow: FlowId) -> Option<Time> {
        self.stops.get(&flow).copied()
    }

    /// Number of earlier flows in the group of a flow.
    pub(super) fn index_in_group(&self, flow: FlowId, group: GroupId) -> u64 {
        u64::from(flow - self.first_flows[group])
    }

    /// The bursts of a flow's application.
    pub(super) fn application(&self, flow: FlowId) -> &Application {
        &self.applications[flow]
    }

    pub(super) fn application_mut(&mut self, flow: FlowId) -> &mut Application {
        &mut self.applications[flow]
    }

    /// An application has handed over all data before `end`.
    pub(super) fn offer(&mut self, flow: FlowId, end: SegmentNumber, now: Time, spec: &TcpSpec) {
        self.ends[flow].expect_tcp().offer(end, self.usages.get_mut(flow.index()), now, spec);
    }

    /// Number of signal readers.
    #[cfg(test)]
    pub(super) fn readers(&self) -> usize {
        self.readers.len()
    }
}
