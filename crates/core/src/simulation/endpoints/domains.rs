//! The sending ends of the domains of a parallel run.

use super::{End, Endpoints};
use crate::primitives::ids::FlowId;
use crate::simulation::domain_boundary::{Domain, Owners};

impl Endpoints {
    /// Forget the losses of the senders that are not kept.
    pub(crate) fn keep_senders(&mut self, is_kept: impl Fn(FlowId) -> bool) {
        for (flow, end) in FlowId::all(self.ends.len()).zip(&mut self.ends) {
            if let End::Tcp(sender) = end
                && !is_kept(flow)
            {
                sender.recovery.forget();
            }
        }
    }

    /// Merge the ends of all domains, in a copy of the first. `signalled`: place of a flow among those whose controllers request signals.
    pub(crate) fn merge(&mut self, domains: &[&Endpoints], owners: &Owners, signalled: impl Fn(FlowId) -> Option<usize>) {
        for flow in FlowId::all(self.ends.len()).filter(|&flow| owners.of_senders[flow] > 0) {
            self.take_sender(flow, domains[usize::from(owners.of_senders[flow])], signalled(flow));
        }
        self.transmissions = self.transmissions.take().map(|_| {
            let of = |(domain, other): (Domain, &&Endpoints)| {
                let all = other.transmissions.clone().unwrap_or_default().into_iter();
                all.filter(move |((flow, _), _)| owners.of_senders[*flow] == domain)
            };
            (0..).zip(domains).flat_map(of).collect()
        });
    }

    /// Copy the state of a flow's sender.
    fn take_sender(&mut self, flow: FlowId, from: &Endpoints, place: Option<usize>) {
        fn take<T: Clone>(into: &mut [T], from: &[T], at: usize) {
            if let (Some(into), Some(from)) = (into.get_mut(at), from.get(at)) {
                into.clone_from(from);
            }
        }
        take(&mut self.ends, &from.ends, flow.index());
        take(&mut self.applications, &from.applications, flow.index());
        take(&mut self.slow_starts, &from.slow_starts, flow.index());
        take(&mut self.usages, &from.usages, flow.index());
        if let Some(place) = place {
            take(&mut self.readers, &from.readers, place);
        }
    }
}
