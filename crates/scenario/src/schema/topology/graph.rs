//! Any network as a list of links, or from a file in GraphML or GML.

use super::disturbances::Disturbances;
use super::edge::Edge;
use super::generator::{Described, Generator};
use super::graph_file::{Edges, Reading};
use super::plan::{Extent, Plan, Style};
use super::{gml, graphml};
use crate::decode::{Decode, Decoder};
use crate::distribution::csv_column::bytes_of;
use crate::problem::{RepeatedErrors, Report};
use crate::quantity::{Duration, Rate};
use crate::record::record;
use crate::schema::queue::Queue;
use crate::tree;
use crate::values::Name;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// A network as a list of links. The content of a file becomes part of the scenario.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct Graph(pub(super) Listed, #[serde(skip)] SkippedLoops);

/// Number of edges of a file that join a node with itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct SkippedLoops(usize);

record! {
    /// A network as a list of links.
    pub struct Listed {
        /// GraphML file, relative to the scenario's directory, instead of `links`. Undirected edges become duplex links.
        graphml: Option<String>,
        /// The same for a file in GML.
        gml: Option<String>,
        /// Files only: node attribute for the names, such as `label`; invalid characters become `_`, and further nodes of a name get `_2` and so on. Default: the node identifiers.
        name_attribute: Option<String>,
        /// Files only: edge attribute for the rate, with a unit or as a number in bit/s. Default: `LinkSpeedRaw`, as in the Topology Zoo.
        rate_attribute: Option<String>,
        /// Files only: edge attribute for the delay, with a unit in the value or in its name, such as `delay_ms`. Default: `delay`.
        delay_attribute: Option<String>,
        /// Files only: edge attribute for the length, such as `dist` of TopoHub, for edges without a delay. A number is in kilometres, or in the unit of the attribute's name, such as `length_m`; text has a unit (`m`, `km` or `mi`). Default: none.
        distance_attribute: Option<String>,
        /// Files only: delay per kilometre; light in fibre takes `4.9 us`, the default with `distance_attribute`. Without that attribute it applies to the great-circle distance of edges without a delay whose ends have coordinates in degrees: `Latitude` and `Longitude`, `latitude` and `longitude`, or `lat` and `lon`, `long` or `lng`. Default: none.
        delay_per_km: Option<Duration>,
        /// Links. The nodes that they name are created.
        links: Vec<Edge> = Vec::new(),
        /// Nodes that are hosts, in addition to nodes of a file with the attribute `kind` = `host`. The other nodes are routers.
        hosts: Vec<Name> = Vec::new(),
        /// Default bit rate of links.
        rate: Option<Rate>,
        /// Default one-way propagation delay of links.
        delay: Option<Duration>,
        /// Queue of each link, in both directions.
        queue: Queue,
    }
    with
    /// Impairments of every link.
    disturbances: Disturbances
}

impl Decode for Graph {
    fn decode(node: &tree::Node, decoder: &mut Decoder) -> Option<Graph> {
        let mut listed = Listed::decode(node, decoder)?;
        let mut loops = SkippedLoops::default();
        let of_files = [
            ("name_attribute", listed.name_attribute.is_some()),
            ("rate_attribute", listed.rate_attribute.is_some()),
            ("delay_attribute", listed.delay_attribute.is_some()),
            ("distance_attribute", listed.distance_attribute.is_some()),
            ("delay_per_km", listed.delay_per_km.is_some()),
        ];
        let file = match (listed.graphml.take(), listed.gml.take()) {
            (Some(_), Some(_)) => {
                decoder.inside("gml", |decoder| {
                    _ = decoder.wrong("cannot be used with `graphml`").expected("either `graphml` or `gml`")
                });
                return None;
            }
            (Some(file), None) => Some(("graphml", file)),
            (None, file) => file.map(|file| ("gml", file)),
        };
        for (key, _) in of_files.iter().filter(|(_, is_given)| *is_given && file.is_none()) {
            decoder.inside(key, |decoder| _ = decoder.wrong("requires `graphml` or `gml`").expected("also a file"));
        }
        if let Some((key, file)) = file {
            if !listed.links.is_empty() {
                decoder.inside("links", |decoder| {
                    _ = decoder.wrong(format!("cannot be used with `{key}`")).expected("either `links` or a file")
                });
            }
            let reading = Reading {
                name: listed.name_attribute.as_deref(),
                rate: listed.rate_attribute.as_deref(),
                delay: listed.delay_attribute.as_deref(),
                distance: listed.distance_attribute.as_deref(),
                delay_per_km: listed.delay_per_km,
            };
            let edges = decoder.inside(key, |decoder| read(key, &file, &reading, decoder)).unwrap_or_default();
            (listed.links, loops) = (edges.list, SkippedLoops(edges.loops));
            let others: Vec<Name> = edges.hosts.into_iter().filter(|host| !listed.hosts.contains(host)).collect();
            listed.hosts.extend(others);
            // They apply to a file, which has been read.
            (listed.name_attribute, listed.rate_attribute, listed.delay_attribute) = (None, None, None);
            (listed.distance_attribute, listed.delay_per_km) = (None, None);
        }
        Some(Graph(listed, loops))
    }

