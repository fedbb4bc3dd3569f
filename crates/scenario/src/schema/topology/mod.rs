//! `[topology]`: generators of common networks, which nodes and links of the scenario extend.
//!
//! Each generator is a file with its settings, which implements [`Generator`], and a line in the list below.

mod distance;
mod disturbances;
mod edge;
mod fabric;
mod generator;
mod gml;
mod graph_file;
mod graphml;
mod plan;
mod xml_cost;

use crate::decode::{Decode, Decoder, Table};
use crate::problem::Report;
use crate::record::{Record, Shape, table};
use crate::tree;
use generator::Described;
pub(crate) use generator::{FlowEnds, Generator};
pub(crate) use plan::{Extent, Plan, Planned, Style};
use schemars::SchemaGenerator;

/// A generator, for interfaces that list them.
pub struct TopologyInfo {
    /// Key in `[topology]`.
    pub name: &'static str,
    /// Name of its table in the JSON Schema.
    pub table: &'static str,
    /// Usual routing of its flows.
    pub routing: &'static str,
    /// Settings of an example as TOML, also for tests that cover all generators.
    pub example: &'static str,
}

/// Declares the generators, each as its module, which is also its key, and its type.
macro_rules! topologies {
    ($($module:ident::$type:ident,)+) => {
        $(mod $module; pub use $module::$type;)+

        /// Generators of common networks. Each creates its own nodes and links.
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        pub struct Topology {
            $(#[serde(skip_serializing_if = "Option::is_none")] pub $module: Option<$type>,)+
        }

        impl Record for Topology {
            fn take(table: &mut Table, decoder: &mut Decoder) -> Topology {
                Topology { $($module: table.field(stringify!($module), None, decoder),)+ }
            }

            fn shapes(generator: &mut SchemaGenerator) -> Vec<Shape> {
                let mut shape = Shape::default();
                $(shape.key::<Option<$type>>(generator, stringify!($module), &[$type::NAMES], None, None);)+
                vec![shape]
            }
        }

        impl Topology {
            /// All generators.
            pub const ALL: &'static [TopologyInfo] = &[$(TopologyInfo {
                name: stringify!($module),
                table: stringify!($type),
                routing: $type::ROUTING,
                example: $type::EXAMPLE,
            },)+];

            /// The given generators, with their paths.
            pub(crate) fn generators(&self) -> Vec<(&'static str, &dyn Generator)> {
                let all: [(&'static str, Option<&dyn Generator>); _] = [
                    $((concat!("topology.", stringify!($module)), self.$module.as_ref().map(|given| given as &dyn Generator)),)+
                ];
                all.into_iter().filter_map(|(at, given)| Some((at, given?))).collect()
            }

            /// Whether a setting of a generator determines its numbers of nodes and links.
            pub(crate) fn is_count(generator: &str, key: &str) -> bool {
                match generator {
                    $(stringify!($module) => $type::COUNTS.contains(&key),)+
                    _ => true,
                }
            }
        }
    };
}

topologies! {
    dumbbell::Dumbbell,
    parking_lot::ParkingLot,
    chain::Chain,
    dwdm::Dwdm,
    fat_tree::FatTree,
    leaf_spine::LeafSpine,
    torus::Torus,
    dragonfly::Dragonfly,
    waxman::Waxman,
    random_regular::RandomRegular,
    graph::Graph,
}

impl Topology {
    /// Usual ends of flows in a topology that is given as JSON: one pattern for both ends, or one for each; none if the first generator has
    /// none. Invalid settings have placeholders here and are errors of the scenario.
    pub fn flow_ends(json: &str) -> Vec<String> {
        let Ok((node, source)) = tree::from_json(json, "") else { return Vec::new() };
        let topology = Topology::decode(&node, &mut Decoder::new(Report::new(&source))).unwrap_or_default();
        match topology.generators().first().and_then(|(_, generator)| generator.flow_ends()) {
            Some(FlowEnds::Between(from, to)) => vec![from, to],
            Some(FlowEnds::Among(nodes)) => vec![nodes.into()],
            None => Vec::new(),
        }
    }
}

table!(Topology, "Generators of common networks. Each creates its own nodes and links.");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use std::collections::BTreeSet;
    use tailback_core::Engine;
    use tailback_core::primitives::units::Time;

    /// The example of a generator as a scenario, with flows between its usual ends.
    fn example(one: &TopologyInfo) -> Scenario {
        let topology = format!("duration = \"20 ms\"\n[topology.{}]\n{}\n", one.name, one.example);
        let read = |text: &str| Scenario::from_toml(text, "").unwrap_or_else(|errors| panic!("{errors}"));
        let table = serde_json::to_string(&read(&format!("{topology}[flows]\n")).description.topology).unwrap();
        let ends = match &Topology::flow_ends(&table)[..] {
            [from, to] => format!("from = \"{from}\"\nto = \"{to}\""),
            [among] => format!("traffic = {{permutation = \"{among}\"}}"),
            _ => "from = \"a\"\nto = \"c\"".into(),
        };
        read(&format!("{topology}[flows.web]\n{ends}\nsize = \"20 kB\"\ntcp = {{preset = \"newreno\"}}\n"))
    }

    #[test]
    fn every_generator_makes_the_network_that_it_announces() {
        for one in Topology::ALL {
            let scenario = example(one);
            let generators = scenario.description.topology.generators();
            let [(at, generator)] = generators.as_slice() else { panic!("one generator") };
            assert_eq!(*at, format!("topology.{}", one.name));
            let mut plan = Plan::default();
            generator.make(&mut plan);
            let extent = generator.extent();
            assert_eq!(extent.nodes, plan.nodes.len() as u128, "{at}");
            assert!(extent.links <= plan.links.len() as u128 && extent.links > 0, "{at}: {extent:?}");
            let names: BTreeSet<_> = plan.nodes.iter().map(|(name, _)| name).collect();
            let links: BTreeSet<_> = plan.links.iter().map(|link| &link.name).collect();
            assert_eq!((names.len(), links.len()), (plan.nodes.len(), plan.links.len()), "{at} uses a name twice");
            assert!(plan.links.iter().all(|link| link.from.max(link.to) < plan.nodes.len() && link.style < plan.styles.len()));
            assert!(scenario.min_bytes() > 0, "{at}");
        }
    }

    #[test]
    fn the_example_of_every_generator_runs_and_is_normalised() {
        for one in Topology::ALL {
            let scenario = example(one);
            let again = Scenario::from_json(&scenario.to_json(), "").unwrap();
            assert_eq!((again.to_json(), again.build().unwrap()), (scenario.to_json(), scenario.build().unwrap()));
            let network = scenario.build().unwrap();
            let end = Time::ZERO + network.duration;
            let mut engine = Engine::new(network);
            engine.run_until(end);
            let sent = engine.results().unwrap().flows.floats("sent_packets").unwrap().iter().sum::<f64>();
            assert!(sent > 0.0, "{}", one.name);
        }
    }
}
