//! Conditions for flows with cells and the links they cross.

use super::changes::Changes;
use super::graph::Graph;
use super::routes::RoutePair;
use crate::problem::Report;
use crate::schema::Framing;
use crate::values::Name;
use std::collections::{BTreeMap, BTreeSet};
use tailback_core::network::{Aal5, Buffer, CELL_BYTES, Group, Impairments, PortId, Transport};
use tailback_core::primitives::units::Bytes;
use tailback_core::queue::PolicySpec;
use tailback_core::traffic::PacketSize;

/// Converts the framing for the core.
pub(super) fn framing(framing: &Framing, at: &str, report: &mut Report) -> Option<Aal5> {
    let trailer = framing.trailer.bytes();
    if trailer > MAX_TRAILER {
        let problem = report.add(format!("{at}.trailer"), "`trailer` is out of range");
        problem.given(framing.trailer.to_string()).expected(format!("0 B to {MAX_TRAILER} B; AAL5 has 8 B"));
        return None;
    }
    Some(Aal5 {
        overhead: Bytes(trailer + if framing.llc_snap { LLC_SNAP } else { 0 }),
        segmentation: framing.segmentation_delay.time_delta(),
        reassembly: framing.reassembly_delay.time_delta(),
    })
}

/// Maximum trailer, more than any adaptation layer adds.
const MAX_TRAILER: u64 = 64;

/// RFC 2684 section 5.1: LLC, OUI and PID.
const LLC_SNAP: u64 = 8;

/// A flow group and the ports that its flows cross.
pub(super) struct Crossing<'d> {
    pub name: &'d Name,
    pub group: Group,
    /// Distinct forward and backward paths.
    pub ways: Vec<RoutePair>,
    /// It has `framing`, which may be invalid.
    pub framed: bool,
    /// The timeline changes its route.
    pub rerouted: bool,
}

/// Reports conflicts. `groups` is the number of flow groups, including groups without a known crossing.
pub(super) fn check(crossings: &[Crossing], groups: usize, (graph, changes): (&Graph, &Changes), report: &mut Report) {
    let in_cells: Vec<&Crossing> = crossings.iter().filter(|crossing| crossing.framed).collect();
    for crossing in &in_cells {
        check_alone(crossing, graph, changes, report);
    }
    check_buffers(crossings, graph, report);
    in_cells.iter().for_each(|crossing| check_order(crossing, graph, report));
    let mut carriers: BTreeMap<PortId, &Name> = BTreeMap::new();
    for crossing in in_cells {
        carriers.extend(crossing.ports().map(|port| (port, crossing.name)));
    }
    if crossings.iter().map(|crossing| crossing.name).collect::<BTreeSet<&Name>>().len() == groups {
        check_policies(&carriers, graph, report);
    }
    for crossing in crossings.iter().filter(|crossing| !crossing.framed) {
        let Some((port, other)) = crossing.ports().find_map(|port| Some((port, carriers.get(&port)?))) else { continue };
        let at = format!("flows.{}", crossing.name);
        if report.is_valid(&at) {
            let link = &graph.ports[port].name;
            let problem = report.add(at, format!("`framing` differs between flows that share `{link}`"));
            problem.given(format!("packets of `{}` and cells of `{other}`", crossing.name));
            problem.expected("`framing` for all flows that share a link, or for none");
        }
    }
}

impl Crossing<'_> {
    fn ports(&self) -> impl Iterator<Item = PortId> {
        self.ways.iter().flat_map(|(forward, backward)| forward.iter().chain(backward)).copied()
    }
}

/// A virtual channel delivers its cells in order and once (ITU-T I.150), and has no MTU: packets become cells before it.
fn check_order(crossing: &Crossing, graph: &Graph, report: &mut Report) {
    for id in crossing.ports().collect::<BTreeSet<PortId>>() {
        let port = &graph.ports[id];
        let Impairments { duplication, mtu, .. } = port.impairments;
        for (key, is_given) in
            [("duplication", duplication > 0.0), ("jitter.reordering", port.impairments.reorders()), ("mtu", mtu.is_some())]
        {
            let at = format!("{}.{key}", graph.place(id));
            if is_given && report.is_valid(&at) {
                let problem = report.add(at, format!("`{key}` cannot be used on `{}`, which carries cells", port.name));
                problem.given(format!("cells of `{}`", crossing.name)).expected(format!("no `{key}`, or no `framing`"));
            }
        }
    }
}

