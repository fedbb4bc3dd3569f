//! Parallel simulation of one run. The result is byte-identical for any number of processors.
//!
//! Conservative parallel simulation by epochs (Chandy and Misra 1979; Fujimoto, "Parallel discrete event simulation", CACM 33(10), 1990).
//! Ports and ends of flows are divided among domains (`shares.rs`). Each domain is an engine that handles the events of its own entities.
//! An action of one domain takes at least the *lookahead* to affect another. Each domain may therefore independently handle all events
//! before the first event of the others plus the lookahead. Then the domains exchange packets and begin the next epoch.
//!
//! Why results do not depend on the division: an event can affect another only if both concern the same entity, or if the first sends a
//! packet that the second processes. The owner of an entity handles it, and the lines that feed it, in the order of time and rank.
//!
//! The ends of external flows belong to the first domain, whose thread also runs their [`Transports`]. That domain is up to half an epoch
//! ahead of the others, so that a transport can stop the run at a time that no other domain has passed.

mod barrier;
mod domains;
mod shares;
mod transports;

use super::domain_boundary::{Arrival, DomainBoundary, Owners, PacketBatch, SortedArrivals};
use super::state::Engine;

use crate::primitives::units::{Time, TimeDelta};
use barrier::Barrier;
use std::any::Any;
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub use transports::{NoTransports, Transports};

/// A run that is divided among several threads.
#[derive(Debug)]
pub struct ParallelEngine<T = NoTransports> {
    domains: Vec<Engine>,
    transports: T,
    owners: Arc<Owners>,
    lookahead: TimeDelta,
    pace: Pace,
}

/// Why a run cannot be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotParallel {
    /// One thread was requested.
    OneThread,
    /// User code runs on one thread.
    UserCode,
    /// Routes change during the run.
    Routes,
    /// No link has a delay that separates two parts of the network.
    NoDelay,
}

impl fmt::Display for NotParallel {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(match self {
            NotParallel::OneThread => "one thread was requested",
            NotParallel::UserCode => "user code runs on one thread",
            NotParallel::Routes => "routes change during the run",
            NotParallel::NoDelay => "no link has a delay that would separate two parts of the network",
        })
    }
}

impl ParallelEngine {
    /// Maximum number of threads of a run.
    pub const MAX_THREADS: usize = 1024;

