//! The hint for an invalid word: its new name, a similar valid word, or the lines that replace a name of another tool.

use crate::renamed::renamed;
use tailback_core::congestion::ControllerSpec;
use tailback_core::queue::PolicySpec;
use tailback_core::schedule::SchedulerSpec;
use tailback_core::settings::MemberInfo;
use tailback_core::traffic::ProcessSpec;

/// The hint for an invalid word among these valid ones, if one of them is its new name, is similar or has the same meaning.
pub fn hint(given: &str, words: &[&str]) -> Option<String> {
    match (renamed(given, words), nearest_word(given, words)) {
        (Some(word), _) => Some(format!("`{given}` has been renamed to `{word}`")),
        (None, Some(word)) => Some(format!("did you mean `{word}`?")),
        (None, None) => None,
    }
}

/// The word that most likely replaces an invalid one: its new name, a similar one, or a synonym.
pub fn nearest_word<'a>(given: &str, words: &[&'a str]) -> Option<&'a str> {
    renamed(given, words).or_else(|| nearest(given, words)).or_else(|| synonym(given, words))
}

/// The most similar word, if one is similar enough: it begins with the given one, differs by one edit, or two if both words have five
/// letters, shares two thirds of its letters as a beginning, or has the same parts.
fn nearest<'a>(given: &str, words: &[&'a str]) -> Option<&'a str> {
    // No word is this long, and the comparison takes quadratic time.
    if given.len() > 100 {
        return None;
    }
    let lower = given.to_lowercase();
    let edits = |word: &str| strsim::damerau_levenshtein(&lower, &word.to_lowercase());
    let closest = |is_similar: &dyn Fn(&str) -> bool| {
        words.iter().copied().filter(|word| is_similar(&word.to_lowercase())).min_by_key(|word| edits(word))
    };
    let is_misspelt = |word: &str| {
        let shorter = lower.chars().count().min(word.chars().count());
        edits(word) <= (shorter * 2 / 5).clamp(1, 2) && edits(word) < lower.chars().count()
    };
    let begins_alike = |word: &str| {
        let shared = lower.bytes().zip(word.bytes()).take_while(|(ours, theirs)| ours == theirs).count();
        shared >= 5 && 3 * shared >= 2 * lower.len().max(word.len())
    };
    closest(&|word| lower.len() > 2 && word.starts_with(&lower))
        .or_else(|| closest(&is_misspelt))
        .or_else(|| closest(&begins_alike))
        .or_else(|| closest(&|word| has_parts(word, &lower) || has_parts(&lower, word)))
}

/// Whether the parts of a word, such as `packet` and `size`, are also parts of another one in the same order.
fn has_parts(whole: &str, part: &str) -> bool {
    let separated = |word: &str| format!("_{}_", word.replace([' ', '-', '/', '.'], "_"));
    part.len() > 2 && separated(whole).contains(&separated(part))
}

/// Words of other tools and of result tables, with the corresponding keys.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("flow", &["group"]),
    ("index", &["flow"]),
    ("bandwidth", &["rate"]),
    ("bw", &["rate"]),
    ("plain", &["drop_tail"]),
    ("fifo", &["drop_tail"]),
    ("pfifo", &["drop_tail"]),
    ("bfifo", &["drop_tail"]),
    ("dctcp", &["threshold"]),
    ("tail_drop", &["drop_tail"]),
    ("capacity", &["rate"]),
    ("speed", &["rate"]),
    ("latency", &["delay"]),
    ("limit", &["buffer"]),
    ("length", &["duration"]),
    ("time", &["at", "duration"]),
    ("src", &["from"]),
    ("source", &["from"]),
    ("dst", &["to"]),
    ("destination", &["to"]),
    ("number", &["count"]),
    ("newreno", &["reno"]),
    ("cc", &["preset"]),
    ("cca", &["preset"]),
    ("congestion_control", &["preset"]),
    ("trace", &["traces"]),
];

