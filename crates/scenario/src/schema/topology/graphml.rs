//! Networks in GraphML (Brandes, Eiglsperger, Herman, Himsolt and Marshall, "GraphML progress report", Graph Drawing 2001), as the Internet
//! Topology Zoo (Knight, Nguyen, Falkner, Bowden and Roughan, IEEE Journal on Selected Areas in Communications 29(9), 2011) uses.
//!
//! Differs: no hyperedges, no nested graphs; ports are ignored.

use super::graph_file::{Element, GraphFile};
use super::xml_cost;
use crate::decode::Decoder;
use roxmltree::{Document, Node};
use std::collections::BTreeMap;

/// Reads the nodes and edges of a file.
pub(super) fn read(file: &str, text: &str, decoder: &mut Decoder) -> Option<GraphFile> {
    if let Some((line, bound)) = xml_cost::excess(text) {
        decoder.fault(format!("`{file}` cannot be read: line {line}: {bound}")).given(file).expected("GraphML");
        return None;
    }
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let message = error.to_string().replace(char::is_control, "\u{fffd}");
            decoder.fault(format!("`{file}` cannot be read: {message}")).given(file).expected("GraphML");
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
    let keys = keys(&document);
    let lines = Lines::of(text);
    let known = |kind: &str| keys.values().filter(|key| key.is_of(kind)).map(|key| key.name.to_owned()).collect();
    let elements = |kind: &'static str| {
        graph.children().filter(move |node| node.has_tag_name_of(kind)).map(|node| element(&lines, node, &keys)).collect()
    };
    Some(GraphFile {
        is_directed: graph.attribute("edgedefault") == Some("directed"),
        nodes: elements("node"),
        edges: elements("edge"),
        known: ["node", "edge"].map(known),
    })
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

/// A declared attribute: its name, and the elements that may have it.
struct Key<'a> {
    name: &'a str,
    of: &'a str,
}

impl Key<'_> {
    fn is_of(&self, kind: &str) -> bool {
        self.of == kind || self.of == "all"
    }
}

/// The declared attributes by identifier.
fn keys<'a>(document: &'a Document) -> BTreeMap<&'a str, Key<'a>> {
    let declared = document.descendants().filter(|node| node.has_tag_name_of("key"));
    let key = |node: Node<'a, 'a>| {
        Some((node.attribute("id")?, Key { name: node.attribute("attr.name")?, of: node.attribute("for")? }))
    };
    declared.filter_map(key).collect()
}

/// Places of line ends, because the parser counts lines from the beginning of the file for every question.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        Lines(text.match_indices('\n').map(|(place, _)| place).collect())
    }

    /// The line of this byte, from 1.
    fn at(&self, place: usize) -> u32 {
        1 + self.0.partition_point(|end| *end < place) as u32
    }
}

fn element(lines: &Lines, node: Node, keys: &BTreeMap<&str, Key>) -> Element {
    let data = node.children().filter(|child| child.has_tag_name_of("data"));
    let attribute = |data: Node| {
        let key = keys.get(data.attribute("key")?).filter(|key| key.is_of(node.tag_name().name()))?;
        let text = data.text().map(str::trim).filter(|text| !text.is_empty())?;
        Some((key.name.to_owned(), text.to_owned()))
    };
    Element {
        line: lines.at(node.range().start),
        id: node.attribute("id").map(str::to_owned),
        ends: ["source", "target"].map(|end| node.attribute(end).map(str::to_owned)),
        directed: node.attribute("directed").map(|word| word == "true"),
        attributes: data.filter_map(attribute).collect(),
    }
}
