//! Nodes and links of a generator. Links of one kind share a description.

use crate::link_rate::LinkRate;
use crate::quantity::Duration;
use crate::schema::link::{Link, Reverse};
use crate::schema::node::NodeKind;
use crate::schema::queue::Queue;
use crate::values::{Integer, Name, Word};
use tailback_core::network::Switching;

/// Number of nodes and links of a generator, which may exceed any memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub nodes: u128,
    pub links: u128,
}

/// Settings of all links of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    /// Its ends are placeholders.
    pub link: Link,
    /// Keys of the generator for the queues of both directions.
    pub queues: [&'static str; 2],
    /// The impairments of the reverse link are described by the keys of the link.
    pub is_alike: bool,
}

/// A link between two nodes of the same plan, given by their positions.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub name: Name,
    pub from: usize,
    pub to: usize,
    pub style: usize,
}

/// Planned nodes and links.
#[derive(Default)]
pub(crate) struct Plan {
    pub nodes: Vec<(Name, NodeKind)>,
    pub styles: Vec<Style>,
    pub links: Vec<Planned>,
}

impl Plan {
    /// Adds a router and returns its position.
    pub fn router(&mut self, name: impl Into<String>) -> usize {
        self.node(name, NodeKind::Router)
    }

    /// Adds a host and returns its position.
    pub fn host(&mut self, name: impl Into<String>) -> usize {
        self.node(name, NodeKind::Host)
    }

    fn node(&mut self, name: impl Into<String>, kind: NodeKind) -> usize {
        self.nodes.push((Name::made(name), kind));
        self.nodes.len() - 1
    }

    /// Adds a kind of link and returns its position.
    pub fn style(&mut self, style: Style) -> usize {
        self.styles.push(style);
        self.styles.len() - 1
    }

    pub fn link(&mut self, name: impl Into<String>, (from, to): (usize, usize), style: usize) {
        self.links.push(Planned { name: Name::made(name), from, to, style });
    }

    /// Adds a link that is named by its ends.
    pub fn between(&mut self, (from, to): (usize, usize), style: usize) {
        let name = format!("{}-{}", self.nodes[from].0, self.nodes[to].0);
        self.link(name, (from, to), style);
    }
}

impl Style {
    /// A duplex link with one transmitter, no loss and this queue, which the reverse link has if data cross it.
    pub fn new(rate: impl Into<LinkRate>, delay: Duration, queue: &Queue) -> Style {
        let link = Link {
            rate: rate.into(),
            delay,
            queue: queue.clone(),
            switching: Word(Switching::StoreAndForward),
            transmitters: Integer(1),
            duplex: true,
            ..Link::default()
        };
        Style { link, queues: ["queue", "queue"], is_alike: false }
    }

    /// Sets the queue of the reverse link, described by this key.
    pub fn back(mut self, key: &'static str, queue: &Queue) -> Style {
        self.link.reverse = Some(Reverse { queue: Some(queue.clone()), ..Reverse::default() });
        self.queues[1] = key;
        self
    }
}