fn synonym<'a>(given: &str, words: &[&'a str]) -> Option<&'a str> {
    let lower = given.to_lowercase();
    let (_, meant) = SYNONYMS.iter().find(|(word, _)| *word == lower)?;
    words.iter().copied().find(|word| meant.contains(word))
}

/// Queue policies of Linux that are several settings here, with these settings.
const LINUX_POLICIES: [(&str, &str); 4] = [
    ("fq", "FQ of Linux is `scheduler = {kind = \"flow_queue\", queues = 1024}`, and pacing is a setting of `tcp`"),
    ("fqcodel", "FQ-CoDel is `policy = \"codel\"` and `scheduler = {kind = \"flow_queue\", queues = 1024}`"),
    ("fqpie", "FQ-PIE is `policy = \"pie\"` and `scheduler = {kind = \"flow_queue\", queues = 1024}`"),
    (
        "cake",
        "CAKE without its flow isolation by host is `policy = \"cobalt\"`, `scheduler = {kind = \"flow_queue\", queues = 1024}` and \
         `shaper = {rate = \"9 Mbps\", burst = \"15 kB\"}`, with a rate below that of the link",
    ),
];

/// The lines that replace a name which is valid under another key, or is several settings; `noun` describes the valid names, `words`. A
/// misspelt name counts if none of the valid ones is similar.
pub(crate) fn lines_for(noun: &str, name: &str, words: &[&str]) -> Option<String> {
    let lower = name.to_lowercase();
    let is_near_valid = nearest_word(name, words).is_some();
    let find = |names: &[&'static str], given: &str| {
        let same = names.iter().copied().find(|known| *known == given && synonym(name, words).is_none());
        same.or_else(|| if is_near_valid { None } else { nearest(given, names) })
    };
    let member = |members: &'static [MemberInfo]| find(&members.iter().map(|member| member.name).collect::<Vec<_>>(), &lower);
    match noun {
        "queue policy" => {
            let linux = find(&LINUX_POLICIES.map(|(policy, _)| policy), &lower.replace(['-', '_'], ""));
            let lines =
                |linux: &str| LINUX_POLICIES.iter().find(|(policy, _)| *policy == linux).map(|(_, lines)| (*lines).into());
            linux.and_then(lines).or_else(|| {
                member(SchedulerSpec::MEMBERS).map(|word| format!("`{word}` is a scheduler: `scheduler = \"{word}\"`"))
            })
        }
        "scheduler" if find(&LINUX_POLICIES.map(|(policy, _)| policy), &lower.replace(['-', '_'], "")).is_some() => {
            lines_for("queue policy", name, words)
        }
        "scheduler" => member(PolicySpec::MEMBERS).map(|word| format!("`{word}` is a queue policy: `policy = \"{word}\"`")),
        "preset" if words.contains(&format!("linux/{lower}").as_str()) => Some(format!("did you mean `linux/{lower}`?")),
        "preset" => member(ControllerSpec::MEMBERS).map(|word| {
            let marks = |spec: &ControllerSpec| spec.name() == Some(word) && spec.abilities().subscriptions.marks;
            let ecn = if ControllerSpec::samples().iter().any(marks) { ", ecn = true" } else { "" };
            format!("`{word}` is a controller: `tcp = {{preset = \"sack\", controller = \"{word}\"{ecn}}}`")
        }),
        "stack" if words.contains(&format!("user:{name}").as_str()) => Some(format!("did you mean `user:{name}`?")),
        "host" => name.strip_prefix("user:").filter(|name| words.contains(name)).map(|name| format!("did you mean `{name}`?")),
        "kind of application" => member(ProcessSpec::MEMBERS)
            .map(|word| format!("`{word}` is a kind of source: `source = {{kind = \"{word}\"}}`, with its settings")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_word_is_hinted() {
        assert_eq!(nearest("edp", &["bpd", "epd", "red"]), Some("epd"));
        assert_eq!(nearest("drop-tail", &["bpd", "drop_tail"]), Some("drop_tail"));
        assert_eq!(nearest("congetion_threshhold", &["congestion_threshold"]), Some("congestion_threshold"));
        for (given, word) in
            [("pfifo", "drop_tail"), ("a", "b"), ("foo", "from"), ("halves", "l4s"), ("goodput_per_flow", "rate")]
        {
            assert_eq!(nearest(given, &[word]), None);
        }
    }

    #[test]
    fn a_word_with_the_same_parts_is_hinted() {
        assert_eq!(nearest("rack", &["sack", "rack_tlp"]), Some("rack_tlp"));
        assert_eq!(nearest("bbr", &["reno", "linux/bbr"]), Some("linux/bbr"));
        assert_eq!(nearest("rate_bps", &["delay", "rate"]), Some("rate"));
        assert_eq!(nearest("platform", &["from", "form", "to"]), None);
    }

    #[test]
    fn a_word_of_other_tools_is_understood_where_it_fits() {
        assert_eq!(synonym("bandwidth", &["delay", "rate"]), Some("rate"));
        assert_eq!(synonym("flow", &["at", "group", "link"]), Some("group"));
        assert_eq!(synonym("flow", &["at", "link"]), None);
        assert_eq!(nearest_word("pfifo", &["codel", "drop_tail"]), Some("drop_tail"));
        assert_eq!(nearest_word("dctcp", &["codel", "threshold"]), Some("threshold"));
    }

    #[test]
    fn the_lines_for_names_of_other_tools_are_valid() {
        let scenario = |queue: &str, tcp: &str| {
            format!(
                "duration = \"1 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"1 ms\"\n[topology.dumbbell.queue]\nbuffer = \"99 packets\"\n\
                 {queue}\n[flows.web]\nfrom = \"left\"\nto = \"right\"\n{tcp}\n"
            )
        };
        // The lines between backticks, without the name itself.
        let lines =
            |hint: String| hint.split('`').skip(1).step_by(2).filter(|part| part.contains('=')).collect::<Vec<_>>().join("\n");
        let mut checked = 0;
        for (noun, names) in [
            ("queue policy", &["fq", "fq_codel", "FQ-PIE", "cake", "drr", "fq_codell", "drrr", "flow_que"][..]),
            ("scheduler", &["codel", "codell", "fq_codel"]),
            ("preset", &["dctcp", "vegas", "dctpc"]),
        ] {
            for name in names {
                let written = lines(lines_for(noun, name, &[]).unwrap());
                let text = match noun {
                    "queue policy" | "scheduler" => scenario(&written, "tcp = {preset = \"cubic\"}"),
                    _ => scenario("", &written),
                };
                let scenario = crate::Scenario::from_toml(&text, "").unwrap_or_else(|errors| panic!("{text}\n{errors}"));
                scenario.build().unwrap_or_else(|errors| panic!("{text}\n{errors}"));
                checked += 1;
            }
        }
        assert_eq!(checked, 14);
        assert_eq!(lines_for("queue policy", "fifo", &["drop_tail"]), None);
        assert_eq!(lines_for("preset", "newrno", &["newreno"]), None);
        let linux = ["linux/dctcp", "sack"];
        assert_eq!(lines_for("preset", "dctcp", &linux).as_deref(), Some("did you mean `linux/dctcp`?"));
        let stacks = ["quinn", "user:mine"];
        assert_eq!(lines_for("stack", "mine", &stacks).as_deref(), Some("did you mean `user:mine`?"));
        assert_eq!(lines_for("host", "user:quinn", &stacks).as_deref(), Some("did you mean `quinn`?"));
        assert_eq!(lines_for("host", "user:quin", &stacks), None);
        assert!(lines_for("scheduler", "fq_codel", &["drr"]).is_some_and(|lines| lines.contains("FQ-CoDel")));
        assert!(lines_for("queue policy", "fq", &["red"]).is_some_and(|lines| lines.contains("flow_queue")));
        // A similar valid word has precedence over a similar one of another key, but not over the same one.
        assert_eq!(lines_for("scheduler", "rad", &["ram"]), None);
        assert_eq!(lines_for("scheduler", "red", &["ram"]).as_deref(), Some("`red` is a queue policy: `policy = \"red\"`"));
    }
}
