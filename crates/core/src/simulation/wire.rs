//! The private links of a flow, from its ends to the shared network and back.

use super::routes::RouteEntry;
use crate::network::{AccessLink, Flow};
use crate::primitives::ids::GroupId;
use crate::primitives::packet::Packet;
use crate::primitives::sizes::{CELL_BYTES, MAX_ACCESS_RATES};
use crate::primitives::units::{Bytes, Rate, Time, TimeDelta, Units};
use serde::{Deserialize, Serialize};

/// The private links of a flow and the entries of its packets into the shared network. One cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Wire {
    pub(crate) group: GroupId,
    /// First entries of the forward and the reverse path in the flat list of routes.
    pub(crate) forward: u32,
    pub(crate) backward: u32,
    /// Index of the sender's and the receiver's access rate.
    sender_rate: u16,
    receiver_rate: u16,
    sender_delay: TimeDelta,
    receiver_delay: TimeDelta,
    sender_up: Time,
    receiver_down: Time,
    receiver_up: Time,
    sender_down: Time,
}

/// Direction of a flow: data forward, acknowledgements back.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Direction {
    Forward,
    Reverse,
}

/// The distinct access rates, each with the service times of recent sizes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct AccessRates {
    rates: Vec<(Rate, ServiceTimeCache)>,
}

const NO_RATE: u16 = u16::MAX;
const _: () = assert!(MAX_ACCESS_RATES <= NO_RATE as usize);

impl AccessRates {
    /// The distinct access rates of the flows.
    pub(crate) fn of(flows: &[Flow]) -> AccessRates {
        let mut rates: Vec<Rate> =
            flows.iter().flat_map(|flow| [flow.sender_access.rate, flow.receiver_access.rate]).flatten().collect();
        rates.sort_unstable();
        rates.dedup();
        AccessRates { rates: rates.into_iter().map(|rate| (rate, ServiceTimeCache::default())).collect() }
    }

    fn index(&self, access: &AccessLink) -> u16 {
        let Some(rate) = access.rate else { return NO_RATE };
        self.rates.binary_search_by(|entry| entry.0.cmp(&rate)).map_or(NO_RATE, |index| index as u16)
    }

    fn rate(&self, index: u16) -> Option<Rate> {
        self.rates.get(usize::from(index)).map(|(rate, _)| *rate)
    }

    #[inline]
    fn service(&mut self, index: u16, bytes: Bytes) -> TimeDelta {
        // `NO_RATE` has no entry.
        let Some((rate, known)) = self.rates.get_mut(usize::from(index)) else { return TimeDelta::ZERO };
        known.of(bytes, || *rate)
    }
}

/// The service times of the two most recent sizes, latest first: most places see only one size.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ServiceTimeCache {
    bytes: [u32; 2],
    times: [TimeDelta; 2],
}

impl ServiceTimeCache {
    /// Service time of the latest size.
    pub(super) fn latest(&self) -> TimeDelta {
        self.times[0]
    }

    /// Service time of a size at this rate.
    #[inline]
    pub(crate) fn of(&mut self, bytes: Bytes, rate: impl FnOnce() -> Rate) -> TimeDelta {
        match bytes.0 as u32 {
            size if size == self.bytes[0] => self.times[0],
            size if size == self.bytes[1] => self.times[1],
            size => {
                let time = rate().time_to_send(bytes);
                self.bytes = [size, self.bytes[0]];
                self.times = [time, self.times[0]];
                time
            }
        }
    }
}

impl Wire {
    /// `starts`: first entry of each path in the flat list of routes.
    pub(crate) fn new(flow: &Flow, starts: &[u32], rates: &AccessRates) -> Wire {
        Wire {
            group: flow.group,
            forward: starts[flow.forward as usize],
            backward: starts[flow.backward as usize],
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

    pub(crate) fn sender_access(&self, rates: &AccessRates) -> AccessLink {
        AccessLink { rate: rates.rate(self.sender_rate), delay: self.sender_delay }
    }

    /// Delay of the end's own link, if this entry of the routes is an end: nothing takes place before the packet has crossed it.
    #[inline]
    pub(crate) fn delay_behind(&self, entry: RouteEntry, packet: &Packet) -> TimeDelta {
        match entry.is_end() {
            true if packet.is_ack() => self.sender_delay,
            true => self.receiver_delay,
            false => TimeDelta::ZERO,
        }
    }

    pub(crate) fn receiver_access(&self, rates: &AccessRates) -> AccessLink {
        AccessLink { rate: rates.rate(self.receiver_rate), delay: self.receiver_delay }
    }

    /// Copy the state of the sender's links.
    pub(crate) fn take_sender(&mut self, from: &Wire) {
        (self.sender_up, self.sender_down) = (from.sender_up, from.sender_down);
    }

    /// Copy the state of the receiver's links.
    pub(crate) fn take_receiver(&mut self, from: &Wire) {
        (self.receiver_up, self.receiver_down) = (from.receiver_up, from.receiver_down);
    }

    /// Service time of a unit on the access link at which this direction begins.
    #[inline]
    pub(crate) fn service(&self, direction: Direction, bytes: Bytes, rates: &mut AccessRates) -> TimeDelta {
        let rate = match direction {
            Direction::Forward => self.sender_rate,
            Direction::Reverse => self.receiver_rate,
        };
        rates.service(rate, bytes)
    }

    /// Time at which a data packet that leaves the sender at `time` reaches the first port.
    #[inline]
    pub(crate) fn sender_up(&mut self, time: Time, bytes: Bytes, rates: &mut AccessRates) -> Time {
        self.sender_up = self.sender_up.max(time) + rates.service(self.sender_rate, bytes);
        self.sender_up + self.sender_delay
    }

    /// Time at which a unit that leaves the last port's delay line at `time` reaches the receiver.
    #[inline]
    pub(crate) fn receiver_down(&mut self, time: Time, bytes: Bytes, rates: &mut AccessRates) -> Time {
        self.receiver_down = self.receiver_down.max(time) + rates.service(self.receiver_rate, bytes);
        self.receiver_down + self.receiver_delay
    }

    #[inline]
    pub(crate) fn receiver_up(&mut self, time: Time, bytes: Bytes, rates: &mut AccessRates) -> Time {
        self.receiver_up = self.receiver_up.max(time) + rates.service(self.receiver_rate, bytes);
        self.receiver_up + self.receiver_delay
    }

    #[inline]
    pub(crate) fn sender_down(&mut self, time: Time, bytes: Bytes, rates: &mut AccessRates) -> Time {
        self.sender_down = self.sender_down.max(time) + rates.service(self.sender_rate, bytes);
        self.sender_down + self.sender_delay
    }

    /// Time at which the first cell of a packet that leaves its end at `time` reaches the first port.
    pub(crate) fn up_in_cells(&mut self, direction: Direction, time: Time, cells: Units, rates: &mut AccessRates) -> Time {
        let spacing = self.cell_spacing(direction, rates);
        let (up, delay) = match direction {
            Direction::Forward => (&mut self.sender_up, self.sender_delay),
            Direction::Reverse => (&mut self.receiver_up, self.receiver_delay),
        };
        let first = (*up).max(time) + spacing;
        *up = first + TimeDelta(spacing.0 * (cells.0 - 1));
        first + delay
    }

    /// Time between consecutive cells of a packet at the first port.
    #[inline]
    pub(crate) fn cell_spacing(&self, direction: Direction, rates: &mut AccessRates) -> TimeDelta {
        self.service(direction, CELL_BYTES, rates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_fits_in_a_cache_line() {
        assert!(std::mem::size_of::<Wire>() <= 64);
    }
}
