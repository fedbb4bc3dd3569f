//! Captures, packet by packet, in constant memory. The blocks are parsed by `pcap-parser`; what is read here is only how long the next one is,
//! so that a file that ends within one, or claims what cannot be, is told from one that has to be read on.

mod pcap;
mod pcapng;

use crate::link::LinkType;
use crate::skipped::Reason;
use crate::time::Timestamp;
use std::fmt;
use std::io::{self, Read};

/// More than any packet has; longer blocks are damaged ones.
const LONGEST_BLOCK: usize = 64 << 20;
/// What is asked of the source at a time.
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

/// Where packets were captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// As the file has it; empty if it has none.
    pub name: String,
    pub link: LinkType,
}

/// A packet of a capture.
#[derive(Debug)]
pub struct Packet<'a> {
    /// Place in [`Reader::interfaces`].
    pub interface: usize,
    pub link: LinkType,
    pub at: Timestamp,
    /// What was captured of it.
    pub bytes: &'a [u8],
    /// Bytes that it had on the wire.
    pub original: u32,
    /// The first comment on it.
    pub comment: Option<String>,
}

/// What comes next in a capture.
#[derive(Debug)]
pub enum Record<'a> {
    Packet(Packet<'a>),
    /// A packet that cannot be read, and why.
    Skipped(Reason),
}

/// Why a file could not be opened as a capture.
#[derive(Debug)]
pub enum OpenError {
    Unreadable(io::Error),
    /// What it is instead, as far as one can tell, and what was expected.
    NotACapture(String),
}

/// Why a capture could not be read on.
#[derive(Debug)]
pub enum ReadError {
    Unreadable(io::Error),
    /// It breaks at this byte.
    Damaged {
        at_byte: u64,
        what: String,
    },
}

impl<R: Read> Reader<R> {
    /// Reads as much as is needed to know the format.
    ///
    /// # Errors
    /// If that cannot be read, or is the beginning of no capture.
    pub fn open(source: R) -> Result<Reader<R>, OpenError> {
        let mut input = Input { source, buffer: Vec::new(), start: 0, end: 0, offset: 0 };
        input.has(4).map_err(OpenError::Unreadable)?;
        let format = match *input.held() {
            [] => return Err(OpenError::NotACapture("the file is empty".into())),
            [0x0a, 0x0d, 0x0d, 0x0a, ..] => Format::Pcapng(pcapng::Pcapng::open(&mut input)?),
            [0xd4 | 0x4d, 0xc3 | 0x3c, 0xb2, 0xa1, ..] | [0xa1, 0xb2, 0xc3 | 0x3c, 0xd4 | 0x4d, ..] => {
                Format::Pcap(pcap::Pcap::open(&mut input)?)
            }
            [0x1f, 0x8b, ..] => return Err(OpenError::NotACapture("the file is packed by gzip; unpack it first".into())),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                return Err(OpenError::NotACapture("the file is packed by zstd; unpack it first".into()));
            }
            [0xfd, b'7', b'z', b'X', ..] => {
                return Err(OpenError::NotACapture("the file is packed by xz; unpack it first".into()));
            }
            [0x04, 0x22, 0x4d, 0x18, ..] => {
                return Err(OpenError::NotACapture("the file is packed by lz4; unpack it first".into()));
            }
            _ => return Err(OpenError::NotACapture(format!("the file begins with {}", shown(input.held())))),
        };
        Ok(Reader { input, format })
    }

    /// The next packet; `None` at the end of the file.
    ///
    /// # Errors
    /// Where the file is damaged or ends too early. What was read until there holds.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        match &mut self.format {
            Format::Pcap(pcap) => pcap.next_record(&mut self.input),
            Format::Pcapng(pcapng) => pcapng.next_record(&mut self.input),
        }
    }

    /// All interfaces so far, of all sections.
    pub fn interfaces(&self) -> &[Interface] {
        match &self.format {
            Format::Pcap(pcap) => pcap.interfaces(),
            Format::Pcapng(pcapng) => pcapng.interfaces(),
        }
    }

    /// Comments on the sections so far.
    pub fn comments(&self) -> &[String] {
        match &self.format {
            Format::Pcap(_) => &[],
            Format::Pcapng(pcapng) => pcapng.comments(),
        }
    }

    /// Bytes of the file behind what was read.
    pub fn bytes_read(&self) -> u64 {
        self.input.offset
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Unreadable(error) => write!(out, "the file cannot be read: {error}"),
            OpenError::NotACapture(what) => write!(out, "not a capture: {what}; expected pcap or pcapng"),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError::Unreadable(error)
    }
}

/// A source with what was read of it and not yet used.
#[derive(Debug)]
struct Input<R> {
    source: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Of `start` in the file.
    offset: u64,
}

impl<R: Read> Input<R> {
    #[inline]
    fn held(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Whether so many bytes are there, after reading on where they are not yet.
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

    /// The next bytes, which are there, are done with.
    #[inline]
    fn pass(&mut self, bytes: usize) {
        self.start += bytes;
        self.offset += bytes as u64;
    }

    fn damaged(&self, what: impl Into<String>) -> ReadError {
        ReadError::Damaged { at_byte: self.offset, what: what.into() }
    }

    /// The file ends within something that should have so many bytes.
    fn ends_within(&self, what: &str, bytes: usize) -> ReadError {
        self.damaged(format!("the file ends within {what}: {} of {bytes} bytes are there", self.end - self.start))
    }
}

/// The first bytes of what is no capture.
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
