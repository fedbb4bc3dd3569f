//! Observes every packet at the hosts: measures their TCP connections, and writes a capture on request.

use crate::in_flight::PacketKey;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use tailback_capture::{CapturePoint, Captured, Connections, IpPacket, Samples, Section, Timestamp, Writer, is_quic_initial};
use tailback_core::network::PortId;
use tailback_core::primitives::units::{Bytes, Time};
use tailback_core::queue::DropReason;
use tailback_core::record::Table;

/// Observer of the traffic at the hosts' devices.
pub struct PacketObserver {
    hosts: Vec<String>,
    ports: Vec<String>,
    /// Wall-clock time of the emulation's start.
    origin: Timestamp,
    /// Note in a capture for its reader.
    note: &'static str,
    latest: Time,
    /// `None`: only a capture is made.
    connections: Option<Connections>,
    capture: Option<Capture>,
}

/// Place and reason of a packet's discard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Discard {
    pub(crate) port: PortId,
    pub(crate) reason: DropReason,
}

impl PacketObserver {
    /// `ports`: their names, in the engine's numbering.
    pub fn new(hosts: Vec<String>, ports: Vec<String>) -> PacketObserver {
        let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let origin = Timestamp(i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX / 2));
        PacketObserver {
            hosts,
            ports,
            origin,
            note: "Real packets at the devices of an emulation's hosts, truncated to 256 bytes except Initial packets of QUIC. Timestamps are the wall-clock time of \
                   the emulation's start plus emulated time. Packets of simulated flows are not included.",
            latest: Time::ZERO,
            connections: Some(Connections::new(Samples::Summed)),
            capture: None,
        }
    }

    /// An observer that measures no connections, for virtual time: its captures begin at a fixed time, so that equal runs have equal
    /// ones.
    pub(crate) fn of_virtual_time(hosts: Vec<String>, ports: Vec<String>) -> PacketObserver {
        let note = "Packets of hosts in a simulated network, truncated to 256 bytes except Initial packets of QUIC. Time 0 of the run \
                    is 2000-01-01T00:00:00Z. Packets of simulated flows are not included.";
        PacketObserver { origin: Timestamp::RUN_START, note, connections: None, ..PacketObserver::new(hosts, ports) }
    }

    /// Writes observed packets to a file, with one interface per host.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn capture_to(&mut self, file: &Path) -> io::Result<()> {
        self.capture = Some(Capture::begin(file, &self.hosts, self.note)?);
        Ok(())
    }

    pub(crate) fn on_sent(&mut self, at: Time, key: PacketKey, of: ObservedPacket<'_>) {
        if let Some((capture, at)) = self.see(at, of) {
            capture.note(CaptureEntry::of(at, of, Some(key)));
        }
    }

    /// `at`: the time at which the packet is handed to its host.
    pub(crate) fn on_delivered(&mut self, at: Time, key: PacketKey, of: ObservedPacket<'_>) {
        if let Some((capture, at)) = self.see(at, of) {
            capture.settle(key, None);
            capture.note(CaptureEntry::of(at, of, None));
        }
    }

    pub(crate) fn on_discarded(&mut self, at: Time, key: PacketKey, discard: Discard) {
        if let Some(capture) = &mut self.capture {
            let port = self.ports.get(discard.port.index()).map_or("a queue", String::as_str);
            let comment = format!("discarded at {port}: {} at {:.6} s", discard.reason.name(), at.seconds());
            capture.discards.entry(at).or_default().push((key, comment));
        }
    }

    /// Adds the discards before `time` to the capture. How many later ones are known depends on how far the engine has computed ahead.
    pub(crate) fn settle_before(&mut self, time: Time) {
        if let Some(capture) = &mut self.capture {
            capture.settle_before(time);
        }
    }

    /// Measures the packet's connection. Returns the capture, if there is one, and the time of the observation.
    fn see(&mut self, at: Time, of: ObservedPacket<'_>) -> Option<(&mut Capture, Timestamp)> {
        if self.connections.is_none() && self.capture.is_none() {
            return None;
        }
        // In order: a packet written to a host between two readings gets the time of one of them.
        self.latest = self.latest.max(at);
        self.settle_before(self.latest);
        let at = Timestamp(self.origin.0.saturating_add((self.latest.0 / 1000) as i64));
        if let Some(connections) = &mut self.connections {
            let packet = IpPacket { bytes: of.packet, original: Bytes(of.packet.len() as u64), comment: None };
            // Packets other than TCP and UDP are ignored.
            let _ = connections.see(CapturePoint { interface: of.host, ..CapturePoint::default() }, at, &packet);
        }
        self.capture.as_mut().map(|capture| (capture, at))
    }

    /// The TCP connections, as measured at each host.
    pub fn connections(&self) -> Vec<Table> {
        self.connections.as_ref().map(|connections| connections.tables(&self.hosts, self.origin)).unwrap_or_default()
    }

    /// Writes the remaining packets, and returns the problem with the file, if any.
    pub fn finish(&mut self) -> Option<String> {
        self.capture.as_mut().and_then(Capture::finish)
    }
}

