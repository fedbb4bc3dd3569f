//! What the processing of an event at a sender takes into account besides the next expected segment. The common case costs nothing for the
//! others: each is compiled separately.

pub(crate) trait Observed {
    /// The acknowledgement has additional content, the controller requests signals, or the sender has extended state.
    const SIGNALLED: bool;
    /// The sender may be traced.
    const TRACED: bool;
}

pub(crate) struct Plain;
pub(crate) struct Traced;
/// Also traced, if requested.
pub(crate) struct Signalled;

impl Observed for Plain {
    const SIGNALLED: bool = false;
    const TRACED: bool = false;
}

impl Observed for Traced {
    const SIGNALLED: bool = false;
    const TRACED: bool = true;
}

impl Observed for Signalled {
    const SIGNALLED: bool = true;
    const TRACED: bool = true;
}
