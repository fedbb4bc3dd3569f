//! The time-travel protocol of User-mode Linux (`um_timetravel.h`, BSD-3-Clause): messages on a socket, and a shared page.
//!
//! The page has the current time, a limit until which the running kernel may continue without a request, and for each client the time at
//! which it wants to run next. With the page a kernel needs no message to read the time or to make a request: it only reports that it waits,
//! and this process lets it run.

use crate::fault::{Fault, fault};
use crate::mapping::Mapping;
use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use std::sync::atomic::Ordering::SeqCst;

/// Bytes of a message.
pub(crate) const MESSAGE: usize = 16;

/// A message of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) operation: Operation,
    sequence: u32,
    pub(crate) time: u64,
}

/// The operations that a kernel sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Start,
    Request,
    Wait,
    Get,
    Update,
    GetTimeOfDay,
    Broadcast,
}

const ACK: u32 = 0;
const RUN: u32 = 6;

impl Message {
    pub(crate) fn of(bytes: [u8; MESSAGE]) -> Result<Message, Fault> {
        let [a, b, c, d, e, f, g, h, time @ ..] = bytes;
        let operation = match u32::from_le_bytes([a, b, c, d]) {
            1 => Operation::Start,
            2 => Operation::Request,
            3 => Operation::Wait,
            4 => Operation::Get,
            5 => Operation::Update,
            8 => Operation::GetTimeOfDay,
            9 => Operation::Broadcast,
            other => return fault(format!("it sent the unknown time-travel operation {other}")),
        };
        Ok(Message { operation, sequence: u32::from_le_bytes([e, f, g, h]), time: u64::from_le_bytes(time) })
    }

    /// The acknowledgement of this message, with a time.
    pub(crate) fn acknowledgement(&self, time: u64) -> [u8; MESSAGE] {
        encoded(ACK, self.sequence, time)
    }
}

/// The message that lets a kernel run at a time.
pub(crate) fn run(time: u64) -> [u8; MESSAGE] {
    encoded(RUN, 0, time)
}

fn encoded(operation: u32, sequence: u32, time: u64) -> [u8; MESSAGE] {
    let mut bytes = [0; MESSAGE];
    bytes[..4].copy_from_slice(&operation.to_le_bytes());
    bytes[4..8].copy_from_slice(&sequence.to_le_bytes());
    bytes[8..].copy_from_slice(&time.to_le_bytes());
    bytes
}

/// Number of the only client, the kernel; this process is client 0.
pub(crate) const KERNEL: u16 = 1;
/// The version of the page.
const VERSION: u32 = 2;
/// Offsets of its fields.
const LENGTH: u64 = 4;
const FREE_UNTIL: u64 = 8;
const CURRENT_TIME: u64 = 16;
const RUNNING_ID: u64 = 24;
const MAX_CLIENTS: u64 = 26;
/// Clients follow the header of a page, and have 128 bytes each: capabilities, flags, time of the request.
const CLIENTS: u64 = 4096;
const CLIENT: u64 = 128;
const CAPABILITIES: u64 = 0;
const FLAGS: u64 = 4;
const REQUEST_TIME: u64 = 8;
/// Capability of a client that uses this page, and the flag of a request.
const TIME_SHARE: u32 = 1;
const REQUESTED: u32 = 1;

/// The shared page.
pub(crate) struct TimePage {
    mapping: Mapping,
}

impl TimePage {
    /// A page at time 0, and its file.
    pub(crate) fn new() -> Result<(TimePage, OwnedFd), Fault> {
        let length = CLIENTS + 2 * CLIENT;
        let failed = |error: rustix::io::Errno| Fault(format!("its time page cannot be created: {error}"));
        let file = memfd_create("time", MemfdFlags::CLOEXEC).map_err(failed)?;
        ftruncate(&file, length).map_err(failed)?;
        let given = file.try_clone().map_err(|error| Fault(format!("its time page cannot be shared: {error}")))?;
        let page = TimePage { mapping: Mapping::new(file, 0, length)? };
        page.mapping.u32(0)?.store(VERSION, SeqCst);
        page.mapping.u32(LENGTH)?.store(length as u32, SeqCst);
        page.mapping.u16(MAX_CLIENTS)?.store(2, SeqCst);
        page.mapping.u32(CLIENTS + CAPABILITIES)?.store(TIME_SHARE, SeqCst);
        page.mapping.u16(RUNNING_ID)?.store(KERNEL, SeqCst);
        Ok((page, given))
    }

