//! What the engine keeps per flow beside its sender and receiver: the private path, and counters.

use crate::base::random::{Purpose, Stream};
use crate::base::sizes::{CELL_BYTES, MAX_ACCESS_RATES};
use crate::base::units::{Rate, Span, Time};
use crate::network::{Access, Delay, Flow, Group, Network};
use serde::{Deserialize, Serialize};

/// The private links of a flow and where its packets enter the shared network. One cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Wire {
    pub(crate) group: u32,
    /// First entry of the way forth and of the way back in the flat list of routes.
    pub(crate) forward: u32,
    pub(crate) backward: u32,
    /// Index of the sender's and the receiver's access rate.
    sender_rate: u16,
    receiver_rate: u16,
    sender_delay: Span,
    receiver_delay: Span,
    sender_up: Time,
    receiver_down: Time,
    receiver_up: Time,
    sender_down: Time,
}

/// Which of the two ways of a flow: data forth, acknowledgements back.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Direction {
    Forth,
    Back,
}

/// Access rates, each once, with the service times of the sizes last seen.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct AccessRates {
    rates: Vec<(Rate, [(u32, Span); 2])>,
}

const NO_RATE: u16 = u16::MAX;
const _: () = assert!(MAX_ACCESS_RATES <= NO_RATE as usize);

impl AccessRates {
    /// Every distinct access rate of the flows.
    pub(crate) fn of(flows: &[Flow]) -> AccessRates {
        let mut rates: Vec<Rate> =
            flows.iter().flat_map(|flow| [flow.sender_access.rate, flow.receiver_access.rate]).flatten().collect();
        rates.sort_unstable();
        rates.dedup();
        AccessRates { rates: rates.into_iter().map(|rate| (rate, [(0, Span::ZERO); 2])).collect() }
    }

    fn index(&self, access: &Access) -> u16 {
        let Some(rate) = access.rate else { return NO_RATE };
        self.rates.binary_search_by(|entry| entry.0.cmp(&rate)).map_or(NO_RATE, |index| index as u16)
    }

    #[inline]
    fn service(&mut self, index: u16, bytes: u32) -> Span {
        if index == NO_RATE {
            return Span::ZERO;
        }
        let (rate, known) = &mut self.rates[index as usize];
        service_time(*rate, known, bytes)
    }
}

/// The service time of `bytes`, from the two sizes last computed if it is one of them.
#[inline]
pub(crate) fn service_time(rate: Rate, known: &mut [(u32, Span); 2], bytes: u32) -> Span {
    if known[0].0 == bytes {
        return known[0].1;
    }
    if known[1].0 != bytes {
        known.swap(0, 1);
        known[1] = (bytes, rate.time_to_send(u64::from(bytes)));
    }
    known[1].1
}

impl Wire {
    pub(crate) fn new(flow: &Flow, forward: u32, backward: u32, rates: &AccessRates) -> Wire {
        Wire {
            group: flow.group,
            forward,
            backward,
            sender_rate: rates.index(&flow.sender_access),
            receiver_rate: rates.index(&flow.receiver_access),
            sender_delay: flow.sender_access.delay,
            receiver_delay: flow.receiver_access.delay,
            sender_up: Time::ZERO,
            receiver_down: Time::ZERO,
            receiver_up: Time::ZERO,
            sender_down: Time::ZERO,
        }
    }

    /// How long a unit takes to be sent on the access link of the end where this way begins.
    #[inline]
    pub(crate) fn service(&self, direction: Direction, bytes: u32, rates: &mut AccessRates) -> Span {
        let rate = match direction {
            Direction::Forth => self.sender_rate,
            Direction::Back => self.receiver_rate,
        };
        rates.service(rate, bytes)
    }

    /// A data packet leaves the sender at `time`: when it reaches the first port.
    #[inline]
    pub(crate) fn sender_up(&mut self, time: Time, bytes: u32, rates: &mut AccessRates) -> Time {
        self.sender_up = self.sender_up.max(time) + rates.service(self.sender_rate, bytes);
        self.sender_up + self.sender_delay
    }

    /// A unit leaves the last port's delay line at `time`: when it reaches the receiver.
    #[inline]
    pub(crate) fn receiver_down(&mut self, time: Time, bytes: u32, rates: &mut AccessRates) -> Time {
        self.receiver_down = self.receiver_down.max(time) + rates.service(self.receiver_rate, bytes);
        self.receiver_down + self.receiver_delay
    }

    #[inline]
    pub(crate) fn receiver_up(&mut self, time: Time, bytes: u32, rates: &mut AccessRates) -> Time {
        self.receiver_up = self.receiver_up.max(time) + rates.service(self.receiver_rate, bytes);
        self.receiver_up + self.receiver_delay
    }

    #[inline]
    pub(crate) fn sender_down(&mut self, time: Time, bytes: u32, rates: &mut AccessRates) -> Time {
        self.sender_down = self.sender_down.max(time) + rates.service(self.sender_rate, bytes);
        self.sender_down + self.sender_delay
    }

