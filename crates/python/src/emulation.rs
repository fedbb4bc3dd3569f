//! Emulation: a network that carries real packets, and the loop that runs it, in a thread of the caller.

use std::collections::BTreeSet;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tailback_core::network::PortId;

use crate::description::{checked, parse};
use crate::errors::panic_text;
use crate::simulation::{Results, RunIdentity};
use crate::user_code::{self, Registered};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use tailback_core::Engine;
use tailback_core::network::Network;
use tailback_core::primitives::segment_number::SegmentNumber;
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_core::settings::PlainWords;
use tailback_emulator::{TunDevice, Tuns};
use tailback_host::{AddressPair, Driver, DriverControl, ListedSegments, Monotonic, PacketObserver, RunProperties};
use tailback_scenario::{Emulated, Host, Integer, Played};

type Running = Driver<Tuns, Monotonic>;

/// A network with hosts whose packets are real.
#[pyclass(frozen, module = "tailback._core")]
pub struct Emulation {
    #[pyo3(get)]
    duration_s: f64,
    #[pyo3(get)]
    warmup_s: f64,
    /// Upper limit of the total rate of real packets: the sum over routes of the rate of their slowest link, with links shared by
    /// several routes counted once.
    #[pyo3(get)]
    reach_bps: f64,
    hosts: Vec<Host>,
    /// Port names.
    ports: Vec<String>,
    ways: Vec<tailback_scenario::AddressPair>,
    played: Vec<Played>,
    lead: TimeDelta,
    #[pyo3(get)]
    lossless_reverses: Vec<String>,
    identity: Arc<RunIdentity>,
    control: DriverControl,
    state: Mutex<State>,
}

/// Before, during and after the run.
enum State {
    Ready(Box<Engine>),
    Taken,
    Running(Box<Running>),
}

#[pymethods]
impl Emulation {
    /// `played`: groups whose flows run in the kernel.
    #[new]
    fn new(py: Python<'_>, text: &str, file: &str, format: &str, seed: Option<u64>, played: Vec<String>) -> PyResult<Self> {
        let mut scenario = parse(py, text, file, format)?;
        if let Some(seed) = seed {
            scenario.description.seed = Integer(seed);
        }
        let build = || {
            let Emulated { network, warnings, hosts, ways, played, lead, lossless_reverses } = scenario.emulated(&played)?;
            Ok((network, warnings, (hosts, ways, played, lead, lossless_reverses)))
        };
        let (network, (hosts, ways, played, lead, lossless_reverses)) = checked(py, &scenario, file, build)?;
        let (identity, duration_s, warmup_s) =
            (RunIdentity::of(py, Arc::new(scenario))?, network.duration.seconds(), network.warmup.seconds());
        let reach_bps = reach(&network, &ways);
        let ports = network.ports.iter().map(|port| port.name.clone()).collect();
        let engine = py.detach(|| Engine::with_code(network, &Registered));
        if let Some(failure) = engine.failure() {
            return Err(user_code::failed(py, &failure));
        }
        let state = Mutex::new(State::Ready(Box::new(engine)));
        Ok(Self {
            duration_s,
            warmup_s,
            reach_bps,
            hosts,
            ports,
            ways,
            played,
            lead,
            lossless_reverses,
            identity,
            control: DriverControl::default(),
            state,
        })
    }

    /// Name and addresses of each host.
    #[getter]
    fn hosts(&self) -> Vec<(String, Vec<String>)> {
        self.hosts.iter().map(|host| (host.name.clone(), host.addresses.iter().map(ToString::to_string).collect())).collect()
    }

    /// JSON: the groups that run in the kernel, with their settings and transfers.
    #[getter]
    fn played(&self) -> String {
        Value::Array(self.played.iter().map(|played| self.described(played)).collect()).to_string()
    }

    #[getter]
    fn now_s(&self) -> f64 {
        self.control.now().seconds()
    }

    /// Ends the run; may be called from any thread.
    fn stop(&self) {
        self.control.stop();
    }

    /// Carries packets between TUN devices, one per host, until the end or `stop`. The clock starts once all devices have been
    /// received through `door`. The devices must be non-blocking, and are closed at the end. Packets observed at the hosts are
    /// written to `capture`, if given.
    #[pyo3(signature = (door, capture=None))]
    fn run(&self, py: Python<'_>, door: PyRef<'_, DeviceDoor>, capture: Option<PathBuf>) -> PyResult<()> {
        let door = &door.inner;
        let carry = || door.take(self.hosts.len()).and_then(|devices| self.carry(devices, capture.as_deref()));
        let ran = py.detach(|| catch_unwind(AssertUnwindSafe(carry)));
        match ran {
            Ok(ran) => ran.map_err(|error| PyOSError::new_err(error.to_string())),
            Err(panic) => Err(self.identity.bug(py, &panic_text(&*panic))),
        }
    }

    /// The problem with the capture; `None` if there is none. The capture is complete after this call.
    fn finish_capture(&self) -> Option<String> {
        match &mut *self.state() {
            State::Ready(_) | State::Taken => None,
            State::Running(running) => running.observer().finish(),
        }
    }

