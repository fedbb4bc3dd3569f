//! Rules of the counters, on hand-made packets.

use super::*;
use etherparse::{IpNumber, Ipv4Header, TcpHeader};
use std::time::Duration;
use tailback_core::primitives::units::Bytes;

const SENDER: [u8; 4] = [10, 0, 0, 1];
const RECEIVER: [u8; 4] = [10, 0, 0, 2];
/// The first sequence number of the sender's data, close to the wraparound.
const FIRST: u32 = u32::MAX - 1000;

/// A connection at one point of capture, with segments in multiples of 1000 bytes from [`FIRST`].
struct Model {
    connections: Connections,
    at: i64,
    /// Identification of the next packet of each end.
    numbers: [u16; 2],
}

/// Header fields of a packet besides its sequence numbers.
#[derive(Clone, Copy, Default)]
struct Fields<'a> {
    options: &'a [u8],
    ecn: u8,
    window: Option<u16>,
    flags: &'a str,
    comment: Option<&'a str>,
}

fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

impl Model {
    fn new() -> Model {
        Model { connections: Connections::new(Samples::Stored), at: 0, numbers: [1; 2] }
    }

    /// Opened by a handshake of 10 ms, captured near the sender.
    fn opened(syn_options: &[u8]) -> Model {
        let mut model = Model::new();
        model.packet(SENDER, (FIRST.wrapping_sub(1), 0, 0), Fields { flags: "S", options: syn_options, ..Fields::default() });
        model.wait(10);
        model.packet(RECEIVER, (99, FIRST, 0), Fields { flags: "SA", options: syn_options, ..Fields::default() });
        model.packet(SENDER, (FIRST, 100, 0), Fields { flags: "A", ..Fields::default() });
        model
    }

    fn wait(&mut self, milliseconds: i64) -> &mut Model {
        self.at += milliseconds * 1_000_000;
        self
    }

    /// `of`: sequence number, acknowledgement, bytes.
    fn packet(&mut self, from: [u8; 4], of: (u32, u32, usize), fields: Fields<'_>) -> &mut Model {
        let to = if from == SENDER { RECEIVER } else { SENDER };
        let ports = if from == SENDER { (1000, 2000) } else { (2000, 1000) };
        let mut tcp = TcpHeader::new(ports.0, ports.1, of.0, fields.window.unwrap_or(5000));
        tcp.acknowledgment_number = of.1;
        tcp.syn = fields.flags.contains('S');
        tcp.fin = fields.flags.contains('F');
        tcp.rst = fields.flags.contains('R');
        tcp.ack = fields.flags.contains('A');
        tcp.ece = fields.flags.contains('E');
        tcp.cwr = fields.flags.contains('C');
        tcp.ns = fields.flags.contains('N');
        tcp.set_options_raw(fields.options).unwrap();
        let mut ip = Ipv4Header::new((tcp.header_len() + of.2) as u16, 64, IpNumber::TCP, from, to).unwrap();
        ip.ecn = etherparse::IpEcn::try_new(fields.ecn).unwrap();
        let number = &mut self.numbers[usize::from(from != SENDER)];
        ip.identification = *number;
        *number += 1;
        let bytes = [ip.to_bytes().as_slice(), tcp.to_bytes().as_slice()].concat();
        let original = Bytes((bytes.len() + of.2) as u64);
        let packet = IpPacket { bytes: &bytes, original, comment: fields.comment };
        self.connections.see(CapturePoint::default(), Timestamp(self.at), &packet).unwrap();
        self
    }

    /// Segments of 1000 bytes, by index.
    fn data(&mut self, segments: &[u32]) -> &mut Model {
        self.data_with(segments, &[])
    }

    fn data_with(&mut self, segments: &[u32], options: &[u8]) -> &mut Model {
        for &segment in segments {
            let fields = Fields { flags: "A", options, ..Fields::default() };
            self.packet(SENDER, (FIRST.wrapping_add(1000 * segment), 100, 1000), fields);
        }
        self
    }

    /// The receiver acknowledges everything below this segment.
    fn ack(&mut self, next: u32) -> &mut Model {
        self.ack_with(next, &[])
    }

