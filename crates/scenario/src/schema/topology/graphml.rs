//! Networks in GraphML (Brandes, Eiglsperger, Herman, Himsolt and Marshall, "GraphML progress report", Graph Drawing 2001), as the Internet
//! Topology Zoo (Knight, Nguyen, Falkner, Bowden and Roughan, IEEE Journal on Selected Areas in Communications 29(9), 2011) uses.
//!
//! Differs: no hyperedges, no nested graphs; ports are ignored.

use super::edge::Edge;
use crate::decode::{Decode, Decoder};
use crate::distribution::csv_column::{bytes_of, unit_of, with_unit};
use crate::problem::Alike;
use crate::quantity::{Duration, Rate};
use crate::values::Name;
use roxmltree::{Document, Node};
use std::collections::{BTreeMap, BTreeSet};

/// Attributes of nodes and edges to read.
pub(super) struct Reading<'a> {
    pub name: Option<&'a str>,
    /// Default: [`RATE`].
    pub rate: Option<&'a str>,
    /// Default: [`DELAY`].
    pub delay: Option<&'a str>,
}

const RATE: &str = "LinkSpeedRaw";
const DELAY: &str = "delay";

/// The edges of a file between different nodes.
#[derive(Default)]
pub(super) struct Edges {
    pub list: Vec<Edge>,
    /// Number of edges from a node to itself, which are left out.
    pub loops: usize,
}

/// Reads the edges of the file, and reports errors with their lines.
pub(super) fn read(file: &str, reading: &Reading, decoder: &mut Decoder) -> Option<Edges> {
    let bytes = bytes_of(file, decoder)?;
    let Ok(text) = std::str::from_utf8(&bytes) else {
        decoder.fault(format!("`{file}` is not text")).given(file).expected("GraphML, encoded as UTF-8");
        return None;
    };
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            decoder.fault(format!("`{file}` cannot be read: {error}")).given(file).expected("GraphML");
            return None;
        }
    };
    let graphs: Vec<Node> = document.descendants().filter(|node| node.has_tag_name_of("graph")).collect();
    let odd = document.descendants().find(|node| node.has_tag_name_of("hyperedge"));
    let [graph] = graphs[..] else {
        let problem =
            decoder.fault(format!("`{file}` does not contain exactly one graph")).given(format!("{} graphs", graphs.len()));
        problem.expected("a file with a single <graph>");
        return None;
    };
    if let Some(odd) = odd {
        let line = document.text_pos_at(odd.range().start).row;
        decoder.fault(format!("line {line} has a <hyperedge>, and a link has two ends")).given(file).expected("edges");
        return None;
    }
    let faults = Faults { document: &document, file, decoder, found: Alike::default() };
    File { graph, keys: keys(&document), reading }.edges(faults)
}

trait Tagged {
    /// Compares the tag without its namespace.
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl Tagged for Node<'_, '_> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

/// Identifiers of the attributes in the file, by element and attribute name.
type Keys<'a> = BTreeMap<(&'a str, &'a str), &'a str>;

fn keys<'a>(document: &'a Document) -> Keys<'a> {
    let declared = document.descendants().filter(|node| node.has_tag_name_of("key"));
    let key = |node: Node<'a, 'a>| Some(((node.attribute("for")?, node.attribute("attr.name")?), node.attribute("id")?));
    declared.filter_map(key).collect()
}

/// Reports the first errors with their lines, and counts the others.
struct Faults<'a, 'd, 'r> {
    document: &'a Document<'a>,
    file: &'a str,
    decoder: &'d mut Decoder<'r>,
    found: Alike,
}

impl Faults<'_, '_, '_> {
    fn at<T>(&mut self, node: Node, tell: impl FnOnce(&mut Decoder) -> Option<T>) -> Option<T> {
        let line = self.document.text_pos_at(node.range().start).row;
        self.decoder.among(&mut self.found, &format!("[{} line {line}]", self.file), tell)
    }

    /// Whether no error was found.
    fn finish(self) -> bool {
        if let Some(problem) = self.decoder.rest(&self.found, "elements") {
            problem.given(self.file).expected("nodes with names, and edges between them");
        }
        !self.found.any()
    }
}

struct File<'a> {
    graph: Node<'a, 'a>,
    keys: Keys<'a>,
    reading: &'a Reading<'a>,
}

impl<'a> File<'a> {
    fn elements(&self, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
        self.graph.children().filter(move |node| node.has_tag_name_of(name))
    }

