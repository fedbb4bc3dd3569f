//! What is wrong with a scenario, and where: the one text that every face shows.

use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// One fault of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Dotted path of the place (`links.bottleneck.rate`); empty if the file as a whole is meant.
    pub at: String,
    /// Counted from 1; `None` where the text has no lines (JSON, Python).
    pub line: Option<u32>,
    pub message: String,
    /// What stands there.
    pub given: Option<String>,
    /// What would fit.
    pub expected: Option<String>,
    pub hint: Option<String>,
}

/// All faults of a scenario, in the order of its lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Errors {
    /// Name to show; empty for a scenario that came from no file.
    pub file: String,
    /// At most [`SHOWN`] of them.
    pub list: Vec<Problem>,
    /// Faults beyond those in the list.
    pub more: usize,
}

/// Faults that a list of errors holds.
pub const SHOWN: usize = 100;

impl Errors {
    /// A single fault of the file as a whole, such as one that is not text.
    pub fn of_file(file: &str, message: &str, expected: &str) -> Errors {
        let problem = Problem::new(String::new(), message).expecting(expected);
        Errors { file: file.into(), list: vec![problem], more: 0 }
    }
}

impl Errors {
    /// These and others of the same scenario.
    pub fn and(mut self, others: Errors) -> Errors {
        self.list.extend(others.list);
        self.list.sort_by_key(|problem| problem.line.unwrap_or(0));
        self.more += others.more + self.list.len().saturating_sub(SHOWN);
        self.list.truncate(SHOWN);
        self
    }
}

impl std::error::Error for Errors {}

/// What runs but is hardly what was meant, in the order of a scenario's lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    /// Name to show; empty for a scenario that came from no file.
    file: String,
    pub list: Vec<Problem>,
}

impl Warnings {
    /// Each as text for people.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.list.iter().map(|problem| {
            let details = problem.details(&self.file).map(|(label, text)| format!("\n  {label:<8} {text}"));
            problem.message.clone() + &details.collect::<String>()
        })
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.list {
            writeln!(out, "error: {}", problem.message)?;
            problem.details(&self.file).try_for_each(|(label, text)| writeln!(out, "  {label:<8} {text}"))?;
        }
        let count = self.list.len() + self.more;
        let noun = if count == 1 { "error" } else { "errors" };
        let file = if self.file.is_empty() { "the scenario" } else { &self.file };
        let more = if self.more == 0 { String::new() } else { format!(", {} of them shown", self.list.len()) };
        write!(out, "{count} {noun} in {file}{more}; nothing was run")
    }
}

/// `links.bottleneck.rate (dumbbell.toml, line 11)`, with as much of it as is known.
fn place(problem: &Problem, file: &str) -> Option<String> {
    let line = problem.line.map(|line| format!("line {line}"));
    let file = Some(file.to_string()).filter(|file| !file.is_empty());
    let whence: Vec<String> = file.into_iter().chain(line).collect();
    match (problem.at.is_empty(), whence.is_empty()) {
        (true, true) => None,
        (true, false) => Some(whence.join(", ")),
        (false, true) => Some(problem.at.clone()),
        (false, false) => Some(format!("{} ({})", problem.at, whence.join(", "))),
    }
}

impl Problem {
    /// What follows its message, with labels.
    fn details(&self, file: &str) -> impl Iterator<Item = (&'static str, String)> {
        let rest = [("given", &self.given), ("expected", &self.expected), ("hint", &self.hint)];
        let rest = rest.map(|(label, text)| text.clone().map(|text| (label, text)));
        place(self, file).map(|place| ("at", place)).into_iter().chain(rest.into_iter().flatten())
    }

    fn new(at: String, message: impl Into<String>) -> Problem {
        Problem { at, line: None, message: message.into(), given: None, expected: None, hint: None }
    }

    pub(crate) fn expecting(mut self, text: impl Into<String>) -> Problem {
        self.expected = Some(text.into());
        self
    }

    pub(crate) fn given(&mut self, text: impl Into<String>) -> &mut Problem {
        self.given = Some(text.into());
        self
    }

    pub(crate) fn expected(&mut self, text: impl Into<String>) -> &mut Problem {
        self.expected = Some(text.into());
        self
    }

    pub(crate) fn hint(&mut self, text: impl Into<String>) -> &mut Problem {
        self.hint = Some(text.into());
        self
    }