    /// Divide the rest of a run among at most `threads` threads. External flows send nothing without [`ParallelEngine::with_transports`].
    ///
    /// # Errors
    /// The unchanged run, and why it cannot be divided.
    pub fn new(mut engine: Engine, threads: NonZeroUsize) -> Result<ParallelEngine, Box<(Engine, NotParallel)>> {
        let why = match () {
            () if threads.get() == 1 => Some(NotParallel::OneThread),
            () if engine.has_user_code() => Some(NotParallel::UserCode),
            () if engine.fabric.has_changing_routes() => Some(NotParallel::Routes),
            () => None,
        };
        if let Some(why) = why {
            return Err(Box::new((engine, why)));
        }
        let shares = shares::divide(&engine, threads.get().min(ParallelEngine::MAX_THREADS));
        if shares.domains < 2 {
            return Err(Box::new((engine, NotParallel::NoDelay)));
        }
        let bulk = &engine.fabric.take_bulk_state();
        let (whole, shares) = (&engine, &shares);
        let domains = std::thread::scope(|scope| {
            let part = |own| scope.spawn(move || domains::split_domain(whole, bulk, own, shares));
            let parts: Vec<_> = (0..shares.domains as u16).map(part).collect();
            parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        let pace = Pace::new(shares.lookahead, shares.domains);
        let (owners, lookahead) = (shares.owners.clone(), shares.lookahead);
        Ok(ParallelEngine { domains, transports: NoTransports, owners, lookahead, pace })
    }

    /// The run with transports at the ends of its external flows.
    pub fn with_transports<T: Transports>(self, transports: T) -> ParallelEngine<T> {
        let ParallelEngine { domains, owners, lookahead, pace, .. } = self;
        ParallelEngine { domains, transports, owners, lookahead, pace }
    }
}

impl<T: Transports> ParallelEngine<T> {
    pub fn transports(&self) -> &T {
        &self.transports
    }

    pub fn transports_mut(&mut self) -> &mut T {
        &mut self.transports
    }

    pub fn into_transports(self) -> T {
        self.transports
    }

    /// Number of threads of the run.
    pub fn threads(&self) -> usize {
        self.domains.len()
    }

    /// Minimum time for a packet to get from one domain to another.
    pub fn lookahead(&self) -> TimeDelta {
        self.lookahead
    }

    /// Simulated time that all domains have reached.
    pub fn now(&self) -> Time {
        self.domains.iter().map(Engine::now).min().unwrap_or(Time::ZERO)
    }

    /// Number of events handled.
    pub fn events(&self) -> u64 {
        self.domains.iter().map(Engine::events).sum()
    }

    /// Number of completed epochs.
    pub fn epochs(&self) -> u64 {
        self.pace.epochs
    }

    /// Sum over epochs of the events of the domain that handled most. If events take equal time, the speed-up is at most `events() /
    /// critical_events()`, however fast the threads synchronise.
    pub fn critical_events(&self) -> u64 {
        self.pace.critical_events
    }

    /// The run as one engine, at a time that all domains reach. Both it and this continue to byte-identical results.
    pub fn engine(&mut self) -> Engine {
        let furthest = self.domains.iter().map(Engine::now).max().unwrap_or(Time::ZERO);
        self.run_until(furthest);
        self.deliver_mail();
        self.domains.iter_mut().for_each(Engine::let_arrivals_wait);
        let mut engine = domains::merge_domains(&mut self.domains, &self.owners);
        engine.fabric.compute_deferred();
        engine.fabric.store_pending_acks();
        engine
    }

    /// Advance all packets between domains to where they are queued.
    fn deliver_mail(&mut self) {
        let mut is_under_way = true;
        while is_under_way {
            is_under_way = false;
            self.domains.iter_mut().for_each(Engine::take_mail);
            let count = self.domains.len();
            for (from, to) in (0..count * count).map(|pair| (pair / count, pair % count)) {
                self.domains[from].mail_fates();
                let batch = std::mem::take(&mut self.domains[from].expect_boundary().outboxes()[to]);
                if !batch.is_empty() {
                    self.domains[to].expect_boundary().inboxes()[from] = batch;
                    is_under_way = true;
                }
            }
        }
    }

    /// Handle all events before `time`, or before the end of the run if that is earlier.
    pub fn run_until(&mut self, time: Time) {
        self.run_for(time, u64::MAX);
    }

    /// Like [`ParallelEngine::run_until`], but stop soon after `events` events, or when a transport stops the run. Returns true once all
    /// events before `time` are handled.
    ///
    /// # Panics
    /// If a thread panics, which is a bug in Tailback.
    pub fn run_for(&mut self, time: Time, events: u64) -> bool {
        let end = time.min(self.domains[0].end());
        let count = self.domains.len();
        let meeting = SharedState {
            barrier: Barrier::new(count),
            next: (0..count).map(|_| AtomicU64::new(0)).collect(),
            batches: (0..count * count).map(|_| Mutex::default()).collect(),
            handled: (0..count).map(|_| AtomicU64::new(0)).collect(),
            stop_at: AtomicU64::new(u64::MAX),
            failure: Mutex::new(None),
            lookahead: self.lookahead,
            first_leads: self.domains[0].has_external_flows(),
            end,
            enough: events,
        };
        std::thread::scope(|scope| {
            let mut domains = (0..).zip(&mut self.domains);
            let first = domains.next();
            for (number, domain) in domains {
                let (meeting, mut pace) = (&meeting, self.pace.clone());
                scope.spawn(move || meeting.attend(number, domain, &mut NoTransports, &mut pace));
            }
            if let Some((number, domain)) = first {
                meeting.attend(number, domain, &mut self.transports, &mut self.pace);
            }
        });
        if let Some(failure) = meeting.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(failure);
        }
        let is_done = self.domains.iter().all(|domain| domain.now() >= end);
        if is_done && meeting.first_leads {
            self.reach(end);
        }
        is_done
    }

    /// All domains have reached `time`. The transports receive the fates that were not known before, among them those of packets that a
    /// link has lost since its port last computed a departure.
    fn reach(&mut self, time: Time) {
        self.domains.iter_mut().for_each(|domain| domain.fabric.compute_deferred());
        self.deliver_mail();
        let first = &mut self.domains[0];
        first.fabric.store_pending_acks();
        self.transports.reach(first, time);
    }
}

impl Engine {
    fn expect_boundary(&mut self) -> &mut DomainBoundary {
        match &mut self.fabric.boundary {
            Some(boundary) => boundary,
            None => unreachable!("the engine of a domain has no boundary"),
        }
    }

    fn end(&self) -> Time {
        self.fabric.clock.end()
    }

    fn has_external_flows(&self) -> bool {
        self.fabric.profiles().iter().any(|profile| profile.is_external)
    }