    /// Value of an attribute of an element.
    fn data(&self, of: Node<'a, 'a>, attribute: &str) -> Option<&'a str> {
        let kind = of.tag_name().name();
        let key =
            *self.keys.iter().find(|((for_what, name), _)| (*for_what == kind || *for_what == "all") && *name == attribute)?.1;
        let data = of.children().find(|node| node.has_tag_name_of("data") && node.attribute("key") == Some(key))?;
        data.text().map(str::trim).filter(|text| !text.is_empty())
    }

    /// The names of the nodes by identifier. A node without the attribute is named by its identifier, and a name that other nodes have
    /// gets a number.
    fn names(&self, faults: &mut Faults) -> BTreeMap<&'a str, Name> {
        let mut names: BTreeMap<&str, Name> = BTreeMap::new();
        let written =
            |node: Node<'a, 'a>, id: &'a str| self.reading.name.and_then(|attribute| self.data(node, attribute)).unwrap_or(id);
        let of_file = self.elements("node").filter_map(|node| Some(plain(written(node, node.attribute("id")?))));
        let mut taken: BTreeSet<String> = BTreeSet::new();
        let all: BTreeSet<String> = of_file.collect();
        for node in self.elements("node") {
            let Some(id) = node.attribute("id").filter(|id| !id.is_empty()) else {
                faults.at(node, |decoder| {
                    decoder.fault("the node has no identifier").expected("<node id=\"...\">");
                    None::<()>
                });
                continue;
            };
            let wanted = plain(written(node, id));
            let numbered = (2..).map(|number| format!("{}_{number}", &wanted[..wanted.len().min(LONGEST - 8)]));
            let mut free = std::iter::once(wanted.clone()).chain(numbered.filter(|name| !all.contains(name)));
            if let Some(name) = free.find(|name| !taken.contains(name)) {
                names.insert(id, Name::made(&name));
                taken.insert(name);
            }
        }
        names
    }

    fn edges(&self, mut faults: Faults) -> Option<Edges> {
        let names = self.names(&mut faults);
        let is_directed = self.graph.attribute("edgedefault") == Some("directed");
        let mut edges = Edges::default();
        for node in self.elements("edge") {
            if node.attribute("source").is_some() && node.attribute("source") == node.attribute("target") {
                edges.loops += 1;
                continue;
            }
            let edge = faults.at(node, |decoder| {
                let mut end = |key: &str| {
                    let id = node.attribute(key).unwrap_or_default();
                    let found = names.get(id).cloned();
                    if found.is_none() {
                        decoder.inside(key, |decoder| decoder.unknown("node", id, &names.keys().copied().collect::<Vec<_>>()));
                    }
                    found
                };
                let (from, to) = (end("source"), end("target"));
                let directed = node.attribute("directed").map_or(is_directed, |word| word == "true");
                let (of_rate, of_delay) = (self.reading.rate.unwrap_or(RATE), self.reading.delay.unwrap_or(DELAY));
                let rate = self.quantity::<Rate>(node, of_rate, unit_of(of_rate).or(Some("bps")), decoder);
                let delay = self.quantity::<Duration>(node, of_delay, unit_of(of_delay), decoder);
                Some(Edge { from: from?, to: to?, name: None, rate: rate?, delay: delay?, duplex: !directed })
            });
            edges.list.extend(edge);
        }
        let Reading { name, rate, delay } = *self.reading;
        let named = [("node", name), ("edge", rate), ("edge", delay)];
        let is_there = named.into_iter().all(|(kind, name)| name.is_none_or(|name| self.has(kind, name, &mut faults)));
        (faults.finish() && is_there).then_some(edges)
    }

    /// Whether at least one of these elements has an attribute that the scenario names.
    fn has(&self, kind: &'static str, attribute: &str, faults: &mut Faults) -> bool {
        let is_there = self.elements(kind).any(|element| self.data(element, attribute).is_some());
        if !is_there {
            let known = self.keys.keys().filter(|(of, _)| *of == kind || *of == "all").map(|(_, name)| *name);
            faults.decoder.fault(format!("no {kind} has `{}`", attribute.escape_debug())).one_of(attribute, known);
        }
        is_there
    }

    /// A quantity of an edge, `Some(None)` if absent. `unit` applies to plain numbers.
    fn quantity<Q: Decode>(
        &self,
        of: Node<'a, 'a>,
        attribute: &str,
        unit: Option<&str>,
        decoder: &mut Decoder,
    ) -> Option<Option<Q>> {
        let Some(text) = self.data(of, attribute) else { return Some(None) };
        // Numbers as programs write them: `1e+10`, `155520000.0`.
        let number = text.parse::<f64>().ok().filter(|number| number.fract() == 0.0 && number.abs() < 1e18);
        let text = number.map_or(text.to_string(), |number| format!("{number:.0}"));
        decoder.inside(attribute, |decoder| Q::decode(&with_unit(text.as_bytes(), unit), decoder)).map(Some)
    }
}

/// Maximum length of a name.
const LONGEST: usize = 64;

/// A valid name for a text: other characters become `_`, and a long text is cut.
fn plain(text: &str) -> String {
    let fits = |(place, letter): (usize, char)| letter.is_ascii_alphanumeric() || letter == '_' || (letter == '-' && place > 0);
    text.trim().chars().take(LONGEST).enumerate().map(|letter| if fits(letter) { letter.1 } else { '_' }).collect()
}
