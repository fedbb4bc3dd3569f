//! Congestion controllers in libraries: a C interface (`include/tailback.h`), and both of its sides.
//!
//! A library exports an array of [`Controller`], whose layout is that of the header. [`Library::controller`] makes such a controller the user
//! code of a simulated sender; [`exported`] makes a table of a [`Law`] in Rust.

#![allow(unsafe_code, reason = "the interface of C")]

use crate::library::{ABI, Header, Library, LibraryError, NONE, Table, created, owned, write_message};
use crate::virtual_hosts::text;
use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use tailback_core::congestion::{Ack, Cause, Congestion, Control, Lost, RoundTrip, Start, Subscriptions, UserController};
use tailback_core::primitives::units::{Bytes, Cwnd, Rate, Segments, Time, TimeDelta};
use tailback_core::user_code::Fault;

/// The sender of a flow at its start.
#[repr(C)]
pub struct Sender {
    /// Seed of all random numbers of the controller.
    pub seed: u64,
    /// Initial window and slow-start threshold in bytes; the threshold may be infinite.
    pub window: f64,
    pub ssthresh: f64,
    /// A full packet with its headers, in bytes: the unit in which the sender counts.
    pub segment: u32,
    /// The scenario's parameters: a JSON object.
    pub parameters: *const c_char,
}

/// An event of a sender.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Picoseconds from the start of the simulation.
    pub now: u64,
    /// The last RTT sample since the event before, in picoseconds; `UINT64_MAX` if there is none.
    pub rtt: u64,
    /// Bytes for which the window opens: those acknowledged, but fewer after a timeout, whose acknowledgements repeat the news of others
    /// (`tcp.abc_limit`). 0 for other events.
    pub acked: f64,
    /// Bytes that left the network with this acknowledgement. 0 for other events.
    pub delivered: f64,
    /// Bytes found lost since the start, with [`ALL_LOSSES`].
    pub lost: f64,
    /// Bytes that were outstanding before the event; of a lost segment, bytes in the network when it was sent.
    pub in_flight: f64,
    /// A [`Kind`].
    pub kind: u32,
    /// 1 if the window was not in use, and should not grow.
    pub app_limited: u8,
}

/// Values of [`Event::kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// New data was acknowledged outside loss recovery.
    Acked,
    /// The first loss of an episode.
    Lost,
    /// An ECN mark, once per window.
    Marked,
    /// A retransmission timeout.
    Timeout,
    /// A duplicate acknowledgement, or any during loss recovery; only with [`ALL_ACKS`].
    OtherAck,
    /// Each lost segment, before the acknowledgement or timeout that shows it; only with [`ALL_LOSSES`].
    LostSegment,
}

/// Further events that a controller requests ([`Controller::requests`]).
pub const ALL_ACKS: u32 = 1;
pub const ALL_LOSSES: u32 = 2;

impl Event {
    /// Whether it is of this kind.
    pub fn is(&self, kind: Kind) -> bool {
        self.kind == kind as u32
    }

    /// The RTT sample.
    pub fn round_trip(&self) -> Option<TimeDelta> {
        (self.rtt != NONE).then_some(TimeDelta(self.rtt))
    }
}

/// The decision of a controller. A limit that loss recovery sets holds until the next event.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Congestion window in bytes, at least a segment.
    pub window: f64,
    /// Slow-start threshold in bytes; infinite if there is none.
    pub ssthresh: f64,
    /// Pacing rate in bit/s; 0 leaves the timing to the sender.
    pub pacing: u64,
}

/// A controller. Its functions are never called at the same time for one flow.
#[repr(C)]
pub struct Controller {
    /// [`ABI`].
    pub abi: u32,
    /// Sum of [`ALL_ACKS`] and [`ALL_LOSSES`], or 0.
    pub requests: u32,
    /// Name in scenarios.
    pub name: *const c_char,
    /// Name and version of everything on which results depend, part of content hashes.
    pub version: *const c_char,
    /// The controller of a new flow and its first decision, or null after an error, whose text is written to the message.
    pub create: unsafe extern "C" fn(
        sender: *const Sender,
        decision: *mut Decision,
        message: *mut c_char,
        capacity: usize,
    ) -> *mut c_void,
    /// Processes an event, and writes the decision. Returns null, or the text of a fault that ends the run.
    pub on_event: unsafe extern "C" fn(controller: *mut c_void, event: *const Event, decision: *mut Decision) -> *const c_char,
    pub destroy: unsafe extern "C" fn(controller: *mut c_void),
}

