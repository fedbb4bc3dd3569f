//! A host in Rust as a stack of a library: the functions of [`stack`].

use super::*;

/// Creates a host.
pub type Create = fn(&EndSettings) -> Result<Box<dyn Host>, String>;

/// A stack whose hosts `create` makes. Both texts end with a zero.
pub const fn stack(
    name: &'static CStr,
    version: &'static CStr,
    create: unsafe extern "C" fn(*const End, *mut c_char, usize) -> *mut c_void,
) -> Stack {
    let (name, version) = (name.as_ptr(), version.as_ptr());
    // Packets have their headers already, so that nothing is framed twice.
    Stack {
        abi: ABI,
        sends_ip: 1,
        name,
        version,
        create,
        receive,
        poll,
        deadline,
        destroy,
        report: Some(report),
        offer: Some(offer),
    }
}

struct Exported {
    host: Box<dyn Host>,
    outbox: Outbox,
    /// After the last poll.
    deadline: Option<Time>,
    fault: CString,
    end_reason: CString,
}

impl Exported {
    /// Calls the host; a panic becomes a fault.
    fn call(&mut self, act: impl FnOnce(&mut dyn Host, &mut Outbox)) -> *const c_char {
        let Exported { host, outbox, fault, .. } = self;
        match catch_unwind(AssertUnwindSafe(|| act(&mut **host, outbox))) {
            Ok(()) => ptr::null(),
            Err(panic) => {
                let message = match crate::host::reported(panic) {
                    Ok(message) => message,
                    Err(panic) if panic.is::<Endless>() => "it sent packets without end in one poll".into(),
                    Err(panic) => format!("panicked: {}", text(&*panic)),
                };
                *fault = text_of(&message);
                fault.as_ptr()
            }
        }
    }
}

fn text_of(message: &str) -> CString {
    CString::new(message.replace('\0', " ")).unwrap_or_default()
}

/// The body of a stack's function `create`.
///
/// # Safety
/// The arguments are the same.
pub unsafe fn create(of: Create, end: *const End, message: *mut c_char, capacity: usize) -> *mut c_void {
    // SAFETY: by contract.
    let settings = unsafe { EndSettings::of(end) };
    let made = catch_unwind(AssertUnwindSafe(|| of(&settings)));
    let problem = match made {
        Ok(Ok(host)) => {
            let outbox = Outbox::new(host.framing());
            let (fault, end_reason) = Default::default();
            return Box::into_raw(Box::new(Exported { host, outbox, deadline: None, fault, end_reason })).cast();
        }
        Ok(Err(problem)) => problem,
        Err(panic) => format!("panicked: {}", text(&*panic)),
    };
    // SAFETY: by contract, the message has this capacity.
    unsafe { write_message(&problem, message, capacity) };
    ptr::null_mut()
}

unsafe extern "C" fn receive(host: *mut c_void, now: u64, payload: *const Payload) -> *const c_char {
    // SAFETY: by contract, the host is from `create`, and the payload is valid.
    let (exported, packet) = unsafe { (&mut *host.cast::<Exported>(), (*payload).datagram()) };
    let datagram = match exported.outbox.framing() {
        Framing::Ip => Some(packet),
        Framing::Udp => Framing::Udp.datagram(packet.payload),
    };
    let Some(datagram) = datagram else { return ptr::null() };
    exported.call(|host, _| host.receive(Time(now), &datagram))
}

unsafe extern "C-unwind" fn poll(host: *mut c_void, now: u64, send: Send, outbox: *mut c_void) -> *const c_char {
    // SAFETY: by contract, the host is from `create`.
    let exported = unsafe { &mut *host.cast::<Exported>() };
    let mut deadline = None;
    let fault = exported.call(|host, outbox| {
        host.poll(Time(now), outbox);
        deadline = host.deadline();
    });
    exported.deadline = deadline;
    while let Some(packet) = exported.outbox.take() {
        let (source_address, destination_address, source_port, destination_port) = (0, 0, 0, 0);
        let (data, length) = (packet.as_ptr(), packet.len());
        let payload = Payload { source_address, destination_address, source_port, destination_port, ecn: 0, data, length };
        // SAFETY: by contract, `send` takes this outbox.
        let status = unsafe { send(outbox, &payload) };
        exported.outbox.recycle(packet);
        if status != SENT {
            break;
        }
    }
    fault
}

unsafe extern "C" fn offer(host: *mut c_void, written: u64) -> *const c_char {
    // SAFETY: by contract, the host is from `create`.
    unsafe { &mut *host.cast::<Exported>() }.call(|host, _| host.offer(Bytes(written)))
}

unsafe extern "C" fn deadline(host: *const c_void) -> u64 {
    // SAFETY: by contract, the host is from `create`.
    unsafe { &*host.cast::<Exported>() }.deadline.map_or(NONE, |at| at.0)
}

unsafe extern "C" fn report(host: *mut c_void, report: *mut Report) -> *const c_char {
    // SAFETY: by contract, the host is from `create`, and the report is valid.
    let (exported, report) = unsafe { (&mut *host.cast::<Exported>(), &mut *report) };
    let mut stated = TransportReport::default();
    let fault = exported.call(|host, _| stated = host.report());
    *report = Report::from(&stated);
    if let Some(end) = stated.ended {
        exported.end_reason = text_of(&end.reason);
        report.end_reason = exported.end_reason.as_ptr();
    }
    fault
}

unsafe extern "C" fn destroy(host: *mut c_void) {
    // SAFETY: by contract, the host is from `create`, and not used any more.
    let exported = unsafe { Box::from_raw(host.cast::<Exported>()) };
    // The run is over, and a panic must not cross the interface.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(exported)));
}
