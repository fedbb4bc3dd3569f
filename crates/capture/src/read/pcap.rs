//! The older format (draft-ietf-opsawg-pcap): a header followed by records.

use super::{Input, Interface, LONGEST_BLOCK, OpenError, Packet, ReadError, Record};
use crate::link::LinkType;
use crate::time::Timestamp;
use pcap_parser::{LegacyPcapBlock, PcapHeader, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header};
use std::io::Read;

const HEADER: usize = 24;
const RECORD: usize = 16;

#[derive(Debug)]
pub(super) struct Pcap {
    interface: [Interface; 1],
    is_big_endian: bool,
    nanoseconds_per_tick: i64,
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
        Pcap { interface, is_big_endian: header.is_bigendian(), nanoseconds_per_tick }
    }

    pub(super) fn interfaces(&self) -> &[Interface] {
        &self.interface
    }

    #[inline]
    pub(super) fn next_record<'a, R: Read>(&self, input: &'a mut Input<R>) -> Result<Option<Record<'a>>, ReadError> {
        if !input.has(RECORD)? {
            return if input.held().is_empty() { Ok(None) } else { Err(input.ends_within("a record header", RECORD)) };
        }
        let length = &input.held()[8..12];
        let length = [length[0], length[1], length[2], length[3]];
        let captured = if self.is_big_endian { u32::from_be_bytes(length) } else { u32::from_le_bytes(length) } as usize;
        if captured > LONGEST_BLOCK {
            return Err(input.damaged(format!("a record has {captured} bytes; expected at most {LONGEST_BLOCK}")));
        }
        if !input.has(RECORD + captured)? {
            return Err(input.ends_within("a record", RECORD + captured));
        }
        let begin = input.start;
        input.pass(RECORD + captured);
        let record = &input.buffer[begin..input.start];
        let parsed = if self.is_big_endian { parse_pcap_frame_be(record) } else { parse_pcap_frame(record) };
        match parsed {
            Ok((_, record)) => Ok(Some(self.packet(&record))),
            Err(error) => {
                let message = format!("a record is invalid: {error}");
                Err(ReadError::Damaged { at_byte: input.offset - (RECORD + captured) as u64, message })
            }
        }
    }

    #[inline]
    fn packet<'a>(&self, record: &LegacyPcapBlock<'a>) -> Record<'a> {
        let fraction = i64::from(record.ts_usec) * self.nanoseconds_per_tick;
        let at = Timestamp(i64::from(record.ts_sec) * 1_000_000_000 + fraction);
        let [Interface { link, .. }] = self.interface;
        Record::Packet(Packet { interface: 0, link, at, bytes: record.data, original: record.origlen, comment: None })
    }
}
