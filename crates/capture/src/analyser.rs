//! Analysis of a capture, read to its end in slices.

use crate::capture_points::{CapturePoints, SeenDirections};
use crate::connection::{Connections, Samples};
use crate::flow_key::CapturePoint;
use crate::link::LinkType;
use crate::read::{OpenError, Packet, ReadError, Reader, Record};
use crate::segment::IpPacket;
use crate::skipped::{SkipReason, Skipped};
use crate::tables;
use crate::time::Timestamp;
use std::io::{self, Read};
use tailback_core::primitives::units::Bytes;
use tailback_core::record::Table;

/// A capture under analysis.
#[derive(Debug)]
pub struct Analyser<R> {
    reader: Reader<R>,
    connections: Connections,
    skipped: Skipped,
    packets: u64,
    points: Points,
    first: Option<Timestamp>,
    damage: Option<Damage>,
}

/// The first packets are collected until the points of capture are known.
#[derive(Debug)]
enum Points {
    Unknown(Vec<StoredPacket>),
    Known(CapturePoints),
}

/// The beginning of a packet, which contains its headers.
#[derive(Debug)]
struct StoredPacket {
    interface: usize,
    link: LinkType,
    at: Timestamp,
    bytes: Vec<u8>,
    original: u32,
    comment: Option<String>,
}

/// Packets after which the points of capture are known, and bytes of each that are stored.
const COLLECTED: usize = 2000;
const STORED: usize = 1024;

/// Position and cause of damage in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub at_byte: u64,
    pub message: String,
}

impl<R: Read> Analyser<R> {
    /// # Errors
    /// If the source cannot be read, or is not a capture.
    pub fn open(source: R, samples: Samples) -> Result<Analyser<R>, OpenError> {
        Ok(Analyser {
            reader: Reader::open(source)?,
            connections: Connections::new(samples),
            skipped: Skipped::default(),
            packets: 0,
            points: Points::Unknown(Vec::new()),
            first: None,
            damage: None,
        })
    }

    /// Processes at most `packets` packets. Returns true at the end of the file, or where it is damaged: see
    /// [`Analyser::damage`]. The results are complete then.
    ///
    /// # Errors
    /// If the source cannot be read.
    pub fn advance(&mut self, packets: u64) -> io::Result<bool> {
        if self.damage.is_some() {
            return Ok(true);
        }
        for _ in 0..packets {
            let skipped = match self.reader.next_record() {
                Ok(None) => {
                    self.points.decide(&mut self.connections, &mut self.skipped);
                    return Ok(true);
                }
                Ok(Some(Record::Skipped(reason))) => Some(reason),
                Ok(Some(Record::Packet(packet))) => {
                    let at = packet.at;
                    self.first = Some(self.first.map_or(at, |first| first.min(at)));
                    match &mut self.points {
                        Points::Known(points) => see(points, &mut self.connections, &packet).err(),
                        Points::Unknown(collected) => {
                            collected.push(StoredPacket::of(packet));
                            if collected.len() == COLLECTED {
                                self.points.decide(&mut self.connections, &mut self.skipped);
                            }
                            None
                        }
                    }
                }
                Err(ReadError::Damaged { at_byte, message }) => {
                    self.points.decide(&mut self.connections, &mut self.skipped);
                    self.damage = Some(Damage { at_byte, message });
                    return Ok(true);
                }
                Err(ReadError::Unreadable(error)) => return Err(error),
            };
            self.packets += 1;
            if let Some(reason) = skipped {
                self.skipped.add(reason);
            }
        }
        Ok(false)
    }

    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Packets read, skipped ones included.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Packets with an earlier timestamp than the packet before at the same point of capture, by its name; results that depend on time
    /// are less reliable there.
    pub fn packets_out_of_time(&self) -> Vec<(String, u64)> {
        let names = self.names();
        let of = |points: &CapturePoints| {
            points.out_of_time().map(|(point, packets)| (tables::point_name(point, &names), packets)).collect()
        };
        self.points.known().map(of).unwrap_or_default()
    }

