//! How prices travel, and whether those who tell them and those who go by them mean the same.

use super::graph::Graph;
use crate::member::Choice;
use crate::problem::{Report, listed};
use crate::scenario::Description;
use crate::schema::Prices;
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::FRAC_PI_2;
use tailback_core::congestion::{ControllerSpec, RemSourceSpec};
use tailback_core::network::{Flow, Group, Network, PortId, Transport};
use tailback_core::price::{Combination, Mapping, MappingKind, Meaning, PriceSpec, SchemeSpec, WayBack};
use tailback_core::queue::PolicySpec;
use tailback_core::settings::PlainWords;

const AT: &str = "prices";

/// How the prices of a scenario travel; as numbers, if it does not say.
pub(super) fn prices(description: &Description, report: &mut Report) -> PriceSpec {
    let Some(prices) = &description.prices else { return PriceSpec::default() };
    let mut spec = PriceSpec { identification: prices.identification.0, way_back: prices.way_back.0, ..PriceSpec::default() };
    if let Choice::Member(chosen, _) = &prices.scheme {
        let values = chosen.values(None, report);
        if let Some(scheme) = SchemeSpec::read(chosen.name(), &values) {
            chosen.complain(scheme.check(), &values, AT, None, report);
            spec.scheme = scheme;
        }
    }
    if spec.is_marked() || spec.way_back == WayBack::OneBit {
        spec.mapping = mapping(prices, &spec, report).unwrap_or(spec.mapping);
    } else {
        warn_of_what_is_not_used(prices, report);
    }
    spec
}

/// The mapping of a scheme that needs one; `None` if it cannot be had, which has been reported.
fn mapping(prices: &Prices, spec: &PriceSpec, report: &mut Report) -> Option<Mapping> {
    if !report.sound(AT) {
        return None;
    }
    let is_of_rates = prices.slowest.is_some() || prices.fastest.is_some();
    let (least, most) = match (prices.least, prices.most, prices.slowest, prices.fastest) {
        (Some(least), Some(most), None, None) => (least.0, most.0),
        (None, None, Some(slowest), Some(fastest)) if slowest.rate().0 > 0 => {
            (1.0 / fastest.rate().0 as f64, 1.0 / slowest.rate().0 as f64)
        }
        (None, None, Some(slowest), Some(_)) => {
            report.add(format!("{AT}.slowest"), "one over it has no end").given(slowest.to_string()).expected("above 0 bps");
            return None;
        }
        _ => {
            let expected = "`least` and `most`, or `slowest` and `fastest` where prices are one over a rate (`rcp`)";
            report.add(AT, "the range of prices is missing, which marks stand for").expected(expected);
            return None;
        }
    };
    let usual = if is_of_rates { MappingKind::Logarithmic } else { MappingKind::Linear };
    let kind = prices.mapping.map_or(usual, |word| word.0);
    let scale = prices.scale.map_or(1.0, |scale| scale.0);
    let mut refuse = |key: &str, message: &str, given: String, expected: &str| {
        report.add(format!("{AT}.{key}"), message).given(given).expected(expected);
    };
    if least >= most {
        let (key, given) =
            if is_of_rates { ("slowest", "`slowest` not below `fastest`") } else { ("least", "`least` not below `most`") };
        refuse(key, "a range without prices", given.into(), "the other way round");
        return None;
    }
    if kind == MappingKind::Logarithmic && least <= 0.0 {
        refuse("least", "it has no logarithm", least.to_string(), "above 0, or another `mapping`");
        return None;
    }
    if kind == MappingKind::Signed && scale <= 0.0 {
        refuse("scale", "a scale without size", scale.to_string(), "above 0");
        return None;
    }
    if spec.scheme.combines() == Some(Combination::Sum) && (kind != MappingKind::Linear || least != 0.0) {
        let given = format!("mapping = \"{}\", least = {least}", kind.word());
        refuse(
            "mapping",
            "this scheme tells the sum of mapped prices, which have to add up as prices do",
            given,
            "`mapping = \"linear\"` with `least = 0`",
        );
        return None;
    }
    Some(Mapping { kind, least, most, scale })
}

fn warn_of_what_is_not_used(prices: &Prices, report: &mut Report) {
    let given = [
        ("mapping", prices.mapping.is_some()),
        ("least", prices.least.is_some()),
        ("most", prices.most.is_some()),
        ("slowest", prices.slowest.is_some()),
        ("fastest", prices.fastest.is_some()),
        ("scale", prices.scale.is_some()),
    ];
    for (key, _) in given.iter().filter(|(_, is_given)| *is_given) {
        let problem = report.warn(format!("{AT}.{key}"), "prices travel as numbers, which need no mapping");
        problem.expected("a `scheme` that marks, `way_back = \"one_bit\"`, or nothing");
    }
}

