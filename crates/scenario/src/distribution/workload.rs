//! Published distributions of transfer sizes in data centres.

/// A published cumulative distribution of sizes in bytes, with linear interpolation.
#[derive(Debug, PartialEq)]
pub struct Workload {
    pub name: &'static str,
    /// The measurement and its publication.
    pub source: &'static str,
    pub(crate) points: &'static [(u64, f64)],
}

/// All workloads.
pub static WORKLOADS: [Workload; 2] = [WEB_SEARCH, DATA_MINING];

/// Its mean is 1,711,250 bytes.
const WEB_SEARCH: Workload = Workload {
    name: "web_search",
    source: "background and query traffic of a cluster that serves web search: Alizadeh and others, \"Data center TCP (DCTCP)\", SIGCOMM \
             2010, figure 4, by the points that are in use since pFabric (SIGCOMM 2013)",
    points: &[
        (0, 0.0),
        (10_000, 0.15),
        (20_000, 0.2),
        (30_000, 0.3),
        (50_000, 0.4),
        (80_000, 0.53),
        (200_000, 0.6),
        (1_000_000, 0.7),
        (2_000_000, 0.8),
        (5_000_000, 0.9),
        (10_000_000, 0.97),
        (30_000_000, 1.0),
    ],
};

/// A packet of the points that pFabric gives for it. In these units the mean is 5117.
const PACKET: u64 = 1460;

const DATA_MINING: Workload = Workload {
    name: "data_mining",
    source: "a cluster that mines data: Greenberg and others, \"VL2: a scalable and flexible data center network\", SIGCOMM 2009, by the \
             points that are in use since pFabric (SIGCOMM 2013), in packets of 1460 bytes",
    points: &[
        (PACKET, 0.5),
        (2 * PACKET, 0.6),
        (3 * PACKET, 0.7),
        (7 * PACKET, 0.8),
        (267 * PACKET, 0.9),
        (2107 * PACKET, 0.95),
        (66_667 * PACKET, 0.99),
        (666_667 * PACKET, 1.0),
    ],
};
