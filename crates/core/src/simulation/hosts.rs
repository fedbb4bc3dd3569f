//! End-host delays: processing before the access link, and jitter.

use crate::network::{Delay, Flow, Group, Network};
use crate::primitives::random::{Draws, Entity, Purpose, Stream};
use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// Processing and jitter of a flow's two hosts. Stored only if some group has them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hosts {
    send: Server,
    receive: Server,
    jitter: Stream,
    jitter_draws: u64,
    jittered: Time,
}

/// Serves packets one at a time, in order.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Server {
    draws: Draws,
    free: Time,
}

impl Hosts {
    /// Whether any group has host delays.
    pub(crate) fn are_needed(network: &Network) -> bool {
        let take_time = |group: &Group| {
            group.send_processing.is_some() || group.receive_processing.is_some() || group.jitter != TimeDelta::ZERO
        };
        network.groups.iter().any(take_time)
    }

    /// The hosts of every flow, or an empty list if no group has host delays.
    pub(crate) fn of(network: &Network) -> Vec<Hosts> {
        if !Hosts::are_needed(network) {
            return Vec::new();
        }
        let mut counted = vec![0u64; network.groups.len()];
        let of_flow = |flow: &Flow| {
            let name = &network.groups[flow.group].name;
            let of = Entity { seed: network.seed, name, index: counted[flow.group] };
            counted[flow.group] += 1;
            let server = |purpose| Server { draws: Draws::new(Stream::new(of, purpose)), free: Time::ZERO };
            Hosts {
                send: server(Purpose::SendProcessing),
                receive: server(Purpose::ReceiveProcessing),
                jitter: Stream::new(of, Purpose::Jitter),
                jitter_draws: 0,
                jittered: Time::ZERO,
            }
        };
        network.flows.iter().map(of_flow).collect()
    }

    /// Copy the state of the sending host.
    pub(crate) fn take_sender(&mut self, from: &Hosts) {
        self.send.clone_from(&from.send);
        (self.jitter_draws, self.jittered) = (from.jitter_draws, from.jittered);
    }

    /// Copy the state of the receiving host.
    pub(crate) fn take_receiver(&mut self, from: &Hosts) {
        self.receive.clone_from(&from.receive);
    }

    /// Time at which a packet handed down at `time` leaves the sending host.
    pub(crate) fn send(&mut self, time: Time, group: &Group) -> Time {
        let time = self.send.serve(time, group.send_processing);
        if group.jitter == TimeDelta::ZERO {
            return time;
        }
        self.jitter_draws += 1;
        let extra = TimeDelta((self.jitter.uniform(self.jitter_draws) * group.jitter.0 as f64) as u64);
        self.jittered = self.jittered.max(time + extra);
        self.jittered
    }

    /// Time at which the receiving host has processed a packet that arrived at `time`.
    pub(crate) fn receive(&mut self, time: Time, group: &Group) -> Time {
        self.receive.serve(time, group.receive_processing)
    }
}

impl Server {
    fn serve(&mut self, time: Time, delay: Option<Delay>) -> Time {
        let Some(delay) = delay else { return time };
        self.free = self.free.max(time) + delay.draw(&mut self.draws);
        self.free
    }
}
