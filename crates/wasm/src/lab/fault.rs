//! What is wrong, as the page shows it.

use serde::Serialize;
use tailback_scenario::{Errors, Problem};

/// Why there is no answer.
#[derive(Debug, Serialize)]
pub struct Fault {
    /// Each with its place, what was given and what would fit.
    pub problems: Vec<Problem>,
    /// Those beyond the list.
    pub more: usize,
    /// The mistake is ours: what to do is to report it.
    pub is_bug: bool,
}

impl Fault {
    /// A fault that no place of a scenario has.
    pub(super) fn whole(message: &str, given: Option<String>, expected: Option<String>) -> Fault {
        let problem = Problem { at: String::new(), line: None, message: message.into(), given, expected, hint: None };
        Fault { problems: vec![problem], more: 0, is_bug: false }
    }

    /// The page has asked for what there is not.
    pub(super) fn of_page(message: &str) -> Fault {
        Fault { is_bug: true, ..Fault::whole(message, None, None) }
    }
}

impl From<Errors> for Fault {
    fn from(errors: Errors) -> Fault {
        Fault { problems: errors.list, more: errors.more, is_bug: false }
    }
}
