//! The network and the hosts of a run in virtual time, on one or several threads.

use crate::host_loop::HostLoop;
use crate::virtual_hosts::{VirtualClock, VirtualHosts};
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use tailback_core::primitives::units::Time;
use tailback_core::user_code::Failure;
use tailback_core::{Engine, NotParallel, ParallelEngine, Transports};

/// A network with its hosts.
pub(crate) enum VirtualNetwork {
    Whole(Box<Engine>, HostThread),
    Divided(ParallelEngine<HostThread>),
}

/// The hosts of a network, which run on one thread.
pub(crate) struct HostThread {
    hosts: HostLoop<VirtualHosts, VirtualClock>,
    state: HostState,
}

enum HostState {
    Running,
    /// A host has failed. This is not reported yet.
    Failed(io::Error),
    /// The engine goes on alone, to the time of the failure.
    Stopped,
}

impl VirtualNetwork {
    pub(crate) fn new(engine: Engine, hosts: HostLoop<VirtualHosts, VirtualClock>) -> VirtualNetwork {
        VirtualNetwork::Whole(Box::new(engine), HostThread { hosts, state: HostState::Running })
    }

    /// The network on at most this number of threads; otherwise the reason why it remains on one.
    pub(crate) fn divided(self, threads: NonZeroUsize) -> (VirtualNetwork, Option<NotParallel>) {
        match self {
            VirtualNetwork::Whole(engine, hosts) => match ParallelEngine::new(*engine, threads) {
                Ok(divided) => (VirtualNetwork::Divided(divided.with_transports(hosts)), None),
                Err(whole) => (VirtualNetwork::Whole(Box::new(whole.0), hosts), Some(whole.1)),
            },
            divided @ VirtualNetwork::Divided(_) => (divided, None),
        }
    }

    pub(crate) fn threads(&self) -> usize {
        match self {
            VirtualNetwork::Whole(..) => 1,
            VirtualNetwork::Divided(divided) => divided.threads(),
        }
    }

    pub(crate) fn now(&self) -> Time {
        match self {
            VirtualNetwork::Whole(engine, _) => engine.now(),
            VirtualNetwork::Divided(divided) => divided.now(),
        }
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        match self {
            VirtualNetwork::Whole(engine, _) => engine.failure(),
            VirtualNetwork::Divided(_) => None,
        }
    }

    pub(crate) fn hosts(&mut self) -> &mut HostLoop<VirtualHosts, VirtualClock> {
        match self {
            VirtualNetwork::Whole(_, thread) => &mut thread.hosts,
            VirtualNetwork::Divided(divided) => &mut divided.transports_mut().hosts,
        }
    }

    pub(crate) fn into_hosts(self) -> HostLoop<VirtualHosts, VirtualClock> {
        match self {
            VirtualNetwork::Whole(_, thread) => thread.hosts,
            VirtualNetwork::Divided(divided) => divided.into_transports().hosts,
        }
    }

    /// Applies a function to the whole engine.
    pub(crate) fn with_engine<R>(&mut self, apply: impl FnOnce(&Engine) -> R) -> R {
        match self {
            VirtualNetwork::Whole(engine, _) => apply(engine),
            VirtualNetwork::Divided(divided) => apply(&divided.engine()),
        }
    }

    /// All actions before `until`, but only about `enough` instants with actions, or events on several threads. Returns true once they are done.
    ///
    /// # Errors
    /// A host failed.
    pub(crate) fn run_for(&mut self, until: Time, enough: u64) -> io::Result<bool> {
        match self {
            VirtualNetwork::Whole(engine, thread) => {
                let is_done = thread.hosts.run_for(engine, until, enough)?;
                thread.hosts.settle(engine);
                Ok(is_done)
            }
            VirtualNetwork::Divided(divided) => {
                let is_done = divided.run_for(until, enough);
                divided.transports_mut().take_failure().map_or(Ok(is_done), Err)
            }
        }
    }

    /// Stops the hosts, and lets the network handle the events up to the last action, including those at its time.
    pub(crate) fn stop(&mut self, last: Time) {
        let until = Time(last.0.saturating_add(1));
        match self {
            VirtualNetwork::Whole(engine, thread) => {
                engine.run_until(until);
                thread.hosts.settle(engine);
            }
            VirtualNetwork::Divided(divided) => {
                divided.transports_mut().state = HostState::Stopped;
                divided.run_until(until);
            }
        }
    }
}

impl HostThread {
    fn take_failure(&mut self) -> Option<io::Error> {
        match std::mem::replace(&mut self.state, HostState::Stopped) {
            HostState::Failed(error) => Some(error),
            state => {
                self.state = state;
                None
            }
        }
    }
}

impl Transports for HostThread {
    fn run_until(&mut self, engine: &mut Engine, time: Time) -> ControlFlow<()> {
        if !matches!(self.state, HostState::Running) {
            engine.run_until(time);
            return ControlFlow::Continue(());
        }
        // Packets from other domains may have arrived.
        engine.run_until(engine.now());
        self.hosts.settle(engine);
        match self.hosts.run_to(engine, Time(time.0.saturating_sub(1)), u64::MAX) {
            Ok(_) => ControlFlow::Continue(()),
            Err(error) => {
                self.state = HostState::Failed(error);
                ControlFlow::Break(())
            }
        }
    }

    fn reach(&mut self, engine: &mut Engine, time: Time) {
        if matches!(self.state, HostState::Running)
            && let Err(error) = self.hosts.run_for(engine, time, u64::MAX)
        {
            self.state = HostState::Failed(error);
        }
        self.hosts.settle(engine);
    }

    fn next_time(&mut self) -> Time {
        match self.state {
            HostState::Running => self.hosts.next_action(),
            HostState::Failed(_) | HostState::Stopped => Time::NEVER,
        }
    }

    fn actions(&self) -> u64 {
        self.hosts.packets()
    }
}
