//! Reads a file for postcard in pieces: reading all of it at once would double the memory.

use postcard::de_flavors::Flavor;
use postcard::{Error, Result};
use std::io::Read;

const PIECE_BYTES: usize = 1 << 20;

/// Reads up to a given number of bytes of `source` in pieces.
pub(super) struct ChunkedReader<R> {
    source: R,
    /// Bytes of the source that have not been read into the piece.
    left: u64,
    piece: Vec<u8>,
    /// Index of the next byte in the piece.
    at: usize,
}

impl<R: Read> ChunkedReader<R> {
    pub(super) fn new(source: R, bytes: u64) -> ChunkedReader<R> {
        ChunkedReader { source, left: bytes, piece: Vec::new(), at: 0 }
    }

    /// Whether all bytes have been read.
    pub(super) fn is_read(&self) -> bool {
        self.left == 0 && self.at == self.piece.len()
    }

    /// Reads on until the piece has at least `wanted` bytes.
    #[cold]
    fn refill(&mut self, wanted: usize) -> Result<()> {
        self.piece.drain(..self.at);
        self.at = 0;
        let missing = wanted.max(PIECE_BYTES).saturating_sub(self.piece.len()) as u64;
        let taken = missing.min(self.left);
        let read = self.source.by_ref().take(taken).read_to_end(&mut self.piece);
        self.left -= taken;
        let is_whole = read.is_ok_and(|read| read as u64 == taken);
        if is_whole && self.piece.len() >= wanted { Ok(()) } else { Err(Error::DeserializeUnexpectedEnd) }
    }
}

impl<'de, R: Read + 'de> Flavor<'de> for ChunkedReader<R> {
    type Remainder = ChunkedReader<R>;
    type Source = R;

    #[inline]
    fn pop(&mut self) -> Result<u8> {
        if self.at == self.piece.len() {
            self.refill(1)?;
        }
        let byte = self.piece[self.at];
        self.at += 1;
        Ok(byte)
    }

    /// No field of an engine borrows from the input.
    fn try_take_n(&mut self, _bytes: usize) -> Result<&'de [u8]> {
        Err(Error::WontImplement)
    }

    #[inline]
    fn try_take_n_temp<'a>(&'a mut self, bytes: usize) -> Result<&'a [u8]>
    where
        'de: 'a,
    {
        if self.piece.len() - self.at < bytes {
            self.refill(bytes)?;
        }
        let taken = self.at..self.at + bytes;
        self.at = taken.end;
        Ok(&self.piece[taken])
    }

    fn finalize(self) -> Result<ChunkedReader<R>> {
        Ok(self)
    }
}