    /// Lists the words that fit and points out the nearest.
    pub(crate) fn one_of<'a>(&mut self, given: &str, words: impl IntoIterator<Item = &'a str>) -> &mut Problem {
        let words: Vec<&str> = words.into_iter().collect();
        if words.is_empty() {
            return self.expected("one that is declared; none is");
        }
        if let Some(word) = nearest_word(given, &words) {
            self.hint(format!("did you mean `{word}`?"));
        }
        self.expected(listed(&words))
    }
}

/// "one of `a`, `b`"; long lists are cut.
pub(crate) fn listed(words: &[&str]) -> String {
    const MOST: usize = 30;
    let quoted: Vec<String> = words.iter().take(MOST).map(|word| format!("`{word}`")).collect();
    match words.len() {
        1 => quoted[0].clone(),
        count if count > MOST => format!("one of {} and {} more", quoted.join(", "), count - MOST),
        _ => format!("one of {}", quoted.join(", ")),
    }
}

/// The word that somebody most likely means who has written another: a near one, or one that means the same.
pub fn nearest_word<'a>(given: &str, words: &[&'a str]) -> Option<&'a str> {
    nearest(given, words).or_else(|| synonym(given, words))
}

/// The word that a misspelling most likely means, if one is near.
fn nearest<'a>(given: &str, words: &[&'a str]) -> Option<&'a str> {
    // Longer than any word here: nothing is near, and comparing would take quadratic time.
    if given.len() > 100 {
        return None;
    }
    let lower = given.to_lowercase();
    let edits = |word: &str| strsim::damerau_levenshtein(&lower, &word.to_lowercase());
    let begins = |word: &&&str| lower.len() > 2 && word.to_lowercase().starts_with(&lower);
    if let Some(word) = words.iter().filter(begins).min_by_key(|word| edits(word)) {
        return Some(word);
    }
    let word = words.iter().min_by_key(|word| edits(word))?;
    let allowed = given.chars().count().max(word.chars().count()).div_ceil(3);
    (edits(word) <= allowed && edits(word) < given.chars().count()).then_some(word)
}

/// What a word may mean that is none of the known ones, by the words of other tools and of result tables.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("flow", &["group"]),
    ("index", &["flow"]),
    ("bandwidth", &["rate"]),
    ("bw", &["rate"]),
    ("plain", &["drop_tail"]),
    ("fifo", &["drop_tail"]),
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
    ("trace", &["traces"]),
];

fn synonym<'a>(given: &str, words: &[&'a str]) -> Option<&'a str> {
    let lower = given.to_lowercase();
    let (_, meant) = SYNONYMS.iter().find(|(word, _)| *word == lower)?;
    words.iter().copied().find(|word| meant.contains(word))
}

/// Where the parts of a scenario were written. What a scenario says does not depend on it, so all are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    pub file: String,
    /// By dotted path.
    pub lines: BTreeMap<String, u32>,
}

impl PartialEq for Source {
    fn eq(&self, _: &Source) -> bool {
        true
    }
}

impl Source {
    /// The line of the path or of the nearest place around it.
    pub fn line(&self, at: &str) -> Option<u32> {
        let mut at = at;
        loop {
            if let Some(&line) = self.lines.get(at) {
                return Some(line);
            }
            at = &at[..at.rfind(['.', '['])?];
        }
    }
}

/// Faults of one kind, of which there may be many, such as those of a list: the first ones are told, the others counted.
#[derive(Default)]
pub(crate) struct Alike {
    found: usize,
    /// Of the last one that was told.
    line: Option<u32>,
}

impl Alike {
    /// Places whose faults are told one by one.
    const TOLD: usize = 20;

    /// Whether there were any.
    pub fn any(&self) -> bool {
        self.found > 0
    }

    /// Tells how many were not told, if there are such; `nouns`: what they are faults of. Details follow by [`Problem`]'s methods.
    pub fn rest<'r>(&self, at: impl Into<String>, nouns: &str, report: &'r mut Report) -> Option<&'r mut Problem> {
        let more = self.found.saturating_sub(Alike::TOLD);
        let line = self.line;
        (more > 0).then(|| {
            let problem = report.add(at, format!("{more} more {nouns} like these"));
            // After those that were told, however many lines a list has.
            problem.line = line.or(problem.line);
            problem
        })
    }
}

/// Where a report stood before a place was looked at.
pub(crate) struct Mark {
    problems: usize,
    more: usize,
    counts_only: bool,
}

/// Collects faults.
pub(crate) struct Report<'a> {
    source: &'a Source,
    problems: Vec<Problem>,
    more: usize,
    warnings: Vec<Problem>,
    /// What is found is not kept.
    counts_only: bool,
}

