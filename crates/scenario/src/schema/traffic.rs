//! Who sends to whom in a flow group: `traffic`, and which way it goes: `routing`.

use super::Nodes;
use crate::flow_table::FlowTable;
use crate::record::{record, words};
use crate::values::Whole;

words! {
    /// Which way packets take.
    pub enum Routing ("way of routing") {
        /// The way of least delay, among equals the one of fewest links, and among those the first by the names of its links.
        Shortest = "shortest",
        /// Of the ways of fewest links, at each node one of the next links by a hash of the flow (RFC 2992); data and acknowledgements
        /// each have their own.
        Ecmp = "ecmp",
    }
}

record! {
    /// Who sends to whom, by exactly one of these patterns. Nodes are counted in the order in which they are named, those of a name such as
    /// `host*` in the order of their numbers.
    pub struct Traffic {
        /// Each of these nodes sends to one other and hears of one other, by chance: flow i begins at node i, and after each has had its
        /// turn another permutation follows.
        permutation: Option<Nodes>,
        /// Each node sends to the one so many places on.
        shift: Option<Shift>,
        /// Each of these nodes sends to each other: all to the next, then all to the one after that, and so on.
        all_to_all: Option<Nodes>,
        /// Each flow runs between two of these nodes, by chance.
        random_pairs: Option<Nodes>,
        /// Several nodes send to one.
        incast: Option<Incast>,
        /// Flows as a file or lists say, one by one.
        table: Option<FlowTable>,
    }
}

record! {
    /// Each node sends to the one so many places on, the last ones to the first.
    pub struct Shift {
        /// The nodes.
        nodes: Nodes,
        /// Places, from 1 to one less than there are nodes; half as many as nodes, rounded down, if not given.
        offset: Option<Whole<1, 3_999_999>>,
    }
}

record! {
    /// So many nodes send to one of them, by chance; the next so many flows to the next one.
    pub struct Incast {
        /// The nodes.
        nodes: Nodes,
        /// How many send at a time.
        senders: Whole<1, 3_999_999>,
        /// The node that they send to, or several of which each time one is drawn; any if not given.
        to: Option<Nodes>,
    }
}
