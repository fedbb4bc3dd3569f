//! Stacks in libraries: a C interface (`include/tailback.h`), and both of its sides.
//!
//! A library exports an array of [`Stack`], whose layout is that of the header. [`Library::host`] creates hosts of such a stack; [`exported`] makes the functions of a stack from a
//! host in Rust, so that it can be compiled into a library of its own.

#![allow(unsafe_code, reason = "the interface of C")]

pub mod exported;

use crate::frame::{Datagram, Framing};
use crate::host::{Endless, Host, Outbox, report_fault};
use crate::ip::{self, EcnField};
use crate::report::{Report, TransportReport};
use crate::virtual_hosts::text;
use std::collections::HashSet;
use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::offset_of;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{fmt, ptr, slice};
use tailback_core::primitives::units::{Bytes, Time};

/// Version of the interface. A library with another version is refused.
pub const ABI: u32 = 2;

/// No time, or no limit.
pub(crate) const NONE: u64 = u64::MAX;
/// Bytes of an error message, with its terminating zero.
const MESSAGE: usize = 256;

/// One end of a flow.
#[repr(C)]
pub struct End {
    /// Seed of all random numbers of this end.
    pub seed: u64,
    /// Payload to send, in bytes; `UINT64_MAX` without a limit.
    pub size: u64,
    /// Times in picoseconds: start of the flow, and the time at which the application stops sending (`UINT64_MAX`: never).
    pub start: u64,
    pub stop: u64,
    /// IPv4 addresses in host byte order.
    pub local_address: u32,
    pub remote_address: u32,
    pub local_port: u16,
    pub remote_port: u16,
    /// Largest IP packet in bytes.
    pub mtu: u32,
    /// 1 for the sender of the data, 0 for the receiver.
    pub is_sender: u8,
    /// The scenario's parameters: a JSON object.
    pub parameters: *const c_char,
}

/// A datagram between two ends: a UDP payload, or a whole IPv4 packet, whose addresses and ports are ignored.
#[repr(C)]
pub struct Payload {
    pub source_address: u32,
    pub destination_address: u32,
    pub source_port: u16,
    pub destination_port: u16,
    /// ECN field (RFC 3168): 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    pub data: *const u8,
    pub length: usize,
}

/// Sends a datagram from inside `poll`. Returns [`SENT`] or [`FULL`].
pub type Send = unsafe extern "C-unwind" fn(outbox: *mut c_void, payload: *const Payload) -> u32;

/// Results of [`Send`]: sent, and refused because one poll has sent more than any window holds.
pub const SENT: u32 = 0;
pub const FULL: u32 = 1;

/// A stack. Its functions are never called at the same time for one host. Times are picoseconds of the simulation.
#[repr(C)]
pub struct Stack {
    /// [`ABI`].
    pub abi: u32,
    /// 1 if payloads are whole IPv4 packets, 0 if they are UDP payloads.
    pub sends_ip: u8,
    /// Name in scenarios.
    pub name: *const c_char,
    /// Name and version of everything on which results depend, part of content hashes.
    pub version: *const c_char,
    /// A new host, or null after an error, whose text is written to `message`.
    pub create: unsafe extern "C" fn(end: *const End, message: *mut c_char, capacity: usize) -> *mut c_void,
    /// Processes a datagram. Returns null, or the text of a fault that ends the run.
    pub receive: unsafe extern "C" fn(host: *mut c_void, now: u64, payload: *const Payload) -> *const c_char,
    /// Sends everything that may be sent now. Returns null, or the text of a fault that ends the run.
    pub poll: unsafe extern "C-unwind" fn(host: *mut c_void, now: u64, send: Send, outbox: *mut c_void) -> *const c_char,
    /// Time of the next poll if nothing arrives; `UINT64_MAX` if there is none.
    pub deadline: unsafe extern "C" fn(host: *const c_void) -> u64,
    pub destroy: unsafe extern "C" fn(host: *mut c_void),
    /// Writes what is known to a report in which everything is unknown. Null: nothing is known.
    pub report: Option<unsafe extern "C" fn(host: *mut c_void, report: *mut Report) -> *const c_char>,
    /// The application has written this number of bytes since the start. Null: applications are not supported.
    pub offer: Option<unsafe extern "C" fn(host: *mut c_void, written: u64) -> *const c_char>,
}

