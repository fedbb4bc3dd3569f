//! Encoding of congestion prices, and checks that queues and senders use the same kind of price.

use super::graph::Graph;
use crate::member::Member;
use crate::problem::{Report, listed};
use crate::schema::Description;
use crate::schema::Prices;
use std::collections::{BTreeMap, BTreeSet};
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Flow, Group, PortId, Transport};
use tailback_core::price::{
    Combination, Feedback, Identification, MappedPrice, Mapping, MappingKind, PriceMeaning, PriceSpec, SchemeSpec,
};
use tailback_core::queue::PolicySpec;
use tailback_core::settings::PlainWords;

const AT: &str = "prices";

/// The encoding of prices; by default as numbers.
pub(super) fn prices(description: &Description, report: &mut Report) -> PriceSpec {
    let Some(prices) = &description.prices else { return PriceSpec::default() };
    let mut spec = PriceSpec { identification: prices.identification.0, feedback: prices.feedback.0, ..PriceSpec::default() };
    if let Member::BuiltIn(config, _) = &prices.scheme {
        let values = config.values(None, report);
        if let Some(scheme) = SchemeSpec::read(config.name(), &values) {
            config.complain(scheme.check(), &values, AT, None, report);
            spec.scheme = scheme;
        }
    }
    if spec.is_marked() || spec.feedback == Feedback::OneBit {
        spec.mapping = mapping(prices, &spec, report).unwrap_or(spec.mapping);
    }
    warn_of_what_is_not_used(prices, &spec, report);
    spec
}

/// The mapping of a scheme that requires one; `None` if an error was reported.
fn mapping(prices: &Prices, spec: &PriceSpec, report: &mut Report) -> Option<Mapping> {
    if !report.is_valid(AT) {
        return None;
    }
    let is_of_rates = prices.min_rate.is_some() || prices.max_rate.is_some();
    let (min, max) = match (prices.min_price, prices.max_price, prices.min_rate, prices.max_rate) {
        (Some(min), Some(max), None, None) => (min.0, max.0),
        (None, None, Some(min_rate), Some(max_rate)) if min_rate.rate().0 > 0 => {
            (1.0 / max_rate.rate().0 as f64, 1.0 / min_rate.rate().0 as f64)
        }
        (None, None, Some(min_rate), Some(_)) => {
            report
                .add(format!("{AT}.min_rate"), "`min_rate` is zero: its price would be infinite")
                .given(min_rate.to_string())
                .expected("above 0 bps");
            return None;
        }
        (Some(_), _, Some(_), _) | (Some(_), _, _, Some(_)) | (_, Some(_), Some(_), _) | (_, Some(_), _, Some(_)) => {
            let problem = report.add(AT, "`prices` gives the range twice");
            problem.expected("either `min_price` and `max_price`, or `min_rate` and `max_rate`");
            return None;
        }
        _ => {
            let expected = "`min_price` and `max_price`, or `min_rate` and `max_rate` where prices are one over a rate (`rcp`)";
            report.add(AT, "`prices` does not give the range that marks encode").expected(expected);
            return None;
        }
    };
    let usual = if is_of_rates { MappingKind::Logarithmic } else { MappingKind::Linear };
    let kind = prices.mapping.map_or(usual, |word| word.0);
    let scale = prices.scale.map_or(1.0, |scale| scale.0);
    let mut refuse = |key: &str, message: &str, given: String, expected: &str| {
        report.add(format!("{AT}.{key}"), message).given(given).expected(expected);
    };
    if min >= max {
        let (key, message, expected) = if is_of_rates {
            ("min_rate", "`min_rate` is not below `max_rate`", "less than `max_rate`")
        } else {
            ("min_price", "`min_price` is not below `max_price`", "less than `max_price`")
        };
        report.add(format!("{AT}.{key}"), message).expected(expected);
        return None;
    }
    if kind == MappingKind::Logarithmic && min <= 0.0 {
        refuse(
            "min_price",
            "`min_price` must be above 0 for a logarithmic mapping",
            min.to_string(),
            "above 0, or another `mapping`",
        );
        return None;
    }
    if kind == MappingKind::Signed && scale <= 0.0 {
        refuse("scale", "`scale` must be above 0", scale.to_string(), "above 0");
        return None;
    }
    if spec.scheme.combines() == Some(Combination::Sum) && (kind != MappingKind::Linear || min != 0.0) {
        let given = format!("mapping = \"{}\", min_price = {min}", kind.word());
        refuse(
            "mapping",
            "`mapping` must be linear from 0: the scheme adds mapped prices",
            given,
            "`mapping = \"linear\"` with `min_price = 0`",
        );
        return None;
    }
    let mapping = Mapping { kind, min, max, scale };
    let comes_back = |place: f64| (mapping.mapped(mapping.price(MappedPrice(place))).0 - place).abs() < 1e-6;
    if ![0.0, 0.25, 0.5, 0.75, 1.0].into_iter().all(comes_back) {
        let given = format!("mapping = \"{}\", min_price = {min:e}, max_price = {max:e}, scale = {scale:e}", kind.word());
        report
            .add(AT, "`prices` has a range that floating-point numbers cannot resolve")
            .given(given)
            .expected("a narrower range");
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
        let problem =
            report.warn(format!("{AT}.{key}"), format!("`{key}` is ignored: prices are sent as numbers, without a mapping"));
        problem.expected(format!("a `scheme` that marks, `feedback = \"one_bit\"`, or no `{key}`"));
    }
    if has_range && prices.scale.is_some() && spec.mapping.kind != MappingKind::Signed && report.is_valid(AT) {
        let problem = report.warn(format!("{AT}.scale"), "`scale` is ignored: only the signed mapping uses it");
        problem.given(format!("mapping = \"{}\"", spec.mapping.kind.word())).expected("`mapping = \"signed\"`, or no `scale`");
    }
    if spec.identification != Identification::Counting && !spec.scheme.uses_identification() {
        let problem = report.warn(format!("{AT}.identification"), "`identification` is ignored: the scheme does not use it");
        problem.given(format!("scheme = \"{}\"", spec.scheme.name().unwrap_or_default()));
        problem.expected("`adpm`, `tpm` or `rpm`, or no `identification`");
    }
}

