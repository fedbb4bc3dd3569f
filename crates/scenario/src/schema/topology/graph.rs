//! Any network as a list of its links, which a GraphML file may have.

use super::{Disturbances, Extent, Generator, Plan, Style, graphml};
use crate::decode::{Decode, Decoder};
use crate::problem::{Alike, Report};
use crate::quantity::{Duration, Rate};
use crate::record::record;
use crate::schema::Queue;
use crate::tree;
use crate::values::Name;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// A network by its links. What a file says becomes part of it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct Graph(pub(super) Listed);

record! {
    /// A network by its links.
    pub struct Listed {
        /// A GraphML file beside the scenario's, instead of `links`. Undirected edges are links with a way back.
        graphml: Option<String>,
        /// Of a GraphML file: the attribute of nodes that names them, such as `label`, with `_` for what no name has; their identifiers if not
        /// given.
        name_attribute: Option<String>,
        /// Of a GraphML file: the attribute of edges that is their rate, with a unit, or as a number in bit/s; `LinkSpeedRaw` if not given, as
        /// the Topology Zoo has it.
        rate_attribute: Option<String>,
        /// Of a GraphML file: the attribute of edges that is their delay, with a unit there or in its name, such as `delay_ms`; `delay` if not
        /// given.
        delay_attribute: Option<String>,
        /// Links. The nodes that they name are there.
        links: Vec<Edge> = Vec::new(),
        /// Nodes that only begin and end flows; the others are routers.
        hosts: Vec<Name> = Vec::new(),
        /// Bit rate of links that have none.
        rate: Option<Rate>,
        /// Propagation delay, one way, of links that have none.
        delay: Option<Duration>,
        /// The queue in front of each link, there and back.
        queue: Queue,
    }
    with
    /// What every link does to packets.
    disturbances: Disturbances
}

record! {
    /// A link of a list.
    pub struct Edge {
        /// Node where the link begins.
        from: Name,
        /// Node where it ends.
        to: Name,
        /// Its name; if not given, that of its ends, `FROM-TO`, and of further links between them `FROM-TO_2` and so on.
        name: Option<Name>,
        /// Bit rate.
        rate: Option<Rate>,
        /// Propagation delay, one way.
        delay: Option<Duration>,
        /// Whether there is also a way back.
        duplex: bool = true,
    }
}

impl Decode for Graph {
    fn decode(node: &tree::Node, decoder: &mut Decoder) -> Option<Graph> {
        let mut listed = Listed::decode(node, decoder)?;
        let attributes = [
            ("name_attribute", &listed.name_attribute),
            ("rate_attribute", &listed.rate_attribute),
            ("delay_attribute", &listed.delay_attribute),
        ];
        for (key, _) in attributes.iter().filter(|(_, given)| given.is_some() && listed.graphml.is_none()) {
            decoder.inside(key, |decoder| decoder.fault("only files have attributes").expected("`graphml` with it").line);
        }
        if let Some(file) = listed.graphml.take() {
            if !listed.links.is_empty() {
                decoder
                    .inside("links", |decoder| decoder.fault("the links are those of the GraphML file").expected("either").line);
            }
            let reading = graphml::Reading {
                name: listed.name_attribute.as_deref(),
                rate: listed.rate_attribute.as_deref(),
                delay: listed.delay_attribute.as_deref(),
            };
            listed.links = decoder.inside("graphml", |decoder| graphml::read(&file, &reading, decoder)).unwrap_or_default();
            // They say how a file is read, and that is done.
            (listed.name_attribute, listed.rate_attribute, listed.delay_attribute) = (None, None, None);
        }
        Some(Graph(listed))
    }

    fn expected() -> String {
        Listed::expected()
    }
}

impl JsonSchema for Graph {
    fn schema_name() -> Cow<'static, str> {
        "Graph".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Listed::json_schema(generator)
    }
}

impl Generator for Graph {
    fn extent(&self) -> Extent {
        Extent { nodes: self.nodes().len() as u128, links: self.0.links.len() as u128 }
    }

