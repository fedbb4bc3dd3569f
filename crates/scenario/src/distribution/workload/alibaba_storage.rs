//! Flows of distributed storage at Alibaba.

use super::{Sizes, Workload};

pub(super) const WORKLOAD: Workload = Workload {
    name: "alibaba_storage",
    source: "distributed storage in production at Alibaba in 2019: AliStorage2019.txt in github.com/alibaba-edu/High-Precision-Congestion-Control, \
             the simulator of HPCC (SIGCOMM 2019)",
    sizes: Sizes::Interpolated(POINTS),
};

#[rustfmt::skip]
const POINTS: &[(u64, f64)] = &[
    (0, 0.0), (4000, 0.2293), (8000, 0.6921), (16_000, 0.8061), (32_000, 0.9047), (64_000, 0.9353), (128_000, 0.9677),
    (256_000, 0.9753), (2_000_000, 1.0),
];