impl<'a> Report<'a> {
    pub fn new(source: &'a Source) -> Report<'a> {
        Report { source, problems: Vec::new(), more: 0, warnings: Vec::new(), counts_only: false }
    }

    /// The name of the file that is read; empty if there is none.
    pub fn file(&self) -> &str {
        &self.source.file
    }

    /// Adds something that runs, and is hardly what was meant; its details follow by [`Problem`]'s methods.
    pub fn warn(&mut self, at: impl Into<String>, message: impl Into<String>) -> &mut Problem {
        let mut problem = Problem::new(at.into(), message);
        problem.line = self.source.line(&problem.at);
        self.warnings.push(problem);
        let last = self.warnings.len() - 1;
        &mut self.warnings[last]
    }

    /// What was warned of, in the order of the lines.
    pub fn warnings(mut self) -> Warnings {
        self.warnings.sort_by_key(|problem| problem.line.unwrap_or(0));
        // One key may describe several links.
        let mut told = BTreeSet::new();
        self.warnings.retain(|problem| told.insert((problem.at.clone(), problem.message.clone())));
        Warnings { file: self.source.file.clone(), list: self.warnings }
    }

    /// Adds a fault; its details follow by [`Problem`]'s methods.
    pub fn add(&mut self, at: impl Into<String>, message: impl Into<String>) -> &mut Problem {
        // A flood is counted, not kept: the last entry is overwritten.
        if self.problems.len() > SHOWN {
            self.problems.truncate(SHOWN);
            self.more += 1;
        }
        let mut problem = Problem::new(at.into(), message);
        problem.line = self.source.line(&problem.at);
        self.problems.push(problem);
        let last = self.problems.len() - 1;
        &mut self.problems[last]
    }

    /// Whether what is added now is shown. To look for near words in every fault of a flood would take longer than anybody waits.
    pub fn is_shown(&self) -> bool {
        self.problems.len() < SHOWN && !self.counts_only
    }

    /// Looks at one of many places that may be wrong in the same way.
    pub fn among<T>(&mut self, alike: &mut Alike, look: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.mark(alike);
        let found = look(self);
        self.settle(before, alike);
        found
    }

    /// Begins to look at such a place, for those that cannot call [`Report::among`].
    pub fn mark(&mut self, alike: &Alike) -> Mark {
        let before = Mark { problems: self.problems.len(), more: self.more, counts_only: self.counts_only };
        self.counts_only |= alike.found >= Alike::TOLD;
        before
    }

    /// Counts the place if it is wrong, and forgets what is wrong there if enough was told.
    pub fn settle(&mut self, before: Mark, alike: &mut Alike) {
        let is_wrong = self.problems.len() + self.more > before.problems + before.more;
        // Where this is a part of what only counts, the whole is counted, and forgotten then.
        if is_wrong && self.counts_only && !before.counts_only {
            self.problems.truncate(before.problems);
            self.more = before.more;
        } else if let Some(last) = self.problems.last().filter(|_| is_wrong) {
            alike.line = last.line;
        }
        alike.found += usize::from(is_wrong);
        self.counts_only = before.counts_only;
    }

    /// Adds that a name is none of those that are known.
    pub fn unknown<'w>(&mut self, at: &str, noun: &str, name: &str, known: impl IntoIterator<Item = &'w str>) -> &mut Problem {
        let is_shown = self.is_shown();
        let problem = self.add(at, format!("unknown {noun} `{}`", name.escape_debug()));
        if is_shown {
            problem.one_of(name, known);
        }
        problem
    }

    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// Whether nothing wrong was found at this place or inside it.
    pub fn sound(&self, at: &str) -> bool {
        let inside = |problem: &Problem| match problem.at.strip_prefix(at) {
            Some(rest) => rest.is_empty() || rest.starts_with(['.', '[']),
            None => false,
        };
        !self.problems.iter().any(inside)
    }

