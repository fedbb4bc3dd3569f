//! Construction of the sending ends and their optional state.

use super::end::End;
use crate::congestion::{ControllerSpec, Controllers, Start};
use crate::network::{Flow, Group, Network, Transport};
use crate::primitives::ids::FlowId;
use crate::primitives::random::{Draws, Entity, Purpose, Stream};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Segments, TimeDelta};
use crate::simulation::group_profile::uses_are_remembered;
use crate::simulation::user_code_factory::UserCodeFactory;
use crate::simulation::wiring::{first_flows, segments_of};
use crate::tcp::SlowStart;
use crate::tcp::sender::Sender;
use crate::tcp::slow_start::SlowStartState;
use crate::tcp::validation::Usage;
use crate::traffic::{Application, ApplicationSpec, Schedule, Source};
use crate::user_code::UserCode;

pub(super) fn make_ends(network: &Network, factory: &UserCodeFactory) -> Vec<End> {
    let mut in_group = vec![0u64; network.groups.len()];
    let mut make = |flow: &Flow| {
        let group = &network.groups[flow.group];
        let of = Entity { seed: network.seed, name: &group.name, index: in_group[flow.group] };
        in_group[flow.group] += 1;
        match &group.transport {
            Transport::Tcp(spec, law) => {
                let mut start = Start {
                    window: spec.initial_window,
                    ssthresh: spec.initial_ssthresh,
                    ack_counting: spec.ack_counting,
                    packet: spec.mss + spec.header,
                    jiffy: spec.timer.jiffy,
                    ..Start::default()
                };
                if law.abilities().uses_start_details {
                    if !spec.measures_handshake() {
                        start.handshake_saves = network.base_rtt(flow) - network.handshake_rtt(flow, spec);
                    }
                    start.has_selective_acks = spec.recovery.uses_sack();
                    start.hops = network.hops(flow);
                    start.draws = Draws::new(Stream::new(of, Purpose::Controller));
                }
                let law = match law {
                    ControllerSpec::User(code) => {
                        Controllers::user(factory.make(code, |extras| extras.controller(code, start)), start)
                    }
                    law => Controllers::new(law, start),
                };
                let is_available = group.application.is_none();
                let end = if is_available { spec.end_of_transfer(segments_of(spec, flow.size)) } else { SegmentNumber::FIRST };
                let mut sender = Sender::new(law, spec, end);
                if spec.established && !spec.handshake {
                    sender.adopt_handshake(network.handshake_rtt(flow, spec), spec);
                }
                End::Tcp(sender)
            }
            Transport::Datagram(spec) => {
                let make_user = |code: &UserCode, draws| factory.make(code, |extras| extras.source(code, draws));
                End::Datagram(Box::new(Source::new(spec, of, make_user).with_size(flow.size)))
            }
        }
    };
    network.flows.iter().map(&mut make).collect()
}

/// The slow-start state of every flow, or an empty list if all groups use the standard rule.
pub(super) fn make_slow_starts(network: &Network) -> Vec<SlowStartState> {
    if network.groups.iter().all(|group| group.transport.slow_start() == SlowStart::Standard) {
        return Vec::new();
    }
    network.flows.iter().map(|flow| SlowStartState::of(network.groups[flow.group].transport.slow_start())).collect()
}

/// The window usage of every flow's application, or an empty list if no group records it.
pub(super) fn make_usages(network: &Network) -> Vec<Usage> {
    if !network.groups.iter().any(uses_are_remembered) {
        return Vec::new();
    }
    let of_group = |group: &Group| match &group.transport {
        Transport::Tcp(spec, _) if uses_are_remembered(group) => Usage::of(spec.window_validation),
        _ => Usage::Untracked,
    };
    network.flows.iter().map(|flow| of_group(&network.groups[flow.group])).collect()
}

/// The bursts of every flow's application, or an empty list if no group has any.
pub(super) fn make_applications(network: &Network) -> Vec<Application> {
    if !network.groups.iter().any(|group| matches!(group.application, Some(ApplicationSpec::Bursts(_)))) {
        return Vec::new();
    }
    let first = first_flows(network);
    let make = |(flow, spec): (FlowId, &Flow)| {
        let group = &network.groups[spec.group];
        let (gap, total) = match (&group.transport, &group.application) {
            (Transport::Tcp(tcp, _), Some(ApplicationSpec::Bursts(bursts))) => (bursts.gap(tcp.mss), segments_of(tcp, spec.size)),
            _ => (TimeDelta::ZERO, Segments(0)),
        };
        let index = u64::from(flow - first[spec.group]);
        Application::new(Schedule::new(Entity { seed: network.seed, name: &group.name, index }, gap), total)
    };
    FlowId::enumerate(&network.flows).map(make).collect()
}