// SAFETY: names and functions of a library are constant.
unsafe impl Sync for Controller {}

impl Table for Controller {
    const NOUN: &'static str = "controller";
    const CAPSULE: &'static CStr = c"tailback.controllers";
    const POINTERS: &'static [(&'static str, usize)] = &[
        ("name", offset_of!(Controller, name)),
        ("version", offset_of!(Controller, version)),
        ("create", offset_of!(Controller, create)),
        ("on_event", offset_of!(Controller, on_event)),
        ("destroy", offset_of!(Controller, destroy)),
    ];

    fn header(&self) -> Header {
        Header { abi: self.abi, name: self.name, version: self.version }
    }
}

impl Library<Controller> {
    /// The controller with this name for a new flow. `parameters`: a JSON object.
    ///
    /// # Errors
    /// The library has no such controller, or the controller refuses its parameters.
    pub fn controller(&self, name: &str, mut start: Start, parameters: &str) -> Result<Box<dyn UserController>, LibraryError> {
        let table = self.find(name)?;
        let segment = start.packet.0 as f64;
        let parameters = CString::new(parameters).unwrap_or_default();
        let sender = Sender {
            seed: (start.draws.uniform() * (1_u64 << 53) as f64) as u64,
            window: start.window * segment,
            ssthresh: start.ssthresh * segment,
            segment: u32::try_from(start.packet.0).unwrap_or(u32::MAX),
            parameters: parameters.as_ptr(),
        };
        let mut decision = Decision { window: sender.window, ssthresh: sender.ssthresh, pacing: 0 };
        // SAFETY: the message has this capacity, and everything outlives the call.
        let handle = created(name, |message, capacity| unsafe { (table.create)(&sender, &mut decision, message, capacity) })?;
        let output = decision.in_segments(segment);
        Ok(Box::new(LibraryController { table, handle, segment, rtt: NONE, lost: 0.0, output }))
    }

    /// Further events that the controller with this name requests.
    ///
    /// # Errors
    /// The library has no such controller.
    pub fn subscriptions(&self, name: &str) -> Result<Subscriptions, LibraryError> {
        let table = self.find(name)?;
        Ok(Subscriptions { other_acks: table.gets(ALL_ACKS), losses: table.gets(ALL_LOSSES), ..Subscriptions::default() })
    }
}

impl Controller {
    fn gets(&self, request: u32) -> bool {
        self.requests & request != 0
    }
}

impl Decision {
    fn in_segments(self, segment: f64) -> Control {
        let pacing = (self.pacing > 0).then_some(Rate(self.pacing));
        Control { window: self.window / segment, ssthresh: self.ssthresh / segment, pacing, release: None }
    }
}

/// A controller of a library.
struct LibraryController {
    table: &'static Controller,
    handle: *mut c_void,
    /// Bytes of a segment.
    segment: f64,
    /// The last RTT sample since the last event.
    rtt: u64,
    /// Bytes found lost since the start.
    lost: f64,
    /// The last decision.
    output: Control,
}

// SAFETY: calls for one flow never overlap, and a library must not depend on the thread.
unsafe impl Send for LibraryController {}
// SAFETY: nothing can be called through a shared reference.
unsafe impl Sync for LibraryController {}

impl Drop for LibraryController {
    fn drop(&mut self) {
        // SAFETY: the handle is from `create`, and not used any more.
        unsafe { (self.table.destroy)(self.handle) }
    }
}

impl LibraryController {
    fn congestion(&mut self, kind: Kind, seen: &Congestion) -> Result<Control, Fault> {
        let event = self.event(kind, seen.now, seen.in_flight);
        self.notify(&event)
    }

