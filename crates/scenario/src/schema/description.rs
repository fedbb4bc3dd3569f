//! The scenario as a whole.

use super::application::{Application, UserClient};
use super::controller::UserLaw;
use super::flow::Flow;
use super::link::Link;
use super::node::Node;
use super::nodes::Nodes;
use super::policy::{Policy, UserPolicy};
use super::prices::Prices;
use super::recording::Record;
use super::scheduling::Class;
use super::source::UserSource;
use super::stack::FlowTcp;
use super::timeline::Event;
use super::topology::{FlowEnds, Topology};
use super::traffic::Routing;
use crate::distribution::{Distribution, Transfer};
use crate::member::Member;
use crate::problem::Report;
use crate::quantity::Duration;
use crate::record::record;
use crate::user_code::code;
use crate::values::{Integer, Name};
use indexmap::IndexMap;
use std::collections::BTreeMap;
use tailback_core::network::CodeKind;
use tailback_core::user_code::UserCode;

record! {
    /// A network, its flows, and the recordings. Times, rates and sizes are text with a unit, such as `10 ms`, `75 Mbps`, `50 kB`.
    pub struct Description {
        /// Title of the scenario.
        name: String = String::new(),
        /// Simulated time.
        duration: Duration,
        /// Time from which results count.
        warmup: Duration = Duration::new(0),
        /// Seed of all random streams.
        seed: Integer<0, 9007199254740991> = Integer(1),
        /// Generators of common networks.
        topology: Topology = Topology::default(),
        /// Nodes by name.
        nodes: BTreeMap<Name, Node> = BTreeMap::new(),
        /// Links by name.
        links: BTreeMap<Name, Link> = BTreeMap::new(),
        /// Routing of flows without `route`.
        routing: Routing = Routing::Shortest,
        /// Encoding of congestion prices.
        prices: Option<Prices>,
        /// Flow groups by name, in the order of all result tables.
        flows: IndexMap<Name, Flow> = IndexMap::new(),
        /// Changes during the run.
        timeline: Vec<Event> = Vec::new(),
        /// Recordings in addition to the counters.
        record: Record = Record::default(),
    }
}

impl Description {
    /// Moves sizes and starts of tables to their groups.
    pub(crate) fn settle_flow_tables(&mut self, report: &mut Report) {
        for (name, flow) in &mut self.flows {
            let Some(table) = flow.traffic.as_mut().and_then(|traffic| traffic.table.as_mut()) else { continue };
            let (size, start) = (table.columns.size.take(), table.columns.start.take());
            let is_twice = [
                ("size", size.is_some() && flow.size.is_some()),
                ("start", start.is_some() && flow.start != Distribution::default()),
            ];
            for (key, _) in is_twice.iter().filter(|(_, is_twice)| *is_twice) {
                let problem = report.add(format!("flows.{name}.{key}"), format!("`{key}` is also a column of the flow table"));
                problem.expected(format!("either that column or `{key}`"));
            }
            if let Some(sizes) = size {
                flow.size = Some(Distribution::List(sizes.into_iter().map(|Transfer(size)| size).collect()));
            }
            if let Some(starts) = start {
                flow.start = Distribution::List(starts);
            }
        }
    }

    /// Fills in the ends of flow groups that leave them out: the ends of the only generator, if that has two.
    pub(crate) fn settle_flow_ends(&mut self) {
        let generators = self.topology.generators();
        let [(_, generator)] = generators.as_slice() else { return };
        let Some(FlowEnds::Between(first, last)) = generator.flow_ends() else { return };
        let (first, last) = (Nodes::one(&Name::made(first)), Nodes::one(&Name::made(last)));
        let across =
            |other: &Nodes, usual: &Nodes, otherwise: &Nodes| if other == usual { otherwise.clone() } else { usual.clone() };
        for flow in self.flows.values_mut().filter(|flow| flow.traffic.is_none()) {
            let from = flow.from.get_or_insert_with(|| flow.to.as_ref().map_or(first.clone(), |to| across(to, &first, &last)));
            flow.to.get_or_insert_with(|| across(from, &last, &first));
        }
    }

    /// The user code of a scenario, in the order of its parts.
    pub(crate) fn user_code(&self) -> Vec<(CodeKind, UserCode)> {
        let generators = self.topology.generators().into_iter();
        let made = generators.flat_map(|(at, generator)| {
            generator.queues().into_iter().map(move |(key, queue)| (format!("{at}.{key}"), Some(queue)))
        });
        let links = self.links.iter().flat_map(|(name, link)| {
            let back = link.reverse.as_ref().and_then(|reverse| reverse.queue.as_ref());
            [(format!("links.{name}.queue"), Some(&link.queue)), (format!("links.{name}.reverse.queue"), back)]
        });
        let policies = made.chain(links).filter_map(|(at, queue)| Some((at, queue?))).flat_map(|(at, queue)| {
            let of_class = |(index, class): (usize, Class)| (format!("{at}.classes[{index}]"), class.policy);
            let of_classes: Vec<(String, Policy)> =
                queue.classes.clone().into_iter().flatten().enumerate().map(of_class).collect();
            if of_classes.is_empty() { vec![(at, queue.policy.clone())] } else { of_classes }
        });
        let policies = policies.filter_map(|(at, policy)| match &policy {
            Member::User(UserPolicy { policy, parameters }) => Some((CodeKind::Policy, code(policy, parameters, at))),
            _ => None,
        });
        let senders = self.flows.iter().filter_map(|(name, flow)| {
            let law = flow.tcp.as_ref().and_then(|tcp| tcp.simulated()?.controller.as_ref()).map(|controller| &controller.0);
            match (law, flow.source.as_ref().map(|source| &source.arrivals)) {
                (Some(Member::User(UserLaw { kind, parameters })), _) => {
                    Some((CodeKind::Controller, code(kind, parameters, format!("flows.{name}.tcp.controller"))))
                }
                (_, Some(Member::User(UserSource { kind, parameters }))) => {
                    Some((CodeKind::Source, code(kind, parameters, format!("flows.{name}.source"))))
                }
                _ => None,
            }
        });
        let applications = self.flows.iter().filter_map(|(name, flow)| match &flow.application {
            Some(Application::User(UserClient { kind, parameters, .. })) => {
                Some((CodeKind::Application, code(kind, parameters, format!("flows.{name}.application"))))
            }
            _ => None,
        });
        let hosts = self
            .flows
            .iter()
            .filter_map(|(name, flow)| Some(flow.tcp.as_ref().and_then(FlowTcp::stack)?.code(format!("flows.{name}.tcp"))));
        policies.chain(senders).chain(applications).chain(hosts).collect()
    }
}
