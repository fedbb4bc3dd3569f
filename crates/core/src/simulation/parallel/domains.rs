//! Division of an engine into domains, and merging of domains into one engine. A run can thus be divided, read and saved at any time.

use crate::simulation::domain_boundary::{Domain, DomainBoundary, Owners};
use crate::simulation::endpoints::End;
use crate::simulation::fabric::BulkState;
use crate::simulation::parallel::shares::Shares;
use crate::simulation::prefetch::UpcomingEvents;
use crate::simulation::state::Engine;

/// The part of a run that a domain owns, as an engine. `bulk`: the packets and ports of `whole`.
pub(super) fn split_domain(whole: &Engine, bulk: &BulkState, own: Domain, shares: &Shares) -> Engine {
    let Shares { owners, domains, lookahead } = shares;
    let mut part = whole.clone();
    if own > 0 {
        part.events = 0;
    }
    part.upcoming = UpcomingEvents::default();
    part.endpoints.keep_senders(|flow| owners.of_senders[flow] == own);
    let boundary = DomainBoundary::new(own, owners.clone(), *domains, *lookahead);
    part.fabric.become_domain(&whole.fabric, bulk, boundary);
    part
}

/// Merge all domains of a run, which have reached the same time.
pub(super) fn merge_domains(domains: &mut [Engine], owners: &Owners) -> Engine {
    let packets = domains[0].fabric.take_packets();
    let mut whole = domains[0].clone();
    domains[0].fabric.put_packets(packets);
    whole.events = domains.iter().map(|domain| domain.events).sum();
    whole.upcoming = UpcomingEvents::default();
    let endpoints: Vec<_> = domains.iter().map(|domain| &domain.endpoints).collect();
    whole.endpoints.merge(&endpoints, owners, |flow| domains[0].fabric.signalled(flow));
    let fabrics: Vec<_> = domains.iter().map(|domain| &domain.fabric).collect();
    whole.fabric.merge(&fabrics, owners);
    for wait in fabrics.iter().flat_map(|fabric| &fabric.boundary).flat_map(|boundary| boundary.waits()) {
        let completed = whole.fabric.path(wait.flow).counts.completed;
        if let End::Tcp(sender) = whole.endpoints.end_mut(wait.flow)
            && wait.until >= completed
        {
            sender.discount_wait(wait.idle);
        }
    }
    whole
}
