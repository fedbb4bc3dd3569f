//! Generated networks have the structure of their papers, ECMP distributes flows over routes, traffic patterns match their names, and
//! generated networks run like handwritten ones.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod demands;
mod input_files;
mod rate_tables;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use tailback_core::Engine;
use tailback_core::network::{Network, PortId};
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_scenario::Scenario;

const LINKS: &str = "rate = \"10 Gbps\"\ndelay = \"1 us\"\nqueue = {buffer = \"50 packets\"}";

/// A fat tree by `k`, with the given flow groups and further tables.
fn fat_tree(k: u32, routing: &str, flows: &str) -> Network {
    built(&format!("duration = \"10 ms\"\nrouting = \"{routing}\"\n[topology.fat_tree]\nk = {k}\n{LINKS}\n{flows}"))
}

fn built(text: &str) -> Network {
    read(text).build().unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

fn read(text: &str) -> Scenario {
    Scenario::from_toml(text, "").unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

fn group(traffic: &str, more: &str) -> String {
    format!("[flows.web]\ntraffic = {{{traffic}}}\ntcp = {{preset = \"newreno\"}}\n{more}\n")
}

const ALL: &str = "size = \"100 kB\"";

/// The nodes at the ends of a port, by its name.
fn ends(network: &Network, port: PortId) -> (String, String) {
    let name = &network.ports[port].name;
    let (link, is_back) = name.strip_suffix(".reverse").map_or((name.as_str(), false), |link| (link, true));
    let (from, to) = link.split_once('-').unwrap();
    if is_back { (to.into(), from.into()) } else { (from.into(), to.into()) }
}

/// The nodes of a path, in order.
fn nodes(network: &Network, path: u32) -> Vec<String> {
    let ports = &network.paths[path as usize];
    let first = ends(network, ports[0]).0;
    std::iter::once(first).chain(ports.iter().map(|&port| ends(network, port).1)).collect()
}

/// Source and sink of each flow.
fn pairs(network: &Network) -> Vec<(String, String)> {
    let of = |path| nodes(network, path);
    network.flows.iter().map(|flow| (of(flow.forward)[0].clone(), of(flow.forward).pop().unwrap())).collect()
}

/// Neighbours by name.
fn neighbours(network: &Network) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for port in PortId::all(network.ports.len()) {
        let (from, to) = ends(network, port);
        assert!(found.entry(from).or_default().insert(to), "two links between two nodes");
    }
    found
}

/// Number of hops from a node to all others.
fn hops(neighbours: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::from([(from.to_string(), 0)]);
    let mut reached = vec![from.to_string()];
    let mut next = 0;
    while let Some(node) = reached.get(next).cloned() {
        next += 1;
        for other in &neighbours[&node] {
            if !found.contains_key(other) {
                found.insert(other.clone(), found[&node] + 1);
                reached.push(other.clone());
            }
        }
    }
    found
}

fn count(neighbours: &BTreeMap<String, BTreeSet<String>>, prefix: &str) -> usize {
    neighbours.keys().filter(|name| name.starts_with(prefix)).count()
}

#[test]
fn a_fat_tree_has_the_switches_hosts_and_paths_of_its_paper() {
    for k in [2, 4, 6, 8] {
        let network = fat_tree(k, "ecmp", &group("shift = {nodes = \"host*\"}", ALL));
        let (k, around) = (k as usize, neighbours(&network));
        assert_eq!(count(&around, "host"), k * k * k / 4);
        assert_eq!(count(&around, "edge") + count(&around, "agg") + count(&around, "core"), 5 * k * k / 4);
        assert!(around.iter().all(|(name, others)| others.len() == if name.starts_with("host") { 1 } else { k }));
        assert_eq!(network.ports.len(), 2 * 3 * k * k * k / 4);
        // The receiver is in another pod: two links up to the core, two down, one at each end.
        assert!(network.flows.iter().all(|flow| nodes(&network, flow.forward).len() == 7));
    }
}

#[test]
fn hashes_between_two_pods_reach_every_core() {
    let flows = "[flows.web]\nfrom = \"host0\"\nto = \"host127\"\ncount = 1600\nsize = \"1 kB\"\ntcp = {preset = \"newreno\"}\n";
    let network = fat_tree(8, "ecmp", flows);
    let mut through: BTreeMap<String, [u32; 2]> = BTreeMap::new();
    for flow in &network.flows {
        for (direction, path) in [flow.forward, flow.backward].into_iter().enumerate() {
            through.entry(nodes(&network, path)[3].clone()).or_default()[direction] += 1;
        }
    }
    // (k/2)^2 paths of equal length, with a mean of 100 flows each.
    assert_eq!(through.len(), 16);
    assert!(through.keys().all(|name| name.starts_with("core")));
    for direction in [0, 1] {
        let chi_square: f64 = through.values().map(|flows| (f64::from(flows[direction]) - 100.0).powi(2) / 100.0).sum();
        // The 99.9 % quantile with 15 degrees of freedom.
        assert!(chi_square < 37.7, "{chi_square}");
    }
    // Both directions are independent: the same core with probability 1/16.
    let same = network.flows.iter().filter(|flow| nodes(&network, flow.forward)[3] == nodes(&network, flow.backward)[3]).count();
    assert!((60..140).contains(&same), "{same}");
}

#[test]
fn a_hash_depends_on_the_flow_only() {
    let flows = |count: u32, more: &str| {
        let text = format!(
            "[flows.web]\nfrom = \"host0\"\nto = \"host15\"\ncount = {count}\nsize = \"1 kB\"\ntcp = {{preset = \"newreno\"}}\n{more}"
        );
        let network = fat_tree(4, "ecmp", &text);
        network.flows.iter().map(|flow| [flow.forward, flow.backward].map(|path| nodes(&network, path))).collect::<Vec<_>>()
    };
    let few = flows(20, "");
    let other = "[flows.zoo]\nfrom = \"host3\"\nto = \"host9\"\nsize = \"1 kB\"\ntcp = {preset = \"newreno\"}\n";
    assert_eq!(few, flows(30, other)[..20]);
}

#[test]
fn each_pair_has_one_shortest_route_in_both_directions() {
    let network = fat_tree(4, "shortest", &group("all_to_all = \"host*\"", ALL));
    assert_eq!(network.flows.len(), 16 * 15);
    for flow in &network.flows {
        let (mut there, back) = (nodes(&network, flow.forward), nodes(&network, flow.backward));
        there.reverse();
        assert_eq!(there, back);
    }
    let distinct: BTreeSet<_> = pairs(&network).into_iter().collect();
    assert_eq!(distinct.len(), 16 * 15);
    assert!(distinct.iter().all(|(from, to)| from != to));
}

#[test]
fn each_leaf_is_linked_to_each_spine() {
    let flows = group("permutation = \"host*\"", ALL);
    let network = built(&format!(
        "duration = \"10 ms\"\n[topology.leaf_spine]\nleaves = 4\nspines = 3\nhosts = 5\nhost_rate = \"1 Gbps\"\n{LINKS}\n{flows}"
    ));
    let around = neighbours(&network);
    assert_eq!((count(&around, "leaf"), count(&around, "spine"), count(&around, "host")), (4, 3, 20));
    assert!((0..3).all(|spine| around[&format!("spine{spine}")].len() == 4));
    assert!(around["leaf1"].contains("host5") && around["leaf1"].contains("host9"));
    let rate = |name: &str| network.ports.iter().find(|port| port.name == name).unwrap().rate.0;
    assert_eq!(
        (rate("leaf0-host0"), rate("leaf0-host0.reverse"), rate("spine0-leaf0")),
        (1_000_000_000, 1_000_000_000, 10_000_000_000)
    );
}

#[test]
fn the_diameter_of_a_torus_is_half_the_sum_of_its_rings() {
    for (sizes, diameter) in [(vec![5], 2), (vec![4, 4], 4), (vec![2, 3, 5], 4), (vec![4, 4, 4], 6)] {
        let network = built(&format!(
            "duration = \"10 ms\"\n[topology.torus]\ndimensions = {sizes:?}\n{LINKS}\n{}",
            group("permutation = \"host*\"", ALL)
        ));
        let around = neighbours(&network);
        let switches: usize = sizes.iter().product();
        assert_eq!((count(&around, "switch"), count(&around, "host")), (switches, switches));
        // A host, and two neighbours in each dimension, or one in a dimension of two switches.
        let degree = 1 + sizes.iter().map(|&size| if size == 2 { 1 } else { 2 }).sum::<usize>();
        assert!(around.iter().all(|(name, others)| others.len() == if name.starts_with("host") { 1 } else { degree }));
        let farthest = |name: &String| {
            *hops(&around, name).iter().filter(|(name, _)| name.starts_with("switch")).map(|(_, hops)| hops).max().unwrap()
        };
        assert!(around.keys().filter(|name| name.starts_with("switch")).all(|name| farthest(name) == diameter));
    }
}

#[test]
fn a_dragonfly_has_a_link_between_each_two_groups() {
    let (p, a, h) = (2, 4, 2);
    let settings = format!("hosts = {p}\nswitches = {a}\nglobal_links = {h}\nglobal_delay = \"1 ms\"\n{LINKS}");
    let network =
        built(&format!("duration = \"10 ms\"\n[topology.dragonfly]\n{settings}\n{}", group("permutation = \"host*\"", ALL)));
    let around = neighbours(&network);
    let groups = a * h + 1;
    assert_eq!((count(&around, "switch"), count(&around, "host")), (a * groups, p * a * groups));
    let group =
        |name: &str| name.strip_prefix("switch").and_then(|name| name.split_once('_')).map(|(group, _)| group.to_string());
    let mut joined: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (name, others) in around.iter().filter(|(name, _)| name.starts_with("switch")) {
        assert_eq!(others.len(), p + (a - 1) + h);
        for other in others.iter().filter(|other| group(other).is_some() && group(other) != group(name)) {
            *joined.entry((group(name).unwrap(), group(other).unwrap())).or_default() += 1;
        }
    }
    assert_eq!(joined.len(), groups * (groups - 1));
    assert!(joined.values().all(|&links| links == 1));
    // Local, global, local: at most three hops between switches.
    let farthest =
        hops(&around, "switch0_0").into_iter().filter(|(name, _)| name.starts_with("switch")).map(|(_, hops)| hops).max();
    assert_eq!(farthest, Some(3));
    let slow = network.ports.iter().filter(|port| port.delay == TimeDelta::from_millis(1)).count();
    assert_eq!(slow, groups * (groups - 1));
}

#[test]
fn random_routers_are_connected_and_long_links_are_rare() {
    let text = |seed: u32, beta: f64| {
        let settings = format!(
            "routers = 60\nalpha = 0.1\nbeta = {beta}\nrate = \"1 Gbps\"\ndelay = \"10 ms\"\nqueue = {{buffer = \"50 packets\"}}"
        );
        format!(
            "duration = \"1 s\"\n[topology.waxman]\ngraph_seed = {seed}\n{settings}\n{}",
            group("permutation = \"router*\"", ALL)
        )
    };
    for (seed, beta) in [(1, 0.4), (2, 0.4), (3, 0.001)] {
        let network = built(&text(seed, beta));
        let around = neighbours(&network);
        assert_eq!(hops(&around, "router0").len(), 60);
        // With few random links, a tree remains.
        assert!(beta > 0.01 || network.ports.len() <= 2 * 62, "{}", network.ports.len());
        let delays: Vec<f64> = network.ports.iter().map(|port| port.delay.seconds()).collect();
        assert!(delays.iter().all(|delay| (0.0..=0.01).contains(delay)));
        // The mean distance of two random places is 0.37 of the diagonal.
        assert!(delays.iter().sum::<f64>() / (delays.len() as f64) < 0.0025);
    }
    assert_eq!(built(&text(1, 0.4)), built(&text(1, 0.4)));
    assert_ne!(built(&text(1, 0.4)).ports, built(&text(2, 0.4)).ports);
    assert!(read(&text(1, 0.4)).is_random());
}

#[test]
fn switches_of_a_random_regular_graph_reach_one_another_within_a_few_hops() {
    let text = |seed: u32, settings: &str| {
        let flows = group("permutation = \"host*\"", ALL);
        format!("duration = \"1 s\"\n[topology.random_regular]\ngraph_seed = {seed}\n{settings}\n{LINKS}\n{flows}")
    };
    let large = |seed| text(seed, "switches = 200\ndegree = 8");
    for seed in 1..4 {
        let network = built(&large(seed));
        let around = neighbours(&network);
        assert!((0..200).all(|switch| around[&format!("switch{switch}")].len() == 8 + 1));
        // Two hops reach at most 1 + 8 + 8 x 7 switches.
        let most =
            hops(&around, "switch0").into_iter().filter(|(name, _)| name.starts_with("switch")).map(|(_, hops)| hops).max();
        assert!((3..=5).contains(&most.unwrap()), "{most:?}");
    }
    assert_eq!(built(&large(1)), built(&large(1)));
    assert_ne!(built(&large(1)).paths, built(&large(2)).paths);
    assert!(read(&large(1)).is_random());
    // Eight switches with three links each may be drawn as two components of four.
    for seed in 0..200 {
        assert_eq!(hops(&neighbours(&built(&text(seed, "switches = 8\ndegree = 3\nhosts = 1"))), "switch0").len(), 16);
    }
    for (settings, parts) in [
        ("switches = 4\ndegree = 4", ["topology.random_regular.degree", "given    4", "at most 3, for 4 switches"]),
        ("switches = 5\ndegree = 3", ["topology.random_regular.degree", "5 switches with 3 links each", "an even number"]),
        ("switches = 9\ndegree = 2", ["topology.random_regular.degree", "given    2", "from 3 to 1000000"]),
        ("switches = 1000000\ndegree = 10", ["topology.random_regular", "generates too many nodes", "and 6000000 links"]),
        (
            "switches = 8\ndegree = 3\nhosts = 0\nhost_delay = \"1 ms\"",
            ["random_regular.host_delay", "hosts = 0", "`host_delay` requires hosts"],
        ),
    ] {
        let errors = Scenario::from_toml(&text(1, settings), "").and_then(|scenario| scenario.build()).unwrap_err().to_string();
        assert!(parts.iter().all(|part| errors.contains(part)), "{errors}");
    }
}

#[test]
fn a_permutation_moves_every_node_and_differs_from_round_to_round() {
    let network = fat_tree(4, "shortest", &group("permutation = \"host*\"", "count = 48\nsize = \"1 kB\""));
    let pairs = pairs(&network);
    let more = "count = 48\nsize = \"1 kB\"";
    let again =
        read(&format!("duration = \"10 ms\"\n[topology.fat_tree]\nk = 4\n{LINKS}\n{}", group("permutation = \"host*\"", more)));
    let said: Vec<_> = again.ends().unwrap().into_iter().map(|(from, to)| (from.to_string(), to.to_string())).collect();
    assert_eq!(said, pairs);
    for round in pairs.chunks(16) {
        let from: Vec<String> = (0..16).map(|host| format!("host{host}")).collect();
        assert_eq!(round.iter().map(|(from, _)| from.clone()).collect::<Vec<_>>(), from);
        assert_eq!(round.iter().map(|(_, to)| to).collect::<BTreeSet<_>>().len(), 16);
        assert!(round.iter().all(|(from, to)| from != to));
    }
    assert!(pairs[..16] != pairs[16..32] && pairs[16..32] != pairs[32..]);
}

#[test]
fn the_other_patterns_match_their_names() {
    let of = |traffic: &str, more: &str| pairs(&fat_tree(4, "shortest", &group(traffic, &format!("size = \"1 kB\"\n{more}"))));
    let host = |number: usize| format!("host{number}");
    assert_eq!(
        of("shift = {nodes = \"host*\"}", ""),
        (0..16).map(|from| (host(from), host((from + 8) % 16))).collect::<Vec<_>>()
    );
    assert_eq!(
        of("shift = {nodes = [\"host9\", \"host2\", \"host4\"], offset = 1}", "")[1..],
        [(host(2), host(4)), (host(4), host(9))]
    );
    assert_eq!(
        of("all_to_all = [\"host0\", \"host1\", \"host2\"]", "")[2..5],
        [(host(2), host(0)), (host(0), host(2)), (host(1), host(0))]
    );
    let random = of("random_pairs = \"host*\"", "count = 1000");
    assert!(random.iter().all(|(from, to)| from != to));
    let mut often: BTreeMap<_, u32> = BTreeMap::new();
    random.iter().for_each(|pair| *often.entry(pair).or_default() += 1);
    // 240 pairs with a mean of 4.17 flows each: the 99.9 % quantile with 239 degrees of freedom.
    let chi_square: f64 = 1000.0 / 240.0 * (240 - often.len()) as f64
        + often.values().map(|&seen| (f64::from(seen) - 1000.0 / 240.0).powi(2) / (1000.0 / 240.0)).sum::<f64>();
    assert!(chi_square < 312.0, "{chi_square}");
    let incast = of("incast = {nodes = \"host*\", senders = 5}", "count = 10");
    for round in incast.chunks(5) {
        assert!(round.iter().all(|(from, to)| *to == round[0].1 && from != to));
        assert_eq!(round.iter().map(|(from, _)| from).collect::<BTreeSet<_>>().len(), 5);
    }
    assert_eq!(of("incast = {nodes = \"host*\", senders = 15, to = \"host3\"}", "").len(), 15);
}

#[test]
fn groups_with_patterns_start_and_draw_like_others() {
    let network = fat_tree(
        4,
        "ecmp",
        &group("random_pairs = \"host*\"", "size = {exponential = \"10 kB\"}\narrivals = {mean_interval = \"10 us\"}"),
    );
    assert!((800..1200).contains(&network.flows.len()), "{}", network.flows.len());
    assert!(network.flows.windows(2).all(|two| two[0].start <= two[1].start));
    assert_ne!(network.flows[0].size, network.flows[1].size);
}

#[test]
fn a_generated_network_equals_a_handwritten_one() {
    let made = fat_tree(4, "ecmp", &group("permutation = \"host*\"", ALL));
    let mut hand = String::from("duration = \"10 ms\"\nrouting = \"ecmp\"\n[nodes]\n");
    let around = neighbours(&made);
    for name in around.keys() {
        writeln!(hand, "{name} = {{kind = \"{}\"}}", if name.starts_with("host") { "host" } else { "router" }).unwrap();
    }
    for port in made.ports.iter().filter(|port| !port.name.ends_with(".reverse")) {
        let (from, to) = port.name.split_once('-').unwrap();
        let back = if to.starts_with("host") { "1000" } else { "50" };
        let back = format!("reverse = {{queue = {{buffer = \"{back} packets\"}}}}");
        writeln!(hand, "[links.{}]\nfrom = \"{from}\"\nto = \"{to}\"\n{LINKS}\n{back}", port.name).unwrap();
    }
    for (index, (from, to)) in pairs(&made).into_iter().enumerate() {
        // A group per flow would draw other routes, so that routes are given.
        let flow = &made.flows[index];
        let route = |path: u32| made.paths[path as usize].iter().map(|&port| made.ports[port].name.as_str()).collect::<Vec<_>>();
        let routes = format!("route = {:?}\nreturn_route = {:?}", route(flow.forward), route(flow.backward));
        writeln!(
            hand,
            "[flows.web{index:02}]\nfrom = \"{from}\"\nto = \"{to}\"\n{routes}\n{ALL}\ntcp = {{preset = \"newreno\"}}"
        )
        .unwrap();
    }
    let hand = built(&hand);
    assert_eq!(made.ports, hand.ports);
    assert_eq!(made.paths, hand.paths);
    let ran = |network: Network| {
        let end = Time::ZERO + network.duration;
        let mut engine = Engine::new(network);
        engine.run_until(end);
        let results = engine.results().unwrap();
        assert!(results.complete);
        let floats = |name: &str| results.flows.floats(name).unwrap().to_vec();
        (floats("sent_packets"), floats("completion_time_s"))
    };
    let (made, hand) = (ran(made), ran(hand));
    assert!(made.1.iter().all(|time| *time > 0.0));
    assert_eq!(made, hand);
}

#[test]
fn nodes_and_links_may_extend_a_generated_network() {
    let more = "[nodes.store]\nkind = \"host\"\n[links.uplink]\nfrom = \"core0\"\nto = \"store\"\nrate = \"1 Gbps\"\ndelay = \"5 us\"\nqueue = {buffer = \"9 packets\"}\n\
                [flows.web]\nfrom = \"host*\"\nto = \"store\"\ncount = 16\nsize = \"1 kB\"\ntcp = {preset = \"newreno\"}\n";
    let network = fat_tree(4, "shortest", more);
    let last: BTreeSet<_> = network.flows.iter().map(|flow| *network.paths[flow.forward as usize].last().unwrap()).collect();
    assert_eq!(last.iter().map(|&port| network.ports[port].name.as_str()).collect::<Vec<_>>(), ["uplink"]);
}

#[test]
fn a_billion_hosts_are_counted_not_made() {
    for (kind, settings) in [
        ("fat_tree", "k = 1588"),
        ("leaf_spine", "leaves = 1000000\nspines = 1\nhosts = 1000"),
        ("torus", "dimensions = [1000, 1000, 1000]"),
        ("dragonfly", "hosts = 1000\nswitches = 1000\nglobal_links = 1"),
    ] {
        let flows = group("permutation = \"host*\"", ALL);
        let text = format!("duration = \"10 ms\"\n[topology.{kind}]\n{settings}\n{LINKS}\n{flows}");
        let errors = read(&text).build().unwrap_err();
        assert_eq!(errors.list[0].at, format!("topology.{kind}"), "{errors}");
        assert_eq!(errors.list[0].message, format!("`{kind}` generates too many nodes or links"));
        assert_eq!(errors.list.len(), 1, "{errors}");
    }
}

#[test]
fn settings_of_hosts_require_hosts() {
    let of = |shape: &str, hosts: u32| {
        let said = "host_rate = \"1 Gbps\"\nhost_delay = \"2 us\"\nhost_queue = {buffer = \"9 packets\"}";
        let flows = group("permutation = \"switch*\"", ALL);
        let text = format!("duration = \"10 ms\"\n[topology.{shape}\nhosts = {hosts}\n{said}\n{LINKS}\n{flows}");
        Scenario::from_toml(&text, "none.toml").and_then(|scenario| scenario.build())
    };
    for (shape, line) in [("torus]\ndimensions = [3]", 5), ("dragonfly]\nswitches = 2\nglobal_links = 1", 6)] {
        assert!(of(shape, 1).is_ok());
        let errors = of(shape, 0).unwrap_err().to_string();
        let kind = &shape[..shape.find(']').unwrap()];
        for (key, line) in [("host_rate", line), ("host_delay", line + 1), ("host_queue", line + 2)] {
            assert!(
                errors.contains(&format!("--> none.toml:{line}:")) && errors.contains(&format!("topology.{kind}.{key}\n")),
                "{errors}"
            );
        }
        assert!(errors.contains("hosts = 0") && errors.contains("3 errors"), "{errors}");
    }
}

#[test]
fn duplicate_names_are_reported_with_their_origins() {
    let links = "rate = \"1 Gbps\", delay = \"1 us\", queue = {buffer = \"9 packets\"}";
    let of = |shapes: &str| {
        let text = format!("duration = \"10 ms\"\n{}\n{}", shapes.replace("LINKS", links), group("permutation = \"host*\"", ALL));
        Scenario::from_toml(&text, "two.toml").and_then(|scenario| scenario.build()).unwrap_err().to_string()
    };
    let leaves = "leaf_spine = {leaves = 10, spines = 2, hosts = 10, LINKS}";
    let errors = of(&format!("[topology]\nfat_tree = {{k = 8, LINKS}}\n{leaves}"));
    assert!(
        errors.contains("the name `host0` is used twice\n --> two.toml:4:14\n") && errors.contains("topology.leaf_spine\n"),
        "{errors}"
    );
    assert!(errors.contains("`topology.fat_tree` and `topology.leaf_spine` create `host0`"), "{errors}");
    assert!(errors.contains("80 more names have similar errors") && errors.contains("21 errors"), "{errors}");
    // Tables of the scenario have their own places.
    let link = "from = \"core1\"\nto = \"core2\"\nrate = \"1 Gbps\"\ndelay = \"1 us\"\nqueue = {buffer = \"9 packets\"}";
    let errors = of(&format!("[topology]\nfat_tree = {{k = 4, LINKS}}\n[nodes.core0]\n[links.core0-agg0_0]\n{link}"));
    assert!(errors.contains("--> two.toml:4:8\n") && errors.contains("--> two.toml:5:8\n"), "{errors}");
    assert!(errors.contains("topology.fat_tree also creates `core0`") && errors.contains("2 errors"), "{errors}");
}

#[test]
fn routes_are_as_long_as_the_shortest_path() {
    let settings = "routers = 40\nalpha = 0.2\nrate = \"1 Gbps\"\ndelay = \"10 ms\"\nqueue = {buffer = \"50 packets\"}";
    let with = |traffic: &str| built(&format!("duration = \"1 s\"\n[topology.waxman]\n{settings}\n{}", group(traffic, ALL)));
    let network = with("all_to_all = \"router*\"");
    // By pairs of nodes (Floyd, Communications of the ACM 5(6), 1962), in picoseconds.
    let index = |name: &str| name.strip_prefix("router").unwrap().parse::<usize>().unwrap();
    let mut shortest = vec![vec![u64::MAX / 2; 40]; 40];
    (0..40).for_each(|node| shortest[node][node] = 0);
    for (id, port) in PortId::enumerate(&network.ports) {
        let (from, to) = ends(&network, id);
        shortest[index(&from)][index(&to)] = port.delay.0;
    }
    for over in 0..40 {
        for from in 0..40 {
            for to in 0..40 {
                shortest[from][to] = shortest[from][to].min(shortest[from][over] + shortest[over][to]);
            }
        }
    }
    // Alone, a router is looked for no further than it is.
    for network in [&network, &with("permutation = \"router*\"")] {
        for (flow, (from, to)) in network.flows.iter().zip(pairs(network)) {
            let delay: u64 = network.paths[flow.forward as usize].iter().map(|&port| network.ports[port].delay.0).sum();
            assert_eq!(delay, shortest[index(&from)][index(&to)], "{from} to {to}");
        }
    }
}

#[test]
fn lists_of_equal_length_are_pairs_and_others_combine() {
    let ends = |from: &str, to: &str, more: &str| {
        let flows = format!("[flows.web]\nfrom = {from}\nto = {to}\nsize = \"1 kB\"\ntcp = {{preset = \"newreno\"}}\n{more}\n");
        let shape = format!("[topology.leaf_spine]\nleaves = 2\nspines = 2\nhosts = 4\n{LINKS}");
        let found = pairs(&built(&format!("duration = \"1 ms\"\n{shape}\n{flows}")));
        found.iter().map(|(from, to)| format!("{from} {to}").replace("host", "")).collect::<Vec<_>>()
    };
    let (first, last) = ("[\"host0\", \"host1\", \"host2\"]", "[\"host7\", \"host6\", \"host5\"]");
    assert_eq!(ends(first, last, ""), ["0 7", "1 6", "2 5"]);
    assert_eq!(ends(first, last, "count = 5"), ["0 7", "1 6", "2 5", "0 7", "1 6"]);
    assert_eq!(ends(first, last, "count = 2"), ["0 7", "1 6"]);
    // A node may be in several pairs.
    assert_eq!(ends("[\"host0\", \"host0\"]", "[\"host1\", \"host2\"]", ""), ["0 1", "0 2"]);
    assert_eq!(ends(first, "\"host7\"", ""), ["0 7", "1 7", "2 7"]);
    assert_eq!(ends("\"host7\"", first, ""), ["7 0", "7 1", "7 2"]);
    assert_eq!(ends(first, "[\"host7\", \"host6\"]", ""), ["0 7", "1 7", "2 7", "0 6", "1 6", "2 6"]);
    assert_eq!(ends(first, "[\"host7\", \"host6\"]", "count = 4"), ["0 7", "1 7", "2 7", "0 6"]);
    assert_eq!(ends(first, last, "arrivals = {mean_interval = \"10 us\"}")[..4], ["0 7", "1 6", "2 5", "0 7"]);
    assert_eq!(ends(first, last, "start = [\"0 s\", \"1 us\"]"), ["0 7", "1 6"]);
}

#[test]
fn a_host_with_two_links_is_reached_by_both() {
    let edge = |from: &str, to: &str| format!("{{from = \"{from}\", to = \"{to}\"}}");
    let links = [edge("a", "x"), edge("b", "x"), edge("a", "y"), edge("b", "y"), edge("c", "a"), edge("c", "b")].join(", ");
    let shape = format!("links = [{links}]\nhosts = [\"x\", \"y\"]\n{LINKS}");
    let flows = "[flows.web]\nfrom = [\"x\", \"c\"]\nto = \"y\"\ncount = 64\nsize = \"1 kB\"\ntcp = {preset = \"newreno\"}\n";
    let network = built(&format!("duration = \"1 ms\"\nrouting = \"ecmp\"\n[topology.graph]\n{shape}\n{flows}"));
    let ways: BTreeSet<Vec<String>> = network.flows.iter().map(|flow| nodes(&network, flow.forward)).collect();
    // Never through the other host.
    let wanted = [["c", "a", "y"], ["c", "b", "y"], ["x", "a", "y"], ["x", "b", "y"]];
    assert_eq!(ways, wanted.iter().map(|way| way.iter().map(|node| (*node).to_string()).collect()).collect());
}

#[test]
fn generated_sizes_match_the_estimates() {
    let text = |shape: &str| format!("duration = \"1 ms\"\n[topology]\n{shape}\n{}", group("permutation = \"host*\"", ALL));
    let links = "rate = \"1 Gbps\", delay = \"1 us\", queue = {buffer = \"9 packets\"}";
    for (shape, nodes, made) in [
        ("fat_tree = {k = 6, LINKS}", 45 + 54, 3 * 54),
        ("leaf_spine = {leaves = 3, spines = 2, hosts = 4, LINKS}", 5 + 12, 6 + 12),
        ("torus = {dimensions = [2, 3, 4], hosts = 2, LINKS}", 24 * 3, 12 + 24 + 24 + 48),
        ("dragonfly = {hosts = 1, switches = 3, global_links = 2, LINKS}", 21 * 2, 7 * 3 + 21 + 21),
        ("random_regular = {switches = 10, degree = 3, hosts = 2, LINKS}", 30, 15 + 20),
    ] {
        let network = built(&text(&shape.replace("LINKS", links)));
        assert_eq!((neighbours(&network).len(), network.ports.len()), (nodes, 2 * made), "{shape}");
        // Counted for the bound of memory: each direction at its least.
        let counted = read(&text(&shape.replace("LINKS", links))).min_bytes();
        assert_eq!(counted, 2 * made as u64 * size_of::<tailback_core::network::Port>() as u64, "{shape}");
    }
}

/// Whether a scenario is valid with each of thirty seeds.
fn validities(text: &str) -> BTreeSet<bool> {
    let of_seed = |seed: u32| {
        let text = format!("seed = {seed}\n{text}");
        Scenario::from_toml(&text, "").and_then(|scenario| scenario.build()).is_ok()
    };
    (1..30).map(of_seed).collect()
}

#[test]
fn the_seed_does_not_decide_whether_a_scenario_is_valid() {
    let waxman = "[topology.waxman]\nrouters = 12\nrate = \"1 Gbps\"\ndelay = \"10 ms\"\nqueue = {buffer = \"50 packets\"}\n";
    let regular = "[topology.random_regular]\nswitches = 12\ndegree = 3\n";
    let down = |link: &str| format!("[[timeline]]\nat = \"0.5 s\"\nlink = \"{link}\"\ndown = true\n");
    let far = |rtt: &str| {
        format!("[flows.far]\nfrom = \"router0\"\nto = \"router9\"\npropagation_rtt = \"{rtt}\"\ntcp = {{preset = \"sack\"}}\n")
    };
    let drop = |flow: u32| {
        format!(
            "[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"5 ms\"\nqueue = {{buffer = \"50 packets\"}}\n\
             loss = {{drops = [{{group = \"web\", flow = {flow}, segment = 3}}]}}\n[flows.web]\nfrom = \"left\"\nto = \"right\"\n\
             size = \"20 kB\"\narrivals = {{mean_interval = \"0.5 s\"}}\ntcp = {{preset = \"sack\"}}\n"
        )
    };
    let several = |most: usize, texts: &[String]| {
        let valid = texts.iter().filter(|text| {
            let validities = validities(&format!("duration = \"1 s\"\n{text}"));
            assert_eq!(validities.len(), 1, "{text}");
            validities.contains(&true)
        });
        let valid = valid.count();
        assert!((1..=most).contains(&valid), "{valid} of {}", texts.len());
    };
    let all = group("permutation = \"router*\"", ALL);
    let names = |prefix: &str| (1..12).map(|other| format!("{prefix}0-{prefix}{other}")).collect::<Vec<_>>();
    several(10, &names("router").iter().map(|link| format!("{waxman}{all}{}", down(link))).collect::<Vec<_>>());
    several(4, &["0.1 ms", "3 ms", "10 ms", "20 ms", "40 ms"].map(|rtt| format!("{waxman}{}", far(rtt))));
    let hosts = group("permutation = \"host*\"", ALL);
    several(3, &names("switch").iter().map(|link| format!("{regular}{LINKS}\n{hosts}{}", down(link))).collect::<Vec<_>>());
    several(1, &[0, 1, 5].map(drop));
}
