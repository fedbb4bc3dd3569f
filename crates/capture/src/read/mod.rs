//! Reads captures packet by packet, in constant memory. `pcap-parser` parses the blocks. This module determines only the length
//! of the next block, which distinguishes a truncated or invalid file from one that needs more input.

mod pcap;
mod pcapng;

use crate::link::LinkType;
use crate::skipped::SkipReason;
use crate::time::Timestamp;
use std::fmt;
use std::io::{self, Read};

/// Larger than any packet; a longer block is damaged.
const LONGEST_BLOCK: usize = 64 << 20;
/// Number of bytes requested from the source at a time.
const BUFFER: usize = 1 << 20;

/// A capture that is read from its beginning.
#[derive(Debug)]
pub struct Reader<R> {
    input: Input<R>,
    format: Format,
}

#[derive(Debug)]
enum Format {
    Pcap(pcap::Pcap),
    Pcapng(pcapng::Pcapng),
}

/// A point of capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// As in the file; empty if it has none.
    pub name: String,
    pub link: LinkType,
}

/// A packet of a capture.
#[derive(Debug)]
pub struct Packet<'a> {
    /// Index in [`Reader::interfaces`].
    pub interface: usize,
    pub link: LinkType,
    pub at: Timestamp,
    /// The captured part.
    pub bytes: &'a [u8],
    /// Length on the wire in bytes.
    pub original: u32,
    /// Its first comment.
    pub comment: Option<String>,
}

/// The next item of a capture.
#[derive(Debug)]
pub enum Record<'a> {
    Packet(Packet<'a>),
    /// A packet that cannot be read, and the reason.
    Skipped(SkipReason),
}

/// Reason why a file could not be opened as a capture.
#[derive(Debug)]
pub enum OpenError {
    Unreadable(io::Error),
    /// Description of its content, as far as recognisable.
    NotACapture(String),
}

/// Reason why reading a capture stopped.
#[derive(Debug)]
pub enum ReadError {
    Unreadable(io::Error),
    /// The file is damaged at this byte.
    Damaged {
        at_byte: u64,
        message: String,
    },
}

impl<R: Read> Reader<R> {
    /// Reads the beginning of the file to detect the format.
    ///
    /// # Errors
    /// If it cannot be read, or is not the beginning of a capture.
    pub fn open(source: R) -> Result<Reader<R>, OpenError> {
        let mut input = Input { source, buffer: Vec::new(), start: 0, end: 0, offset: 0 };
        input.has(4).map_err(OpenError::Unreadable)?;
        let format = match *input.held() {
            [] => return Err(OpenError::NotACapture("the file is empty".into())),
            [0x0a, 0x0d, 0x0d, 0x0a, ..] => Format::Pcapng(pcapng::Pcapng::open(&mut input)?),
            [0xd4 | 0x4d, 0xc3 | 0x3c, 0xb2, 0xa1, ..] | [0xa1, 0xb2, 0xc3 | 0x3c, 0xd4 | 0x4d, ..] => {
                Format::Pcap(pcap::Pcap::open(&mut input)?)
            }
            [0x1f, 0x8b, ..] => {
                return Err(OpenError::NotACapture("the file is compressed with gzip; decompress it first".into()));
            }
            [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                return Err(OpenError::NotACapture("the file is compressed with zstd; decompress it first".into()));
            }
            [0xfd, b'7', b'z', b'X', ..] => {
                return Err(OpenError::NotACapture("the file is compressed with xz; decompress it first".into()));
            }
            [0x04, 0x22, 0x4d, 0x18, ..] => {
                return Err(OpenError::NotACapture("the file is compressed with lz4; decompress it first".into()));
            }
            _ => return Err(OpenError::NotACapture(format!("the file begins with {}", shown(input.held())))),
        };
        Ok(Reader { input, format })
    }

    /// The next packet; `None` at the end of the file.
    ///
    /// # Errors
    /// If the file is damaged or truncated. Records read before remain valid.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        match &mut self.format {
            Format::Pcap(pcap) => pcap.next_record(&mut self.input),
            Format::Pcapng(pcapng) => pcapng.next_record(&mut self.input),
        }
    }

    /// All interfaces read up to now, of all sections.
    pub fn interfaces(&self) -> &[Interface] {
        match &self.format {
            Format::Pcap(pcap) => pcap.interfaces(),
            Format::Pcapng(pcapng) => pcapng.interfaces(),
        }
    }

    /// Comments on the sections read up to now.
    pub fn comments(&self) -> &[String] {
        match &self.format {
            Format::Pcap(_) => &[],
            Format::Pcapng(pcapng) => pcapng.comments(),
        }
    }

    /// Bytes of the file consumed.
    pub fn bytes_read(&self) -> u64 {
        self.input.offset
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Unreadable(error) => write!(out, "the file cannot be read: {error}"),
            OpenError::NotACapture(message) => write!(out, "not a capture: {message}"),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError::Unreadable(error)
    }
}

/// A source with a buffer of bytes that have been read and not consumed.
#[derive(Debug)]
struct Input<R> {
    source: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Position of `start` in the file.
    offset: u64,
}

impl<R: Read> Input<R> {
    #[inline]
    fn held(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Whether `bytes` bytes are available, after reading more if necessary.
    #[inline]
    fn has(&mut self, bytes: usize) -> io::Result<bool> {
        if self.end - self.start >= bytes {
            return Ok(true);
        }
        self.read_on(bytes)
    }

    #[cold]
    fn read_on(&mut self, bytes: usize) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.buffer.len() < bytes.max(BUFFER) {
            self.buffer.resize(bytes.max(BUFFER), 0);
        }
        while self.end < bytes {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Consumes the next bytes, which must be available.
    #[inline]
    fn pass(&mut self, bytes: usize) {
        self.start += bytes;
        self.offset += bytes as u64;
    }

    fn damaged(&self, message: impl Into<String>) -> ReadError {
        ReadError::Damaged { at_byte: self.offset, message: message.into() }
    }

    /// The file ends within an item of `bytes` bytes.
    fn ends_within(&self, message: &str, bytes: usize) -> ReadError {
        self.damaged(format!("the file ends within {message}: {} of {bytes} bytes are present", self.end - self.start))
    }
}

/// The first bytes of a file that is not a capture.
fn shown(bytes: &[u8]) -> String {
    let first = &bytes[..bytes.len().min(8)];
    if first.iter().all(|&byte| byte.is_ascii_graphic() || byte == b' ') {
        return format!("`{}`", String::from_utf8_lossy(first));
    }
    let bytes: Vec<String> = first.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("the bytes {}", bytes.join(" "))
}

#[cfg(test)]
mod tests;
