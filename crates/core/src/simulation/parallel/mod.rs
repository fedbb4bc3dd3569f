//! One run on several processors: the same bytes, whatever their number.
//!
//! Conservative parallel simulation by epochs (Chandy and Misra 1979; Fujimoto, "Parallel discrete event simulation", CACM 33(10), 1990). Ports
//! and ends of flows are shared among domains (`shares.rs`), each of which is an engine that handles the events of what it owns. What one
//! domain does takes at least the *lookahead* to reach another. So each may handle, without hearing from the others, all that lies before the
//! first event of theirs and the lookahead. Then they exchange what has left them, and begin the next epoch.
//!
//! Why no byte depends on it: of two events, one can change what the other does only if both are of one entity, or if the first sends
//! something that the second meets; and entities, and the lines that feed them, are handled in the order of time and rank by whoever owns them.

mod barrier;
mod domains;
mod laying;
mod shares;

use super::border::{Arrival, Border, Mail, Owners, Sorted};
use super::engine::Engine;

use crate::primitives::units::{Span, Time};
use barrier::Barrier;
use std::any::Any;
use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A run that several threads share.
#[derive(Debug)]
pub struct ParallelEngine {
    domains: Vec<Engine>,
    owners: Arc<Owners>,
    lookahead: Span,
    pace: Pace,
}

/// Why a run is not shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indivisible {
    /// One thread was asked for.
    OneThread,
    /// Code of users runs on one thread.
    UserCode,
    /// Datagrams come from outside, and what becomes of them is told there.
    RealPackets,
    /// Routes change.
    Routes,
    /// All is so close that nothing takes time from one part to another.
    NoDelay,
}

impl fmt::Display for Indivisible {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(match self {
            Indivisible::OneThread => "one thread was asked for",
            Indivisible::UserCode => "user code runs on one thread",
            Indivisible::RealPackets => "real packets are handled by one thread",
            Indivisible::Routes => "routes change on the way",
            Indivisible::NoDelay => "no link has a delay that would separate two parts of the network",
        })
    }
}

impl ParallelEngine {
    /// More threads than this do not share a run.
    pub const MOST_THREADS: usize = 1024;

