//! `[topology]`: common networks in one line. Further nodes, links and flows may join them.
//!
//! A generator is a file with its settings, which implements [`Generator`], and a line in the list below.

mod chain;
mod disturbances;
mod dragonfly;
mod dumbbell;
mod dwdm;
mod fabric;
mod fat_tree;
mod graph;
mod graphml;
mod leaf_spine;
mod parking_lot;
mod plan;
mod random_regular;
mod torus;
mod waxman;

use super::Queue;
use crate::problem::Report;
use crate::record::record;
pub use chain::Chain;
pub use disturbances::Disturbances;
pub use dragonfly::Dragonfly;
pub use dumbbell::Dumbbell;
pub use dwdm::Dwdm;
pub use fabric::Fabric;
pub use fat_tree::FatTree;
pub use graph::Graph;
pub use leaf_spine::LeafSpine;
pub use parking_lot::ParkingLot;
pub(crate) use plan::{Extent, Plan, Style};
pub use random_regular::RandomRegular;
pub use torus::Torus;
pub use waxman::Waxman;

/// What makes nodes and links from a few settings.
pub(crate) trait Generator {
    /// What it would make, at least, counted without making it.
    fn extent(&self) -> Extent;

    /// Reports settings that do not go together. `at`: where they stand.
    fn check(&self, _at: &str, _report: &mut Report) {}

    /// Its queues, by the keys that describe them.
    fn queues(&self) -> Vec<(&'static str, &Queue)>;

    /// Makes it. `seed`: of what is drawn.
    fn make(&self, seed: u64, plan: &mut Plan);
}

/// The list of generators, each with its key: a record, and all that are given.
macro_rules! generators {
    ($($(#[doc = $doc:literal])+ $key:ident: $type:ty,)+) => {
        record! {
            /// Common networks; each generator makes its own nodes and links.
            pub struct Topology {
                $($(#[doc = $doc])+ $key: Option<$type>,)+
            }
        }

        impl Topology {
            /// Those that are given, with their paths.
            pub(crate) fn generators(&self) -> Vec<(&'static str, &dyn Generator)> {
                let all: [(&'static str, Option<&dyn Generator>); _] = [
                    $((concat!("topology.", stringify!($key)), self.$key.as_ref().map(|given| given as &dyn Generator)),)+
                ];
                all.into_iter().filter_map(|(at, given)| Some((at, given?))).collect()
            }
        }
    };
}

generators! {
    /// Nodes `left` and `right` and the link `bottleneck` between them.
    dumbbell: Dumbbell,
    /// Nodes `n0`, `n1`, ... and the links `hop1`, `hop2`, ... between them, all alike.
    parking_lot: ParkingLot,
    /// Nodes `n0`, `n1`, ... and the links `link1`, `link2`, ... between them, each with its own rate and delay.
    chain: Chain,
    /// Edge routers `edge1`, `edge2`, ..., each with a link `input1`, `input2`, ... to a switch, and behind it a trunk of wavelength
    /// channels to `far`. With wavelength conversion that is the node `switch` and the link `trunk`, without it `switch1`, `trunk1`,
    /// `switch2`, `trunk2`, ..., one for each wavelength, on which the edge routers are in turn.
    dwdm: Dwdm,
    /// Switches with `k` ports each in `k` pods (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008): `core0`, `core1`, ...; of pod P `aggP_0`,
    /// `aggP_1`, ... and `edgeP_0`, `edgeP_1`, ...; hosts `host0`, `host1`, ..., pod by pod. A link is named by its ends, from above:
    /// `core0-agg1_0`, `agg1_0-edge1_0`, `edge1_0-host4`.
    fat_tree: FatTree,
    /// Switches `leaf0`, `leaf1`, ... with hosts `host0`, `host1`, ..., each leaf with a link to each of the switches `spine0`, `spine1`,
    /// ...: `spine0-leaf1`, `leaf1-host4`.
    leaf_spine: LeafSpine,
    /// Switches in a grid that is closed in each dimension, such as `switch0_2_1`, with links to their neighbours, such as
    /// `switch0_2_1-switch0_2_2`, and with hosts: `switch0_2_1-host9`.
    torus: Torus,
    /// Groups of switches that all know one another, and one link between each two groups (Kim, Dally, Scott and Abts, ISCA 2008): of group G
    /// `switchG_0`, `switchG_1`, ...; links `switch0_0-switch0_1`, `switch0_1-switch3_0`, `switch0_0-host0`.
    dragonfly: Dragonfly,
    /// Routers `router0`, `router1`, ... anywhere in a square, near ones linked more likely (Waxman, IEEE Journal on Selected Areas in
    /// Communications 6(9), 1988): `router0-router7`.
    waxman: Waxman,
    /// Switches `switch0`, `switch1`, ..., each with links to equally many others, which are drawn (Singla, Hong, Popa and Godfrey, NSDI
    /// 2012), and with hosts: `switch0-switch7`, `switch0-host0`.
    random_regular: RandomRegular,
    /// Nodes and links one by one, listed here or in a GraphML file. A link without a name of its own is named by its ends.
    graph: Graph,
}
