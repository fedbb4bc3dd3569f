//! Division of an engine into domains, and merging of domains into one engine. A run can thus be divided, read and saved at any time.

use super::relocation::{StateSource, StateSources, copy};
use crate::primitives::ids::FlowId;
use crate::simulation::domain_boundary::{Domain, DomainBoundary, Owners};
use crate::simulation::endpoints::End;
use crate::simulation::fabric::Fabric;
use crate::simulation::packets::Packets;
use crate::simulation::parallel::shares::Shares;
use crate::simulation::path::Path;
use crate::simulation::port::Port;
use crate::simulation::routes::RouteEntry;
use crate::simulation::state::Engine;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The part of a run that a domain owns, as an engine. `packets`: the packets of all lines.
pub(super) fn split_domain(whole: &Engine, packets: &Packets, ports: &[Port], own: Domain, shares: &Shares) -> Engine {
    let Shares { owners, domains, lookahead } = shares;
    let mut part = whole.clone();
    let fabric = &mut part.fabric;
    let of_part = |(port, owner): (&Port, &Domain)| if *owner == own { port.clone() } else { port.of_another_part() };
    fabric.ports = ports.iter().zip(&owners.of_ports).map(of_part).collect();
    fabric.boundary = Some(Box::new(DomainBoundary::new(own, owners.clone(), *domains, *lookahead)));
    for entry in &mut fabric.routes {
        *entry = match entry.port() {
            None => RouteEntry::END_ANY_DOMAIN,
            Some(port) if owners.of_ports[port] == own => *entry,
            Some(_) => entry.in_other_domain(),
        };
    }
    name_ends(fabric, own, owners);
    if own > 0 {
        part.events = 0;
        fabric.forget_counts();
    }
    let sources = StateSources { all: vec![StateSource { engine: whole, packets, ports }], owners: None };
    copy(&mut part, &sources, |owner| owner == own, owners);
    part
}

/// If the ends of all flows of a route belong to one domain, its last entry names that domain, so that the flow need not be looked up.
fn name_ends(fabric: &mut Fabric, own: Domain, owners: &Owners) {
    let mut of_routes: BTreeMap<u32, Option<Domain>> = BTreeMap::new();
    for (flow, path) in fabric.paths.iter().enumerate() {
        let ends = [(path.wire.forward, owners.of_receivers[flow]), (path.wire.backward, owners.of_senders[flow])];
        for (start, owner) in ends {
            let all = of_routes.entry(start).or_insert(Some(owner));
            *all = all.filter(|&same| same == owner);
        }
    }
    for (start, owner) in of_routes {
        if let (Some(owner), Some(end)) = (owner, fabric.routes[start as usize..].iter_mut().find(|entry| entry.is_end())) {
            *end = if owner == own { RouteEntry::END } else { RouteEntry::end_in(owner) };
        }
    }
}

/// Merge all domains of a run, which have reached the same time.
pub(super) fn merge_domains(domains: &mut [Engine], owners: &Arc<Owners>) -> Engine {
    let first = std::mem::take(&mut domains[0].fabric.packets);
    let mut whole = domains[0].clone();
    domains[0].fabric.packets = first;
    whole.events = domains.iter().map(|domain| domain.events).sum();
    let sources = StateSources { all: domains.iter().map(StateSource::of).collect(), owners: Some(owners) };
    for entry in &mut whole.fabric.routes {
        *entry = entry.without_domains();
    }
    sources.collect(&mut whole, owners);
    copy(&mut whole, &sources, |_| true, owners);
    whole.fabric.boundary = None;
    for wait in domains.iter().flat_map(|domain| &domain.fabric.boundary).flat_map(|boundary| boundary.waits()) {
        let completed = whole.fabric.paths[wait.flow].counts.completed;
        if let End::Tcp(sender) = &mut whole.endpoints.ends[wait.flow]
            && wait.until >= completed
        {
            sender.discount_wait(wait.idle);
        }
    }
    whole
}

