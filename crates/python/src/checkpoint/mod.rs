//! Checkpoints of a run. The file consists of a line that identifies the format, a line of JSON that identifies the run, the
//! engine serialised by postcard, and the SHA-256 of all of this.

mod chunked_reader;

use chunked_reader::ChunkedReader;
use postcard::Deserializer;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tailback_core::Engine;

const FIRST_LINE: &[u8] = b"Tailback checkpoint\n";
const DIGEST_BYTES: u64 = 32;
const DAMAGED: &str = "the file is truncated or damaged: remove it to start the run from the beginning";

/// Identity of the run of a checkpoint.
pub struct CheckpointIdentity<'r> {
    pub version: &'r str,
    /// Hash of scenario, seed, version and sources.
    pub content_hash: &'r str,
    pub seed: u64,
}

/// A writer that computes a hash.
struct HashingWriter<W> {
    file: W,
    hash: Sha256,
    /// The last error of the file, which postcard replaces by one of its own.
    error: Option<io::Error>,
}

impl<W> HashingWriter<W> {
    fn new(file: W) -> HashingWriter<W> {
        HashingWriter { file, hash: Sha256::new(), error: None }
    }

    fn keep_error<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            let kind = error.kind();
            self.error = Some(error);
            kind.into()
        })
    }
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        let written = self.keep_error(written)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.file.flush();
        self.keep_error(flushed)
    }
}

/// Replaces the checkpoint atomically: the file is complete or unchanged.
pub fn write(path: &Path, engine: &Engine, of: &CheckpointIdentity) -> io::Result<()> {
    let partial = beside(path);
    let done = write_to(&partial, engine, of).and_then(|()| fs::rename(&partial, path));
    if done.is_err() {
        // A partially written file is useless.
        let _ = fs::remove_file(&partial);
    }
    done
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".partial");
    path.with_file_name(name)
}

fn write_to(path: &Path, engine: &Engine, of: &CheckpointIdentity) -> io::Result<()> {
    let mut file = HashingWriter::new(BufWriter::with_capacity(1 << 20, File::create(path)?));
    let head = json!({
        "version": of.version,
        "content_hash": of.content_hash,
        "seed": of.seed,
        "simulated_s": engine.now().seconds(),
    });
    file.write_all(FIRST_LINE)?;
    file.write_all(format!("{head}\n").as_bytes())?;
    if let Err(error) = postcard::to_io(engine, &mut file) {
        return Err(file.error.take().unwrap_or_else(|| io::Error::other(error)));
    }
    let HashingWriter { mut file, hash, .. } = file;
    file.write_all(&hash.finalize())?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// Reads the engine from a checkpoint of this run; otherwise returns the reason why that is impossible.
pub fn read(path: &Path, of: &CheckpointIdentity) -> Result<Engine, String> {
    if fs::metadata(path).is_ok_and(|known| !known.is_file()) {
        return Err("it is not a regular file".to_string());
    }
    let (mut file, whole) = verified(path)?;
    let damaged = || DAMAGED.to_string();
    let mut line = Vec::new();
    file.seek(SeekFrom::Start(FIRST_LINE.len() as u64)).and_then(|_| file.read_until(b'\n', &mut line)).map_err(unreadable)?;
    let head: Value = serde_json::from_slice(&line).map_err(|_| damaged())?;
    let field = |key: &str| head[key].as_str().ok_or_else(damaged);
    let version = field("version")?;
    if version != of.version {
        return Err(format!("it was written by Tailback {version}, and this is {}", of.version));
    }
    if field("content_hash")? != of.content_hash {
        return Err(match head["seed"].as_u64() {
            Some(seed) if seed != of.seed => format!("it belongs to a run with seed {seed}, and this run has seed {}", of.seed),
            _ => "it belongs to another scenario, or to another build of this version".to_string(),
        });
    }
    let state = whole.checked_sub((FIRST_LINE.len() + line.len()) as u64).ok_or_else(damaged)?;
    let mut pieces = Deserializer::from_flavor(ChunkedReader::new(file, state));
    let engine = Engine::deserialize(&mut pieces).map_err(|_| damaged())?;
    let rest = pieces.finalize().map_err(|_| damaged())?;
    if rest.is_read() { Ok(engine) } else { Err(damaged()) }
}

/// The file, and the number of bytes before the hash, which is verified.
fn verified(path: &Path) -> Result<(BufReader<File>, u64), String> {
    let mut file = File::open(path).map(BufReader::new).map_err(unreadable)?;
    let bytes = file.get_ref().metadata().map_err(unreadable)?.len();
    let mut first = Vec::new();
    file.by_ref().take(FIRST_LINE.len() as u64).read_to_end(&mut first).map_err(unreadable)?;
    if first != FIRST_LINE {
        return Err("it is not a Tailback checkpoint".to_string());
    }
    let whole = bytes.checked_sub(DIGEST_BYTES).ok_or(DAMAGED)?;
    let mut hashed = HashingWriter::new(io::sink());
    hashed.hash.update(first);
    io::copy(&mut file.by_ref().take(whole.saturating_sub(FIRST_LINE.len() as u64)), &mut hashed).map_err(unreadable)?;
    let mut digest = Vec::new();
    file.read_to_end(&mut digest).map_err(unreadable)?;
    if hashed.hash.finalize().as_slice() == digest { Ok((file, whole)) } else { Err(DAMAGED.to_string()) }
}

fn unreadable(error: io::Error) -> String {
    format!("it cannot be read: {error}")
}