    /// A packet leaves its end at `time` in cells: when the first of them reaches the first port.
    pub(crate) fn up_in_cells(&mut self, direction: Direction, time: Time, cells: u32, rates: &mut AccessRates) -> Time {
        let spacing = self.cell_spacing(direction, rates);
        let (up, delay) = match direction {
            Direction::Forth => (&mut self.sender_up, self.sender_delay),
            Direction::Back => (&mut self.receiver_up, self.receiver_delay),
        };
        let first = (*up).max(time) + spacing;
        *up = first + Span(spacing.0 * u64::from(cells - 1));
        first + delay
    }

    /// Time from one cell of a packet to the next as they reach the first port.
    #[inline]
    pub(crate) fn cell_spacing(&self, direction: Direction, rates: &mut AccessRates) -> Span {
        self.service(direction, CELL_BYTES, rates)
    }
}

/// Processing and jitter of a flow's two hosts. Kept only where a group has any.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hosts {
    send: Server,
    receive: Server,
    jitter: Stream,
    jitter_draws: u64,
    jittered: Time,
}

/// Serves packets one after another, in order.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Server {
    stream: Stream,
    draws: u64,
    free: Time,
}

impl Hosts {
    /// Whether any group has hosts that take time.
    pub(crate) fn are_needed(network: &Network) -> bool {
        let take_time =
            |group: &Group| group.send_processing.is_some() || group.receive_processing.is_some() || group.jitter != Span::ZERO;
        network.groups.iter().any(take_time)
    }

    /// The hosts of every flow, or nothing if no group needs them.
    pub(crate) fn of(network: &Network) -> Vec<Hosts> {
        if !Hosts::are_needed(network) {
            return Vec::new();
        }
        let mut counted = vec![0u64; network.groups.len()];
        let of_flow = |flow: &Flow| {
            let name = &network.groups[flow.group as usize].name;
            let index = counted[flow.group as usize];
            counted[flow.group as usize] += 1;
            let server = |purpose| Server { stream: Stream::new(network.seed, name, index, purpose), draws: 0, free: Time::ZERO };
            Hosts {
                send: server(Purpose::SendProcessing),
                receive: server(Purpose::ReceiveProcessing),
                jitter: Stream::new(network.seed, name, index, Purpose::Jitter),
                jitter_draws: 0,
                jittered: Time::ZERO,
            }
        };
        network.flows.iter().map(of_flow).collect()
    }

    /// When a packet handed down at `time` leaves the sending host.
    pub(crate) fn send(&mut self, time: Time, group: &Group) -> Time {
        let time = self.send.serve(time, group.send_processing);
        if group.jitter == Span::ZERO {
            return time;
        }
        self.jitter_draws += 1;
        let extra = Span((self.jitter.uniform(self.jitter_draws) * group.jitter.0 as f64) as u64);
        self.jittered = self.jittered.max(time + extra);
        self.jittered
    }

    /// When a packet that arrived at `time` has been processed by the receiving host.
    pub(crate) fn receive(&mut self, time: Time, group: &Group) -> Time {
        self.receive.serve(time, group.receive_processing)
    }
}

impl Server {
    fn serve(&mut self, time: Time, delay: Option<Delay>) -> Time {
        let Some(delay) = delay else { return time };
        self.draws += 1;
        let span = match delay {
            Delay::Fixed(span) => span,
            Delay::Uniform(low, high) => low + Span((self.stream.uniform(self.draws) * (high - low).0 as f64) as u64),
            Delay::Exponential(mean) => Span::from_seconds(self.stream.exponential(self.draws) * mean.seconds()),
        };
        self.free = self.free.max(time) + span;
        self.free
    }
}

/// What is counted of a flow's packets between its ends. Only within the measured part, except where it says otherwise.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PathCounts {
    /// Over the whole run and beyond, for the conservation check; of packets in cells, the channel counts what is discarded.
    pub(crate) received_in_all: u32,
    pub(crate) discarded_in_all: u32,
    pub(crate) acks_sent_in_all: u32,
    pub(crate) acks_received_in_all: u32,
    pub(crate) acks_discarded_in_all: u32,
    /// Packets. What becomes of one that travels in cells, its last cell decides: it is discarded, or arrives and closes a frame that is
    /// not whole.
    pub(crate) discarded: u32,
    /// Distinct segments that reached the receiver.
    pub(crate) delivered: u32,
    /// Segments that reached the receiver again.
    pub(crate) duplicates: u32,
    pub(crate) delivered_bytes: u64,
    /// When the receiver had everything; [`Time::NEVER`] while it has not.
    pub(crate) completed: Time,
}

impl Default for PathCounts {
    fn default() -> PathCounts {
        PathCounts {
            received_in_all: 0,
            discarded_in_all: 0,
            acks_sent_in_all: 0,
            acks_received_in_all: 0,
            acks_discarded_in_all: 0,
            discarded: 0,
            delivered: 0,
            duplicates: 0,
            delivered_bytes: 0,
            completed: Time::NEVER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_fits_in_a_cache_line_and_so_do_counters() {
        assert!(std::mem::size_of::<Wire>() <= 64);
        assert!(std::mem::size_of::<PathCounts>() <= 64);
    }
}
