//! Traffic matrices: pairs have the frequencies of their demands, `load` refers to the total, and errors have places.

use crate::{group, pairs, read};
use std::collections::BTreeMap;
use tailback_scenario::Scenario;

const NET: &str = "duration = \"10 s\"\n[topology.graph]\nlinks = [{from = \"a\", to = \"b\"}, {from = \"b\", to = \"c\"}, {from = \"a\", to = \"c\"}]\nrate = \"1 Gbps\"\ndelay = \"1 ms\"\nqueue = {buffer = \"50 packets\"}\n";

/// Number of flows of each pair.
fn counted(matrix: &str, more: &str) -> BTreeMap<(String, String), usize> {
    let scenario = read(&format!("{NET}{}", group(&format!("matrix = {{{matrix}}}"), more)));
    let network = scenario.build().unwrap();
    let again = Scenario::from_json(&scenario.to_json(), "").unwrap();
    assert_eq!((again.to_json(), &again.build().unwrap()), (scenario.to_json(), &network));
    let mut found = BTreeMap::new();
    for pair in pairs(&network) {
        *found.entry(pair).or_default() += 1;
    }
    found
}

/// Compares numbers of flows with shares of `flows`, within five standard deviations.
fn agrees(found: &BTreeMap<(String, String), usize>, expected: &[(&str, &str, f64)]) {
    let flows: usize = found.values().sum();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (from, to, share) in expected {
        let (mean, got) = (flows as f64 * share, found[&((*from).into(), (*to).into())] as f64);
        assert!((got - mean).abs() < 5.0 * (mean * (1.0 - share)).sqrt(), "{from} {to}: {got} for {mean}");
    }
}

#[test]
fn pairs_have_the_frequencies_of_their_demands() {
    let lists = "source = [\"a\", \"c\", \"b\", \"c\"], sink = [\"b\", \"a\", \"b\", \"b\"], demand = [6, 3, 0, 1]";
    let found = counted(&format!("table = {{{lists}}}"), "count = 10000\nsize = \"1 kB\"");
    agrees(&found, &[("a", "b", 0.6), ("c", "a", 0.3), ("c", "b", 0.1)]);
}

#[test]
fn the_gravity_model_multiplies_masses() {
    let found = counted("gravity = {a = 1, b = 2, c = 3}", "count = 22000\nsize = \"1 kB\"");
    // Products 2, 3 and 6, in both directions: 22 in total.
    let shares = [("a", "b", 2.0), ("b", "a", 2.0), ("a", "c", 3.0), ("c", "a", 3.0), ("b", "c", 6.0), ("c", "b", 6.0)];
    agrees(&found, &shares.map(|(from, to, product)| (from, to, product / 22.0)));
}

#[test]
fn a_load_refers_to_the_total() {
    let flows = |matrix: &str, load: f64| {
        let more = format!("size = \"1 kB\"\narrivals = {{load = {load}}}");
        counted(matrix, &more).values().sum::<usize>() as f64
    };
    // 8 Mbit/s x 0.5 over 8000 bit: 500 flows per second.
    let listed = flows("table = {source = [\"a\", \"b\"], sink = [\"b\", \"a\"], demand = [\"6 Mbps\", \"2000 kbps\"]}", 0.5);
    assert!((listed - 5000.0).abs() < 5.0 * 5000.0_f64.sqrt(), "{listed}");
    let total = flows("total = \"4 Mbps\", gravity = {a = 1, b = 1}", 1.0);
    assert!((total - 5000.0).abs() < 5.0 * 5000.0_f64.sqrt(), "{total}");
}

#[test]
fn a_file_has_a_unit_in_the_name_of_its_column_and_errors_have_lines() {
    let scenario = format!("{NET}{}", group("matrix = {table = \"demands.csv\"}", "count = 9\nsize = \"1 kB\""));
    let file = |text: &str| crate::input_files::beside("demands.csv", text, &scenario);
    let read = file("source,note,sink,demand_Mbps\na,x,b,1.5\nb,y,c,0\n").unwrap();
    assert!(read.to_json().contains("\"demand\":[\"1500 kbps\",0.0]"), "{}", read.to_json());
    let wrong = |text: &str| file(text).and_then(|read| read.build().map_err(|errors| errors.to_string())).unwrap_err();
    for (text, says) in [
        ("source,sink,demand\na,b,1\na,d,1\n", "matrix.table[demands.csv line 3].sink"),
        ("source,sink,demand\na,b,1\nc,c,1\n", "`source` and `sink` are the same node"),
        ("source,sink,demand\na,b,-1\n", "matrix.table[demands.csv line 2].demand"),
        ("source,sink,demand\na,b,1 Mbps\na,c,3\n", "demands with and without a unit"),
        ("source,sink,demand\na,b,0\n", "has no demand above 0"),
        ("source,sink,rate\na,b,1\n", "has no column `demand`"),
        ("source,sink,demand\na,b,much\n", "matrix.table[demands.csv line 2].demand"),
    ] {
        assert!(wrong(text).contains(says), "{text}{}", wrong(text));
    }
}

#[test]
fn invalid_matrices_are_refused() {
    let wrong = |matrix: &str, more: &str| {
        let text = format!("{NET}{}", group(&format!("matrix = {{{matrix}}}"), more));
        let errors = Scenario::from_toml(&text, "").and_then(|scenario| scenario.build().map(|_| ())).unwrap_err();
        (errors.list[0].at.clone(), errors.list[0].message.clone())
    };
    let count = "count = 9\nsize = \"1 kB\"";
    let at = |key: &str| format!("flows.web.traffic{key}");
    assert_eq!(wrong("gravity = {a = 1, b = 1}", "size = \"1 kB\""), (at(""), "`matrix` requires the number of flows".into()));
    assert_eq!(wrong("", count), (at(".matrix"), "`matrix` must have either `table` or `gravity`".into()));
    assert_eq!(wrong("gravity = {a = 1, z = 1}", count).0, at(".matrix.gravity.z"));
    assert_eq!(wrong("gravity = {a = 1, b = -1}", count).0, at(".matrix.gravity.b"));
    let few = "`gravity` has fewer than two nodes with a mass";
    assert_eq!(wrong("gravity = {a = 1, b = 0}", count), (at(".matrix.gravity"), few.into()));
    let load = "size = \"1 kB\"\narrivals = {load = 0.5}";
    assert_eq!(wrong("gravity = {a = 1, b = 1}", load).0, "flows.web.arrivals");
}