// SAFETY: names and functions of a library are constant.
unsafe impl Sync for Stack {}

/// A table of functions that libraries export.
pub trait Table: 'static {
    /// For errors.
    const NOUN: &'static str;
    /// Name of a Python capsule with such tables.
    const CAPSULE: &'static CStr;
    /// Names and offsets of its functions and texts, none of which may be null.
    const POINTERS: &'static [(&'static str, usize)];

    fn header(&self) -> Header;
}

/// The fields that all tables have.
pub struct Header {
    pub abi: u32,
    pub name: *const c_char,
    pub version: *const c_char,
}

impl Table for Stack {
    const NOUN: &'static str = "stack";
    const CAPSULE: &'static CStr = c"tailback.stacks";
    const POINTERS: &'static [(&'static str, usize)] = &[
        ("name", offset_of!(Stack, name)),
        ("version", offset_of!(Stack, version)),
        ("create", offset_of!(Stack, create)),
        ("receive", offset_of!(Stack, receive)),
        ("poll", offset_of!(Stack, poll)),
        ("deadline", offset_of!(Stack, deadline)),
        ("destroy", offset_of!(Stack, destroy)),
    ];

    fn header(&self) -> Header {
        Header { abi: self.abi, name: self.name, version: self.version }
    }
}

/// The stacks or controllers of a library, which remains loaded.
pub struct Library<T: 'static>(&'static [&'static T]);

/// A settings error of a library, or a library that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryError(pub String);

impl fmt::Display for LibraryError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Error for LibraryError {}

impl<T: Table> Library<T> {
    /// The tables of the array at an address, which ends with a null pointer.
    ///
    /// # Safety
    /// The address is that of such an array, valid until the process ends.
    ///
    /// # Errors
    /// The library has another version of the interface, no tables, null pointers in them, or invalid or repeated names.
    pub unsafe fn at(address: usize) -> Result<Library<T>, LibraryError> {
        let fault = |text: String| Err(LibraryError(text));
        let noun = T::NOUN;
        let first = address as *const *const T;
        if first.is_null() {
            return fault(format!("it has no {noun}s"));
        }
        // SAFETY: by contract, all entries up to the null pointer are valid.
        let tables = unsafe {
            let count = (0..).take_while(|&index| !(*first.add(index)).is_null()).count();
            slice::from_raw_parts(first, count)
        };
        if tables.is_empty() {
            return fault(format!("it has no {noun}s"));
        }
        for (position, table) in tables.iter().enumerate() {
            // SAFETY: all tables begin with the version; the rest may have another layout in another version.
            let abi = unsafe { *table.cast::<u32>() };
            if abi != ABI {
                return fault(format!("it has version {abi} of the interface; expected {ABI}"));
            }
            // SAFETY: the offsets are those of pointers.
            let is_null = |offset: usize| unsafe { *table.byte_add(offset).cast::<usize>() == 0 };
            if let Some((name, _)) = T::POINTERS.iter().find(|(_, offset)| is_null(*offset)) {
                return fault(format!("`{name}` of its {noun} {position} is NULL; expected a pointer"));
            }
        }
        // SAFETY: no function is null.
        let tables: &'static [&'static T] = unsafe { slice::from_raw_parts(first.cast(), tables.len()) };
        let mut names = HashSet::new();
        for name in tables.iter().map(|table| owned(table.header().name)) {
            let is_valid = |at: usize, byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || (byte == b'-' && at > 0);
            if !(1..=64).contains(&name.len()) || !name.bytes().enumerate().all(|(at, byte)| is_valid(at, byte)) {
                return fault(format!("`{name}` is not a valid name; expected 1 to 64 letters, digits, `_` and `-`"));
            }
            if let Some(name) = names.replace(name) {
                return fault(format!("it has two {noun}s `{name}`; expected different names"));
            }
        }
        Ok(Library(tables))
    }

    /// All names and versions.
    pub fn names(&self) -> Vec<(String, String)> {
        self.0.iter().map(|table| table.header()).map(|header| (owned(header.name), owned(header.version))).collect()
    }

    /// The table with this name.
    pub(crate) fn find(&self, name: &str) -> Result<&'static T, LibraryError> {
        let found = self.0.iter().find(|table| owned(table.header().name) == name);
        found.copied().ok_or_else(|| LibraryError(format!("the library has no {} `{name}`", T::NOUN)))
    }
}