    /// Advance the clock: there are no events before this time.
    fn reach(&mut self, time: Time) {
        self.fabric.clock.advance(time);
    }

    /// Time of the earliest known event of this domain.
    fn next_time(&mut self) -> Time {
        let fabric = &mut self.fabric;
        let event = fabric.agenda.first();
        let ack_line = fabric.acks.expected().filter_map(|flow| fabric.next_ack_time(flow)).min();
        let arrival = fabric.boundary.as_ref().and_then(|boundary| boundary.first_arrival());
        [event, ack_line, arrival].into_iter().flatten().min().unwrap_or(Time::NEVER)
    }

    /// Process the packets from other domains: each packet continues, or waits for its turn.
    fn take_mail(&mut self) {
        let mut arrivals = std::mem::take(self.expect_boundary().arrivals());
        for from in 0..self.expect_boundary().inboxes().len() {
            let mut batch = std::mem::take(&mut self.expect_boundary().inboxes()[from]);
            self.fabric.receive_batch(&mut batch, &mut arrivals);
            self.expect_boundary().inboxes()[from] = batch;
        }
        *self.expect_boundary().arrivals() = arrivals;
    }

    /// Send the fates of datagrams to the domain of the external flows.
    fn mail_fates(&mut self) {
        let fabric = &mut self.fabric;
        if let Some(boundary) = fabric.boundary.as_mut().filter(|boundary| !boundary.is_first()) {
            boundary.send_fates(fabric.outcomes.take_fates());
        }
    }

    /// Handle all events and arrivals before `time`.
    pub(super) fn advance_with_arrivals(&mut self, time: Time) {
        while let Some(mut arrivals) = self.take_arrivals(time) {
            while let Some(Arrival { slot, packet }) = arrivals.next_before(time) {
                if self.fabric.is_large() {
                    self.fabric.prefetch_arrivals(&arrivals);
                }
                self.advance(packet.time, u64::MAX);
                while self.fabric.agenda.is_due(packet.time, slot) {
                    self.step(Time(packet.time.0 + 1));
                    self.advance(packet.time, u64::MAX);
                }
                self.fabric.on_arrival(packet);
                self.events += 1;
            }
            self.put_back(arrivals);
        }
        self.advance(time, u64::MAX);
    }

    /// Move the packets from other domains to the lines of an undivided run.
    fn let_arrivals_wait(&mut self) {
        while let Some(mut arrivals) = self.take_arrivals(Time::NEVER) {
            while let Some(arrival) = arrivals.next_before(Time::NEVER) {
                self.fabric.put_in_line(arrival);
            }
            self.put_back(arrivals);
        }
        self.fabric.store_pending_acks();
        self.expect_boundary().free_room();
    }

    fn take_arrivals(&mut self, before: Time) -> Option<SortedArrivals> {
        let order = *self.fabric.agenda.order();
        self.expect_boundary().arrivals().take_before(before, &order)
    }

    fn put_back(&mut self, arrivals: SortedArrivals) {
        self.expect_boundary().arrivals().put_back(arrivals);
    }
}

/// Shared state of the threads of a run.
struct SharedState {
    barrier: Barrier,
    /// For each domain, the time before which it has no events.
    next: Vec<AtomicU64>,
    /// By sending domain, then by receiving domain.
    batches: Vec<Mutex<PacketBatch>>,
    /// Events handled by each domain, and actions of its transports.
    handled: Vec<AtomicU64>,
    /// The number of completed epochs at which all threads stop, because one has panicked or a transport stops the run. A thread that is
    /// still about to begin an epoch must not stop for the sake of another that is already in it.
    stop_at: AtomicU64,
    failure: Mutex<Option<Box<dyn Any + Send>>>,
    lookahead: TimeDelta,
    /// No domain advances beyond the next event of the first.
    first_leads: bool,
    end: Time,
    enough: u64,
}

/// Length of epochs, and statistics about them. Each domain computes the same values.
#[derive(Clone, Debug)]
struct Pace {
    length: TimeDelta,
    epochs: u64,
    critical_events: u64,
    /// Events handled by each domain since the threads started.
    handled: Vec<u64>,
}

impl Pace {
    /// Packets sent in an epoch should still be cached when it is read in the next one.
    const MAX_EVENTS: u64 = 16_384;

    /// The first epoch is short. Too short an epoch soon doubles; one that is too long fills the memory with batch.
    fn new(lookahead: TimeDelta, domains: usize) -> Pace {
        Pace { length: TimeDelta((lookahead.0 / 1024).max(1)), epochs: 0, critical_events: 0, handled: vec![0; domains] }
    }

