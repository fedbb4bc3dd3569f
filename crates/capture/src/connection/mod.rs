//! TCP connections as observed at one point: two directions each, identified by interface, addresses, ports and initial
//! sequence numbers.

mod accurate_ecn;
mod arrival_order;
mod direction;
mod identifications;
mod losses;
mod outstanding_segments;
mod samples;
mod sender_round_trip;
mod sender_timers;
mod sequence;
mod sequence_gaps;

pub use samples::Samples;

pub(crate) use accurate_ecn::{CeCounter, EcnFeedback};
pub(crate) use direction::{Direction, InFlight, Syn};
pub(crate) use losses::{Drop, Evidence, Loss, RepairKind};
pub(crate) use samples::{DirectionId, SampleRows};

use crate::flow_key::{CapturePoint, Endpoint, FlowKey};
use crate::seen_packets::{REPEATED_WITHIN, SeenPacket, SeenPackets, UNIDENTIFIED_WITHIN};
use crate::segment::{IpPacket, Segment, Transport};
use crate::skipped::SkipReason;
use crate::time::Timestamp;
use crate::udp_flows::UdpFlows;
use direction::ReceivedSegment;
use samples::SampleSink;
use sequence::SequenceNumber;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// TCP connections and UDP flows, measured packet by packet. Memory is allocated only for outstanding or missing data, not per packet.
#[derive(Clone, Debug, Default)]
pub struct Connections {
    all: Vec<Connection>,
    latest: HashMap<FlowKey, u32>,
    udp: UdpFlows,
    seen: SeenPackets,
    rows: Option<Box<SampleRows>>,
}

/// A connection. The first direction is that of the end that opened it or, if the SYN was not captured, of the end that sent the
/// first captured packet.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) point: CapturePoint,
    pub(crate) ends: [Endpoint; 2],
    pub(crate) directions: [Direction; 2],
    pub(crate) is_reset: bool,
}

/// The maximum window scale (RFC 7323 section 2.3).
const WIDEST_SCALE: u8 = 14;

impl Connections {
    pub fn new(samples: Samples) -> Connections {
        let rows = (samples == Samples::Stored).then(Box::default);
        Connections { rows, ..Connections::default() }
    }

    /// Processes a packet that passes a point of capture. Packets of one point are processed in the order of their timestamps.
    ///
    /// # Errors
    /// The reason why the packet belongs to no connection; nothing is counted in that case.
    pub fn see(&mut self, point: CapturePoint, at: Timestamp, packet: &IpPacket<'_>) -> Result<(), SkipReason> {
        let segment = match Transport::of(packet)? {
            Transport::Tcp(segment) => segment,
            Transport::Udp(datagram) => {
                if self.seen.repeats(datagram.fingerprint(at, FlowKey::new(point, datagram.from, datagram.to))) {
                    return Err(SkipReason::Repeated);
                }
                self.udp.see(point, at, &datagram);
                return Ok(());
            }
        };
        let index = self.place(point, &segment);
        let Connections { all, rows, seen: repeated, .. } = self;
        let connection = &mut all[index as usize];
        if repeated.repeats(connection.fingerprint(at, index, &segment)) {
            return Err(SkipReason::Repeated);
        }
        connection.see(
            at,
            &segment,
            SampleSink { rows: rows.as_deref_mut(), of: DirectionId { connection: index, direction: 0 } },
        );
        Ok(())
    }

    /// Number of connections.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn udp(&self) -> &UdpFlows {
        &self.udp
    }

    pub(crate) fn all(&self) -> &[Connection] {
        &self.all
    }

    /// Losses that are not stored.
    pub(crate) fn losses_left_out(&self) -> u64 {
        self.all.iter().flat_map(|connection| &connection.directions).map(|direction| direction.losses.left_out).sum()
    }

    pub(crate) fn rows(&self) -> Option<&SampleRows> {
        self.rows.as_deref()
    }

    /// Index of the connection of a segment; creates it if necessary.
    #[inline]
    fn place(&mut self, point: CapturePoint, segment: &Segment<'_>) -> u32 {
        let next = self.all.len() as u32;
        let latest = self.latest.entry(FlowKey::new(point, segment.from, segment.to)).or_insert(next);
        if let Some(connection) = self.all.get(*latest as usize)
            && !connection.is_followed_by(segment)
        {
            return *latest;
        }
        *latest = next;
        self.all.push(Connection::begun_by(point, segment));
        next
    }
}

