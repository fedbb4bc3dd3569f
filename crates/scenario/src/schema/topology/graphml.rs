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
use std::collections::BTreeMap;

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

/// Reads the edges of the file, and reports errors with their lines.
pub(super) fn read(file: &str, reading: &Reading, decoder: &mut Decoder) -> Option<Vec<Edge>> {
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

    fn edges(&self, mut faults: Faults) -> Option<Vec<Edge>> {
        let mut names: BTreeMap<&str, Name> = BTreeMap::new();
        let mut owners: BTreeMap<Name, &str> = BTreeMap::new();
        for node in self.elements("node") {
            faults.at(node, |decoder| {
                let id = node.attribute("id").or_else(|| {
                    decoder.fault("the node has no identifier").expected("<node id=\"...\">");
                    None
                })?;
                let written = match self.reading.name {
                    Some(attribute) => self.data(node, attribute).or_else(|| {
                        decoder
                            .fault(format!("node `{}` has no `{attribute}`", id.escape_debug()))
                            .expected("the attribute in every node");
                        None
                    })?,
                    None => id,
                };
                let Some(name) = Name::of(&plain(written)) else {
                    decoder
                        .fault("the node has an invalid name")
                        .given(written.escape_debug().to_string())
                        .expected(Name::expected());
                    return None;
                };
                if let Some(other) = owners.insert(name.clone(), id) {
                    let given = format!("of `{}` and `{}`", other.escape_debug(), id.escape_debug());
                    decoder.fault(format!("two nodes are called `{name}`")).given(given).expected("different names");
                    return None;
                }
                names.insert(id, name);
                Some(())
            });
        }
        let is_directed = self.graph.attribute("edgedefault") == Some("directed");
        let mut edges = Vec::new();
        for node in self.elements("edge") {
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
            edges.extend(edge);
        }
        let is_there =
            [self.reading.rate, self.reading.delay].into_iter().flatten().all(|attribute| self.has(attribute, &mut faults));
        (faults.finish() && is_there).then_some(edges)
    }

    /// Whether at least one edge has an attribute that the scenario names.
    fn has(&self, attribute: &str, faults: &mut Faults) -> bool {
        let is_there = self.elements("edge").any(|edge| self.data(edge, attribute).is_some());
        if !is_there {
            let known = self.keys.keys().filter(|(of, _)| *of == "edge" || *of == "all").map(|(_, name)| *name);
            faults.decoder.fault(format!("no edge has `{}`", attribute.escape_debug())).one_of(attribute, known);
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

/// Replaces characters that are invalid in names by `_`.
fn plain(text: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    text.trim().chars().map(|letter| if fits(letter) { letter } else { '_' }).collect()
}