/// Checks that the senders that use prices receive them on their paths, with the right meaning.
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
    // With the name of a group that crosses the queue.
    let mut unheard: BTreeMap<PortId, &str> = BTreeMap::new();
    let scheme = spec.scheme.name().unwrap_or_default();
    let is_of_rates = description.prices.as_ref().is_some_and(|prices| prices.min_rate.is_some() || prices.max_rate.is_some());
    for flow in flows {
        // Invalid groups have no flows, or flows without a path.
        let (Some(group), Some(ports)) = (groups.get(flow.group.index()), paths.get(flow.forward as usize)) else { continue };
        let Transport::Tcp(_, law) = &group.transport else { continue };
        let is_user = matches!(law, ControllerSpec::User(_));
        if law.abilities().price_meaning.is_none() && !is_user {
            ports.iter().for_each(|&port| _ = unheard.entry(port).or_insert(&group.name));
            continue;
        }
        heard.extend(ports);
        if !seen.insert((flow.group, flow.forward)) {
            continue;
        }
        match law.abilities().price_meaning {
            Some(meaning) => Path { spec, scheme, is_of_rates, graph, ports, group, meaning }.check(report),
            None => check_for_user_code(spec, graph, ports, group, report),
        }
    }
    for (index, port) in PortId::enumerate(&graph.ports) {
        // REM also marks packets of senders that do not use prices.
        let is_price_alone = matches!(
            port.policy.price_meaning(),
            Some(PriceMeaning::Cost | PriceMeaning::Rate | PriceMeaning::Wait | PriceMeaning::Feedback)
        );
        if is_price_alone && crossed.contains(&index) && !heard.contains(&index) && report.is_valid(graph.queue_place(index)) {
            let problem = report.warn(
                format!("{}.policy", graph.queue_place(index)),
                "`policy` computes a price that no sender on this link uses: the queue only discards packets that do not fit",
            );
            problem.given(port.policy.name().unwrap_or_default().to_string());
            problem.expected(format!("flows with a controller such as {}", listed(&["maxnet", "rcp", "xcp", "clamp"])));
        }
        if let Some(group) = unheard.get(&index)
            && is_price_alone
            && heard.contains(&index)
        {
            let message = "`policy` computes a price that some senders on this link do not use: they keep it high for the others";
            let problem = report.warn(format!("{}.policy", graph.queue_place(index)), message);
            problem.given(format!("`{group}` uses no price")).expected("controllers that use its price");
        }
    }
    if description.prices.is_some() && heard.is_empty() && !flows.is_empty() && report.is_valid(AT) {
        report.warn(AT, "`prices` is ignored: no sender uses prices").expected("a controller that uses prices, or no `prices`");
    }
}

