//! A run in the middle, as a file: a line that says what the file is, a line of JSON that says of what run, the engine as postcard has it, and
//! the SHA-256 of all that.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tailback_core::Engine;

const FIRST_LINE: &[u8] = b"Tailback checkpoint\n";
const DIGEST_BYTES: usize = 32;

/// Of what run a checkpoint is.
pub struct Of<'r> {
    pub version: &'r str,
    /// Of scenario, seed, version and sources.
    pub content_hash: &'r str,
    pub seed: u64,
}

/// Writes while it hashes.
struct Hashed<W> {
    file: W,
    hash: Sha256,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A file that appears whole or not at all, in the place of the last one.
pub fn write(path: &Path, engine: &Engine, of: &Of) -> io::Result<()> {
    let partial = beside(path);
    let done = write_to(&partial, engine, of).and_then(|()| fs::rename(&partial, path));
    if done.is_err() {
        // What could not be written may be there in part, and is of no use.
        let _ = fs::remove_file(&partial);
    }
    done
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".partial");
    path.with_file_name(name)
}

fn write_to(path: &Path, engine: &Engine, of: &Of) -> io::Result<()> {
    let mut file = Hashed { file: BufWriter::with_capacity(1 << 20, File::create(path)?), hash: Sha256::new() };
    let head = json!({
        "version": of.version,
        "content_hash": of.content_hash,
        "seed": of.seed,
        "simulated_s": engine.now().seconds(),
    });
    file.write_all(FIRST_LINE)?;
    file.write_all(format!("{head}\n").as_bytes())?;
    postcard::to_io(engine, &mut file).map_err(io::Error::other)?;
    let Hashed { mut file, hash } = file;
    file.write_all(&hash.finalize())?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// The engine of a checkpoint of this run; else why there is none.
pub fn read(path: &Path, of: &Of) -> Result<Engine, String> {
    if fs::metadata(path).is_ok_and(|known| !known.is_file()) {
        return Err("it is no file that could hold a checkpoint".to_string());
    }
    let bytes = fs::read(path).map_err(|error| format!("it cannot be read: {error}"))?;
    let rest = bytes.strip_prefix(FIRST_LINE).ok_or("it is no checkpoint of Tailback")?;
    let damaged = || "it was cut short or damaged: remove it to begin anew".to_string();
    let (whole, digest) = bytes.split_at_checked(bytes.len().saturating_sub(DIGEST_BYTES)).ok_or_else(damaged)?;
    if Sha256::digest(whole).as_slice() != digest {
        return Err(damaged());
    }
    let line = rest.iter().position(|&byte| byte == b'\n').ok_or_else(damaged)?;
    let head: Value = serde_json::from_slice(&rest[..line]).map_err(|_| damaged())?;
    let said = |key: &str| head[key].as_str().unwrap_or_default().to_string();
    if said("version") != of.version {
        return Err(format!("it is of version {} of Tailback, this is {}", said("version"), of.version));
    }
    if said("content_hash") != of.content_hash {
        return Err(match head["seed"].as_u64() {
            Some(seed) if seed != of.seed => format!("it is of a run with seed {seed}, this one has seed {}", of.seed),
            _ => "it is of another scenario, or of another build of this version".to_string(),
        });
    }
    let state =
        rest[line + 1..].len().checked_sub(DIGEST_BYTES).map(|end| &rest[line + 1..line + 1 + end]).ok_or_else(damaged)?;
    postcard::from_bytes(state).map_err(|_| damaged())
}
