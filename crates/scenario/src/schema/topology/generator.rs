//! The interface of a generator.

use super::plan::{Extent, Plan};
use crate::problem::Report;
use crate::schema::queue::Queue;

/// Generates nodes and links from a few settings.
pub(crate) trait Generator {
    /// Minimum number of nodes and links, computed without creating them.
    fn extent(&self) -> Extent;

    /// Reports conflicts of settings; `at` is the path of the generator.
    fn check(&self, _at: &str, _report: &mut Report) {}

    /// The queues, by their keys.
    fn queues(&self) -> Vec<(&'static str, &Queue)>;

    /// Adds the nodes and links to the plan; `seed` is for random topologies.
    fn make(&self, seed: u64, plan: &mut Plan);
}
