//! `application = {kind = "constant", ...}` and other processes: writes of full segments.

use crate::member::{Family, Member, Nobody, Nothing};
use crate::quantity::Rate;
use crate::record::record;
use crate::values::Integer;
use tailback_core::settings::MemberInfo;
use tailback_core::traffic::ProcessSpec;

record! {
    /// Writes of full segments at the times of a process.
    pub struct Bursts {
        /// Full segments per write.
        burst: Integer<1, 1000000> = Integer(1),
    }
    with
    /// Process of the writes.
    arrivals: HandOver
}

/// Process of the writes of an application.
pub type HandOver = Member<Applications>;

#[derive(Clone, Debug, PartialEq)]
pub struct Applications;

impl Family for Applications {
    const TAG: &'static str = "kind";
    const NOUN: &'static str = "kind of application";
    const DEFAULT: Option<&'static str> = None;
    type Common = Nothing;
    type User = Nobody;

    fn members() -> Vec<&'static MemberInfo> {
        ProcessSpec::members_of_applications()
    }
}

impl HandOver {
    /// The rate in the scenario.
    pub(crate) fn rate(&self) -> Option<Rate> {
        match self {
            Member::BuiltIn(config, _) => config.rate("rate"),
            Member::User(_) => None,
        }
    }
}
