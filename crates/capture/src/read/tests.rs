//! Files of both formats, intact and damaged.

use super::*;
use crate::analyser::{Analyser, Damage};
use crate::connection::Samples;
use crate::write::{Captured, Section, Writer};
use proptest::prelude::*;
use tailback_core::primitives::units::Bytes;

/// A byte order.
#[derive(Clone, Copy)]
enum ByteOrder {
    Big,
    Little,
}

impl ByteOrder {
    fn of<const WIDTH: usize>(self, mut big: [u8; WIDTH]) -> Vec<u8> {
        if matches!(self, ByteOrder::Little) {
            big.reverse();
        }
        big.to_vec()
    }

    fn u16(self, number: u16) -> Vec<u8> {
        self.of(number.to_be_bytes())
    }

    fn u32(self, number: u32) -> Vec<u8> {
        self.of(number.to_be_bytes())
    }

    /// A pcapng block with this content.
    fn block(self, kind: u32, inside: &[Vec<u8>]) -> Vec<u8> {
        let mut inside = inside.concat();
        inside.resize(inside.len().next_multiple_of(4), 0);
        let length = self.u32(inside.len() as u32 + 12);
        [self.u32(kind), length.clone(), inside, length].concat()
    }

    fn section(self) -> Vec<u8> {
        self.block(0x0a0d_0d0a, &[self.u32(0x1a2b_3c4d), self.u16(1), self.u16(0), vec![0xff; 8]])
    }

    fn interface(self, link: u16, options: &[Vec<u8>]) -> Vec<u8> {
        self.block(1, &[self.u16(link), self.u16(0), self.u32(0), options.concat()])
    }

    fn option(self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut option = [self.u16(code), self.u16(value.len() as u16), value.to_vec()].concat();
        option.resize(option.len().next_multiple_of(4), 0);
        option
    }

    fn packet(self, interface: u32, ticks: u64, bytes: &[u8]) -> Vec<u8> {
        let length = self.u32(bytes.len() as u32);
        let times = [self.u32((ticks >> 32) as u32), self.u32(ticks as u32)].concat();
        self.block(6, &[self.u32(interface), times, length.clone(), length, bytes.to_vec()])
    }

    fn pcap(self, magic: u32, link: u32, packets: &[(u32, u32, &[u8])]) -> Vec<u8> {
        let mut file = [self.u32(magic), self.u16(2), self.u16(4), vec![0; 8], self.u32(65_535), self.u32(link)].concat();
        for &(seconds, fraction, bytes) in packets {
            let length = self.u32(bytes.len() as u32);
            file.extend([self.u32(seconds), self.u32(fraction), length.clone(), length, bytes.to_vec()].concat());
        }
        file
    }
}

/// Interface, time and bytes of every packet, or the error.
fn read(file: &[u8]) -> Result<Vec<(usize, i64, Vec<u8>)>, String> {
    let mut reader = Reader::open(file).map_err(|error| error.to_string())?;
    let mut packets = Vec::new();
    loop {
        match reader.next_record() {
            Ok(None) => return Ok(packets),
            Ok(Some(Record::Packet(packet))) => packets.push((packet.interface, packet.at.0, packet.bytes.to_vec())),
            Ok(Some(Record::Skipped(reason))) => packets.push((usize::MAX, 0, reason.to_string().into_bytes())),
            Err(ReadError::Damaged { at_byte, message }) => {
                return Err(format!("{} packets, then at {at_byte}: {message}", packets.len()));
            }
            Err(ReadError::Unreadable(error)) => return Err(error.to_string()),
        }
    }
}

#[test]
fn pcap_is_read_in_both_byte_orders_and_both_resolutions() {
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let micro = order.pcap(0xa1b2_c3d4, 101, &[(1, 5, b"one"), (2, 0, b"two")]);
        assert_eq!(read(&micro).unwrap(), [(0, 1_000_005_000, b"one".to_vec()), (0, 2_000_000_000, b"two".to_vec())]);
        let nano = order.pcap(0xa1b2_3c4d, 101, &[(1, 5, b"one")]);
        assert_eq!(read(&nano).unwrap(), [(0, 1_000_000_005, b"one".to_vec())]);
    }
    assert_eq!(read(&ByteOrder::Little.pcap(0xa1b2_c3d4, 101, &[])).unwrap(), []);
}

#[test]
fn old_versions_of_pcap_have_the_original_length_first() {
    let order = ByteOrder::Little;
    let read_with = |minor: u16, lengths: [u32; 2]| {
        let mut file = order.pcap(0xa1b2_c3d4, 101, &[]);
        file[6..8].copy_from_slice(&minor.to_le_bytes());
        file.extend([order.u32(1), order.u32(0), order.u32(lengths[0]), order.u32(lengths[1]), b"cut".to_vec()].concat());
        read(&file).map(|packets| packets.into_iter().map(|(_, _, bytes)| bytes).collect::<Vec<_>>())
    };
    for (minor, lengths) in [(2, [60, 3]), (3, [60, 3]), (3, [3, 60]), (4, [3, 60])] {
        assert_eq!(read_with(minor, lengths), Ok(vec![b"cut".to_vec()]), "version 2.{minor}, {lengths:?}");
    }
}

