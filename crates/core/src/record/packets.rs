//! The trace of packets: packets that a flow's sender sends and receives, with their header fields, and the discards among them.

use super::ack_record::AckRecord;
use super::flow_names::FlowNames;
use super::table::{Column, Table, named};
use crate::network::{Flow, Group, Network, Transport};
use crate::primitives::ids::{FlowId, PortId};
use crate::primitives::packet::{Ecn, OutgoingPacket, Packet, Received};
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::{Bytes, Segments, Time};
use crate::queue::DropReason;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Packets {
    /// By flow.
    headers: Vec<Header>,
    rows: Vec<PacketRow>,
    /// SACK blocks of the acknowledgements that have any.
    blocks: Vec<Received>,
    discards: BTreeMap<Transmission, Discard>,
}

/// A transmission of a segment; its number is at most [`MAX_TRANSMISSIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Transmission {
    flow: FlowId,
    segment: SegmentNumber,
    number: u32,
}

/// Properties shared by all packets of a flow.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Header {
    /// Zero for datagrams, which have no sequence numbers.
    mss: Bytes,
    /// Segments before the first data segment: the SYN, if there is one.
    before_data: Segments,
    header: Bytes,
    ack: Bytes,
    window: Bytes,
    /// Total payload; [`u64::MAX`] if endless.
    size: Bytes,
    l4s: bool,
    acks_capable: bool,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PacketRow {
    time: Time,
    flow: FlowId,
    /// Segment or datagram number, or the next expected segment.
    number: SegmentNumber,
    /// 0 for an acknowledgement.
    transmission: u32,
    bytes: u32,
    /// Index into `blocks`, or [`NO_BLOCKS`].
    blocks: u32,
    ecn_state: EcnState,
    /// Opens the connection: a SYN, or the first acknowledgement of one.
    opens: bool,
}

/// The ECN state of a packet, by its index in [`ECN_STATES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum EcnState {
    Nothing,
    Capable,
    Reduced,
    Echo,
    /// ECN-capable L4S packets.
    L4s,
    /// The echo in an acknowledgement that is ECN-capable itself.
    CapableEcho,
    L4sEcho,
}

const ECN_STATES: [&str; 7] = ["", "capable", "reduced", "echo", "l4s", "capable_echo", "l4s_echo"];
const KINDS: [&str; 5] = ["data", "ack", "datagram", "syn", "syn_ack"];
const NO_BLOCKS: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Discard {
    time: Time,
    port: PortId,
    reason: DropReason,
}

/// Maximum transmission number that packets count.
const MAX_TRANSMISSIONS: u32 = 255;

impl Header {
    fn first_data(&self) -> SegmentNumber {
        SegmentNumber::FIRST + self.before_data
    }

    /// Position of a segment's first byte in the flow's byte stream, from 0.
    fn position(&self, segment: SegmentNumber) -> u64 {
        u64::from(segment.0.saturating_sub(self.before_data.0)).saturating_mul(self.mss.0).min(self.size.0)
    }
}

/// For packets that are not L4S.
fn header(flow: &Flow, transport: &Transport) -> Header {
    match transport {
        Transport::Tcp(spec, _) => {
            let Segments(window) = spec.receiver_window;
            let window = Bytes(u64::from(window).saturating_mul(spec.mss.0));
            let size = flow.size.unwrap_or(Bytes(u64::MAX));
            let before_data = spec.before_data();
            let acks_capable = spec.ecn_of_others() == Ecn::ECT;
            Header { mss: spec.mss, before_data, header: spec.header, ack: spec.ack_size, window, size, l4s: false, acks_capable }
        }
        Transport::Datagram(spec) => {
            let none = Bytes(0);
            let header = spec.header;
            Header {
                mss: none,
                before_data: Segments(0),
                header,
                ack: none,
                window: none,
                size: none,
                l4s: false,
                acks_capable: false,
            }
        }
    }
}

impl Packets {
    pub(super) fn new(network: &Network) -> Packets {
        let header = |flow: &Flow| {
            let Group { transport, l4s, .. } = &network.groups[flow.group];
            Header { l4s: *l4s, ..header(flow, transport) }
        };
        Packets {
            headers: network.flows.iter().map(header).collect(),
            rows: Vec::new(),
            blocks: Vec::new(),
            discards: BTreeMap::new(),
        }
    }

