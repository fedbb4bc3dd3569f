//! The tables of a scenario, one file each: keys, types, defaults and bounds.

mod abr;
mod application;
mod controller;
mod flow;
mod link;
mod node;
mod prices;
mod queue;
mod recording;
mod scheduling;
mod source;
mod tcp;
mod timeline;
mod topology;
mod traffic;

pub use abr::Abr;
pub use application::{Application, Applications, HandOver};
pub use controller::{Controller, ControllerTable, Controllers, Law, UserLaw};
pub use flow::{Access, Flow, FlowArrivals, Framing, Nodes, PortName};
pub use link::{Drop, GilbertElliott, Jitter, Link, Loss, Reverse};
pub use node::{Node, NodeKind, Processing};
pub use prices::{Prices, Scheme, Schemes};
pub(crate) use queue::policy_spec;
pub use queue::{Buffer, Policies, Policy, Queue, Shaper, UserPolicy};
pub(crate) use recording::DEFAULT_BIN;
pub use recording::{FlowTraces, Record, Throughput, TraceTable, TraceWord, Traces};
pub use scheduling::{Chooser, Class, Hashing, Scheduler, SchedulerTable, Schedulers};
pub use source::{Arrivals, Datagrams, PacketBytes, Source, Sources, UserSource};
pub use tcp::{DelayedAck, DelayedAckTable, FastRetransmit, PresetName, Tcp, Timer, TimerForm, WindowSize};
pub use timeline::Event;
pub use topology::Topology;
pub(crate) use topology::{Extent, Generator, Plan, Style};
pub use traffic::{Incast, Routing, Shift, Traffic};
