//! Flow tables, and files in GraphML and GML: values, units, and the places of errors.

use crate::{ALL, LINKS, group, pairs, read};
use std::sync::atomic::{AtomicU32, Ordering};
use tailback_core::network::Network;
use tailback_core::primitives::units::Time;
use tailback_scenario::Scenario;

#[test]
fn flows_of_a_table_run_between_its_nodes() {
    let lists = "table = {source = [\"host1\", \"host0\"], sink = [\"host2\", \"host9\"], size = [\"10 kB\", \"20 kB\"], start = [\"1 us\", \"0 s\"]}";
    let text = format!("duration = \"10 ms\"\n[topology.fat_tree]\nk = 4\n{LINKS}\n{}", group(lists, ""));
    let scenario = read(&text);
    let network = scenario.build().unwrap();
    assert_eq!(pairs(&network), [("host1".into(), "host2".into()), ("host0".into(), "host9".into())]);
    let sizes: Vec<_> = network.flows.iter().map(|flow| flow.size.unwrap().0).collect();
    assert_eq!((sizes, network.flows[0].start), (vec![10_000, 20_000], Time(1_000_000)));
    let again = Scenario::from_json(&scenario.to_json(), "").unwrap();
    assert_eq!((again.to_json(), again.build().unwrap()), (scenario.to_json(), network));
}

