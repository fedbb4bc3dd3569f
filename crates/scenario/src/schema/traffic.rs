//! `traffic`: patterns of senders and receivers in a flow group, and `routing`.

use super::nodes::Nodes;
use crate::demand_table::DemandTable;
use crate::flow_table::FlowTable;
use crate::quantity::Rate;
use crate::record::{record, words};
use crate::values::{Integer, Name, Number};
use std::collections::BTreeMap;

words! {
    /// Routing of packets.
    pub enum Routing ("way of routing") {
        /// The path with the smallest delay; among equals the one with the fewest links, then the first by link names.
        Shortest = "shortest",
        /// Equal-cost multipath over the paths with the fewest links, by a hash of the flow at each node (RFC 2992). Data and
        /// acknowledgements are hashed separately.
        Ecmp = "ecmp",
    }
}

record! {
    /// Traffic pattern: exactly one of these keys. Nodes are ordered as listed. Nodes of a prefix such as `host*` are ordered by number.
    pub struct Traffic {
        /// Random permutation without fixed points: flow i starts at node i. After each round a new permutation is drawn.
        permutation: Option<Nodes>,
        /// Each node sends to the node at a fixed offset in the list.
        shift: Option<Shift>,
        /// Each node sends to every other node: first all to the next one, then all to the one after that, and so on.
        all_to_all: Option<Nodes>,
        /// Each flow connects two random nodes.
        random_pairs: Option<Nodes>,
        /// Each flow connects a pair of nodes that is drawn with a probability in proportion to its demand.
        matrix: Option<Matrix>,
        /// Several nodes send to one node.
        incast: Option<Incast>,
        /// Table of flows, from a file or from lists.
        table: Option<FlowTable>,
    }
}

record! {
    /// Traffic matrix: either `table` or `gravity`.
    pub struct Matrix {
        /// Demands of pairs of nodes, from a file or from lists.
        table: Option<DemandTable>,
        /// Gravity model: masses of nodes by name. The demand of a pair is in proportion to the product of both masses (Zhang, Roughan, Duffield and Greenberg, SIGMETRICS 2003).
        gravity: Option<BTreeMap<Name, Number>>; serde_json::json!({"a": 2, "b": 1}),
        /// Sum of all demands, which `arrivals.load` refers to. Default: that of demands with a unit.
        total: Option<Rate>,
    }
}

impl Matrix {
    /// Sum of all demands in bit/s, if it is known.
    pub(crate) fn total_bps(&self) -> Option<f64> {
        let total = self.total.map(|total| crate::quantity::Quantity::base(total) as f64);
        total.or_else(|| self.table.as_ref().and_then(DemandTable::total)).filter(|total| *total > 0.0)
    }
}

record! {
    /// Each node sends to the node at a fixed offset in the list, with wrap-around.
    pub struct Shift {
        /// The nodes.
        nodes: Nodes,
        /// Offset, 1 to the number of nodes minus 1. Default: half the number of nodes, rounded down.
        offset: Option<Integer<1, 3_999_999>>,
    }
}

record! {
    /// Random groups of senders, each with one receiver; the next group has the next receiver.
    pub struct Incast {
        /// The nodes.
        nodes: Nodes,
        /// Number of senders per receiver.
        senders: Integer<1, 3_999_999>,
        /// Receiver, or several nodes from which it is drawn. Default: any node.
        to: Option<Nodes>,
    }
}
