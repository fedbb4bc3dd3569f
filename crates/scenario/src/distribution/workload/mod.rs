//! Published distributions of transfer sizes in data centres, one file each.

/// A published cumulative distribution of sizes.
#[derive(Debug, PartialEq)]
pub struct Workload {
    pub name: &'static str,
    /// The measurement and its publication.
    pub source: &'static str,
    sizes: Sizes,
}

/// Sizes in bytes with their cumulative shares, both ascending, up to a share of 1.
#[derive(Debug, PartialEq)]
enum Sizes {
    /// With linear interpolation between the points. The first size has the probability of its share.
    Interpolated(&'static [(u64, f64)]),
    /// Only these sizes.
    Discrete(&'static [(u64, f64)]),
}

macro_rules! workloads {
    ($($name:ident),*) => {
        $(mod $name;)*

        /// All workloads.
        pub static WORKLOADS: &[Workload] = &[$($name::WORKLOAD),*];
    };
}

workloads!(
    web_search,
    data_mining,
    facebook_hadoop,
    facebook_web_server,
    facebook_cache_follower,
    facebook_key_value,
    google_search_rpc,
    google_all_rpc,
    alibaba_storage
);

impl Workload {
    /// The size up to which flows have this share.
    pub(super) fn quantile(&self, share: f64) -> u64 {
        match self.sizes {
            Sizes::Interpolated(points) => super::inverse(points.iter().copied(), share),
            Sizes::Discrete(points) => {
                points.iter().find(|(_, up_to)| share < *up_to).or(points.last()).map_or(0, |(size, _)| *size)
            }
        }
    }

    /// Mean size in bytes.
    pub(super) fn mean(&self) -> f64 {
        match self.sizes {
            Sizes::Interpolated(points) => super::mean_of(points.iter().copied()),
            Sizes::Discrete(points) => {
                let before = std::iter::once(0.0).chain(points.iter().map(|(_, share)| *share));
                points.iter().zip(before).map(|((size, share), before)| (share - before) * *size as f64).sum()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_ascending_shares_up_to_1() {
        for Workload { name, sizes: Sizes::Interpolated(points) | Sizes::Discrete(points), .. } in WORKLOADS {
            assert!(points.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 < pair[1].1), "{name}");
            assert_eq!(points.last().unwrap().1, 1.0, "{name}");
        }
    }

    /// Means that the sources state: 1.71 MB, 5117 packets of 1460 bytes, and the first lines of Homa's files.
    #[test]
    fn workloads_have_their_published_means() {
        let means = [
            ("web_search", 1_711_250.0),
            ("data_mining", 5117.0 * 1460.0),
            ("facebook_hadoop", 194_330.9),
            ("facebook_web_server", 68_936.79),
            ("facebook_cache_follower", 718_204.9),
            ("google_search_rpc", 440.7907),
            ("google_all_rpc", 1001.269),
        ];
        for (name, mean) in means {
            let workload = WORKLOADS.iter().find(|workload| workload.name == name).unwrap();
            assert!((workload.mean() / mean - 1.0).abs() < 1e-4, "{name}: {}", workload.mean());
        }
    }

    #[test]
    fn discrete_sizes_are_drawn_without_others_between_them() {
        let sizes = Sizes::Discrete(&[(2, 0.25), (10, 0.5), (100, 1.0)]);
        let workload = Workload { name: "steps", source: "", sizes };
        assert_eq!([0.0, 0.249, 0.25, 0.499, 0.5, 0.999].map(|share| workload.quantile(share)), [2, 2, 10, 10, 100, 100]);
        assert_eq!(workload.mean(), 0.25 * 2.0 + 0.25 * 10.0 + 0.5 * 100.0);
    }
}
