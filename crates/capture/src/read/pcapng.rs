//! The newer format (draft-ietf-opsawg-pcapng): sections of blocks, and interfaces with their own clocks.

use super::{Input, Interface, LONGEST_BLOCK, OpenError, Packet, ReadError, Record};
use crate::link::LinkType;
use crate::skipped::SkipReason;
use crate::time::Clock;
use pcap_parser::pcapng::{
    Block, EnhancedPacketBlock, InterfaceDescriptionBlock, PcapNGOption, parse_block_be, parse_block_le, parse_sectionheaderblock,
};
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{OptionCode, PcapError, SectionHeaderBlock, nom};
use std::io::Read;

type ParseError<'a> = nom::Err<PcapError<&'a [u8]>>;

/// Size of the fields common to all blocks: the type, and the length at both ends.
const MIN: usize = 12;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Blocks without packets: name resolution, statistics, journal, secrets, processes, custom blocks.
const WITHOUT_PACKETS: [u32; 7] = [4, 5, 9, 10, 0x8000_0001, 0x0bad, 0x4000_0bad];

#[derive(Debug)]
pub(super) struct Pcapng {
    is_big_endian: bool,
    interfaces: Vec<Interface>,
    /// Clocks of these interfaces.
    clocks: Vec<Clock>,
    /// Index of the current section's first interface.
    first: usize,
    comments: Vec<String>,
}

impl Pcapng {
    pub(super) fn open<R: Read>(input: &mut Input<R>) -> Result<Pcapng, OpenError> {
        let mut pcapng =
            Pcapng { is_big_endian: false, interfaces: Vec::new(), clocks: Vec::new(), first: 0, comments: Vec::new() };
        let begun = match pcapng.block_length(input) {
            Ok(length) => pcapng.begin_section(input, length.unwrap_or(0)),
            Err(error) => Err(error),
        };
        begun.map(|()| pcapng).map_err(|error| match error {
            ReadError::Unreadable(error) => OpenError::Unreadable(error),
            ReadError::Damaged { message, .. } => OpenError::NotACapture(message),
        })
    }

    pub(super) fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    pub(super) fn comments(&self) -> &[String] {
        &self.comments
    }

