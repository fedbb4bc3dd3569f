//! Errors and warnings of a scenario, and the text that the command line, Python and the browser show for them.

use crate::location::{Focus, Location, Source};
use crate::nearest::{hint, lines_for};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

/// An error, a warning or a note about one place of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Dotted path of the place (`links.bottleneck.rate`); empty if the problem concerns the file as a whole.
    pub at: String,
    /// Where the value or key is written; `None` where the text has no lines (JSON, Python).
    #[serde(flatten)]
    pub location: Option<Location>,
    /// A clause that names the key.
    pub message: String,
    pub given: Option<String>,
    /// The valid values.
    pub expected: Option<String>,
    pub hint: Option<String>,
    /// Line and column for sorting, if different from the location.
    #[serde(skip)]
    order: Option<(u32, u32)>,
}

/// All errors of a scenario, sorted by line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Errors {
    /// The file that messages name; empty for a scenario that came from no file.
    pub file: String,
    /// At most [`SHOWN`] of them.
    pub list: Vec<Problem>,
    /// Number of further errors.
    pub more: usize,
}

/// Maximum number of errors in a list.
pub const SHOWN: usize = 100;

impl Errors {
    pub fn one(file: &str, problem: Problem) -> Errors {
        Errors { file: file.into(), list: vec![problem], more: 0 }
    }

    /// Merges the errors of two checks of the same scenario.
    pub fn and(mut self, others: Errors) -> Errors {
        self.list.extend(others.list);
        self.list.sort_by_key(Problem::order);
        self.more += others.more + self.list.len().saturating_sub(SHOWN);
        self.list.truncate(SHOWN);
        self
    }
}

impl std::error::Error for Errors {}

/// Valid settings with a likely mistake, sorted by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    /// The file that messages name; empty for a scenario that came from no file.
    file: String,
    pub list: Vec<Problem>,
}

impl Warnings {
    /// The text of each.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.list.iter().map(|problem| problem.text(&self.file))
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.list.iter().map(|problem| format!("error: {}", problem.text(&self.file))).collect();
        out.write_str(&texts.join("\n\n"))?;
        let count = self.list.len() + self.more;
        let noun = if count == 1 { "error" } else { "errors" };
        let file = if self.file.is_empty() { String::new() } else { format!(" in {}", self.file) };
        let more = if self.more == 0 { String::new() } else { format!(", {} of them shown", self.list.len()) };
        // A single error in an argument needs no summary.
        if count > 1 || !file.is_empty() { write!(out, "\n{count} {noun}{file}{more}; nothing was run") } else { Ok(()) }
    }
}

impl Problem {
    pub fn new(at: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { at: at.into(), location: None, message: message.into(), given: None, expected: None, hint: None, order: None }
    }

    pub fn line(&self) -> Option<u32> {
        self.location.as_ref().map(|location| location.line)
    }

    fn order(&self) -> (u32, u32) {
        let own = self.location.as_ref().map_or((0, 0), |location| (location.line, location.column));
        self.order.unwrap_or(own)
    }

    /// Message, place, source line and details.
    fn text(&self, file: &str) -> String {
        let mut text = self.message.clone();
        match &self.location {
            Some(location) => {
                let file = if file.is_empty() { "<text>" } else { file };
                let margin = " ".repeat(location.line.to_string().len());
                let place = format!("\n{margin}--> {file}:{}:{}\n{}", location.line, location.column, location.snippet());
                text.push_str(&place);
            }
            None if !file.is_empty() => text.extend(["\n --> ", file]),
            None => {}
        }
        let at = Some(&self.at).filter(|at| !at.is_empty());
        let details =
            [("at", at), ("given", self.given.as_ref()), ("expected", self.expected.as_ref()), ("hint", self.hint.as_ref())];
        for (label, detail) in details {
            if let Some(detail) = detail {
                // Writing to a String cannot fail.
                let _ = write!(text, "\n  {label:<8} {detail}");
            }
        }
        text
    }

    #[must_use]
    pub fn expecting(mut self, text: impl Into<String>) -> Problem {
        self.expected = Some(text.into());
        self
    }

    pub fn given(&mut self, text: impl Into<String>) -> &mut Problem {
        self.given = Some(text.into());
        self
    }

    pub fn expected(&mut self, text: impl Into<String>) -> &mut Problem {
        self.expected = Some(text.into());
        self
    }

    pub fn hint(&mut self, text: impl Into<String>) -> &mut Problem {
        self.hint = Some(text.into());
        self
    }

    /// Sets or replaces the hint, if there is one.
    pub(crate) fn hint_if(&mut self, text: Option<String>) -> &mut Problem {
        self.hint = text.or(self.hint.take());
        self
    }