/// A packet at a host's device.
#[derive(Clone, Copy)]
pub(crate) struct ObservedPacket<'a> {
    pub(crate) host: u32,
    pub(crate) packet: &'a [u8],
}

/// Packets in order of time. It is not known yet whether a queue will discard a packet in flight, so that the packets after it
/// wait until its fate is known.
struct Capture {
    writer: Option<Writer<BufWriter<File>>>,
    waiting: VecDeque<CaptureEntry>,
    /// Number of packets written.
    written: u64,
    on_their_way: HashMap<PacketKey, u64>,
    /// Discarded packets by the time of discard, until it is reached.
    discards: BTreeMap<Time, Vec<(PacketKey, String)>>,
    problem: Option<String>,
}

struct CaptureEntry {
    at: Timestamp,
    interface: u32,
    bytes: Vec<u8>,
    original: Bytes,
    comment: Option<String>,
    pending: Option<PacketKey>,
}

/// Headers, and part of the payload. Initial packets of QUIC are kept whole, because readers decrypt them to recognise a connection.
const SNAP_LENGTH: usize = 256;

impl CaptureEntry {
    fn of(at: Timestamp, of: ObservedPacket<'_>, pending: Option<PacketKey>) -> CaptureEntry {
        let whole = IpPacket { bytes: of.packet, original: Bytes(of.packet.len() as u64), comment: None };
        let length = if is_quic_initial(&whole) { of.packet.len() } else { of.packet.len().min(SNAP_LENGTH) };
        let bytes = of.packet[..length].to_vec();
        CaptureEntry { at, interface: of.host, bytes, original: Bytes(of.packet.len() as u64), comment: None, pending }
    }
}

impl Capture {
    fn begin(file: &Path, hosts: &[String], comment: &str) -> io::Result<Capture> {
        let section = Section { application: concat!("Tailback ", env!("CARGO_PKG_VERSION")), comment };
        let mut writer = Writer::new(BufWriter::with_capacity(1 << 20, File::create(file)?), &section)?;
        for host in hosts {
            writer.interface(host)?;
        }
        Ok(Capture {
            writer: Some(writer),
            waiting: VecDeque::new(),
            written: 0,
            on_their_way: HashMap::new(),
            discards: BTreeMap::new(),
            problem: None,
        })
    }

    fn note(&mut self, entry: CaptureEntry) {
        if let Some(key) = entry.pending {
            self.on_their_way.insert(key, self.written + self.waiting.len() as u64);
        }
        self.waiting.push_back(entry);
        self.write_known();
    }

    fn settle_before(&mut self, time: Time) {
        while let Some(discards) = self.discards.first_entry().filter(|discards| *discards.key() < time) {
            for (key, comment) in discards.remove() {
                self.settle(key, Some(comment));
            }
        }
    }

    fn settle(&mut self, key: PacketKey, comment: Option<String>) {
        let Some(place) = self.on_their_way.remove(&key) else { return };
        if let Some(entry) = self.waiting.get_mut((place - self.written) as usize) {
            (entry.pending, entry.comment) = (None, comment);
        }
        self.write_known();
    }

