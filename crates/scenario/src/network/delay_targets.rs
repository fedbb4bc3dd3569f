//! Delay targets, intervals and thresholds of AQM against the buffer, the packets and the round trips of the queue: settings with which the
//! buffer overflows before the policy acts.

use crate::problem::Report;
use crate::quantity::{Duration, Size};
use std::collections::BTreeMap;
use std::rc::Rc;
use tailback_core::network::{Buffer, ChangeKind, ClassQueue, Network, Port, PortId, Queues, Scheduling};
use tailback_core::primitives::units::{Bytes, Rate, TimeDelta};
use tailback_core::queue::{Onset, OnsetThreshold, PolicySpec};
use tailback_core::schedule::ClassicTarget;
use tailback_core::settings::QueueLength;

/// A policy or scheduler with a delay target, and its queue.
struct Target<'n> {
    /// Path of the queue or class.
    at: String,
    /// Path of the policy's settings.
    settings_at: String,
    name: &'static str,
    target: TimeDelta,
    /// Time for which the delay has to exceed the target, if the policy has such a setting.
    interval: Option<TimeDelta>,
    buffer: &'n Buffer,
    /// The link's rate over the minimum rate of the queue, if other queues are backlogged.
    shares: f64,
}

/// The packets that cross a port.
#[derive(Clone, Copy)]
struct Crossing {
    largest: Bytes,
    longest_rtt: TimeDelta,
    flows: u64,
}

/// Round trips, including a full buffer, above which an interval is not "about the longest usual RTT" (RFC 8289 section 4.3). With 20 flows,
/// half of the discards are then overflows.
const ROUND_TRIPS: u64 = 10;

/// Warns of policies that can hardly act; one warning for each queue.
pub(super) fn check(network: &Network, queue_places: &[Rc<str>], report: &mut Report) {
    let largest = network.groups.iter().filter_map(|group| group.transport.full_packet()).max().unwrap_or(Bytes(0));
    PortId::enumerate(&network.ports).for_each(|(id, port)| check_thresholds(port, largest, &queue_places[id], report));
    let managed = |port: &&Port| port.varying.is_none();
    let ports = || PortId::enumerate(&network.ports).filter(|(_, port)| managed(port));
    if ports().all(|(id, port)| targets(port, &queue_places[id], 1).is_empty()) {
        return;
    }
    let crossing = crossing(network);
    for (id, port) in ports() {
        let Some(crossing) = crossing.get(&id) else { continue };
        let (slowest, fastest) = rates(network, id, port);
        for target in targets(port, &queue_places[id], crossing.flows) {
            if report.is_valid(&target.at) {
                check_target(&target, *crossing, (slowest, fastest), network.duration, report);
            }
        }
    }
}

/// Warns of thresholds that only a full buffer reaches, which has no room for the packet that would be marked.
fn check_thresholds(port: &Port, largest: Bytes, at: &str, report: &mut Report) {
    let of_class = |(index, class): (usize, &ClassQueue)| {
        let is_shared = class.buffer == Buffer::Unlimited;
        (format!("{at}.classes[{index}]"), class.policy.clone(), if is_shared { port.buffer } else { class.buffer })
    };
    let queues = match port.scheduling.as_deref() {
        Some(Scheduling { queues: Queues::OfClasses(classes, _), .. }) => classes.iter().enumerate().map(of_class).collect(),
        Some(Scheduling { queues: Queues::L4sAndClassic, .. }) => Vec::new(),
        _ => vec![(at.to_string(), port.policy.clone(), port.buffer)],
    };
    for (at, policy, buffer) in queues {
        let Some(OnsetThreshold { setting: key, length: threshold }) = policy.onset().threshold else { continue };
        let (given, expected, at) = match (buffer, threshold) {
            (Buffer::Units(places), QueueLength::Units(threshold)) if threshold.saturating_add(1) >= places => {
                let below = places.saturating_sub(1);
                (format!("{threshold} of {places}"), format!("less than {below}"), format!("{at}.{key}"))
            }
            (Buffer::Bytes(whole), QueueLength::Bytes(threshold)) if threshold.saturating_add(largest.0) >= whole => {
                let [threshold, below, whole] = [threshold, whole.saturating_sub(largest.0), whole].map(Size::new);
                (format!("{threshold} of {whole}"), format!("less than {below}"), format!("{at}.{key}"))
            }
            _ => continue,
        };
        if report.is_valid(&at) {
            let name = policy.name().unwrap_or_default();
            let problem = report.warn(at, format!("`{key}` leaves no room above it: the buffer overflows before `{name}` acts"));
            problem.given(given).expected(expected);
        }
    }
}

