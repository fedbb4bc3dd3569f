//! End hosts: processing before the access link, jitter, and the queue at the sender's own interface.

use super::wire::ServiceTimeCache;
use crate::network::{Delay, Flow, Group, Network, Transport};
use crate::primitives::random::{Draws, Entity, Purpose, Stream};
use crate::primitives::units::{Bytes, Rate, Time, TimeDelta};
use crate::tcp::WindowValidation;
use crate::tcp::validation::HostQueue;
use serde::{Deserialize, Serialize};

/// Data of a flow in the queue of its host, in time at the rate of the interface: TCP Small Queues permits about a millisecond (Linux,
/// `sk_pacing_shift`), and at least this number of packets.
const SMALL_QUEUE: TimeDelta = TimeDelta::from_millis(1);
const SMALL_QUEUE_PACKETS: u64 = 2;

/// A host's interface is slower than the link by a part in this number, the tolerance of Ethernet's clocks (IEEE 802.3). Otherwise a flow
/// that fills its interface would fill each place of a queue behind an equally fast link at the instant in which it becomes free.
const CLOCK_TOLERANCE: u64 = 10_000;

/// The two hosts of a flow. Stored only if some group has processing, jitter or small queues.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hosts {
    send: Server,
    receive: Server,
    jitter: Stream,
    jitter_draws: u64,
    jittered: Time,
    interface: Option<Interface>,
}

/// The queue of a flow at the interface of its host.
///
/// Differs: packets that TCP Small Queues would hold back wait in this queue instead of in the socket, and the window does not grow
/// meanwhile.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Interface {
    rate: Rate,
    free: Time,
    service: ServiceTimeCache,
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
        network.groups.iter().any(take_time) || network.flows.iter().any(|flow| Interface::of(flow, network).is_some())
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
                interface: Interface::of(flow, network),
            }
        };
        network.flows.iter().map(of_flow).collect()
    }

    /// Copy the state of the sending host.
    pub(crate) fn take_sender(&mut self, from: &Hosts) {
        self.send.clone_from(&from.send);
        (self.jitter_draws, self.jittered) = (from.jitter_draws, from.jittered);
        self.interface.clone_from(&from.interface);
    }

    /// Copy the state of the receiving host.
    pub(crate) fn take_receiver(&mut self, from: &Hosts) {
        self.receive.clone_from(&from.receive);
    }

    /// Time at which a packet handed down at `time` leaves the sending host.
    pub(crate) fn send(&mut self, time: Time, bytes: Bytes, group: &Group) -> Time {
        let time = self.send.serve(time, group.send_processing);
        let time = self.jittered(time, group);
        self.interface.as_mut().map_or(time, |interface| interface.send(time, bytes))
    }

    /// The queue of the flow at the interface of its host.
    pub(crate) fn queue(&self, now: Time) -> HostQueue {
        self.interface.as_ref().map_or(HostQueue::Short, |interface| interface.length(now))
    }

    fn jittered(&mut self, time: Time, group: &Group) -> Time {
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

    /// Time at which an RM cell that arrived at `time`, and takes no time itself, is behind the packets before it.
    pub(crate) fn follow(&self, time: Time) -> Time {
        self.receive.free.max(time)
    }
}

impl Interface {
    /// That of a flow whose window is limited by the queue of its host.
    fn of(flow: &Flow, network: &Network) -> Option<Interface> {
        let rate = flow.sender_access.rate.or(flow.interface)?;
        let is_limited = match &network.groups[flow.group].transport {
            Transport::Tcp(spec, _) => spec.window_validation == WindowValidation::Linux,
            Transport::Datagram(_) => false,
        };
        is_limited.then(|| Interface { rate, free: Time::ZERO, service: ServiceTimeCache::default() })
    }

    /// Start of the transmission of a packet that is queued at `time`.
    fn send(&mut self, time: Time, bytes: Bytes) -> Time {
        let start = self.free.max(time);
        let rate = self.rate;
        let service = self.service.of(bytes, || rate);
        self.free = start + service + TimeDelta(service.0 / CLOCK_TOLERANCE);
        start
    }

    fn length(&self, now: Time) -> HostQueue {
        let packets = TimeDelta(SMALL_QUEUE_PACKETS * self.service.latest().0);
        if self.free > now + SMALL_QUEUE.max(packets) { HostQueue::Long } else { HostQueue::Short }
    }
}

impl Server {
    fn serve(&mut self, time: Time, delay: Option<Delay>) -> Time {
        let Some(delay) = delay else { return time };
        self.free = self.free.max(time) + delay.draw(&mut self.draws);
        self.free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_queue_at_the_interface_has_more_than_a_millisecond_or_two_packets() {
        let lengths = |rate: u64, packets: u64| {
            let mut interface = Interface { rate: Rate(rate), free: Time::ZERO, service: ServiceTimeCache::default() };
            (0..packets).for_each(|_| {
                interface.send(Time::ZERO, Bytes(1250));
            });
            interface.length(Time::ZERO)
        };
        // A packet takes 0.1 ms, and then 10 ms.
        assert_eq!([9, 10].map(|packets| lengths(100_000_000, packets)), [HostQueue::Short, HostQueue::Long]);
        assert_eq!([1, 2].map(|packets| lengths(1_000_000, packets)), [HostQueue::Short, HostQueue::Long]);
    }

    #[test]
    fn an_interface_is_slower_than_the_link_by_the_tolerance_of_its_clock() {
        let mut interface = Interface { rate: Rate(100_000_000), free: Time::ZERO, service: ServiceTimeCache::default() };
        let starts = [0, 0, 0, 500].map(|us| interface.send(Time(TimeDelta::from_micros(us).0), Bytes(1250)).0);
        assert_eq!(starts, [0, 100_010_000, 200_020_000, 500_000_000]);
    }
}
