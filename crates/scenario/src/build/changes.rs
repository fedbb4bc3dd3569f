//! The timeline: changes of links and flow groups.

use super::graph::Graph;
use super::groups::Groups;
use super::{Paths, flows};
use crate::problem::Report;
use crate::scenario::Description;
use crate::schema::Event;
use std::collections::BTreeMap;
use tailback_core::base::units::{Rate, Span, Time};
use tailback_core::network::{Change, ChangeKind, Port, PortId};

/// What the timeline says.
#[derive(Default)]
pub(super) struct Changes {
    /// Sorted by time.
    pub list: Vec<Change>,
    /// By flow group.
    pub groups: BTreeMap<String, GroupChanges>,
    /// By port: the most bit/s that it ever sends.
    pub fastest: Vec<u128>,
}

/// What the timeline says of one flow group.
#[derive(Default)]
pub(super) struct GroupChanges {
    /// Its `start` counts from here.
    pub start: Option<Time>,
    pub stop: Option<Time>,
    /// Further data paths, as ports.
    pub routes: Vec<Vec<PortId>>,
}

pub(super) fn changes(
    description: &Description,
    groups: &Groups,
    graph: &Graph,
    paths: &mut Paths,
    report: &mut Report,
) -> Changes {
    let mut changes = Changes { fastest: graph.ports.iter().map(|port| speed(port, port.rate)).collect(), ..Changes::default() };
    for (position, event) in description.timeline.iter().enumerate() {
        let at = format!("timeline[{position}]");
        match (&event.link, &event.flow) {
            (Some(_), None) => changes.link(event, &at, graph, report),
            (None, Some(_)) => changes.flow(event, &at, description, groups, graph, paths, report),
            _ if report.sound(&at) => {
                let given = if event.link.is_some() { "both" } else { "neither" };
                report.add(at, "a change of one thing is needed").given(given).expected("either `link` or `flow`");
            }
            _ => {}
        }
    }
    // What comes after the end changes nothing.
    changes.list.retain(|change| change.at.0 <= description.duration.span().0);
    changes.list.sort_by_key(|change| change.at);
    changes
}

impl Changes {
    fn link(&mut self, event: &Event, at: &str, graph: &Graph, report: &mut Report) {
        let strange = [
            ("route", event.route.is_some()),
            ("return_route", event.return_route.is_some()),
            ("start", event.start),
            ("stop", event.stop),
        ];
        refuse(&strange, "link", "`rate`, `delay` or `loss`", at, report);
        let Some(port) = event.link.as_ref().and_then(|name| graph.port(name, &format!("{at}.link"), report)) else { return };
        let kinds = [
            event.rate.map(|rate| ChangeKind::Rate(port, rate.rate())),
            event.delay.map(|delay| ChangeKind::Delay(port, delay.span())),
            event.loss.map(|loss| ChangeKind::RandomLoss(port, loss.0)),
        ];
        if kinds.iter().all(Option::is_none) && report.sound(at) {
            report.add(at, "nothing changes here").expected("`rate`, `delay` or `loss` with `link`");
        }
        if let Some(rate) = event.rate {
            let fastest = &mut self.fastest[port as usize];
            *fastest = speed(&graph.ports[port as usize], rate.rate()).max(*fastest);
        }
        let when = time(event.at.span());
        self.list.extend(kinds.into_iter().flatten().map(|what| Change { at: when, what }));
    }

    #[allow(clippy::too_many_arguments, reason = "the steps of the building hand on the same five things")]
    fn flow(
        &mut self,
        event: &Event,
        at: &str,
        description: &Description,
        groups: &Groups,
        graph: &Graph,
        paths: &mut Paths,
        report: &mut Report,
    ) {
        let strange = [("rate", event.rate.is_some()), ("delay", event.delay.is_some()), ("loss", event.loss.is_some())];
        refuse(&strange, "flow", "`route`, `start` or `stop`", at, report);
        let Some(name) = &event.flow else { return };
        let Some(flows) = groups.flows(name.as_str(), &format!("{at}.flow"), report) else { return };
        let Some(flow) = description.flows.get(name) else { return };
        let group = self.groups.entry(name.to_string()).or_default();
        let when = time(event.at.span());
        for (key, wanted, slot, own) in
            [("start", event.start, &mut group.start, false), ("stop", event.stop, &mut group.stop, flow.stop.is_some())]
        {
            if wanted && (slot.replace(when).is_some() || own) {
                report.add(format!("{at}.{key}"), format!("`{name}` has a {key} already")).expected("a single one");
            }
        }
        if event.route.is_none() && event.return_route.is_some() {
            report.add(format!("{at}.return_route"), "a return route alone").expected("also `route`");
        }
        if event.route.is_none() && !event.start && !event.stop && event.return_route.is_none() && report.sound(at) {
            report.add(at, "nothing changes here").expected("`route`, `start` or `stop` with `flow`");
        }
        if event.route.is_some() {
            let Some(ends) = flows::ends(name, flow, graph, report) else { return };
            let routes = flows::Routes { forward: event.route.as_deref(), backward: event.return_route.as_deref() };
            let Some((forward, backward)) = routes.find(ends, at, graph, report) else { return };
            group.routes.push(forward.clone());
            let (forward, backward) = (paths.of(forward), paths.of(backward));
            let change = |flow| Change { at: when, what: ChangeKind::Route(flow, forward, backward) };
            self.list.extend(flows.map(change));
        }
    }
}

/// Reports keys that do not belong to this kind of change.
fn refuse(strange: &[(&str, bool)], with: &str, expected: &str, at: &str, report: &mut Report) {
    for (key, _) in strange.iter().filter(|(_, given)| *given) {
        report.add(format!("{at}.{key}"), format!("`{key}` does not go with `{with}`")).expected(expected);
    }
}

fn speed(port: &Port, rate: Rate) -> u128 {
    u128::from(rate.0) * u128::from(port.transmitters)
}

fn time(span: Span) -> Time {
    Time::ZERO + span
}
