//! Connections as tables.

use crate::connection::{
    Connection, Connections, Direction, DirectionId, Drop, EcnFeedback, Evidence, InFlight, Loss, RepairKind, Syn,
};
use crate::flow_key::CapturePoint;
use crate::round_trips::RoundTrips;
use crate::skipped::Skipped;
use crate::time::Timestamp;
use crate::udp_flows::{SpinUse, UdpDirection, UdpFlow};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tailback_core::record::{Column, Table};

/// Whether a feature was negotiated in the handshake.
const AGREED: [&str; 3] = ["no", "yes", "unknown"];
/// Feedback of marks: none, classic, unknown, accurate.
const ECN: [&str; 4] = ["no", "yes", "unknown", "accurate"];
/// Largest payload of packets of 1500 bytes (RFC 6691): larger ones were merged if the receiver's MSS is unknown.
const ETHERNET_MSS: u16 = 1460;
const DIRECTIONS: [&str; 2] = ["forward", "backward"];

impl Connections {
    /// Tables `connections` and `udp_flows`, and with samples `rtt` and `in_flight`. `interfaces`: names of the points of capture; times are
    /// relative to `origin`.
    pub fn tables(&self, interfaces: &[String], origin: Timestamp) -> Vec<Table> {
        let mut tables = vec![self.summed(interfaces, origin), self.udp_flows(interfaces, origin)];
        if let Some(rows) = self.rows() {
            let of_trips = rows.round_trips.iter().map(|row| (row.0, row.1));
            let seconds = rows.round_trips.iter().map(|row| row.2.as_secs_f64()).collect();
            tables.push(samples("rtt", of_trips, origin, vec![("rtt_s", Column::Float(seconds))]));
            let is_known = |of: DirectionId| {
                let connection = self.all().get(of.connection as usize);
                connection.is_some_and(|connection| connection.directions[of.direction as usize].knows_in_flight())
            };
            let loads: Vec<_> = rows.in_flight.iter().filter(|row| is_known(row.1)).collect();
            let of_loads = loads.iter().map(|row| (row.0, row.1));
            let bytes = loads.iter().map(|row| row.2.bytes).collect();
            let packets = loads.iter().map(|row| row.2.segments).collect();
            let values = vec![("in_flight_bytes", Column::Integer(bytes)), ("in_flight_packets", Column::Integer(packets))];
            tables.push(samples("in_flight", of_loads, origin, values));
        }
        tables
    }

    /// Table `losses`, by connection and direction.
    pub(crate) fn losses(&self, origin: Timestamp) -> Table {
        let directions = (0..).zip(self.all()).flat_map(|(connection, each)| {
            let of = move |direction: u32| DirectionId { connection, direction };
            (0..2).zip(&each.directions).map(move |(direction, one)| (of(direction), one))
        });
        let rows: Vec<(DirectionId, &Loss)> =
            directions.flat_map(|(of, direction)| direction.losses.rows().iter().map(move |loss| (of, loss))).collect();
        let words = |words: &[&str], value: fn(&Loss) -> u32| {
            let indices = rows.iter().map(|(_, loss)| value(loss)).collect();
            Column::Word(indices, Arc::new(words.iter().map(|&word| word.to_string()).collect()))
        };
        let drops = |part: fn(&Drop) -> &str| {
            interned(rows.iter().map(|(_, loss)| match &loss.evidence {
                Evidence::Recorded(drop) => part(drop).to_owned(),
                Evidence::Retransmission | Evidence::Refuted => String::new(),
            }))
        };
        let seconds = |at: fn(&Loss) -> Option<Timestamp>| {
            Column::Float(rows.iter().map(|(_, loss)| at(loss).map_or(f64::NAN, |at| at.seconds_after(origin))).collect())
        };
        let directions =
            Column::Word(rows.iter().map(|(of, _)| of.direction).collect(), Arc::new(DIRECTIONS.map(String::from).to_vec()));
        let columns = vec![
            ("sent_s", seconds(|loss| loss.sent)),
            ("connection", Column::Integer(rows.iter().map(|(of, _)| of.connection.into()).collect())),
            ("direction", directions),
            ("sequence_number", Column::Integer(rows.iter().map(|(_, loss)| u64::from(loss.data.start as u32)).collect())),
            ("payload_bytes", Column::Integer(rows.iter().map(|(_, loss)| loss.data.bytes()).collect())),
            (
                "evidence",
                words(&["recorded", "retransmission", "refuted"], |loss| match loss.evidence {
                    Evidence::Recorded(_) => 0,
                    Evidence::Retransmission => 1,
                    Evidence::Refuted => 2,
                }),
            ),
            ("queue", drops(|drop| &drop.queue)),
            ("reason", drops(|drop| &drop.reason)),
            (
                "repair",
                words(&["none", "fast", "timeout", "probe"], |loss| match loss.repair.map(|repair| repair.by) {
                    None => 0,
                    Some(RepairKind::FastRetransmission) => 1,
                    Some(RepairKind::Timeout) => 2,
                    Some(RepairKind::Probe) => 3,
                }),
            ),
            ("repaired_s", seconds(|loss| loss.repair.map(|repair| repair.at))),
        ];
        named("losses", columns)
    }

