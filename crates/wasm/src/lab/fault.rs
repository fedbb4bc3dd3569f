//! Errors for display on the page.

use serde::Serialize;
use tailback_scenario::{Errors, Problem};

/// Reason why there is no result.
#[derive(Debug, Serialize)]
pub struct Fault {
    /// Problems, each with its place, the given value and the valid values.
    pub problems: Vec<Problem>,
    /// Number of problems not listed.
    pub more: usize,
    /// Whether it is a bug in Tailback, which should be reported.
    pub is_bug: bool,
}

impl Fault {
    /// A fault without a place in a scenario.
    pub(super) fn whole(message: &str, given: Option<String>, expected: Option<String>) -> Fault {
        let mut problem = Problem::new("", message);
        (problem.given, problem.expected) = (given, expected);
        Fault { problems: vec![problem], more: 0, is_bug: false }
    }

    /// An invalid request of the page.
    pub(super) fn of_page(message: &str) -> Fault {
        Fault { is_bug: true, ..Fault::whole(message, None, None) }
    }
}

impl From<Errors> for Fault {
    fn from(errors: Errors) -> Fault {
        Fault { problems: errors.list, more: errors.more, is_bug: false }
    }
}
