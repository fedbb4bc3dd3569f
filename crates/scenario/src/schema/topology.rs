//! `[topology]`: common networks in one line. Further nodes, links and flows may join them.

use super::{Link, Loss, Node, Queue};
use crate::quantity::{Duration, Rate};
use crate::record::record;
use crate::values::{Name, Whole, Word};
use tailback_core::network::Switching;

record! {
    /// Common networks; each helper makes its own nodes and links.
    pub struct Topology {
        /// Nodes `left` and `right` and the link `bottleneck` between them.
        dumbbell: Option<Dumbbell>,
        /// Nodes `n0`, `n1`, ... and the links `hop1`, `hop2`, ... between them, all alike.
        parking_lot: Option<ParkingLot>,
        /// Nodes `n0`, `n1`, ... and the links `link1`, `link2`, ... between them, each with its own rate and delay.
        chain: Option<Chain>,
    }
}

record! {
    /// Two routers and a bottleneck.
    pub struct Dumbbell {
        /// Bit rate of the bottleneck.
        rate: Rate,
        /// Its propagation delay, one way.
        delay: Duration,
        /// The queue in front of it.
        queue: Queue,
        /// Packets that it loses.
        loss: Option<Loss>,
    }
}

record! {
    /// Routers in a row, with equal links.
    pub struct ParkingLot {
        /// Links in the row.
        hops: Whole<1, 10000>,
        /// Bit rate of each link.
        rate: Rate,
        /// Propagation delay of each link, one way.
        delay: Duration,
        /// The queue in front of each link.
        queue: Queue,
    }
}

record! {
    /// Routers in a row, each link with its own settings.
    pub struct Chain {
        /// Bit rates, link by link.
        rates: Vec<Rate>,
        /// Propagation delays, link by link; as many as there are rates.
        delays: Vec<Duration>,
        /// The queue in front of each link.
        queue: Queue,
    }
}

/// What a helper makes, with the path of the helper.
pub(crate) struct Made {
    pub by: &'static str,
    pub nodes: Vec<(Name, Node)>,
    pub links: Vec<(Name, Link)>,
}

impl Topology {
    pub(crate) fn made(&self) -> Vec<Made> {
        let dumbbell = self.dumbbell.as_ref().map(|dumbbell| {
            let link =
                Link { loss: dumbbell.loss.clone(), ..link("left", "right", dumbbell.rate, dumbbell.delay, &dumbbell.queue) };
            let nodes = ["left", "right"].map(|name| (Name::made(name), Node::default()));
            Made { by: "topology.dumbbell", nodes: nodes.into(), links: vec![(Name::made("bottleneck"), link)] }
        });
        let parking_lot = self.parking_lot.as_ref().map(|lot| {
            let hops = (0..lot.hops.0).map(|_| (lot.rate, lot.delay));
            row("topology.parking_lot", "hop", hops, &lot.queue)
        });
        let chain = self.chain.as_ref().map(|chain| {
            let links = chain.rates.iter().copied().zip(chain.delays.iter().copied());
            row("topology.chain", "link", links, &chain.queue)
        });
        [dumbbell, parking_lot, chain].into_iter().flatten().collect()
    }
}

fn row(by: &'static str, prefix: &str, links: impl Iterator<Item = (Rate, Duration)>, queue: &Queue) -> Made {
    let links: Vec<(Name, Link)> = links
        .enumerate()
        .map(|(index, (rate, delay))| {
            let link = link(&format!("n{index}"), &format!("n{}", index + 1), rate, delay, queue);
            (Name::made(format!("{prefix}{}", index + 1)), link)
        })
        .collect();
    let nodes = (0..=links.len()).map(|index| (Name::made(format!("n{index}")), Node::default())).collect();
    Made { by, nodes, links }
}

/// A duplex link with one transmitter and no loss.
fn link(from: &str, to: &str, rate: Rate, delay: Duration, queue: &Queue) -> Link {
    Link {
        from: Name::made(from),
        to: Name::made(to),
        rate,
        delay,
        queue: queue.clone(),
        switching: Word(Switching::StoreAndForward),
        transmitters: Whole(1),
        loss: None,
        duplex: true,
        reverse: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parking_lot_has_one_node_more_than_hops() {
        let (rate, delay) = (Rate::new(10_000_000), Duration::new(0));
        let lot = ParkingLot { hops: Whole(3), rate, delay, queue: Queue::default() };
        let made = Topology { parking_lot: Some(lot), ..Topology::default() }.made();
        let names = |names: Vec<&Name>| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        assert_eq!(names(made[0].nodes.iter().map(|(name, _)| name).collect()), ["n0", "n1", "n2", "n3"]);
        assert_eq!(names(made[0].links.iter().map(|(name, _)| name).collect()), ["hop1", "hop2", "hop3"]);
        assert_eq!((made[0].links[2].1.from.as_str(), made[0].links[2].1.to.as_str()), ("n2", "n3"));
    }
}
