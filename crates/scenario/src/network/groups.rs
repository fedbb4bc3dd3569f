//! Flow groups by name, and the numbers of their flows.

use super::arrivals;
use super::sites::Sites;
use crate::problem::Report;
use crate::schema::{Description, Flow};
use crate::values::Name;
use indexmap::IndexMap;
use std::collections::BTreeSet;
use tailback_core::network::{FlowId, MAX_ACCESS_RATES};

/// Flow groups in the order of the scenario, which is also the order of their flows.
pub(super) struct Groups<'d> {
    /// First flow and number of flows, by name.
    list: IndexMap<&'d str, (FlowId, u32)>,
    /// All names of classes.
    classes: Vec<&'d str>,
    /// Groups that run on a stack.
    on_stacks: BTreeSet<&'d str>,
    /// Groups whose number of flows depends on the seed.
    drawn: BTreeSet<&'d str>,
}

const MAX_FLOWS: u64 = 4_000_000;

/// Maximum number of groups. Each may have two access rates.
const MAX_GROUPS: usize = MAX_ACCESS_RATES / 2;

impl<'d> Groups<'d> {
    /// `None` and an error if there are too many flows.
    pub fn new(description: &'d Description, sites: &Sites, report: &mut Report) -> Option<Groups<'d>> {
        let mut first = 0;
        let groups = description.flows.len();
        if groups > MAX_GROUPS {
            report
                .add("flows", "`flows` has too many groups")
                .given(groups.to_string())
                .expected(format!("at most {MAX_GROUPS}; use `count`"));
            return None;
        }
        let mut list = IndexMap::new();
        let count_of = |(name, flow): (&Name, &Flow)| {
            let sessions = arrivals::count(description, name, flow, sites, MAX_FLOWS as usize + 1);
            sessions.saturating_mul(flow.connections())
        };
        let total = || description.flows.iter().map(count_of).fold(0, u64::saturating_add);
        for (name, flow) in &description.flows {
            let count = count_of((name, flow));
            list.insert(name.as_str(), (FlowId(first as u32), count as u32));
            first = u64::saturating_add(first, count);
            if first > MAX_FLOWS {
                report
                    .add("flows", "the groups of `flows` have too many flows")
                    .given(format!("{} in all", total()))
                    .expected(format!("at most {MAX_FLOWS} in all"));
                return None;
            }
        }
        let named: BTreeSet<&str> = description.flows.values().filter_map(|flow| flow.class.as_ref()).map(Name::as_str).collect();
        let is_on_stack = |flow: &Flow| flow.tcp.as_ref().is_some_and(|tcp| tcp.stack().is_some());
        let on_stacks = description.flows.iter().filter(|(_, flow)| is_on_stack(flow)).map(|(name, _)| name.as_str()).collect();
        let drawn =
            description.flows.iter().filter(|(_, flow)| arrivals::draws_count(flow)).map(|(name, _)| name.as_str()).collect();
        Some(Groups { list, classes: named.into_iter().collect(), on_stacks, drawn })
    }

    /// Total number of flows.
    pub fn total(&self) -> u32 {
        self.list.last().map_or(0, |(_, (first, count))| first.0 + count)
    }

    pub fn names(&self) -> impl Iterator<Item = &'d str> {
        self.list.keys().copied()
    }

    /// The classes of flows. The number of a class is its position plus 1.
    pub fn classes(&self) -> &[&'d str] {
        &self.classes
    }

    /// The number of a class; 0 for no class.
    pub fn class(&self, name: Option<&Name>) -> u32 {
        let place = name.and_then(|name| self.classes.iter().position(|known| *known == name.as_str()));
        place.map_or(0, |place| place as u32 + 1)
    }

    pub fn knows(&self, name: &str) -> bool {
        self.list.contains_key(name)
    }

    /// Whether the flows of a group run on a stack.
    pub fn is_on_stack(&self, name: &str) -> bool {
        self.on_stacks.contains(name)
    }

    /// The flows of a group; unknown names are reported.
    pub fn flows(&self, name: &str, at: &str, report: &mut Report) -> Option<std::ops::Range<FlowId>> {
        let found = self.list.get(name);
        if found.is_none() && report.is_valid(at) {
            report.unknown(at, "flow group", name, self.names());
        }
        found.map(|&(first, count)| first..FlowId(first.0 + count))
    }

    /// One flow of a group; unknown groups and indices are reported.
    pub fn flow(&self, name: &str, index: u64, at: &str, report: &mut Report) -> Option<FlowId> {
        let flows = self.flows(name, at, report)?;
        // Every group has a first flow.
        if index > 0 && self.drawn.contains(name) {
            if report.is_valid(at) {
                let problem = report.add(at, format!("the number of flows of `{name}` depends on the seed"));
                problem.given(index.to_string()).expected(format!("flow 0, or `flows.{name}.count`"));
            }
            return None;
        }
        let count = u64::from(flows.end - flows.start);
        if index >= count && report.is_valid(at) {
            let expected = format!("0 to {}: the group has {count}", count.saturating_sub(1));
            report.add(at, format!("`{name}` has no flow {index}")).given(index.to_string()).expected(expected);
        }
        (index < count).then(|| FlowId(flows.start.0 + index as u32))
    }
}

#[cfg(test)]
mod tests {
    use crate::network::tests::dumbbell;
    use crate::scenario::Scenario;

    #[test]
    fn groups_keep_the_order_of_the_scenario() {
        let group = |name: &str| format!("[flows.{name}]\nfrom = \"left\"\nto = \"right\"\ntcp = {{preset = \"reno\"}}\n");
        let names = ["flow2", "flow10", "a"];
        let network = dumbbell(&names.map(group).concat());
        assert_eq!(network.groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), names);
        assert_eq!(network.flows.iter().map(|flow| flow.group.0).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn draws_of_flows_do_not_depend_on_their_order() {
        let group = |name: &str| {
            format!(
                "[flows.{name}]\nfrom = \"left\"\nto = \"right\"\nstart = {{uniform = [\"0 s\", \"1 s\"]}}\n\
                 tcp = {{preset = \"reno\"}}\n"
            )
        };
        let starts =
            |names: [&str; 2]| dumbbell(&names.map(group).concat()).flows.iter().map(|flow| flow.start).collect::<Vec<_>>();
        let (forth, mut back) = (starts(["web", "bulk"]), starts(["bulk", "web"]));
        assert_ne!(forth, back);
        back.reverse();
        assert_eq!(forth, back);
    }

    #[test]
    fn the_normalised_form_keeps_the_order() {
        let text = "duration = \"1 s\"\n[topology]\ndumbbell = {rate = \"1 Mbps\", delay = \"1 ms\", queue = {buffer = \"9 packets\"}}\n\
                    [flows.z]\nfrom = \"left\"\nto = \"right\"\ntcp = {preset = \"reno\"}\n[flows.a]\nfrom = \"left\"\nto = \"right\"\ntcp = {preset = \"reno\"}\n";
        let scenario = Scenario::from_toml(text, "").expect("a scenario");
        let again = Scenario::from_json(&scenario.to_json(), "").expect("the same");
        assert_eq!(again.to_json(), scenario.to_json());
        assert!(scenario.to_json().find("\"z\"") < scenario.to_json().find("\"a\""));
    }
}