    fn ack_with(&mut self, next: u32, blocks: &[(u32, u32)]) -> &mut Model {
        let mut options = vec![1, 1, 5, 2 + 8 * blocks.len() as u8];
        for &(from, to) in blocks {
            options.extend(FIRST.wrapping_add(1000 * from).to_be_bytes());
            options.extend(FIRST.wrapping_add(1000 * to).to_be_bytes());
        }
        let options = if blocks.is_empty() { &[][..] } else { &options };
        self.packet(RECEIVER, (100, FIRST.wrapping_add(1000 * next), 0), Fields { flags: "A", options, ..Fields::default() })
    }

    fn direction(&self) -> &Direction {
        &self.connections.all()[0].directions[0]
    }

    fn counts(&self) -> direction::DirectionCounts {
        self.direction().counts
    }
}

#[test]
fn a_transfer_without_loss_counts_only_its_data() {
    let mut model = Model::opened(&[]);
    model.data(&[0, 1, 2]).wait(20).ack(2).wait(1).ack(3);
    let counts = model.counts();
    assert_eq!((counts.packets, counts.data_packets, counts.payload_bytes, counts.unique_payload_bytes), (5, 3, 3000, 3000));
    assert_eq!((counts.retransmitted_packets, counts.reordered_packets, counts.unseen_bytes), (0, 0, 0));
    assert_eq!(model.direction().handshake, Some(milliseconds(10)));
    assert_eq!((model.direction().round_trips.samples, model.direction().round_trips.min()), (2, Some(milliseconds(20))));
    assert_eq!(model.direction().in_flight.max_bytes, 3000);
    // 3000 bytes for 20 ms, then 1000 for 1 ms.
    assert!((model.direction().in_flight.mean_bytes() - 61_000.0 / 21.0).abs() < 1e-9);
}

#[test]
fn retransmitted_data_are_counted_twice_and_give_no_round_trip() {
    let mut model = Model::opened(&[]);
    model.data(&[0, 1, 2]).wait(20).ack(0).ack(0).ack(0).data(&[0]).wait(20).ack(3);
    let counts = model.counts();
    assert_eq!((counts.retransmitted_packets, counts.retransmitted_bytes), (1, 1000));
    assert_eq!((counts.payload_bytes, counts.unique_payload_bytes, counts.duplicate_acks), (4000, 3000, 3));
    assert_eq!((model.direction().round_trips.samples, counts.inferred_timeouts), (0, 0));
}

#[test]
fn an_acknowledgement_is_duplicate_only_with_outstanding_data_and_an_unchanged_window() {
    let mut model = Model::opened(&[]);
    model.ack(0).data(&[0]);
    let window = |window| Fields { flags: "A", window: Some(window), ..Fields::default() };
    model.packet(RECEIVER, (100, FIRST, 0), window(6000)).packet(RECEIVER, (100, FIRST, 0), window(6000));
    assert_eq!(model.counts().duplicate_acks, 1);
    // An acknowledgement with data is no duplicate either.
    model.packet(RECEIVER, (100, FIRST, 10), window(6000));
    assert_eq!(model.counts().duplicate_acks, 1);
}

#[test]
fn a_timeout_is_inferred_after_silence_before_the_first_segment_is_retransmitted() {
    // Smoothed 10 ms, deviation 5 ms: a timeout of 30 ms.
    let mut model = Model::opened(&[]);
    model.data(&[0, 1]).wait(29).data(&[0]);
    assert_eq!(model.counts().inferred_timeouts, 0);
    model.wait(31).data(&[0]).wait(60).data(&[0]);
    assert_eq!(model.counts().inferred_timeouts, 2);
    // Duplicates are no progress, so that 210 ms have to pass: Linux's minimum of four deviations is 200 ms.
    model.wait(100).ack(0).wait(10).ack(0).data(&[0]).wait(199).ack(0).data(&[0]).wait(200).ack(0);
    assert_eq!(model.counts().inferred_timeouts, 2);
    model.wait(11).data(&[0]);
    assert_eq!(model.counts().inferred_timeouts, 3);
    // A segment that is not the first may be a probe.
    model.wait(60).data(&[1]);
    assert_eq!(model.counts().inferred_timeouts, 3);
}

/// Captured near the receiver, 40 ms from the sender.
fn near_the_receiver() -> Model {
    let mut model = Model::new();
    model.packet(SENDER, (FIRST.wrapping_sub(1), 0, 0), Fields { flags: "S", ..Fields::default() });
    model.packet(RECEIVER, (99, FIRST, 0), Fields { flags: "SA", ..Fields::default() });
    model.wait(40).packet(SENDER, (FIRST, 100, 0), Fields { flags: "A", ..Fields::default() });
    model
}

