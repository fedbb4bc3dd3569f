//! The lab: runs that somebody watches, in the worker of a page.
//!
//! A request is a JSON object that names what is asked ([`Request`]); the answer is one, too, or says what is wrong, in the core's own words
//! ([`Fault`]). [`Lab`] keeps the runs and the questions under way, each in a place with a name. Nothing here reads a clock: the worker says how
//! far to run, a slice at a time, and how a run is sliced changes no byte of it.
//!
//! Where to look: `session.rs` is a run, `watched.rs` what of it is followed, `readings.rs` and `series.rs` what is kept of that;
//! `description.rs` what the page draws, `knobs.rs` what it lets turn and `edits.rs` how its text changes then, `predictions/` what models
//! say of it, `sizing/` its calculator; `why.rs` and `difference.rs` are questions that
//! need a run of their own.

mod description;
mod difference;
mod edits;
mod fault;
mod knobs;
mod predictions;
mod readings;
mod rows;
mod series;
mod session;
mod sizing;
mod tables;
mod watched;
mod why;

pub use fault::Fault;

use difference::Difference;
use edits::Edit;
use serde::Deserialize;
use serde_json::{Value, json};
use session::{Breaks, Session, Step};
use std::collections::BTreeMap;
use why::{Loss, Why};

/// What the page may ask for.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    /// The JSON Schema of scenarios.
    Schema,
    /// What a scenario says: nodes, links, flows, warnings.
    Describe {
        scenario: Of,
    },
    /// The values that stand in a text, each with its place.
    Knobs {
        toml: String,
    },
    /// The text with other values, more of them or fewer.
    Edit {
        toml: String,
        edits: Vec<Edit>,
    },
    /// The text with a change of a link at a time.
    Change {
        toml: String,
        change: Value,
    },
    /// Begin a run under a name, in place of one that has it.
    Open {
        name: String,
        scenario: Of,
        close: bool,
    },
    /// Run on, until a time and for so many events at most.
    Advance {
        name: String,
        until_s: f64,
        events: u64,
        breaks: Breaks,
    },
    /// One event, packet or round trip.
    Step {
        name: String,
        step: Step,
    },
    /// What has happened since it was read last, and what there is now; points of curves are in [`Lab::numbers`].
    Read {
        name: String,
        packets: usize,
    },
    /// All tables and their hashes.
    Results {
        name: String,
    },
    /// What became of a loss, from a run of its own: begin, then `advance_question`.
    Why {
        name: String,
        scenario: Of,
        loss: Loss,
    },
    /// The first event at which two runs differ.
    Difference {
        name: String,
        left: Of,
        right: Of,
    },
    AdvanceQuestion {
        name: String,
        events: u64,
    },
    /// A run or a question is no longer wanted.
    Close {
        name: String,
    },
    /// All rules for the buffer of a link.
    Sizing {
        question: Value,
    },
}

/// A scenario and its seed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Of {
    pub(super) toml: String,
    pub(super) seed: u64,
    /// The first flow that is followed, in the order of the groups; `None`: some of each group.
    #[serde(default)]
    pub(super) follow: Option<u32>,
}

/// What is under way, by name.
#[derive(Default)]
pub struct Lab {
    sessions: BTreeMap<String, Session>,
    questions: BTreeMap<String, Question>,
    numbers: Vec<f64>,
}

enum Question {
    Why(Box<Why>),
    Difference(Box<Difference>),
}

impl Lab {
    /// Answers a request.
    ///
    /// # Errors
    /// What is wrong with it, or with the scenario in it.
    pub fn answer(&mut self, request: &[u8]) -> Result<Value, Fault> {
        let request: Request = serde_json::from_slice(request).map_err(|error| Fault::of_page(&error.to_string()))?;
        match request {
            Request::Schema => Ok(tailback_scenario::json_schema()),
            Request::Describe { scenario } => description::describe(&scenario),
            Request::Knobs { toml } => knobs::all(&toml),
            Request::Edit { toml, edits } => edits::edited(&toml, &edits),
            Request::Change { toml, change } => knobs::with_change(&toml, &change),
            Request::Open { name, scenario, close } => {
                // The one before may be large.
                self.sessions.remove(&name);
                let session = Session::new(&scenario, close.into())?;
                let opened = session.opened();
                self.sessions.insert(name, session);
                Ok(opened)
            }
            Request::Advance { name, until_s, events, breaks } => self.session(&name)?.advance(until_s, events, &breaks),
            Request::Step { name, step } => self.session(&name)?.step(step),
            Request::Read { name, packets } => {
                let mut numbers = std::mem::take(&mut self.numbers);
                numbers.clear();
                let answer = self.session(&name)?.read(packets, &mut numbers);
                self.numbers = numbers;
                Ok(answer)
            }
            Request::Results { name } => self.session(&name)?.results(),
            Request::Why { name, scenario, loss } => {
                self.questions.insert(name, Question::Why(Box::new(Why::new(&scenario, loss)?)));
                Ok(json!({}))
            }
            Request::Difference { name, left, right } => {
                self.questions.insert(name, Question::Difference(Box::new(Difference::new(&left, &right)?)));
                Ok(json!({}))
            }
            Request::AdvanceQuestion { name, events } => match self.questions.get_mut(&name) {
                Some(Question::Why(why)) => Ok(why.advance(events)),
                Some(Question::Difference(difference)) => Ok(difference.advance(events)),
                None => Err(Fault::of_page(&format!("no question `{name}`"))),
            },
            Request::Close { name } => {
                self.sessions.remove(&name);
                self.questions.remove(&name);
                Ok(json!({}))
            }
            Request::Sizing { question } => sizing::rules(&question),
        }
    }

    fn session(&mut self, name: &str) -> Result<&mut Session, Fault> {
        self.sessions.get_mut(name).ok_or_else(|| Fault::of_page(&format!("no run `{name}`")))
    }

    /// The points of the curves that were read last: many times a second some ten thousand numbers, which as text would take as long as
    /// the run itself.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }
}