impl Library<Stack> {
    /// A host of the stack with this name.
    ///
    /// # Errors
    /// The library has no such stack, or the stack refuses its parameters.
    pub fn host(&self, name: &str, settings: &EndSettings) -> Result<Box<dyn Host>, LibraryError> {
        let stack = self.find(name)?;
        let parameters = CString::new(settings.parameters.as_str()).unwrap_or_default();
        let end = End {
            seed: settings.seed,
            size: settings.size.map_or(NONE, |size| size.0),
            start: settings.start.0,
            stop: settings.stop.0,
            local_address: (*settings.local.ip()).into(),
            remote_address: (*settings.remote.ip()).into(),
            local_port: settings.local.port(),
            remote_port: settings.remote.port(),
            mtu: u32::try_from(settings.mtu.0).unwrap_or(u32::MAX),
            is_sender: settings.is_sender.into(),
            parameters: parameters.as_ptr(),
        };
        // SAFETY: the message has this capacity, and everything outlives the call.
        let handle = created(name, |message, capacity| unsafe { (stack.create)(&end, message, capacity) })?;
        Ok(Box::new(LibraryHost { stack, handle }))
    }
}

/// The object that a function `create` returns, or its message.
pub(crate) fn created(name: &str, create: impl FnOnce(*mut c_char, usize) -> *mut c_void) -> Result<*mut c_void, LibraryError> {
    let mut message = [0; MESSAGE];
    let handle = create(message.as_mut_ptr(), message.len());
    message[MESSAGE - 1] = 0;
    let why = owned(message.as_ptr());
    match handle.is_null() {
        true if why.is_empty() => Err(LibraryError(format!("`{name}` refuses its settings, and gives no reason"))),
        true => Err(LibraryError(why)),
        false => Ok(handle),
    }
}

/// Writes the message of a function `create`, truncated.
///
/// # Safety
/// The message has this capacity.
pub(crate) unsafe fn write_message(problem: &str, message: *mut c_char, capacity: usize) {
    let count = problem.len().min(capacity.saturating_sub(1));
    // SAFETY: by contract.
    unsafe {
        ptr::copy_nonoverlapping(problem.as_ptr().cast(), message, count);
        message.add(count).write(0);
    }
}