    fn udp_flows(&self, interfaces: &[String], origin: Timestamp) -> Table {
        let each = |flow| (0..2).map(move |sender| (flow, sender));
        let rows: Vec<UdpRow<'_>> = (0..)
            .zip(self.udp().all())
            .flat_map(each)
            .map(|((number, flow), sender)| UdpRow { number, flow, sender, direction: &flow.directions[sender], origin })
            .collect();
        let whole = |value: fn(&UdpRow<'_>) -> u64| Column::Integer(rows.iter().map(value).collect());
        let real = |value: fn(&UdpRow<'_>) -> f64| Column::Float(rows.iter().map(value).collect());
        let words = |words: &[&str], value: fn(&UdpRow<'_>) -> u32| {
            Column::Word(rows.iter().map(value).collect(), Arc::new(words.iter().map(|&word| word.to_string()).collect()))
        };
        let columns = vec![
            ("flow", whole(|row| row.number)),
            ("direction", words(&DIRECTIONS, |row| row.sender as u32)),
            ("interface", interned(rows.iter().map(|row| point_name(row.flow.point, interfaces)))),
            ("sender_address", interned(rows.iter().map(|row| row.flow.ends[row.sender].address.to_string()))),
            ("sender_port", whole(|row| row.flow.ends[row.sender].port.into())),
            ("receiver_address", interned(rows.iter().map(|row| row.flow.ends[1 - row.sender].address.to_string()))),
            ("receiver_port", whole(|row| row.flow.ends[1 - row.sender].port.into())),
            ("protocol", words(&["udp", "quic"], |row| u32::from(row.flow.version().is_some()))),
            ("quic_version", interned(rows.iter().map(|row| row.flow.version().unwrap_or_default()))),
            ("first_s", real(|row| row.direction.span.map_or(f64::NAN, |(first, _)| first.seconds_after(row.origin)))),
            ("last_s", real(|row| row.direction.span.map_or(f64::NAN, |(_, last)| last.seconds_after(row.origin)))),
            ("duration_s", real(|row| row.duration_s())),
            ("packets", whole(|row| row.direction.packets)),
            ("payload_bytes", whole(|row| row.direction.payload_bytes)),
            ("throughput_bps", real(|row| row.direction.payload_bytes as f64 * 8.0 / row.duration_s())),
            ("max_payload_bytes", real(|row| row.largest_payload())),
            ("mean_gap_s", real(|row| row.direction.gaps.mean_s())),
            ("gap_p99_s", real(|row| row.direction.gaps.percentile_s(0.99))),
            ("max_gap_s", real(|row| seconds(row.direction.gaps.max()))),
            ("ect_packets", whole(|row| row.direction.ect_packets)),
            ("ce_packets", whole(|row| row.direction.ce_packets)),
            (
                "spin_bit",
                words(&["unknown", "constant", "spinning", "random"], |row| match row.direction.spin.usage() {
                    SpinUse::Unknown => 0,
                    SpinUse::Constant => 1,
                    SpinUse::Spinning => 2,
                    SpinUse::Random => 3,
                }),
            ),
            ("spin_rtt_samples", whole(|row| row.spin_round_trips().map_or(0, |of| of.samples))),
            ("min_spin_rtt_s", real(|row| seconds(row.spin_round_trips().and_then(RoundTrips::min)))),
            ("spin_rtt_p50_s", real(|row| row.spin_round_trips().map_or(f64::NAN, |of| of.percentile_s(0.5)))),
        ];
        named("udp_flows", columns)
    }

    fn summed(&self, interfaces: &[String], origin: Timestamp) -> Table {
        let each = |connection| (0..2).map(move |sender| (connection, sender));
        let rows: Vec<DirectionRow<'_>> = (0..)
            .zip(self.all())
            .flat_map(each)
            .map(|((number, connection), sender)| DirectionRow {
                number,
                connection,
                sender,
                direction: &connection.directions[sender],
                origin,
            })
            .collect();
        let whole = |value: fn(&DirectionRow<'_>) -> u64| Column::Integer(rows.iter().map(value).collect());
        let real = |value: fn(&DirectionRow<'_>) -> f64| Column::Float(rows.iter().map(value).collect());
        let words = |words: &[&str], value: fn(&DirectionRow<'_>) -> u32| {
            Column::Word(rows.iter().map(value).collect(), Arc::new(words.iter().map(|&word| word.to_string()).collect()))
        };
        let columns = vec![
            ("connection", whole(|row| row.number)),
            ("direction", words(&DIRECTIONS, |row| row.sender as u32)),
            ("interface", interned(rows.iter().map(|row| point_name(row.connection.point, interfaces)))),
            ("sender_address", interned(rows.iter().map(|row| row.connection.ends[row.sender].address.to_string()))),
            ("sender_port", whole(|row| row.connection.ends[row.sender].port.into())),
            ("receiver_address", interned(rows.iter().map(|row| row.connection.ends[1 - row.sender].address.to_string()))),
            ("receiver_port", whole(|row| row.connection.ends[1 - row.sender].port.into())),
            ("began", words(&["syn", "unseen"], |row| u32::from(row.direction.syn.is_none()))),
            ("ended", words(&["open", "fin", "reset"], |row| row.ended())),
            ("first_s", real(|row| row.direction.span.map_or(f64::NAN, |(first, _)| first.seconds_after(row.origin)))),
            ("last_s", real(|row| row.direction.span.map_or(f64::NAN, |(_, last)| last.seconds_after(row.origin)))),
            ("duration_s", real(|row| row.duration_s())),
            ("packets", whole(|row| row.direction.counts.packets)),
            ("data_packets", whole(|row| row.direction.counts.data_packets)),
            ("payload_bytes", whole(|row| row.direction.counts.payload_bytes)),
            ("unique_payload_bytes", whole(|row| row.direction.counts.unique_payload_bytes)),
            ("unseen_bytes", whole(|row| row.direction.counts.unseen_bytes)),
            ("throughput_bps", real(|row| row.direction.counts.payload_bytes as f64 * 8.0 / row.duration_s())),
            ("goodput_bps", real(|row| row.direction.counts.unique_payload_bytes as f64 * 8.0 / row.duration_s())),
            ("max_payload_bytes", whole(|row| row.direction.counts.largest_payload)),
            ("retransmitted_packets", whole(|row| row.direction.counts.retransmitted_packets)),
            ("retransmitted_bytes", whole(|row| row.direction.counts.retransmitted_bytes)),
            ("retransmitted_unseen_packets", whole(|row| row.direction.counts.retransmitted_unseen_packets)),
            ("sender_retransmissions", real(|row| row.sender_retransmissions())),
            ("spurious_retransmissions", whole(|row| row.direction.counts.spurious_retransmissions)),
            ("inferred_timeouts", whole(|row| row.direction.counts.inferred_timeouts)),
            ("inferred_loss_probes", whole(|row| row.direction.counts.inferred_probes)),
            ("reordered_packets", whole(|row| row.direction.counts.reordered_packets)),
            ("mean_reordering_extent_packets", real(|row| row.mean_reordering_extent())),
            ("max_reordering_extent_packets", whole(|row| row.direction.counts.reordering_extent_max)),
            ("max_late_time_s", real(|row| row.direction.counts.lateness_max.as_secs_f64())),
            ("rtt_samples", whole(|row| row.direction.round_trips.samples)),
            ("min_rtt_s", real(|row| seconds(row.direction.round_trips.min()))),
            ("mean_rtt_s", real(|row| row.direction.round_trips.mean_s())),
            ("rtt_p50_s", real(|row| row.direction.round_trips.percentile_s(0.5))),
            ("rtt_p95_s", real(|row| row.direction.round_trips.percentile_s(0.95))),
            ("rtt_p99_s", real(|row| row.direction.round_trips.percentile_s(0.99))),
            ("max_rtt_s", real(|row| seconds(row.direction.round_trips.max()))),
            ("handshake_rtt_s", real(|row| seconds(row.direction.handshake))),
            ("mean_in_flight_bytes", real(|row| row.in_flight(InFlight::mean_bytes))),
            ("max_in_flight_bytes", real(|row| row.in_flight(|of| of.max_bytes as f64))),
            ("max_in_flight_packets", real(|row| row.in_flight(|of| of.max_segments as f64))),
            ("acks", whole(|row| row.direction.counts.acknowledgements)),
            ("duplicate_acks", whole(|row| row.direction.counts.duplicate_acks)),
            ("sack_blocks", whole(|row| row.direction.counts.sack_blocks)),
            ("duplicate_sack_blocks", whole(|row| row.direction.counts.duplicate_sack_blocks)),
            ("min_receiver_window_bytes", real(|row| row.direction.window.min.map_or(f64::NAN, |bytes| bytes as f64))),
            ("max_receiver_window_bytes", real(|row| row.direction.window.max.map_or(f64::NAN, |bytes| bytes as f64))),
            ("zero_windows", whole(|row| row.direction.window.times_zero)),
            ("zero_window_probes", whole(|row| row.direction.counts.zero_window_probes)),
            ("keep_alives", whole(|row| row.direction.counts.keep_alives)),
            ("ect_packets", whole(|row| row.direction.counts.ect_packets)),
            ("ce_packets", whole(|row| row.direction.counts.ce_packets)),
            ("ece_packets", real(|row| row.classic(row.direction.counts.ece_packets))),
            ("cwr_packets", real(|row| row.classic(row.direction.counts.cwr_packets))),
            ("reported_ce_packets", real(|row| row.reported_ce())),
            ("mss_bytes", real(|row| row.receiver_reports(|syn| syn.options.mss.map(f64::from)))),
            ("window_scale", real(|row| row.connection.window_scale(1 - row.sender).map_or(f64::NAN, f64::from))),
            ("sack", words(&AGREED, |row| row.agreed(|syn| syn.options.sack_permitted))),
            ("timestamps", words(&AGREED, |row| row.agreed(|syn| syn.options.timestamp.is_some()))),
            ("ecn", words(&ECN, |row| row.ecn())),
            ("forgotten_segments", whole(|row| row.direction.counts.forgotten_segments)),
        ];
        named("connections", columns)
    }
}

/// A row of the table: a direction, and its connection.
struct DirectionRow<'a> {
    number: u64,
    connection: &'a Connection,
    sender: usize,
    direction: &'a Direction,
    origin: Timestamp,
}

impl DirectionRow<'_> {
    fn duration_s(&self) -> f64 {
        self.direction.span.map_or(f64::NAN, |(first, last)| last.since(first).as_secs_f64())
    }

    fn ended(&self) -> u32 {
        match (self.connection.is_reset, self.direction.has_fin()) {
            (true, _) => 2,
            (false, has_fin) => has_fin.into(),
        }
    }

    fn mean_reordering_extent(&self) -> f64 {
        let counts = &self.direction.counts;
        counts.reordering_extent_sum as f64 / counts.reordered_packets as f64
    }

    fn syns(&self) -> Option<(Syn, Syn)> {
        let [first, second] = &self.connection.directions;
        first.syn.zip(second.syn)
    }

    fn receiver_reports(&self, option: fn(&Syn) -> Option<f64>) -> f64 {
        self.connection.directions[1 - self.sender].syn.as_ref().and_then(option).unwrap_or(f64::NAN)
    }

    fn sender_retransmissions(&self) -> f64 {
        let mss = self.connection.directions[1 - self.sender].syn.and_then(|syn| syn.options.mss).unwrap_or(ETHERNET_MSS);
        self.direction.sender_retransmissions(mss.into()).map_or(f64::NAN, |packets| packets as f64)
    }

    /// Whether both SYNs have the feature.
    fn agreed(&self, option: fn(&Syn) -> bool) -> u32 {
        self.syns().map_or(2, |(first, second)| u32::from(option(&first) && option(&second)))
    }

    fn ecn(&self) -> u32 {
        match self.connection.ecn_feedback() {
            Some(EcnFeedback::None) => 0,
            Some(EcnFeedback::Classic) => 1,
            None => 2,
            Some(EcnFeedback::Accurate) => 3,
        }
    }

    /// A count of flags that have another meaning with accurate ECN.
    fn classic(&self, count: u64) -> f64 {
        if self.connection.ecn_feedback() == Some(EcnFeedback::Accurate) { f64::NAN } else { count as f64 }
    }

    /// Missing unless both directions were captured.
    fn in_flight(&self, value: fn(&InFlight) -> f64) -> f64 {
        if self.direction.knows_in_flight() { value(&self.direction.in_flight) } else { f64::NAN }
    }

    fn reported_ce(&self) -> f64 {
        self.direction.reported_ce.map_or(f64::NAN, |counter| counter.packets() as f64)
    }
}

/// A row of the table of UDP flows.
struct UdpRow<'a> {
    number: u64,
    flow: &'a UdpFlow,
    sender: usize,
    direction: &'a UdpDirection,
    origin: Timestamp,
}

impl UdpRow<'_> {
    fn duration_s(&self) -> f64 {
        self.direction.span.map_or(f64::NAN, |(first, last)| last.since(first).as_secs_f64())
    }

