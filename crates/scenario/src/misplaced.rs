//! Keys that belong to another table, or to another tool: the lines to write instead.

use crate::nearest::lines_for;
use crate::tree::Node;
use tailback_core::congestion::ControllerSpec;

/// Other keys for one purpose, in the tables that have all of `beside`, and the lines to write instead. In these, `KEY` is the key, `SENDER`
/// are the keys of `tcp` for the value, and `{}` is the value; the example, if it is a table.
struct Misplaced {
    beside: &'static [&'static str],
    keys: &'static [&'static str],
    lines: &'static str,
    example: &'static str,
}

const FLOW: &[&str] = &["tcp", "propagation_rtt"];
const TCP: &[&str] = &["preset", "controller"];
const LINK: &[&str] = &["rate", "delay", "queue"];
const QUEUE: &[&str] = &["buffer", "bdp_rtt"];
const LOSS: &[&str] = &["probability", "gilbert_elliott"];
const TOPOLOGY: &[&str] = &["dumbbell", "parking_lot"];
const SCENARIO: &[&str] = &["topology", "flows"];

const fn misplaced(
    beside: &'static [&'static str],
    keys: &'static [&'static str],
    lines: &'static str,
    example: &'static str,
) -> Misplaced {
    Misplaced { beside, keys, lines, example }
}

