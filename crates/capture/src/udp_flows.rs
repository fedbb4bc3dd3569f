//! UDP flows as observed at one point: packets, bytes and gaps of each direction and, for QUIC, the version and the spin bit.

use crate::datagram::Datagram;
use crate::flow_key::{CapturePoint, Endpoint, FlowKey};
use crate::quic::{QuicHeader, version_name};
use crate::round_trips::RoundTrips;
use crate::time::Timestamp;
use etherparse::IpEcn;
use std::collections::HashMap;
use std::time::Duration;

/// Flows in the order of their first packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct UdpFlows {
    all: Vec<UdpFlow>,
    places: HashMap<FlowKey, u32>,
}

/// Two directions between the same addresses and ports. The first direction is that of the first captured packet.
#[derive(Clone, Debug)]
pub(crate) struct UdpFlow {
    pub(crate) point: CapturePoint,
    pub(crate) ends: [Endpoint; 2],
    pub(crate) directions: [UdpDirection; 2],
    /// The latest version in a long header; a flow without one is not recognised as QUIC.
    version: Option<u32>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct UdpDirection {
    pub(crate) packets: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) largest_payload: u64,
    pub(crate) ect_packets: u64,
    pub(crate) ce_packets: u64,
    pub(crate) span: Option<(Timestamp, Timestamp)>,
    /// Times between successive packets.
    pub(crate) gaps: RoundTrips,
    pub(crate) spin: Spin,
}

/// Spin bit of a direction (RFC 9000 section 17.4, RFC 9312 section 4.2): it changes once per round trip.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spin {
    packets: u64,
    changes: u64,
    last: Option<bool>,
    /// Packets since the last change, and the sum of the squares of earlier such numbers.
    run: u64,
    squared_runs: u64,
    /// The value since the last edge.
    phase: Option<bool>,
    last_edge: Option<Timestamp>,
    pub(crate) round_trips: RoundTrips,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpinUse {
    /// No packets with a spin bit.
    Unknown,
    /// It never changed.
    Constant,
    Spinning,
    /// It changes too often to spin: a value chosen for each packet (RFC 9000 section 17.4).
    Random,
}

/// Edges closer than this part of the smoothed round trip are an effect of reordering.
const REORDERED: u32 = 8;

impl UdpFlows {
    pub(crate) fn all(&self) -> &[UdpFlow] {
        &self.all
    }

    pub(crate) fn see(&mut self, point: CapturePoint, at: Timestamp, datagram: &Datagram<'_>) {
        let next = self.all.len() as u32;
        let place = *self.places.entry(FlowKey::new(point, datagram.from, datagram.to)).or_insert(next);
        if place == next {
            let directions = [UdpDirection::default(), UdpDirection::default()];
            self.all.push(UdpFlow { point, ends: [datagram.from, datagram.to], directions, version: None });
        }
        let flow = &mut self.all[place as usize];
        let sender = usize::from(datagram.from != flow.ends[0]);
        let direction = &mut flow.directions[sender];
        direction.see(at, datagram);
        match QuicHeader::of(datagram.captured) {
            Some(QuicHeader::Long { version, .. }) => flow.version = Some(version),
            Some(header @ QuicHeader::Short { .. }) if flow.version.is_some() => direction.spin.see(at, header),
            Some(QuicHeader::Short { .. }) | None => {}
        }
    }
}

impl UdpFlow {
    /// `None` if the flow is not known to be of QUIC.
    pub(crate) fn version(&self) -> Option<String> {
        self.version.map(version_name)
    }
}

impl UdpDirection {
    fn see(&mut self, at: Timestamp, datagram: &Datagram<'_>) {
        if let Some((_, last)) = self.span {
            self.gaps.add(at.since(last));
        }
        self.span = Some(self.span.map_or((at, at), |(first, _)| (first, at)));
        self.packets += 1;
        self.payload_bytes += datagram.payload.0;
        self.largest_payload = self.largest_payload.max(datagram.payload.0);
        self.ect_packets += u64::from(matches!(datagram.ecn, IpEcn::Ect0 | IpEcn::Ect1));
        self.ce_packets += u64::from(datagram.ecn == IpEcn::CongestionExperienced);
    }
}

impl Spin {
    /// Long headers have no spin bit.
    fn see(&mut self, at: Timestamp, header: QuicHeader) {
        let QuicHeader::Short { spin: value } = header else { return };
        self.packets += 1;
        if self.last.replace(value).is_some_and(|last| last != value) {
            self.changes += 1;
            self.squared_runs += self.run * self.run;
            self.run = 0;
        }
        self.run += 1;
        if *self.phase.get_or_insert(value) == value {
            return;
        }
        let round_trip = self.last_edge.map(|edge| at.since(edge));
        let shortest = self.round_trips.mean_and_deviation().map_or(Duration::ZERO, |(mean, _)| mean / REORDERED);
        if round_trip.is_some_and(|round_trip| round_trip < shortest) {
            return;
        }
        if let Some(round_trip) = round_trip {
            self.round_trips.add(round_trip);
        }
        (self.phase, self.last_edge) = (Some(value), Some(at));
    }