fn check_alone(crossing: &Crossing, graph: &Graph, changes: &Changes, report: &mut Report) {
    let Crossing { name, group, ways, rerouted, .. } = crossing;
    let at = format!("flows.{name}.framing");
    let Some(framing) = group.framing.filter(|_| report.is_valid(&at)) else { return };
    if *rerouted {
        report
            .add(&at, "`framing` does not allow a change of route")
            .given("a new route in `timeline`")
            .expected("no `framing`, or no change of route");
    }
    let shared = |(forward, backward): &RoutePair| forward.iter().find(|port| backward.contains(port)).copied();
    if let Some(port) = ways.iter().find_map(shared) {
        let message =
            format!("`framing` needs other links for acknowledgements, which share `{}` with data", graph.ports[port].name);
        report.add(&at, message).expected("a `return_route` over other links");
    }
    let ecn_at = format!("flows.{name}.tcp.ecn");
    if matches!(&group.transport, Transport::Tcp(spec, _) if spec.ecn) && report.is_valid(&ecn_at) {
        report
            .add(ecn_at, "`ecn` cannot be used with `framing`: cells carry no ECN marks")
            .given("true")
            .expected("false, or no `framing`");
    }
    let largest = largest_packet(&group.transport);
    if largest + framing.overhead > Aal5::MAX_FRAME {
        let problem = report.add(&at, "`framing` creates frames larger than AAL5 allows");
        problem
            .given(format!("packets of up to {} B", largest.0))
            .expected(format!("at most {} B with trailer", Aal5::MAX_FRAME.0));
        return;
    }
    // Only some random sizes may be too large.
    let Some(packet) = group.transport.full_packet() else { return };
    let cells = framing.cells(packet).0;
    let crossed: BTreeSet<PortId> = ways.iter().flat_map(|(forward, _)| forward).copied().collect();
    for port in crossed {
        let buffers = changes.buffers(port);
        let port = &graph.ports[port];
        let of_buffer = |buffer| match buffer {
            Buffer::Units(cells) => cells,
            Buffer::Bytes(bytes) => bytes / CELL_BYTES.0,
            Buffer::Unlimited => u64::MAX,
        };
        let (at_first, later) = (of_buffer(port.buffer), buffers.map(of_buffer).min().unwrap_or(u64::MAX));
        let (places, whose) = if later < at_first { (later, " that `timeline` gives") } else { (at_first, " of") };
        if cells > places {
            let problem = report.add(&at, format!("`framing` creates frames larger than the buffer{whose} `{}`", port.name));
            problem.given(format!("frames of {cells} cells, a buffer of {places} cells"));
            problem.expected(format!("smaller packets, or at least {cells} cells"));
        }
    }
}

/// Policies that discard frames, count cells per VC or allocate rates require VCs.
fn check_policies(carriers: &BTreeMap<PortId, &Name>, graph: &Graph, report: &mut Report) {
    for (id, port) in PortId::enumerate(&graph.ports).filter(|(id, _)| !carriers.contains_key(id)) {
        let Some(of_vcs) =
            port.policies().find(|policy| policy.discards_frames() || policy.writes_explicit_rate()).and_then(PolicySpec::name)
        else {
            continue;
        };
        let (_, queue) = graph.buffer_as_written(id);
        // Other errors of the queue are reported first.
        if report.is_valid(queue) {
            let problem = report
                .add(format!("{queue}.policy"), format!("`policy` requires virtual channels, and none crosses `{}`", port.name));
            problem.given(of_vcs).expected("a flow group with `framing` whose route crosses it, or a policy for packets");
        }
    }
}

/// Packet size with headers.
fn largest_packet(transport: &Transport) -> Bytes {
    match transport {
        Transport::Tcp(spec, _) => (spec.mss + spec.header).max(spec.ack_size),
        Transport::Datagram(spec) => {
            spec.header
                + match spec.packet {
                    PacketSize::Fixed(bytes) => bytes,
                    PacketSize::Exponential { maximum, .. } | PacketSize::Given { maximum } => maximum,
                }
        }
    }
}

/// The unit of a buffer must match its content, packets or cells.
fn check_buffers(crossings: &[Crossing], graph: &Graph, report: &mut Report) {
    let mut users: Vec<Option<&Crossing>> = vec![None; graph.ports.len()];
    for crossing in crossings {
        crossing.ports().for_each(|port| users[port] = Some(crossing));
    }
    for (id, crossing) in PortId::enumerate(&users).filter_map(|(id, user)| Some((id, (*user)?))) {
        let (buffer, at) = graph.buffer_as_written(id);
        let fits = if crossing.framed { !buffer.is_in_packets() } else { !buffer.is_in_cells() };
        let at = format!("{at}.buffer");
        if !fits && report.is_valid(&at) {
            let (held, expected) = if buffer.is_in_packets() { ("cells", "`1200 cells`") } else { ("packets", "`100 packets`") };
            let has = if crossing.framed { "has `framing`" } else { "has no `framing`" };
            let problem = report.add(at, format!("`buffer` must be in {held}: `{}` {has}", crossing.name));
            problem.given(buffer.to_string()).expected(format!("a buffer such as {expected}"));
        }
    }
}
