//! How prices travel, and whether those who tell them and those who go by them mean the same.

use super::graph::Graph;
use crate::member::Choice;
use crate::problem::{Report, listed};
use crate::scenario::Description;
use crate::schema::Prices;
use std::collections::{BTreeMap, BTreeSet};
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Flow, Group, PortId, Transport};
use tailback_core::price::{Combination, Feedback, Identification, Mapped, Mapping, MappingKind, Meaning, PriceSpec, SchemeSpec};
use tailback_core::queue::PolicySpec;
use tailback_core::settings::PlainWords;

const AT: &str = "prices";

/// How the prices of a scenario travel; as numbers, if it does not say.
pub(super) fn prices(description: &Description, report: &mut Report) -> PriceSpec {
    let Some(prices) = &description.prices else { return PriceSpec::default() };
    let mut spec = PriceSpec { identification: prices.identification.0, feedback: prices.feedback.0, ..PriceSpec::default() };
    if let Choice::Member(chosen, _) = &prices.scheme {
        let values = chosen.values(None, report);
        if let Some(scheme) = SchemeSpec::read(chosen.name(), &values) {
            chosen.complain(scheme.check(), &values, AT, None, report);
            spec.scheme = scheme;
        }
    }
    if spec.is_marked() || spec.feedback == Feedback::OneBit {
        spec.mapping = mapping(prices, &spec, report).unwrap_or(spec.mapping);
    }
    warn_of_what_is_not_used(prices, &spec, report);
    spec
}