    /// Lists the valid words, with the nearest one as a hint.
    pub(crate) fn one_of<'a>(&mut self, given: &str, words: impl IntoIterator<Item = &'a str>) -> &mut Problem {
        let words: Vec<&str> = words.into_iter().collect();
        if words.is_empty() {
            return self.expected("a name that the scenario declares; it declares none");
        }
        self.nearest(given, &words).expected(listed(&words))
    }

    /// Adds the valid word nearest to the given one as a hint, if one is near.
    pub(crate) fn nearest(&mut self, given: &str, words: &[&str]) -> &mut Problem {
        match hint(given, words) {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }
}

/// The last key of a dotted path, in backticks: "`rate`" for `links.bottleneck.rate`.
pub(crate) fn key(at: &str) -> String {
    let mut depth = 0_u32;
    let start = at.char_indices().rev().find(|&(_, character)| {
        match character {
            ']' => depth += 1,
            '[' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == '.' && depth == 0
    });
    match &at[start.map_or(0, |(index, _)| index + 1)..] {
        "" => "the scenario".into(),
        key => format!("`{key}`"),
    }
}

/// "one of `a`, `b`"; long lists are cut.
pub fn listed(words: &[&str]) -> String {
    const MAX: usize = 30;
    let quoted: Vec<String> = words.iter().take(MAX).map(|word| format!("`{word}`")).collect();
    match words.len() {
        1 => quoted[0].clone(),
        count if count > MAX => format!("one of {} and {} more", quoted.join(", "), count - MAX),
        _ => format!("one of {}", quoted.join(", ")),
    }
}

/// Counts errors of one kind, for example in a list: the first ones are reported one by one, the others as a number.
#[derive(Default)]
pub(crate) struct RepeatedErrors {
    found: usize,
    /// Line and column of the last one that was reported.
    order: Option<(u32, u32)>,
}

impl RepeatedErrors {
    /// Places whose errors are reported one by one.
    pub const REPORTED: usize = 20;

    /// Whether any was found.
    pub fn any(&self) -> bool {
        self.found > 0
    }

    /// Reports how many were left out, if any; `nouns` names the places. Details follow by [`Problem`]'s methods.
    pub fn rest<'r>(&self, at: impl Into<String>, nouns: &str, report: &'r mut Report) -> Option<&'r mut Problem> {
        let more = self.found.saturating_sub(RepeatedErrors::REPORTED);
        (more > 0).then(|| {
            let problem = report.add(at, format!("{more} more {nouns} have similar errors"));
            // Sorted behind the reported ones, wherever the list begins.
            problem.order = self.order;
            problem
        })
    }
}

/// State of a report before a place is checked.
pub(crate) struct ReportState {
    problems: usize,
    more: usize,
    counts_only: bool,
}

/// Collects errors and warnings.
pub(crate) struct Report<'a> {
    source: &'a Source,
    problems: Vec<Problem>,
    more: usize,
    warnings: Vec<Problem>,
    /// Places without a valid value whose error is reported at another place.
    invalid: Vec<String>,
    /// Errors are counted and not stored.
    counts_only: bool,
}

impl<'a> Report<'a> {
    pub fn new(source: &'a Source) -> Report<'a> {
        Report { source, problems: Vec::new(), more: 0, warnings: Vec::new(), invalid: Vec::new(), counts_only: false }
    }

    /// An empty report about the same scenario.
    pub fn aside(&self) -> Report<'a> {
        Report::new(self.source)
    }

    /// The name of the scenario's file; empty if there is none.
    pub fn file(&self) -> &str {
        &self.source.file
    }

    /// Adds a warning; its details follow by [`Problem`]'s methods.
    pub fn warn(&mut self, at: impl Into<String>, message: impl Into<String>) -> &mut Problem {
        let mut problem = Problem::new(at, message);
        problem.location = self.source.locate(&problem.at, Focus::Value);
        self.warnings.push(problem);
        let last = self.warnings.len() - 1;
        &mut self.warnings[last]
    }

    /// The warnings, sorted by line.
    pub fn warnings(mut self) -> Warnings {
        self.warnings.sort_by_key(Problem::order);
        // One key may describe several links.
        let mut seen = BTreeSet::new();
        self.warnings.retain(|problem| seen.insert((problem.at.clone(), problem.message.clone())));
        Warnings { file: self.source.file.clone(), list: self.warnings }
    }

    /// Adds an error in a value; its details follow by [`Problem`]'s methods.
    pub fn add(&mut self, at: impl Into<String>, message: impl Into<String>) -> &mut Problem {
        self.add_at(at.into(), message.into(), Focus::Value)
    }

    /// Adds an error in a key.
    pub fn add_key(&mut self, at: impl Into<String>, message: impl Into<String>) -> &mut Problem {
        self.add_at(at.into(), message.into(), Focus::Key)
    }