    /// Share the rest of a run among at most so many threads.
    ///
    /// # Errors
    /// The run as it was, and why it is not shared.
    pub fn new(mut engine: Engine, threads: NonZeroUsize) -> Result<ParallelEngine, Box<(Engine, Indivisible)>> {
        let senders = &engine.senders;
        let why = match () {
            () if threads.get() == 1 => Some(Indivisible::OneThread),
            () if engine.has_user_code() => Some(Indivisible::UserCode),
            () if senders.fabric.facts.iter().any(|facts| facts.is_external) => Some(Indivisible::RealPackets),
            () if !senders.fabric.rerouted.is_empty() => Some(Indivisible::Routes),
            () => None,
        };
        if let Some(why) = why {
            return Err(Box::new((engine, why)));
        }
        let shares = shares::divide(&engine, threads.get().min(ParallelEngine::MOST_THREADS));
        if shares.domains < 2 {
            return Err(Box::new((engine, Indivisible::NoDelay)));
        }
        let packets = &std::mem::take(&mut engine.senders.fabric.common.pool);
        let ports = &std::mem::take(&mut engine.senders.fabric.ports);
        let (whole, shares) = (&engine, &shares);
        let domains = std::thread::scope(|scope| {
            let part = |own| scope.spawn(move || domains::part(whole, packets, ports, own, shares));
            let parts: Vec<_> = (0..shares.domains as u16).map(part).collect();
            parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        let pace = Pace::new(shares.lookahead, shares.domains);
        Ok(ParallelEngine { domains, owners: shares.owners.clone(), lookahead: shares.lookahead, pace })
    }

    /// Threads that share it.
    pub fn threads(&self) -> usize {
        self.domains.len()
    }

    /// The least time in which anything gets from one thread's part to another's.
    pub fn lookahead(&self) -> Span {
        self.lookahead
    }

    /// Simulated time that all of it has reached.
    pub fn now(&self) -> Time {
        self.domains.iter().map(Engine::now).min().unwrap_or(Time::ZERO)
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.domains.iter().map(Engine::events).sum()
    }

    /// How often the threads have met.
    pub fn epochs(&self) -> u64 {
        self.pace.epochs
    }

    /// Of each epoch the events of the thread that handled most, in all. However fast threads meet, the run is faster by no more than
    /// `events() / critical_events()`, as far as events take one time.
    pub fn critical_events(&self) -> u64 {
        self.pace.critical_events
    }

    /// The run as one engine, at a time that all of it reaches. It goes on to the same bytes, and so does this.
    pub fn engine(&mut self) -> Engine {
        let furthest = self.domains.iter().map(Engine::now).max().unwrap_or(Time::ZERO);
        self.run_until(furthest);
        self.deliver_mail();
        self.domains.iter_mut().for_each(Engine::let_arrivals_wait);
        domains::whole(&mut self.domains, &self.owners)
    }

    /// Let all packets that are between domains walk on to where they wait.
    fn deliver_mail(&mut self) {
        let mut is_under_way = true;
        while is_under_way {
            is_under_way = false;
            self.domains.iter_mut().for_each(Engine::take_mail);
            let count = self.domains.len();
            for (from, to) in (0..count * count).map(|pair| (pair / count, pair % count)) {
                let outbox = self.domains[from].border_mut().map(|border| std::mem::take(&mut border.outboxes[to]));
                let mail = outbox.filter(|mail| !mail.packets.is_empty());
                if let (Some(mail), Some(border)) = (mail, self.domains[to].border_mut()) {
                    border.inboxes[from] = mail;
                    is_under_way = true;
                }
            }
        }
    }

    /// Handle all events before `time`, or before the end of the run if that comes first.
    pub fn run_until(&mut self, time: Time) {
        self.run_for(time, u64::MAX);
    }

    /// The same, but stop soon after so many events. True once all before `time` are handled.
    ///
    /// # Panics
    /// If a thread does, which is a bug of ours.
    pub fn run_for(&mut self, time: Time, events: u64) -> bool {
        let end = time.min(self.domains[0].end());
        let count = self.domains.len();
        let meeting = Meeting {
            barrier: Barrier::new(count),
            next: (0..count).map(|_| AtomicU64::new(0)).collect(),
            mail: (0..count * count).map(|_| Mutex::default()).collect(),
            handled: (0..count).map(|_| AtomicU64::new(0)).collect(),
            has_failed: AtomicBool::new(false),
            failure: Mutex::new(None),
            lookahead: self.lookahead,
            end,
            enough: events,
        };
        std::thread::scope(|scope| {
            let mut domains = (0..).zip(&mut self.domains);
            let first = domains.next();
            for (number, domain) in domains {
                let (meeting, mut pace) = (&meeting, self.pace.clone());
                scope.spawn(move || meeting.attend(number, domain, &mut pace));
            }
            if let Some((number, domain)) = first {
                meeting.attend(number, domain, &mut self.pace);
            }
        });
        if let Some(failure) = meeting.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(failure);
        }
        self.domains.iter().all(|domain| domain.now() >= end)
    }
}

impl Engine {
    fn border_mut(&mut self) -> Option<&mut Border> {
        self.senders.fabric.common.border.as_deref_mut()
    }

    fn end(&self) -> Time {
        self.senders.fabric.common.window.end
    }

    /// Nothing happens before this time.
    fn reach(&mut self, time: Time) {
        let now = self.now().max(time);
        self.senders.fabric.common.now = now;
    }