/// The mapping of a scheme that needs one; `None` if it cannot be had, which has been reported.
fn mapping(prices: &Prices, spec: &PriceSpec, report: &mut Report) -> Option<Mapping> {
    if !report.sound(AT) {
        return None;
    }
    let is_of_rates = prices.min_rate.is_some() || prices.max_rate.is_some();
    let (least, most) = match (prices.min_price, prices.max_price, prices.min_rate, prices.max_rate) {
        (Some(least), Some(most), None, None) => (least.0, most.0),
        (None, None, Some(min_rate), Some(max_rate)) if min_rate.rate().0 > 0 => {
            (1.0 / max_rate.rate().0 as f64, 1.0 / min_rate.rate().0 as f64)
        }
        (None, None, Some(min_rate), Some(_)) => {
            report.add(format!("{AT}.min_rate"), "one over it has no end").given(min_rate.to_string()).expected("above 0 bps");
            return None;
        }
        (Some(_), _, Some(_), _) | (Some(_), _, _, Some(_)) | (_, Some(_), Some(_), _) | (_, Some(_), _, Some(_)) => {
            let problem = report.add(AT, "the range of prices is given twice");
            problem.expected("either `min_price` and `max_price`, or `min_rate` and `max_rate`");
            return None;
        }
        _ => {
            let expected = "`min_price` and `max_price`, or `min_rate` and `max_rate` where prices are one over a rate (`rcp`)";
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
        let (key, given) = if is_of_rates {
            ("min_rate", "`min_rate` not below `max_rate`")
        } else {
            ("min_price", "`min_price` not below `max_price`")
        };
        refuse(key, "a range without prices", given.into(), "the other way round");
        return None;
    }
    if kind == MappingKind::Logarithmic && least <= 0.0 {
        refuse("min_price", "it has no logarithm", least.to_string(), "above 0, or another `mapping`");
        return None;
    }
    if kind == MappingKind::Signed && scale <= 0.0 {
        refuse("scale", "a scale without size", scale.to_string(), "above 0");
        return None;
    }
    if spec.scheme.combines() == Some(Combination::Sum) && (kind != MappingKind::Linear || least != 0.0) {
        let given = format!("mapping = \"{}\", min_price = {least}", kind.word());
        refuse(
            "mapping",
            "this scheme tells the sum of mapped prices, which have to add up as prices do",
            given,
            "`mapping = \"linear\"` with `min_price = 0`",
        );
        return None;
    }
    let mapping = Mapping { kind, least, most, scale };
    let comes_back = |place: f64| (mapping.mapped(mapping.price(Mapped(place))).0 - place).abs() < 1e-6;
    if ![0.0, 0.25, 0.5, 0.75, 1.0].into_iter().all(comes_back) {
        let given = format!("mapping = \"{}\", min_price = {least:e}, max_price = {most:e}, scale = {scale:e}", kind.word());
        report.add(AT, "a range in which numbers cannot tell prices apart").given(given).expected("a narrower range");
        return None;
    }
    Some(mapping)
}

fn warn_of_what_is_not_used(prices: &Prices, spec: &PriceSpec, report: &mut Report) {
    let given = [
        ("mapping", prices.mapping.is_some()),
        ("min_price", prices.min_price.is_some()),
        ("max_price", prices.max_price.is_some()),
        ("min_rate", prices.min_rate.is_some()),
        ("max_rate", prices.max_rate.is_some()),
        ("scale", prices.scale.is_some()),
    ];
    let has_range = spec.has_range();
    for (key, _) in given.iter().filter(|(_, is_given)| *is_given && !has_range) {
        let problem = report.warn(format!("{AT}.{key}"), "prices travel as numbers, which need no mapping");
        problem.expected("a `scheme` that marks, `feedback = \"one_bit\"`, or nothing");
    }
    if has_range && prices.scale.is_some() && spec.mapping.kind != MappingKind::Signed && report.sound(AT) {
        let problem = report.warn(format!("{AT}.scale"), "only the signed mapping has a scale: this one is not used");
        problem.given(format!("mapping = \"{}\"", spec.mapping.kind.word())).expected("`mapping = \"signed\"`, or no `scale`");
    }
    if spec.identification != Identification::Counting && !spec.scheme.asks() {
        let problem =
            report.warn(format!("{AT}.identification"), "with this scheme no packet asks by its identification: it is not used");
        problem.given(format!("scheme = \"{}\"", spec.scheme.name().unwrap_or_default()));
        problem.expected("`adpm`, `tpm` or `rpm`, or no `identification`");
    }
}

/// Whether prices are told on the paths of those that go by them, and mean what they take them for.
pub(super) fn check(
    description: &Description,
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
    // With the name of a group that crosses them.
    let mut unheard: BTreeMap<PortId, &str> = BTreeMap::new();
    let scheme = spec.scheme.name().unwrap_or_default();
    let is_of_rates = description.prices.as_ref().is_some_and(|prices| prices.min_rate.is_some() || prices.max_rate.is_some());
    for flow in flows {
        // Of what could not be read there are no flows, or flows without a path.
        let (Some(group), Some(ports)) = (groups.get(flow.group as usize), paths.get(flow.forward as usize)) else { continue };
        let Transport::Tcp(_, law) = &group.transport else { continue };
        let is_user = matches!(law, ControllerSpec::User(_));
        if law.price_meaning().is_none() && !is_user {
            ports.iter().for_each(|&port| _ = unheard.entry(port).or_insert(&group.name));
            continue;
        }
        heard.extend(ports);
        if !seen.insert((flow.group, flow.forward)) {
            continue;
        }
        match law.price_meaning() {
            Some(meaning) => Path { spec, scheme, is_of_rates, graph, ports, group, meaning }.check(report),
            None => check_for_user_code(spec, graph, ports, group, report),
        }
    }
    for (index, port) in (0..).zip(&graph.ports) {
        // REM's queue marks what goes by no price, too.
        let is_price_alone =
            matches!(port.policy.price_meaning(), Some(Meaning::Cost | Meaning::Rate | Meaning::Wait | Meaning::Feedback));
        if is_price_alone && crossed.contains(&index) && !heard.contains(&index) && report.sound(graph.queue_place(index)) {
            let problem = report.warn(
                format!("{}.policy", graph.queue_place(index)),
                "no sender that crosses this queue goes by its price: it discards what does not fit, and nothing else",
            );
            problem.given(port.policy.name().unwrap_or_default().to_string());
            problem.expected(format!("flows with a controller such as {}", listed(&["maxnet", "rcp", "xcp", "clamp"])));
        }
        if let Some(group) = unheard.get(&index)
            && is_price_alone
            && heard.contains(&index)
        {
            let message =
                "some senders that cross this queue go by its price and some do not: those keep the price up for the others";
            let problem = report.warn(format!("{}.policy", graph.queue_place(index)), message);
            problem.given(format!("`{group}` goes by no price")).expected("controllers that go by its price");
        }
    }
    if description.prices.is_some() && heard.is_empty() && !flows.is_empty() && report.sound(AT) {
        report.warn(AT, "no sender goes by prices: this is not used").expected("a controller that does, or no `prices`");
    }
}

/// Of a law of a user only its code knows whether it asks for prices.
fn check_for_user_code(spec: &PriceSpec, graph: &Graph, ports: &[PortId], group: &Group, report: &mut Report) {
    let at = format!("flows.{}.tcp.controller", group.name);
    let told: Vec<Meaning> = ports.iter().filter_map(|&port| graph.ports[port as usize].policy.price_meaning()).collect();
    let Some(&first) = told.first() else { return };
    let (trouble, expected) = if group.framing.is_some() {
        ("its packets travel in cells, which carry no prices".to_string(), "a group without `framing`")
    } else if let Some(other) = told.iter().find(|&&other| other != first) {
        let message = format!("queues of its path tell {} and {}, which do not go together", first.noun(), other.noun());
        (message, "queue policies that tell the same")
    } else if spec.is_marked() && first == Meaning::Feedback {
        ("marks cannot tell a change of the rate".to_string(), "`scheme = \"exact\"`")
    } else if told.len() > usize::from(spec.scheme.most_hops()) {
        (
            format!("{} queues tell prices on its path, more than the scheme tells apart", told.len()),
            "another scheme, or a shorter path",
        )
    } else {
        return;
    };
    if report.sound(&at) {
        report.warn(at, format!("should its code ask for prices: {trouble}")).expected(expected);
    }
}

/// The queues that flows of a group cross.
struct Path<'a> {
    spec: &'a PriceSpec,
    scheme: &'a str,
    /// The range is given as one of rates.
    is_of_rates: bool,
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
        let price_meaning = |port: PortId| self.graph.ports[port as usize].policy.price_meaning();
        let told = self.ports.iter().filter(|&&port| price_meaning(port) == Some(self.meaning)).count();
        let mut others =
            self.ports.iter().copied().filter(|&port| price_meaning(port).is_some_and(|other| other != self.meaning)).peekable();
        if let Some(&other) = others.peek() {
            let message = format!(
                "it goes by {}, and queues of its path tell {}",
                self.meaning.noun(),
                price_meaning(other).map_or("nothing", Meaning::noun)
            );
            report
                .add(&at, message)
                .given(law)
                .expected(format!("other queue policies at {}, or another controller", named(&mut others)));
            return;
        }
        let may_tell = |port: &&PortId| matches!(self.graph.ports[**port as usize].policy, PolicySpec::User(_));
        if told == 0 && self.ports.iter().any(|port| may_tell(&port)) {
            // What its code writes only the code knows.
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
        let mut silent =
            self.ports.iter().filter(|port| !may_tell(port)).copied().filter(|&port| price_meaning(port).is_none()).peekable();
        if silent.peek().is_some() {
            let problem =
                report.warn(&at, "only some queues of its path tell a price: of what congests the others it does not hear");
            problem.given(law).expected(format!("a policy that tells {} also at {}", self.meaning.noun(), named(&mut silent)));
        }
        self.check_scheme(&at, told, report);
    }

    /// `told`: queues that tell a price.
    fn check_scheme(&self, at: &str, told: usize, report: &mut Report) {
        if self.spec.feedback == Feedback::OneBit && matches!(self.meaning, Meaning::Feedback | Meaning::Marginal | Meaning::Wait)
        {
            let why = if self.meaning == Meaning::Feedback {
                "which one bit cannot tell"
            } else {
                "of which the sum may be beyond any range"
            };
            let message = format!("`{}` goes by {}, {why}", self.group.name, self.meaning.noun());
            report.add("prices.feedback", message).given("\"one_bit\"").expected("\"exact\"");
            return;
        }
        if self.is_of_rates && self.spec.has_range() && self.meaning != Meaning::Rate && report.sound(AT) {
            let message = format!("`{}` goes by {}, and the range is one over rates", self.group.name, self.meaning.noun());
            report.add("prices.min_rate", message).given("`min_rate` and `max_rate`").expected("`min_price` and `max_price`");
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
            let has_setting = self.spec.scheme.most_hops() < u8::MAX;
            let expected = if has_setting {
                format!("`hops` of at least {told}, or another scheme")
            } else {
                "a shorter path, or `exact`".into()
            };
            report.add(if has_setting { "prices.hops" } else { "prices.scheme" }, message).given(given).expected(expected);
        } else if combines != self.meaning.combines() && told > 1 {
            let noun = |combination| if combination == Combination::Sum { "the sum" } else { "the largest" };
            let (price_meaning, wants) = (noun(combines), noun(self.meaning.combines()));
            let problem =
                report.warn(at, format!("it goes by {wants} of the prices of its path, and the scheme tells {price_meaning}"));
            problem.given(given).expected("rates that are fair in another sense, or another scheme");
        }
    }
}
