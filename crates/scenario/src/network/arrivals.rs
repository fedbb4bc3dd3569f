//! Poisson arrivals of flows: number of flows and start times.

use super::sites::Sites;
use super::traffic;
use crate::distribution::Distribution;
use crate::problem::Report;
use crate::quantity::{Duration, Quantity};
use crate::rate_profile::InverseProfile;
use crate::schema::Description;
use crate::schema::{self, FlowArrivals};
use crate::values::Name;
use tailback_core::network::Flow;
use tailback_core::primitives::random::{Entity, Purpose, Stream};
use tailback_core::primitives::units::{Time, TimeDelta};

/// Picoseconds: 200 days.
const LONGEST: f64 = 200.0 * 86_400e12;

/// The number of flows of a group, 1 to `max`: `count`, the length of its lists, the flows that arrive before `stop` or the end of the run,
/// one round of `traffic`, or one flow per pair of `from` and `to`.
pub(super) fn count(description: &Description, name: &Name, flow: &schema::Flow, sites: &Sites, max: usize) -> u64 {
    if let Some(count) = flow.count {
        return count.0;
    }
    if let Some(count) = flow.list_length() {
        return (count as u64).max(1);
    }
    let left = end(description, name, flow).saturating_sub(begin(description, name, flow));
    let within = |process: Process| process.take(max).take_while(|after| after.0 < left).count();
    let by_nodes = || traffic::round(flow, sites).unwrap_or(1);
    let by_arrivals = |process| (within(process) as u64).saturating_mul(flows_per_arrival(flow));
    Process::of(description, name, flow).map_or_else(by_nodes, by_arrivals).max(1)
}

/// Whether the number of flows of a group depends on the seed.
pub(super) fn draws_count(flow: &schema::Flow) -> bool {
    flow.arrivals.is_some() && flow.count.is_none() && flow.list_length().is_none()
}

/// Time from the group's `start` to the start of each flow; empty without `arrivals`.
pub(super) fn starts(description: &Description, name: &Name, flow: &schema::Flow, count: usize) -> Vec<TimeDelta> {
    let at_once = flows_per_arrival(flow) as usize;
    let flows = |process: Process| process.flat_map(|after| std::iter::repeat_n(after, at_once)).take(count).collect();
    Process::of(description, name, flow).map_or(Vec::new(), flows)
}

/// Number of flows that start together: those of an incast, which arrives as a whole; otherwise 1.
fn flows_per_arrival(flow: &schema::Flow) -> u64 {
    flow.traffic.as_ref().and_then(|traffic| traffic.incast.as_ref()).map_or(1, |incast| incast.senders.0)
}

