//! Points of capture: which of them see one direction each of the same connections, such as the two interfaces of a network tap,
//! and whether the packets of each are in the order of time.

use crate::flow_key::{CapturePoint, FlowKey};
use crate::segment::{IpPacket, Transport};
use crate::time::Timestamp;
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Debug, Default)]
pub(crate) struct CapturePoints {
    /// Points that another one, which sees the other direction, represents.
    joined: BTreeMap<CapturePoint, CapturePoint>,
    last: HashMap<CapturePoint, Timestamp>,
    out_of_time: BTreeMap<CapturePoint, u64>,
}

/// Evidence of the first packets: the directions of each flow that each point sees.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeenDirections(HashMap<FlowKey, BTreeMap<CapturePoint, Directions>>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Directions {
    /// From the lower end to the higher one.
    upwards: bool,
    downwards: bool,
}

impl Directions {
    fn are_one(self) -> bool {
        self.upwards != self.downwards
    }
}

impl SeenDirections {
    pub(crate) fn see(&mut self, point: CapturePoint, packet: &IpPacket<'_>) {
        let (from, to) = match Transport::of(packet) {
            Ok(Transport::Tcp(segment)) => (segment.from, segment.to),
            Ok(Transport::Udp(datagram)) => (datagram.from, datagram.to),
            Err(_) => return,
        };
        let key = FlowKey::new(CapturePoint::default(), from, to);
        let seen = self.0.entry(key).or_default().entry(point).or_default();
        if from <= to { seen.upwards = true } else { seen.downwards = true }
    }

    /// Joins two points if every flow that one of them sees has one direction there, and those flows that both see have opposite ones.
    pub(crate) fn points(&self) -> CapturePoints {
        let mut one_way: BTreeMap<CapturePoint, bool> = BTreeMap::new();
        let mut opposite: BTreeMap<(CapturePoint, CapturePoint), bool> = BTreeMap::new();
        for points in self.0.values() {
            for (&point, directions) in points {
                *one_way.entry(point).or_insert(true) &= directions.are_one();
                for (&other, others) in points.range(..point) {
                    *opposite.entry((other, point)).or_insert(true) &= directions.upwards != others.upwards;
                }
            }
        }
        let is_one_way = |point| one_way.get(&point).copied().unwrap_or_default();
        let mut joined = BTreeMap::new();
        for ((first, second), are_opposite) in opposite {
            let is_free = |point| !joined.contains_key(&point) && !joined.values().any(|&other| other == point);
            if are_opposite && is_one_way(first) && is_one_way(second) && is_free(first) && is_free(second) {
                joined.insert(second, first);
            }
        }
        CapturePoints { joined, ..CapturePoints::default() }
    }
}

impl CapturePoints {
    /// The point that represents another one.
    pub(crate) fn of(&self, point: CapturePoint) -> CapturePoint {
        if self.joined.is_empty() {
            return point;
        }
        self.joined.get(&point).copied().unwrap_or(point)
    }

    /// Pairs of points with one direction each.
    pub(crate) fn joined(&self) -> impl Iterator<Item = (CapturePoint, CapturePoint)> {
        self.joined.iter().map(|(&second, &first)| (first, second))
    }

    /// A packet passes a point, which represents itself.
    pub(crate) fn pass(&mut self, point: CapturePoint, at: Timestamp) {
        let last = self.last.entry(point).or_insert(at);
        if at < *last {
            *self.out_of_time.entry(point).or_default() += 1;
        }
        *last = at;
    }

    /// Packets that are earlier than the packet before at the same point.
    pub(crate) fn out_of_time(&self) -> impl Iterator<Item = (CapturePoint, u64)> {
        self.out_of_time.iter().map(|(&point, &packets)| (point, packets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;
    use tailback_core::primitives::units::Bytes;

    fn at(interface: u32) -> CapturePoint {
        CapturePoint { interface, ..CapturePoint::default() }
    }

    /// Packets of one connection: interface, and whether the first end sends.
    fn points(packets: &[(u32, bool)]) -> CapturePoints {
        let mut seen = SeenDirections::default();
        for &(interface, is_first) in packets {
            let (from, to) = if is_first { ((1, 1000), (2, 80)) } else { ((2, 80), (1, 1000)) };
            let mut bytes = Vec::new();
            let builder = PacketBuilder::ipv4([10, 0, 0, from.0], [10, 0, 0, to.0], 64).tcp(from.1, to.1, 1, 1);
            builder.write(&mut bytes, &[]).unwrap();
            seen.see(at(interface), &IpPacket { bytes: &bytes, original: Bytes(bytes.len() as u64), comment: None });
        }
        seen.points()
    }

    #[test]
    fn interfaces_with_one_direction_each_are_one_point() {
        let tap = points(&[(0, true), (1, false), (0, true), (1, false)]);
        assert_eq!((tap.of(at(1)), tap.of(at(0)), tap.joined().count()), (at(0), at(0), 1));
    }

    #[test]
    fn points_that_see_both_directions_or_the_same_one_are_separate() {
        for separate in [&[(0, true), (1, true), (1, false), (0, false)][..], &[(0, true), (1, true)], &[(0, true)]] {
            assert_eq!(points(separate).joined().count(), 0, "{separate:?}");
        }
        // The second one sees one direction, but the first one sees both.
        assert_eq!(points(&[(0, true), (1, false), (0, false)]).joined().count(), 0);
    }

    #[test]
    fn packets_out_of_time_count_at_their_point() {
        let mut points = CapturePoints::default();
        for (interface, time) in [(0, 10), (1, 5), (0, 11), (1, 4), (1, 6)] {
            points.pass(at(interface), Timestamp(time));
        }
        assert_eq!(points.out_of_time().collect::<Vec<_>>(), [(at(1), 1)]);
    }
}
