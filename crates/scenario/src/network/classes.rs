//! Ports with several queues: scheduler, queues, and assignment of flows to queues.

use super::groups::Groups;
use crate::member::Member;
use crate::problem::{RepeatedErrors, Report, key as name_of, listed};
use crate::schema::Description;
use crate::schema::{Buffer, Class, Hashing, Policy, Queue, Scheduler, policy_spec};
use std::collections::{BTreeMap, BTreeSet};
use tailback_core::network::{ClassQueue, Group, GroupId, Network, PortId, Queues, Scheduling};
use tailback_core::queue::PolicySpec;
use tailback_core::schedule::SchedulerSpec;

/// Builds the queues of a scheduler. `resolved` is the buffer without a percentage.
pub(super) fn scheduling(
    queue: &Queue,
    resolved: Option<Buffer>,
    policy: Option<&PolicySpec>,
    at: &str,
    groups: &Groups,
    report: &mut Report,
) -> Option<Scheduling> {
    let Some(scheduler) = &queue.scheduler else {
        if queue.classes.is_some() {
            let problem = report.add(format!("{at}.classes"), "`classes` requires a `scheduler`");
            problem.expected("also `scheduler`, such as `scheduler = \"drr\"`");
        }
        return None;
    };
    let Scheduler(Member::BuiltIn(config, Hashing { queues: hashed })) = scheduler else { return None };
    let values = config.values(None, report);
    let spec = SchedulerSpec::read(config.name(), &values)?;
    config.complain(spec.check(), &values, &format!("{at}.scheduler"), None, report);
    if spec.is_aqm() {
        check_managed(queue, &spec, hashed.is_some().then_some("queues"), at, report);
        return Some(Scheduling { scheduler: spec, queues: Queues::L4sAndClassic });
    }
    let Some(classes) = &queue.classes else {
        let policy = policy?;
        if spec.ranks() {
            let problem = report.add(format!("{at}.scheduler"), "`scheduler` requires `classes`");
            problem.given(config.name()).expected("also `classes`, the first of which is served first");
        }
        check_policy(policy, at, report);
        if hashed.is_some() && policy.tracks_flows() {
            let problem = report.add(format!("{at}.policy"), "`policy` distinguishes flows, and `queues` mixes them by a hash");
            let given = policy.name().unwrap_or("user code");
            problem.given(given).expected("a queue for each flow (no `queues`), `classes`, or another policy");
        }
        let queues = hashed.map_or(Queues::OfFlows, |count| Queues::Hashed(count.0 as u32));
        return Some(Scheduling { scheduler: spec, queues });
    };
    if hashed.is_some() {
        let problem = report.add(format!("{at}.scheduler.queues"), "`queues` cannot be used with `classes`");
        problem.expected("either `queues` or `classes`");
    }
    if queue.policy != Policy::default() {
        let problem = report.warn(format!("{at}.policy"), "`policy` is ignored: each of the `classes` has its own");
        problem.expected("no `policy`, or no `classes`");
    }
    check_classes(classes, &spec, at, report);
    let of_class = |(index, class): (usize, &Class)| {
        let at = format!("{at}.classes[{index}]");
        if class.buffer.is_relative() {
            let problem = report.add(format!("{at}.buffer"), "`buffer` of a class cannot be a percentage or a time");
            problem.given(class.buffer.to_string()).expected("packets, cells or bytes, as a part of the queue's buffer");
        } else if class.buffer.is_in_cells() != queue.buffer.is_in_cells()
            && class.buffer.is_in_packets() != queue.buffer.is_in_packets()
        {
            let problem = report.add(format!("{at}.buffer"), "`buffer` of the class and of the queue have different units");
            problem.given(format!("{}, of {}", class.buffer, queue.buffer)).expected("packets or cells for both");
        } else if exceeds(class.buffer, queue.buffer) {
            let problem = report.warn(format!("{at}.buffer"), "`buffer` of a class exceeds that of the queue");
            problem.given(format!("{}, of {}", class.buffer, queue.buffer)).expected(format!("less than {}", queue.buffer));
        }
        let own = (class.buffer != Buffer::Unlimited).then_some(class.buffer);
        let policy = policy_spec(&class.policy, own.unwrap_or(queue.buffer), own.or(resolved), &at, report);
        let policy = policy.unwrap_or_default();
        check_policy(&policy, &at, report);
        ClassQueue { name: class.name.to_string(), weight: class.share.0, buffer: own.unwrap_or_default().core(), policy }
    };
    let made = classes.iter().enumerate().map(of_class).collect();
    let rest = classes.iter().position(|class| class.default);
    let of = |name: &str| classes.iter().position(|class| class.name.as_str() == name).or(rest);
    let of_classes = std::iter::once(rest).chain(groups.classes().iter().map(|name| of(name)));
    Some(Scheduling {
        scheduler: spec,
        queues: Queues::OfClasses(made, of_classes.map(|queue| queue.map(|queue| queue as u32)).collect()),
    })
}