    /// When the first happens of all that is known here.
    fn next_time(&mut self) -> Time {
        let fabric = &mut self.senders.fabric;
        let event = fabric.common.calendar.peek();
        let home = fabric.common.known_at_home.iter().filter_map(|&flow| fabric.next_home(flow)).min();
        let inboxes = fabric.common.border.iter().flat_map(|border| &border.inboxes);
        let mail = inboxes.map(|mail| mail.first).min();
        let arrival = fabric.common.border.iter().filter_map(|border| border.arrivals.first()).min();
        [event, home, mail, arrival].into_iter().flatten().min().unwrap_or(Time::NEVER)
    }

    /// Let what has come from other domains walk on, or wait for its turn.
    fn take_mail(&mut self) {
        let Some(mut arrivals) = self.border_mut().map(|border| std::mem::take(&mut border.arrivals)) else { return };
        for from in 0..self.border_mut().map_or(0, |border| border.inboxes.len()) {
            let Some(mut mail) = self.border_mut().map(|border| std::mem::take(&mut border.inboxes[from])) else { return };
            self.senders.fabric.take_in(&mut mail, &mut arrivals);
            self.border_mut().into_iter().for_each(|border| std::mem::swap(&mut border.inboxes[from], &mut mail));
        }
        self.border_mut().into_iter().for_each(|border| std::mem::swap(&mut border.arrivals, &mut arrivals));
    }

    /// Handle all events and arrivals before `time`.
    fn advance_with_arrivals(&mut self, time: Time) {
        while let Some(mut arrivals) = self.take_arrivals(time) {
            while let Some(Arrival { slot, packet }) = arrivals.next_before(time) {
                if self.senders.fabric.is_large {
                    self.senders.fabric.look_ahead_at_arrivals(&arrivals);
                }
                self.advance(packet.time, u64::MAX);
                while self.senders.fabric.common.calendar.is_due(packet.time, slot) {
                    self.step(Time(packet.time.0 + 1));
                    self.advance(packet.time, u64::MAX);
                }
                self.senders.fabric.on_arrival(packet);
                self.events += 1;
            }
            self.put_back(arrivals);
        }
        self.advance(time, u64::MAX);
    }

    /// What has come from other domains is where it would be without them.
    fn let_arrivals_wait(&mut self) {
        while let Some(mut arrivals) = self.take_arrivals(Time::NEVER) {
            while let Some(arrival) = arrivals.next_before(Time::NEVER) {
                self.senders.fabric.put_in_line(arrival);
            }
            self.put_back(arrivals);
        }
        self.senders.fabric.let_wait_at_home();
        self.border_mut().into_iter().for_each(Border::free_room);
    }

    fn take_arrivals(&mut self, before: Time) -> Option<Sorted> {
        let common = &mut self.senders.fabric.common;
        common.border.as_mut()?.arrivals.take_before(before, &common.order)
    }

    fn put_back(&mut self, arrivals: Sorted) {
        if let Some(border) = self.border_mut() {
            border.arrivals.put_back(arrivals);
        }
    }
}

/// Where the threads of a run meet.
struct Meeting {
    barrier: Barrier,
    /// Of each domain the time before which nothing happens there.
    next: Vec<AtomicU64>,
    /// From each domain to each.
    mail: Vec<Mutex<Mail>>,
    /// Events of each.
    handled: Vec<AtomicU64>,
    has_failed: AtomicBool,
    failure: Mutex<Option<Box<dyn Any + Send>>>,
    lookahead: Span,
    end: Time,
    enough: u64,
}

/// How long epochs are, and what they were: all domains come to the same.
#[derive(Clone, Debug)]
struct Pace {
    length: Span,
    epochs: u64,
    critical_events: u64,
    /// Of each domain, since the threads began.
    handled: Vec<u64>,
}

impl Pace {
    /// What a domain sends in an epoch should be in the cache still when it is read in the next.
    const MOST_EVENTS: u64 = 16_384;

