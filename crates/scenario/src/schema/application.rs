//! `application = {...}`: what hands data to TCP, where not all of it waits from the start.

use crate::member::{Choice, Family, Nobody, Nothing};
use crate::quantity::Rate;
use crate::record::record;
use crate::values::Whole;
use tailback_core::settings::Member;
use tailback_core::traffic::ProcessSpec;

record! {
    /// An application above TCP. It holds whatever TCP may not send yet, without limit.
    pub struct Application {
        /// Full segments that it hands over at a time.
        burst: Whole<1, 1000000> = Whole(1),
    }
    with
    /// When it hands over data.
    arrivals: HandOver
}

/// When an application hands over data.
pub type HandOver = Choice<Applications>;

#[derive(Clone, Debug, PartialEq)]
pub struct Applications;

impl Family for Applications {
    const TAG: &'static str = "kind";
    const NOUN: &'static str = "kind of application";
    const DEFAULT: Option<&'static str> = None;
    type Common = Nothing;
    type User = Nobody;

    fn members() -> Vec<&'static Member> {
        ProcessSpec::members_of_applications()
    }
}

impl HandOver {
    /// The rate that the scenario gives.
    pub(crate) fn rate(&self) -> Option<Rate> {
        match self {
            Choice::Member(chosen, _) => chosen.rate("rate"),
            Choice::User(_) => None,
        }
    }
}
