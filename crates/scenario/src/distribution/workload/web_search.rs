//! A cluster that serves web search.

use super::{Sizes, Workload};

/// Its mean is 1,711,250 bytes.
pub(super) const WORKLOAD: Workload = Workload {
    name: "web_search",
    source: "background and query traffic of a cluster that serves web search: Alizadeh and others, \"Data center TCP (DCTCP)\", SIGCOMM \
             2010, figure 4, by the points that are in use since pFabric (SIGCOMM 2013)",
    sizes: Sizes::Interpolated(&[
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
    ]),
};
