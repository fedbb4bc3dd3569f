//! Nodes and edges of a file in a graph format, and the links that they describe.

use super::distance::{Coordinates, coordinate_names, great_circle_km, kilometres};
use super::edge::Edge;
use crate::decode::{Decode, Decoder};
use crate::distribution::csv_column::{unit_of, with_unit};
use crate::problem::RepeatedErrors;
use crate::quantity::{Duration, Rate};
use crate::values::Name;
use std::collections::{BTreeMap, BTreeSet};

/// Attributes of nodes and edges to read.
pub(super) struct Reading<'a> {
    pub name: Option<&'a str>,
    /// Default: [`RATE`].
    pub rate: Option<&'a str>,
    /// Default: [`DELAY`].
    pub delay: Option<&'a str>,
    /// Length of edges without a delay. Default: the great-circle distance of their ends.
    pub distance: Option<&'a str>,
    /// Delay per kilometre of edges without a delay.
    pub delay_per_km: Option<Duration>,
}

const RATE: &str = "LinkSpeedRaw";
const DELAY: &str = "delay";
/// Marks nodes that are hosts, as in `Scenario.to_networkx` and `from_networkx`.
const HOST: (&str, &str) = ("kind", "host");
/// Of light in fibre.
const DELAY_PER_KM: Duration = Duration::new(4_900_000);

/// The content of a file.
#[derive(Default)]
pub(super) struct GraphFile {
    pub is_directed: bool,
    pub nodes: Vec<Element>,
    pub edges: Vec<Element>,
    /// Names of attributes, by kind of element, for messages.
    pub known: [BTreeSet<String>; 2],
}

/// A node, or an edge.
#[derive(Default)]
pub(super) struct Element {
    pub line: u32,
    /// Identifier of a node.
    pub id: Option<String>,
    /// Identifiers of the ends of an edge.
    pub ends: [Option<String>; 2],
    pub directed: Option<bool>,
    pub attributes: BTreeMap<String, String>,
}

#[derive(Clone, Copy)]
enum Kind {
    Node,
    Edge,
}

/// The edges of a file between different nodes.
#[derive(Default)]
pub(super) struct Edges {
    pub list: Vec<Edge>,
    /// Their ends that are hosts.
    pub hosts: Vec<Name>,
    /// Number of edges from a node to itself, which are left out.
    pub loops: usize,
}

/// Reports the first errors with their lines, and counts the others.
struct Faults<'a, 'd, 'r> {
    file: &'a str,
    decoder: &'d mut Decoder<'r>,
    found: RepeatedErrors,
}

impl Faults<'_, '_, '_> {
    fn at<T>(&mut self, element: &Element, tell: impl FnOnce(&mut Decoder) -> Option<T>) -> Option<T> {
        self.decoder.among(&mut self.found, &format!("[{} line {}]", self.file, element.line), tell)
    }

    /// Whether no error was found.
    fn finish(self) -> bool {
        if let Some(problem) = self.decoder.rest(&self.found, "elements") {
            problem.given(self.file).expected("nodes with names, and edges between them");
        }
        !self.found.any()
    }
}

/// A node.
struct Place {
    name: Name,
    is_host: bool,
    coordinates: Option<Coordinates>,
}

impl GraphFile {
    /// The edges, with errors reported at their lines.
    pub(super) fn links(&self, file: &str, reading: &Reading, decoder: &mut Decoder) -> Option<Edges> {
        let mut faults = Faults { file, decoder, found: RepeatedErrors::default() };
        let places = self.places(reading, &mut faults);
        let mut edges = Edges::default();
        for element in &self.edges {
            let [source, target] = &element.ends;
            if source.is_some() && source == target {
                edges.loops += 1;
                continue;
            }
            edges.list.extend(faults.at(element, |decoder| self.link(element, &places, reading, decoder)));
        }
        let ends: BTreeSet<&Name> = edges.list.iter().flat_map(|edge| [&edge.from, &edge.to]).collect();
        let hosts = places.values().filter(|place| place.is_host && ends.contains(&place.name));
        edges.hosts = hosts.map(|place| place.name.clone()).collect();
        let named =
            [(Kind::Node, reading.name), (Kind::Edge, reading.rate), (Kind::Edge, reading.delay), (Kind::Edge, reading.distance)];
        let needs_coordinates = reading.delay_per_km.is_some() && reading.distance.is_none();
        let of_nodes = |name: &str| self.nodes.iter().any(|node| node.attributes.contains_key(name));
        let coordinates = coordinate_names(of_nodes).map(|name| (Kind::Node, Some(name).filter(|_| needs_coordinates)));
        let mut all = named.into_iter().chain(coordinates);
        let is_there = all.all(|(kind, name)| name.is_none_or(|name| self.has(kind, name, &mut faults)));
        (faults.finish() && is_there).then_some(edges)
    }