    /// At first an epoch is short. It doubles soon where that is too short; one that is too long fills the memory with what it sends.
    fn new(lookahead: Span, domains: usize) -> Pace {
        Pace { length: Span((lookahead.0 / 1024).max(1)), epochs: 0, critical_events: 0, handled: vec![0; domains] }
    }

    /// All have come to the end of an epoch.
    fn note(&mut self, handled: &[AtomicU64], longest: Span) {
        let (mut all, mut most) = (0, 0);
        for (before, handled) in self.handled.iter_mut().zip(handled) {
            let handled = handled.load(Ordering::Relaxed);
            let here = handled - std::mem::replace(before, handled);
            all += here;
            most = here.max(most);
        }
        self.critical_events += most;
        let enough = Pace::MOST_EVENTS * self.handled.len() as u64;
        if all > enough {
            self.length = Span((self.length.0 / 2).max(1));
        } else if all < enough / 2 {
            self.length = Span(self.length.0.saturating_mul(2)).min(longest);
        }
    }
}

impl Meeting {
    /// Handle a domain's events, epoch by epoch.
    fn attend(&self, number: usize, domain: &mut Engine, pace: &mut Pace) {
        pace.handled.fill(0);
        let before = domain.events();
        loop {
            self.guarded(|| self.fetch_mail(number, domain));
            self.barrier.wait();
            let next = self.next();
            let is_over = self.has_failed.load(Ordering::Relaxed) || pace.handled.iter().sum::<u64>() >= self.enough;
            if is_over {
                return;
            }
            if next >= self.end {
                return domain.reach(self.end);
            }
            pace.epochs += 1;
            self.guarded(|| {
                domain.take_mail();
                domain.advance_with_arrivals(self.horizon(number).min(next + pace.length).min(self.end));
                self.handled[number].store(domain.events() - before, Ordering::Relaxed);
                self.send_mail(number, domain);
            });
            self.barrier.wait();
            // Between this barrier and the next, nobody handles anything.
            pace.note(&self.handled, self.lookahead);
        }
    }

    /// The first that happens anywhere.
    fn next(&self) -> Time {
        Time(self.next.iter().map(|next| next.load(Ordering::Relaxed)).min().unwrap_or(u64::MAX))
    }

    /// Until when a domain may go on without hearing from the others: before that, nothing of theirs arrives, nor an answer to what it sends.
    fn horizon(&self, number: usize) -> Time {
        let next = |index: usize| Time(self.next[index].load(Ordering::Relaxed));
        let of_others = (0..self.next.len()).filter(|&index| index != number).map(next).min().unwrap_or(Time::NEVER);
        (of_others + self.lookahead).min(next(number) + self.lookahead + self.lookahead)
    }

    fn send_mail(&self, number: usize, domain: &mut Engine) {
        let Some(border) = domain.border_mut() else { return };
        for (to, mail) in border.outboxes.iter_mut().enumerate().filter(|(_, mail)| !mail.packets.is_empty()) {
            let slot = &self.mail[number * self.next.len() + to];
            std::mem::swap(mail, &mut slot.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Take what others have sent, unread, and tell when the first of all that is known here happens.
    fn fetch_mail(&self, number: usize, domain: &mut Engine) {
        if let Some(border) = domain.border_mut() {
            for (from, inbox) in border.inboxes.iter_mut().enumerate() {
                let mut slot = self.mail[from * self.next.len() + number].lock().unwrap_or_else(PoisonError::into_inner);
                if !slot.packets.is_empty() {
                    std::mem::swap(inbox, &mut slot);
                }
            }
        }
        self.next[number].store(domain.next_time().0, Ordering::Relaxed);
    }

    /// A panic is kept for who waits for all threads, so that none of them waits for one that is gone.
    fn guarded(&self, work: impl FnOnce()) {
        if let Err(failure) = catch_unwind(AssertUnwindSafe(work)) {
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
            self.has_failed.store(true, Ordering::Relaxed);
        }
    }
}