#[test]
fn near_the_receiver_a_retransmission_takes_a_round_trip_and_a_timeout_longer() {
    // Segment 1 is lost before the point of capture. Three duplicates, and a fast retransmission a round trip later.
    let mut model = near_the_receiver();
    model.data(&[0]).ack(1).data(&[2]).ack(1).data(&[3]).ack(1).data(&[4]).ack(1).wait(41).data(&[1]).ack(5);
    assert_eq!((model.counts().retransmitted_packets, model.counts().inferred_timeouts), (1, 0));
    // Without duplicates, it comes after the timeout.
    model.data(&[6]).ack(5).wait(240).data(&[5]);
    assert_eq!((model.counts().retransmitted_packets, model.counts().inferred_timeouts), (2, 1));
    let repairs: Vec<_> = model.direction().losses.rows().iter().map(|loss| loss.repair.map(|repair| repair.by)).collect();
    assert_eq!(repairs, [Some(RepairKind::FastRetransmission), Some(RepairKind::Timeout)]);
}

#[test]
fn the_round_trip_to_the_sender_follows_the_echoes_of_timestamps() {
    let timestamp = |value: u32, echo: u32| [[8, 10].as_slice(), &value.to_be_bytes(), &echo.to_be_bytes(), &[1, 1]].concat();
    let mut model = near_the_receiver();
    model.data_with(&[0, 1], &timestamp(1, 0));
    for round in 0..30 {
        let acked = 2 * round + 1;
        let options = timestamp(1000 + round, 1);
        let of = (100, FIRST.wrapping_add(1000 * acked), 0);
        model.packet(RECEIVER, of, Fields { flags: "A", options: &options, ..Fields::default() });
        model.wait(200).data_with(&[acked + 1, acked + 2], &timestamp(2, 1000 + round));
    }
    let (mean, deviation) = model.direction().sender_round_trip.mean_and_deviation(None, Duration::ZERO);
    assert_eq!(mean.as_millis(), 200);
    assert!(deviation < milliseconds(1), "{deviation:?}");
}

#[test]
fn a_timeout_after_a_pause_of_the_application_is_not_missed() {
    let timestamp = |value: u32, echo: u32| [[8, 10].as_slice(), &value.to_be_bytes(), &echo.to_be_bytes(), &[1, 1]].concat();
    let mut model = Model::opened(&[]);
    model.data_with(&[0], &timestamp(1, 0)).wait(10);
    let options = timestamp(1000, 1);
    model.packet(RECEIVER, (100, FIRST.wrapping_add(1000), 0), Fields { flags: "A", options: &options, ..Fields::default() });
    // The second segment of a burst after a pause echoes the same timestamp as the first, which is no round trip.
    model.wait(2000).data_with(&[1, 2], &timestamp(2000, 1000));
    let (to_sender, _) = model.direction().sender_round_trip.mean_and_deviation(None, milliseconds(10));
    assert_eq!(to_sender, Duration::ZERO);
    model.wait(300).data_with(&[1], &timestamp(2300, 1000));
    assert_eq!((model.counts().inferred_timeouts, model.counts().inferred_probes), (1, 0));
}

#[test]
fn a_repeated_syn_of_a_client_is_a_timeout() {
    let mut model = Model::new();
    for _ in 0..3 {
        model.packet(SENDER, (FIRST.wrapping_sub(1), 0, 0), Fields { flags: "S", ..Fields::default() }).wait(1000);
    }
    for _ in 0..2 {
        model.packet(RECEIVER, (99, FIRST, 0), Fields { flags: "SA", ..Fields::default() });
    }
    let [forward, backward] = &model.connections.all()[0].directions;
    assert_eq!((forward.counts.inferred_timeouts, forward.counts.retransmitted_packets), (2, 2));
    assert_eq!((backward.counts.inferred_timeouts, backward.counts.retransmitted_packets), (0, 1));
}

