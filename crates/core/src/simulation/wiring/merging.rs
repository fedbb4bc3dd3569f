//! Ports at which several lines merge, so that arrivals must wait for their turn, and ports at which acknowledgements are in order
//! nevertheless.

use super::unit_sizes::{ack_unit, data_unit};
use crate::network::{Aal5, Flow, Group, Network, Transport};
use crate::primitives::ids::PortId;
use crate::primitives::units::{Bytes, Rate, TimeDelta, Units};
use crate::simulation::port::{AckMerge, Entry, Port};
use crate::tcp::TcpSpec;
use std::collections::{BTreeMap, BTreeSet};

/// Find the ports at which acknowledgements can be gathered; see [`AckMerge`].
pub(super) fn mark_gathering_ports(network: &Network, ports: &mut [Port]) {
    #[derive(Clone, Copy)]
    enum Return {
        Unfed,
        OnLink { last_port: PortId, ahead: TimeDelta, min_data_size: Bytes },
        Mixed,
    }
    let mut returns = vec![Return::Unfed; ports.len()];
    for flow in &network.flows {
        returns[network.paths[flow.forward as usize][0]] = Return::Mixed;
        let group = &network.groups[flow.group];
        let prompt = group.ack_cells() == Units(1)
            && group.abr.is_none()
            && matches!(&group.transport, Transport::Tcp(spec, _) if spec.delayed_ack.is_none());
        let (first, last) = (network.paths[flow.backward as usize][0], network.paths[flow.forward as usize].last());
        let back = &mut returns[first];
        *back = match (*back, last, &group.transport) {
            (Return::Unfed, Some(&last_port), Transport::Tcp(spec, _)) if prompt => {
                let min_data_size = min_data_size(flow, group, spec);
                Return::OnLink { last_port, ahead: around_receiver(flow, group, spec, min_data_size), min_data_size }
            }
            (Return::OnLink { last_port, ahead, min_data_size: min }, Some(&last), Transport::Tcp(spec, _))
                if prompt && last == last_port =>
            {
                let data = min_data_size(flow, group, spec);
                let ahead = ahead.min(around_receiver(flow, group, spec, data));
                Return::OnLink { last_port, ahead, min_data_size: min.min(data) }
            }
            _ => Return::Mixed,
        };
    }
    for hop in network.paths.iter().flat_map(|path| path.windows(2)) {
        returns[hop[1]] = Return::Mixed;
    }
    for (index, found) in returns.into_iter().enumerate() {
        let Return::OnLink { last_port, ahead, min_data_size } = found else { continue };
        let port = &network.ports[last_port];
        // The next packet leaves that port at least one service time later, or at the same time on another transmitter.
        let service = if port.transmitters == 1 { port.rate.time_to_send(min_data_size) } else { TimeDelta::ZERO };
        let ahead = service + ahead;
        let ordered = !ports[last_port].departs_by_event() && !ports[index].needs_present();
        if ordered && matches!(ports[index].entry, Entry::ByEvent) {
            ports[index].entry = Entry::Gathered(Box::new(AckMerge::new(ahead)));
        }
    }
}

/// Minimum size of a flow's data packets or cells.
fn min_data_size(flow: &Flow, group: &Group, spec: &TcpSpec) -> Bytes {
    data_unit(flow, group).unwrap_or_else(|| spec.header.max(Bytes(1)))
}

/// Minimum time from the departure of data from the last port's delay line to the arrival of its acknowledgement at the first port of the
/// reverse path: both directions of the receiver's access link.
fn around_receiver(flow: &Flow, group: &Group, spec: &TcpSpec, min_data_size: Bytes) -> TimeDelta {
    let access = flow.receiver_access;
    let ack = ack_unit(group).unwrap_or(spec.ack_size);
    let service = |bytes| access.rate.map_or(TimeDelta::ZERO, |rate| rate.time_to_send(bytes));
    service(min_data_size) + access.delay + service(ack) + access.delay
}

