//! Checks the rates of sources and applications against the first link behind them.
//!
//! The load of a queue in the network may exceed its rate, because overload is a subject of study. The load of a private link may not,
//! because its unlimited queue would grow without bound. An application must not exceed the first link either, because it would be greedy,
//! and greedy flows have no application.

use super::transport;
use crate::problem::Report;
use crate::quantity::{Quantity, Rate};
use crate::schema;
use tailback_core::network::{CELL_BYTES, Group, MAX_SEGMENTS, Transport};
use tailback_core::primitives::units::{Bytes, TimeDelta};
use tailback_core::traffic::{ApplicationSpec, Arrivals, DatagramSpec};

/// The first link of a flow group's route, and its highest rate in bit/s.
pub(super) struct FirstLink<'d> {
    pub name: &'d str,
    pub rate: u128,
}

/// Reports a rate that is too large; `at` is the path of the flow group.
pub(super) fn check(flow: &schema::Flow, group: &Group, first: &FirstLink, duration: TimeDelta, at: &str, report: &mut Report) {
    let access = flow.sender_access.as_ref().and_then(|access| access.rate);
    let packet = transport::wire_bytes(&group.transport) as f64;
    let (key, given, packets_per_second) = match (&group.transport, &group.application) {
        (Transport::Tcp(tcp, _), Some(ApplicationSpec::Bursts(spec))) => {
            let rate = match &flow.application {
                Some(schema::Application::Bursts(bursts)) => bursts.arrivals.rate(),
                _ => None,
            };
            ("application", rate, Some(spec.per_second(tcp.mss) * f64::from(spec.burst)))
        }
        (Transport::Datagram(spec), _) if access.is_some() => {
            ("source", flow.source.as_ref().and_then(|source| source.arrivals.rate()), spec.per_second())
        }
        _ => return,
    };
    let at = format!("{at}.{key}.rate");
    let (Some(given), Some(packets_per_second)) = (given, packets_per_second) else { return };
    if !report.is_valid(&at) {
        return;
    }
    let (name, carries) = access.map_or((first.name, first.rate), |rate| ("sender_access", rate.rate().0.into()));
    let offered = packets_per_second * 8.0 * wire_bytes(group);
    if offered > carries as f64 {
        let waits = matches!(&group.transport, Transport::Datagram(DatagramSpec { arrivals: Arrivals::Process(process), .. })
            if process.is_of_datagrams());
        // Upper bound for an on-off source: without idle times.
        let at_most = if waits { given.base() as f64 / packet * wire_bytes(group) } else { offered };
        let max = (given.base() as f64 * carries as f64 / at_most) as u64;
        let problem = report.add(at, format!("`rate` exceeds the rate of `{name}`"));
        problem.given(given.to_string()).expected(format!("at most {}, headers included", Rate::new(max)));
        return;
    }
    let packets = packets_per_second * duration.seconds();
    if flow.size.is_none() && packets > MAX_SEGMENTS as f64 {
        let problem = report.add(at, "`rate` exceeds the maximum number of packets");
        problem
            .given(format!("about {packets:.0} packets"))
            .expected(format!("at most {MAX_SEGMENTS}: use a shorter run or a lower rate"));
    }
}

/// Bytes of a full packet, or of one of mean size, on the links.
fn wire_bytes(group: &Group) -> f64 {
    let bytes = transport::wire_bytes(&group.transport);
    match group.framing {
        Some(framing) => (framing.cells(Bytes(bytes)).0 * CELL_BYTES.0) as f64,
        None => bytes as f64,
    }
}