    /// Measurements up to now, with the timing accuracy of the emulation.
    fn results(&self, py: Python<'_>) -> PyResult<Results> {
        let mut state = self.state();
        let (engine, tables) = match &mut *state {
            State::Ready(engine) => (&**engine, Vec::new()),
            State::Taken => return Err(PyOSError::new_err("this emulation was not started")),
            State::Running(running) => {
                let tables = [vec![running.report()], running.observer().connections()].concat();
                (running.engine(), tables)
            }
        };
        if let Some(failure) = engine.failure() {
            return Err(user_code::failed(py, &failure));
        }
        let mut results = self.identity.measured(py, || engine.results())?;
        leave_out_silent_pairs(&mut results);
        results.traces.splice(0..0, tables);
        Ok(Results::new(&self.identity, results))
    }
}

/// Receives the open devices of an emulation.
#[pyclass(frozen, module = "tailback._core")]
pub struct DeviceDoor {
    inner: TunDevice,
}

#[pymethods]
impl DeviceDoor {
    /// The door, and the socket through which the devices are to be sent (`socket.send_fds`). The caller must close the socket.
    #[staticmethod]
    fn open() -> PyResult<(Self, i32)> {
        let (inner, outside) = TunDevice::open()?;
        Ok((Self { inner }, outside.into_raw_fd()))
    }
}

impl Emulation {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn carry(&self, devices: Vec<OwnedFd>, capture: Option<&Path>) -> std::io::Result<()> {
        let mut observer = PacketObserver::new(self.hosts.iter().map(|host| host.name.clone()).collect(), self.ports.clone());
        capture.map_or(Ok(()), |file| observer.capture_to(file))?;
        let mut state = self.state();
        let State::Ready(engine) = std::mem::replace(&mut *state, State::Taken) else {
            return Err(std::io::Error::other("this emulation has already run"));
        };
        let host = |address| self.hosts.iter().position(|host| host.addresses.contains(&address)).unwrap_or(0);
        let listed = |way: &tailback_scenario::AddressPair| {
            let find = |played: &Played| {
                let transfer = played.transfers.iter().find(|transfer| (transfer.from, transfer.to) == (way.from, way.to))?;
                let (mss, first_data) = (played.tcp.mss, SegmentNumber(u32::from(played.tcp.handshake)));
                Some(ListedSegments { numbers: transfer.listed.clone(), mss, first_data })
            };
            self.played.iter().find_map(find).filter(|listed| !listed.numbers.is_empty())
        };
        let pair = |way: &tailback_scenario::AddressPair| AddressPair {
            from: way.from,
            to: way.to,
            flow: way.flow,
            host: host(way.to),
            listed: listed(way),
        };
        let ways: Vec<AddressPair> = self.ways.iter().map(pair).collect();
        let course = RunProperties { end: Time::ZERO + TimeDelta::from_seconds(self.duration_s), lead: self.lead };
        let mut running = Box::new(Running::new(*engine, course, &ways, observer, Tuns::new(devices), Monotonic::start()));
        let ran = running.run(&self.control);
        *state = State::Running(running);
        ran
    }

    fn described(&self, played: &Played) -> Value {
        let transfers = played.transfers.iter().map(|transfer| {
            let mut described = json!({
                "from": transfer.from.to_string(),
                "to": transfer.to.to_string(),
                "start_s": (transfer.start != Time::NEVER).then(|| transfer.start.seconds()),
                "stop_s": (transfer.stop != Time::NEVER).then(|| transfer.stop.seconds()),
                "size": transfer.size.map(|size| size.0),
            });
            if let Some(writes) = &transfer.writes {
                described["writes"] = writes.iter().map(|(at, bytes)| json!([at.seconds(), bytes.0])).collect();
            }
            if let Some(conversation) = &transfer.conversation {
                described["conversation"] = json!({
                    "requests": json!(conversation.requests).to_string(),
                    "requested_on": conversation.requested_on.0,
                    "responses": json!(conversation.responses).to_string(),
                    "handshake": conversation.handshake,
                });
            }
            described
        });
        json!({
            "group": played.group,
            "sender": self.hosts[played.sender].name,
            "receiver": self.hosts[played.receiver].name,
            "controller": played.controller.name(),
            "recovery": played.tcp.recovery.word(),
            "packet": (played.tcp.mss + played.tcp.header).0,
            "initial_window": played.tcp.initial_window,
            "delayed_ack": played.tcp.delayed_ack.is_some(),
            "timestamps": played.tcp.timestamps,
            "ecn": played.tcp.ecn,
            "transfers": transfers.collect::<Vec<_>>(),
        })
    }
}

/// Bits per second.
fn reach(network: &Network, ways: &[tailback_scenario::AddressPair]) -> f64 {
    let slowest = |way: &tailback_scenario::AddressPair| {
        let route = &network.paths[network.flows[way.flow].forward as usize];
        route.iter().copied().min_by_key(|&port| network.ports[port].rate)
    };
    let ports: BTreeSet<PortId> = ways.iter().filter_map(slowest).collect();
    ports.into_iter().map(|port| network.ports[port].rate.0 as f64).sum()
}

/// Omits pairs of nodes without packets, which are the majority.
fn leave_out_silent_pairs(results: &mut tailback_core::Results) {
    let (Some(groups), Some(sent)) = (results.flows.words("group"), results.flows.floats("sent_packets")) else {
        unreachable!("the table of flows has no `group` or no `sent_packets`")
    };
    let silent = groups.iter().zip(sent).filter(|(group, sent)| *sent == 0.0 && group.contains("->"));
    let silent: BTreeSet<String> = silent.map(|(group, _)| (*group).to_owned()).collect();
    for table in [&mut results.flows, &mut results.groups] {
        let kept: Vec<bool> = table.words("group").iter().flatten().map(|group| !silent.contains(*group)).collect();
        table.keep(&kept);
    }
}
