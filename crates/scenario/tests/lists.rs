//! Only the first twenty errors of a list are reported one by one, and the others are counted.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use tailback_scenario::Scenario;

const LINK: &str = "rate = \"10 Mbps\"\ndelay = \"1 ms\"\nqueue = {buffer = \"9 packets\"}";
const WEB: &str = "[flows.web]\nfrom = \"left\"\nto = \"right\"\ntcp = {preset = \"newreno\"}";

fn errors(text: &str) -> String {
    Scenario::from_toml(text, "many.toml").and_then(|scenario| scenario.build()).unwrap_err().to_string()
}

/// A dumbbell, with further keys of its link, its flows and the scenario.
fn dumbbell(link: &str, flow: &str, rest: &str) -> String {
    format!("duration = \"1 s\"\n[topology.dumbbell]\n{LINK}\n{link}\n{WEB}\n{flow}\n{rest}\n")
}

fn list(entries: impl Iterator<Item = String>) -> String {
    format!("[{}]", entries.collect::<Vec<String>>().join(",\n  "))
}

#[test]
fn only_the_first_twenty_errors_of_a_list_are_reported_one_by_one() {
    let of = |entry: fn(u32) -> String| list((0..50).map(entry));
    let edges = of(|place| format!("{{from = \"left\", to = \"n{place}\", rate = 7}}"));
    let classes = of(|place| format!("{{name = \"c{place}\", share = 0}}"));
    let queue = |inner: &str| {
        let back = "reverse = {queue = {buffer = \"9 packets\"}}";
        let links = format!("[links.a]\nfrom = \"left\"\nto = \"far\"\nrate = \"10 Mbps\"\ndelay = \"1 ms\"\n{back}\n{inner}");
        dumbbell("", "", &format!("[nodes.far]\n{links}"))
    };
    for (text, at, nouns) in [
        (dumbbell("", &format!("start = {}", of(|place| format!("\"-{place} s\""))), ""), "flows.web.start[19]", "entries"),
        (
            dumbbell("", &format!("size = {{cdf = {}}}", of(|place| format!("[\"{place} kB\", 2]"))), ""),
            "flows.web.size.cdf[19][1]",
            "entries",
        ),
        (dumbbell("", &format!("route = {}", of(|place| format!("\"n{place}\""))), ""), "flows.web.route[19]", "links"),
        (dumbbell("", &(0..50).map(|key| format!("odd{key} = 1\n")).collect::<String>(), ""), "flows.web.odd19", "keys"),
        (
            dumbbell("", "", &format!("[record]\ntraces = {{cwnd = {}}}", of(|place| format!("\"n{place}\"")))),
            "record.traces.cwnd[19]",
            "names",
        ),
        (
            format!(
                "timeline = {}\n{}",
                of(|_| "{at = \"0.5 s\", link = \"none\", rate = \"1 Mbps\"}".into()),
                dumbbell("", "", "")
            ),
            "timeline[19].link",
            "events",
        ),
        (
            format!(
                "timeline = {}\n{}",
                of(|_| "{at = 7, link = \"bottleneck\", rate = \"1 Mbps\"}".into()),
                dumbbell("", "", "")
            ),
            "timeline[19].at",
            "entries",
        ),
        (
            format!("duration = \"1 s\"\n[topology.graph]\n{LINK}\nlinks = {edges}\n{WEB}"),
            "topology.graph.links[19].rate",
            "entries",
        ),
        (
            queue(&format!(
                "queue = {{buffer = \"9 packets\"}}\nloss = {{drops = {}}}",
                of(|place| format!("{{group = \"n{place}\", segment = 1}}"))
            )),
            "links.a.loss.drops[19].group",
            "packets",
        ),
        (
            queue(&format!("queue = {{buffer = \"9 packets\", scheduler = \"drr\", classes = {classes}}}")),
            "links.a.queue.classes[19].share",
            "classes",
        ),
        (
            format!(
                "duration = \"1 s\"\n[topology.dumbbell]\nrate = {{opportunities = {}}}\ndelay = \"1 ms\"\n\
                 queue = {{buffer = \"9 packets\"}}\n{WEB}",
                of(|place| format!("[{place}, -1]"))
            ),
            "topology.dumbbell.rate.opportunities[19][1]",
            "entries",
        ),
    ] {
        let errors = errors(&text);
        let rest = format!("30 more {nouns} have similar errors");
        assert!(errors.contains(at) && errors.contains(&rest) && errors.contains("21 errors"), "{at}\n{errors}");
        let twenty_first = at.replace("[19]", "[20]").replace("odd19", "odd20");
        assert!(!errors.contains(&twenty_first), "{errors}");
        // Behind the reported ones.
        assert!(errors.find(&rest) > errors.find(at), "{errors}");
    }
}

#[test]
fn lines_that_cannot_be_read_are_counted_as_well() {
    let errors = errors(&"a = = 1\n".repeat(50));
    assert!(errors.contains("30 more lines have similar errors") && errors.contains("21 errors"), "{errors}");
}

#[test]
fn an_entry_with_several_errors_counts_once() {
    let edges = list((0..30).map(|_| "{from = \"a b\", to = \"left\", rate = 7}".into()));
    let errors = errors(&format!("duration = \"1 s\"\n[topology.graph]\n{LINK}\nlinks = {edges}\n{WEB}"));
    assert!(errors.contains("links[19].from") && errors.contains("links[19].rate"), "{errors}");
    assert!(errors.contains("10 more entries have similar errors") && errors.contains("41 errors"), "{errors}");
}

#[test]
fn each_empty_transfer_is_reported_with_its_place() {
    let sizes = "size = [\"1 kB\", \"0 B\", \"1 kB\",\n\"0 kB\"]";
    let listed = errors(&dumbbell("", sizes, ""));
    for part in ["--> many.toml:11:17", "flows.web.size[1]", "--> many.toml:12:1\n", "flows.web.size[3]", "\"0 kB\"", "2 errors"]
    {
        assert!(listed.contains(part), "{part}\n{listed}");
    }
    assert!(errors(&dumbbell("", "size = \"0 B\"", "")).contains("`size` is zero"));
    let columns = "traffic = {table = {source = [\"left\", \"left\"], sink = [\"right\", \"right\"], size";
    let web = dumbbell("", "", "").replace("from = \"left\"\nto = \"right\"", &format!("{columns}_bytes = [0, 1]}}}}"));
    assert!(errors(&web).contains("flows.web.traffic.table.size_bytes[0]"), "{}", errors(&web));
    let web = dumbbell("", "", "").replace("from = \"left\"\nto = \"right\"", &format!("{columns} = [\"1 B\", \"0 B\"]}}}}"));
    let (told, many) = (errors(&web), list((0..50).map(|_| "\"0 B\"".into())));
    assert!(told.contains("flows.web.traffic.table.size[1]") && told.contains("1 error in"), "{told}");
    let told = errors(&dumbbell("", &format!("size = {many}"), ""));
    assert!(told.contains("30 more entries have similar errors") && told.contains("21 errors"), "{told}");
}