fn check_target(of: &Target, crossing: Crossing, (slowest, fastest): (Rate, Rate), run: TimeDelta, report: &mut Report) {
    let packet = fastest.time_to_send(crossing.largest);
    let full = match *of.buffer {
        Buffer::Units(units) => Some(Bytes(units.saturating_mul(crossing.largest.0))),
        Buffer::Bytes(bytes) => Some(Bytes(bytes)),
        Buffer::Unlimited => None,
    };
    let delay = full.map(|bytes| TimeDelta((slowest.time_to_send(bytes).0 as f64 * of.shares) as u64));
    let name = of.name;
    // A backlog of one packet is ignored (RFC 8289 section 4.4).
    let is_short = of.interval.is_some() && full.is_some_and(|bytes| bytes.0 <= 2 * crossing.largest.0);
    if delay.is_some_and(|delay| delay < of.target) || is_short {
        let message = format!("`buffer` overflows before the delay reaches the target of `{name}`, which acts as `drop_tail`");
        let problem = report.warn(format!("{}.buffer", of.at), message);
        let full = delay.map_or(String::new(), |delay| format!("{} of delay in a full buffer, ", rounded(delay)));
        problem.given(format!("{full}a target of {}", rounded(of.target)));
        problem.expected("several times the target, and at least three packets");
        return;
    }
    let longest =
        TimeDelta(crossing.longest_rtt.0.saturating_add(delay.unwrap_or(TimeDelta::ZERO).0).saturating_mul(ROUND_TRIPS));
    if let Some(interval) = of.interval.filter(|&interval| interval >= run || (delay.is_some() && interval > longest)) {
        let message = match interval >= run {
            true => format!("`interval` is not shorter than the run: `{name}` discards nothing, as `drop_tail`"),
            false => format!("`interval` is so long that the buffer may overflow before `{name}` acts, as with `drop_tail`"),
        };
        let problem = report.warn(format!("{}.interval", of.settings_at), message);
        let rtt = Duration::new(crossing.longest_rtt.0);
        problem
            .given(Duration::new(interval.0).to_string())
            .expected(format!("about the longest RTT, which is {rtt} without queueing"));
        return;
    }
    if of.target < packet {
        let message = format!("`target` of `{name}` is shorter than the transmission of a packet");
        let problem = report.warn(format!("{}.target", of.settings_at), message);
        // RFC 8289 section 4.3: on slow links the target is the transmission time of a packet.
        problem.given(Duration::new(of.target.0).to_string()).expected(format!(
            "at least {}, the transmission of {} B",
            rounded(packet),
            crossing.largest.0
        ));
    }
}

/// A duration in whole microseconds, rounded up.
fn rounded(span: TimeDelta) -> Duration {
    Duration::new(span.0.div_ceil(1_000_000).saturating_mul(1_000_000))
}

/// The lowest and the highest rate of a port during the run, of all its transmitters.
fn rates(network: &Network, id: PortId, port: &Port) -> (Rate, Rate) {
    let changed = network.changes.iter().filter_map(|change| match change.what {
        ChangeKind::Rate(of, rate) if of == id => Some(rate),
        _ => None,
    });
    let all = |rate: Rate| Rate(rate.0.saturating_mul(port.transmitters.into()));
    changed.map(all).fold((all(port.rate), all(port.rate)), |(min, max), rate| (min.min(rate), max.max(rate)))
}

/// Delay targets of the queue of a port, or of each class. `flows`: number of flows that cross it.
fn targets<'n>(port: &'n Port, at: &str, flows: u64) -> Vec<Target<'n>> {
    let of = |at: String, policy: &PolicySpec, buffer, shares| {
        let Onset { target, interval, .. } = policy.onset();
        let (target, name) = (target?, policy.name()?);
        Some(Target { settings_at: at.clone(), at, name, target, interval, buffer, shares })
    };
    match port.scheduling.as_deref() {
        None => of(at.into(), &port.policy, &port.buffer, 1.0).into_iter().collect(),
        // A queue may be served one of so many times.
        Some(Scheduling { queues: Queues::OfFlows | Queues::Hashed(_), .. }) => {
            of(at.into(), &port.policy, &port.buffer, flows as f64).into_iter().collect()
        }
        Some(Scheduling { scheduler, queues: Queues::L4sAndClassic }) => {
            let target = |ClassicTarget { target, share }| {
                let shares = if share > 0.0 { 1.0 / share } else { f64::INFINITY };
                let (at, settings_at) = (at.to_string(), format!("{at}.scheduler"));
                Some(Target { at, settings_at, name: scheduler.name()?, target, interval: None, buffer: &port.buffer, shares })
            };
            scheduler.classic_target().and_then(target).into_iter().collect()
        }
        Some(Scheduling { scheduler, queues: Queues::OfClasses(classes, _) }) => {
            let total: f64 = classes.iter().map(|class| class.weight).sum();
            let of_class = |(index, class): (usize, &'n ClassQueue)| {
                let buffer = if class.buffer == Buffer::Unlimited { &port.buffer } else { &class.buffer };
                let shares = if scheduler.ranks() && index > 0 { f64::INFINITY } else { total / class.weight };
                of(format!("{at}.classes[{index}]"), &class.policy, buffer, shares)
            };
            classes.iter().enumerate().filter_map(of_class).collect()
        }
    }
}