/// Whether prices are told on the paths of those that go by them, and mean what they take them for.
pub(super) fn check(
    spec: &PriceSpec,
    graph: &Graph,
    paths: &[Vec<PortId>],
    groups: &[Group],
    flows: &[Flow],
    report: &mut Report,
) {
    let mut seen = BTreeSet::new();
    let crossed: BTreeSet<PortId> = flows.iter().filter_map(|flow| paths.get(flow.forward as usize)).flatten().copied().collect();
    let mut heard: BTreeSet<PortId> = BTreeSet::new();
    let scheme = spec.scheme.name().unwrap_or_default();
    for flow in flows {
        // Of what could not be read there are no flows, or flows without a path.
        let (Some(group), Some(ports)) = (groups.get(flow.group as usize), paths.get(flow.forward as usize)) else { continue };
        let Transport::Tcp(_, law) = &group.transport else { continue };
        let is_user = matches!(law, ControllerSpec::User(_));
        if law.goes_by().is_none() && !is_user {
            continue;
        }
        heard.extend(ports);
        if is_user || !seen.insert((flow.group, flow.forward)) {
            continue;
        }
        if let Some(meaning) = law.goes_by() {
            Path { spec, scheme, graph, ports, group, meaning }.check(report);
        }
    }
    for (index, port) in (0..).zip(&graph.ports) {
        // REM's queue marks what goes by no price, too.
        let is_price_alone =
            matches!(port.policy.tells(), Some(Meaning::Cost | Meaning::Rate | Meaning::Wait | Meaning::Feedback));
        if is_price_alone && crossed.contains(&index) && !heard.contains(&index) && report.sound(graph.queue_place(index)) {
            let problem = report.warn(
                format!("{}.policy", graph.queue_place(index)),
                "no sender that crosses this queue goes by its price: it discards what does not fit, and nothing else",
            );
            problem.given(port.policy.name().unwrap_or_default().to_string());
            problem.expected(format!("flows with a controller such as {}", listed(&["maxnet", "rcp", "xcp", "clamp"])));
        }
    }
}

/// Gains with which prices swing for ever: a price integrates what arrives, and what it does is felt a round trip later.
pub(super) fn warn_of_swings(network: &Network, places: &[String], report: &mut Report) {
    let mut crossing: BTreeMap<PortId, Vec<&Flow>> = BTreeMap::new();
    for flow in &network.flows {
        let goes_by = match &network.groups[flow.group as usize].transport {
            Transport::Tcp(_, law) => law.goes_by(),
            Transport::Datagram(_) => None,
        };
        if matches!(goes_by, Some(Meaning::Cost | Meaning::Marginal | Meaning::Wait)) {
            network.paths[flow.forward as usize].iter().for_each(|&port| crossing.entry(port).or_default().push(flow));
        }
    }
    for (port, flows) in crossing {
        let rtt = flows.iter().map(|flow| network.base_rtt(flow).seconds()).fold(0.0, f64::max);
        let spec = &network.ports[port as usize];
        let (setting, given, turn, expected) = match &spec.policy {
            PolicySpec::MaxNet(maxnet) => {
                // Exponential demand: the loop gains gain / period, whatever the rate of the link.
                let period = maxnet.period.seconds();
                let most = FRAC_PI_2 * period / (rtt + period);
                ("gain", maxnet.gain, maxnet.gain / most, most)
            }
            PolicySpec::Rem(rem) => {
                // Rates w / q: the loop gains gamma c / q, and q is at most the sum of weights over the rate of the link.
                let rate = spec.rate.0 as f64 * f64::from(spec.transmitters);
                let weights: f64 =
                    flows.iter().map(|flow| rem_source(network, flow).map_or(0.0, |source| source.weight.0 as f64)).sum();
                let wanted: f64 =
                    flows.iter().map(|flow| rem_source(network, flow).map_or(0.0, |source| source.fastest.0 as f64)).sum();
                let per_second = rate / (8.0 * f64::from(rem.packet));
                let most = FRAC_PI_2 * weights / rate / (per_second * rtt);
                // What its flows cannot fill has a price of 0.
                ("gamma", rem.gamma, if wanted > rate { rem.gamma / most } else { 0.0 }, most)
            }
            // Windows that change by the queue, a round trip late: the loop gains the slope in each.
            PolicySpec::Clamp(clamp) => ("slope", clamp.slope, clamp.slope / FRAC_PI_2, FRAC_PI_2),
            _ => continue,
        };
        let at = format!("{}.{setting}", places[port as usize]);
        if turn > 1.0 && report.sound(&at) {
            let bound = if expected < 0.01 { format!("{expected:.2e}") } else { format!("{expected:.3}") };
            let message = format!("with round trips of {:.0} ms the price is bound to swing, and rates with it", 1e3 * rtt);
            report.warn(at, message).given(given.to_string()).expected(format!("less than {bound}, half of that to be safe"));
        }
    }
}

