//! The interface of a generator.

use super::plan::{Extent, Plan};
use crate::problem::Report;
use crate::schema::queue::Queue;

/// Constants of a generator, for its documentation and for tests.
pub(crate) trait Described {
    /// Names of the nodes and links.
    const NAMES: &'static str;
    /// Settings that determine the numbers of nodes and links.
    const COUNTS: &'static [&'static str];
    /// Settings of an example as TOML.
    const EXAMPLE: &'static str;
    /// Usual routing of flows.
    const ROUTING: &'static str = "shortest";
}

/// Generates nodes and links from a few settings.
pub(crate) trait Generator {
    /// Minimum number of nodes and links, computed without creating them.
    fn extent(&self) -> Extent;

    /// Usual ends of flows; `None` if the network has none.
    fn flow_ends(&self) -> Option<FlowEnds>;

    /// Reports conflicts of settings; `at` is the path of the generator.
    fn check(&self, _at: &str, _report: &mut Report) {}

    /// The queues, by their keys.
    fn queues(&self) -> Vec<(&'static str, &Queue)>;

    /// Adds the nodes and links to the plan.
    fn make(&self, plan: &mut Plan);
}

/// Usual ends of flows, as names or patterns.
pub(crate) enum FlowEnds {
    Between(String, String),
    /// Any two of these nodes.
    Among(&'static str),
}

impl FlowEnds {
    pub(super) fn between(from: impl Into<String>, to: impl Into<String>) -> Option<FlowEnds> {
        Some(FlowEnds::Between(from.into(), to.into()))
    }

    /// Between all hosts, or all switches if there are no hosts.
    pub(super) fn among_hosts(hosts: u64) -> Option<FlowEnds> {
        Some(FlowEnds::Among(if hosts == 0 { "switch*" } else { "host*" }))
    }
}