impl Connection {
    fn begun_by(point: CapturePoint, segment: &Segment<'_>) -> Connection {
        let answers = segment.header.syn() && segment.header.ack();
        let ends = if answers { [segment.to, segment.from] } else { [segment.from, segment.to] };
        Connection { point, ends, directions: [Direction::default(), Direction::default()], is_reset: false }
    }

    /// Whether the segment opens another connection between the same ports.
    #[inline]
    fn is_followed_by(&self, segment: &Segment<'_>) -> bool {
        segment.header.syn() && {
            let sender = usize::from(segment.from != self.ends[0]);
            self.directions[sender].is_begun_anew_by(SequenceNumber(segment.header.sequence_number()))
        }
    }

    #[inline]
    fn see(&mut self, at: Timestamp, segment: &Segment<'_>, mut sink: SampleSink<'_>) {
        let header = &segment.header;
        let sender = usize::from(segment.from != self.ends[0]);
        let options = segment.options();
        let is_keep_alive = self.directions[sender].is_keep_alive(segment);
        sink.of.direction = sender as u32;
        self.directions[sender].sender_handshake = self.directions[1 - sender].handshake;
        self.directions[sender].agrees_on_sack = self.agrees_on_sack();
        self.directions[sender].on_sent(at, segment, &options, &mut sink);
        self.is_reset |= header.rst();
        if header.ack() && !header.rst() {
            let scale = self.window_scale(sender).unwrap_or(0);
            let repeats = segment.payload.0 == 0 && !header.syn() && !header.fin() && !is_keep_alive;
            let feedback = self.ecn_feedback().unwrap_or(EcnFeedback::None);
            let received = ReceivedSegment { segment, options, scale, feedback, repeats };
            if feedback == EcnFeedback::Accurate && !header.syn() {
                let counter = if sender == 0 { CeCounter::of_client } else { CeCounter::of_server };
                self.directions[1 - sender].reported_ce.get_or_insert_with(counter);
            }
            sink.of.direction = 1 - sender as u32;
            self.directions[1 - sender].on_received(at, &received, &mut sink);
        }
    }

    /// `None` if the handshake was not captured.
    pub(crate) fn ecn_feedback(&self) -> Option<EcnFeedback> {
        let [first, second] = &self.directions;
        first.syn.zip(second.syn).map(|(request, reply)| EcnFeedback::agreed(request.ecn, reply.ecn))
    }

    fn agrees_on_sack(&self) -> bool {
        self.directions.iter().all(|direction| direction.syn.is_some_and(|syn| syn.options.sack_permitted))
    }

    /// Fingerprint of a packet that would be the same one if it were seen again. If the identifications of its sender do not vary, a
    /// packet that takes sequence numbers and is seen again before its sender can react is the same one.
    fn fingerprint(&mut self, at: Timestamp, index: u32, segment: &Segment<'_>) -> SeenPacket {
        let sender = usize::from(segment.from != self.ends[0]);
        let direction = &mut self.directions[sender];
        let is_identified = direction.identifications.identify(segment.identification);
        let header = &segment.header;
        let within = if is_identified {
            REPEATED_WITHIN
        } else if segment.payload.0 > 0 || header.syn() || header.fin() {
            direction.reaction_time().min(UNIDENTIFIED_WITHIN)
        } else {
            Duration::ZERO
        };
        let mut hasher = DefaultHasher::new();
        (index, sender, segment.identification, segment.payload.0).hash(&mut hasher);
        // Everything except the checksum, which may be incomplete in one of two copies.
        (&header.slice()[..16], &header.slice()[18..]).hash(&mut hasher);
        SeenPacket { at, hash: hasher.finish(), within }
    }

    /// Scale of the windows that an end advertises: both ends must have requested scaling (RFC 7323 section 2.2). `None` if the
    /// handshake was not captured.
    pub(crate) fn window_scale(&self, of: usize) -> Option<u8> {
        let scale = |end: usize| self.directions[end].syn.map(|syn| syn.options.window_scale);
        let (own, other) = (scale(of)?, scale(1 - of)?);
        Some(own.filter(|_| other.is_some()).unwrap_or(0).min(WIDEST_SCALE))
    }
}

#[cfg(test)]
mod tests;