    pub(super) fn forget(&mut self) {
        self.rows.clear();
        self.blocks.clear();
        self.discards.clear();
    }

    /// Drop the rows before `end`.
    pub(super) fn forget_before(&mut self, end: Time) {
        self.rows.retain(|row| row.time >= end);
        self.discards.retain(|_, discard| discard.time >= end);
        let blocks = std::mem::take(&mut self.blocks);
        for row in self.rows.iter_mut().filter(|row| row.blocks != NO_BLOCKS) {
            self.blocks.push(blocks[row.blocks as usize]);
            row.blocks = (self.blocks.len() - 1) as u32;
        }
    }

    /// Append the rows of another domain. All rows of a flow's sender are from one domain.
    pub(super) fn add(&mut self, other: &Packets) {
        let before = self.blocks.len() as u32;
        let moved =
            |row: &PacketRow| PacketRow { blocks: if row.blocks == NO_BLOCKS { NO_BLOCKS } else { row.blocks + before }, ..*row };
        self.rows.extend(other.rows.iter().map(moved));
        self.blocks.extend_from_slice(&other.blocks);
        for (&of, &discard) in &other.discards {
            self.note_discard(of, discard);
        }
    }

    pub(super) fn on_send(&mut self, time: Time, packet: &OutgoingPacket, ecn: Ecn) {
        let ecn_state = match ecn {
            Ecn::ECT | Ecn::CWR if self.headers[packet.flow].l4s => EcnState::L4s,
            Ecn::L4S if self.headers[packet.flow].mss == Bytes(0) => EcnState::L4s,
            Ecn::CWR => EcnState::Reduced,
            Ecn::ECT => EcnState::Capable,
            _ => EcnState::Nothing,
        };
        let &OutgoingPacket { flow, segment, transmission, bytes, .. } = packet;
        let opens = segment < self.headers[flow].first_data() && !packet.pushed;
        self.rows.push(PacketRow {
            time,
            flow,
            number: segment,
            transmission,
            bytes: bytes.0 as u32,
            blocks: NO_BLOCKS,
            ecn_state,
            opens,
        });
    }

    pub(super) fn on_ack(&mut self, time: Time, ack_record: &AckRecord<'_>) {
        let blocks = if ack_record.blocks.is_empty() {
            NO_BLOCKS
        } else {
            let mut received = Received::default();
            for (place, &range) in received.ranges.iter_mut().zip(ack_record.blocks) {
                *place = range;
                received.count += 1;
            }
            self.blocks.push(received);
            (self.blocks.len() - 1) as u32
        };
        let header = &self.headers[ack_record.flow];
        let ecn_state = match (ack_record.echoes_mark, header.acks_capable, header.l4s) {
            (true, true, true) => EcnState::L4sEcho,
            (true, true, false) => EcnState::CapableEcho,
            (true, false, _) => EcnState::Echo,
            (false, true, true) => EcnState::L4s,
            (false, true, false) => EcnState::Capable,
            (false, false, _) => EcnState::Nothing,
        };
        let opens = !ack_record.is_duplicate && ack_record.ack == header.first_data();
        let bytes = header.ack.0 as u32;
        self.rows.push(PacketRow {
            time,
            flow: ack_record.flow,
            number: ack_record.ack,
            transmission: 0,
            bytes,
            blocks,
            ecn_state,
            opens,
        });
    }

    /// A data packet or one of its cells is discarded. The first discard counts; of two at the same time, the one at the lower port number.
    pub(super) fn on_discard(&mut self, port: PortId, packet: &Packet, time: Time, reason: DropReason) {
        let of = Transmission { flow: packet.flow, segment: packet.segment(), number: packet.transmission() };
        self.note_discard(of, Discard { time, port, reason });
    }

    fn note_discard(&mut self, of: Transmission, discard: Discard) {
        let known = self.discards.entry(of).or_insert(discard);
        if (discard.time, discard.port) < (known.time, known.port) {
            *known = discard;
        }
    }