    pub(crate) fn usage(&self) -> SpinUse {
        match (self.packets, self.changes) {
            (0, _) => SpinUse::Unknown,
            (_, 0) => SpinUse::Constant,
            (packets, _) if packets > 16 && self.is_random() => SpinUse::Random,
            _ => SpinUse::Spinning,
        }
    }

    /// Whether runs of equal values have the mean and the variance of independent values, which are 2 packets. With two packets per
    /// round trip, such as ACKs, a spinning bit has the same mean and shorter deviations.
    fn is_random(&self) -> bool {
        let per_change = |sum: u64| sum as f64 / self.changes as f64;
        let mean = per_change(self.packets);
        (1.7..2.5).contains(&mean) && per_change(self.squared_runs) - mean * mean > 1.2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailback_core::primitives::units::Bytes;

    const MILLISECOND: i64 = 1_000_000;

    fn see(flows: &mut UdpFlows, milliseconds: i64, sender: u16, payload: &[u8]) {
        let end = |port| Endpoint { address: [10, 0, 0, 1].into(), port };
        let (from, to) = if sender == 1 { (end(1), end(2)) } else { (end(2), end(1)) };
        let datagram = Datagram {
            from,
            to,
            ecn: IpEcn::NotEct,
            identification: None,
            payload: Bytes(payload.len() as u64),
            captured: payload,
        };
        flows.see(CapturePoint::default(), Timestamp(milliseconds * MILLISECOND), &datagram);
    }

    const INITIAL: [u8; 8] = [0xc0, 0, 0, 0, 1, 0, 0, 0];

    #[test]
    fn packets_bytes_and_gaps_are_those_of_a_direction() {
        let mut flows = UdpFlows::default();
        for (at, sender) in [(0, 1), (1, 2), (3, 1), (10, 1)] {
            see(&mut flows, at, sender, &[0; 100]);
        }
        let [flow] = flows.all() else { panic!() };
        let [forward, backward] = &flow.directions;
        assert_eq!((forward.packets, forward.payload_bytes, backward.packets), (3, 300, 1));
        assert_eq!((forward.gaps.max(), forward.gaps.mean_s()), (Some(Duration::from_millis(7)), 0.005));
        assert_eq!((flow.version(), forward.spin.usage()), (None, SpinUse::Unknown));
    }

    /// A bit of a hash (Steele et al., "Fast splittable pseudorandom number generators", OOPSLA 2014).
    fn independent(n: i64) -> bool {
        let mixed = (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 63 == 1
    }

    #[test]
    fn the_spin_bit_gives_the_round_trip_unless_it_is_random_or_constant() {
        let mut flows = UdpFlows::default();
        see(&mut flows, 0, 1, &INITIAL);
        for n in 0..100 {
            // A change every 40 ms; the packet at 124 ms was overtaken.
            let spin = (n * 4 / 40) % 2 == 1 && n != 31;
            see(&mut flows, n * 4, 1, &[if spin { 0x60 } else { 0x40 }]);
        }
        for n in 0..1000 {
            see(&mut flows, 400 + n, 2, &[if independent(n) { 0x60 } else { 0x40 }]);
        }
        let [flow] = flows.all() else { panic!() };
        let spin = &flow.directions[0].spin;
        assert_eq!((flow.version().as_deref(), spin.usage()), (Some("1"), SpinUse::Spinning));
        assert_eq!(
            (spin.round_trips.min(), spin.round_trips.max()),
            (Some(Duration::from_millis(40)), Some(Duration::from_millis(40)))
        );
        assert_eq!(flow.directions[1].spin.usage(), SpinUse::Random);
        // Acknowledgements: about three, two, and one per round trip of 40 ms.
        for interval in [14, 19, 40] {
            let mut flows = UdpFlows::default();
            see(&mut flows, 0, 1, &INITIAL);
            for at in (0..4000).step_by(interval) {
                see(&mut flows, at, 1, &[if at / 40 % 2 == 1 { 0x60 } else { 0x40 }]);
            }
            assert_eq!(flows.all()[0].directions[0].spin.usage(), SpinUse::Spinning);
        }
        let mut flows = UdpFlows::default();
        see(&mut flows, 0, 1, &INITIAL);
        see(&mut flows, 1, 1, &[0x40]);
        assert_eq!(flows.all()[0].directions[0].spin.usage(), SpinUse::Constant);
    }
}