/// Reports conflicts of settings, and arrivals that end long before the run, for the flows of a group.
pub(super) fn check(flow: &schema::Flow, flows: &[Flow], at: &str, duration: Duration, report: &mut Report) {
    let Some(arrivals) = &flow.arrivals else { return };
    let inner = format!("{at}.arrivals");
    if !report.is_valid(&inner) {
        return;
    }
    if !matches!(flow.start, Distribution::Fixed(_)) {
        report
            .add(format!("{at}.start"), "`start` must be a single duration with `arrivals`")
            .expected("one duration, after which the arrivals begin");
    }
    match (arrivals.mean_interval, arrivals.load, arrivals.reference_rate) {
        (Some(_), None, None) | (None, Some(_), Some(_)) => {}
        (None, Some(_), None) if reference_bps(flow, arrivals).is_some() => {}
        _ => {
            report
                .add(&inner, "`arrivals` must have either `mean_interval` or `load`")
                .expected("either `mean_interval`, or `load` and `reference_rate`");
            return;
        }
    }
    if arrivals.load.is_some() && flow.size.is_none() {
        report.add(format!("{inner}.load"), "`load` requires flows of a finite size").expected("`size`, or `mean_interval`");
        return;
    }
    // The mean of invalid sizes has no meaning.
    if arrivals.load.is_some() && !report.is_valid(&format!("{at}.size")) {
        return;
    }
    let mean = mean_interval(flow, arrivals);
    let key = if arrivals.load.is_some() { "load" } else { "mean_interval" };
    if mean < 1.0 {
        report
            .add(format!("{inner}.{key}"), format!("`{key}` makes all flows start at once"))
            .expected("more than 0 s between starts");
        return;
    }
    if mean > LONGEST {
        report
            .add(format!("{inner}.{key}"), format!("`{key}` makes flows start too late"))
            .expected("less than 200 days between starts");
        return;
    }
    let last = flows.iter().map(|flow| flow.start).filter(|&start| start != Time::NEVER).max().unwrap_or(Time::ZERO);
    let end = (Time::ZERO + duration.time_delta()).min(flows.first().map_or(Time::NEVER, |flow| flow.stop));
    let is_given = (flow.count.is_some() || flow.list_length().is_some()) && arrivals.profile.is_none();
    // A gap this long at the end is not random: its probability is exp(-10).
    if is_given && last < end && end.since(last).0 as f64 > 10.0 * mean {
        let needed = flows.len() as f64 + flows_per_arrival(flow) as f64 * end.since(last).0 as f64 / mean;
        let problem =
            report.warn(format!("{at}.count"), "`count` is too small: the last flow starts long before the end of the run");
        problem
            .given(format!("{} flows, the last at {}", flows.len(), Duration::new(last.0)))
            .expected(format!("about {needed:.0} flows"));
    }
}

/// Start of a group in picoseconds, relative to its start in the timeline if there is one.
fn begin(description: &Description, name: &Name, flow: &schema::Flow) -> u64 {
    let is_start = |event: &&schema::Event| event.start && event.group.as_ref() == Some(name);
    let from = description.timeline.iter().find(is_start).map_or(0, |event| event.at.base());
    let start = if let Distribution::Fixed(start) = flow.start { start.base() } else { 0 };
    from.saturating_add(start)
}

/// Time after which no flow of a group sends new data, in picoseconds.
fn end(description: &Description, name: &Name, flow: &schema::Flow) -> u64 {
    let is_stop = |event: &&schema::Event| event.stop && event.group.as_ref() == Some(name);
    let told = description.timeline.iter().find(is_stop).map(|event| event.at).or(flow.stop);
    told.map_or(u64::MAX, |stop| stop.base()).min(description.duration.time_delta().0)
}

/// Mean interval between arrivals in picoseconds; NaN if not given.
fn mean_interval(flow: &schema::Flow, arrivals: &FlowArrivals) -> f64 {
    match (arrivals.mean_interval, arrivals.load, reference_bps(flow, arrivals)) {
        (Some(mean), ..) => mean.base() as f64,
        (None, Some(load), Some(rate)) => {
            let bits = 8.0 * flows_per_arrival(flow) as f64 * flow.size.as_ref().map_or(f64::NAN, Distribution::mean);
            1e12 * bits / (load.0 * rate)
        }
        _ => f64::NAN,
    }
}

/// The rate that `load` refers to, in bit/s: by default the total of a traffic matrix.
fn reference_bps(flow: &schema::Flow, arrivals: &FlowArrivals) -> Option<f64> {
    let of_matrix = || flow.traffic.as_ref()?.matrix.as_ref()?.total_bps();
    arrivals.reference_rate.map(|rate| rate.base() as f64).or_else(of_matrix)
}

/// Arrival times of a Poisson process from its start. Each arrival draws the interval to its predecessor.
struct Process<'d> {
    seed: u64,
    name: &'d str,
    index: u64,
    mean: f64,
    /// Time at a constant rate.
    at: u64,
    profile: Option<InverseProfile>,
}