/// Checks user code, which may use prices.
fn check_for_user_code(spec: &PriceSpec, graph: &Graph, ports: &[PortId], group: &Group, report: &mut Report) {
    let at = format!("flows.{}.tcp.controller", group.name);
    let told: Vec<PriceMeaning> = ports.iter().filter_map(|&port| graph.ports[port].policy.price_meaning()).collect();
    let Some(&first) = told.first() else { return };
    let (trouble, expected) = if group.framing.is_some() {
        ("cells carry no prices".to_string(), "a group without `framing`")
    } else if let Some(other) = told.iter().find(|&&other| other != first) {
        let message = format!("queues on the path send {} and {}, which cannot be combined", first.noun(), other.noun());
        (message, "queue policies with the same kind of price")
    } else if spec.is_marked() && first == PriceMeaning::Feedback {
        ("marks cannot encode a change of the rate".to_string(), "`scheme = \"exact\"`")
    } else if told.len() > usize::from(spec.scheme.max_hops()) {
        (
            format!("{} queues on the path send prices, more than the scheme distinguishes", told.len()),
            "another scheme, or a shorter path",
        )
    } else {
        return;
    };
    if report.is_valid(&at) {
        report.warn(at, format!("`controller` cannot use prices: {trouble}")).expected(expected);
    }
}

/// The path of a group.
struct Path<'a> {
    spec: &'a PriceSpec,
    scheme: &'a str,
    /// The range is given in rates.
    is_of_rates: bool,
    graph: &'a Graph,
    ports: &'a [PortId],
    group: &'a Group,
    meaning: PriceMeaning,
}

