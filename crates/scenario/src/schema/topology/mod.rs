//! `[topology]`: generators of common networks, which nodes and links of the scenario extend.
//!
//! Each generator has a file with its settings, which implements [`Generator`], and an entry in the list below.

mod chain;
mod disturbances;
mod dragonfly;
mod dumbbell;
mod dwdm;
mod edge;
mod fabric;
mod fat_tree;
mod generator;
mod graph;
mod graphml;
mod leaf_spine;
mod parking_lot;
mod plan;
mod random_regular;
mod torus;
mod waxman;

use crate::record::record;
pub use chain::Chain;
pub use dragonfly::Dragonfly;
pub use dumbbell::Dumbbell;
pub use dwdm::Dwdm;
pub use fat_tree::FatTree;
pub(crate) use generator::Generator;
pub use graph::Graph;
pub use leaf_spine::LeafSpine;
pub use parking_lot::ParkingLot;
pub(crate) use plan::{Extent, Plan, Style};
pub use random_regular::RandomRegular;
pub use torus::Torus;
pub use waxman::Waxman;

/// Declares the generators, each with its key.
macro_rules! generators {
    ($($(#[doc = $doc:literal])+ $key:ident: $type:ty,)+) => {
        record! {
            /// Generators of common networks. Each creates its own nodes and links.
            pub struct Topology {
                $($(#[doc = $doc])+ $key: Option<$type>,)+
            }
        }

        impl Topology {
            /// The given generators, with their paths.
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
    /// Nodes `n0`, `n1`, ... in a row, with equal links `hop1`, `hop2`, ...
    parking_lot: ParkingLot,
    /// Nodes `n0`, `n1`, ... in a row, with links `link1`, `link2`, ..., each with its own rate and delay.
    chain: Chain,
    /// Edge routers `edge1`, `edge2`, ... with links `input1`, `input2`, ... to an optical switch, and a trunk of wavelength channels
    /// to `far`. With wavelength conversion there are one `switch` and one `trunk`; otherwise `switch1`, `trunk1`, `switch2`, ...,
    /// one per wavelength, to which edge routers are assigned in turn.
    dwdm: Dwdm,
    /// Switches with `k` ports each in `k` pods (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008): `core0`, `core1`, ...; in pod P `aggP_0`,
    /// `aggP_1`, ... and `edgeP_0`, `edgeP_1`, ...; hosts `host0`, `host1`, ... Links are named by their ends, from the top:
    /// `core0-agg1_0`, `agg1_0-edge1_0`, `edge1_0-host4`.
    fat_tree: FatTree,
    /// Switches `leaf0`, `leaf1`, ... with hosts `host0`, `host1`, ..., and a link from each leaf to each of the switches `spine0`,
    /// `spine1`, ...: `spine0-leaf1`, `leaf1-host4`.
    leaf_spine: LeafSpine,
    /// Switches in a grid with wrap-around in each dimension, such as `switch0_2_1`, with links to their neighbours, such as
    /// `switch0_2_1-switch0_2_2`, and to hosts: `switch0_2_1-host9`.
    torus: Torus,
    /// Fully connected groups of switches, with one link between every two groups (Kim, Dally, Scott and Abts, ISCA 2008): in group G
    /// `switchG_0`, `switchG_1`, ...; links `switch0_0-switch0_1`, `switch0_1-switch3_0`, `switch0_0-host0`.
    dragonfly: Dragonfly,
    /// Routers `router0`, `router1`, ... at random places of a square, with random links that favour short distances (Waxman, IEEE Journal on Selected Areas in
    /// Communications 6(9), 1988): `router0-router7`.
    waxman: Waxman,
    /// Switches `switch0`, `switch1`, ... in a random regular graph (Singla, Hong, Popa and Godfrey, NSDI 2012), with hosts:
    /// `switch0-switch7`, `switch0-host0`.
    random_regular: RandomRegular,
    /// Nodes and links from a list or a GraphML file. A link without a name is named by its ends.
    graph: Graph,
}
