//! Hashes the sources of this crate, and finds the commit of the checkout.

#![allow(clippy::print_stdout, reason = "a build script passes values to cargo on stdout")]

use std::path::Path;
use std::process::Command;
use std::{env, io};

fn main() -> io::Result<()> {
    println!("cargo:rustc-env=TAILBACK_COMMIT={}", commit().unwrap_or_default());
    tailback_sources::emit()
}

/// The first 12 digits of the commit. A source distribution has none, nor has a development build, which would otherwise be compiled again
/// after every commit.
fn commit() -> Option<String> {
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR")?).join("../..");
    if env::var_os("PROFILE")? != "release" || !root.join(".git").exists() {
        return None;
    }
    let git = |arguments: [&str; 3]| {
        // In a container the checkout belongs to another user, which git would refuse.
        let mut command = Command::new("git");
        let output = command.args(["-c", "safe.directory=*", "-C"]).arg(&root).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let log = root.join(git(["rev-parse", "--git-path", "logs/HEAD"])?);
    if log.exists() {
        println!("cargo:rerun-if-changed={}", log.display());
    }
    git(["rev-parse", "--short=12", "HEAD"])
}
