//! Routes of flow groups in both directions: given, mirrored, or found by the scenario's routing.

use super::graph::Graph;
use super::routing::{RouteQuery, Ways};
use super::traffic::Ends;
use crate::flow_table::FlowTable;
use crate::problem::{RepeatedErrors, Report};
use crate::schema::{self, PortName, Routing};
use std::collections::HashSet;
use tailback_core::network::PortId;
use tailback_core::primitives::random::{Entity, Purpose, Stream};

/// The ports of a way, if there is one.
type Found = Option<Vec<PortId>>;

/// Ports there and back.
pub(super) type RoutePair = (Vec<PortId>, Vec<PortId>);

/// The nodes of a group, for messages.
pub(super) fn endpoints(flow: &schema::Flow) -> String {
    match (&flow.from, &flow.to) {
        (Some(from), Some(to)) => format!("from {from} to {to}"),
        _ => "by `traffic`".into(),
    }
}

/// The routes that a scenario gives, there and back.
pub(super) struct Routes<'d> {
    pub forward: Option<&'d [PortName]>,
    pub backward: Option<&'d [PortName]>,
    /// The flow table with the pairs of nodes, if there is one.
    pub table: Option<&'d FlowTable>,
}

/// Seed and name from which the hashes of flows are drawn.
#[derive(Clone, Copy)]
pub(super) struct Hashed<'d> {
    pub seed: u64,
    pub name: &'d str,
}

impl Hashed<'_> {
    /// The journeys there of flows between these nodes, or back.
    fn journeys(self, pairs: &[Ends], towards: Towards) -> Vec<RouteQuery> {
        (0..).zip(pairs).map(|(index, &ends)| self.query(index, ends, towards)).collect()
    }

    /// The journey of one flow.
    pub(super) fn query(self, index: u64, (from, to): Ends, towards: Towards) -> RouteQuery {
        match towards {
            Towards::Sink => RouteQuery { from, to, stream: self.stream(2 * index) },
            Towards::Source => RouteQuery { from: to, to: from, stream: self.stream(2 * index + 1) },
        }
    }

    fn stream(self, index: u64) -> Stream {
        Stream::new(Entity { seed: self.seed, name: self.name, index }, Purpose::Route)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Towards {
    Sink,
    Source,
}

impl Routes<'_> {
    /// As ports: given, or the way back over the same links, or as the scenario's routing has them. Problems are reported at `route` and
    /// `return_route` below `at`.
    pub fn find(&self, pairs: &[Ends], hashed: Hashed, ways: &Ways, at: &str, report: &mut Report) -> Option<Vec<RoutePair>> {
        let graph = ways.graph;
        let &ends = pairs.first()?;
        let mut given = |names: Option<&[PortName]>, ends: Ends, key: &str| {
            names.map(|names| vec![graph.route(names, ends, &format!("{at}.{key}"), report); pairs.len()])
        };
        let forward = given(self.forward, ends, "route");
        let backward = given(self.backward, (ends.1, ends.0), "return_route");
        let there = || hashed.journeys(pairs, Towards::Sink);
        let back = || hashed.journeys(pairs, Towards::Source);
        let (forward, backward) = match (forward, backward) {
            (None, None) if ways.routing == Routing::Ecmp => {
                // Both directions together, so that routes to each node are searched once.
                let mut forward = ways.find(&[there(), back()].concat());
                let backward = forward.split_off(pairs.len());
                (forward, backward)
            }
            (forward, backward) => {
                let forward = forward.unwrap_or_else(|| ways.find(&there()));
                let backward = backward.unwrap_or_else(|| {
                    let mirrored: Vec<Found> =
                        forward.iter().map(|ports| ports.as_ref().and_then(|ports| graph.mirrored(ports))).collect();
                    match mirrored.iter().all(Option::is_some) {
                        true => mirrored,
                        false => {
                            mirrored.into_iter().zip(ways.find(&back())).map(|(mirrored, found)| mirrored.or(found)).collect()
                        }
                    }
                });
                (forward, backward)
            }
        };
        self.report_unreachable(pairs, &forward, &backward, graph, at, report);
        forward.into_iter().zip(backward).map(|(forward, backward)| forward.zip(backward)).collect()
    }

    /// Reports flows without a path. A flow without a forward path is not reported again for the reverse path.
    fn report_unreachable(&self, pairs: &[Ends], there: &[Found], back: &[Found], graph: &Graph, at: &str, report: &mut Report) {
        if !graph.is_complete() || !report.is_valid(at) {
            return;
        }
        let (mut lost, mut faults) = (HashSet::new(), RepeatedErrors::default());
        for (index, (&(source, sink), ways)) in pairs.iter().zip(there.iter().zip(back)).enumerate() {
            let (from, to, column) = match ways {
                (None, _) => (source, sink, "sink"),
                (Some(_), None) => (sink, source, "source"),
                _ => continue,
            };
            if !lost.insert((from, to)) {
                continue;
            }
            report.among(&mut faults, |report| {
                let place = self.table.map_or(String::new(), |table| format!(".traffic.table{}", table.place(column, index)));
                let message = format!("there is no route from `{}` to `{}`", graph.name(from), graph.name(to));
                report.add(format!("{at}{place}"), message).expected("links in that direction; hosts do not forward");
            });
        }
        if let Some(problem) = faults.rest(at, "pairs of nodes", report) {
            problem.expected("a route for each flow");
        }
    }
}