    fn write_known(&mut self) {
        while let Some(entry) = self.waiting.front().filter(|entry| entry.pending.is_none()) {
            let CaptureEntry { at, interface, bytes, original, comment, .. } = entry;
            let packet = Captured { interface: *interface, at: *at, bytes, original: *original, comment: comment.as_deref() };
            if let Some(Err(error)) = self.writer.as_mut().map(|writer| writer.packet(&packet)) {
                self.give_up(&error);
            }
            self.waiting.pop_front();
            self.written += 1;
        }
    }

    fn finish(&mut self) -> Option<String> {
        for entry in &mut self.waiting {
            if entry.pending.take().is_some() {
                entry.comment = Some("in flight at the end".into());
            }
        }
        self.write_known();
        if let Some(Err(error)) = self.writer.take().map(Writer::finish) {
            self.give_up(&error);
        }
        self.problem.clone()
    }

    /// The emulation continues without the capture.
    fn give_up(&mut self, error: &io::Error) {
        self.problem = Some(format!("writing the capture failed after {} packets: {error}", self.written));
        self.writer = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::tests::packet;
    use std::net::Ipv4Addr;
    use tailback_capture::{Reader, Record};
    use tailback_core::network::FlowId;

    #[test]
    fn packets_are_written_in_order_once_their_fate_is_known() {
        let folder = std::env::temp_dir().join(format!("tailback-witness-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("capture.pcapng");
        let names = |names: [&str; 2]| names.map(String::from).to_vec();
        let mut observer = PacketObserver::new(names(["left", "right"]), names(["bottleneck", "bottleneck.reverse"]));
        observer.capture_to(&file).unwrap();
        let sent = packet((Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)), 1000, 0);
        let key = |number| PacketKey { flow: FlowId(0), number };
        let of = |host| ObservedPacket { host, packet: &sent };
        for number in 0..3 {
            observer.on_sent(Time(1_000_000 * u64::from(number)), key(number), of(0));
        }
        observer.on_delivered(Time(5_000_000), key(2), of(1));
        observer.on_discarded(Time(2_000_000), key(0), Discard { port: PortId(0), reason: DropReason::Full });
        // One that the engine has computed ahead, beyond the end.
        observer.on_discarded(Time(6_000_000), key(1), Discard { port: PortId(0), reason: DropReason::Full });
        observer.settle_before(Time(6_000_000));
        assert_eq!(observer.finish(), None);
        let mut reader = Reader::open(File::open(&file).unwrap()).unwrap();
        let mut found = Vec::new();
        while let Some(Record::Packet(packet)) = reader.next_record().unwrap() {
            found.push((packet.interface, packet.bytes.len(), packet.at.since(observer.origin).as_nanos()));
        }
        assert_eq!(found, [(0, 256, 0), (0, 256, 1000), (0, 256, 2000), (1, 256, 5000)]);
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(text.contains("discarded at bottleneck: full at 0.000002 s") && text.contains("in flight at the end"));
        assert!(text.contains(
            "Real packets at the devices of an emulation's hosts, truncated to 256 bytes except Initial packets of QUIC."
        ));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn initial_packets_of_quic_are_kept_whole() {
        let mut whole = packet((Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)), 1228, 0);
        let length = |packet: &[u8]| CaptureEntry::of(Timestamp(0), ObservedPacket { host: 0, packet }, None).bytes.len();
        assert_eq!((whole.len(), length(&whole)), (1228, SNAP_LENGTH));
        // UDP, 1200 bytes of payload, a long header of version 1 with a connection id of 8 bytes.
        whole[9] = 17;
        whole[20..28].copy_from_slice(&[0xc0, 0, 1, 0xbb, 0x04, 0xb8, 0, 0]);
        whole[28..34].copy_from_slice(&[0xc0, 0, 0, 0, 1, 8]);
        assert_eq!(length(&whole), 1228);
        // A packet of the handshake.
        whole[28] = 0xe0;
        assert_eq!(length(&whole), SNAP_LENGTH);
    }
}