    fn add_at(&mut self, at: String, message: String, focus: Focus) -> &mut Problem {
        let is_shown = self.is_shown();
        // Further errors are counted and not stored: the last entry is overwritten.
        if self.problems.len() > SHOWN {
            self.problems.truncate(SHOWN);
            self.more += 1;
        }
        let mut problem = Problem::new(at, message);
        if is_shown {
            problem.location = self.source.locate(&problem.at, focus);
        }
        self.problems.push(problem);
        let last = self.problems.len() - 1;
        &mut self.problems[last]
    }

    /// Whether an error added now is shown. Finding the nearest word and the location for every error of a flood would take too long.
    pub fn is_shown(&self) -> bool {
        self.problems.len() < SHOWN && !self.counts_only
    }

    /// Checks one of many places that may have the same error.
    pub fn among<T>(&mut self, repeated: &mut RepeatedErrors, look: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.mark(repeated);
        let found = look(self);
        self.settle(before, repeated);
        found
    }

    /// Begins to check such a place, for callers that cannot use [`Report::among`].
    pub fn mark(&mut self, repeated: &RepeatedErrors) -> ReportState {
        let before = ReportState { problems: self.problems.len(), more: self.more, counts_only: self.counts_only };
        self.counts_only |= repeated.found >= RepeatedErrors::REPORTED;
        before
    }

    /// Counts the place if it has an error, and drops the error if enough were reported.
    pub fn settle(&mut self, before: ReportState, repeated: &mut RepeatedErrors) {
        let is_wrong = self.problems.len() + self.more > before.problems + before.more;
        // Within a place that is only counted, the whole place is counted, and dropped then.
        if is_wrong && self.counts_only && !before.counts_only {
            self.problems.truncate(before.problems);
            self.more = before.more;
        } else if let Some(last) = self.problems.last().filter(|_| is_wrong) {
            repeated.order = Some(last.order());
        }
        repeated.found += usize::from(is_wrong);
        self.counts_only = before.counts_only;
    }