    /// All domains have reached the end of an epoch.
    fn note(&mut self, handled: &[AtomicU64], longest: TimeDelta) {
        let (mut all, mut max) = (0, 0);
        for (before, handled) in self.handled.iter_mut().zip(handled) {
            let handled = handled.load(Ordering::Relaxed);
            let here = handled - std::mem::replace(before, handled);
            all += here;
            max = here.max(max);
        }
        self.critical_events += max;
        let enough = Pace::MAX_EVENTS * self.handled.len() as u64;
        if all > enough {
            self.length = TimeDelta((self.length.0 / 2).max(1));
        } else if all < enough / 2 {
            self.length = TimeDelta(self.length.0.saturating_mul(2)).min(longest);
        }
    }
}

impl SharedState {
    /// Handle a domain's events, epoch by epoch.
    fn attend(&self, number: usize, domain: &mut Engine, transports: &mut impl Transports, pace: &mut Pace) {
        pace.handled.fill(0);
        let before = domain.events() + transports.actions();
        loop {
            self.guarded(pace.epochs, || self.fetch_mail(number, domain, transports));
            self.barrier.wait();
            let next = self.next();
            let is_stopped = self.stop_at.load(Ordering::Relaxed) <= pace.epochs;
            let is_over = is_stopped || pace.handled.iter().sum::<u64>() >= self.enough;
            if is_over {
                return;
            }
            if next >= self.end {
                domain.reach(self.end);
                return;
            }
            pace.epochs += 1;
            self.guarded(pace.epochs, || {
                domain.take_mail();
                let horizon = self.horizon(number, pace.length).min(next + pace.length).min(self.end);
                if transports.run_until(domain, horizon) == ControlFlow::Break(()) {
                    self.stop_at.fetch_min(pace.epochs, Ordering::Relaxed);
                }
                self.handled[number].store(domain.events() + transports.actions() - before, Ordering::Relaxed);
                self.send_mail(number, domain);
            });
            self.barrier.wait();
            // No domain handles events between this barrier and the next.
            pace.note(&self.handled, self.lookahead);
        }
    }

    /// Time of the earliest event of any domain.
    fn next(&self) -> Time {
        Time(self.next.iter().map(|next| next.load(Ordering::Relaxed)).min().unwrap_or(u64::MAX))
    }

    /// Time up to which a domain may advance independently: neither packets of the others nor answers to its own packets arrive earlier.
    /// `length`: that of an epoch.
    fn horizon(&self, number: usize, length: TimeDelta) -> Time {
        let next = |index: usize| Time(self.next[index].load(Ordering::Relaxed));
        let of_others = (0..self.next.len()).filter(|&index| index != number).map(next).min().unwrap_or(Time::NEVER);
        let horizon = (of_others + self.lookahead).min(next(number) + self.lookahead + self.lookahead);
        match self.first_leads {
            false => horizon,
            // With the whole epoch, the first domain and the others would take turns.
            true if number == 0 => horizon.min(next(0) + TimeDelta((length.0 / 2).max(1))),
            // A transport may act at the next event of the first domain, or when the next packet arrives there.
            true => horizon.min(next(0)).min(next(number) + self.lookahead),
        }
    }

    fn send_mail(&self, number: usize, domain: &mut Engine) {
        domain.mail_fates();
        for (to, batch) in domain.expect_boundary().outboxes().iter_mut().enumerate().filter(|(_, batch)| !batch.is_empty()) {
            let slot = &self.batches[number * self.next.len() + to];
            std::mem::swap(batch, &mut slot.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Take the packets from other domains without processing them, and publish the time of the earliest known event.
    fn fetch_mail(&self, number: usize, domain: &mut Engine, transports: &mut impl Transports) {
        for (from, inbox) in domain.expect_boundary().inboxes().iter_mut().enumerate() {
            let mut slot = self.batches[from * self.next.len() + number].lock().unwrap_or_else(PoisonError::into_inner);
            if !slot.is_empty() {
                std::mem::swap(inbox, &mut slot);
            }
        }
        self.next[number].store(domain.next_time().min(transports.next_time()).0, Ordering::Relaxed);
    }

    /// Store a panic for the caller, so that the other threads do not wait for a thread that has ended.
    fn guarded(&self, epochs: u64, work: impl FnOnce()) {
        if let Err(failure) = catch_unwind(AssertUnwindSafe(work)) {
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
            self.stop_at.fetch_min(epochs, Ordering::Relaxed);
        }
    }
}
