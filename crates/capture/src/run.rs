//! A simulated run as a capture: its packet trace with the headers that the packets would have, as observed at the sending
//! hosts.

use crate::time::Timestamp;
use crate::write::{Captured, Section, Writer};
use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, UdpHeader};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use tailback_core::primitives::units::Bytes;
use tailback_core::record::{Column, Table};

/// Description of the run, for a reader of its capture.
#[derive(Clone, Copy, Debug)]
pub struct CaptureInfo<'a> {
    pub application: &'a str,
    pub scenario: &'a str,
    pub seed: u64,
}

/// Sizes of IPv4 and TCP or UDP headers, without options.
const IP: u64 = 20;
const TCP: u64 = 20;
const UDP: u64 = 8;
/// Maximum size of the options of a TCP header.
const MAX_OPTIONS: u64 = 40;
/// Largest total length that an IP header can hold.
const MAX_IP: u64 = u16::MAX as u64;
/// In the dynamic range, which no other protocol uses.
const SENDER_PORT: u16 = 49_152;
const RECEIVER_PORT: u16 = 65_000;
/// Number of flows with different addresses; further ones differ by the sender's port.
const ADDRESSES: u32 = 0xffff;

/// Writes the table `packets` of a run as pcapng: the packets that senders send and the acknowledgements that they receive, with
/// one interface per flow group.
///
/// # Errors
/// If `out` cannot be written, or the table is not a packet trace.
pub fn write_run<W: Write>(out: W, packets: &Table, about: &CaptureInfo<'_>) -> io::Result<W> {
    let rows = PacketColumns::of(packets).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a packet trace"))?;
    let comment = comment(&rows, about);
    let mut writer = Writer::new(out, &Section { application: about.application, comment: &comment })?;
    let mut interfaces: BTreeMap<u32, u32> = BTreeMap::new();
    for &(group, _) in rows.numbers.keys() {
        if let Entry::Vacant(entry) = interfaces.entry(group) {
            entry.insert(writer.interface(&rows.group_names[group as usize])?);
        }
    }
    let mut identifications: BTreeMap<u32, u16> = BTreeMap::new();
    let zeros = vec![0; MAX_IP as usize];
    let mut bytes = Vec::new();
    for row in 0..packets.rows() {
        let key = (rows.group[row], rows.flow[row]);
        let number = rows.numbers[&key];
        bytes.clear();
        let original = rows.headers(row, number, identifications.entry(number).or_default(), &zeros, &mut bytes)?;
        let comment = rows.discard(row);
        let at = Timestamp(Timestamp::RUN_START.0.saturating_add((rows.time_s[row] * 1e9).round() as i64));
        let interface = interfaces[&key.0];
        writer.packet(&Captured { interface, at, bytes: &bytes, original, comment: comment.as_deref() })?;
    }
    writer.finish()
}

/// The columns of the table.
struct PacketColumns<'a> {
    time_s: &'a [f64],
    group: &'a [u32],
    group_names: &'a [String],
    flow: &'a [u64],
    kind: Vec<&'a str>,
    sequence: &'a [u64],
    payload: &'a [u64],
    bytes: &'a [u64],
    window: &'a [u64],
    ecn: Vec<&'a str>,
    sack_blocks: Vec<&'a str>,
    queue: Vec<&'a str>,
    reason: Vec<&'a str>,
    dropped_s: &'a [f64],
    /// Number of each flow with rows, by group and index.
    numbers: BTreeMap<(u32, u64), u32>,
}