    /// Reports a name that is not declared; `noun` describes valid names.
    pub fn unknown<'w>(&mut self, at: &str, noun: &str, name: &str, known: impl IntoIterator<Item = &'w str>) -> &mut Problem {
        let is_shown = self.is_shown();
        let problem = self.add(at, format!("{} names an unknown {noun}: `{}`", key(at), name.escape_debug()));
        if is_shown {
            let known: Vec<&str> = known.into_iter().collect();
            problem.one_of(name, known.iter().copied());
            if let Some(lines) = lines_for(noun, name, &known) {
                problem.hint(lines);
            }
        }
        problem
    }

    /// Reports a key that its table does not have; `at` is the path of the key.
    pub fn unknown_key(&mut self, at: &str, name: &str, known: &[&str]) -> &mut Problem {
        let is_shown = self.is_shown();
        let name_shown = name.escape_debug();
        let table = at.strip_suffix(name).and_then(|at| at.strip_suffix('.')).filter(|table| !table.is_empty());
        let message = match table {
            Some(table) => format!("{} has no key `{name_shown}`", key(table)),
            None => format!("`{name_shown}` is not a known key"),
        };
        let problem = self.add_key(at, message);
        if is_shown {
            problem.one_of(name, known.iter().copied());
        }
        problem
    }

    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// Marks a place as without a valid value; its error is reported at another place.
    pub fn invalidate(&mut self, at: &str) {
        self.invalid.push(at.into());
    }

    /// Whether no error was found at this place or inside it.
    pub fn is_valid(&self, at: &str) -> bool {
        let inside = |place: &str| match place.strip_prefix(at) {
            Some(rest) => rest.is_empty() || rest.starts_with(['.', '[']),
            None => false,
        };
        !self.places().any(inside)
    }

    /// Paths of the errors, and of values that are missing because of them.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.problems.iter().map(|problem| problem.at.as_str()).chain(self.invalid.iter().map(String::as_str))
    }

    pub fn finish(mut self) -> Errors {
        let more = self.more + self.problems.len().saturating_sub(SHOWN);
        self.problems.truncate(SHOWN);
        self.problems.sort_by_key(Problem::order);
        Errors { file: self.source.file.clone(), list: self.problems, more }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_its_place_the_source_line_and_the_valid_values() {
        let text = "[links.bottleneck]\nrate = 10\nqueue = {buffer = \"9 packets\",\n  policy = \"edp\"}\n";
        let (_, source) = crate::tree::from_toml(text, "dumbbell.toml").unwrap();
        let mut report = Report::new(&source);
        report.unknown("links.bottleneck.queue.policy", "queue policy", "edp", ["bpd", "drop_tail", "epd"]);
        report.add("links.bottleneck.rate", "`rate` has no unit").given("10").expected("a rate such as `10 Mbps`");
        report.add("links.bottleneck.delay", "`delay` is missing").expected("a duration such as `10 ms`");
        report.unknown_key("links.bottleneck.queue.buffer", "buffer", &["room"]);
        assert_eq!(
            report.finish().to_string(),
            r#"error: `delay` is missing
 --> dumbbell.toml:1:8
  |
1 | [links.bottleneck]
  |        ^^^^^^^^^^
  at       links.bottleneck.delay
  expected a duration such as `10 ms`

error: `rate` has no unit
 --> dumbbell.toml:2:8
  |
2 | rate = 10
  |        ^^
  at       links.bottleneck.rate
  given    10
  expected a rate such as `10 Mbps`

error: `queue` has no key `buffer`
 --> dumbbell.toml:3:10
  |
3 | queue = {buffer = "9 packets",
  |          ^^^^^^
  at       links.bottleneck.queue.buffer
  expected `room`

error: `policy` names an unknown queue policy: `edp`
 --> dumbbell.toml:4:12
  |
4 |   policy = "edp"}
  |            ^^^^^
  at       links.bottleneck.queue.policy
  expected one of `bpd`, `drop_tail`, `epd`
  hint     did you mean `epd`?
4 errors in dumbbell.toml; nothing was run"#
        );
    }

    #[test]
    fn a_single_error_without_a_file_has_no_summary() {
        let mut problem = Problem::new("seed", "`seed` is out of range");
        problem.given("-1");
        assert_eq!(Errors::one("", problem.clone()).to_string(), "error: `seed` is out of range\n  at       seed\n  given    -1");
        let whole = Errors::one("a.toml", Problem::new("", "`a.toml` is a directory")).to_string();
        assert_eq!(whole, "error: `a.toml` is a directory\n --> a.toml\n1 error in a.toml; nothing was run");
    }

    #[test]
    fn the_last_key_of_a_path_ignores_dots_in_brackets() {
        let places =
            ["rate", "links.a.rate", "flows.web.size[3]", "traffic.table[flows.csv line 3]", "table[a.csv line 3].size", ""];
        let keys = ["`rate`", "`rate`", "`size[3]`", "`table[flows.csv line 3]`", "`size`", "the scenario"];
        assert_eq!(places.map(key), keys);
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
        assert!(errors.to_string().ends_with("250 errors, 100 of them shown; nothing was run"));
    }

    #[test]
    fn similar_errors_are_reported_a_few_times_and_then_counted() {
        let source = Source::default();
        let mut report = Report::new(&source);
        let mut repeated = RepeatedErrors::default();
        for index in 0..30 {
            let found = report.among(&mut repeated, |report| {
                if index % 2 == 0 {
                    report.add(format!("list[{index}]"), "wrong");
                    report.add(format!("list[{index}]"), "and odd");
                }
                index
            });
            assert_eq!(found, index);
        }
        // All were reported.
        assert!(repeated.any() && repeated.rest("list", "entries", &mut report).is_none());
        for index in 30..60 {
            report.among(&mut repeated, |report| _ = report.unknown(&format!("list[{index}]"), "node", "b", ["a"]).hint("none"));
        }
        repeated.rest("list", "entries", &mut report).unwrap().expected("others");
        let list = report.finish().list;
        // Two each for 15 places, one each for 5, and the rest.
        assert_eq!(list.len(), 36);
        assert_eq!((list[34].at.as_str(), list[35].message.as_str()), ("list[34]", "25 more entries have similar errors"));
        // Without errors, nothing is reported.
        let mut report = Report::new(&source);
        assert!(RepeatedErrors::default().rest("list", "entries", &mut report).is_none() && report.is_empty());
    }

    #[test]
    fn validity_is_decided_by_whole_words_of_the_path() {
        let source = Source::default();
        let mut report = Report::new(&source);
        report.add("links.bottleneck.rate", "wrong");
        assert!(!report.is_valid("links") && !report.is_valid("links.bottleneck.rate"));
        assert!(report.is_valid("links.bottle") && report.is_valid("links.bottleneck.delay"));
    }

    #[test]
    fn faults_of_lists_within_a_list_are_counted_with_it() {
        let source = Source::default();
        let mut report = Report::new(&source);
        let mut outer = RepeatedErrors::default();
        for entry in 0..30 {
            report.among(&mut outer, |report| {
                let mut inner = RepeatedErrors::default();
                for key in 0..2 {
                    report.among(&mut inner, |report| _ = report.add(format!("list[{entry}].{key}"), "unknown key"));
                }
            });
        }
        outer.rest("list", "entries", &mut report);
        let messages: Vec<String> = report.finish().list.iter().map(|problem| problem.message.clone()).collect();
        assert_eq!((messages.len(), messages[40].as_str()), (41, "10 more entries have similar errors"));
    }
}