impl Path<'_> {
    fn check(&self, report: &mut Report) {
        let at = format!("flows.{}.tcp.controller", self.group.name);
        if !report.is_valid(&at) {
            return;
        }
        let law = match &self.group.transport {
            Transport::Tcp(_, law) => law.name().unwrap_or_default(),
            Transport::Datagram(_) => return,
        };
        if self.group.framing.is_some() {
            let problem = report.add(&at, "`controller` needs prices, which cells do not carry");
            problem.given(law).expected("a group without `framing`, or another controller");
            return;
        }
        let named = |ports: &mut dyn Iterator<Item = PortId>| {
            let names: Vec<&str> = ports.map(|port| self.graph.ports[port].name.as_str()).collect();
            listed(&names).replace("one of ", "")
        };
        let price_meaning = |port: PortId| self.graph.ports[port].policy.price_meaning();
        let told = self.ports.iter().filter(|&&port| price_meaning(port) == Some(self.meaning)).count();
        let mut others =
            self.ports.iter().copied().filter(|&port| price_meaning(port).is_some_and(|other| other != self.meaning)).peekable();
        if let Some(&other) = others.peek() {
            let message = format!(
                "`controller` uses {}, and queues on the path send {}",
                self.meaning.noun(),
                price_meaning(other).map_or("nothing", PriceMeaning::noun)
            );
            report
                .add(&at, message)
                .given(law)
                .expected(format!("other queue policies at {}, or another controller", named(&mut others)));
            return;
        }
        let may_tell = |port: &&PortId| matches!(self.graph.ports[**port].policy, PolicySpec::User(_));
        if told == 0 && self.ports.iter().any(|port| may_tell(&port)) {
            // User code may write prices.
            return;
        }
        if told == 0 {
            let without =
                if self.meaning == PriceMeaning::Wait { "only losses bound the window" } else { "the window never changes" };
            let problem = report.warn(&at, format!("`controller` receives no price from the queues on its path: {without}"));
            problem.given(law).expected(format!("a queue policy on the path that sends {}", self.meaning.noun()));
            return;
        }
        let mut silent =
            self.ports.iter().filter(|port| !may_tell(port)).copied().filter(|&port| price_meaning(port).is_none()).peekable();
        if silent.peek().is_some() {
            let problem = report.warn(
                &at,
                "`controller` receives prices from some queues on its path only, and no congestion signal from the others",
            );
            problem.given(law).expected(format!("a policy that sends {} also at {}", self.meaning.noun(), named(&mut silent)));
        }
        self.check_scheme(&at, told, report);
    }

    /// `told` is the number of queues that send a price.
    fn check_scheme(&self, at: &str, told: usize, report: &mut Report) {
        if self.spec.feedback == Feedback::OneBit
            && matches!(self.meaning, PriceMeaning::Feedback | PriceMeaning::Marginal | PriceMeaning::Wait)
        {
            let why = if self.meaning == PriceMeaning::Feedback {
                "which one bit cannot encode"
            } else {
                "whose sum may exceed any range"
            };
            let message = format!("`feedback` is one bit, and `{}` uses {}, {why}", self.group.name, self.meaning.noun());
            report.add("prices.feedback", message).given("\"one_bit\"").expected("\"exact\"");
            return;
        }
        if self.is_of_rates && self.spec.has_range() && self.meaning != PriceMeaning::Rate && report.is_valid(AT) {
            let message =
                format!("`min_rate` gives a range of inverse rates, and `{}` uses {}", self.group.name, self.meaning.noun());
            report.add("prices.min_rate", message).given("`min_rate` and `max_rate`").expected("`min_price` and `max_price`");
            return;
        }
        let Some(combines) = self.spec.scheme.combines() else { return };
        let given = format!("scheme = \"{}\"", self.scheme);
        if self.meaning == PriceMeaning::Feedback {
            let message = format!(
                "`scheme` sends marks, and `{}` uses {}, which marks cannot encode",
                self.group.name,
                self.meaning.noun()
            );
            report.add("prices.scheme", message).given(given).expected("\"exact\"");
        } else if told > usize::from(self.spec.scheme.max_hops()) {
            let message =
                format!("{told} queues on the path of `{}` send prices, more than the scheme distinguishes", self.group.name);
            let has_setting = self.spec.scheme.max_hops() < u8::MAX;
            let expected = if has_setting {
                format!("`hops` of at least {told}, or another scheme")
            } else {
                "a shorter path, or `exact`".into()
            };
            report.add(if has_setting { "prices.hops" } else { "prices.scheme" }, message).given(given).expected(expected);
        } else if combines != self.meaning.combines() && told > 1 {
            let noun = |combination| if combination == Combination::Sum { "the sum" } else { "the largest" };
            let (price_meaning, wants) = (noun(combines), noun(self.meaning.combines()));
            let problem = report
                .warn(at, format!("`controller` uses {wants} of the prices on its path, and the scheme sends {price_meaning}"));
            problem.given(given).expected("another scheme, unless another kind of fairness is intended");
        }
    }
}