    fn expected() -> String {
        Listed::expected()
    }
}

/// Reads the edges of a file, and reports errors with their lines.
fn read(format: &str, file: &str, reading: &Reading, decoder: &mut Decoder) -> Option<Edges> {
    let bytes = bytes_of(file, decoder)?;
    let Ok(text) = std::str::from_utf8(&bytes) else {
        decoder.fault(format!("`{file}` is not text")).given(file).expected("a graph, encoded as UTF-8");
        return None;
    };
    let graph = if format == "gml" { gml::read(file, text, decoder) } else { graphml::read(file, text, decoder) };
    graph?.links(file, reading, decoder)
}

impl JsonSchema for Graph {
    fn schema_name() -> Cow<'static, str> {
        "Graph".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Listed::json_schema(generator)
    }
}

impl Described for Graph {
    const NAMES: &str = "Nodes and links from a list or a file in GraphML or GML. A link without a name is named by its ends.";
    const COUNTS: &[&str] = &["links", "hosts", "graphml", "gml"];
    const EXAMPLE: &str = "links = [{from = \"a\", to = \"b\"}, {from = \"b\", to = \"c\"}]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\nqueue = {buffer = \"20 packets\"}";
}

impl Generator for Graph {
    fn extent(&self) -> Extent {
        Extent { nodes: self.nodes().len() as u128, links: self.0.links.len() as u128 }
    }

    fn check(&self, at: &str, report: &mut Report) {
        let Graph(listed, SkippedLoops(loops)) = self;
        if !report.is_valid(at) {
            return;
        }
        if *loops > 0 {
            let problem = report.warn(at.to_owned(), "the file has edges from a node to itself, which are left out");
            problem.given(format!("{loops} such edges")).expected("edges between different nodes");
        }
        if listed.links.is_empty() {
            report.add(at, "`graph` has no links").expected("`links`, or a file with edges");
        }
        let (mut faults, mut names) = (RepeatedErrors::default(), BTreeSet::new());
        for ((position, edge), name) in listed.links.iter().enumerate().zip(self.names()) {
            let fault = match edge {
                _ if edge.from == edge.to => Some(("`from` and `to` are the same node", "two nodes")),
                Edge { rate: None, .. } if listed.rate.is_none() => {
                    Some(("`rate` is missing", "`rate` of the link, or a default `rate` of the graph"))
                }
                Edge { delay: None, .. } if listed.delay.is_none() => Some((
                    "`delay` is missing",
                    "`delay` of the link, a default `delay` of the graph, or `distance_attribute` or `delay_per_km` for a file with lengths or coordinates",
                )),
                _ if !names.insert(name.clone()) => Some(("`name` is used twice", "another `name`")),
                _ => None,
            };
            let Some((message, expected)) = fault else { continue };
            let given = format!("{name}, from {} to {}", edge.from, edge.to);
            report.among(&mut faults, |report| {
                report.add(format!("{at}.links[{position}]"), message).given(given).expected(expected);
            });
        }
        if let Some(problem) = faults.rest(format!("{at}.links"), "links", report) {
            problem.expected("links between two nodes, each with a rate, a delay and a unique name");
        }
        let nodes = self.nodes();
        let mut faults = RepeatedErrors::default();
        for (position, host) in listed.hosts.iter().enumerate().filter(|(_, host)| !nodes.contains(host)) {
            let at = format!("{at}.hosts[{position}]");
            let known = nodes.iter().map(|name| name.as_str());
            report.among(&mut faults, |report| _ = report.unknown(&at, "node", host.as_str(), known));
        }
        if let Some(problem) = faults.rest(format!("{at}.hosts"), "names", report) {
            problem.expected("nodes that links name");
        }
    }

    fn flow_ends(&self) -> Option<super::generator::FlowEnds> {
        None
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        vec![("queue", &self.0.queue)]
    }

    fn make(&self, plan: &mut Plan) {
        let Graph(listed, _) = self;
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
    /// Names of the nodes, without duplicates.
    fn nodes(&self) -> BTreeSet<&Name> {
        self.0.links.iter().flat_map(|edge| [&edge.from, &edge.to]).collect()
    }

    /// Names of the links, in their order.
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
