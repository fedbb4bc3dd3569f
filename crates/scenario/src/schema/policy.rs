//! `policy = "red"` with its settings, in a queue or a class. The core declares the policies and their settings.

use crate::buffer::Buffer;
use crate::member::{Family, Member, Nothing, UserTable};
use crate::problem::Report;
use crate::record::record;
use crate::threshold::BufferSize;
use crate::user_code::{self, Parameters, UserName};
use tailback_core::queue::PolicySpec;
use tailback_core::settings::MemberInfo;

/// Queue policy, which admits, marks or discards packets or cells.
pub type Policy = Member<Policies>;

#[derive(Clone, Debug, PartialEq)]
pub struct Policies;

impl Family for Policies {
    const TAG: &'static str = "policy";
    const NOUN: &'static str = "queue policy";
    const DEFAULT: Option<&'static str> = Some("drop_tail");
    type Common = Nothing;
    type User = UserPolicy;

    fn members() -> Vec<&'static MemberInfo> {
        PolicySpec::MEMBERS.iter().collect()
    }
}

record! {
    /// Queue policy in Python.
    pub struct UserPolicy {
        /// `user:NAME`, where NAME is the registered name of the Python class.
        policy: UserName,
        /// Keyword arguments of the Python class.
        parameters: Parameters = Parameters::default(),
    }
}

impl UserTable for UserPolicy {}

/// Converts a policy for the core. `written` is the buffer as in the scenario, `resolved` the same without a percentage, `at` the path of the
/// queue.
pub(crate) fn policy_spec(
    policy: &Policy,
    written: Buffer,
    resolved: Option<Buffer>,
    at: &str,
    report: &mut Report,
) -> Option<PolicySpec> {
    match policy {
        Member::User(UserPolicy { policy, parameters }) => Some(PolicySpec::User(user_code::code(policy, parameters, at.into()))),
        Member::BuiltIn(config, _) => {
            let values = config.values(Some(BufferSize { written, resolved, at }), report);
            let spec = PolicySpec::read(config.name(), &values)?;
            if spec.discards_frames() {
                check_cells(written, at, report);
            }
            config.complain(spec.check(), &values, at, Some("buffer"), report);
            Some(spec)
        }
    }
}

/// Frame discard policies require a buffer in cells or bytes.
fn check_cells(buffer: Buffer, at: &str, report: &mut Report) {
    let at = format!("{at}.buffer");
    if matches!(buffer, Buffer::Packets(_) | Buffer::Share(_)) && report.is_valid(&at) {
        let problem = report.add(at, "`buffer` must be in cells for this policy");
        problem.given(buffer.to_string()).expected("a buffer in cells such as `1200 cells`, or in bytes");
    }
}