/// Text of a library; empty for null.
pub(crate) fn owned(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: texts of a library end with a zero.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// One end of a flow, as [`End`].
#[derive(Clone, Debug, PartialEq)]
pub struct EndSettings {
    pub is_sender: bool,
    pub seed: u64,
    pub size: Option<Bytes>,
    pub start: Time,
    /// [`Time::NEVER`]: without a stop.
    pub stop: Time,
    pub local: SocketAddrV4,
    pub remote: SocketAddrV4,
    pub mtu: Bytes,
    pub parameters: String,
}

impl EndSettings {
    /// The settings in a call of `create`.
    ///
    /// # Safety
    /// `end` is valid.
    unsafe fn of(end: *const End) -> EndSettings {
        // SAFETY: by contract.
        let end = unsafe { &*end };
        EndSettings {
            is_sender: end.is_sender != 0,
            seed: end.seed,
            size: (end.size != NONE).then_some(Bytes(end.size)),
            start: Time(end.start),
            stop: Time(end.stop),
            local: SocketAddrV4::new(end.local_address.into(), end.local_port),
            remote: SocketAddrV4::new(end.remote_address.into(), end.remote_port),
            mtu: Bytes(end.mtu.into()),
            parameters: owned(end.parameters),
        }
    }
}

/// A host of a library.
struct LibraryHost {
    stack: &'static Stack,
    handle: *mut c_void,
}

// SAFETY: calls for one host never overlap, and a library must not depend on the thread.
unsafe impl std::marker::Send for LibraryHost {}

impl Drop for LibraryHost {
    fn drop(&mut self) {
        // SAFETY: the handle is from `create`, and not used any more.
        unsafe { (self.stack.destroy)(self.handle) }
    }
}

impl Host for LibraryHost {
    fn receive(&mut self, now: Time, datagram: &Datagram<'_>) {
        let payload = Payload::of(datagram);
        // SAFETY: the payload outlives the call.
        let fault = unsafe { (self.stack.receive)(self.handle, now.0, &payload) };
        raise(fault);
    }

    fn poll(&mut self, now: Time, outbox: &mut Outbox) {
        // SAFETY: `send` expects this pointer, only during the call.
        let fault = unsafe { (self.stack.poll)(self.handle, now.0, send, (&raw mut *outbox).cast()) };
        raise(fault);
        outbox.check_refused();
    }

    fn deadline(&self) -> Option<Time> {
        // SAFETY: the handle is from `create`.
        let at = unsafe { (self.stack.deadline)(self.handle) };
        (at != NONE).then_some(Time(at))
    }

    fn offer(&mut self, written: Bytes) {
        let Some(offer) = self.stack.offer else {
            report_fault("the stack does not support `application`; expected no `application`, or another stack".into());
        };
        // SAFETY: the handle is from `create`.
        raise(unsafe { offer(self.handle, written.0) });
    }

    fn framing(&self) -> Framing {
        if self.stack.sends_ip == 0 { Framing::Udp } else { Framing::Ip }
    }

    fn report(&mut self) -> TransportReport {
        let Some(write) = self.stack.report else { return TransportReport::default() };
        let mut report = Report::from(&TransportReport::default());
        // SAFETY: the handle is from `create`, and the report outlives the call.
        let fault = unsafe { write(self.handle, &raw mut report) };
        raise(fault);
        report.transport_report(owned(report.end_reason)).unwrap_or_else(|problem| report_fault(problem))
    }
}

fn raise(fault: *const c_char) {
    if !fault.is_null() {
        report_fault(owned(fault));
    }
}

unsafe extern "C-unwind" fn send(outbox: *mut c_void, payload: *const Payload) -> u32 {
    // SAFETY: `LibraryHost::poll` passes this pointer, and the payload is valid by contract.
    let (outbox, datagram) = unsafe { (&mut *outbox.cast::<Outbox>(), (*payload).datagram()) };
    if outbox.try_send(&datagram) { SENT } else { FULL }
}

/// In place of a payload that is too long for IPv4, whose length may be wrong.
static TOO_LONG: [u8; ip::LONGEST + 1] = [0; ip::LONGEST + 1];

impl Payload {
    fn of(datagram: &Datagram<'_>) -> Payload {
        Payload {
            source_address: (*datagram.source.ip()).into(),
            destination_address: (*datagram.destination.ip()).into(),
            source_port: datagram.source.port(),
            destination_port: datagram.destination.port(),
            ecn: datagram.ecn as u8,
            data: datagram.payload.as_ptr(),
            length: datagram.payload.len(),
        }
    }

    /// # Safety
    /// `data` has `length` bytes, unless that is 0.
    unsafe fn datagram(&self) -> Datagram<'_> {
        Datagram {
            source: SocketAddrV4::new(Ipv4Addr::from(self.source_address), self.source_port),
            destination: SocketAddrV4::new(Ipv4Addr::from(self.destination_address), self.destination_port),
            ecn: EcnField::of(self.ecn),
            payload: match self.length {
                0 => &[],
                // SAFETY: by contract.
                1..=ip::LONGEST => unsafe { slice::from_raw_parts(self.data, self.length) },
                _ => &TOO_LONG,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns each payload at the time given as its parameters, in milliseconds.
    struct Echo(Vec<Vec<u8>>, Time, EndSettings);

    impl Host for Echo {
        fn receive(&mut self, _now: Time, datagram: &Datagram<'_>) {
            assert!(datagram.payload != [0], "no zeros");
            self.0.push(datagram.payload.into());
        }

        fn poll(&mut self, now: Time, outbox: &mut Outbox) {
            for payload in self.0.drain(..).filter(|payload| !payload.is_empty()) {
                let (source, destination) = (self.2.local, self.2.remote);
                outbox.send(&Datagram { source, destination, ecn: EcnField::Ect1, payload: &payload });
            }
            assert!(now <= self.1);
        }

        fn deadline(&self) -> Option<Time> {
            (self.1 != Time::NEVER).then_some(self.1)
        }
    }

    fn echo(end: &EndSettings) -> Result<Box<dyn Host>, String> {
        let at = end.parameters.parse().map_err(|_| format!("`{}` is no time", end.parameters))?;
        Ok(Box::new(Echo(Vec::new(), Time(at), end.clone())))
    }

    unsafe extern "C" fn create(end: *const End, message: *mut c_char, capacity: usize) -> *mut c_void {
        // SAFETY: the arguments are passed on.
        unsafe { exported::create(echo, end, message, capacity) }
    }

    static ECHO: Stack = exported::stack(c"echo", c"echo 1", create);
    struct Stacks([*const Stack; 2]);
    // SAFETY: constant.
    unsafe impl Sync for Stacks {}
    static STACKS: Stacks = Stacks([&raw const ECHO, ptr::null()]);

    fn settings(parameters: &str) -> EndSettings {
        let end = |last| SocketAddrV4::new(Ipv4Addr::new(198, 18, 0, last), 443);
        let (local, remote) = (end(1), end(2));
        let (start, stop) = (Time(5), Time::NEVER);
        EndSettings {
            is_sender: true,
            seed: 7,
            size: None,
            start,
            stop,
            local,
            remote,
            mtu: Bytes(1500),
            parameters: parameters.into(),
        }
    }

    fn library() -> Library<Stack> {
        // SAFETY: the array is static and ends with a null pointer.
        unsafe { Library::at(STACKS.0.as_ptr() as usize) }.unwrap()
    }

    #[test]
    fn a_host_behind_the_interface_behaves_as_in_front_of_it() {
        assert_eq!(library().names(), [("echo".into(), "echo 1".into())]);
        let end = settings("70");
        let mut host = library().host("echo", &end).unwrap();
        assert_eq!((host.framing(), host.deadline()), (Framing::Ip, None));
        let sent = Datagram { source: end.remote, destination: end.local, ecn: EcnField::Ce, payload: &[1, 2, 3] };
        let packet = Framing::Udp.packet(&sent);
        host.receive(Time(6), &Framing::Ip.datagram(&packet).unwrap());
        let mut outbox = Outbox::new(Framing::Ip);
        host.poll(Time(6), &mut outbox);
        assert_eq!(host.deadline(), Some(Time(70)));
        let answer = outbox.take().unwrap();
        let expected = Datagram { source: end.local, destination: end.remote, ecn: EcnField::Ect1, payload: &[1, 2, 3] };
        assert_eq!(Framing::Udp.datagram(&answer), Some(expected));
        assert!(outbox.take().is_none());
    }

    #[test]
    fn errors_and_panics_cross_the_interface_as_text() {
        let refused = |name: &str, parameters: &str| library().host(name, &settings(parameters)).map(|_| ()).unwrap_err().0;
        assert_eq!(refused("echo", "soon"), "`soon` is no time");
        assert_eq!(refused("echo", &"9".repeat(400)).len(), MESSAGE - 1);
        let silent = created("echo", |_, _| ptr::null_mut()).map(|_| ()).unwrap_err().0;
        assert_eq!(silent, "`echo` refuses its settings, and gives no reason");
        assert_eq!(refused("other", "1"), "the library has no stack `other`");
        let mut host = library().host("echo", &settings("5")).unwrap();
        let late = catch_unwind(AssertUnwindSafe(|| host.poll(Time(6), &mut Outbox::new(Framing::Ip)))).unwrap_err();
        let message = crate::host::reported(late).unwrap();
        assert_eq!(message, "panicked: assertion failed: now <= self.1");
    }
}
