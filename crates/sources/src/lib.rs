//! A fingerprint of the sources of the crate that is built, so that results of two versions are never taken for each other's.
//! Build scripts call [`emit`].

#![allow(clippy::print_stdout, reason = "a build script passes values to cargo on stdout")]

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Hashes all files in `src` of the crate whose build script calls this function. The crate reads the hash, 16 hexadecimal digits, as
/// `env!("TAILBACK_SOURCES")`.
///
/// # Errors
///
/// If a file cannot be read.
pub fn emit() -> io::Result<()> {
    println!("cargo:rerun-if-changed=src");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    // FNV-1a (Fowler, Noll and Vo) over names and contents; line ends as one system writes them.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        for byte in name.bytes().chain([0]).chain(fs::read(&file)?).filter(|&byte| byte != b'\r') {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo:rustc-env=TAILBACK_SOURCES={hash:016x}");
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
