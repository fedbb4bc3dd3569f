//! Writes pcapng (draft-ietf-opsawg-pcapng section 4): a section, its interfaces, and packets with comments.

use crate::time::Timestamp;
use std::io::{self, Write};
use tailback_core::primitives::units::Bytes;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Length of a section of unspecified length.
const NOT_SPECIFIED: u64 = u64::MAX;

const COMMENT: u16 = 1;
const INTERFACE_NAME: u16 = 2;
const APPLICATION: u16 = 4;
const TIME_RESOLUTION: u16 = 9;
/// Ticks of 10^-9 s.
const NANOSECONDS: u8 = 9;
/// IP packets without a link header.
const LINKTYPE_RAW: u16 = 101;

/// Writer of a capture: IP packets of any number of interfaces, with timestamps in nanoseconds.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    interfaces: u32,
    block: Vec<u8>,
}

/// Description of a capture as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// The writing application, with its version.
    pub application: &'a str,
    /// Empty for none.
    pub comment: &'a str,
}

/// A packet to write.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    /// Number returned by [`Writer::interface`].
    pub interface: u32,
    pub at: Timestamp,
    /// Starts at the first byte of the IP header; the end may be missing.
    pub bytes: &'a [u8],
    /// Length on the wire.
    pub original: Bytes,
    pub comment: Option<&'a str>,
}

impl<W: Write> Writer<W> {
    /// # Errors
    /// If `out` cannot be written (also in the methods below), or if a text is longer than the format allows, 65 535 bytes.
    pub fn new(out: W, section: &Section<'_>) -> io::Result<Writer<W>> {
        let mut writer = Writer { out, interfaces: 0, block: Vec::new() };
        writer.block.extend(BYTE_ORDER.to_le_bytes());
        writer.block.extend([1, 0, 0, 0]);
        writer.block.extend(NOT_SPECIFIED.to_le_bytes());
        if !section.comment.is_empty() {
            writer.option(COMMENT, section.comment.as_bytes())?;
        }
        writer.option(APPLICATION, section.application.as_bytes())?;
        writer.end_options();
        writer.end_block(SECTION)?;
        Ok(writer)
    }

    /// Adds a point of capture. Returns its number.
    ///
    /// # Errors
    /// As [`Writer::new`].
    pub fn interface(&mut self, name: &str) -> io::Result<u32> {
        self.block.extend(LINKTYPE_RAW.to_le_bytes());
        // Reserved, and no limit on the packet length.
        self.block.extend([0; 6]);
        self.option(INTERFACE_NAME, name.as_bytes())?;
        self.option(TIME_RESOLUTION, &[NANOSECONDS])?;
        self.end_options();
        self.end_block(INTERFACE)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// # Errors
    /// As [`Writer::new`]; and if the interface does not exist, the time is before 1970, or the packet's length exceeds 32 bits.
    pub fn packet(&mut self, packet: &Captured<'_>) -> io::Result<()> {
        if packet.interface >= self.interfaces {
            return Err(refused(format!("interface {} of {}", packet.interface, self.interfaces)));
        }
        let ticks =
            u64::try_from(packet.at.0).map_err(|_| refused(format!("a time of {} ns before 1970", -i128::from(packet.at.0))))?;
        let original = length(packet.original.0)?;
        let captured = length(packet.bytes.len() as u64)?;
        for number in [packet.interface, (ticks >> 32) as u32, ticks as u32, captured, original.max(captured)] {
            self.block.extend(number.to_le_bytes());
        }
        self.block.extend(packet.bytes);
        self.pad();
        if let Some(comment) = packet.comment {
            self.option(COMMENT, comment.as_bytes())?;
            self.end_options();
        }
        self.end_block(ENHANCED_PACKET)
    }

    /// Flushes and returns the destination.
    ///
    /// # Errors
    /// As [`Writer::new`].
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn option(&mut self, code: u16, value: &[u8]) -> io::Result<()> {
        let Ok(bytes) = u16::try_from(value.len()) else {
            self.block.clear();
            return Err(refused(format!("a text of {} bytes; expected at most {}", value.len(), u16::MAX)));
        };
        self.block.extend(code.to_le_bytes());
        self.block.extend(bytes.to_le_bytes());
        self.block.extend(value);
        self.pad();
        Ok(())
    }

    fn end_options(&mut self) {
        self.block.extend([0; 4]);
    }

    /// Pads to a multiple of 32 bits.
    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Writes the collected content as a block, with its length at both ends.
    fn end_block(&mut self, kind: u32) -> io::Result<()> {
        let length = length(self.block.len() as u64 + 12)?;
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&length.to_le_bytes())?;
        self.block.clear();
        Ok(())
    }
}

fn length(bytes: u64) -> io::Result<u32> {
    u32::try_from(bytes).map_err(|_| refused(format!("{bytes} bytes; expected at most {}", u32::MAX)))
}

fn refused(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("pcapng cannot hold {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Reader, Record};

    #[test]
    fn written_captures_can_be_read() {
        let section = Section { application: "Tailback 1.2.3", comment: "a section" };
        let mut writer = Writer::new(Vec::new(), &section).unwrap();
        assert_eq!((writer.interface("left").unwrap(), writer.interface("right").unwrap()), (0, 1));
        let at = Timestamp(1_234_567_890_123_456_789);
        let packet = Captured { interface: 1, at, bytes: b"12345", original: Bytes(1500), comment: Some("discarded") };
        writer.packet(&packet).unwrap();
        writer.packet(&Captured { interface: 0, comment: None, ..packet }).unwrap();
        let file = writer.finish().unwrap();
        let mut reader = Reader::open(file.as_slice()).unwrap();
        let mut read = Vec::new();
        while let Some(record) = reader.next_record().unwrap() {
            let Record::Packet(packet) = record else { panic!("{record:?}") };
            read.push((packet.interface, packet.at, packet.bytes.to_vec(), packet.original, packet.comment));
        }
        let bytes = b"12345".to_vec();
        assert_eq!(read, [(1, at, bytes.clone(), 1500, Some("discarded".into())), (0, at, bytes, 1500, None)]);
        assert_eq!(reader.comments(), ["a section"]);
        let names: Vec<&str> = reader.interfaces().iter().map(|interface| interface.name.as_str()).collect();
        assert_eq!(names, ["left", "right"]);
    }

    #[test]
    fn values_that_the_format_cannot_hold_are_refused() {
        let long = "a".repeat(70_000);
        assert!(Writer::new(Vec::new(), &Section { application: "Tailback", comment: &long }).is_err());
        let mut writer = Writer::new(Vec::new(), &Section { application: "Tailback", comment: "" }).unwrap();
        let packet = Captured { interface: 0, at: Timestamp(0), bytes: b"1", original: Bytes(1), comment: None };
        let refusal = writer.packet(&packet).unwrap_err();
        assert_eq!(refusal.to_string(), "pcapng cannot hold interface 0 of 0");
        writer.interface("left").unwrap();
        assert!(writer.packet(&Captured { at: Timestamp(-1), ..packet }).is_err());
        assert!(writer.packet(&Captured { original: Bytes(1 << 32), ..packet }).is_err());
        assert!(writer.packet(&packet).is_ok());
    }
}