/// A file and a scenario in a temporary folder.
pub(crate) fn beside(file: &str, text: &str, scenario: &str) -> Result<Scenario, String> {
    static FOLDERS: AtomicU32 = AtomicU32::new(0);
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("tailback-topologies-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(file), text).unwrap();
    let read = Scenario::from_toml(scenario, folder.join("s.toml").to_str().unwrap()).map_err(|errors| errors.to_string());
    std::fs::remove_dir_all(&folder).unwrap();
    read
}

const ZOO: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d36" />
  <key attr.name="label" attr.type="string" for="node" id="d33" />
  <graph edgedefault="undirected">
    <node id="0"><data key="d33">New York</data></node>
    <node id="1"><data key="d33">Chicago</data></node>
    <node id="2"><data key="d33">Seattle</data></node>
    <edge source="0" target="1"><data key="d36">1e+10</data></edge>
    <edge source="1" target="2"><data key="d36">2488000000.0</data></edge>
    <edge source="1" target="2" />
  </graph>
</graphml>
"#;

fn zoo(settings: &str) -> String {
    let flows = "[flows.web]\nfrom = \"New_York\"\nto = \"Seattle\"\nsize = \"1 kB\"\ntcp = {preset = \"newreno\"}\n";
    format!(
        "duration = \"1 s\"\n[topology.graph]\ngraphml = \"zoo.graphml\"\nqueue = {{buffer = \"9 packets\"}}\n{settings}\n{flows}"
    )
}

#[test]
fn nodes_of_kind_host_are_hosts_unless_no_link_names_them() {
    let key = "<key attr.name=\"kind\" for=\"node\" id=\"k\" />";
    let node = |id: &str, kind: &str| format!("<node id=\"{id}\"><data key=\"k\">{kind}</data></node>");
    let nodes = [("a", "host"), ("b", "router"), ("alone", "host")].map(|(id, kind)| node(id, kind)).concat();
    let text =
        format!("<graphml>{key}<graph edgedefault=\"undirected\">{nodes}<edge source=\"a\" target=\"b\"/></graph></graphml>");
    let flows = "[flows.web]\nfrom = \"a\"\nto = \"b\"\ntcp = {preset = \"sack\"}";
    let links = "rate = \"1 Mbps\"\ndelay = \"1 ms\"\nqueue = {buffer = \"9 packets\"}";
    let scenario = format!("duration = \"1 s\"\n[topology.graph]\ngraphml = \"a.graphml\"\n{links}\n{flows}");
    let json = beside("a.graphml", &text, &scenario).unwrap().to_json();
    assert!(json.contains("\"hosts\":[\"a\"]"), "{json}");
}

#[test]
fn a_graphml_file_becomes_part_of_the_scenario() {
    let settings = "name_attribute = \"label\"\nrate = \"622 Mbps\"\ndelay = \"3 ms\"";
    let scenario = beside("zoo.graphml", ZOO, &zoo(settings)).unwrap();
    let network = scenario.build().unwrap();
    let ports: Vec<_> = network.ports.iter().map(|port| (port.name.as_str(), port.rate.0)).collect();
    assert_eq!(
        ports.iter().step_by(2).copied().collect::<Vec<_>>(),
        [("Chicago-Seattle", 2_488_000_000), ("Chicago-Seattle_2", 622_000_000), ("New_York-Chicago", 10_000_000_000)]
    );
    let again = Scenario::from_json(&scenario.to_json(), "").unwrap();
    assert_eq!((again.to_json(), again.build().unwrap()), (scenario.to_json(), network));
}

#[test]
fn errors_in_a_graphml_file_have_places() {
    let scenario = beside("zoo.graphml", ZOO, &zoo("name_attribute = \"label\"\ndelay = \"3 ms\"")).unwrap();
    let errors = scenario.build().unwrap_err().to_string();
    assert!(errors.contains("`rate` is missing") && errors.contains("topology.graph.links[2]"), "{errors}");
    let wrong = ZOO.replace("target=\"2\" />", "target=\"4\" />").replace("2488000000.0", "fast");
    let errors = beside("zoo.graphml", &wrong, &zoo("delay = \"3 ms\"")).unwrap_err();
    assert!(
        errors.contains("[zoo.graphml line 11].target") && errors.contains("`target` names an unknown node: `4`"),
        "{errors}"
    );
    assert!(errors.contains("[zoo.graphml line 10].LinkSpeedRaw"), "{errors}");
    assert!(errors.contains("2 errors"), "{errors}");
    let errors = beside("zoo.graphml", ZOO, &zoo("delay = \"3 ms\"\nrate_attribute = \"LinkSpedRaw\"")).unwrap_err();
    assert!(errors.contains("no edge has `LinkSpedRaw`") && errors.contains("did you mean `LinkSpeedRaw`?"), "{errors}");
    for (from, to, message) in [
        ("</graph>", "", "cannot be read"),
        ("<edge source=\"1\" target=\"2\" />", "<hyperedge/>", "line 11 has a <hyperedge>, and a link has two ends"),
        ("id=\"2\"", "", "the node has no identifier"),
        ("for=\"node\"", "for=\"edge\"", "no node has `label`"),
    ] {
        let settings = "name_attribute = \"label\"\ndelay = \"3 ms\"";
        let errors = beside("zoo.graphml", &ZOO.replace(from, to), &zoo(settings)).unwrap_err();
        assert!(errors.contains(message), "{errors}");
    }
}

#[test]
fn nodes_of_a_graphml_file_have_unique_names() {
    let settings = "rate = \"1 Gbps\"\ndelay = \"3 ms\"\nname_attribute = \"label\"";
    let names = |from: &str, to: &str| {
        let scenario = beside("zoo.graphml", &ZOO.replace(from, to), &zoo(settings)).unwrap();
        let (network, warnings) = scenario.build_with_warnings().unwrap();
        let names: Vec<String> = network.ports.into_iter().map(|port| port.name).step_by(2).collect();
        (names.join(" "), warnings.list.into_iter().map(|warning| warning.message).collect::<Vec<_>>())
    };
    let twice = "<node id=\"3\"><data key=\"d33\">Chicago</data></node>\n<edge source=\"3\" target=\"1\" />\n<edge source=\"0\"";
    assert_eq!(names("<edge source=\"0\"", twice).0.split(' ').find(|name| name.contains("_2-")), Some("Chicago_2-Chicago"));
    // `1`, the identifier, replaces a label that is missing.
    assert_eq!(names("<data key=\"d33\">Chicago</data>", "").0, "1-Seattle 1-Seattle_2 New_York-1");
    let (links, warnings) = names("<edge source=\"1\" target=\"2\" />", "<edge source=\"1\" target=\"1\" />");
    assert_eq!(links, "Chicago-Seattle New_York-Chicago");
    assert_eq!(warnings, ["the file has edges from a node to itself, which are left out"]);
}

const GML: &str = r#"Creator "an editor"  # 2011
graph [
  directed 0
  node [ id 0 label "New York" Latitude 40.71 Longitude -74.01 graphics [ x 1 ] ]
  node [ id 1 label "Chicago" Latitude 41.85 Longitude -87.65 ]
  node [ id 2 label "Seattle &amp; Tacoma" ]
  edge [ source 0 target 1 LinkSpeedRaw 1e+10 ]
  edge [ source 1 target 2 delay "12 ms" ]
  edge [ source 2 target 2 ]
]
"#;

#[test]
fn a_gml_file_gives_the_same_as_graphml() {
    let scenario = |settings: &str| {
        let text = zoo(settings).replace("graphml = \"zoo.graphml\"", "gml = \"zoo.gml\"");
        text.replace("to = \"Seattle\"", "to = \"Seattle___Tacoma\"")
    };
    let settings = "name_attribute = \"label\"\nrate = \"1 Gbps\"\ndelay_per_km = \"4.9 us\"";
    let (network, warnings) = beside("zoo.gml", GML, &scenario(settings)).unwrap().build_with_warnings().unwrap();
    let ports: Vec<_> = network.ports.iter().map(|port| (port.name.as_str(), port.rate.0)).step_by(2).collect();
    assert_eq!(ports, [("Chicago-Seattle___Tacoma", 1_000_000_000), ("New_York-Chicago", 10_000_000_000)]);
    assert_eq!(warnings.list.len(), 1);
    // New York to Chicago is 1145 km; the other edge has a delay of its own.
    let delays: Vec<f64> = network.ports.iter().map(|port| port.delay.seconds()).step_by(2).collect();
    assert!((delays[1] / (1145.0 * 4.9e-6) - 1.0).abs() < 0.005, "{delays:?}");
    assert_eq!(delays[0], 0.012);
    for (from, to, message) in [
        ("target 1", "target", "line 7: a key is expected"),
        ("directed 0", "[", "line 3: a key is expected"),
        ("\n]\n", "", "line 9: the file ends within a list"),
        ("graph [", "graph", "line 3: `[` is expected"),
        ("source 0", "source 7", "`source` names an unknown node: `7`"),
        ("Latitude", "latitude", "no node has `Latitude`"),
    ] {
        let errors = beside("zoo.gml", &GML.replace(from, to), &scenario(settings)).unwrap_err();
        assert!(errors.contains(message), "{errors}");
    }
    let both = scenario(settings).replace("gml = ", "graphml = \"zoo.graphml\"\ngml = ");
    assert!(beside("zoo.gml", GML, &both).unwrap_err().contains("`gml` cannot be used with `graphml`"));
    let deep = format!("graph [ {} {} ]", "a [ ".repeat(100_000), "]".repeat(100_000));
    assert!(beside("zoo.gml", &deep, &scenario(settings)).unwrap_err().contains("nested more than 64 deep"));
}

#[test]
fn messages_do_not_quote_files_of_another_format() {
    let secret = "root:x:0:0:root:/root:/bin/bash\n";
    let errors = table(secret, "").unwrap_err();
    assert!(errors.contains("no column `source`") && !errors.contains("root:x"), "{errors}");
    let trace = "duration = \"1 s\"\n[topology.dumbbell]\nrate = {trace = \"up.trace\"}\ndelay = \"1 ms\"\nqueue = {buffer = \"9 packets\"}\n\
        [flows.web]\nfrom = \"left\"\nto = \"right\"\ntcp = {preset = \"newreno\"}\n";
    let errors = beside("up.trace", secret, trace).unwrap_err();
    assert!(errors.contains("31 bytes of text") && !errors.contains("root:x"), "{errors}");
}

#[test]
fn an_asterisk_matches_all_nodes() {
    let scenario = "duration = \"1 s\"\n[topology.graph]\nlinks = [{from = \"a\", to = \"b\"}, {from = \"b\", to = \"c\"}]\n\
        rate = \"1 Gbps\"\ndelay = \"3 ms\"\nqueue = {buffer = \"9 packets\"}\n\
        [flows.web]\ntraffic = {all_to_all = \"*\"}\ntcp = {preset = \"newreno\"}\n";
    let network = Scenario::from_toml(scenario, "").and_then(|scenario| scenario.build()).unwrap();
    assert_eq!(network.flows.len(), 6);
}

fn table(csv: &str, more: &str) -> Result<Network, String> {
    let flows = group("table = \"flows.csv\"", more);
    let scenario = format!("duration = \"10 ms\"\n[topology.fat_tree]\nk = 4\n{LINKS}\n{flows}");
    beside("flows.csv", csv, &scenario)?.build().map_err(|errors| errors.to_string())
}

#[test]
fn a_file_of_flows_is_read_with_its_units() {
    let network = table("start_us,source,sink,note,size\n5,host0,host1,a,10 kB\n0.5,host2,host3,b,1 MB\n", "").unwrap();
    assert_eq!(pairs(&network)[1], ("host2".into(), "host3".into()));
    assert_eq!((network.flows[0].start, network.flows[1].start), (Time(5_000_000), Time(500_000)));
    assert_eq!(network.flows[1].size.unwrap().0, 1_000_000);
    let sized = table("source,sink\nhost0,host1\n", "size = \"3 kB\"\nstart = \"1 ms\"").unwrap();
    assert_eq!((sized.flows[0].size.unwrap().0, sized.flows[0].start), (3000, Time(1_000_000_000)));
}

#[test]
fn errors_in_a_flow_table_have_lines() {
    let has = |csv: &str, more: &str, parts: &[&str]| {
        let errors = table(csv, more).unwrap_err();
        assert!(parts.iter().all(|part| errors.contains(part)), "{errors}");
    };
    has("source,destination,size\nhost0,host1,1 kB\n", "", &["`flows.csv` has no column `sink`", "flows.web.traffic.table"]);
    has("", "", &["`flows.csv` has no column `source`", "`flows.csv` has no column `sink`", "2 errors"]);
    has(
        "source,sink,size\nhost0,host1,-1 kB\nhost0,,1 kB\n",
        "",
        &["[flows.csv line 2].size", "[flows.csv line 3].sink", "2 errors"],
    );
    has(
        "source,sink,size\nhost0,hots1,1 kB\nhost2,host2,1 kB\n",
        "",
        &[
            "`sink` names an unknown node: `hots1`",
            "[flows.csv line 2].sink",
            "did you mean",
            "[flows.csv line 3].sink",
            "`source` and `sink` are the same node",
        ],
    );
    has("source,sink,size,size_bytes\nhost0,host1,1 kB,1000\n", "", &["`flows.csv` has several columns for `size`"]);
    has("source,sink,size\nhost0,host1,1 kB\n", "size = \"1 kB\"", &["`size` is also a column of the flow table"]);
    has("source,sink,size\nhost0,host1,1 kB\n", "count = 3", &["`table` does not have one row per flow", "1 rows for 3 flows"]);
    has("source,sink,size\n", "", &["`table` has no flows"]);
    has(
        "source,sink,size_bytes\nhost0,host1,1,000,000\nhost0,host1,0\n",
        "",
        &[
            "[flows.csv line 2]",
            "the line has more cells than columns",
            "5 for 3",
            "[flows.csv line 3].size",
            "`size` is zero",
            "2 errors",
        ],
    );
    has(
        "source,sink,size,start_sec\nhost0,host1,1 kB,3\n",
        "",
        &["column `start_sec` of `flows.csv` does not end in a unit", "`start_s`"],
    );
    let part =
        ["[flows.csv line 2].size", "`size` is not a whole number of bytes", "\"1000.5 B\"", "whole bytes, such as `1001 B`"];
    has("source,sink,size\nhost0,host1,1000.5 B\n", "", &part);
    has("source,sink,size_bytes\nhost0,host1,1000.5\n", "", &part);
    has("sorce,sink,size\nhost0,host1,1 kB\n", "", &["no column `source`", "did you mean the column `sorce`?"]);
}

#[test]
fn unknown_nodes_of_a_list_are_reported_one_by_one() {
    let of = |nodes: &str| {
        let flows = group(&format!("permutation = {nodes}"), ALL);
        let scenario = format!("duration = \"10 ms\"\n[topology.fat_tree]\nk = 4\n{LINKS}\n{flows}");
        beside("none", "", &scenario).unwrap().build().unwrap_err().to_string()
    };
    let errors = of("[\"host1\", \"hots2\", \"agg*\", \"hots*\"]");
    assert!(errors.contains("permutation[1]") && errors.contains("permutation[3]") && errors.contains("2 errors"), "{errors}");
    assert!(errors.contains("did you mean `host*`?"), "{errors}");
    let many: Vec<String> = (0..300).map(|number| format!("\"nobody{number}\"")).collect();
    let errors = of(&format!("[{}]", many.join(", ")));
    assert!(errors.contains("280 more names have similar errors") && errors.contains("21 errors"), "{errors}");
}

#[test]
fn many_thousand_errors_are_counted() {
    let mut csv = String::from("source,sink,size\n");
    (0..50_000).for_each(|_| csv += "host0,host1,-1\n");
    let errors = table(&csv, "").unwrap_err();
    assert!(errors.contains("49980 more lines have similar errors") && errors.contains("21 errors"), "{errors}");
    let errors = table(&csv.replace("-1", "1 kB").replace("host1", "nowhere"), "").unwrap_err();
    assert!(errors.contains("49980 more flows have similar errors") && errors.contains("21 errors"), "{errors}");
    let edge = "{from = \"a\", to = \"b\"}";
    let hosts: Vec<String> = (0..50).map(|number| format!("\"nobody{number}\"")).collect();
    let shape = format!("links = [{edge}]\nhosts = [{}]\n{LINKS}", hosts.join(", "));
    let web = "[flows.web]\nfrom = \"a\"\nto = \"b\"\nsize = \"1 kB\"\ntcp = {preset = \"newreno\"}\n";
    let errors = read(&format!("duration = \"1 ms\"\n[topology.graph]\n{shape}\n{web}")).build().unwrap_err().to_string();
    assert!(errors.contains("30 more names have similar errors") && errors.contains("21 errors"), "{errors}");
    let starts: Vec<String> = (0..1000).map(|_| "-1".into()).collect();
    let text = format!("duration = \"1 ms\"\n[flows.web]\nstart = [{}]", starts.join(", "));
    let errors = Scenario::from_toml(&text, "").unwrap_err().to_string();
    assert!(errors.contains("980 more entries have similar errors") && errors.contains("flows.web.start[19]"), "{errors}");
}

#[test]
fn pairs_without_a_route_are_reported_with_their_places() {
    let two = |routing: &str, flows: &str| {
        let trees = "[topology]\nfat_tree = {k = 4, LINKS}\ntorus = {dimensions = [5, 5], hosts = 0, LINKS}\n";
        let links = "rate = \"1 Gbps\", delay = \"1 us\", queue = {buffer = \"9 packets\"}";
        format!("duration = \"10 ms\"\nrouting = \"{routing}\"\n{}{flows}", trees.replace("LINKS", links))
    };
    let csv = "source,sink,size\nhost0,host1,1 kB\nhost0,switch1_1,1 kB\nhost2,switch1_1,1 kB\nhost0,switch1_1,1 kB\n";
    for routing in ["shortest", "ecmp"] {
        let text = two(routing, &group("table = \"flows.csv\"", ""));
        let errors = beside("flows.csv", csv, &text).unwrap().build().unwrap_err().to_string();
        assert!(errors.contains("flows.web.traffic.table[flows.csv line 3].sink"), "{errors}");
        assert!(errors.contains("there is no route from `host0` to `switch1_1`"), "{errors}");
        assert!(errors.contains("flows.web.traffic.table[flows.csv line 4].sink"), "{errors}");
        assert!(errors.contains("2 errors"), "{errors}");
        let ends =
            "[flows.web]\nfrom = \"host*\"\nto = \"switch*\"\ncount = 400\nsize = \"1 kB\"\ntcp = {preset = \"newreno\"}\n";
        let errors = read(&two(routing, ends)).build().unwrap_err().to_string();
        assert!(errors.contains("380 more pairs of nodes have similar errors") && errors.contains("21 errors"), "{errors}");
    }
}

#[test]
fn a_flow_without_a_return_path_is_reported() {
    // a reaches b and c, from where nothing leads back; nothing reaches d.
    let links: Vec<String> = [("a", "b"), ("a", "c"), ("d", "a")]
        .map(|(from, to)| format!("{{from = \"{from}\", to = \"{to}\", duplex = false}}"))
        .into();
    let csv = "source,sink,size\na,b,1 kB\na,d,1 kB\na,c,1 kB\nb,a,1 kB\n";
    for routing in ["shortest", "ecmp"] {
        let shape = format!("[topology.graph]\nlinks = [{}]\n{LINKS}", links.join(", "));
        let flows = group("table = \"flows.csv\"", "");
        let text = format!("duration = \"10 ms\"\nrouting = \"{routing}\"\n{shape}\n{flows}");
        let errors = beside("flows.csv", csv, &text).unwrap().build().unwrap_err();
        let told: Vec<(&str, &str)> =
            errors.list.iter().map(|problem| (&problem.message[18..], &problem.at["flows.web.traffic.table".len()..])).collect();
        let wanted = [
            ("from `b` to `a`", "[flows.csv line 2].source"),
            ("from `a` to `d`", "[flows.csv line 3].sink"),
            ("from `c` to `a`", "[flows.csv line 4].source"),
        ];
        assert_eq!(told, wanted);
    }
}