const MISPLACED: &[Misplaced] = &[
    misplaced(FLOW, SENDERS, "write `tcp = {SENDER}`", "cubic"),
    misplaced(FLOW, &["controller", "preset"], "write `tcp = {SENDER}`", "cubic"),
    misplaced(
        FLOW,
        &["ecn", "mss", "pacing", "initial_window", "delayed_ack", "handshake"],
        "write `tcp = {preset = \"linux/cubic\", KEY = {}}`",
        "true",
    ),
    misplaced(
        FLOW,
        &["n", "num", "num_flows", "n_flows", "flows", "number", "connections", "streams", "parallel"],
        "write `count = {}`",
        "10",
    ),
    misplaced(FLOW, &["bytes", "amount", "data", "file_size", "filesize", "transfer", "volume"], "write `size = {}`", "1 MB"),
    misplaced(
        FLOW,
        &["delay", "latency", "base_rtt", "round_trip"],
        "write `propagation_rtt = {}` for the round trip without queues",
        "100 ms",
    ),
    misplaced(FLOW, &["rate", "bandwidth", "bw"], "write `sender_access = {rate = {}}` for the link of each sender", "100 Mbps"),
    misplaced(FLOW, &["begin", "start_time"], "write `start = {}`", "1 s"),
    misplaced(FLOW, &["end", "stop_time", "duration"], "write `stop = {}` for the time at which it stops", "10 s"),
    misplaced(
        FLOW,
        &["udp", "cbr", "datagrams", "constant"],
        "datagrams have a `source`: `source = {kind = \"constant\", rate = \"1 Mbps\", packet_size = \"1000 B\"}`, without `tcp`",
        "",
    ),
    misplaced(TCP, SENDERS, "write `SENDER`", "cubic"),
    misplaced(
        TCP,
        &["initcwnd", "init_cwnd", "initial_cwnd", "icw", "iw", "initial_congestion_window"],
        "write `initial_window = {}`",
        "10",
    ),
    misplaced(
        TCP,
        &["cwnd", "window", "congestion_window"],
        "write `initial_window = {}` for the first window, or `controller = {kind = \"fixed\"}` with it for a constant one",
        "10",
    ),
    misplaced(
        TCP,
        &[
            "rwnd",
            "rwin",
            "max_window",
            "maximum_window",
            "advertised_window",
            "window_size",
            "rcvbuf",
            "recv_buffer",
            "receive_buffer",
            "receive_window",
        ],
        "write `receiver_window = {}`",
        "100",
    ),
    misplaced(
        TCP,
        &["hystart", "hystart++", "hystartpp"],
        "write `slow_start = \"hystart\"` or \"hystart++\", or \"standard\" to turn it off; `linux/cubic` has it",
        "",
    ),
    misplaced(
        TCP,
        &["min_rto", "max_rto", "initial_rto", "max_backoff", "granularity", "tick"],
        "write `timer = {KEY = {}}`",
        "200 ms",
    ),
    misplaced(TCP, &["rto_min", "rtomin", "minimum_rto"], "write `timer = {min_rto = {}}`", "200 ms"),
    misplaced(TCP, &["rto", "rto_initial", "initrto"], "write `timer = {initial_rto = {}}`", "1 s"),
    misplaced(TCP, &["ssthresh", "initial_slow_start_threshold", "init_ssthresh"], "write `initial_ssthresh = {}`", "64"),
    misplaced(
        TCP,
        &["delack", "delayed_acks", "delayed_acknowledgements", "ack_delay", "ack_every"],
        "write `delayed_ack = {every = 2, timeout = \"40 ms\"}`, or `false`",
        "",
    ),
    misplaced(TCP, &["quickack"], "write `delayed_ack = {quickack_segments = 16}`", ""),
    misplaced(TCP, &["dupack", "dupacks", "dup_acks", "dupthresh", "reordering"], "write `fast_retransmit = {}`", "3"),
    misplaced(
        TCP,
        &["sack", "rack", "rack_tlp", "tlp", "selective_ack"],
        "write `recovery = \"sack\"` or `recovery = \"rack_tlp\"`, or a preset that has it",
        "",
    ),
    misplaced(
        TCP,
        &["pacing_rate", "max_pacing_rate"],
        "write `pacing = true`; a constant rate is `controller = {kind = \"fixed\", rate = {}}`",
        "10 Mbps",
    ),
    misplaced(
        TCP,
        &["nagle", "nodelay", "no_delay", "tcp_nodelay", "cork"],
        "Nagle's algorithm is not modelled: applications write full segments, or messages that are sent at once as with TCP_NODELAY",
        "",
    ),
    misplaced(TCP, &["mtu"], "a segment has an `mss`, and a link an `mtu`", ""),
    misplaced(
        TCP,
        &["fast_open", "fastopen", "tfo", "tcp_fastopen"],
        "TCP Fast Open is not modelled: write `handshake = false` for a connection that is already open",
        "",
    ),
    misplaced(
        TCP,
        &[
            "keepalive",
            "keep_alive",
            "tso",
            "gso",
            "gro",
            "lro",
            "offload",
            "autotuning",
            "sndbuf",
            "snd_buf",
            "send_buffer",
            "window_scaling",
            "window_scale",
            "mptcp",
            "tls",
        ],
        "KEY is not modelled",
        "",
    ),
    misplaced(
        LINK,
        &["rtt", "base_rtt", "propagation_rtt", "round_trip"],
        "`delay` is one way; a flow group has `propagation_rtt = {}` for the whole round trip",
        "100 ms",
    ),
    misplaced(
        LINK,
        &["packet_loss", "loss_rate", "loss_probability", "drop_rate", "error_rate", "plr"],
        "write `loss = {probability = {}}`",
        "1 %",
    ),
    misplaced(
        LINK,
        &["buffer", "limit", "queue_size", "queue_length", "buffer_size"],
        "write `queue = {buffer = {}}`",
        "100 packets",
    ),
    misplaced(LINK, POLICIES, "write `queue = {buffer = \"100 packets\", policy = {}}`", "codel"),
    misplaced(
        QUEUE,
        &["size", "length", "limit", "capacity", "depth", "queue_size", "buffer_size"],
        "write `buffer = {}`",
        "100 packets",
    ),
    misplaced(QUEUE, POLICIES, "write `policy = {}`", "codel"),
    misplaced(LOSS, &["rate", "p", "prob", "percent", "random", "loss", "loss_rate"], "write `probability = {}`", "1 %"),
    misplaced(
        TOPOLOGY,
        &["bottleneck", "link", "single", "single_bottleneck", "point_to_point", "p2p"],
        "one bottleneck is a `dumbbell`",
        "",
    ),
    misplaced(SCENARIO, &["traces", "trace", "tracing"], "write `record = {traces = {}}`", "cwnd"),
    misplaced(
        SCENARIO,
        &["seeds", "runs", "repetitions", "replications"],
        "a scenario has one `seed`; `tailback sweep FILE --seeds N` runs several",
        "",
    ),
    misplaced(SCENARIO, &["time", "run_time", "simulation_time", "stop", "end"], "write `duration = {}`", "10 s"),
    misplaced(
        SCENARIO,
        &["tcp", "cc", "congestion_control", "sender", "senders", "sources", "clients"],
        "senders are groups of flows: `[flows.NAME]` with `tcp`",
        "",
    ),
    misplaced(
        SCENARIO,
        &[
            "bottleneck",
            "network",
            "dumbbell",
            "rate",
            "bandwidth",
            "bw",
            "delay",
            "latency",
            "rtt",
            "buffer",
            "queue",
            "loss",
            "policy",
            "qdisc",
            "aqm",
        ],
        "one bottleneck is `[topology.dumbbell]`, with `rate`, `delay` and `queue`",
        "",
    ),
];

