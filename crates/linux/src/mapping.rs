//! Memory that a kernel shares with this process: the only accesses through pointers.
//!
//! The kernel waits while this process reads and writes, so that plain copies are enough for contents. Indices and flags, which order the
//! accesses of both sides, are atomic.

#![allow(unsafe_code, reason = "shared memory")]

use crate::fault::{Fault, fault};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

/// Bytes of a page.
const PAGE: u64 = 4096;

/// A part of a file that is mapped, shared and writable.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    length: usize,
    file: OwnedFd,
    /// The offset of the mapping in the file.
    offset: u64,
    /// Pages whose space in the file is reserved: a write to any other may end this process with SIGBUS if the file system is full.
    reserved: RefCell<Vec<bool>>,
}

// SAFETY: the mapping belongs to this value alone in this process.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `length` bytes of a file from `offset`.
    ///
    /// # Errors
    /// The system refuses it.
    pub(crate) fn new(file: OwnedFd, offset: u64, length: u64) -> Result<Mapping, Fault> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let size = usize::try_from(length).ok().filter(|&size| size > 0).ok_or_else(|| Fault("its memory is empty".into()))?;
        // SAFETY: the kernel of this system chooses the address, so that no memory of this process is replaced.
        let mapped = unsafe { mmap(ptr::null_mut(), size, protection, MapFlags::SHARED, file.as_fd(), offset) };
        let start = mapped.ok().and_then(|start| NonNull::new(start.cast::<u8>()));
        let Some(start) = start else { return fault(format!("its memory of {length} bytes cannot be mapped")) };
        let reserved = RefCell::new(vec![false; size.div_ceil(PAGE as usize)]);
        Ok(Mapping { start, length: size, file, offset, reserved })
    }

    pub(crate) fn length(&self) -> u64 {
        self.length as u64
    }

    /// Copies bytes from `at`.
    ///
    /// # Errors
    /// They are not in the mapping.
    pub(crate) fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Fault> {
        let from = self.range(at, into.len())?;
        // SAFETY: the range is in the mapping, and `into` is memory of this process.
        unsafe { ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// Copies bytes to `at`.
    ///
    /// # Errors
    /// They are not in the mapping, or the file system is full.
    pub(crate) fn write(&self, at: u64, bytes: &[u8]) -> Result<(), Fault> {
        let to = self.range(at, bytes.len())?;
        self.reserve(at, bytes.len() as u64)?;
        // SAFETY: the range is in the mapping, and `bytes` is memory of this process.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
    }

    pub(crate) fn u16(&self, at: u64) -> Result<&AtomicU16, Fault> {
        let pointer = self.aligned(at, 2)?;
        // SAFETY: the value is in the mapping and aligned, and all of its bits are valid.
        Ok(unsafe { &*pointer.cast::<AtomicU16>() })
    }

    pub(crate) fn u32(&self, at: u64) -> Result<&AtomicU32, Fault> {
        let pointer = self.aligned(at, 4)?;
        // SAFETY: as above.
        Ok(unsafe { &*pointer.cast::<AtomicU32>() })
    }

    pub(crate) fn u64(&self, at: u64) -> Result<&AtomicU64, Fault> {
        let pointer = self.aligned(at, 8)?;
        // SAFETY: as above.
        Ok(unsafe { &*pointer.cast::<AtomicU64>() })
    }

    fn aligned(&self, at: u64, size: usize) -> Result<*mut u8, Fault> {
        if !at.is_multiple_of(size as u64) {
            return fault(format!("an address, {at:#x}, is not a multiple of {size}"));
        }
        self.range(at, size)
    }

    fn range(&self, at: u64, length: usize) -> Result<*mut u8, Fault> {
        let end = usize::try_from(at).ok().and_then(|at| at.checked_add(length));
        if end.is_none_or(|end| end > self.length) {
            return fault(format!("it refers to {length} bytes at {at:#x} of its memory, which has {} bytes", self.length));
        }
        // SAFETY: the offset is in the mapping.
        Ok(unsafe { self.start.as_ptr().add(at as usize) })
    }

    fn reserve(&self, at: u64, length: u64) -> Result<(), Fault> {
        let mut reserved = self.reserved.borrow_mut();
        for page in at / PAGE..(at + length).div_ceil(PAGE) {
            let Some(is_reserved) = reserved.get_mut(page as usize).filter(|is_reserved| !**is_reserved) else { continue };
            if let Err(error) = fallocate(&self.file, FallocateFlags::KEEP_SIZE, self.offset + page * PAGE, PAGE) {
                return fault(format!("there is no space for its memory in the temporary folder ({error})"));
            }
            *is_reserved = true;
        }
        Ok(())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is from `new`, and nothing refers to it any more.
        let _ = unsafe { munmap(self.start.as_ptr().cast::<c_void>(), self.length) };
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
    use std::sync::atomic::Ordering::Relaxed;

    /// Memory of this process as a mapping.
    pub(crate) fn memory(length: u64) -> Mapping {
        let file = memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&file, length).unwrap();
        Mapping::new(file, 0, length).unwrap()
    }

    #[test]
    fn accesses_outside_are_faults() {
        let memory = memory(8192);
        memory.write(4090, &[1; 10]).unwrap();
        let mut read = [0; 12];
        memory.read(4090, &mut read).unwrap();
        assert_eq!(read, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0]);
        assert_eq!(memory.u16(4090).unwrap().load(Relaxed), 0x0101);
        assert!(memory.write(8190, &[0; 3]).is_err() && memory.read(u64::MAX, &mut read).is_err());
        assert!(memory.u32(8192).is_err());
        assert_eq!(memory.u64(4).map(|_| ()).unwrap_err().0, "an address, 0x4, is not a multiple of 8");
        assert!(Mapping::new(memfd_create("test", MemfdFlags::CLOEXEC).unwrap(), 0, 0).is_err());
    }
}
