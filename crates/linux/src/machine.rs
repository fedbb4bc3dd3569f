//! A kernel in virtual time: its process, its clock and its device.
//!
//! The kernel waits except inside these calls. It runs until it has nothing to do before its limit; its next request is then in the time
//! page. An arrival is an interrupt while it waits: it requests the same instant, and runs.

use crate::command_line::{DEVICE_SOCKET, ROOT, TIME_SOCKET};
use crate::device::{Answer, Device, RECEIVE, TRANSMIT};
use crate::fault::{Fault, fault};
use crate::process::{Process, StartFolder, wait_readable};
use crate::time_protocol::{self, Message, Operation, TimePage};
use crate::vhost_user::{self, Header};
use rustix::fd::{AsFd, OwnedFd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv, recvmsg,
    send, sendmsg,
};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// A running kernel.
pub(crate) struct Machine {
    process: Process,
    clock: OwnedFd,
    driver: OwnedFd,
    /// The channel for interrupts.
    interrupts: OwnedFd,
    page: TimePage,
    pub(crate) device: Device,
    /// The kernel's own time may be up to this one.
    reached: u64,
}

/// Time of day at the start of a kernel's own time, in ns: any constant.
const TIME_OF_DAY: u64 = 1_000_000_000_000_000_000;
/// A kernel continues for this time without a request, in ns. Each reading of the clock by a process takes 256 ns of virtual time; with a
/// shorter limit it would be a request of its own.
const LOOKAHEAD: u64 = 1_023;

/// The parts of a machine during the boot.
struct Boot {
    process: Process,
    clock: OwnedFd,
    driver: Option<OwnedFd>,
    interrupts: Option<OwnedFd>,
    device: Device,
    page: TimePage,
    page_file: OwnedFd,
}

impl Machine {
    /// Boots a kernel, and lets it run until `until`, inclusive, in its own time.
    ///
    /// # Errors
    /// The text of the fault, with the end of the console.
    pub(crate) fn boot(kernel: &Path, arguments: &[String], mtu: u16, until: u64) -> Result<Machine, String> {
        let named = |Fault(text): Fault| format!("the kernel {}: {text}", kernel.display());
        let folder = StartFolder::new((ROOT, &kernel.join("guest"))).map_err(named)?;
        let clocks = folder.listen(TIME_SOCKET).map_err(named)?;
        let drivers = folder.listen(DEVICE_SOCKET).map_err(named)?;
        let mut process = Process::start(&kernel.join("linux"), arguments, folder.path()).map_err(named)?;
        let started = Machine::connect(&mut process, &clocks).and_then(|clock| {
            let (page, page_file) = TimePage::new()?;
            Ok((clock, page, page_file))
        });
        let (clock, page, page_file) = match started {
            Ok(started) => started,
            Err(problem) => return Err(described(&problem, &mut process)),
        };
        let mut boot = Boot { process, clock, driver: None, interrupts: None, device: Device::new(mtu), page, page_file };
        if let Err(problem) = boot.run(&drivers, until) {
            return Err(described(&problem, &mut boot.process));
        }
        let Boot { mut process, clock, driver, interrupts, device, page, .. } = boot;
        let (Some(driver), Some(interrupts)) = (driver, interrupts) else {
            let problem = Fault("it did not find its network device".into());
            return Err(described(&problem, &mut process));
        };
        Ok(Machine { process, clock, driver, interrupts, page, device, reached: until })
    }

    fn connect(process: &mut Process, listener: &UnixListener) -> Result<OwnedFd, Fault> {
        let socket: OwnedFd = listener.as_fd().try_clone_to_owned().map_err(|error| Fault(format!("no socket: {error}")))?;
        wait_readable(process, [&socket])?;
        accept(listener)
    }

    /// Everything that the kernel does until `now`, inclusive.
    ///
    /// # Errors
    /// The text of a fault, with the end of the console.
    pub(crate) fn run_until(&mut self, now: u64) -> Result<(), String> {
        self.run(now).map_err(|problem| described(&problem, &mut self.process))
    }