    fn event(&mut self, kind: Kind, now: Time, in_flight: Segments) -> Event {
        let rtt = std::mem::replace(&mut self.rtt, NONE);
        let (in_flight, kind) = (self.bytes(in_flight), kind as u32);
        Event { now: now.0, rtt, acked: 0.0, delivered: 0.0, lost: self.lost, in_flight, kind, app_limited: 0 }
    }

    /// An acknowledgement, for which the window opens by this number of segments.
    fn acknowledgement(&mut self, kind: Kind, ack: &Ack, counted: Segments) -> Result<Control, Fault> {
        let event = Event {
            acked: self.bytes(counted),
            delivered: self.bytes(ack.acked),
            app_limited: (!ack.window_validated).into(),
            ..self.event(kind, ack.now, ack.in_flight)
        };
        self.notify(&event)
    }

    fn bytes(&self, segments: Segments) -> f64 {
        f64::from(segments.0) * self.segment
    }

    fn notify(&mut self, event: &Event) -> Result<Control, Fault> {
        let mut decision = Decision { window: 0.0, ssthresh: f64::INFINITY, pacing: 0 };
        // SAFETY: the handle is from `create`, and both structures outlive the call.
        let fault = unsafe { (self.table.on_event)(self.handle, event, &mut decision) };
        if !fault.is_null() {
            return Err(Arc::new(LibraryError(owned(fault))));
        }
        self.output = decision.in_segments(self.segment);
        Ok(self.output)
    }
}

impl UserController for LibraryController {
    fn control(&mut self) -> Result<Control, Fault> {
        Ok(self.output)
    }

    fn on_ack(&mut self, ack: &Ack) -> Result<Control, Fault> {
        self.acknowledgement(Kind::Acked, ack, ack.counted)
    }

    fn on_other_ack(&mut self, ack: &Ack) -> Result<Control, Fault> {
        match self.table.gets(ALL_ACKS) {
            true => self.acknowledgement(Kind::OtherAck, ack, Segments(0)),
            false => Ok(self.output),
        }
    }

    fn on_lost(&mut self, lost: &Lost) -> Result<Control, Fault> {
        self.lost = lost.lost as f64 * self.segment;
        let event = self.event(Kind::LostSegment, lost.now, lost.in_flight);
        self.notify(&event)
    }

    fn on_round_trip(&mut self, measured: &RoundTrip) -> Result<Control, Fault> {
        self.rtt = measured.sample.0;
        Ok(self.output)
    }

    fn on_one_way_delay(&mut self, _delay: TimeDelta, _now: Time) -> Result<Control, Fault> {
        Ok(self.output)
    }

    fn on_congestion(&mut self, seen: &Congestion) -> Result<Control, Fault> {
        self.congestion(if seen.cause == Cause::Mark { Kind::Marked } else { Kind::Lost }, seen)
    }

    fn on_timeout(&mut self, seen: &Congestion) -> Result<Control, Fault> {
        self.congestion(Kind::Timeout, seen)
    }

    fn limit_window(&mut self, max: Cwnd) -> Result<Control, Fault> {
        self.output.window = self.output.window.min(max.0);
        Ok(self.output)
    }

    fn copy(&self) -> Result<Box<dyn UserController>, Fault> {
        Err(Arc::new(LibraryError("a controller of a library cannot be copied".into())))
    }
}

/// A controller in Rust.
pub trait Law: Send {
    fn on_event(&mut self, event: &Event);
    fn decision(&self) -> Decision;
}

/// [`Sender`] in Rust.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderSettings {
    pub seed: u64,
    /// Bytes.
    pub window: f64,
    pub ssthresh: f64,
    pub segment: Bytes,
    pub parameters: String,
}

/// A controller in Rust as one of a library.
pub mod exported {
    use super::*;

    /// Makes the controller of a new flow, or refuses its parameters.
    pub type CreateLaw = fn(&SenderSettings) -> Result<Box<dyn Law>, String>;

    /// A controller whose `create` calls [`create`]. Both texts end with a zero.
    pub const fn controller(
        name: &'static CStr,
        version: &'static CStr,
        create: unsafe extern "C" fn(*const Sender, *mut Decision, *mut c_char, usize) -> *mut c_void,
    ) -> Controller {
        Controller { abi: ABI, requests: 0, name: name.as_ptr(), version: version.as_ptr(), create, on_event, destroy }
    }