/// Names of a congestion controller, or of a whole sender.
const SENDERS: &[&str] = &[
    "congestion_control",
    "congestion_controller",
    "congestion",
    "cc",
    "cca",
    "algorithm",
    "variant",
    "flavour",
    "flavor",
    "protocol",
    "transport",
];

/// Presets with names that other tools use, too.
pub(crate) const PRESET_NAMES: &[&str] = &[
    "tahoe",
    "reno",
    "newreno",
    "sack",
    "cubic",
    "linux/reno",
    "linux/cubic",
    "linux/bbr",
    "linux/dctcp",
    "linux/bic",
    "linux/highspeed",
    "linux/htcp",
    "linux/hybla",
    "linux/illinois",
    "linux/scalable",
    "linux/vegas",
    "linux/veno",
    "linux/westwood",
    "linux/yeah",
];

/// Names of a queue policy.
const POLICIES: &[&str] = &["aqm", "qdisc", "discipline", "queue_policy", "algorithm", "kind", "type"];

/// What to write instead of a key with this value, in a table with these keys.
pub(crate) fn lines_for_key(key: &str, value: &Node, known: &[&str]) -> Option<String> {
    let is_udp = matches!(value, Node::Text(name) if name.eq_ignore_ascii_case("udp"));
    let lower = if is_udp && known.contains(&"source") { "udp".into() } else { key.to_lowercase() };
    let is_here =
        |entry: &&Misplaced| entry.keys.contains(&lower.as_str()) && entry.beside.iter().all(|other| known.contains(other));
    let Misplaced { lines, example, .. } = MISPLACED.iter().find(is_here)?;
    let given = written(value).unwrap_or_else(|| format!("\"{example}\""));
    let name = if let Node::Text(name) = value { name } else { *example };
    Some(lines.replace("SENDER", &sender(name)).replace("KEY", key).replace("{}", &given))
}

/// What to write instead of text or a number in place of a table, for a key of any table.
pub(crate) fn table_for(key: &str, value: &Node) -> Option<String> {
    let given = written(value)?;
    let inner = match (key, value) {
        ("`queue`", Node::Text(name)) if lines_for("queue policy", name, &[]).is_some() => {
            return lines_for("queue policy", name, &[]);
        }
        ("`queue`", Node::Text(_)) => format!("queue = {{buffer = \"100 packets\", policy = {given}}}"),
        ("`source`", Node::Text(_)) => format!("source = {{kind = {given}, rate = \"1 Mbps\", packet_size = \"1000 B\"}}"),
        ("`sender_access`" | "`receiver_access`", _) => format!("{} = {{rate = {given}}}", key.trim_matches('`')),
        ("`arrivals`", _) => "arrivals = {mean_interval = \"100 ms\"}".into(),
        ("`topology`", Node::Text(name)) => return Some(format!("write a table `[topology.{name}]`")),
        ("`flows`", _) => return Some("write a table `[flows.NAME]`, with `count` for several flows".into()),
        _ => return None,
    };
    Some(format!("write `{inner}`"))
}

/// The keys of `tcp` for a sender of this name: a preset, that of Linux if there is one, or a controller.
fn sender(name: &str) -> String {
    let lower = name.to_lowercase();
    let is_preset = |name: &str| PRESET_NAMES.contains(&name);
    match ["linux/", ""].map(|origin| format!("{origin}{lower}")).into_iter().find(|name| is_preset(name)) {
        Some(preset) => format!("preset = \"{preset}\""),
        None if ControllerSpec::MEMBERS.iter().any(|law| law.name == lower) => {
            format!("preset = \"sack\", controller = \"{lower}\"")
        }
        None => "preset = \"linux/cubic\"".into(),
    }
}