#[test]
fn pcapng_sections_have_their_own_byte_orders_interfaces_and_clocks() {
    let (little, big) = (ByteOrder::Little, ByteOrder::Big);
    let milliseconds = big.option(9, &[3]);
    let offset = big.option(14, &10i64.to_be_bytes());
    let file = [
        little.section(),
        little.interface(101, &[]),
        little.packet(0, 5, b"one"),
        // Interface statistics, which are skipped.
        little.block(5, &[vec![0; 12]]),
        big.section(),
        big.interface(1, &[big.option(2, b"eth0")]),
        big.interface(101, &[milliseconds, offset]),
        big.packet(1, 7, b"two"),
        big.packet(9, 7, b"none"),
        big.block(3, &[vec![0; 8]]),
        big.block(2, &[vec![0; 20]]),
    ]
    .concat();
    let reason = |reason: SkipReason| (usize::MAX, 0, reason.to_string().into_bytes());
    let wanted = [
        (0, 5000, b"one".to_vec()),
        (2, 10_007_000_000, b"two".to_vec()),
        reason(SkipReason::UnknownInterface),
        reason(SkipReason::NoTime),
        reason(SkipReason::UnknownBlock(2)),
    ];
    assert_eq!(read(&file).unwrap(), wanted);
}

#[test]
fn files_that_are_no_captures_are_described() {
    let error = |file: &[u8]| read(file).unwrap_err();
    assert_eq!(error(b""), "not a capture: the file is empty");
    assert_eq!(error(b"name = \"x\"\n"), "not a capture: the file begins with `name = \"`");
    assert_eq!(error(&[1, 2]), "not a capture: the file begins with the bytes 01 02");
    assert_eq!(error(&[0x1f, 0x8b, 8, 0]), "not a capture: the file is compressed with gzip; decompress it first");
    let cut = &ByteOrder::Little.pcap(0xa1b2_c3d4, 1, &[])[..20];
    assert_eq!(error(cut), "not a capture: the file ends within the pcap header: 20 of 24 bytes are present");
    let cut = &ByteOrder::Little.section()[..20];
    assert_eq!(error(cut), "not a capture: the file ends within a block: 20 of 28 bytes are present");
    let mut strange = ByteOrder::Little.section();
    strange[8] = 7;
    assert_eq!(error(&strange), "not a capture: a section has an invalid byte-order magic");
}

#[test]
fn the_position_of_damage_is_reported_and_earlier_packets_are_kept() {
    let order = ByteOrder::Little;
    let mut pcap = order.pcap(0xa1b2_c3d4, 101, &[(1, 0, b"one"), (2, 0, b"two")]);
    pcap.pop();
    assert_eq!(read(&pcap).unwrap_err(), "1 packets, then at 43: the file ends within a record: 18 of 19 bytes are present");
    pcap.truncate(50);
    assert_eq!(
        read(&pcap).unwrap_err(),
        "1 packets, then at 43: the file ends within a record header: 7 of 16 bytes are present"
    );
    let mut long = order.pcap(0xa1b2_c3d4, 101, &[(1, 0, b"one")]);
    long[24 + 11] = 0xff;
    assert_eq!(read(&long).unwrap_err(), "0 packets, then at 24: a record has 4278190083 bytes; expected at most 67108864");
    let begin = [order.section(), order.interface(101, &[])].concat();
    let mut packet = order.packet(0, 5, b"12345678");
    // Its captured length exceeds the block.
    packet[20] = 200;
    let damaged = [begin.clone(), packet, order.packet(0, 6, b"later")].concat();
    let expected = "0 packets, then at 48: a packet is invalid: it is shorter than its length fields state";
    assert_eq!(read(&damaged).unwrap_err(), expected);
    let mut odd = [begin, order.packet(0, 6, b"1")].concat();
    odd[48 + 4] = 35;
    assert_eq!(
        read(&odd).unwrap_err(),
        "0 packets, then at 48: a block has 35 bytes; expected a multiple of 4 from 12 to 67108864"
    );
}

/// A source that returns a few bytes at a time.
struct SlowReader<'a>(&'a [u8]);

impl Read for SlowReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let given = self.0.len().min(into.len()).min(7);
        into[..given].copy_from_slice(&self.0[..given]);
        self.0 = &self.0[given..];
        Ok(given)
    }
}