    struct Exported {
        law: Box<dyn Law>,
        fault: CString,
    }

    /// The body of a controller's function `create`.
    ///
    /// # Safety
    /// The arguments are those of that function.
    pub unsafe fn create(
        of: CreateLaw,
        sender: *const Sender,
        decision: *mut Decision,
        message: *mut c_char,
        capacity: usize,
    ) -> *mut c_void {
        // SAFETY: by contract.
        let (sender, decision) = unsafe { (&*sender, &mut *decision) };
        let settings = SenderSettings {
            seed: sender.seed,
            window: sender.window,
            ssthresh: sender.ssthresh,
            segment: Bytes(sender.segment.into()),
            parameters: owned(sender.parameters),
        };
        let made = catch_unwind(AssertUnwindSafe(|| of(&settings).map(|law| (law.decision(), law))));
        match made.unwrap_or_else(|panic| Err(panicked(panic))) {
            Ok((first, law)) => {
                *decision = first;
                Box::into_raw(Box::new(Exported { law, fault: CString::default() })).cast()
            }
            Err(problem) => {
                // SAFETY: by contract, the message has this capacity.
                unsafe { write_message(&problem, message, capacity) };
                ptr::null_mut()
            }
        }
    }

    unsafe extern "C" fn on_event(controller: *mut c_void, event: *const Event, decision: *mut Decision) -> *const c_char {
        // SAFETY: by contract, the controller is from `create`, and the other pointers are valid.
        let (Exported { law, fault }, event, decision) =
            unsafe { (&mut *controller.cast::<Exported>(), &*event, &mut *decision) };
        let decided = catch_unwind(AssertUnwindSafe(|| {
            law.on_event(event);
            law.decision()
        }));
        match decided {
            Ok(decided) => {
                *decision = decided;
                ptr::null()
            }
            Err(panic) => {
                *fault = CString::new(panicked(panic).replace('\0', " ")).unwrap_or_default();
                fault.as_ptr()
            }
        }
    }

    unsafe extern "C" fn destroy(controller: *mut c_void) {
        // SAFETY: by contract, the controller is from `create`, and not used any more.
        drop(unsafe { Box::from_raw(controller.cast::<Exported>()) });
    }

