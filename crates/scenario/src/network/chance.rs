//! Detects random elements of a scenario, for which results depend on the seed.

use crate::distribution::Distribution;
use crate::quantity::Quantity;
use crate::schema::Description;
use crate::schema::{Application, Requests, Routing, Traffic};
use tailback_core::network::{ChangeKind, Delay, Group, Impairments, Network, Port, Queues, Transport};
use tailback_core::queue::PolicySpec;
use tailback_core::tcp::TimerForm;
use tailback_core::traffic::{ApplicationSpec, Arrivals, PacketSize};

/// Whether round trips, start times, sizes, nodes or routes are random.
pub(super) fn draws(description: &Description) -> bool {
    let is_drawn = |traffic: &Traffic| {
        traffic.permutation.is_some() || traffic.random_pairs.is_some() || traffic.matrix.is_some() || traffic.incast.is_some()
    };
    description.routing == Routing::Ecmp
        || description.flows.values().any(|flow| {
            flow.arrivals.is_some()
                || flow.traffic.as_ref().is_some_and(is_drawn)
                || flow.propagation_rtt.as_ref().is_some_and(is_random)
                || is_random(&flow.start)
                || flow.size.as_ref().is_some_and(is_random)
                || flow.application.as_ref().is_some_and(exchanges_at_random)
        })
}

/// Whether sizes or times of requests are random.
fn exchanges_at_random(application: &Application) -> bool {
    match application {
        Application::Requests(Requests { request_size, response_size, think_time, server_time, .. }) => {
            [request_size, response_size].into_iter().any(is_random) || [think_time, server_time].into_iter().any(is_random)
        }
        Application::Script(_) | Application::Video(_) | Application::Bursts(_) | Application::User(_) => false,
    }
}

/// Whether anything else may be random.
pub(super) fn has_chance(network: &Network) -> bool {
    let loses = |kind: &ChangeKind| matches!(kind, ChangeKind::RandomLoss(_, share) if *share > 0.0);
    network.groups.iter().any(group_has_chance)
        || network.ports.iter().any(|port| port_has_chance(port) || port.policies().any(PolicySpec::draws) || is_hashed(port))
        || network.changes.iter().any(|change| loses(&change.what))
        || network.user_code().next().is_some()
}

/// Whether the link has random impairments.
fn port_has_chance(port: &Port) -> bool {
    let Impairments { bursts, jitter, duplication, .. } = port.impairments;
    port.random_loss > 0.0 || bursts.is_some() || duplication > 0.0 || jitter.is_some_and(|jitter| jitter.delay.is_random())
}

/// Whether a hash, which depends on the seed, selects the queue.
fn is_hashed(port: &Port) -> bool {
    port.scheduling.as_ref().is_some_and(|scheduling| matches!(scheduling.queues, Queues::Hashed(_)))
}

fn group_has_chance(group: &Group) -> bool {
    let is_drawn = |delay: &Option<Delay>| delay.is_some_and(Delay::is_random);
    let sends_at_random = match &group.transport {
        Transport::Tcp(spec, law) => law.abilities().uses_start_details || matches!(spec.timer.form, TimerForm::CoarseBsd { .. }),
        Transport::Datagram(spec) => {
            let at_random = match &spec.arrivals {
                Arrivals::Process(process) => process.is_random(),
                Arrivals::External | Arrivals::User(_) => true,
            };
            at_random || !matches!(spec.packet, PacketSize::Fixed(_))
        }
    };
    let hands_over_at_random = match &group.application {
        Some(ApplicationSpec::Bursts(bursts)) => bursts.process.is_random(),
        // The draws of messages are those of the scenario.
        Some(ApplicationSpec::Messages) | None => false,
    };
    group.jitter.0 > 0
        || is_drawn(&group.send_processing)
        || is_drawn(&group.receive_processing)
        || sends_at_random
        || hands_over_at_random
}

pub(super) fn is_random<Q: Quantity>(distribution: &Distribution<Q>) -> bool {
    match distribution {
        Distribution::Fixed(_) | Distribution::List(_) | Distribution::Evenly(..) => false,
        Distribution::Uniform(..)
        | Distribution::Exponential(_)
        | Distribution::Pareto { .. }
        | Distribution::Lognormal { .. }
        | Distribution::BoundedPareto { .. }
        | Distribution::Cdf(_)
        | Distribution::Workload(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn is_random(flows: &str, queue: &str) -> bool {
        let link = format!("rate = \"10 Mbps\"\ndelay = \"10 ms\"\nqueue = {queue}");
        Scenario::from_toml(&format!("duration = \"10 s\"\n[topology.dumbbell]\n{link}\n{flows}"), "").unwrap().is_random()
    }

    fn group(tcp: &str, more: &str) -> String {
        format!("[flows.web]\ncount = 2\nfrom = \"left\"\nto = \"right\"\ntcp = {tcp}\n{more}\n")
    }

    const TAIL: &str = "{buffer = \"9 packets\"}";

    #[test]
    fn fixed_times_and_a_full_queue_are_not() {
        assert!(!is_random(&group("{preset = \"sack\"}", "propagation_rtt = [\"40 ms\", \"80 ms\"]"), TAIL));
        assert!(!is_random(&group("{preset = \"cubic\"}", "size = \"1 MB\""), "{policy = \"codel\", buffer = \"9 packets\"}"));
    }

    #[test]
    fn random_times_policies_and_controllers_are() {
        let plain = group("{preset = \"sack\"}", "");
        assert!(is_random(&group("{preset = \"sack\"}", "start = {uniform = [\"0 s\", \"1 s\"]}"), TAIL));
        assert!(is_random(&group("{preset = \"linux/bbr\"}", ""), TAIL));
        assert!(is_random(
            &plain,
            "{policy = \"red\", buffer = \"90 packets\", min_threshold = \"20 packets\", max_threshold = \"60 packets\"}"
        ));
        assert!(is_random(&plain, "{policy = \"pie\", buffer = \"90 packets\"}"));
    }
}