/// Whether each port is fed by several lines, so that an arrival must wait for its turn.
pub(super) fn merging_ports(network: &Network, changing: &BTreeSet<PortId>) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Feeders {
        None,
        One(u64),
        Several,
    }
    let mut fed = vec![Feeders::None; network.ports.len()];
    let mut feed = |port: PortId, feeder: u64| {
        let state = &mut fed[port];
        *state = match *state {
            Feeders::None => Feeders::One(feeder),
            Feeders::One(other) if other == feeder => Feeders::One(feeder),
            _ => Feeders::Several,
        };
    };
    // Feeders: a port by its number; the two access lines of a flow and orderly reverse paths by numbers above all ports.
    let mut orderly: BTreeMap<OrderlyReturn, u64> = BTreeMap::new();
    for (index, flow) in (0..).zip(&network.flows) {
        feed(network.paths[flow.forward as usize][0], (1 << 40) + 2 * index);
        let group = &network.groups[flow.group];
        // Nothing returns from the receiver of datagrams, except RM cells.
        if matches!(group.transport, Transport::Datagram(_)) && group.abr.is_none() {
            continue;
        }
        let back = match OrderlyReturn::of(network, flow, changing) {
            Some(same) => *orderly.entry(same).or_insert((1 << 41) + index),
            None => (1 << 40) + 2 * index + 1,
        };
        feed(network.paths[flow.backward as usize][0], back);
    }
    for hop in network.paths.iter().flat_map(|path| path.windows(2)) {
        feed(hop[1], hop[0].0.into());
    }
    fed.into_iter().map(|state| !matches!(state, Feeders::One(_))).collect()
}

/// Properties that must be equal for the acknowledgements of different flows to reach the reverse path in the order in which their data
/// left the last port. The port there is then fed in order, as if by one line.
///
/// Why it holds: data packets (or cells) leave that port one service time apart. All have the same size, which a SYN has not, and cross an
/// access link that is at least as fast, so none queues there. Each packet is acknowledged at once. Acknowledgements are no larger than data (and take one cell),
/// so none queues on the uplink either. Only acknowledgements return, which excludes flows with the available bit rate service, whose RM
/// cells return too. Every acknowledgement therefore arrives after the same delay from the departure of its data. On links with jitter or
/// duplication, and on ports that follow a delivery trace, data may arrive closer together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct OrderlyReturn {
    last_port: PortId,
    data_size: Bytes,
    ack_size: Bytes,
    rate: Option<Rate>,
    delay: TimeDelta,
    /// Delay of reassembly and of the acknowledgement's segmentation.
    adaptation: TimeDelta,
}

impl OrderlyReturn {
    fn of(network: &Network, flow: &Flow, changing: &BTreeSet<PortId>) -> Option<OrderlyReturn> {
        let group = &network.groups[flow.group];
        let Transport::Tcp(spec, _) = &group.transport else { return None };
        let &last_port = network.paths[flow.forward as usize].last()?;
        let port = &network.ports[last_port];
        let (data_size, access) = (spec.mss + spec.header, flow.receiver_access);
        let holds = flow.size.is_none()
            && !spec.handshake
            && spec.delayed_ack.is_none()
            && group.receive_processing.is_none()
            && group.abr.is_none()
            && spec.ack_size <= data_size
            && group.ack_cells() == Units(1)
            && port.transmitters == 1
            && port.varying.is_none()
            && !port.impairments.disturbs_arrivals()
            && access.rate.is_none_or(|rate| rate >= port.rate)
            && !changing.contains(&last_port);
        holds.then_some(OrderlyReturn {
            last_port,
            data_size,
            ack_size: spec.ack_size,
            rate: access.rate,
            delay: access.delay,
            adaptation: group.framing.map_or(TimeDelta::ZERO, Aal5::delay),
        })
    }
}
