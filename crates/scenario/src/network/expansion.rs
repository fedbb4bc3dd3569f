//! The flows of a group: start times, sizes, and delays of access links.

use super::graph::Graph;
use super::paths::Paths;
use super::routes::RoutePair;
use super::transport;
use crate::distribution::{Distribution, Nth};
use crate::problem::Report;
use crate::quantity::{Duration, Quantity};
use crate::schema;
use crate::values::Name;
use tailback_core::network::{AccessLink, Flow, GroupId, MAX_SEGMENTS, Transport};
use tailback_core::primitives::random::{Entity, Purpose, Stream};
use tailback_core::primitives::units::{Bytes, Rate, Time, TimeDelta};

/// Builds the flows of one group.
pub(super) struct Expansion<'d> {
    pub name: &'d Name,
    pub flow: &'d schema::Flow,
    pub count: u64,
    /// Consecutive connections of each flow of the scenario, of which only the first has a start time.
    pub connections: u64,
    /// Time from `start` to the start of each flow with `arrivals`; otherwise empty.
    pub arrivals: Vec<TimeDelta>,
    pub at: &'d str,
    pub group: GroupId,
    pub seed: u64,
    pub max_segments: u128,
    /// Longest delay of the links in both directions with any seed, if the paths depend on it.
    pub longest: Option<TimeDelta>,
    /// Taken in turn.
    pub ways: Vec<AssignedRoute>,
    /// Time to which `start` is relative.
    pub start: Time,
    pub stop: Time,
}

const SHORT_RTT: &str = "`propagation_rtt` is shorter than the path";

/// A way that flows take.
pub(super) struct AssignedRoute {
    pub forward: u32,
    pub backward: u32,
    /// Round-trip propagation delay between the two nodes.
    rest: TimeDelta,
    /// Rate of the first link.
    first: Option<Rate>,
    /// Rate of the sender's interface, if the scenario does not describe its queue.
    interface: Option<Rate>,
}

impl AssignedRoute {
    pub fn of((forward, backward): &RoutePair, graph: &Graph, paths: &mut Paths) -> AssignedRoute {
        let delays = forward.iter().chain(backward).map(|&port| graph.ports[port].delay);
        let first = forward.first().map(|&port| graph.ports[port].rate);
        AssignedRoute {
            forward: paths.of(forward.clone()),
            backward: paths.of(backward.clone()),
            rest: delays.fold(TimeDelta::ZERO, |sum, delay| sum + delay),
            first,
            interface: forward.first().filter(|&&port| graph.is_interface(port)).map(|&port| graph.ports[port].rate),
        }
    }
}

