//! Flows of web servers at Facebook.

use super::{Sizes, Workload};

pub(super) const WORKLOAD: Workload = Workload {
    name: "facebook_web_server",
    source: "web servers at Facebook within their cluster: Roy and others, \"Inside the social network's (datacenter) network\", SIGCOMM 2015, by the \
             points of Facebook_WebServerDist_IntraCluster.txt in github.com/PlatformLab/HomaSimulation",
    sizes: Sizes::Discrete(POINTS),
};

#[rustfmt::skip]
const POINTS: &[(u64, f64)] = &[
    (84, 0.061), (153, 0.126), (301, 0.215), (500, 0.226), (639, 0.2407), (800, 0.2537), (900, 0.2667), (1000, 0.2926),
    (1085, 0.313), (1357, 0.3352), (1534, 0.35), (1664, 0.3722), (1843, 0.3963), (2000, 0.4093), (3000, 0.4796),
    (4000, 0.5259), (5000, 0.563), (6000, 0.5889), (7000, 0.6111), (8000, 0.626), (9000, 0.6407), (10_000, 0.6519),
    (14_140, 0.6852), (20_000, 0.7148), (24_512, 0.7315), (30_000, 0.7463), (34_660, 0.7574), (40_000, 0.7667),
    (45_171, 0.7759), (50_000, 0.7815), (60_000, 0.7926), (70_000, 0.8), (80_000, 0.8074), (100_000, 0.8148),
    (144_310, 0.8241), (200_000, 0.8574), (260_573, 0.8944), (300_000, 0.9222), (353_730, 0.9556), (400_000, 0.9741),
    (442_606, 0.9833), (565_213, 0.9907), (778_003, 0.9963), (1_000_000, 1.0),
];
