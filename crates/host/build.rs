//! Hashes the sources of this crate, as the core's build script does.

#[path = "../core/build.rs"]
mod sources;

fn main() -> std::io::Result<()> {
    sources::main()
}
