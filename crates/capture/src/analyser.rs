//! Analysis of a capture, read to its end in slices.

use crate::connection::{CapturePoint, Connections, Samples};
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
    /// Packets with an earlier timestamp than the packet before.
    packets_out_of_time: u64,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    damage: Option<Damage>,
}

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
            packets_out_of_time: 0,
            first: None,
            last: None,
            damage: None,
        })
    }

    /// Processes at most `packets` packets. Returns true at the end of the file, or where it is damaged: see
    /// [`Analyser::damage`].
    ///
    /// # Errors
    /// If the source cannot be read.
    pub fn advance(&mut self, packets: u64) -> io::Result<bool> {
        if self.damage.is_some() {
            return Ok(true);
        }
        for _ in 0..packets {
            let skipped = match self.reader.next_record() {
                Ok(None) => return Ok(true),
                Ok(Some(Record::Skipped(reason))) => Some(reason),
                Ok(Some(Record::Packet(packet))) => {
                    let at = packet.at;
                    let seen = seen(&mut self.connections, &packet);
                    self.first = Some(self.first.map_or(at, |first| first.min(at)));
                    self.packets_out_of_time += u64::from(self.last.is_some_and(|last| at < last));
                    self.last = Some(at);
                    seen.err()
                }
                Err(ReadError::Damaged { at_byte, message }) => {
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

    /// Packets with an earlier timestamp than the packet before; results that depend on time are less reliable then.
    pub fn packets_out_of_time(&self) -> u64 {
        self.packets_out_of_time
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
        let interfaces: Vec<String> = (0..).zip(self.reader.interfaces()).map(|(place, of)| shown(place, &of.name)).collect();
        let mut tables = self.connections.tables(&interfaces, self.first.unwrap_or_default());
        tables.splice(2..2, [tables::skipped(&self.skipped), self.connections.losses(self.first.unwrap_or_default())]);
        tables
    }
}

#[inline]
fn seen(connections: &mut Connections, packet: &Packet<'_>) -> Result<(), SkipReason> {
    let inside = packet.link.unwrap(packet.bytes)?;
    let original = Bytes(u64::from(packet.original).saturating_sub(inside.header_bytes as u64));
    let point = CapturePoint { interface: packet.interface as u32, behind: inside.behind };
    connections.see(point, packet.at, &IpPacket { bytes: inside.ip, original, comment: packet.comment.as_deref() })
}

/// The name of an interface, or its index if it has none.
fn shown(place: usize, name: &str) -> String {
    if name.is_empty() { place.to_string() } else { name.to_string() }
}
