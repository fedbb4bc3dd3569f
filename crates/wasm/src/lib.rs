//! The core as WebAssembly: for the lab, a page with interactive runs, and for hashes of results.
//!
//! [`lab`] handles requests of the page. [`hashes`] runs a scenario and returns the hashes of its results; `boundary` exports
//! both to other languages. `tests/golden.rs` runs the native code and `tests/golden/golden.mjs` the WebAssembly over all
//! examples, and both compare with `tests/golden/hashes.json`: the same bytes on every platform.

mod boundary;
mod hashes;
pub mod lab;

pub use hashes::{Hashes, hashes};