    fn panicked(panic: Box<dyn Any + Send>) -> String {
        format!("panicked: {}", text(&*panic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailback_core::congestion::AckCounting;
    use tailback_core::primitives::signal::Signal;

    /// Half of the bytes in flight after a loss, more by each acknowledgement otherwise; any mark is a mistake.
    struct Half(Decision);

    impl Law for Half {
        fn on_event(&mut self, event: &Event) {
            assert!(!event.is(Kind::Marked), "no marks");
            self.0.window = if event.is(Kind::Acked) { self.0.window + event.acked } else { event.in_flight / 2.0 };
            self.0.pacing = event.round_trip().map_or(0, |rtt| rtt.0);
        }

        fn decision(&self) -> Decision {
            self.0
        }
    }

    fn half(sender: &SenderSettings) -> Result<Box<dyn Law>, String> {
        let SenderSettings { window, ssthresh, .. } = *sender;
        let problem = Err(format!("`{}` is no object", sender.parameters));
        if sender.parameters == "{}" { Ok(Box::new(Half(Decision { window, ssthresh, pacing: 0 }))) } else { problem }
    }

    unsafe extern "C" fn create(
        sender: *const Sender,
        decision: *mut Decision,
        message: *mut c_char,
        capacity: usize,
    ) -> *mut c_void {
        // SAFETY: the arguments are passed on.
        unsafe { exported::create(half, sender, decision, message, capacity) }
    }

    static HALF: Controller = exported::controller(c"half", c"half 1", create);
    static COUNTING: Controller =
        Controller { requests: ALL_ACKS + ALL_LOSSES, ..exported::controller(c"counting", c"counting 1", create) };
    struct Controllers([*const Controller; 3]);
    // SAFETY: constant.
    unsafe impl Sync for Controllers {}
    static CONTROLLERS: Controllers = Controllers([&raw const HALF, &raw const COUNTING, ptr::null()]);

    fn made(name: &str, parameters: &str) -> Result<Box<dyn UserController>, LibraryError> {
        let start = Start { window: 10.0, ack_counting: AckCounting::Bytes, packet: Bytes(1000), ..Start::default() };
        library().controller(name, start, parameters)
    }

    fn library() -> Library<Controller> {
        // SAFETY: the array is static and ends with a null pointer.
        unsafe { Library::at(CONTROLLERS.0.as_ptr() as usize) }.unwrap()
    }

    #[test]
    fn controllers_that_request_them_get_all_acknowledgements_and_losses() {
        let (now, two, eight) = (Time(9), Segments(2), Segments(8));
        let ack =
            Ack { now, acked: two, counted: two, rtt: None, in_flight: eight, window_validated: true, signal: Signal::default() };
        let lost = Lost { now, lost: 3, prior_lost: 0, in_flight: eight, app_limited: false, begins_range: true };
        let mut law = made("counting", "{}").unwrap();
        // Everything but an acknowledgement of new data outside recovery halves the data in flight.
        assert_eq!(law.on_lost(&lost).unwrap().window, 4.0);
        law.on_ack(&ack).unwrap();
        assert_eq!(law.on_other_ack(&ack).unwrap().window, 4.0);
        assert_eq!(made("half", "{}").unwrap().on_other_ack(&ack).unwrap().window, 10.0);
        let requests = |name: &str| library().subscriptions(name).unwrap();
        assert_eq!(requests("half"), Subscriptions::NONE);
        assert_eq!(requests("counting"), Subscriptions { losses: true, other_acks: true, ..Subscriptions::NONE });
        assert!(library().subscriptions("whole").is_err());
    }

    #[test]
    fn events_carry_the_bytes_delivered_and_lost() {
        let mut controller = LibraryController {
            table: &COUNTING,
            handle: ptr::null_mut(),
            segment: 1000.0,
            rtt: NONE,
            lost: 3000.0,
            output: Control { window: 1.0, ssthresh: 1.0, pacing: None, release: None },
        };
        let event = controller.event(Kind::Timeout, Time(1), Segments(8));
        assert_eq!((event.in_flight, event.delivered, event.lost, event.kind), (8000.0, 0.0, 3000.0, 3));
        std::mem::forget(controller);
    }

    #[test]
    fn events_are_in_bytes_and_decisions_in_segments() {
        let mut law = made("half", "{}").unwrap();
        assert_eq!(law.control().unwrap().window, 10.0);
        assert_eq!(law.control().unwrap().ssthresh, f64::INFINITY);
        let measured = RoundTrip { sample: TimeDelta(5), smoothed: None };
        assert_eq!(law.on_round_trip(&measured).unwrap().pacing, None);
        let (now, acked, in_flight) = (Time(9), Segments(2), Segments(8));
        let ack = Ack { now, acked, counted: acked, rtt: None, in_flight, window_validated: true, signal: Signal::default() };
        let after = law.on_ack(&ack).unwrap();
        assert_eq!((after.window, after.pacing), (12.0, Some(Rate(5))));
        // The limit of the sender ends with the next event, and the sample is reported once.
        assert_eq!(law.limit_window(Cwnd(3.0)).unwrap().window, 3.0);
        let after = law.on_ack(&ack).unwrap();
        assert_eq!((after.window, after.pacing), (14.0, None));
        let seen = Congestion { now, in_flight, pipe: in_flight, min_window: Segments(2), repeated: false, cause: Cause::Loss };
        assert_eq!(law.on_congestion(&seen).unwrap().window, 4.0);
        let mark = Congestion { cause: Cause::Mark, ..seen };
        assert_eq!(law.on_congestion(&mark).unwrap_err().to_string(), "panicked: no marks");
        assert!(law.copy().is_err());
    }

    #[test]
    fn refusals_are_texts() {
        assert_eq!(made("half", "[]").map(|_| ()).unwrap_err().0, "`[]` is no object");
        assert_eq!(made("whole", "{}").map(|_| ()).unwrap_err().0, "the library has no controller `whole`");
    }
}
