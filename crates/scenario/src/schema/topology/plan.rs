//! What a generator makes: names, ends, and of each kind of link one description for all.

use crate::link_rate::LinkRate;
use crate::quantity::Duration;
use crate::schema::{Link, NodeKind, Queue, Reverse};
use crate::values::{Integer, Name, Word};
use tailback_core::network::Switching;

/// How much a generator makes. Numbers that no memory could hold are counted, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub nodes: u128,
    pub links: u128,
}

/// What links of one kind have in common.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    /// Its ends stand for nothing.
    pub link: Link,
    /// The keys of the generator that describe the queues, there and back.
    pub queues: [&'static str; 2],
    /// What the link does to packets on its way back is described by the keys for the way there.
    pub is_alike: bool,
}

/// A link between two nodes of the same plan, which are given by their positions.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub name: Name,
    pub from: usize,
    pub to: usize,
    pub style: usize,
}

/// Nodes and links to be.
#[derive(Default)]
pub(crate) struct Plan {
    pub nodes: Vec<(Name, NodeKind)>,
    pub styles: Vec<Style>,
    pub links: Vec<Planned>,
}

impl Plan {
    /// Its position.
    pub fn router(&mut self, name: impl Into<String>) -> usize {
        self.node(name, NodeKind::Router)
    }

    /// Its position.
    pub fn host(&mut self, name: impl Into<String>) -> usize {
        self.node(name, NodeKind::Host)
    }

    fn node(&mut self, name: impl Into<String>, kind: NodeKind) -> usize {
        self.nodes.push((Name::made(name), kind));
        self.nodes.len() - 1
    }

    /// Its position.
    pub fn style(&mut self, style: Style) -> usize {
        self.styles.push(style);
        self.styles.len() - 1
    }

    pub fn link(&mut self, name: impl Into<String>, (from, to): (usize, usize), style: usize) {
        self.links.push(Planned { name: Name::made(name), from, to, style });
    }

    /// A link with the name of its ends.
    pub fn between(&mut self, (from, to): (usize, usize), style: usize) {
        let name = format!("{}-{}", self.nodes[from].0, self.nodes[to].0);
        self.link(name, (from, to), style);
    }
}

impl Style {
    /// A duplex link with one transmitter, no loss, this queue there and an unlimited one back.
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

    /// With a queue of its own on the way back, described by this key.
    pub fn back(mut self, key: &'static str, queue: &Queue) -> Style {
        self.link.reverse = Some(Reverse { queue: Some(queue.clone()), ..Reverse::default() });
        self.queues[1] = key;
        self
    }
}