    fn run(&mut self, now: u64) -> Result<(), Fault> {
        while let Some(request) = self.page.request()?.filter(|&request| request <= now) {
            let time = request.max(self.page.time()?);
            self.reached = self.reached.max(now + LOOKAHEAD);
            self.page.let_run(time, now + LOOKAHEAD + 1)?;
            send_all(&self.clock, &time_protocol::run(time))?;
            self.wait()?;
            if self.device.collect()? {
                self.interrupt(TRANSMIT, now)?;
            }
        }
        Ok(())
    }

    /// Handles messages until the kernel waits.
    fn wait(&mut self) -> Result<(), Fault> {
        loop {
            let [is_time, is_device] = wait_readable(&mut self.process, [&self.clock, &self.driver])?;
            if is_device {
                handle(&mut self.device, &self.driver)?;
            } else if is_time && answer(&self.clock, &self.page)? {
                return Ok(());
            }
        }
    }

    /// A packet arrives.
    ///
    /// # Errors
    /// The text of a fault, with the end of the console.
    pub(crate) fn receive(&mut self, now: u64, packet: &[u8]) -> Result<(), String> {
        let mut deliver = || if self.device.receive(packet)? { self.interrupt(RECEIVE, now) } else { Ok(()) };
        deliver().map_err(|problem| described(&problem, &mut self.process))
    }

    /// Raises the interrupt of a queue while the kernel waits. It requests to run at once.
    fn interrupt(&mut self, queue: usize, now: u64) -> Result<(), Fault> {
        let time = now.max(self.reached).max(self.page.time()?);
        self.page.let_wait(time)?;
        send_all(&self.interrupts, &vhost_user::interrupt(queue as u32))?;
        wait_readable(&mut self.process, [&self.interrupts])?;
        let mut reply = [0; vhost_user::INTERRUPT_REPLY];
        receive_all(&self.interrupts, &mut reply)
    }

    /// The time at which the kernel runs next if nothing arrives.
    pub(crate) fn next_request(&self) -> Option<u64> {
        self.page.request().ok().flatten().filter(|&request| request < i64::MAX as u64 / 1000)
    }

    /// A fault with the end of the console.
    pub(crate) fn described(&mut self, problem: &Fault) -> String {
        described(problem, &mut self.process)
    }
}

impl Boot {
    fn run(&mut self, drivers: &UnixListener, until: u64) -> Result<(), Fault> {
        self.wait(drivers)?;
        while let Some(request) = self.page.request()?.filter(|&request| request <= until) {
            let time = request.max(self.page.time()?);
            self.page.let_run(time, until + 1)?;
            send_all(&self.clock, &time_protocol::run(time))?;
            self.wait(drivers)?;
        }
        Ok(())
    }

    /// Handles connections and messages until the kernel waits.
    fn wait(&mut self, drivers: &UnixListener) -> Result<(), Fault> {
        let listener: OwnedFd = drivers.as_fd().try_clone_to_owned().map_err(|error| Fault(format!("no socket: {error}")))?;
        loop {
            let [is_time, is_device] =
                wait_readable(&mut self.process, [&self.clock, self.driver.as_ref().unwrap_or(&listener)])?;
            match &self.driver {
                Some(driver) if is_device => {
                    if let Some(channel) = handle(&mut self.device, driver)? {
                        self.interrupts = Some(channel);
                    }
                }
                None if is_device => self.driver = Some(accept(drivers)?),
                _ if is_time && self.answer()? => return Ok(()),
                _ => {}
            }
        }
    }

    /// Answers a message of the clock, also the first one. Returns true if the kernel waits.
    fn answer(&self) -> Result<bool, Fault> {
        let message = next(&self.clock)?;
        if message.operation != Operation::Start {
            return answered(&self.clock, &self.page, message);
        }
        // The page, and in place of a log the page again: the kernel takes two descriptors without checking their number.
        let files = [self.page_file.as_fd(), self.page_file.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&files));
        let reply = message.acknowledgement(time_protocol::KERNEL.into());
        match sendmsg(&self.clock, &[IoSlice::new(&reply)], &mut control, SendFlags::NOSIGNAL) {
            Ok(count) if count == reply.len() => Ok(false),
            _ => fault(format!("{CLOSED} its clock")),
        }
    }
}