    pub(super) fn table(&self, flows: &FlowNames, queues: &Arc<Vec<String>>, end: Time) -> Table {
        let mut rows: Vec<&PacketRow> = self.rows.iter().filter(|row| row.time < end).collect();
        // Rows of a flow at one instant keep their order: an acknowledgement precedes the packets that it releases.
        rows.sort_by_key(|row| (row.time, row.flow));
        let of = |pick: &dyn Fn(&PacketRow) -> u32| rows.iter().map(|row| pick(row)).collect::<Vec<u32>>();
        let whole = |pick: &dyn Fn(&PacketRow) -> u64| Column::Integer(rows.iter().map(|row| pick(row)).collect());
        let (groups, indices) = flows.columns(&rows.iter().map(|row| row.flow).collect::<Vec<_>>());
        let discards: Vec<Option<Discard>> =
            rows.iter().map(|row| self.discard(row).filter(|discard| discard.time < end)).collect();
        // The empty word comes first.
        let no_blocks =
            |words: &mut dyn Iterator<Item = String>| Arc::new([String::new()].into_iter().chain(words).collect::<Vec<_>>());
        let of_discards =
            |pick: fn(&Discard) -> u32| discards.iter().map(|discard| discard.as_ref().map_or(0, |of| 1 + pick(of))).collect();
        let columns = vec![
            ("time_s", Column::Float(rows.iter().map(|row| row.time.seconds()).collect())),
            ("group", groups),
            ("flow", indices),
            ("kind", Column::Word(of(&|row| self.kind(row)), words(&KINDS))),
            ("segment", whole(&|row| row.number.0.into())),
            ("transmission", whole(&|row| row.transmission.into())),
            ("sequence_bytes", whole(&|row| self.headers[row.flow].position(row.number))),
            ("payload_bytes", whole(&|row| self.payload(row))),
            ("bytes", whole(&|row| row.bytes.into())),
            ("window_bytes", whole(&|row| self.headers[row.flow].window.0)),
            ("ecn", Column::Word(of(&|row| row.ecn_state as u32), words(&ECN_STATES))),
            ("sack_blocks", self.block_words(&rows)),
            ("queue", Column::Word(of_discards(|of| of.port.0), no_blocks(&mut queues.iter().cloned()))),
            ("reason", {
                let reasons = no_blocks(&mut DropReason::ALL.iter().map(|reason| reason.name().to_string()));
                Column::Word(of_discards(|of| of.reason as u32), reasons)
            }),
            ("dropped_s", {
                let seconds = |of: &Option<Discard>| of.map_or(f64::NAN, |of| of.time.seconds());
                Column::Float(discards.iter().map(seconds).collect())
            }),
        ];
        named("packets", columns)
    }

    fn kind(&self, row: &PacketRow) -> u32 {
        match (row.transmission, self.headers[row.flow].mss) {
            (0, _) if row.opens => 4,
            (0, _) => 1,
            (_, Bytes(0)) => 2,
            _ if row.opens => 3,
            _ => 0,
        }
    }

    fn payload(&self, row: &PacketRow) -> u64 {
        if row.transmission == 0 || row.opens { 0 } else { u64::from(row.bytes).saturating_sub(self.headers[row.flow].header.0) }
    }

    fn discard(&self, row: &PacketRow) -> Option<Discard> {
        let of = Transmission { flow: row.flow, segment: row.number, number: row.transmission.min(MAX_TRANSMISSIONS) };
        self.discards.get(&of).copied().filter(|_| row.transmission > 0)
    }

    /// SACK blocks as ranges of bytes, such as `3000-5000 9000-10000`, in the order of the acknowledgement.
    fn block_words(&self, rows: &[&PacketRow]) -> Column {
        let mut distinct = vec![String::new()];
        let mut places: HashMap<String, u32> = HashMap::from([(String::new(), 0)]);
        let mut place = |row: &PacketRow| {
            let Some(blocks) = self.blocks.get(row.blocks as usize) else { return 0 };
            let of = &self.headers[row.flow];
            let range = |&(from, to): &SackBlock| format!("{}-{}", of.position(from), of.position(to));
            let text = blocks.ranges().iter().map(range).collect::<Vec<_>>().join(" ");
            *places.entry(text).or_insert_with_key(|text| {
                distinct.push(text.clone());
                (distinct.len() - 1) as u32
            })
        };
        let indices = rows.iter().map(|row| place(row)).collect();
        Column::Word(indices, Arc::new(distinct))
    }
}

fn words(words: &[&str]) -> Arc<Vec<String>> {
    Arc::new(words.iter().map(|&word| word.to_string()).collect())
}