/// A capture of some segments.
fn capture() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &Section { application: "Tailback", comment: "one" }).unwrap();
    let interface = writer.interface("left").unwrap();
    for n in 0..20u32 {
        let mut bytes = Vec::new();
        let builder = etherparse::PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
        builder.tcp(1, 2, 1000 * n, 500).ack(7).write(&mut bytes, &[0; 100]).unwrap();
        let comment = (n % 3 == 0).then_some("a comment");
        let at = Timestamp(i64::from(n) * 1000);
        writer.packet(&Captured { interface, at, bytes: &bytes, original: Bytes(1040), comment }).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn reading_a_few_bytes_at_a_time_gives_the_same_result() {
    let file = capture();
    let tables = |source: &mut dyn Read| {
        let mut analyser = Analyser::open(source, Samples::Stored).unwrap();
        while !analyser.advance(3).unwrap() {}
        assert_eq!((analyser.packets(), analyser.bytes_read()), (20, file.len() as u64));
        analyser.tables()
    };
    let (whole, slow) = (tables(&mut file.as_slice()), tables(&mut SlowReader(&file)));
    let bytes =
        |tables: &[tailback_core::record::Table]| tables.iter().flat_map(tailback_core::record::Table::bytes).collect::<Vec<_>>();
    assert_eq!(bytes(&whole), bytes(&slow));
}

#[test]
fn a_damaged_file_is_analysed_up_to_the_damage() {
    let file = capture();
    let mut analyser = Analyser::open(&file[..file.len() - 1], Samples::Summed).unwrap();
    assert!(analyser.advance(u64::MAX).unwrap());
    assert_eq!(analyser.packets(), 19);
    assert!(matches!(analyser.damage(), Some(Damage { at_byte, .. }) if *at_byte > 3000));
    assert!(analyser.advance(1).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any file is read to its end or to a damaged block.
    #[test]
    fn random_bytes_do_not_panic(file in prop::collection::vec(any::<u8>(), 0..200), format in 0..5usize) {
        let begin = [
            Vec::new(),
            ByteOrder::Little.section(),
            [ByteOrder::Big.section(), ByteOrder::Big.interface(101, &[])].concat(),
            ByteOrder::Little.pcap(0xa1b2_3c4d, 1, &[]),
            ByteOrder::Big.pcap(0xa1b2_c3d4, 101, &[]),
        ];
        analyse(&[begin[format].as_slice(), &file].concat());
    }

    #[test]
    fn nor_is_a_damaged_capture(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), cut in any::<prop::sample::Index>()) {
        let mut file = capture();
        for (place, byte) in changes {
            let place = place.index(file.len());
            file[place] = byte;
        }
        analyse(&file);
        analyse(&file[..cut.index(file.len())]);
    }

    /// Packets with arbitrary frames, over each link type.
    #[test]
    fn random_packets_do_not_panic(packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 1..10), link in 0..8usize) {
        let numbers = [0, 1, 101, 108, 113, 228, 276, 999];
        let records: Vec<(u32, u32, &[u8])> = packets.iter().map(|packet| (1, 0, packet.as_slice())).collect();
        analyse(&ByteOrder::Little.pcap(0xa1b2_c3d4, numbers[link], &records));
    }

    /// Segments between two ends with arbitrary headers.
    #[test]
    fn segments_with_random_numbers_do_not_panic(
        segments in prop::collection::vec((any::<bool>(), any::<[u32; 2]>(), any::<u8>(), 0..3000usize, prop::collection::vec(any::<u8>(), 0..10)), 1..60)
    ) {
        let mut writer = Writer::new(Vec::new(), &Section { application: "Tailback", comment: "" }).unwrap();
        let interface = writer.interface("").unwrap();
        for (place, (forward, [number, ack], flags, payload, options)) in (0..).zip(&segments) {
            let mut tcp = etherparse::TcpHeader::new(if *forward { 1 } else { 2 }, if *forward { 2 } else { 1 }, *number, (*ack >> 16) as u16);
            // Half of the numbers are close to each other.
            tcp.sequence_number = if number % 2 == 0 { *number } else { number % 5000 };
            tcp.acknowledgment_number = if ack % 2 == 0 { *ack } else { ack % 5000 };
            (tcp.syn, tcp.fin, tcp.rst, tcp.ack) = (flags & 7 == 1, flags & 7 == 2, flags & 15 == 3, flags & 16 != 0);
            let blocks = [&[5, 10][..], &number.to_be_bytes(), &ack.to_be_bytes(), options].concat();
            tcp.set_options_raw(&blocks).unwrap();
            let (from, to) = if *forward { ([10, 0, 0, 1], [10, 0, 0, 2]) } else { ([10, 0, 0, 2], [10, 0, 0, 1]) };
            let length = (tcp.header_len() + payload) as u16;
            let ip = etherparse::Ipv4Header::new(length, 64, etherparse::IpNumber::TCP, from, to).unwrap();
            let bytes = [ip.to_bytes().as_slice(), tcp.to_bytes().as_slice()].concat();
            let at = Timestamp(i64::from(*flags) * 1_000_000 * place);
            writer.packet(&Captured { interface, at, bytes: &bytes, original: Bytes(bytes.len() as u64), comment: None }).unwrap();
        }
        analyse(&writer.finish().unwrap());
    }
}

fn analyse(file: &[u8]) {
    let Ok(mut analyser) = Analyser::open(file, Samples::Stored) else { return };
    while !analyser.advance(7).unwrap() {}
    for table in analyser.tables() {
        assert!(table.columns.iter().all(|(_, column)| column.len() == table.rows()));
        // A sum over distinct data never exceeds the sum over all data.
        if let (Some(all), Some(unique)) = (table.floats("payload_bytes"), table.floats("unique_payload_bytes")) {
            assert!(all.iter().zip(unique).all(|(all, unique)| unique <= *all));
        }
    }
}