#[test]
fn losses_are_listed_with_their_comments_and_repairs() {
    let mut model = Model::opened(&[]);
    let comment = Some("discarded at bottleneck: full at 1.5 s");
    let of = (FIRST.wrapping_add(1000), 100, 1000);
    model.data(&[0]).packet(SENDER, of, Fields { flags: "A", comment, ..Fields::default() });
    model.data(&[2]).wait(10).ack(1).data(&[1]).wait(10).ack_with(3, &[(1, 2)]);
    let table = model.connections.losses(Timestamp(0));
    assert_eq!(table.rows(), 1);
    assert_eq!((table.words("queue").unwrap(), table.words("reason").unwrap()), (vec!["bottleneck"], vec!["full"]));
    assert_eq!((table.words("evidence").unwrap(), table.words("repair").unwrap()), (vec!["recorded"], vec!["fast"]));
    // Segment 3 is retransmitted needlessly.
    model.data(&[3, 3]).wait(10).ack_with(4, &[(3, 4)]);
    assert_eq!(model.connections.losses(Timestamp(0)).words("evidence").unwrap(), ["recorded", "refuted"]);
}

#[test]
fn a_packet_that_arrives_before_a_loss_could_be_reported_was_reordered() {
    let mut model = Model::opened(&[]);
    model.data(&[0, 2]).wait(1).data(&[3, 1]).wait(20).ack(4);
    let counts = model.counts();
    assert_eq!((counts.reordered_packets, counts.retransmitted_packets), (1, 0));
    // Two packets with later data arrived before it (RFC 4737 section 4.2), the first a millisecond earlier.
    assert_eq!((counts.reordering_extent_max, counts.lateness_max), (2, milliseconds(1)));
    assert_eq!((counts.unique_payload_bytes, counts.unseen_bytes), (4000, 0));
    // The acknowledgement of the fourth segment may have waited for the second.
    assert_eq!(model.direction().round_trips.samples, 1);
}

#[test]
fn data_behind_a_bare_fin_were_reordered_and_its_acknowledgement_is_no_round_trip() {
    let mut model = Model::opened(&[]);
    model.data(&[0]).wait(20).ack(1);
    model.packet(SENDER, (FIRST.wrapping_add(2000), 100, 0), Fields { flags: "FA", ..Fields::default() });
    model.wait(1).data(&[1]);
    model.wait(30).packet(RECEIVER, (100, FIRST.wrapping_add(2001), 0), Fields { flags: "A", ..Fields::default() });
    let counts = model.counts();
    assert_eq!((counts.reordered_packets, counts.reordering_extent_sum, counts.retransmitted_packets), (1, 1, 0));
    assert_eq!((counts.unique_payload_bytes, counts.unseen_bytes), (2000, 0));
    assert_eq!(model.direction().round_trips.min(), Some(milliseconds(20)));
    assert_eq!(model.direction().round_trips.max(), Some(milliseconds(20)));
}

#[test]
fn a_packet_that_arrives_later_was_lost_and_retransmitted() {
    let mut model = Model::opened(&[]);
    model.data(&[0, 2]).wait(11).data(&[1]);
    let counts = model.counts();
    assert_eq!((counts.reordered_packets, counts.retransmitted_packets, counts.retransmitted_unseen_packets), (0, 1, 1));
    assert_eq!(counts.unique_payload_bytes, 3000);
}

#[test]
fn timestamps_distinguish_reordering_from_retransmission() {
    let stamp = |value: u8| [1, 1, 8, 10, 0, 0, 0, value, 0, 0, 0, 0];
    let mut early = Model::opened(&[]);
    early.data_with(&[0, 2], &stamp(7)).wait(50).data_with(&[1], &stamp(6));
    assert_eq!((early.counts().reordered_packets, early.counts().retransmitted_packets), (1, 0));
    let mut late = Model::opened(&[]);
    late.data_with(&[0, 2], &stamp(7)).data_with(&[1], &stamp(8));
    assert_eq!((late.counts().reordered_packets, late.counts().retransmitted_packets), (0, 1));
}

#[test]
fn a_dsack_block_reports_an_unnecessary_retransmission() {
    let mut model = Model::opened(&[]);
    model.data(&[0, 1, 2]).wait(20).data(&[0, 1]).wait(20).ack(3).ack_with(3, &[(0, 1)]);
    let counts = model.counts();
    assert_eq!((counts.retransmitted_packets, counts.spurious_retransmissions), (2, 1));
    assert_eq!((counts.sack_blocks, counts.duplicate_sack_blocks), (0, 1));
    // Above the acknowledgement it is a DSACK block if the second block contains it.
    model.data(&[3, 4, 5]).ack_with(3, &[(4, 5), (4, 6)]).ack_with(3, &[(4, 6), (8, 9)]);
    let counts = model.counts();
    assert_eq!((counts.spurious_retransmissions, counts.sack_blocks, counts.duplicate_sack_blocks), (1, 3, 2));
}