    fn link(&self, element: &Element, places: &BTreeMap<&str, Place>, reading: &Reading, decoder: &mut Decoder) -> Option<Edge> {
        let mut end = |key: &str, id: &Option<String>| {
            let id = id.as_deref().unwrap_or_default();
            let found = places.get(id);
            if found.is_none() {
                decoder.inside(key, |decoder| decoder.unknown_of_many("node", id, places.keys().copied()));
            }
            found
        };
        let [source, target] = &element.ends;
        let (from, to) = (end("source", source), end("target", target));
        let (of_rate, of_delay) = (reading.rate.unwrap_or(RATE), reading.delay.unwrap_or(DELAY));
        let rate = quantity::<Rate>(element, of_rate, unit_of(of_rate).or(Some("bps")), decoder);
        let delay = quantity::<Duration>(element, of_delay, unit_of(of_delay), decoder);
        let (from, to) = (from?, to?);
        let of_distance = match reading.distance {
            Some(attribute) => {
                length(element, attribute, decoder)?.map(|km| reading.delay_per_km.unwrap_or(DELAY_PER_KM).times(km))
            }
            None => from
                .coordinates
                .zip(to.coordinates)
                .zip(reading.delay_per_km)
                .map(|((from, to), per_km)| per_km.times(great_circle_km(from, to))),
        };
        Some(Edge {
            from: from.name.clone(),
            to: to.name.clone(),
            name: None,
            rate: rate?,
            delay: delay?.or(of_distance),
            duplex: !element.directed.unwrap_or(self.is_directed),
        })
    }

    /// The nodes by identifier. A node without the attribute is named by its identifier, and a name that other nodes have gets a number.
    fn places(&self, reading: &Reading, faults: &mut Faults) -> BTreeMap<&str, Place> {
        let mut places: BTreeMap<&str, Place> = BTreeMap::new();
        let written = |node: &Element, id: &str| {
            plain(reading.name.and_then(|attribute| node.attributes.get(attribute)).map_or(id, String::as_str))
        };
        let mut taken: BTreeSet<String> = BTreeSet::new();
        // The number of the last node of each name.
        let mut last: BTreeMap<String, u64> = BTreeMap::new();
        let all: BTreeSet<String> = self.nodes.iter().filter_map(|node| Some(written(node, node.id.as_deref()?))).collect();
        for node in &self.nodes {
            let Some(id) = node.id.as_deref().filter(|id| !id.is_empty()) else {
                faults.at(node, |decoder| {
                    decoder.fault("the node has no identifier").expected("an `id`");
                    None::<()>
                });
                continue;
            };
            let wanted = written(node, id);
            let stem = &wanted[..wanted.len().min(LONGEST - 8)];
            let first = last.get(stem).copied().unwrap_or(1) + 1;
            let numbered = (first..).map(|number| (number, format!("{stem}_{number}")));
            let numbered = numbered.filter(|(_, name)| !all.contains(name));
            let mut free = std::iter::once((0, wanted.clone())).chain(numbered);
            if let Some((number, name)) = free.find(|(_, name)| !taken.contains(name)) {
                if number > 0 {
                    last.insert(stem.to_owned(), number);
                }
                let coordinates = Coordinates::of(|name| node.attributes.get(name).map(String::as_str));
                let is_host = node.attributes.get(HOST.0).is_some_and(|kind| kind == HOST.1);
                places.insert(id, Place { name: Name::made(&name), is_host, coordinates });
                taken.insert(name);
            }
        }
        places
    }

    /// Whether at least one element has an attribute that the scenario names.
    fn has(&self, kind: Kind, attribute: &str, faults: &mut Faults) -> bool {
        let (elements, known, word) = match kind {
            Kind::Node => (&self.nodes, &self.known[0], "node"),
            Kind::Edge => (&self.edges, &self.known[1], "edge"),
        };
        let is_there = elements.iter().any(|element| element.attributes.contains_key(attribute));
        if !is_there {
            let known = known.iter().map(String::as_str);
            faults.decoder.fault(format!("no {word} has `{}`", attribute.escape_debug())).one_of(attribute, known);
        }
        is_there
    }
}

/// A quantity of an edge, `Some(None)` if absent. `unit` applies to plain numbers.
fn quantity<Q: Decode>(of: &Element, attribute: &str, unit: Option<&str>, decoder: &mut Decoder) -> Option<Option<Q>> {
    let Some(text) = of.attributes.get(attribute) else { return Some(None) };
    // Numbers as programs write them: `1e+10`, `155520000.0`.
    let number = text.parse::<f64>().ok().filter(|number| number.fract() == 0.0 && number.abs() < 1e18);
    let text = number.map_or(text.clone(), |number| format!("{number:.0}"));
    decoder.inside(attribute, |decoder| Q::decode(&with_unit(text.as_bytes(), unit), decoder)).map(Some)
}

/// The length of an edge in kilometres, `Some(None)` if absent.
fn length(of: &Element, attribute: &str, decoder: &mut Decoder) -> Option<Option<f64>> {
    let Some(text) = of.attributes.get(attribute) else { return Some(None) };
    let found = kilometres(text, attribute);
    if found.is_none() {
        decoder.inside(attribute, |decoder| {
            let problem = decoder.fault("the length is not a distance").given(text.escape_debug().to_string());
            problem.expected("a number of kilometres from 0 to 1000000, or one with a unit (`m`, `km` or `mi`)");
        });
    }
    found.map(Some)
}

/// Maximum length of a name.
const LONGEST: usize = 64;

/// A valid name for a text: other characters become `_`, and a long text is cut.
fn plain(text: &str) -> String {
    let fits = |(place, letter): (usize, char)| letter.is_ascii_alphanumeric() || letter == '_' || (letter == '-' && place > 0);
    text.trim().chars().take(LONGEST).enumerate().map(|letter| if fits(letter) { letter.1 } else { '_' }).collect()
}