    /// Where something wrong was found.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.problems.iter().map(|problem| problem.at.as_str())
    }

    pub fn finish(mut self) -> Errors {
        self.problems.sort_by_key(|problem| problem.line.unwrap_or(0));
        let more = self.more + self.problems.len().saturating_sub(SHOWN);
        self.problems.truncate(SHOWN);
        Errors { file: self.source.file.clone(), list: self.problems, more }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_the_house_shows_them() {
        let lines = BTreeMap::from([("links.bottleneck.queue.policy".into(), 14), ("links.bottleneck".into(), 11)]);
        let source = Source { file: "dumbbell.toml".into(), lines };
        let mut report = Report::new(&source);
        report.add("links.bottleneck.queue.policy", "unknown queue policy `edp`").one_of("edp", ["bpd", "drop_tail", "epd"]);
        report.add("links.bottleneck.rate", "a rate without a unit").given("10").expected("a rate such as `10 Mbps`");
        assert_eq!(
            report.finish().to_string(),
            "error: a rate without a unit\n  \
               at       links.bottleneck.rate (dumbbell.toml, line 11)\n  \
               given    10\n  \
               expected a rate such as `10 Mbps`\n\
             error: unknown queue policy `edp`\n  \
               at       links.bottleneck.queue.policy (dumbbell.toml, line 14)\n  \
               expected one of `bpd`, `drop_tail`, `epd`\n  \
               hint     did you mean `epd`?\n\
             2 errors in dumbbell.toml; nothing was run"
        );
    }

    #[test]
    fn only_a_near_word_is_hinted() {
        assert_eq!(nearest("edp", &["bpd", "epd", "red"]), Some("epd"));
        assert_eq!(nearest("drop-tail", &["bpd", "drop_tail"]), Some("drop_tail"));
        assert_eq!(nearest("pfifo", &["bpd", "drop_tail"]), None);
        assert_eq!(nearest("rack", &["sack", "rack_tlp"]), Some("rack_tlp"));
        assert_eq!(nearest("a", &["b"]), None);
    }

    #[test]
    fn a_word_of_other_tools_is_understood_where_it_fits() {
        assert_eq!(synonym("bandwidth", &["delay", "rate"]), Some("rate"));
        assert_eq!(synonym("flow", &["at", "group", "link"]), Some("group"));
        assert_eq!(synonym("flow", &["at", "link"]), None);
    }

    #[test]
    fn a_flood_of_faults_is_counted_and_cut() {
        let source = Source::default();
        let mut report = Report::new(&source);
        for index in 0..250 {
            report.add(format!("nodes.n{index}"), "wrong");
        }
        let errors = report.finish();
        assert_eq!((errors.list.len(), errors.more), (SHOWN, 150));
        assert!(errors.to_string().ends_with("250 errors in the scenario, 100 of them shown; nothing was run"));
    }

    #[test]
    fn of_faults_alike_the_first_ones_are_told_and_the_others_counted() {
        let source = Source::default();
        let mut report = Report::new(&source);
        let mut alike = Alike::default();
        for index in 0..30 {
            let told = report.among(&mut alike, |report| {
                if index % 2 == 0 {
                    report.add(format!("list[{index}]"), "wrong");
                    report.add(format!("list[{index}]"), "and odd");
                }
                index
            });
            assert_eq!(told, index);
        }
        // Fewer than are told.
        assert!(alike.any() && alike.rest("list", "entries", &mut report).is_none());
        for index in 30..60 {
            report.among(&mut alike, |report| report.unknown(&format!("list[{index}]"), "node", "b", ["a"]).hint("none").line);
        }
        alike.rest("list", "entries", &mut report).unwrap().expected("others");
        let list = report.finish().list;
        // Of 15 places two each, of 5 one each, and the rest.
        assert_eq!(list.len(), 36);
        assert_eq!((list[34].at.as_str(), list[35].message.as_str()), ("list[34]", "25 more entries like these"));
        // Nothing is told but once.
        let mut report = Report::new(&source);
        assert!(Alike::default().rest("list", "entries", &mut report).is_none() && report.is_empty());
    }

    #[test]
    fn soundness_is_judged_by_whole_words_of_the_path() {
        let source = Source::default();
        let mut report = Report::new(&source);
        report.add("links.bottleneck.rate", "wrong");
        assert!(!report.sound("links") && !report.sound("links.bottleneck.rate"));
        assert!(report.sound("links.bottle") && report.sound("links.bottleneck.delay"));
    }

    #[test]
    fn faults_of_lists_within_a_list_are_counted_with_it() {
        let source = Source::default();
        let mut report = Report::new(&source);
        let mut outer = Alike::default();
        for entry in 0..30 {
            report.among(&mut outer, |report| {
                let mut inner = Alike::default();
                for key in 0..2 {
                    report.among(&mut inner, |report| _ = report.add(format!("list[{entry}].{key}"), "unknown key"));
                }
            });
        }
        outer.rest("list", "entries", &mut report);
        let told: Vec<String> = report.finish().list.iter().map(|problem| problem.message.clone()).collect();
        assert_eq!((told.len(), told[40].as_str()), (41, "10 more entries like these"));
    }
}
