//! Where several lines meet, so that an arrival has to wait for its turn, and where acknowledgements come in order all the same.

use crate::network::{Aal5, Flow, Network, Transport};
use crate::primitives::units::{Bytes, Rate, Span, Units};
use crate::simulation::port::{Entry, Gather, Port};
use std::collections::{BTreeMap, BTreeSet};

/// Find the ports where acknowledgements can be gathered: see [`Gather`].
pub(super) fn gather_returns(network: &Network, ports: &mut [Port]) {
    #[derive(Clone, Copy)]
    enum Return {
        Unfed,
        Behind { last_port: u32, ahead: Span },
        Mixed,
    }
    let mut returns = vec![Return::Unfed; ports.len()];
    for flow in &network.flows {
        returns[network.paths[flow.forward as usize][0] as usize] = Return::Mixed;
        let group = &network.groups[flow.group as usize];
        let prompt =
            group.ack_cells() == Units(1) && matches!(&group.transport, Transport::Tcp(spec, _) if spec.delayed_ack.is_none());
        let (first, last) = (network.paths[flow.backward as usize][0], network.paths[flow.forward as usize].last());
        let back = &mut returns[first as usize];
        *back = match (*back, last) {
            (Return::Unfed, Some(&last_port)) if prompt => Return::Behind { last_port, ahead: flow.receiver_access.delay },
            (Return::Behind { last_port, ahead }, Some(&last)) if prompt && last == last_port => {
                Return::Behind { last_port, ahead: ahead.min(flow.receiver_access.delay) }
            }
            _ => Return::Mixed,
        };
    }
    for hop in network.paths.iter().flat_map(|path| path.windows(2)) {
        returns[hop[1] as usize] = Return::Mixed;
    }
    for (index, found) in returns.into_iter().enumerate() {
        let Return::Behind { last_port, ahead } = found else { continue };
        // There and back over the shortest access link, and the port's own delay line.
        let ahead = network.ports[last_port as usize].delay + ahead + ahead;
        let ordered = ports[last_port as usize].stepped().is_none() && ports[index].stepped().is_none();
        if ordered && matches!(ports[index].entry, Entry::ByEvent) && ahead > Span::ZERO {
            ports[index].entry = Entry::Gathered(Gather::new(ahead));
        }
    }
}

/// Which ports are fed by several lines, so that an arrival has to wait for its turn.
pub(super) fn merging_ports(network: &Network, changing: &BTreeSet<u32>) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Fed {
        Never,
        By(u64),
        BySeveral,
    }
    let mut fed = vec![Fed::Never; network.ports.len()];
    let mut feed = |port: u32, feeder: u64| {
        let state = &mut fed[port as usize];
        *state = match *state {
            Fed::Never => Fed::By(feeder),
            Fed::By(other) if other == feeder => Fed::By(feeder),
            _ => Fed::BySeveral,
        };
    };
    // Feeders: a port by its number, the two access lines of a flow and orderly ways back by numbers above all ports.
    let mut orderly: BTreeMap<OrderlyReturn, u64> = BTreeMap::new();
    for (index, flow) in (0..).zip(&network.flows) {
        feed(network.paths[flow.forward as usize][0], (1 << 40) + 2 * index);
        let back = match OrderlyReturn::of(network, flow, changing) {
            Some(same) => *orderly.entry(same).or_insert((1 << 41) + index),
            None => (1 << 40) + 2 * index + 1,
        };
        feed(network.paths[flow.backward as usize][0], back);
    }
    for hop in network.paths.iter().flat_map(|path| path.windows(2)) {
        feed(hop[1], u64::from(hop[0]));
    }
    fed.into_iter().map(|state| !matches!(state, Fed::By(_))).collect()
}

/// What has to be the same for acknowledgements of different flows to reach the way back in the order in which their data left the
/// last port: then the port there is fed in order, as if by one line.
///
/// Why it holds: data packets (or cells) leave that port one service time apart. All have one size and meet an access link at least as
/// fast, so none waits there; each packet is acknowledged at once; acknowledgements are no larger than data (and take one cell), so
/// none waits on the way up either.
/// So every one of them arrives the same span after the departure of its data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct OrderlyReturn {
    last_port: u32,
    data_size: Bytes,
    ack_size: Bytes,
    rate: Option<Rate>,
    delay: Span,
    /// Of reassembly and of the acknowledgement's segmentation.
    adaptation: Span,
}

impl OrderlyReturn {
    fn of(network: &Network, flow: &Flow, changing: &BTreeSet<u32>) -> Option<OrderlyReturn> {
        let group = &network.groups[flow.group as usize];
        let Transport::Tcp(spec, _) = &group.transport else { return None };
        let &last_port = network.paths[flow.forward as usize].last()?;
        let port = &network.ports[last_port as usize];
        let (data_size, access) = (spec.mss + spec.header, flow.receiver_access);
        let holds = flow.size.is_none()
            && spec.delayed_ack.is_none()
            && group.receive_processing.is_none()
            && spec.ack_size <= data_size
            && group.ack_cells() == Units(1)
            && port.transmitters == 1
            && access.rate.is_none_or(|rate| rate >= port.rate)
            && !changing.contains(&last_port);
        holds.then_some(OrderlyReturn {
            last_port,
            data_size,
            ack_size: spec.ack_size,
            rate: access.rate,
            delay: access.delay,
            adaptation: group.framing.map_or(Span::ZERO, Aal5::delay),
        })
    }
}