fn rem_source<'a>(network: &'a Network, flow: &Flow) -> Option<&'a RemSourceSpec> {
    match &network.groups[flow.group as usize].transport {
        Transport::Tcp(_, ControllerSpec::Rem(source)) => Some(source),
        _ => None,
    }
}

/// The queues that flows of a group cross.
struct Path<'a> {
    spec: &'a PriceSpec,
    scheme: &'a str,
    graph: &'a Graph,
    ports: &'a [PortId],
    group: &'a Group,
    meaning: Meaning,
}

impl Path<'_> {
    fn check(&self, report: &mut Report) {
        let at = format!("flows.{}.tcp.controller", self.group.name);
        if !report.sound(&at) {
            return;
        }
        let law = match &self.group.transport {
            Transport::Tcp(_, law) => law.name().unwrap_or_default(),
            Transport::Datagram(_) => return,
        };
        if self.group.framing.is_some() {
            let problem = report.add(&at, "its packets travel in cells, which carry no prices");
            problem.given(law).expected("a group without `framing`, or another controller");
            return;
        }
        let named = |ports: &mut dyn Iterator<Item = PortId>| {
            let names: Vec<&str> = ports.map(|port| self.graph.ports[port as usize].name.as_str()).collect();
            listed(&names).replace("one of ", "")
        };
        let tells = |port: PortId| self.graph.ports[port as usize].policy.tells();
        let told = self.ports.iter().filter(|&&port| tells(port) == Some(self.meaning)).count();
        let mut others =
            self.ports.iter().copied().filter(|&port| tells(port).is_some_and(|other| other != self.meaning)).peekable();
        if let Some(&other) = others.peek() {
            let message = format!(
                "it goes by {}, and queues of its path tell {}",
                self.meaning.noun(),
                tells(other).map_or("nothing", Meaning::noun)
            );
            report
                .add(&at, message)
                .given(law)
                .expected(format!("other queue policies at {}, or another controller", named(&mut others)));
            return;
        }
        if told == 0 {
            let without = if self.meaning == Meaning::Wait {
                "nothing but losses bounds its window"
            } else {
                "its window stays as it begins"
            };
            let problem = report.warn(&at, format!("no queue of its path tells it a price: {without}"));
            problem.given(law).expected(format!("a queue policy that tells {} on its path", self.meaning.noun()));
            return;
        }
        let mut silent = self.ports.iter().copied().filter(|&port| tells(port).is_none()).peekable();
        if silent.peek().is_some() {
            let problem =
                report.warn(&at, "only some queues of its path tell a price: of what congests the others it does not hear");
            problem.given(law).expected(format!("a policy that tells {} also at {}", self.meaning.noun(), named(&mut silent)));
        }
        self.check_scheme(&at, told, report);
    }

    /// `told`: queues that tell a price.
    fn check_scheme(&self, at: &str, told: usize, report: &mut Report) {
        if self.spec.way_back == WayBack::OneBit && matches!(self.meaning, Meaning::Feedback | Meaning::Marginal | Meaning::Wait)
        {
            let why = if self.meaning == Meaning::Feedback {
                "which one bit cannot tell"
            } else {
                "of which the sum may be beyond any range"
            };
            let message = format!("`{}` goes by {}, {why}", self.group.name, self.meaning.noun());
            report.add("prices.way_back", message).given("\"one_bit\"").expected("\"exact\"");
            return;
        }
        let Some(combines) = self.spec.scheme.combines() else { return };
        let given = format!("scheme = \"{}\"", self.scheme);
        if self.meaning == Meaning::Feedback {
            let message = format!("`{}` goes by {}, which marks cannot tell", self.group.name, self.meaning.noun());
            report.add("prices.scheme", message).given(given).expected("\"exact\"");
        } else if told > usize::from(self.spec.scheme.most_hops()) {
            let message =
                format!("{told} queues tell prices on the path of `{}`, more than the scheme tells apart", self.group.name);
            report.add("prices.hops", message).given(given).expected(format!("`hops` of at least {told}, or another scheme"));
        } else if combines != self.meaning.combines() && told > 1 {
            let noun = |combination| if combination == Combination::Sum { "the sum" } else { "the largest" };
            let (tells, wants) = (noun(combines), noun(self.meaning.combines()));
            let problem = report.warn(at, format!("it goes by {wants} of the prices of its path, and the scheme tells {tells}"));
            problem.given(given).expected("rates that are fair in another sense, or another scheme");
        }
    }
}