/// The data packets of each port, without those in cells.
fn crossing(network: &Network) -> BTreeMap<PortId, Crossing> {
    let mut crossing: BTreeMap<PortId, Crossing> = BTreeMap::new();
    for flow in &network.flows {
        let group = &network.groups[flow.group];
        if group.framing.is_some() {
            continue;
        }
        let (Some(largest), rtt) = (group.transport.full_packet(), network.base_rtt(flow)) else { continue };
        for &port in &network.paths[flow.forward as usize] {
            let known = crossing.entry(port).or_insert(Crossing { largest, longest_rtt: rtt, flows: 0 });
            known.largest = known.largest.max(largest);
            known.longest_rtt = known.longest_rtt.max(rtt);
            known.flows += 1;
        }
    }
    crossing
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn warnings(rate: &str, queue: &str) -> Vec<String> {
        let text = format!(
            "duration = \"60 s\"\n[topology.dumbbell]\nrate = \"{rate}\"\ndelay = \"20 ms\"\nqueue = {{{queue}}}\n\
             [flows.web]\ntcp = {{preset = \"sack\", ecn = true}}\n"
        );
        let scenario = Scenario::from_toml(&text, "").unwrap_or_else(|errors| panic!("{errors}"));
        let (_, warnings) = scenario.build_with_warnings().unwrap_or_else(|errors| panic!("{errors}"));
        warnings.list.iter().map(|warning| format!("{}: {}", warning.at, warning.message)).collect()
    }

    #[test]
    fn a_buffer_below_the_target_causes_one_warning() {
        // Packets of 1500 bytes take 1.2 ms: CoDel's 5 ms are more than four of them, and the 15 ms of PIE and PI2 more than twelve.
        for (policy, least) in [("codel", 5), ("cobalt", 5), ("pie", 13), ("pi2", 13)] {
            let warned = |buffer: u32| warnings("10 Mbps", &format!("policy = \"{policy}\", buffer = \"{buffer} packets\""));
            let message =
                format!("`buffer` overflows before the delay reaches the target of `{policy}`, which acts as `drop_tail`");
            assert_eq!(warned(least - 1), [format!("topology.dumbbell.queue.buffer: {message}")]);
            assert_eq!(warned(least), [""; 0], "{policy}");
        }
        let of_flows = "scheduler = \"flow_queue\", policy = \"codel\", buffer = \"3 packets\"";
        assert_eq!(warnings("10 Mbps", of_flows).len(), 1);
        assert_eq!(warnings("10 Mbps", "policy = \"codel\", buffer = \"unlimited\""), [""; 0]);
    }

    #[test]
    fn a_threshold_without_room_above_it_causes_one_warning() {
        let threshold = |of: u32| {
            warnings("10 Mbps", &format!("policy = \"threshold\", buffer = \"20 packets\", threshold = \"{of} packets\""))
        };
        let message = "topology.dumbbell.queue.threshold: `threshold` leaves no room above it: the buffer overflows before `threshold` acts";
        assert_eq!((threshold(20), threshold(19)), (vec![message.to_string()], vec![message.to_string()]));
        assert_eq!(threshold(18), [""; 0]);
        let red = "policy = \"red\", buffer = \"20 packets\", min_threshold = \"19 packets\", max_threshold = \"20 packets\"";
        assert_eq!(warnings("10 Mbps", red).len(), 1);
    }

    #[test]
    fn codel_ignores_a_backlog_of_one_packet() {
        // Two packets last 60 ms at 400 kbit/s.
        let warned = |buffer: u32| {
            warnings(
                "400 kbps",
                &format!("policy = {{}}, buffer = \"{buffer} packets\"").replace("{}", "\"codel\", target = \"31 ms\""),
            )
        };
        assert_eq!((warned(2).len(), warned(3).len()), (1, 0));
    }

    #[test]
    fn an_interval_far_above_the_round_trips_causes_one_warning() {
        let warned = |interval: &str, buffer: &str| {
            warnings("10 Mbps", &format!("policy = \"codel\", buffer = \"{buffer}\", interval = \"{interval}\""))
        };
        let long = "topology.dumbbell.queue.interval: `interval` is so long that the buffer may overflow before `codel` acts, as with `drop_tail`";
        // Ten times 41.2 ms and 120 ms.
        assert_eq!(warned("1.7 s", "100 packets"), [long]);
        assert_eq!(warned("1.5 s", "100 packets"), [""; 0]);
        assert_eq!(warned("1.7 s", "unlimited"), [""; 0]);
        let run =
            "topology.dumbbell.queue.interval: `interval` is not shorter than the run: `codel` discards nothing, as `drop_tail`";
        assert_eq!(warned("60 s", "unlimited"), [run]);
    }

    #[test]
    fn a_target_below_a_packet_causes_one_warning() {
        // 12 ms at 1 Mbit/s.
        let warned =
            |target: &str| warnings("1 Mbps", &format!("policy = \"codel\", buffer = \"100 packets\", target = \"{target}\""));
        let message = "topology.dumbbell.queue.target: `target` of `codel` is shorter than the transmission of a packet";
        assert_eq!(warned("11.9 ms"), [message]);
        assert_eq!(warned("12 ms"), [""; 0]);
        assert_eq!(warnings("500 kbps", "scheduler = \"dualpi2\", buffer = \"100 packets\"").len(), 1);
    }
}
