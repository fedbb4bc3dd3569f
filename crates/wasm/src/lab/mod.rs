//! The lab: interactive runs, in the worker of a page.
//!
//! A request is a JSON object that names an operation ([`Request`]). The response is a JSON object as well, or a fault in the
//! core's words ([`Fault`]). [`Lab`] stores the runs and questions in progress by name. This module reads no clock: the worker
//! determines how far to run, one slice at a time, and slicing does not affect the results of a run.
//!
//! Modules: `session.rs` is a run, `observed_entities.rs` selects the flows and queues observed, `observations.rs` and `series.rs` store
//! their data; `description.rs` describes the scenario for drawing, `knobs.rs` lists the adjustable values and `edits.rs` changes the
//! text, `predictions.rs` compares with models, `sizing.rs` is the buffer calculator; `loss_analysis.rs` and `difference.rs` are questions
//! that need a run of their own.

mod description;
mod difference;
mod edits;
mod fair_shares;
mod fault;
mod knobs;
mod loss_analysis;
mod observations;
mod observed_entities;
mod predictions;
mod rows;
mod series;
mod session;
mod sizing;
mod tables;

pub use fault::Fault;

use difference::Difference;
use edits::Edit;
use loss_analysis::{Loss, LossAnalysis};
use observed_entities::RunSpec;
use serde::Deserialize;
use serde_json::{Value, json};
use session::{Breakpoints, Session, Step};
use std::collections::BTreeMap;

/// Requests of the page.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    /// The JSON Schema of scenarios.
    Schema,
    /// Description of a scenario: nodes, links, flows, warnings.
    Describe {
        scenario: RunSpec,
    },
    /// The values of a text, with their places.
    Knobs {
        toml: String,
    },
    /// The text after edits of its values.
    Edit {
        toml: String,
        edits: Vec<Edit>,
    },
    /// The text with a change of a link at a given time.
    Change {
        toml: String,
        change: Value,
    },
    /// Opens a run under a name, replacing one with this name.
    Open {
        name: String,
        scenario: RunSpec,
        close: bool,
    },
    /// Runs on until a time, for at most `events` events.
    Advance {
        name: String,
        until_s: f64,
        events: u64,
        breaks: Breakpoints,
    },
    /// Advances by one event, packet or round trip.
    Step {
        name: String,
        step: Step,
    },
    /// Events since the last update, and the current state; points of curves are in [`Lab::numbers`].
    Read {
        name: String,
        packets: usize,
    },
    /// All tables and their hashes.
    Results {
        name: String,
    },
    /// Explains a loss by a separate run: start it here, then call `advance_question`.
    Why {
        name: String,
        scenario: RunSpec,
        loss: Loss,
    },
    /// The first event at which two runs differ.
    Difference {
        name: String,
        left: RunSpec,
        right: RunSpec,
    },
    AdvanceQuestion {
        name: String,
        events: u64,
    },
    /// Closes a run or a question.
    Close {
        name: String,
    },
    /// All rules for the buffer of a link.
    Sizing {
        question: Value,
    },
}

/// Runs and questions in progress, by name.
#[derive(Default)]
pub struct Lab {
    sessions: BTreeMap<String, Session>,
    questions: BTreeMap<String, Analysis>,
    numbers: Vec<f64>,
}

enum Analysis {
    Loss(Box<LossAnalysis>),
    Difference(Box<Difference>),
}

impl Lab {
    /// Handles a request.
    ///
    /// # Errors
    /// The problem with the request, or with its scenario.
    pub fn answer(&mut self, request: &[u8]) -> Result<Value, Fault> {
        let request: Request = serde_json::from_slice(request).map_err(|error| Fault::of_page(&error.to_string()))?;
        match request {
            Request::Schema => Ok(tailback_scenario::json_schema()),
            Request::Describe { scenario } => description::describe(&scenario),
            Request::Knobs { toml } => knobs::all(&toml),
            Request::Edit { toml, edits } => edits::edited(&toml, &edits),
            Request::Change { toml, change } => edits::with_change(&toml, &change),
            Request::Open { name, scenario, close } => {
                // Frees the previous run first, because it may be large.
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
                self.questions.insert(name, Analysis::Loss(Box::new(LossAnalysis::new(&scenario, loss)?)));
                Ok(json!({}))
            }
            Request::Difference { name, left, right } => {
                self.questions.insert(name, Analysis::Difference(Box::new(Difference::new(&left, &right)?)));
                Ok(json!({}))
            }
            Request::AdvanceQuestion { name, events } => match self.questions.get_mut(&name) {
                Some(Analysis::Loss(why)) => Ok(why.advance(events)),
                Some(Analysis::Difference(difference)) => Ok(difference.advance(events)),
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

    /// The points of the curves read last: about ten thousand numbers many times a second, which as text would take as long as
    /// the run itself.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }
}