impl StateSources<'_> {
    /// Copy the state of each entity from its owner into the first domain's engine, and add up all counters. Lines and pools are not merged
    /// here.
    fn collect(&self, whole: &mut Engine, owners: &Owners) {
        for (port, &owner) in owners.of_ports.iter().enumerate().filter(|of| *of.1 > 0) {
            whole.fabric.ports[port].clone_from(&self.all[usize::from(owner)].ports[port]);
        }
        for flow in FlowId::all(whole.endpoints.ends.len()).filter(|&flow| owners.of_senders[flow] > 0) {
            whole.take_sender(flow, self.of_sender(flow));
        }
        for flow in FlowId::all(whole.endpoints.ends.len()).filter(|&flow| owners.of_receivers[flow] > 0) {
            whole.fabric.take_receiver(flow, &self.of_receiver(flow).fabric);
        }
        for (domain, other) in (0..).zip(&self.all).skip(1) {
            whole.fabric.add_counts(&other.engine.fabric, |flow| owners.of_senders[flow] == domain);
        }
        whole.endpoints.transmissions = whole.endpoints.transmissions.take().map(|_| {
            let of = |(domain, other): (Domain, &StateSource<'_>)| {
                let all = other.engine.endpoints.transmissions.clone().unwrap_or_default().into_iter();
                all.filter(move |((flow, _), _)| owners.of_senders[*flow] == domain)
            };
            (0..).zip(&self.all).flat_map(of).collect()
        });
    }
}

impl Engine {
    /// Copy the state of a flow's sender.
    fn take_sender(&mut self, flow: FlowId, from: &Engine) {
        fn take<T: Clone>(into: &mut [T], from: &[T], at: usize) {
            if let (Some(into), Some(from)) = (into.get_mut(at), from.get(at)) {
                into.clone_from(from);
            }
        }
        let (own, other) = (&mut self.endpoints, &from.endpoints);
        take(&mut own.ends, &other.ends, flow.index());
        take(&mut own.applications, &other.applications, flow.index());
        take(&mut own.slow_starts, &other.slow_starts, flow.index());
        take(&mut own.usages, &other.usages, flow.index());
        if let Some(place) = self.fabric.signalled(flow) {
            take(&mut own.readers, &other.readers, place);
        }
        let (own, other) = (&mut self.fabric, &from.fabric);
        own.paths[flow].wire.take_sender(&other.paths[flow].wire);
        if let (Some(own), Some(other)) = (own.hosts.get_mut(flow.index()), other.hosts.get(flow.index())) {
            own.take_sender(other);
        }
        if let (Some(own), Some(other)) = (own.access_queues.get_mut(flow.index()), other.access_queues.get(flow.index())) {
            own.send.clone_from(&other.send);
        }
        if let (Some(own), Some(other)) = (own.messages.get_mut(flow), other.messages.get(flow)) {
            own.take_sender(other);
        }
        if let (Some(own), Some(other)) = (&mut own.cells, &other.cells) {
            own.take_sender(flow, other);
        }
    }
}

impl Fabric {
    /// Copy the state of a flow's receiver.
    fn take_receiver(&mut self, flow: FlowId, from: &Fabric) {
        let (path, other) = (&mut self.paths[flow], &from.paths[flow]);
        path.receiver.clone_from(&other.receiver);
        path.marked = other.marked;
        path.complete_at = other.complete_at;
        path.wire.take_receiver(&other.wire);
        let place = self.signalled(flow);
        let (own, other) = (self, from);
        if let (Some(own), Some(other)) = (own.hosts.get_mut(flow.index()), other.hosts.get(flow.index())) {
            own.take_receiver(other);
        }
        if let (Some(own), Some(other)) = (own.access_queues.get_mut(flow.index()), other.access_queues.get(flow.index())) {
            own.receive.clone_from(&other.receive);
        }
        if let (Some(own), Some(other)) = (&mut own.cells, &other.cells) {
            own.take_receiver(flow, other);
        }
        if let (Some(own), Some(other)) = (own.messages.get_mut(flow), other.messages.get(flow)) {
            own.take_receiver(other);
        }
        own.receivers.take_receiver(flow, &other.receivers, place);
    }

    /// Reset the counters: the first domain keeps the previous counts.
    fn forget_counts(&mut self) {
        self.paths.iter_mut().for_each(Path::forget_counts);
        if let Some(cells) = &mut self.cells {
            cells.forget_counts();
        }
        self.receivers.forget_counts();
        self.outcomes.forget();
    }

    /// Add the counters and records of another domain. `sends`: whether it owns the sender of a flow.
    fn add_counts(&mut self, other: &Fabric, sends: impl Fn(FlowId) -> bool) {
        for (path, other) in self.paths.iter_mut().zip(&other.paths) {
            path.add_counts(other);
        }
        let (own, other) = (self, other);
        if let (Some(own), Some(other)) = (&mut own.cells, &other.cells) {
            own.add_counts(other);
        }
        own.receivers.add_counts(&other.receivers);
        own.outcomes.add(&other.outcomes, sends);
    }
}