impl Expansion<'_> {
    pub fn flows(&self, transport: &Transport, flows: &mut Vec<Flow>, report: &mut Report) {
        let mut problems = Problems { at: self.at, report };
        if !self.check(&mut problems) {
            return;
        }
        let has_own_clocks = self.flow.framing.is_some() && !transport::has_exact_clocks(self.flow);
        flows.reserve(self.count as usize);
        for (index, way) in (0..self.count).zip(self.ways.iter().cycle()) {
            let Some(mut sender_access) = self.sender_access(index, way.rest, &mut problems) else { return };
            if has_own_clocks && sender_access.rate == way.first {
                sender_access.rate = sender_access.rate.map(|rate| with_own_clock(rate, flows.len()));
            }
            let Some(size) = self.size(index, transport, &mut problems) else { return };
            let first = Flow {
                group: self.group,
                forward: way.forward,
                backward: way.backward,
                sender_access,
                receiver_access: access(self.flow.receiver_access.as_ref()),
                interface: way.interface,
                start: self.start + self.wait(index),
                stop: self.stop,
                size,
            };
            let later = (1..self.connections).map(|_| Flow { start: Time::NEVER, ..first.clone() });
            flows.extend(std::iter::once(first.clone()).chain(later));
        }
    }

    /// Checks the settings that are common to all flows.
    fn check(&self, problems: &mut Problems) -> bool {
        let (flow, count) = (self.flow, self.count);
        let fine = problems.length("start", Some(&flow.start), count)
            & problems.length("propagation_rtt", flow.propagation_rtt.as_ref(), count)
            & problems.length("size", flow.size.as_ref(), count);
        let own_delay = flow.sender_access.as_ref().is_some_and(|access| access.delay.is_some());
        if flow.propagation_rtt.is_some() && own_delay {
            let problem = problems.add("sender_access.delay", "`sender_access.delay` and `propagation_rtt` set the same delay");
            problem.expected("either `propagation_rtt` or `sender_access.delay`");
            return false;
        }
        if flow.size.is_none() && self.max_segments > u128::from(MAX_SEGMENTS) {
            let given = format!("up to {} segments", self.max_segments);
            let problem = problems.add("", "the flows can exceed the maximum number of segments");
            problem.given(given).expected(format!("at most {MAX_SEGMENTS}: use a shorter run, larger packets or a slower link"));
            return false;
        }
        fine && self.check_round_trips(problems)
    }

    /// Reports round trips that are shorter than the path with some seed.
    fn check_round_trips(&self, problems: &mut Problems) -> bool {
        let Some(rtt) = &self.flow.propagation_rtt else { return true };
        let is_drawn = !matches!(rtt, Distribution::Fixed(_) | Distribution::List(_));
        if self.longest.is_none() && !is_drawn {
            // Those of each flow are checked.
            return true;
        }
        let receiver = access(self.flow.receiver_access.as_ref()).delay;
        let longest = self.longest.or_else(|| self.ways.iter().map(|way| way.rest).max()).unwrap_or(TimeDelta::ZERO);
        let longest = longest + receiver + receiver;
        // Shorter draws of other distributions are repeated.
        let (shortest, text) = if rtt.has_bounds() { (rtt.bounds()[0], "at least") } else { (rtt.median(), "a median of") };
        if shortest < longest.0 {
            let expected = format!("at least {}, the delay of the links in both directions", Duration::new(longest.0));
            let problem = problems.add("propagation_rtt", SHORT_RTT);
            problem.given(format!("{text} {}, depending on the seed", Duration::new(shortest))).expected(expected);
        }
        shortest >= longest.0
    }

    /// Start of a flow relative to that time.
    fn wait(&self, index: u64) -> TimeDelta {
        let start = self.flow.start.draw(Nth { index, count: self.count }, || self.stream(index, Purpose::Start));
        let start = TimeDelta(start);
        self.arrivals.get(index as usize).map_or(start, |&after| TimeDelta(start.0.saturating_add(after.0)))
    }

    fn sender_access(&self, index: u64, rest: TimeDelta, problems: &mut Problems) -> Option<AccessLink> {
        let given = access(self.flow.sender_access.as_ref());
        let Some(rtt) = &self.flow.propagation_rtt else { return Some(given) };
        let receiver = access(self.flow.receiver_access.as_ref()).delay;
        let rest = rest + receiver + receiver;
        let nth = Nth { index, count: self.count };
        let rtt = rtt.draw_within(rest.0..=u64::MAX, nth, || self.stream(index, Purpose::Rtt));
        match rtt.checked_sub(rest.0) {
            Some(left) => Some(AccessLink { delay: TimeDelta(left / 2), ..given }),
            None => {
                let given = format!("{} (flow {index})", Duration::new(rtt));
                let expected = format!("at least {}, the delay of the links in both directions", Duration::new(rest.0));
                problems.add("propagation_rtt", SHORT_RTT).given(given).expected(expected);
                None
            }
        }
    }

    /// The flow's size, `Some(None)` if it is greedy; `None` and a report if there is a problem.
    fn size(&self, index: u64, transport: &Transport, problems: &mut Problems) -> Option<Option<Bytes>> {
        let Some(size) = &self.flow.size else { return Some(None) };
        let max = transport::payload_bytes(transport).max(1).saturating_mul(MAX_SEGMENTS);
        let nth = Nth { index, count: self.count };
        let given = match size {
            Distribution::Fixed(_) | Distribution::List(_) => Some(size.draw(nth, Stream::default))
                .filter(|&bytes| bytes > max)
                .map(|bytes| format!("{bytes} B (flow {index})")),
            _ => size.beyond(max),
        };
        if let Some(given) = given {
            let problem = problems.add("size", "`size` exceeds the maximum number of segments");
            problem.given(given).expected(format!("at most {MAX_SEGMENTS} segments"));
            return None;
        }
        let stream = || self.stream(index, Purpose::Size);
        // A random size may round down to 0, and a transfer has at least one byte.
        Some(Some(Bytes(size.draw_within(0..=max, nth, stream).max(1))))
    }

    fn stream(&self, index: u64, purpose: Purpose) -> Stream {
        Stream::new(Entity { seed: self.seed, name: self.name.as_str(), index }, purpose)
    }
}

