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
        /// Edge routers `edge1`, `edge2`, ..., each with a link `input1`, `input2`, ... to a switch, and behind it a trunk of wavelength
        /// channels to `far`. With wavelength conversion that is the node `switch` and the link `trunk`, without it `switch1`, `trunk1`,
        /// `switch2`, `trunk2`, ..., one for each wavelength, on which the edge routers are in turn.
        dwdm: Option<Dwdm>,
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

record! {
    /// Edge routers and an optical switch with a trunk of wavelength channels.
    pub struct Dwdm {
        /// Edge routers, and links from them to the switch.
        inputs: Whole<1, 65536>,
        /// Wavelength channels of the trunk.
        transmitters: Whole<1, 65536>,
        /// Bit rate of each input link and of each channel.
        rate: Rate,
        /// Propagation delay of the trunk, one way; input links have none.
        delay: Duration = Duration::new(0),
        /// The queue in front of the trunk: with conversion its places are shared by all channels, without it each has as many.
        queue: Queue,
        /// Whether a packet may leave on any channel, and not only on the wavelength on which it came.
        conversion: bool = true,
        /// The queue of each edge router; unlimited if not given.
        edge_queue: Option<Queue>,
        /// When the switch decides on a packet: at its last bit, or at its first (cut-through).
        switching: Word<Switching> = Word(Switching::StoreAndForward),
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
        let dwdm = self.dwdm.as_ref().map(Dwdm::made);
        [dumbbell, parking_lot, chain, dwdm].into_iter().flatten().collect()
    }
}

impl Dwdm {
    fn made(&self) -> Made {
        // As many switches as there are wavelengths that packets cannot leave.
        let (switches, transmitters) = if self.conversion { (1, self.transmitters.0) } else { (self.transmitters.0, 1) };
        let numbered = |name: &str, number: u64| if self.conversion { name.to_string() } else { format!("{name}{}", number + 1) };
        let trunks = (0..switches).map(|number| {
            let trunk = Link {
                transmitters: Whole(transmitters),
                switching: self.switching,
                ..link(&numbered("switch", number), "far", self.rate, self.delay, &self.queue)
            };
            (Name::made(numbered("trunk", number)), trunk)
        });
        let edge_queue = self.edge_queue.clone().unwrap_or_default();
        let inputs = (0..self.inputs.0).map(|number| {
            let (edge, switch) = (format!("edge{}", number + 1), numbered("switch", number % switches));
            (Name::made(format!("input{}", number + 1)), link(&edge, &switch, self.rate, Duration::new(0), &edge_queue))
        });
        let links: Vec<(Name, Link)> = trunks.chain(inputs).collect();
        let names = links.iter().map(|(_, link)| link.from.clone()).chain([Name::made("far")]);
        Made { by: "topology.dwdm", nodes: names.map(|name| (name, Node::default())).collect(), links }
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

    fn dwdm(inputs: u64, transmitters: u64, conversion: bool) -> Made {
        Dwdm { inputs: Whole(inputs), transmitters: Whole(transmitters), conversion, ..Dwdm::default() }.made()
    }

    fn ends(made: &Made) -> Vec<String> {
        let one = |(name, link): &(Name, Link)| format!("{name}: {} to {}, {}", link.from, link.to, link.transmitters.0);
        made.links.iter().map(one).collect()
    }

    #[test]
    fn with_conversion_inputs_share_a_trunk() {
        let made = dwdm(2, 4, true);
        assert_eq!(ends(&made), ["trunk: switch to far, 4", "input1: edge1 to switch, 1", "input2: edge2 to switch, 1"]);
        assert_eq!(made.nodes.len(), 4);
    }

    #[test]
    fn without_conversion_each_wavelength_is_a_trunk_of_its_own() {
        let made = dwdm(3, 2, false);
        let inputs = ["input1: edge1 to switch1, 1", "input2: edge2 to switch2, 1", "input3: edge3 to switch1, 1"];
        assert_eq!(ends(&made)[2..], inputs);
        assert_eq!(ends(&made)[..2], ["trunk1: switch1 to far, 1", "trunk2: switch2 to far, 1"]);
    }

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