#[test]
fn acknowledged_but_unseen_data_are_reported() {
    let mut model = Model::opened(&[]);
    model.data(&[0, 2]).wait(20).ack(3).ack(4);
    let counts = model.counts();
    assert_eq!((counts.unseen_bytes, counts.unique_payload_bytes), (2000, 2000));
    assert_eq!(model.direction().in_flight.max_bytes, 3000);
}

#[test]
fn a_capture_that_begins_in_the_middle_counts_from_there() {
    let mut model = Model::new();
    model.ack(5).data(&[7, 8]).wait(20).ack(9);
    let counts = model.counts();
    let backwards = &model.connections.all()[0];
    assert_eq!(backwards.ends[0].port, 2000);
    assert_eq!(counts.unique_payload_bytes, 0);
    let counts = backwards.directions[1].counts;
    // Two segments were sent before the capture.
    assert_eq!((counts.unique_payload_bytes, counts.unseen_bytes, counts.retransmitted_packets), (2000, 2000, 0));
    assert_eq!(backwards.directions[1].in_flight.max_bytes, 4000);
}

#[test]
fn windows_are_scaled_if_both_ends_requested_it() {
    let scale = [2, 4, 5, 180, 3, 3, 7, 1];
    let mut model = Model::opened(&scale);
    model.data(&[0]).ack(1);
    let window = model.direction().window;
    // The window of the SYN is not scaled.
    assert_eq!((window.min, window.max, window.times_zero), (Some(5000), Some(640_000), 0));
    assert_eq!(model.connections.all()[0].window_scale(1), Some(7));
    assert_eq!(Model::opened(&[]).connections.all()[0].window_scale(1), Some(0));
    assert_eq!(Model::new().data(&[0]).connections.all()[0].window_scale(1), None);
}

#[test]
fn a_closed_window_is_probed_and_a_silent_connection_kept_alive() {
    let mut model = Model::opened(&[]);
    model.data(&[0]).wait(20);
    let closed = Fields { flags: "A", window: Some(0), ..Fields::default() };
    model.packet(RECEIVER, (100, FIRST.wrapping_add(1000), 0), closed);
    let alive = Fields { flags: "A", ..Fields::default() };
    model.packet(SENDER, (FIRST.wrapping_add(1000), 100, 1), alive).packet(SENDER, (FIRST.wrapping_add(1000), 100, 1), alive);
    assert_eq!((model.counts().zero_window_probes, model.direction().window.times_zero), (2, 1));
    let mut model = Model::opened(&[]);
    model.data(&[0]).wait(20).ack(1);
    model.packet(SENDER, (FIRST.wrapping_add(999), 100, 0), alive).packet(SENDER, (FIRST.wrapping_add(999), 100, 1), alive);
    model.ack(1);
    let counts = model.counts();
    assert_eq!((counts.keep_alives, counts.retransmitted_packets, counts.duplicate_acks), (2, 0, 0));
}

#[test]
fn marks_and_their_echoes_are_counted_in_their_direction() {
    let mut model = Model::new();
    model.packet(SENDER, (FIRST.wrapping_sub(1), 0, 0), Fields { flags: "SEC", ..Fields::default() });
    model.packet(RECEIVER, (99, FIRST, 0), Fields { flags: "SAE", ..Fields::default() });
    model.packet(SENDER, (FIRST, 100, 1000), Fields { flags: "A", ecn: 2, ..Fields::default() });
    model.packet(SENDER, (FIRST.wrapping_add(1000), 100, 1000), Fields { flags: "A", ecn: 3, ..Fields::default() });
    model.packet(RECEIVER, (100, FIRST.wrapping_add(2000), 0), Fields { flags: "AE", ..Fields::default() });
    model.packet(SENDER, (FIRST.wrapping_add(2000), 100, 1000), Fields { flags: "AC", ecn: 2, ..Fields::default() });
    let counts = model.counts();
    assert_eq!((counts.ect_packets, counts.ce_packets, counts.ece_packets, counts.cwr_packets), (2, 1, 1, 1));
    let table = &model.connections.tables(&["lo".into()], Timestamp(0))[0];
    let tailback_core::record::Column::Word(keys, words) = table.column("ecn").unwrap() else { panic!() };
    assert_eq!(words[keys[0] as usize], "yes");
}