impl Process<'_> {
    fn of<'d>(description: &Description, name: &'d Name, flow: &schema::Flow) -> Option<Process<'d>> {
        let arrivals = flow.arrivals.as_ref()?;
        let (mean, profile) = (mean_interval(flow, arrivals), arrivals.profile.as_ref());
        let profile = profile.map(|profile| profile.inverse(arrivals.profile_end));
        let seed = description.seed.0;
        (mean >= 1.0).then_some(Process { seed, name: name.as_str(), index: 0, mean, at: 0, profile })
    }
}

impl Iterator for Process<'_> {
    type Item = TimeDelta;

    fn next(&mut self) -> Option<TimeDelta> {
        let stream = Stream::new(Entity { seed: self.seed, name: self.name, index: self.index }, Purpose::Start);
        self.at = self.at.saturating_add((self.mean * stream.exponential(0)) as u64);
        self.index += 1;
        Some(TimeDelta(self.profile.as_ref().map_or(self.at, |profile| profile.time_of(self.at as f64) as u64)))
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;
    use crate::network::tests::dumbbell;
    use tailback_core::primitives::units::{Time, TimeDelta};

    const GROUP: &str = "[flows.web]\nfrom = \"left\"\nto = \"right\"\ntcp = {preset = \"reno\"}\n";

    #[test]
    fn the_count_is_the_number_of_arrivals_before_the_end() {
        let network = dumbbell(&format!("{GROUP}size = \"10 kB\"\nstart = \"2 s\"\narrivals = {{mean_interval = \"1 ms\"}}\n"));
        // Mean 8000, standard deviation 89.
        assert!((network.flows.len() as f64 - 8000.0).abs() < 5.0 * 89.4, "{}", network.flows.len());
        assert!(network.flows.windows(2).all(|pair| pair[0].start <= pair[1].start));
        assert!(
            network.flows[0].start >= Time::ZERO + TimeDelta::from_millis(2_000)
                && network.flows.last().unwrap().start < Time::ZERO + TimeDelta::from_millis(10_000)
        );
    }

    #[test]
    fn a_load_sets_the_interval_by_the_mean_size() {
        // 10 Mbit/s x 0.5 over 8 x 10,000 bit: 62.5 flows per second, 625 in ten seconds.
        let network = dumbbell(&format!(
            "{GROUP}size = {{exponential = \"10 kB\"}}\narrivals = {{load = 0.5, reference_rate = \"10 Mbps\"}}\n"
        ));
        assert!((network.flows.len() as f64 - 625.0).abs() < 5.0 * 25.0, "{}", network.flows.len());
    }

    /// The start times of an incast of hosts of a leaf-spine, and the number of flows at each.
    fn incasts(more: &str) -> Vec<(u64, usize)> {
        incasts_with_warnings(more).0
    }

    fn incasts_with_warnings(more: &str) -> (Vec<(u64, usize)>, String) {
        let links = "rate = \"1 Gbps\"\ndelay = \"1 us\"\nqueue = {buffer = \"9 packets\"}";
        let topology = format!("[topology.leaf_spine]\nleaves = 2\nspines = 2\nhosts = 8\n{links}");
        let flows = format!(
            "[flows.in]\ntraffic = {{incast = {{nodes = \"host*\", senders = 12}}}}\ntcp = {{preset = \"reno\"}}\n{more}"
        );
        let text = format!("duration = \"10 s\"\n{topology}\n{flows}\n");
        let (network, warnings) = Scenario::from_toml(&text, "").and_then(|scenario| scenario.build_with_warnings()).unwrap();
        let mut starts: Vec<(u64, usize)> = Vec::new();
        for flow in &network.flows {
            match starts.last_mut() {
                Some((start, count)) if *start == flow.start.0 => *count += 1,
                _ => starts.push((flow.start.0, 1)),
            }
        }
        (starts, warnings.texts().collect())
    }

    #[test]
    fn all_senders_of_an_incast_start_at_its_arrival() {
        for arrivals in [
            "mean_interval = \"100 ms\"",
            // 8 x 12 x 10 kB at 0.96 % of 1 Gbit/s: ten incasts per second.
            "load = 0.0096, reference_rate = \"1 Gbps\"",
            "mean_interval = \"100 ms\", profile = [[\"0 s\", 1], [\"1 s\", 1]]",
        ] {
            let starts = incasts(&format!("size = \"10 kB\"\narrivals = {{{arrivals}}}"));
            assert!(starts.iter().all(|(_, count)| *count == 12), "{arrivals}: {starts:?}");
            // A mean of 100 with a standard deviation of 10.
            assert!((starts.len() as f64 - 100.0).abs() < 5.0 * 10.0, "{arrivals}: {} incasts", starts.len());
        }
        let (given, warnings) = incasts_with_warnings("size = \"10 kB\"\ncount = 30\narrivals = {mean_interval = \"4 s\"}");
        assert_eq!(given.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [12, 12, 6]);
        assert!(warnings.contains("the last incast has 6 of its 12 senders"), "{warnings}");
    }

    #[test]
    fn flows_of_other_patterns_arrive_one_by_one() {
        for pattern in
            ["permutation = \"host*\"", "all_to_all = \"host*\"", "shift = {nodes = \"host*\"}", "random_pairs = \"host*\""]
        {
            let links = "rate = \"1 Gbps\"\ndelay = \"1 us\"\nqueue = {buffer = \"9 packets\"}";
            let topology = format!("[topology.leaf_spine]\nleaves = 2\nspines = 2\nhosts = 8\n{links}");
            let flows = "size = \"1 kB\"\narrivals = {mean_interval = \"100 ms\"}\ntcp = {preset = \"reno\"}";
            let text = format!("duration = \"10 s\"\n{topology}\n[flows.all]\ntraffic = {{{pattern}}}\n{flows}\n");
            let network = Scenario::from_toml(&text, "").and_then(|scenario| scenario.build()).unwrap();
            assert!(network.flows.windows(2).all(|pair| pair[0].start < pair[1].start), "{pattern}");
            assert!((network.flows.len() as f64 - 100.0).abs() < 50.0, "{pattern}: {}", network.flows.len());
        }
    }

    /// A curve in a file: expected arrivals in each quarter of a second are the integral of the rate, within five standard deviations.
    #[test]
    fn arrivals_follow_the_curve_of_a_file() {
        let folder = std::env::temp_dir().join(format!("tailback-profile-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("day.csv");
        let read = |curve: &str, more: &str| {
            std::fs::write(&path, curve).unwrap();
            let profile = path.display();
            let text =
                format!("{GROUP}size = \"1 kB\"\narrivals = {{mean_interval = \"4 ms\", profile = \"{profile}\"{more}}}\n");
            let link = "[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\nqueue = {buffer = \"9 packets\"}\n";
            Scenario::from_toml(&format!("duration = \"10 s\"\n{link}{text}"), "")
        };
        let curve = "at_s,note,factor\n0,night,0\n1,day,4\n2,\"night, again\",0\n";
        let starts = |more| {
            let network = read(curve, more).unwrap().build().unwrap();
            network.flows.iter().map(|flow| flow.start.since(Time::ZERO).seconds()).collect::<Vec<f64>>()
        };
        let once = starts(", profile_end = \"stop\"");
        let repeated = starts("");
        // The rate rises to 1000 flows per second after a second and falls to 0: its integral is 500 (t^2) up to there.
        for quarter in 0..8 {
            let (from, to) = (f64::from(quarter) / 4.0, f64::from(quarter + 1) / 4.0);
            let integral = |t: f64| if t <= 1.0 { 500.0 * t * t } else { 1000.0 - 500.0 * (2.0 - t) * (2.0 - t) };
            let expected = integral(to) - integral(from);
            let found = once.iter().filter(|&&start| (from..to).contains(&start)).count() as f64;
            assert!((found - expected).abs() < 5.0 * expected.sqrt(), "{quarter}: {found} {expected}");
            let found = repeated.iter().filter(|&&start| (from..to).contains(&(start % 2.0))).count() as f64;
            assert!((found - 5.0 * expected).abs() < 5.0 * (5.0 * expected).sqrt(), "{quarter}: {found} {expected}");
        }
        // Both have the same arrivals in the first period, and the first ends there.
        assert!(once[..] == repeated[..once.len()] && once.last().is_some_and(|last| *last < 2.0));
        assert!(starts(", profile_end = \"stop\"") == once);

        let error = |curve: &str| read(curve, "").unwrap_err().to_string();
        assert!(error("at,factor\n0 s,1\n0 s,1\n").contains("day.csv line 3].at"));
        assert!(error("at,factor\n1 s,1\n2 s,1\n").contains("day.csv line 2].at"));
        assert!(error("at,factor\n0 s,1\n2 s,-1\n").contains("day.csv line 3].factor"));
        assert!(error("at,factor\n0 s,1\n2 s,much\n").contains("`factor` must be a number"));
        assert!(error("at,factor\n0 s,0\n2 s,0\n").contains("`profile` is zero at all times"));
        assert!(error("at,factor\n0 s,1\n").contains("`profile` has fewer than two points"));
        assert!(error("at,rate\n0 s,1\n").contains("has no column `factor`"));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_profile_varies_the_rate() {
        // None in the first half of each second, and 2000 flows per second in the other: 1000 per second.
        let network = dumbbell(&format!(
            "{GROUP}size = \"10 kB\"\narrivals = {{mean_interval = \"1 ms\", \
             profile = [[\"0 s\", 0], [\"499.999 ms\", 0], [\"500 ms\", 2], [\"1 s\", 2]]}}\n"
        ));
        assert!((network.flows.len() as f64 - 10_000.0).abs() < 5.0 * 100.0, "{}", network.flows.len());
        let second = TimeDelta::from_millis(1000).0;
        assert!(network.flows.iter().all(|flow| flow.start.0 % second >= 499 * (second / 1000)));
    }

    #[test]
    fn additional_flows_do_not_change_earlier_starts() {
        let starts = |count| {
            let text = format!("{GROUP}count = {count}\nsize = \"10 kB\"\narrivals = {{mean_interval = \"1 s\"}}\n");
            dumbbell(&text).flows.iter().map(|flow| flow.start).collect::<Vec<_>>()
        };
        assert_eq!(starts(3), starts(5)[..3]);
    }

    #[test]
    fn the_length_of_a_list_is_the_number_of_flows() {
        let network = dumbbell(&format!("{GROUP}size = [\"10 kB\", \"20 kB\", \"30 kB\"]\nstart = \"1 s\"\n"));
        assert_eq!(network.flows.len(), 3);
    }

    #[test]
    fn conflicts_are_reported() {
        let told = |more: &str| {
            let link = "[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\nqueue = {buffer = \"9 packets\"}\n";
            let scenario = Scenario::from_toml(&format!("duration = \"10 s\"\n{link}{GROUP}{more}\n"), "").unwrap();
            scenario.build().unwrap_err().to_string()
        };
        assert!(told("arrivals = {load = 0.5}").contains("either `mean_interval`, or `load` and `reference_rate`"));
        assert!(told("arrivals = {load = 0.5, reference_rate = \"1 Mbps\"}").contains("`load` requires flows of a finite size"));
        assert!(told("arrivals = {mean_interval = \"0 s\"}").contains("`mean_interval` makes all flows start at once"));
        let own = "start = {uniform = [\"0 s\", \"1 s\"]}\narrivals = {mean_interval = \"1 s\"}";
        assert!(told(own).contains("`start` must be a single duration"));
    }
}