/// Reports queue settings for a scheduler that defines its own queues and policies. `hashed` is the key that gives it queues, if any.
fn check_managed(queue: &Queue, scheduler: &SchedulerSpec, hashed: Option<&str>, at: &str, report: &mut Report) {
    let name = scheduler.name().unwrap_or_default();
    let policy = (queue.policy != Policy::default()).then(|| "policy".to_string());
    let classes = queue.classes.is_some().then(|| "classes".to_string());
    let hashed = hashed.map(|key| format!("scheduler.{key}"));
    for key in [policy, classes, hashed].into_iter().flatten() {
        let at = format!("{at}.{key}");
        if report.is_valid(&at) {
            let problem =
                report.add(&at, format!("{} cannot be used with `{name}`, which has its own queues and policies", name_of(&at)));
            problem.expected(format!("no {}", name_of(&at)));
        }
    }
}

/// Whether both sizes have the same unit and the first is larger.
fn exceeds(own: Buffer, shared: Buffer) -> bool {
    match (own, shared) {
        (Buffer::Packets(own), Buffer::Packets(shared)) | (Buffer::Cells(own), Buffer::Cells(shared)) => own > shared,
        (Buffer::Bytes(own), Buffer::Bytes(shared)) => own.bytes() > shared.bytes(),
        _ => false,
    }
}

/// Reports policies with prices: a price belongs to a link, not to one of several queues.
fn check_policy(policy: &PolicySpec, at: &str, report: &mut Report) {
    let at = format!("{at}.policy");
    if policy.price_meaning().is_some() && report.is_valid(&at) {
        let problem = report.add(at, "`policy` computes a price of the link, which requires a single queue");
        problem.given(policy.name().unwrap_or_default()).expected("no `scheduler`, or a policy without a price");
    }
}

fn check_classes(classes: &[Class], scheduler: &SchedulerSpec, at: &str, report: &mut Report) {
    let at = format!("{at}.classes");
    if classes.is_empty() {
        report.add(&at, "`classes` is empty").expected("at least one class, or no `classes`, so that each flow has a queue");
    }
    let (mut names, mut faults) = (BTreeSet::new(), RepeatedErrors::default());
    for (index, class) in classes.iter().enumerate() {
        if !names.insert(class.name.as_str()) {
            report.among(&mut faults, |report| {
                let problem = report.add(format!("{at}[{index}].name"), "`name` is used by two classes");
                problem.given(class.name.to_string()).expected("a different name for each class");
            });
        }
        let (share, at_share) = (class.share.0, format!("{at}[{index}].share"));
        if !report.is_valid(&at_share) {
            continue;
        }
        if !(1e-3..=1e6).contains(&share) {
            report.among(&mut faults, |report| {
                report.add(at_share, "`share` is out of range").given(share.to_string()).expected("0.001 to 1000000");
            });
        } else if share != 1.0 && !scheduler.uses_weights() {
            let problem = report.warn(at_share, "`share` is ignored: the scheduler has no shares");
            problem
                .given(share.to_string())
                .expected(format!("no `share`, or another scheduler than `{}`", scheduler.name().unwrap_or_default()));
        }
    }
    if let Some(problem) = faults.rest(&at, "classes", report) {
        problem.expected("a queue for each class, with a share from 0.001 to 1000000");
    }
    let mut others = (0..).zip(classes).filter(|(_, class)| class.default).skip(1);
    if let Some((index, _)) = others.next() {
        let problem = report.add(format!("{at}[{index}].default"), "`default` is true for two classes");
        problem.expected("at most one default class");
    }
}

