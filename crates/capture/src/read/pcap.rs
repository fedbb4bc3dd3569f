//! The older format (draft-ietf-opsawg-pcap): a header followed by records.

use super::{Input, Interface, LONGEST_BLOCK, OpenError, Packet, ReadError, Record};
use crate::link::LinkType;
use crate::time::Timestamp;
use pcap_parser::{PcapHeader, parse_pcap_header};
use std::io::Read;

const HEADER: usize = 24;
const RECORD: usize = 16;

#[derive(Debug)]
pub(super) struct Pcap {
    interface: [Interface; 1],
    is_big_endian: bool,
    lengths: LengthOrder,
    nanoseconds_per_tick: i64,
}

/// Order of the two lengths in the header of a record. Versions before 2.3 have the original length first, and programs of version 2.3
/// wrote either; the captured length is the smaller one (as libpcap reads them).
#[derive(Clone, Copy, Debug, PartialEq)]
enum LengthOrder {
    CapturedFirst,
    OriginalFirst,
    Either,
}

impl Pcap {
    pub(super) fn open<R: Read>(input: &mut Input<R>) -> Result<Pcap, OpenError> {
        if !input.has(HEADER).map_err(OpenError::Unreadable)? {
            let there = input.held().len();
            return Err(OpenError::NotACapture(format!(
                "the file ends within the pcap header: {there} of {HEADER} bytes are present"
            )));
        }
        let (_, header) = parse_pcap_header(input.held())
            .map_err(|error| OpenError::NotACapture(format!("the pcap header is invalid: {error}")))?;
        input.pass(HEADER);
        Ok(Pcap::of(&header))
    }

    fn of(header: &PcapHeader) -> Pcap {
        // The upper half describes frame check sequences, which follow the bytes counted by IP.
        let link = LinkType::of_number(header.network.0 as u16);
        let nanoseconds_per_tick = if header.is_nanosecond_precision() { 1 } else { 1000 };
        let interface = [Interface { name: String::new(), link }];
        let lengths = match (header.version_major, header.version_minor) {
            (2, 0..=2) => LengthOrder::OriginalFirst,
            (2, 3) => LengthOrder::Either,
            _ => LengthOrder::CapturedFirst,
        };
        Pcap { interface, is_big_endian: header.is_bigendian(), lengths, nanoseconds_per_tick }
    }

    pub(super) fn interfaces(&self) -> &[Interface] {
        &self.interface
    }

    #[inline]
    pub(super) fn next_record<'a, R: Read>(&self, input: &'a mut Input<R>) -> Result<Option<Record<'a>>, ReadError> {
        if !input.has(RECORD)? {
            return if input.held().is_empty() { Ok(None) } else { Err(input.ends_within("a record header", RECORD)) };
        }
        let [seconds, fraction, first, second] = self.record_header(input.held());
        let (captured, original) = match self.lengths {
            LengthOrder::OriginalFirst => (second, first),
            LengthOrder::Either if first > second => (second, first),
            LengthOrder::Either | LengthOrder::CapturedFirst => (first, second),
        };
        let captured = captured as usize;
        if captured > LONGEST_BLOCK {
            return Err(input.damaged(format!("a record has {captured} bytes; expected at most {LONGEST_BLOCK}")));
        }
        if !input.has(RECORD + captured)? {
            return Err(input.ends_within("a record", RECORD + captured));
        }
        let begin = input.start + RECORD;
        input.pass(RECORD + captured);
        let at = Timestamp(i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * self.nanoseconds_per_tick);
        let [Interface { link, .. }] = self.interface;
        let bytes = &input.buffer[begin..input.start];
        Ok(Some(Record::Packet(Packet { interface: 0, link, at, bytes, original, comment: None })))
    }

    /// Seconds, fraction of a second, and two lengths.
    #[inline]
    fn record_header(&self, header: &[u8]) -> [u32; 4] {
        [0, 4, 8, 12].map(|at| {
            let word = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            if self.is_big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
        })
    }
}