    /// Names of points of capture that see one direction each of the same connections, and are analysed as one.
    pub fn joined(&self) -> Vec<(String, String)> {
        let names = self.names();
        let name = |point| tables::point_name(point, &names);
        let of = |points: &CapturePoints| points.joined().map(|(first, second)| (name(first), name(second))).collect();
        self.points.known().map(of).unwrap_or_default()
    }

    /// Bytes of the file consumed.
    pub fn bytes_read(&self) -> u64 {
        self.reader.bytes_read()
    }

    /// The earliest timestamp, which is the origin of all `time_s`.
    pub fn began(&self) -> Option<Timestamp> {
        self.first
    }

    /// Losses beyond the stored ones, which are missing in the table `losses`.
    pub fn losses_left_out(&self) -> u64 {
        self.connections.losses_left_out()
    }

    /// Comments on the sections of the file.
    pub fn comments(&self) -> &[String] {
        self.reader.comments()
    }

    /// Tables `connections`, `udp_flows`, `skipped`, `losses`, and with samples `rtt` and `in_flight`.
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = self.connections.tables(&self.names(), self.first.unwrap_or_default());
        tables.splice(2..2, [tables::skipped(&self.skipped), self.connections.losses(self.first.unwrap_or_default())]);
        tables
    }

    fn names(&self) -> Vec<String> {
        (0..).zip(self.reader.interfaces()).map(|(place, of)| shown(place, &of.name)).collect()
    }
}

impl Points {
    fn known(&self) -> Option<&CapturePoints> {
        match self {
            Points::Known(points) => Some(points),
            Points::Unknown(_) => None,
        }
    }

    /// Determines the points from the collected packets, and analyses these.
    fn decide(&mut self, connections: &mut Connections, skipped: &mut Skipped) {
        let Points::Unknown(collected) = self else { return };
        let collected = std::mem::take(collected);
        let mut seen = SeenDirections::default();
        for packet in &collected {
            if let Ok((point, inside)) = located(&packet.as_packet()) {
                seen.see(point, &inside);
            }
        }
        let mut points = seen.points();
        for packet in &collected {
            if let Err(reason) = see(&mut points, connections, &packet.as_packet()) {
                skipped.add(reason);
            }
        }
        *self = Points::Known(points);
    }
}

impl StoredPacket {
    fn of(packet: Packet<'_>) -> StoredPacket {
        let Packet { interface, link, at, bytes, original, comment } = packet;
        StoredPacket { interface, link, at, bytes: bytes[..bytes.len().min(STORED)].to_vec(), original, comment }
    }

    fn as_packet(&self) -> Packet<'_> {
        let StoredPacket { interface, link, at, ref bytes, original, ref comment } = *self;
        Packet { interface, link, at, bytes, original, comment: comment.clone() }
    }
}

#[inline]
fn see(points: &mut CapturePoints, connections: &mut Connections, packet: &Packet<'_>) -> Result<(), SkipReason> {
    let located = located(packet);
    let point =
        located.as_ref().map_or(CapturePoint { interface: packet.interface as u32, ..CapturePoint::default() }, |of| of.0);
    let point = points.of(point);
    points.pass(point, packet.at);
    connections.see(point, packet.at, &located?.1)
}

/// The point of capture of a packet, and its IP packet.
#[inline]
fn located<'a>(packet: &'a Packet<'_>) -> Result<(CapturePoint, IpPacket<'a>), SkipReason> {
    let inside = packet.link.unwrap(packet.bytes)?;
    let original = Bytes(u64::from(packet.original).saturating_sub(inside.header_bytes as u64));
    let point = CapturePoint { interface: packet.interface as u32, behind: inside.behind, vlan: inside.vlan };
    Ok((point, IpPacket { bytes: inside.ip, original, comment: packet.comment.as_deref() }))
}

/// The name of an interface, or its index if it has none.
fn shown(place: usize, name: &str) -> String {
    if name.is_empty() { place.to_string() } else { name.to_string() }
}
