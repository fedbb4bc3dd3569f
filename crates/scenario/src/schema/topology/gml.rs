//! Networks in GML (Himsolt, "GML: A portable Graph File Format", University of Passau, 1997), as the Internet Topology Zoo and NetworkX
//! write them.
//!
//! Differs: attributes that are lists, such as `graphics`, are ignored.

use super::graph_file::{Element, GraphFile};
use crate::decode::Decoder;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// Reads the nodes and edges of a file.
pub(super) fn read(file: &str, text: &str, decoder: &mut Decoder) -> Option<GraphFile> {
    // Some editors write a byte order mark.
    let mut reader = Reader { characters: text.trim_start_matches('\u{feff}').chars().peekable(), line: 1 };
    let result = reader.file();
    match result {
        Ok(graph) => Some(graph),
        Err(message) => {
            let line = reader.line;
            decoder.fault(format!("`{file}` cannot be read: line {line}: {message}")).given(file).expected("GML");
            None
        }
    }
}

/// Maximum depth of lists.
const DEEPEST: u32 = 64;

struct Reader<'a> {
    characters: Peekable<Chars<'a>>,
    line: u32,
}

/// A value; the content of lists that are neither graphs, nodes nor edges is dropped.
enum Value {
    Text(String),
    List,
}

impl Reader<'_> {
    /// A file has one graph among other keys.
    fn file(&mut self) -> Result<GraphFile, String> {
        let mut graph = None;
        while let Some(key) = self.key()? {
            if key == "graph" {
                if graph.is_some() {
                    return Err("a second graph begins here".into());
                }
                graph = Some(self.graph()?);
            } else {
                self.value(DEEPEST)?;
            }
        }
        graph.ok_or_else(|| "there is no `graph [`".into())
    }

    fn graph(&mut self) -> Result<GraphFile, String> {
        self.open()?;
        let mut graph = GraphFile::default();
        while let Some(key) = self.key_in_list()? {
            match key.as_str() {
                "node" => graph.nodes.push(self.element()?),
                "edge" => graph.edges.push(self.element()?),
                "directed" => graph.is_directed = matches!(self.value(DEEPEST)?, Value::Text(text) if text == "1"),
                _ => _ = self.value(DEEPEST)?,
            }
        }
        let names = |elements: &[Element]| elements.iter().flat_map(|element| element.attributes.keys().cloned()).collect();
        graph.known = [names(&graph.nodes), names(&graph.edges)];
        Ok(graph)
    }

    fn element(&mut self) -> Result<Element, String> {
        let line = self.line;
        self.open()?;
        let mut attributes = BTreeMap::new();
        while let Some(key) = self.key_in_list()? {
            if let Value::Text(text) = self.value(DEEPEST)?
                && !text.is_empty()
            {
                attributes.insert(key, text);
            }
        }
        Ok(Element {
            line,
            id: attributes.get("id").cloned(),
            ends: ["source", "target"].map(|end| attributes.get(end).cloned()),
            directed: None,
            attributes,
        })
    }

    /// The next key, or none at the end of the file.
    fn key(&mut self) -> Result<Option<String>, String> {
        self.skip_space();
        match self.characters.peek() {
            None => Ok(None),
            Some(letter) if letter.is_ascii_alphabetic() || *letter == '_' => {
                Ok(Some(self.word(|letter| letter.is_ascii_alphanumeric() || letter == '_')))
            }
            Some(_) => Err("a key is expected".into()),
        }
    }

    /// The next key, or none at the end of the list, which is consumed.
    fn key_in_list(&mut self) -> Result<Option<String>, String> {
        self.skip_space();
        if self.characters.next_if_eq(&']').is_some() {
            return Ok(None);
        }
        self.key()?.map(Some).ok_or_else(|| "the file ends within a list".into())
    }

    fn open(&mut self) -> Result<(), String> {
        self.skip_space();
        self.characters.next_if_eq(&'[').map(|_| ()).ok_or_else(|| "`[` is expected".into())
    }

    fn value(&mut self, depth: u32) -> Result<Value, String> {
        self.skip_space();
        match self.characters.peek() {
            Some('"') => self.text().map(Value::Text),
            Some('[') if depth == 0 => Err(format!("lists are nested more than {DEEPEST} deep")),
            Some('[') => {
                self.open()?;
                while self.key_in_list()?.is_some() {
                    self.value(depth - 1)?;
                }
                Ok(Value::List)
            }
            Some(letter) if letter.is_ascii_alphanumeric() || "+-.".contains(*letter) => {
                Ok(Value::Text(self.word(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))))
            }
            _ => Err("a value is expected".into()),
        }
    }

    fn text(&mut self) -> Result<String, String> {
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                Some('"') => return Ok(plain(text.trim())),
                Some(letter) => text.push(letter),
                None => return Err("the file ends within a text".into()),
            }
        }
    }

    fn word(&mut self, is_part: impl Fn(char) -> bool) -> String {
        std::iter::from_fn(|| self.characters.next_if(|&letter| is_part(letter))).collect()
    }

    /// Skips white space and comments.
    fn skip_space(&mut self) {
        while let Some(&letter) = self.characters.peek() {
            if letter == '#' {
                while self.characters.next_if(|&letter| letter != '\n').is_some() {}
            } else if !letter.is_whitespace() {
                return;
            } else {
                self.next();
            }
        }
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.characters.next();
        self.line += u32::from(letter == Some('\n'));
        letter
    }
}

/// Texts contain quotation marks and ampersands as in HTML.
fn plain(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&#34;", "\"").replace("&amp;", "&")
}
