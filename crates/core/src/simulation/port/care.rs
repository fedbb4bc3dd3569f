//! What an arrival needs beside the buffer, so that what a port rarely has costs nothing.

pub(super) trait Care {
    /// The policy decides: not whatever fits is taken.
    const DECIDES: bool;
    /// There may be listed drops, random loss, a trace or percentiles.
    const OBSERVES: bool;
}

pub(super) struct Plain;
pub(super) struct Decides;
pub(super) struct Observes;

impl Care for Plain {
    const DECIDES: bool = false;
    const OBSERVES: bool = false;
}

impl Care for Decides {
    const DECIDES: bool = true;
    const OBSERVES: bool = false;
}

impl Care for Observes {
    const DECIDES: bool = true;
    const OBSERVES: bool = true;
}