    fn largest_payload(&self) -> f64 {
        if self.direction.packets == 0 { f64::NAN } else { self.direction.largest_payload as f64 }
    }

    fn spin_round_trips(&self) -> Option<&RoundTrips> {
        (self.direction.spin.usage() == SpinUse::Spinning).then_some(&self.direction.spin.round_trips)
    }
}

/// Packets that were not analysed, by reason.
pub(crate) fn skipped(skipped: &Skipped) -> Table {
    let reasons = interned(skipped.counts().map(|(reason, _)| reason.to_string()));
    let packets = Column::Integer(skipped.counts().map(|(_, packets)| packets).collect());
    named("skipped", vec![("reason", reasons), ("packets", packets)])
}

fn samples(
    name: &str,
    of: impl Iterator<Item = (Timestamp, DirectionId)> + Clone,
    origin: Timestamp,
    values: Vec<(&'static str, Column)>,
) -> Table {
    let directions = Arc::new(DIRECTIONS.map(String::from).to_vec());
    let mut columns = vec![
        ("time_s", Column::Float(of.clone().map(|(at, _)| at.seconds_after(origin)).collect())),
        ("connection", Column::Integer(of.clone().map(|(_, which)| which.connection.into()).collect())),
        ("direction", Column::Word(of.map(|(_, which)| which.direction).collect(), directions)),
    ];
    columns.extend(values);
    named(name, columns)
}

/// The name of a point of capture.
pub(crate) fn point_name(point: CapturePoint, interfaces: &[String]) -> String {
    let name = interfaces.get(point.interface as usize).cloned().unwrap_or_else(|| point.interface.to_string());
    let behind = point.behind.map_or(String::new(), |behind| format!(", index {behind}"));
    let vlan = point.vlan.map_or(String::new(), |vlan| {
        let inner = vlan.inner.map_or(String::new(), |inner| format!(".{inner}"));
        format!(", VLAN {}{inner}", vlan.outer)
    });
    name + &behind + &vlan
}

/// A column of words, each of which is stored once.
fn interned(words: impl Iterator<Item = String>) -> Column {
    let mut places: HashMap<String, u32> = HashMap::new();
    let mut distinct = Vec::new();
    let indices = words.map(|word| {
        *places.entry(word).or_insert_with_key(|word| {
            distinct.push(word.clone());
            distinct.len() as u32 - 1
        })
    });
    let indices = indices.collect();
    Column::Word(indices, Arc::new(distinct))
}

fn seconds(of: Option<Duration>) -> f64 {
    of.map_or(f64::NAN, |of| of.as_secs_f64())
}

/// A table whose missing values have one bit pattern, as in the tables of a run.
fn named(name: &str, columns: Vec<(&'static str, Column)>) -> Table {
    let one_nan = |column| match column {
        Column::Float(values) => {
            Column::Float(values.into_iter().map(|value: f64| if value.is_finite() { value } else { f64::NAN }).collect())
        }
        other => other,
    };
    Table { name: name.into(), columns: columns.into_iter().map(|(name, column)| (name.into(), one_nan(column))).collect() }
}