/// Up to 100 ppm faster, the tolerance of Ethernet's clocks (IEEE 802.3): between equal rates the phases of cells would never change, and
/// at a full queue one flow would take every place. Multiples of the golden ratio spread the rates of any number of flows evenly.
fn with_own_clock(rate: Rate, flow: usize) -> Rate {
    let part = (0.618_033_988_749_895 * (flow as f64 + 1.0)).fract();
    Rate((rate.0 as f64 * (1.0 + 1e-4 * part)).round() as u64)
}

fn access(given: Option<&schema::Access>) -> AccessLink {
    given.map_or_else(AccessLink::default, |access| AccessLink {
        rate: access.rate.map(|rate| rate.rate()),
        delay: access.delay.unwrap_or_default().time_delta(),
    })
}

/// Reports errors of one flow group, once per path.
struct Problems<'r, 'p> {
    at: &'r str,
    report: &'r mut Report<'p>,
}

impl Problems<'_, '_> {
    fn add(&mut self, key: &str, message: &str) -> &mut crate::problem::Problem {
        let at = if key.is_empty() { self.at.to_string() } else { format!("{}.{key}", self.at) };
        self.report.add(at, message)
    }

    /// Reports a list that does not have one value per flow.
    fn length<Q: Quantity>(&mut self, key: &str, distribution: Option<&Distribution<Q>>, count: u64) -> bool {
        let at = format!("{}.{key}", self.at);
        match distribution {
            Some(Distribution::List(values)) if values.len() as u64 != count => {
                if self.report.is_valid(&at) {
                    let given = format!("{} values for {count} flows", values.len());
                    self.report
                        .add(&at, format!("{} does not have one value per flow", crate::problem::key(&at)))
                        .given(given)
                        .expected(format!("{count} values"));
                }
                false
            }
            _ => self.report.is_valid(&at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::tests::dumbbell;

    #[test]
    fn propagation_rtt_sets_the_delay_of_the_access_link() {
        let network = dumbbell(
            "[flows.web]\nfrom = \"left\"\nto = \"right\"\npropagation_rtt = \"100 ms\"\nsender_access = {rate = \"50 Mbps\"}\n\
             receiver_access = {delay = \"5 ms\"}\ntcp = {preset = \"reno\"}\n",
        );
        // 100 ms less 2 x 10 ms of the bottleneck and 2 x 5 ms at the receiver, shared by two directions.
        assert_eq!(
            network.flows[0].sender_access,
            AccessLink { rate: Some(Rate(50_000_000)), delay: TimeDelta::from_millis(35) }
        );
    }

    /// Whether scenarios with such flows are valid; the same with every seed.
    fn is_valid(flow: &str) -> bool {
        let of_seed = |seed: u64| {
            let text = format!(
                "seed = {seed}\nduration = \"1 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\n\
                 queue = {{buffer = \"9 packets\"}}\n[flows.web]\ncount = 40\nfrom = \"left\"\nto = \"right\"\n\
                 tcp = {{preset = \"reno\", mss = \"1000 B\"}}\n{flow}\n"
            );
            crate::Scenario::from_toml(&text, "").and_then(|scenario| scenario.build()).is_ok()
        };
        let valid = (0..20).filter(|&seed| of_seed(seed)).count();
        assert!(valid == 0 || valid == 20, "{flow}: {valid} of 20 seeds");
        valid > 0
    }

    #[test]
    fn the_seed_does_not_decide_whether_round_trips_are_as_long_as_the_path() {
        // The path has 20 ms.
        for (rtts, expected) in [
            ("{uniform = [\"20 ms\", \"90 ms\"]}", true),
            ("{uniform = [\"19 ms\", \"90 ms\"]}", false),
            ("{evenly = [\"19 ms\", \"90 ms\"]}", false),
            ("{exponential = \"50 ms\"}", true),
            ("{exponential = \"20 ms\"}", false),
            ("{lognormal = {median = \"30 ms\", sigma = 0.5}}", true),
            ("{lognormal = {median = \"19 ms\", sigma = 0.5}}", false),
            ("{pareto = {mean = \"60 ms\", shape = 1.5}}", true),
            ("{pareto = {mean = \"30 ms\", shape = 1.2}}", false),
            ("{bounded_pareto = {lowest = \"20 ms\", highest = \"1 s\", shape = 1}}", true),
            ("{bounded_pareto = {lowest = \"19 ms\", highest = \"1 s\", shape = 1}}", false),
            ("{cdf = [[\"20 ms\", 0.1], [\"90 ms\", 1]]}", true),
            ("{cdf = [[\"19 ms\", 0.001], [\"90 ms\", 1]]}", false),
            ("{weights = [[\"19 ms\", 1], [\"90 ms\", 1000]]}", false),
            ("{weights = [[\"19 ms\", 0], [\"90 ms\", 1000]]}", true),
        ] {
            assert_eq!(is_valid(&format!("propagation_rtt = {rtts}")), expected, "{rtts}");
        }
    }

    #[test]
    fn the_seed_does_not_decide_whether_sizes_have_too_many_segments() {
        // 2^31 segments of 1000 bytes: 2147 GB.
        let requests = |sizes: &str| {
            format!("application = {{kind = \"requests\", connections = \"new\", requests = 5, response_size = {sizes}}}")
        };
        for (sizes, expected) in [
            ("{uniform = [\"1 kB\", \"2147 GB\"]}", true),
            ("{uniform = [\"1 kB\", \"2148 GB\"]}", false),
            ("{exponential = \"2000 GB\"}", true),
            ("{exponential = \"4000 GB\"}", false),
            ("{pareto = {mean = \"900 GB\", shape = 1.1}}", true),
            ("{lognormal = {median = \"2000 GB\", sigma = 3}}", true),
            ("{lognormal = {median = \"3000 GB\", sigma = 3}}", false),
            ("{cdf = [[\"1 kB\", 0.999], [\"2148 GB\", 1]]}", false),
            ("{weights = [[\"1 kB\", 1000], [\"2148 GB\", 1]]}", false),
            ("{workload = \"data_mining\"}", true),
        ] {
            assert_eq!(is_valid(&format!("size = {sizes}")), expected, "{sizes}");
            assert_eq!(is_valid(&requests(sizes)), expected, "requests, {sizes}");
        }
    }

    #[test]
    fn an_additional_flow_does_not_change_other_draws() {
        let flows = |count: u32, more: &str| {
            dumbbell(&format!(
                "[flows.web]\ncount = {count}\nfrom = \"left\"\nto = \"right\"\nstart = {{uniform = [\"0 s\", \"1 s\"]}}\n\
                 size = {{pareto = {{mean = \"50 kB\", shape = 1.2}}}}\ntcp = {{preset = \"reno\"}}\n{more}"
            ))
            .flows
        };
        let few = flows(3, "");
        let more = flows(5, "[flows.zoo]\nfrom = \"left\"\nto = \"right\"\ntcp = {preset = \"reno\"}\n");
        assert_eq!(few, more[..3]);
        assert_ne!(few[0].start, few[1].start);
    }

    /// Sizes of 20,000 flows in bytes, sorted.
    fn sizes(points: &str, key: &str) -> Vec<u64> {
        let path = std::env::temp_dir().join(format!("tailback-sizes-{}-{key}.csv", std::process::id()));
        std::fs::write(&path, points).unwrap();
        let network = dumbbell(&format!(
            "[flows.web]\nfrom = \"left\"\nto = \"right\"\ntcp = {{preset = \"reno\"}}\ncount = 20000\nsize = {{{key} = \"{}\"}}\n",
            path.display()
        ));
        std::fs::remove_file(&path).unwrap();
        let mut sizes: Vec<u64> = network.flows.iter().filter_map(|flow| flow.size).map(|size| size.0).collect();
        sizes.sort_unstable();
        sizes
    }

    /// The share below a quantile has a standard error of at most 0.0035.
    fn assert_share(sizes: &[u64], up_to: u64, expected: f64) {
        let share = sizes.iter().filter(|&&size| size <= up_to).count() as f64 / sizes.len() as f64;
        assert!((share - expected).abs() < 5.0 * 0.0035, "{share} up to {up_to}, expected {expected}");
    }

    #[test]
    fn quantiles_of_sizes_are_those_of_a_cumulative_distribution_in_a_file() {
        let sizes = sizes("value,share\n1 kB,0.5\n11 kB,0.9\n1 MB,1\n", "cdf");
        assert_eq!((sizes.len(), sizes[0]), (20_000, 1000));
        // Half have the first size; in the next part, 40 % are spread evenly over 10 kB, and 10 % over 989 kB.
        for (up_to, expected) in [(1000, 0.5), (3500, 0.6), (11_000, 0.9), (505_500, 0.95)] {
            assert_share(&sizes, up_to, expected);
        }
    }

    #[test]
    fn sizes_with_weights_are_drawn_as_often() {
        let sizes = sizes("weight,value_bytes\n1,5000\n6,40\n0,7\n3,1500\n", "weights");
        let mut different = sizes.clone();
        different.dedup();
        assert_eq!(different, [40, 1500, 5000]);
        assert_share(&sizes, 40, 0.6);
        assert_share(&sizes, 1500, 0.9);
    }

    fn access_rates(preset: &str) -> Vec<u64> {
        let text = format!(
            "duration = \"1 s\"\n[topology.dumbbell]\nrate = \"141 Mbps\"\ndelay = \"1 ms\"\nqueue = {{buffer = \"99 cells\"}}\n\
             [flows.vc]\ncount = 20\nsender_access = {{rate = \"141 Mbps\"}}\ntcp = {{preset = \"{preset}\"}}\nframing = {{}}\n"
        );
        let network = crate::Scenario::from_toml(&text, "").unwrap().build().unwrap();
        network.flows.iter().filter_map(|flow| flow.sender_access.rate).map(|Rate(bps)| bps).collect()
    }

    #[test]
    fn no_two_hosts_that_send_cells_have_equal_clocks_except_in_documents() {
        let mut rates = access_rates("reno");
        assert!(rates.iter().all(|rate| (141_000_000..141_014_101).contains(rate)), "{rates:?}");
        rates.sort_unstable();
        assert!(rates.windows(2).all(|pair| pair[0] + 100 < pair[1]), "{rates:?}");
        assert_eq!(access_rates("spd-1998/tahoe"), [141_000_000; 20]);
    }
}