    fn check(&self, at: &str, report: &mut Report) {
        let Graph(listed) = self;
        if !report.sound(at) {
            return;
        }
        if listed.links.is_empty() {
            report.add(at, "a graph without links").expected("`links`, or a GraphML file with edges");
        }
        let (mut faults, mut names) = (Alike::default(), BTreeSet::new());
        for ((position, edge), name) in listed.links.iter().enumerate().zip(self.names()) {
            let fault = match edge {
                _ if edge.from == edge.to => Some(("a link from a node to itself", "two nodes")),
                Edge { rate: None, .. } if listed.rate.is_none() => {
                    Some(("its rate is not said", "`rate` of the link, or of all that have none"))
                }
                Edge { delay: None, .. } if listed.delay.is_none() => {
                    Some(("its delay is not said", "`delay` of the link, or of all that have none"))
                }
                _ if !names.insert(name.clone()) => Some(("its name is taken", "another `name`")),
                _ => None,
            };
            let Some((message, expected)) = fault else { continue };
            let given = format!("{name}, from {} to {}", edge.from, edge.to);
            report.among(&mut faults, |report| {
                report.add(format!("{at}.links[{position}]"), message).given(given).expected(expected).line
            });
        }
        if let Some(problem) = faults.rest(format!("{at}.links"), "links", report) {
            problem.expected("as above");
        }
        let nodes = self.nodes();
        let mut faults = Alike::default();
        for (position, host) in listed.hosts.iter().enumerate().filter(|(_, host)| !nodes.contains(host)) {
            let at = format!("{at}.hosts[{position}]");
            let known = nodes.iter().map(|name| name.as_str());
            report.among(&mut faults, |report| report.unknown(&at, "node", host.as_str(), known).line);
        }
        if let Some(problem) = faults.rest(format!("{at}.hosts"), "names", report) {
            problem.expected("nodes that links name");
        }
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        vec![("queue", &self.0.queue)]
    }

    fn make(&self, _: u64, plan: &mut Plan) {
        let Graph(listed) = self;
        let hosts: BTreeSet<&Name> = listed.hosts.iter().collect();
        let mut places: BTreeMap<&Name, usize> = BTreeMap::new();
        for name in self.nodes() {
            let place = if hosts.contains(name) { plan.host(name.as_str()) } else { plan.router(name.as_str()) };
            places.insert(name, place);
        }
        let mut styles: BTreeMap<(Rate, Duration, bool), usize> = BTreeMap::new();
        for (edge, name) in listed.links.iter().zip(self.names()) {
            let (rate, delay) = (edge.rate.or(listed.rate), edge.delay.or(listed.delay));
            let (rate, delay) = (rate.unwrap_or_default(), delay.unwrap_or_default());
            let style = *styles.entry((rate, delay, edge.duplex)).or_insert_with(|| {
                let mut style = Style::new(rate, delay, &listed.queue);
                if edge.duplex {
                    style = style.back("queue", &listed.queue);
                }
                style.link.duplex = edge.duplex;
                plan.style(listed.disturbances.of(style))
            });
            plan.link(name.to_string(), (places[&edge.from], places[&edge.to]), style);
        }
    }
}

impl Graph {
    /// Each once.
    fn nodes(&self) -> BTreeSet<&Name> {
        self.0.links.iter().flat_map(|edge| [&edge.from, &edge.to]).collect()
    }

    /// Of the links, in their order.
    fn names(&self) -> Vec<Name> {
        let mut between: BTreeMap<(&Name, &Name), usize> = BTreeMap::new();
        let mut names = Vec::with_capacity(self.0.links.len());
        for Edge { from, to, name, .. } in &self.0.links {
            let number = between.entry((from, to)).and_modify(|number| *number += 1).or_insert(1);
            names.push(match (name, *number) {
                (Some(name), _) => name.clone(),
                (None, 1) => Name::made(format!("{from}-{to}")),
                (None, number) => Name::made(format!("{from}-{to}_{number}")),
            });
        }
        names
    }
}