#[test]
fn with_accurate_ecn_the_flags_are_a_counter() {
    let mut model = Model::new();
    // The third flag is N.
    model.packet(SENDER, (FIRST.wrapping_sub(1), 0, 0), Fields { flags: "SECN", ..Fields::default() });
    model.packet(RECEIVER, (99, FIRST, 0), Fields { flags: "SAC", ..Fields::default() });
    // Not ECT on the SYN-ACK: 010. No marks: 101; two marks: 111.
    model.packet(SENDER, (FIRST, 100, 0), Fields { flags: "AC", ..Fields::default() });
    model.packet(SENDER, (FIRST, 100, 1000), Fields { flags: "ANE", ecn: 2, ..Fields::default() });
    model.packet(RECEIVER, (100, FIRST.wrapping_add(1000), 0), Fields { flags: "ANE", ..Fields::default() });
    model.packet(SENDER, (FIRST.wrapping_add(1000), 100, 1000), Fields { flags: "ANE", ecn: 2, ..Fields::default() });
    model.packet(RECEIVER, (100, FIRST.wrapping_add(2000), 0), Fields { flags: "ANEC", ..Fields::default() });
    let table = &model.connections.tables(&["lo".into()], Timestamp(0))[0];
    assert_eq!(table.words("ecn").unwrap(), ["accurate", "accurate"]);
    assert_eq!(table.floats("reported_ce_packets"), Some(vec![2.0, 0.0]));
    let missing = |name: &str| table.floats(name).unwrap().iter().all(|value| value.is_nan());
    assert!(missing("ece_packets") && missing("cwr_packets"));
}

#[test]
fn a_new_initial_number_opens_a_connection_and_the_same_one_is_a_retransmitted_syn() {
    let mut model = Model::opened(&[]);
    model.data(&[0]);
    let syn = |model: &mut Model, number| {
        model.packet(SENDER, (number, 0, 0), Fields { flags: "S", ..Fields::default() });
    };
    syn(&mut model, FIRST.wrapping_sub(1));
    assert_eq!((model.connections.len(), model.counts().retransmitted_packets), (1, 1));
    syn(&mut model, 12_345);
    syn(&mut model, 12_345);
    assert_eq!(model.connections.len(), 2);
    assert_eq!(model.connections.all()[1].directions[0].counts.packets, 2);
}

#[test]
fn points_of_capture_are_distinguished() {
    let mut model = Model::opened(&[]);
    let before = model.connections.len();
    let mut tcp = Vec::new();
    etherparse::PacketBuilder::ipv4(SENDER, RECEIVER, 64).tcp(1000, 2000, FIRST, 1).write(&mut tcp, &[]).unwrap();
    let packet = IpPacket { bytes: &tcp, original: Bytes(40), comment: None };
    model.connections.see(CapturePoint { interface: 1, ..CapturePoint::default() }, Timestamp(0), &packet).unwrap();
    model.connections.see(CapturePoint { behind: Some(3), ..CapturePoint::default() }, Timestamp(0), &packet).unwrap();
    let vlan = |outer| CapturePoint { vlan: Some(crate::link::Vlan { outer, inner: None }), ..CapturePoint::default() };
    model.connections.see(vlan(10), Timestamp(0), &packet).unwrap();
    model.connections.see(vlan(20), Timestamp(0), &packet).unwrap();
    assert_eq!(model.connections.len(), before + 4);
}

/// Two packets with and without an identification, at these times in milliseconds. Returns whether each was analysed.
fn analysed(identifications: &[u16], bytes: usize, at: &[i64]) -> Vec<bool> {
    let mut connections = Connections::new(Samples::Summed);
    let mut found = Vec::new();
    for (&identification, &at) in identifications.iter().zip(at) {
        let mut tcp = TcpHeader::new(1000, 2000, FIRST, 5000);
        tcp.ack = true;
        let mut ip = Ipv4Header::new((tcp.header_len() + bytes) as u16, 64, IpNumber::TCP, SENDER, RECEIVER).unwrap();
        ip.identification = identification;
        let packet = [ip.to_bytes().as_slice(), tcp.to_bytes().as_slice()].concat();
        let packet = IpPacket { bytes: &packet, original: Bytes((packet.len() + bytes) as u64), comment: None };
        found.push(connections.see(CapturePoint::default(), Timestamp(at * 1_000_000), &packet).is_ok());
    }
    found
}