    pub(super) fn next_record<'a, R: Read>(&mut self, input: &'a mut Input<R>) -> Result<Option<Record<'a>>, ReadError> {
        loop {
            let Some(length) = self.block_length(input)? else { return Ok(None) };
            match self.number(input, 0) {
                SECTION => self.begin_section(input, length)?,
                INTERFACE => self.add_interface(input, length)?,
                ENHANCED_PACKET => return self.packet(input, length).map(Some),
                kind => {
                    input.pass(length);
                    match kind {
                        SIMPLE_PACKET => return Ok(Some(Record::Skipped(SkipReason::NoTime))),
                        OBSOLETE_PACKET => return Ok(Some(Record::Skipped(SkipReason::UnknownBlock(kind)))),
                        kind if WITHOUT_PACKETS.contains(&kind) => {}
                        kind => return Ok(Some(Record::Skipped(SkipReason::UnknownBlock(kind)))),
                    }
                }
            }
        }
    }

    /// Length of the next block, which is then completely available; `None` at the end of the file.
    fn block_length<R: Read>(&self, input: &mut Input<R>) -> Result<Option<usize>, ReadError> {
        if !input.has(MIN)? {
            return if input.held().is_empty() { Ok(None) } else { Err(input.ends_within("a block header", MIN)) };
        }
        let is_section = input.held().starts_with(&SECTION.to_le_bytes());
        let length = match &input.held()[8..12] {
            [0x1a, 0x2b, 0x3c, 0x4d] if is_section => big_endian(input.held(), 4),
            [0x4d, 0x3c, 0x2b, 0x1a] if is_section => big_endian(input.held(), 4).swap_bytes(),
            _ if is_section => return Err(input.damaged("a section has an invalid byte-order magic")),
            _ => self.number(input, 4),
        } as usize;
        if length < MIN || !length.is_multiple_of(4) || length > LONGEST_BLOCK {
            let message = format!("a block has {length} bytes; expected a multiple of 4 from {MIN} to {LONGEST_BLOCK}");
            return Err(input.damaged(message));
        }
        if !input.has(length)? {
            return Err(input.ends_within("a block", length));
        }
        Ok(Some(length))
    }

    /// A number of the next block, in the byte order of its section.
    fn number<R: Read>(&self, input: &Input<R>, at: usize) -> u32 {
        let number = big_endian(input.held(), at);
        if self.is_big_endian { number } else { number.swap_bytes() }
    }

    fn begin_section<R: Read>(&mut self, input: &mut Input<R>, length: usize) -> Result<(), ReadError> {
        let (_, section) = parse_sectionheaderblock(&input.held()[..length])
            .map_err(|error| input.damaged(format!("a section header is invalid: {}", short(&error))))?;
        let SectionHeaderBlock { major_version, minor_version, ref options, .. } = section;
        if major_version != 1 {
            return Err(input.damaged(format!("a section has version {major_version}.{minor_version}; expected 1.0")));
        }
        let is_big_endian = section.big_endian();
        self.comments.extend(texts(options, OptionCode::Comment));
        self.is_big_endian = is_big_endian;
        self.first = self.interfaces.len();
        input.pass(length);
        Ok(())
    }

    fn add_interface<R: Read>(&mut self, input: &mut Input<R>, length: usize) -> Result<(), ReadError> {
        let block = &input.held()[..length];
        let parsed = if self.is_big_endian { parse_block_be(block) } else { parse_block_le(block) };
        let (interface, clock) = match &parsed {
            Ok((_, Block::InterfaceDescription(described))) => self.described(described),
            Ok(_) => return Err(input.damaged("an interface description is invalid")),
            Err(error) => {
                return Err(input.damaged(format!("an interface description is invalid: {}", short(error))));
            }
        };
        self.interfaces.push(interface);
        self.clocks.push(clock);
        input.pass(length);
        Ok(())
    }

    fn described(&self, described: &InterfaceDescriptionBlock<'_>) -> (Interface, Clock) {
        let option = |code| described.options.iter().find(|option| option.code == code).map(|option| option.value());
        let resolution = option(OptionCode::IfTsresol).and_then(|value| value.first()).copied().unwrap_or(6);
        let offset = option(OptionCode::IfTsoffset)
            .and_then(|value| value.first_chunk::<8>())
            .map_or(0, |&bytes| if self.is_big_endian { i64::from_be_bytes(bytes) } else { i64::from_le_bytes(bytes) });
        let name = texts(&described.options, OptionCode::IfName).next().unwrap_or_default();
        let link = LinkType::of_number(described.linktype.0 as u16);
        (Interface { name, link }, Clock::of_interface(resolution, offset))
    }

    fn packet<'a, R: Read>(&self, input: &'a mut Input<R>, length: usize) -> Result<Record<'a>, ReadError> {
        let (begin, at_byte) = (input.start, input.offset);
        input.pass(length);
        let block = &input.buffer[begin..input.start];
        let parsed = if self.is_big_endian { parse_block_be(block) } else { parse_block_le(block) };
        match parsed {
            Ok((_, Block::EnhancedPacket(packet))) => Ok(self.captured(&packet)),
            Ok(_) => Err(ReadError::Damaged { at_byte, message: "a packet is invalid".into() }),
            Err(error) => Err(ReadError::Damaged { at_byte, message: format!("a packet is invalid: {}", short(&error)) }),
        }
    }

    fn captured<'a>(&self, packet: &EnhancedPacketBlock<'a>) -> Record<'a> {
        let place = self.first + packet.if_id as usize;
        let (Some(interface), Some(clock)) = (self.interfaces.get(place), self.clocks.get(place)) else {
            return Record::Skipped(SkipReason::UnknownInterface);
        };
        let Some(at) = clock.instant(u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low)) else {
            return Record::Skipped(SkipReason::TimeOutOfRange);
        };
        let bytes = packet.data.get(..packet.caplen as usize).unwrap_or(packet.data);
        let comment = texts(&packet.options, OptionCode::Comment).next();
        let original = packet.orig_len();
        Record::Packet(Packet { interface: place, link: interface.link, at, bytes, original, comment })
    }
}

/// The texts of all options of a kind.
fn texts(options: &[PcapNGOption<'_>], kind: OptionCode) -> impl Iterator<Item = String> {
    let of_kind = options.iter().filter(move |option| option.code == kind);
    of_kind.filter_map(|option| option.as_bytes().ok().map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
}

/// A parser's error message, without the bytes.
fn short(error: &ParseError<'_>) -> String {
    match error {
        ParseError::Incomplete(_) => "it is shorter than its length fields state".into(),
        ParseError::Error(PcapError::NomError(_, kind)) | ParseError::Failure(PcapError::NomError(_, kind)) => {
            format!("{kind:?}")
        }
        ParseError::Error(error) | ParseError::Failure(error) => error.to_string(),
    }
}

/// Four bytes, which must be available.
fn big_endian(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