/// Checks that every flow has a queue at each port, and that every class has flows.
pub(super) fn check(description: &Description, network: &Network, queue_places: &[std::rc::Rc<str>], report: &mut Report) {
    let has =
        |what: fn(&Queues) -> bool| network.ports.iter().any(|port| port.scheduling.as_ref().is_some_and(|of| what(&of.queues)));
    if !has(|queues| matches!(queues, Queues::L4sAndClassic))
        && let Some((name, _)) = description.flows.iter().find(|(_, flow)| flow.l4s.is_some())
    {
        let problem = report.warn(format!("flows.{name}.l4s"), "`l4s` has no effect: no queue distinguishes L4S packets");
        problem.expected("a queue with `scheduler = \"dualpi2\"`");
    }
    if !has(|queues| matches!(queues, Queues::OfClasses(..))) {
        for (name, flow) in &description.flows {
            let Some(class) = &flow.class else { continue };
            let problem = report.add(format!("flows.{name}.class"), "`class` is given, and no queue has `classes`");
            problem.given(class.to_string()).expected("a queue with `scheduler` and `classes`");
        }
        return;
    }
    let is_valid: Vec<bool> = queue_places.iter().map(|place| report.is_valid(&format!("{place}.classes"))).collect();
    let classes_of = |port: PortId| match network.ports[port].scheduling.as_deref() {
        Some(Scheduling { queues: Queues::OfClasses(queues, of_classes), .. }) if is_valid[port] => Some((queues, of_classes)),
        _ => None,
    };
    let mut ways: BTreeSet<(GroupId, u32)> = BTreeSet::new();
    for flow in &network.flows {
        ways.extend([(flow.group, flow.forward), (flow.group, flow.backward)]);
    }
    let mut used: BTreeSet<(PortId, u32)> = BTreeSet::new();
    let mut told = BTreeSet::new();
    // Groups whose class is that of a queue on their way, and the first port where another queue is the default.
    let (mut recognised, mut by_default) = (BTreeSet::new(), BTreeMap::new());
    for (group, path) in ways {
        for &port in &network.paths[path as usize] {
            let Some((queues, of_classes)) = classes_of(port) else { continue };
            let Group { name, class, .. } = &network.groups[group];
            let flow = description.flows.get(name.as_str());
            if let Some(queue) = of_classes.get(*class as usize).copied().flatten() {
                used.insert((port, queue));
                if let Some(class) = flow.and_then(|flow| flow.class.as_ref()) {
                    if queues[queue as usize].name == class.as_str() {
                        recognised.insert(group);
                    } else {
                        by_default.entry(group).or_insert((port, class));
                    }
                }
                continue;
            }
            let Some(flow) = flow else { continue };
            if !told.insert(group) {
                continue;
            }
            let (at, link) = (format!("flows.{name}.class"), &network.ports[port].name);
            let known = queues.iter().map(|queue| queue.name.as_str());
            match &flow.class {
                Some(class) => {
                    let names: Vec<&str> = known.collect();
                    let problem = report.unknown(&at, "class", class.as_str(), names.iter().copied());
                    problem.expected(format!("{} at `{link}`, or a queue there with `default = true`", listed(&names)));
                }
                None => {
                    let known: Vec<&str> = known.collect();
                    let problem = report.add(at, format!("`class` is missing, and the queue of `{link}` has no default class"));
                    problem.expected(format!("{}, or a queue with `default = true`", listed(&known)));
                }
            }
        }
    }
    by_default.retain(|group, _| !recognised.contains(group));
    for (&group, &(port, class)) in &by_default {
        let (at, Some((queues, _))) = (format!("flows.{}.class", network.groups[group].name), classes_of(port)) else { continue };
        let names: Vec<&str> = queues.iter().map(|queue| queue.name.as_str()).collect();
        let link = &network.ports[port].name;
        let message = format!("`class` names no queue on the path: the packets use the default queue of `{link}`");
        let problem = report.warn(at, message).given(class.to_string()).one_of(class.as_str(), names.iter().copied());
        problem.expected(format!("{} at `{link}`", listed(&names)));
    }
    for (port, place) in PortId::enumerate(queue_places) {
        let Some((queues, _)) = classes_of(port) else { continue };
        for (queue, class) in (0..).zip(queues).filter(|(queue, _)| !used.contains(&(port, *queue))) {
            let at = format!("{place}.classes[{queue}]");
            if told.is_empty() && by_default.is_empty() && report.is_valid(&at) {
                let problem = report.warn(&at, format!("{} is not used by any flow", name_of(&at)));
                problem.given(class.name.clone()).expected("a flow group with this `class` whose route crosses the link");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;
    use tailback_core::network::{Buffer, Network, Queues, Scheduling};

    /// A dumbbell with this queue, and flows with these classes.
    fn dumbbell(queue: &str, classes: &[&str]) -> (Network, Vec<String>) {
        let mut text =
            format!("duration = \"1 s\"\n[topology.dumbbell]\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\nqueue = {{{queue}}}\n");
        for (index, class) in classes.iter().enumerate() {
            let class = if class.is_empty() { String::new() } else { format!("class = \"{class}\"\n") };
            text += &format!("[flows.f{index}]\nfrom = \"left\"\nto = \"right\"\n{class}tcp = {{preset = \"newreno\"}}\n");
        }
        let scenario = Scenario::from_toml(&text, "").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let (network, warnings) = scenario.build_with_warnings().unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        (network, warnings.list.iter().map(|warning| format!("{}: {}", warning.at, warning.message)).collect())
    }

    #[test]
    fn classes_have_their_queues_and_other_flows_the_default_one() {
        let classes = r#"classes = [{name = "b", buffer = "9 packets"}, {name = "rest", default = true}, {name = "a"}]"#;
        let queue = format!(r#"buffer = "50 packets", scheduler = "drr", {classes}"#);
        let (network, warnings) = dumbbell(&queue, &["a", "b", "c", ""]);
        assert_eq!(
            warnings,
            ["flows.f2.class: `class` names no queue on the path: the packets use the default queue of `bottleneck`"]
        );
        let Some(Scheduling { queues: Queues::OfClasses(queues, of_classes), .. }) = network.ports[0].scheduling.as_deref()
        else {
            panic!()
        };
        let of_group = |group: usize| of_classes[network.groups[group].class as usize];
        assert_eq!([0, 1, 2, 3].map(of_group), [Some(2), Some(0), Some(1), Some(1)]);
        assert_eq!([queues[0].buffer, queues[1].buffer], [Buffer::Units(9), Buffer::Unlimited]);
        assert_eq!(network.ports[1].scheduling.as_ref(), None);
    }

    #[test]
    fn settings_without_effect_cause_warnings() {
        let classes = r#"classes = [{name = "a", share = 2}, {name = "b", buffer = "10 packets"}]"#;
        let queue = format!(r#"buffer = "9 packets", policy = "codel", scheduler = "sfq", {classes}"#);
        let (_, warnings) = dumbbell(&queue, &["a"]);
        let at = "topology.dumbbell.queue";
        let wanted = [
            format!("{at}.policy: `policy` is ignored: each of the `classes` has its own"),
            format!("{at}.classes[0].share: `share` is ignored: the scheduler has no shares"),
            format!("{at}.classes[1]: `classes[1]` is not used by any flow"),
            format!("{at}.classes[1].buffer: `buffer` of a class exceeds that of the queue"),
        ];
        assert_eq!(warnings, wanted);
    }

    #[test]
    fn l4s_is_set_by_its_key_or_by_the_controller() {
        let flows = |queue: &str, flows: &[&str]| {
            let mut text =
                format!("duration = \"1 s\"\n[topology.dumbbell]\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\nqueue = {{{queue}}}\n");
            for (index, flow) in flows.iter().enumerate() {
                text += &format!("[flows.f{index}]\nfrom = \"left\"\nto = \"right\"\n{flow}\n");
            }
            let scenario = Scenario::from_toml(&text, "").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
            scenario.build_with_warnings().unwrap_or_else(|errors| panic!("{errors}\n{text}"))
        };
        let of = |law: &str, more: &str| format!("tcp = {{preset = \"sack\", ecn = true, controller = \"{law}\"}}\n{more}");
        let source = "source = {kind = \"constant\", rate = \"9 kbps\", packet_size = \"90 B\"}";
        let five = [
            of("prague", ""),
            of("prague", "l4s = false"),
            of("dctcp", ""),
            of("dctcp", "l4s = true"),
            format!("{source}\nl4s = true"),
            source.to_string(),
        ];
        let dual = r#"buffer = "90 packets", scheduler = "dualpi2""#;
        let (network, warnings) = flows(dual, &five.each_ref().map(String::as_str));
        assert_eq!(network.groups.iter().map(|group| group.l4s).collect::<Vec<_>>(), [true, false, false, true, true, false]);
        assert_eq!(network.ports[0].scheduling.as_ref().map(|of| &of.queues), Some(&Queues::L4sAndClassic));
        // DCTCP without `l4s`.
        assert_eq!(warnings.list.iter().map(|warning| warning.at.as_str()).collect::<Vec<_>>(), ["flows.f2.l4s"]);
        // A queue that does not distinguish L4S packets causes a warning.
        let (_, warnings) = flows(r#"buffer = "90 packets", policy = "codel""#, &[&five[4]]);
        assert_eq!(warnings.list[0].at, "flows.f0.l4s");
    }

    #[test]
    fn without_classes_each_flow_has_a_queue_or_a_hash_selects_one() {
        let queues = |scheduler| {
            dumbbell(&format!(r#"buffer = "9 packets", scheduler = {scheduler}"#), &[""]).0.ports[0]
                .scheduling
                .as_deref()
                .cloned()
        };
        assert_eq!(queues("\"drr\"").unwrap().queues, Queues::OfFlows);
        assert_eq!(queues("{kind = \"drr\", queues = 64}").unwrap().queues, Queues::Hashed(64));
    }
}