impl<'a> PacketColumns<'a> {
    fn of(table: &'a Table) -> Option<PacketColumns<'a>> {
        let real = |name: &str| match table.column(name)? {
            Column::Float(values) => Some(values.as_slice()),
            _ => None,
        };
        let whole = |name: &str| match table.column(name)? {
            Column::Integer(values) => Some(values.as_slice()),
            _ => None,
        };
        let Column::Word(group, group_names) = table.column("group")? else { return None };
        let flow = whole("flow")?;
        let flows: BTreeSet<(u32, u64)> = group.iter().copied().zip(flow.iter().copied()).collect();
        Some(PacketColumns {
            time_s: real("time_s")?,
            group,
            group_names,
            flow,
            kind: table.words("kind")?,
            sequence: whole("sequence_bytes")?,
            payload: whole("payload_bytes")?,
            bytes: whole("bytes")?,
            window: whole("window_bytes")?,
            ecn: table.words("ecn")?,
            sack_blocks: table.words("sack_blocks")?,
            queue: table.words("queue")?,
            reason: table.words("reason")?,
            dropped_s: real("dropped_s")?,
            numbers: flows.into_iter().zip(0..).collect(),
        })
    }

    /// Appends the headers of a packet to `out`. Returns the length of the whole packet.
    fn headers(&self, row: usize, number: u32, identification: &mut u16, zeros: &[u8], out: &mut Vec<u8>) -> io::Result<Bytes> {
        let (sender, receiver) = ends(number);
        let is_ack = matches!(self.kind[row], "ack" | "syn_ack");
        let (from, to) = if is_ack { (receiver, sender) } else { (sender, receiver) };
        let is_udp = self.kind[row] == "datagram";
        // The payload of a stack's packet is that of IP, and its first bytes are written as a header of UDP.
        let payload = self.payload[row] - if is_udp && self.header_bytes(row) == IP { UDP.min(self.payload[row]) } else { 0 };
        let protocol = if is_udp { IpNumber::UDP } else { IpNumber::TCP };
        let mut tcp = if is_udp { TcpHeader::default() } else { self.tcp(row, from, to)? };
        let transport = if is_udp { UDP } else { tcp.header_len() as u64 };
        let total = IP + transport + payload;
        let mut ip = Ipv4Header::new(0, 64, protocol, from.address, to.address).map_err(impossible)?;
        // Longer packets have no length, like packets that a network card is to segment.
        ip.total_len = u16::try_from(total).unwrap_or(0);
        ip.identification = *identification;
        ip.dont_fragment = true;
        match self.ecn[row] {
            "capable" | "reduced" | "capable_echo" => ip.ecn = IpEcn::Ect0,
            "l4s" | "l4s_echo" => ip.ecn = IpEcn::Ect1,
            _ => {}
        }
        ip.header_checksum = ip.calc_header_checksum();
        *identification = identification.wrapping_add(1);
        out.extend(ip.to_bytes());
        let data = zeros.get(..payload as usize).filter(|_| total <= MAX_IP);
        if is_udp {
            let udp = match data {
                Some(data) => UdpHeader::with_ipv4_checksum(from.port, to.port, &ip, data).map_err(impossible)?,
                None => UdpHeader { source_port: from.port, destination_port: to.port, length: 0, checksum: 0 },
            };
            out.extend(udp.to_bytes());
        } else {
            if let Some(data) = data {
                tcp.checksum = tcp.calc_checksum_ipv4(&ip, data).map_err(impossible)?;
            }
            out.extend(tcp.to_bytes());
        }
        Ok(Bytes(total))
    }

    fn tcp(&self, row: usize, from: Endpoint, to: Endpoint) -> io::Result<TcpHeader> {
        // The data of both ends start at 1, after a SYN.
        let position = |bytes: u64| bytes.wrapping_add(1) as u32;
        let mut tcp = TcpHeader::new(from.port, to.port, 1, u16::MAX);
        tcp.ack = self.kind[row] != "syn";
        tcp.acknowledgment_number = u32::from(tcp.ack);
        let mut options = Vec::new();
        if matches!(self.kind[row], "ack" | "syn_ack") {
            tcp.acknowledgment_number = position(self.sequence[row]);
            tcp.window_size = u16::try_from(self.window[row]).unwrap_or(u16::MAX);
            tcp.ece = self.ecn[row].ends_with("echo");
            let blocks: Vec<(u64, u64)> = self.sack_blocks[row].split(' ').filter_map(range).collect();
            if !blocks.is_empty() {
                // RFC 2018 section 3, with the usual alignment.
                options.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
                options
                    .extend(blocks.iter().flat_map(|&(start, end)| [position(start), position(end)]).flat_map(u32::to_be_bytes));
            }
        } else {
            tcp.sequence_number = position(self.sequence[row]);
            tcp.cwr = self.ecn[row] == "reduced";
            // End-of-options padding.
            options.resize(options_bytes(self.header_bytes(row)).unwrap_or(0) as usize, 0);
        }
        if matches!(self.kind[row], "syn" | "syn_ack") {
            tcp.syn = true;
            tcp.sequence_number = 0;
        }
        tcp.set_options_raw(&options).map_err(impossible)?;
        Ok(tcp)
    }

    /// The fate of a packet that a queue discarded.
    fn discard(&self, row: usize) -> Option<String> {
        let (queue, reason, seconds) = (self.queue[row], self.reason[row], self.dropped_s[row]);
        (!queue.is_empty()).then(|| format!("discarded at {queue}: {reason} at {seconds:.9} s"))
    }

    /// The simulated size of the headers.
    fn header_bytes(&self, row: usize) -> u64 {
        self.bytes[row].saturating_sub(self.payload[row])
    }

    fn any(&self, is_so: impl Fn(usize) -> bool) -> bool {
        (0..self.kind.len()).any(is_so)
    }
}

/// Host and port of a flow's end.
#[derive(Clone, Copy)]
struct Endpoint {
    address: [u8; 4],
    port: u16,
}

/// Sender and receiver of a flow, from the range for benchmarks, 198.18.0.0/15 (RFC 2544 appendix C).
fn ends(number: u32) -> (Endpoint, Endpoint) {
    let [_, _, third, fourth] = (1 + number % ADDRESSES).to_be_bytes();
    let turn = u16::try_from(number / ADDRESSES).unwrap_or(u16::MAX);
    let sender = Endpoint { address: [198, 18, third, fourth], port: SENDER_PORT.wrapping_add(turn) };
    (sender, Endpoint { address: [198, 19, third, fourth], port: RECEIVER_PORT })
}

/// Bytes of TCP options such that all headers together have the simulated size; `None` if there are no such options.
fn options_bytes(headers: u64) -> Option<u64> {
    headers.checked_sub(IP + TCP).filter(|&bytes| bytes <= MAX_OPTIONS && bytes.is_multiple_of(4))
}

fn range(text: &str) -> Option<(u64, u64)> {
    let (start, end) = text.split_once('-')?;
    Some((start.parse().ok()?, end.parse().ok()?))
}

/// Notes for the reader, including differences between real headers and the simulation.
fn comment(rows: &PacketColumns<'_>, about: &CaptureInfo<'_>) -> String {
    // The format requires a bounded text, and users' texts are unbounded.
    let scenario: String = about.scenario.chars().take(200).collect();
    let mut notes = vec![format!(
        "{scenario}, seed {}: a simulated run, as observed at the sending hosts. Time 0 of the run is 2000-01-01T00:00:00Z. \
         Payloads are truncated. Marks (CE) are set after the point of capture and are visible in their echoes.",
        about.seed
    )];
    if rows.any(|row| rows.kind[row] == "syn") {
        notes.push("The handshake consists of SYN and SYN-ACK without negotiated options.".into());
    } else {
        notes.push("No handshake is simulated: sequence numbers start at 1.".into());
    }
    if rows.any(|row| rows.kind[row] == "ack" && rows.window[row] > u64::from(u16::MAX)) {
        notes.push("Receiver windows above 65535 bytes are written as 65535, because no window scale is negotiated.".into());
    }
    if rows.any(|row| rows.kind[row] == "data" && options_bytes(rows.header_bytes(row)).is_none()) {
        notes.push("TCP headers of simulated sizes that real headers cannot have are written with 40 bytes in total.".into());
    }
    if rows.any(|row| rows.kind[row] == "datagram") {
        notes.push("Datagrams, including the packets of transport stacks, have constructed headers of UDP.".into());
    }
    if rows.any(|row| rows.kind[row] == "datagram" && ![IP, IP + UDP].contains(&rows.header_bytes(row))) {
        notes.push("Headers of datagrams are written with 28 bytes, which differs from their simulated size.".into());
    }
    if rows
        .any(|row| matches!(rows.kind[row], "ack" | "syn_ack") && rows.bytes[row] != IP + TCP + sack_bytes(rows.sack_blocks[row]))
    {
        notes.push("Acknowledgements have a fixed size in the simulation, and the size of their headers in this file.".into());
    }
    if rows.any(|row| rows.payload[row] > MAX_IP - IP - TCP - MAX_OPTIONS) {
        notes.push("Packets of more than 65535 bytes have no length in their IP header.".into());
    }
    notes.join(" ")
}

/// Size of the option that contains these blocks.
fn sack_bytes(blocks: &str) -> u64 {
    if blocks.is_empty() { 0 } else { 4 + 8 * blocks.split(' ').count() as u64 }
}

/// Error for a header field out of range.
fn impossible(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("a header cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Reader, Record};
    use etherparse::{SlicedPacket, TransportSlice};
    use std::sync::Arc;

    /// A row: time, kind, position, payload, bytes, congestion signals, SACK blocks, and queue and reason of a discard.
    type PacketRow<'a> = (f64, &'a str, u64, u64, u64, &'a str, &'a str, &'a str, &'a str);

    fn table(rows: &[PacketRow<'_>], window: u64) -> Table {
        let whole = |pick: fn(&PacketRow<'_>) -> u64| Column::Integer(rows.iter().map(pick).collect());
        let words = |pick: for<'a> fn(&PacketRow<'a>) -> &'a str| {
            Column::Word((0..rows.len() as u32).collect(), Arc::new(rows.iter().map(|row| pick(row).to_string()).collect()))
        };
        let columns = vec![
            ("time_s", Column::Float(rows.iter().map(|row| row.0).collect())),
            ("group", Column::Word(vec![0; rows.len()], Arc::new(vec!["web".into()]))),
            ("flow", Column::Integer(vec![0; rows.len()])),
            ("kind", words(|row| row.1)),
            ("sequence_bytes", whole(|row| row.2)),
            ("payload_bytes", whole(|row| row.3)),
            ("bytes", whole(|row| row.4)),
            ("window_bytes", Column::Integer(vec![window; rows.len()])),
            ("ecn", words(|row| row.5)),
            ("sack_blocks", words(|row| row.6)),
            ("queue", words(|row| row.7)),
            ("reason", words(|row| row.8)),
            ("dropped_s", Column::Float(vec![1.5; rows.len()])),
        ];
        Table { name: "packets".into(), columns: columns.into_iter().map(|(name, column)| (name.into(), column)).collect() }
    }

    /// Headers, length on the wire and comment.
    type Packet = (Vec<u8>, u32, Option<String>);

    /// Each packet, and the comment on all of them.
    fn written(rows: &[PacketRow<'_>], window: u64) -> (Vec<Packet>, String) {
        let about = CaptureInfo { application: "Tailback", scenario: "small", seed: 7 };
        let file = write_run(Vec::new(), &table(rows, window), &about).unwrap();
        let mut reader = Reader::open(file.as_slice()).unwrap();
        let mut packets = Vec::new();
        while let Some(record) = reader.next_record().unwrap() {
            let Record::Packet(packet) = record else { panic!("{record:?}") };
            packets.push((packet.bytes.to_vec(), packet.original, packet.comment));
        }
        assert!(reader.interfaces().iter().all(|interface| interface.name == "web"));
        (packets, reader.comments()[0].clone())
    }

    #[test]
    fn segments_have_realistic_headers() {
        let (packets, comment) = written(
            &[
                (0.0, "data", 1000, 1000, 1040, "reduced", "", "", ""),
                (0.5, "ack", 1000, 0, 40, "echo", "2000-4000 6000-7000", "", ""),
                (1.0, "data", 2000, 1000, 1052, "", "", "bottleneck", "full"),
            ],
            50_000,
        );
        let read = |place: usize| {
            // The payload, which the checksum covers, was truncated.
            let whole = [packets[place].0.as_slice(), &vec![0; packets[place].1 as usize - packets[place].0.len()]].concat();
            let packet = SlicedPacket::from_ip(&whole).unwrap();
            let Some(etherparse::NetSlice::Ipv4(ip)) = packet.net else { panic!() };
            let Some(TransportSlice::Tcp(tcp)) = packet.transport else { panic!() };
            let ip = ip.header().to_header();
            let header = tcp.to_header();
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            assert_eq!(header.checksum, header.calc_checksum_ipv4(&ip, tcp.payload()).unwrap());
            (ip, header)
        };
        let (ip, tcp) = read(0);
        assert_eq!((ip.source, ip.destination, ip.total_len, ip.ecn), ([198, 18, 0, 1], [198, 19, 0, 1], 1040, IpEcn::Ect0));
        assert_eq!((tcp.sequence_number, tcp.acknowledgment_number, tcp.cwr), (1001, 1, true));
        let (ip, tcp) = read(1);
        assert_eq!((ip.source, ip.ecn), ([198, 19, 0, 1], IpEcn::NotEct));
        assert_eq!((tcp.acknowledgment_number, tcp.ece, tcp.window_size), (1001, true, 50_000));
        assert_eq!(
            crate::segment::TcpOptions::of(tcp.options.as_slice()).blocks,
            [Some((2001, 4001)), Some((6001, 7001)), None, None]
        );
        let (ip, _) = read(2);
        assert_eq!((ip.total_len, packets[2].0.len()), (1052, 52));
        assert_eq!(packets[2].2.as_deref(), Some("discarded at bottleneck: full at 1.500000000 s"));
        assert!(packets[..2].iter().all(|packet| packet.2.is_none()));
        assert!(comment.starts_with("small, seed 7: a simulated run") && comment.contains("fixed size"), "{comment}");
    }

    #[test]
    fn differences_from_real_headers_are_listed_once() {
        let (_, comment) =
            written(&[(0.0, "data", 0, 1000, 1010, "", "", "", ""), (0.5, "ack", 1000, 0, 40, "", "", "", "")], 70_000);
        assert!(comment.contains("Receiver windows above 65535") && comment.contains("written with 40 bytes"), "{comment}");
        let (packets, comment) = written(&[(0.0, "datagram", 0, 70_000, 70_028, "", "", "", "")], 0);
        assert!(comment.contains("no length in their IP header"), "{comment}");
        assert_eq!((packets[0].0.len(), packets[0].1), (28, 70_028));
        // A packet of a stack: the payload of IP contains the header.
        let (packets, comment) = written(&[(0.0, "datagram", 0, 1480, 1500, "", "", "", "")], 0);
        assert!(!comment.contains("differs from their simulated size"), "{comment}");
        assert_eq!((packets[0].0.len(), packets[0].1, &packets[0].0[2..4]), (28, 1500, &1500_u16.to_be_bytes()[..]));
    }

    #[test]
    fn flows_differ_in_address_or_port() {
        let all: BTreeSet<([u8; 4], u16)> =
            [0, 1, 254, 255, 65_534, 65_535, 65_536].map(|flow| (ends(flow).0.address, ends(flow).0.port)).into();
        assert_eq!(all.len(), 7);
        assert!(all.iter().all(|(address, _)| address[..2] == [198, 18] && address[2..] != [0, 0]));
    }

    #[test]
    fn another_table_is_refused() {
        let other = Table { name: "flows".into(), columns: Vec::new() };
        let about = CaptureInfo { application: "Tailback", scenario: "small", seed: 7 };
        assert_eq!(write_run(Vec::new(), &other, &about).unwrap_err().to_string(), "not a packet trace");
        let none = write_run(Vec::new(), &table(&[], 0), &about).unwrap();
        assert!(Reader::open(none.as_slice()).unwrap().next_record().unwrap().is_none());
    }
}