/// The text of a fault, with the end of the console. A closed connection is followed by the end of the process, which explains it.
fn described(Fault(text): &Fault, process: &mut Process) -> String {
    let mut text = text.clone();
    if text.starts_with(CLOSED) {
        let mut ends = (0..100).map(|_| {
            let end = process.end();
            if end.is_none() {
                thread::sleep(Duration::from_millis(10));
            }
            end
        });
        text = ends.find_map(|end| end).unwrap_or(text);
    }
    match process.console() {
        console if console.is_empty() => format!("the kernel failed: {text}"),
        console => format!("the kernel failed: {text}; the end of its console:\n{console}"),
    }
}

/// The beginning of faults about connections that the kernel has closed.
const CLOSED: &str = "it has closed";

fn accept(listener: &UnixListener) -> Result<OwnedFd, Fault> {
    match listener.accept() {
        Ok((stream, _)) => Ok(stream.into()),
        Err(error) => fault(format!("its connection failed: {error}")),
    }
}

/// Answers a message of the clock. Returns true if the kernel waits.
fn answer(clock: &OwnedFd, page: &TimePage) -> Result<bool, Fault> {
    answered(clock, page, next(clock)?)
}

fn next(clock: &OwnedFd) -> Result<Message, Fault> {
    let mut bytes = [0; time_protocol::MESSAGE];
    receive_all(clock, &mut bytes)?;
    Message::of(bytes)
}

fn answered(clock: &OwnedFd, page: &TimePage, message: Message) -> Result<bool, Fault> {
    let mut time = 0;
    match message.operation {
        Operation::Wait => return Ok(true),
        Operation::Request => page.set_request(message.time)?,
        Operation::Get => time = page.time()?,
        Operation::Update => page.set_time(message.time)?,
        Operation::GetTimeOfDay => time = TIME_OF_DAY,
        Operation::Broadcast => {}
        Operation::Start => return fault("it started its clock twice"),
    }
    send_all(clock, &message.acknowledgement(time))?;
    Ok(false)
}

/// Handles a message of the driver. Returns the channel for interrupts if that is in it.
fn handle(device: &mut Device, driver: &OwnedFd) -> Result<Option<OwnedFd>, Fault> {
    let mut header = [0; vhost_user::HEADER];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received =
        recvmsg(driver, &mut [IoSliceMut::new(&mut header)], &mut control, RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL);
    if !received.is_ok_and(|received| received.bytes == vhost_user::HEADER) {
        return fault(format!("{CLOSED} its network device"));
    }
    let descriptors = |message| match message {
        RecvAncillaryMessage::ScmRights(files) => files.collect(),
        _ => Vec::new(),
    };
    let files: Vec<OwnedFd> = control.drain().flat_map(descriptors).collect();
    let Some(header) = Header::of(header) else { return fault("its network driver sent a message that is too long") };
    let mut payload = vec![0; header.size];
    if !payload.is_empty() {
        receive_all(driver, &mut payload)?;
    }
    let (channel, reply) = match device.handle(header, &payload, files)? {
        Answer::Nothing => (None, Vec::new()),
        Answer::Reply(reply) => (None, reply),
        Answer::Channel(channel, reply) => (Some(channel), reply),
    };
    if !reply.is_empty() {
        send_all(driver, &reply)?;
    }
    Ok(channel)
}

fn send_all(socket: &OwnedFd, bytes: &[u8]) -> Result<(), Fault> {
    match send(socket, bytes, SendFlags::NOSIGNAL) {
        Ok(count) if count == bytes.len() => Ok(()),
        _ => fault(format!("{CLOSED} a connection")),
    }
}

/// Fills a buffer.
fn receive_all(socket: &OwnedFd, bytes: &mut [u8]) -> Result<(), Fault> {
    let mut count = 0;
    while count < bytes.len() {
        match recv(socket, &mut bytes[count..], RecvFlags::WAITALL) {
            Ok((0, _)) => return fault(format!("{CLOSED} a connection")),
            Ok((received, _)) => count += received,
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::CONNRESET) => return fault(format!("{CLOSED} a connection")),
            Err(error) => return fault(format!("its connection failed: {error}")),
        }
    }
    Ok(())
}