#[test]
fn a_packet_that_is_captured_twice_counts_once() {
    // The identification varies: the third and the fourth packet are one.
    assert_eq!(analysed(&[1, 2, 3, 3, 4], 1000, &[0, 100, 200, 300, 400]), [true, true, true, false, true]);
    // Pure acknowledgements as well; but without an identification they may be duplicates that the receiver sent.
    assert_eq!(analysed(&[1, 2, 3, 3], 0, &[0, 0, 0, 0]), [true, true, true, false]);
    assert_eq!(analysed(&[0, 0, 0, 0], 0, &[0, 0, 0, 0]), [true; 4]);
    // Data without an identification are repeated at once, or retransmitted later.
    assert_eq!(analysed(&[0, 0, 0], 1000, &[0, 1, 10]), [true, false, true]);
}

#[test]
fn retransmissions_that_were_lost_on_the_way_are_missing_numbers() {
    let mut model = near_the_receiver();
    // Segment 3 and its first retransmission are lost; the second one has a number that is two higher.
    model.data(&[0, 1, 2]).ack(3);
    model.numbers[0] += 1;
    model.data(&[4]).ack_with(3, &[(4, 5)]).wait(100);
    model.numbers[0] += 1;
    model.data(&[3]).ack(5);
    assert_eq!(model.counts().retransmitted_packets, 1);
    assert_eq!(model.direction().sender_retransmissions(1000), Some(2));
    // Merged packets have several numbers.
    assert_eq!(model.direction().sender_retransmissions(999), None);
}

#[test]
fn with_one_direction_only_the_data_in_flight_are_missing() {
    let mut model = Model::new();
    model.data(&[0, 1, 2]).wait(1).data(&[3]);
    let tables = model.connections.tables(&[], Timestamp(0));
    assert!(tables[0].floats("max_in_flight_bytes").unwrap()[0].is_nan());
    assert_eq!(tables[3].rows(), 0);
    model.ack(4);
    let tables = model.connections.tables(&[], Timestamp(0));
    assert_eq!(tables[0].floats("max_in_flight_bytes").unwrap()[0], 4000.0);
    assert!(tables[3].rows() > 0);
}

#[test]
fn the_end_of_a_connection_is_reported() {
    let ended = |flags| {
        let mut model = Model::opened(&[]);
        model.data(&[0]);
        model.packet(SENDER, (FIRST.wrapping_add(1000), 100, 0), Fields { flags, ..Fields::default() });
        model.wait(20).packet(RECEIVER, (100, FIRST.wrapping_add(1001), 0), Fields { flags: "A", ..Fields::default() });
        assert_eq!(model.counts().unseen_bytes, 0, "{flags}");
        let table = &model.connections.tables(&[], Timestamp(0))[0];
        let tailback_core::record::Column::Word(keys, words) = table.column("ended").unwrap() else { panic!() };
        keys.iter().map(|&key| words[key as usize].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ended("FA"), ["fin", "open"]);
    let mut model = Model::opened(&[]);
    model.packet(RECEIVER, (100, 0, 0), Fields { flags: "R", ..Fields::default() });
    assert!(model.connections.all()[0].is_reset);
}

#[test]
fn samples_are_stored_on_request() {
    let mut model = Model::opened(&[]);
    model.data(&[0, 1]).wait(20).ack(2);
    let tables = model.connections.tables(&[], Timestamp(0));
    let rows: Vec<(&str, usize)> = tables.iter().map(|table| (table.name.as_str(), table.rows())).collect();
    assert_eq!(rows, [("connections", 2), ("udp_flows", 0), ("rtt", 1), ("in_flight", 3)]);
    assert_eq!(tables[2].floats("rtt_s"), Some(vec![0.02]));
    assert_eq!(tables[3].floats("in_flight_packets"), Some(vec![1.0, 2.0, 0.0]));
    assert_eq!(Connections::new(Samples::Summed).tables(&[], Timestamp(0)).len(), 2);
}
