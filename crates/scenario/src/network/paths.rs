//! Distinct paths of all flows.

use crate::problem::Report;
use std::collections::HashMap;
use tailback_core::network::{MAX_ROUTE_ENTRIES, PortId};

/// Distinct paths.
#[derive(Default)]
pub(super) struct Paths {
    pub list: Vec<Vec<PortId>>,
    index: HashMap<Vec<PortId>, u32>,
}

impl Paths {
    /// The index of a path, which is added if it is new.
    pub fn of(&mut self, ports: Vec<PortId>) -> u32 {
        if let Some(&index) = self.index.get(&ports) {
            return index;
        }
        let index = self.list.len() as u32;
        self.list.push(ports.clone());
        self.index.insert(ports, index);
        index
    }

    /// Maximum total length of all paths: packets store their position in a list of all paths.
    pub fn check(&self, report: &mut Report) {
        let entries: usize = self.list.iter().map(|path| path.len() + 1).sum();
        if entries > MAX_ROUTE_ENTRIES {
            let problem = report.add("links", "`flows` has too many distinct routes");
            problem
                .given(format!("{entries} links in all distinct routes"))
                .expected(format!("at most {MAX_ROUTE_ENTRIES}"))
                .hint("use fewer flows, shorter routes, or `routing = \"shortest\"`, with which flows share routes");
        }
    }
}
