//! Hashes the sources of this crate.

fn main() -> std::io::Result<()> {
    tailback_sources::emit()
}