    pub(crate) fn time(&self) -> Result<u64, Fault> {
        Ok(self.mapping.u64(CURRENT_TIME)?.load(SeqCst))
    }

    pub(crate) fn set_time(&self, time: u64) -> Result<(), Fault> {
        self.mapping.u64(CURRENT_TIME)?.store(time, SeqCst);
        Ok(())
    }

    /// The time at which the kernel wants to run next; `None` without a request.
    pub(crate) fn request(&self) -> Result<Option<u64>, Fault> {
        let client = CLIENTS + CLIENT * u64::from(KERNEL);
        if self.mapping.u32(client + FLAGS)?.load(SeqCst) & REQUESTED == 0 {
            return Ok(None);
        }
        Ok(Some(self.mapping.u64(client + REQUEST_TIME)?.load(SeqCst)))
    }

    /// Stores a request that the kernel has sent as a message.
    pub(crate) fn set_request(&self, time: u64) -> Result<(), Fault> {
        let client = CLIENTS + CLIENT * u64::from(KERNEL);
        self.mapping.u64(client + REQUEST_TIME)?.store(time, SeqCst);
        self.mapping.u32(client + FLAGS)?.fetch_or(REQUESTED, SeqCst);
        Ok(())
    }

    /// The kernel runs from `time`, and continues without a request before `limit`.
    pub(crate) fn let_run(&self, time: u64, limit: u64) -> Result<(), Fault> {
        let client = CLIENTS + CLIENT * u64::from(KERNEL);
        self.set_time(time)?;
        self.mapping.u16(RUNNING_ID)?.store(KERNEL, SeqCst);
        self.mapping.u64(FREE_UNTIL)?.store(limit, SeqCst);
        self.mapping.u32(client + FLAGS)?.fetch_and(!REQUESTED, SeqCst);
        Ok(())
    }

    /// This process runs, at `time`: the kernel only makes requests.
    pub(crate) fn let_wait(&self, time: u64) -> Result<(), Fault> {
        self.set_time(time)?;
        self.mapping.u16(RUNNING_ID)?.store(0, SeqCst);
        self.mapping.u64(FREE_UNTIL)?.store(0, SeqCst);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_four_fields_of_little_endian() {
        let mut bytes = encoded(3, 7, 0x0102);
        assert_eq!(bytes, [3, 0, 0, 0, 7, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]);
        let message = Message::of(bytes).unwrap();
        assert_eq!(message, Message { operation: Operation::Wait, sequence: 7, time: 0x0102 });
        assert_eq!(message.acknowledgement(5)[..9], [0, 0, 0, 0, 7, 0, 0, 0, 5]);
        assert_eq!(run(9)[..9], [6, 0, 0, 0, 0, 0, 0, 0, 9]);
        bytes[0] = 6;
        assert_eq!(Message::of(bytes).unwrap_err().0, "it sent the unknown time-travel operation 6");
    }

    #[test]
    fn requests_are_valid_until_the_kernel_runs() {
        let (page, _file) = TimePage::new().unwrap();
        assert_eq!((page.time(), page.request()), (Ok(0), Ok(None)));
        page.set_request(70).unwrap();
        page.let_wait(50).unwrap();
        assert_eq!((page.time(), page.request()), (Ok(50), Ok(Some(70))));
        page.let_run(70, 71).unwrap();
        assert_eq!((page.time(), page.request()), (Ok(70), Ok(None)));
    }
}