/// A value in TOML, if it is not a table or a list of tables.
fn written(value: &Node) -> Option<String> {
    let is_plain = |value: &Node| matches!(value, Node::Boolean(_) | Node::Integer(_) | Node::Float(_) | Node::Text(_));
    match value {
        Node::List(items) if items.iter().all(is_plain) => {
            Some(format!("[{}]", items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")))
        }
        value => is_plain(value).then(|| value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    /// The hints for a scenario in which the lines of a table are replaced.
    fn hints(table: &str, line: &str) -> Vec<String> {
        let of = |name: &str, usual: &str| if name == table { line.to_string() } else { usual.to_string() };
        let text = format!(
            "{}\n[topology.dumbbell]\nrate = \"9 Mbps\"\ndelay = \"9 ms\"\n{}\n[flows.web]\n{}\n",
            of("scenario", "duration = \"9 s\""),
            of("dumbbell", "queue = {buffer = \"9 packets\"}"),
            of("web", "tcp = {preset = \"sack\"}"),
        );
        let errors = Scenario::from_toml(&text, "").and_then(|scenario| scenario.build().map(drop)).expect_err(&text);
        errors.list.into_iter().filter_map(|problem| problem.hint).collect()
    }

    #[test]
    fn keys_of_other_tools_have_the_lines_to_write_instead() {
        let queue = "queue = {buffer = \"9 packets\"}\n";
        for (table, line, hint) in [
            ("web", "congestion_control = \"cubic\"", "write `tcp = {preset = \"linux/cubic\"}`"),
            ("web", "cc = \"BBR\"", "write `tcp = {preset = \"linux/bbr\"}`"),
            ("web", "algorithm = \"vegas\"", "write `tcp = {preset = \"linux/vegas\"}`"),
            ("web", "algorithm = \"copa\"", "write `tcp = {preset = \"sack\", controller = \"copa\"}`"),
            ("web", "tcp = {congestion_control = \"reno\"}", "write `preset = \"linux/reno\"`"),
            ("web", "tcp = {cc = \"copa\"}", "write `preset = \"sack\", controller = \"copa\"`"),
            ("web", "tcp = \"CUBIC\"", "did you mean `linux/cubic`?"),
            ("web", "tcp = {preset = \"sack\", initcwnd = 10}", "write `initial_window = 10`"),
            ("web", "tcp = {preset = \"sack\", rwnd = \"64 kB\"}", "write `receiver_window = \"64 kB\"`"),
            ("web", "tcp = {preset = \"sack\", min_rto = \"5 ms\"}", "write `timer = {min_rto = \"5 ms\"}`"),
            (
                "web",
                "tcp = {preset = \"sack\", fast_open = true}",
                "TCP Fast Open is not modelled: write `handshake = false` for a connection that is already open",
            ),
            ("web", "tcp = {preset = \"sack\", gso = true}", "gso is not modelled"),
            ("web", "tcp = {preset = \"sack\", mtu = \"1500 B\"}", "a segment has an `mss`, and a link an `mtu`"),
            (
                "web",
                "udp = {rate = \"1 Mbps\"}",
                "datagrams have a `source`: `source = {kind = \"constant\", rate = \"1 Mbps\", packet_size = \"1000 B\"}`, without `tcp`",
            ),
            ("scenario", "duration = \"9 s\"\ntraces = [\"cwnd\"]", "write `record = {traces = [\"cwnd\"]}`"),
            ("web", "tcp = {preset = \"sack\"}\nnum_flows = 3", "write `count = 3`"),
            ("web", "tcp = {preset = \"sack\"}\nbytes = \"1 MB\"", "write `size = \"1 MB\"`"),
            ("web", "tcp = {preset = \"sack\"}\necn = true", "write `tcp = {preset = \"linux/cubic\", ecn = true}`"),
            ("dumbbell", &format!("{queue}packet_loss = \"1 %\""), "write `loss = {probability = \"1 %\"}`"),
            ("dumbbell", &format!("{queue}loss = {{rate = \"1 %\"}}"), "write `probability = \"1 %\"`"),
            (
                "dumbbell",
                &format!("{queue}rtt = \"80 ms\""),
                "`delay` is one way; a flow group has `propagation_rtt = \"80 ms\"` for the whole round trip",
            ),
            ("dumbbell", "queue = {size = \"9 packets\"}", "write `buffer = \"9 packets\"`"),
            ("dumbbell", "queue = {buffer = \"9 packets\", qdisc = \"pie\"}", "write `policy = \"pie\"`"),
            (
                "web",
                "protocol = \"UDP\"",
                "datagrams have a `source`: `source = {kind = \"constant\", rate = \"1 Mbps\", packet_size = \"1000 B\"}`, without `tcp`",
            ),
            ("scenario", "time = \"9 s\"", "write `duration = \"9 s\"`"),
        ] {
            let found = hints(table, line);
            assert!(found.iter().any(|given| given == hint), "{line}: {found:?}");
        }
    }

    #[test]
    fn every_key_of_the_list_is_unknown_in_its_table() {
        let schema = crate::json_schema();
        for entry in super::MISPLACED {
            let tables = schema["$defs"].as_object().unwrap().values().chain([&schema]);
            let tables = tables.flat_map(|table| table["oneOf"].as_array().into_iter().flatten().chain([table]));
            let of = |table: &serde_json::Value| table["properties"].as_object().cloned();
            for keys in tables.filter_map(of).filter(|keys| entry.beside.iter().all(|key| keys.contains_key(*key))) {
                let valid: Vec<&&str> = entry.keys.iter().filter(|key| keys.contains_key(**key)).collect();
                assert!(valid.is_empty(), "{valid:?} beside {:?}", entry.beside);
            }
        }
    }
}
