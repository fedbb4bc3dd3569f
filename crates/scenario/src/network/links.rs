//! Links: the ports of both directions, with their rates, impairments and queues.

use super::classes;
use super::groups::Groups;
use super::sites::Made;
use super::transport::{MAX_MTU, MIN_MTU};
use crate::link_rate::LinkRate;
use crate::probability::Probability;
use crate::problem::{RepeatedErrors, Report};
use crate::quantity::{Duration, Rate, Size};
use crate::rate_table::RateTable;
use crate::schema::{self, Buffer, Jitter, Link, Loss, Queue, Style, policy_spec};
use crate::values::Word;
use std::rc::Rc;
use tailback_core::network::{self, Impairments, ListedDrop, LossAt, Port, Queues, Scheduling, Switching};
use tailback_core::primitives::segment_number::SegmentNumber;
use tailback_core::primitives::token_bucket::BucketSpec;
use tailback_core::primitives::units::Bytes;
use tailback_core::queue::PolicySpec;
use tailback_core::settings::PlainWords;

/// A table with the columns that apply to a port.
#[derive(Clone)]
pub(super) struct Varying {
    pub table: RateTable,
    pub has_delays: bool,
    pub has_losses: bool,
}

impl Varying {
    /// The delay at the start; `None`: that of the link.
    fn first_delay(&self) -> Option<Duration> {
        self.has_delays.then(|| self.table.first_delay()).flatten()
    }
}

/// A port without its name, its buffer as in the scenario, and the path of its queue.
#[derive(Clone)]
pub(super) struct Half {
    pub port: Port,
    pub buffer: Buffer,
    pub place: Rc<str>,
    pub varying: Option<Varying>,
    /// For a reverse link without a queue of its own: the same with the queue of the link.
    pub with_queue_of_link: Option<Rc<Half>>,
    /// A reverse link with the queue of an interface in Linux, which is that of its host.
    pub is_of_host: bool,
}

/// Both directions of a link, with the paths of their queues.
#[derive(Clone)]
pub(super) struct Pair {
    pub there: Half,
    pub back: Option<Half>,
}

/// The links of a generator, one per style.
pub(super) fn pairs(made: &Made, context: &Context, report: &mut Report) -> Vec<Pair> {
    let one = |style: &Style| {
        let places = style.queues.map(|key| format!("{}.{key}", made.at));
        let back = if style.is_alike { made.at.to_string() } else { format!("{}.reverse", made.at) };
        pair(&style.link, [made.at, &back], places, context, report)
    };
    made.plan.styles.iter().map(one).collect()
}

/// Both directions of a link, without names. `at` and `places` are the paths of the links and of their queues.
pub(super) fn pair(link: &Link, [at, back_at]: [&str; 2], places: [String; 2], context: &Context, report: &mut Report) -> Pair {
    let transmitters = link.transmitters.0 as u32;
    let [there, back] = places;
    let direction = Direction {
        rate: &link.rate,
        delay: link.delay,
        queue: &link.queue,
        switching: link.switching,
        loss: link.loss.as_ref(),
        jitter: link.jitter.as_ref(),
        duplication: link.duplication,
        mtu: link.mtu,
    };
    direction.check_trace(transmitters, at, report);
    let varying = |table: &RateTable| Varying { table: table.clone(), has_delays: true, has_losses: true };
    let varying = link.rate.table().map(varying);
    let port = direction.port(transmitters, varying.as_ref(), [at, &there], context, report);
    let place: Rc<str> = there.into();
    let there =
        Half { port, buffer: link.queue.buffer, place: place.clone(), varying, with_queue_of_link: None, is_of_host: false };
    if !link.duplex {
        return Pair { there, back: None };
    }
    let unlimited = Queue::default();
    let usual = schema::Reverse::default();
    let reverse = link.reverse.as_ref().unwrap_or(&usual);
    let direction = Direction {
        rate: reverse.rate.as_ref().unwrap_or(&link.rate),
        delay: reverse.delay.unwrap_or(link.delay),
        queue: reverse.queue.as_ref().unwrap_or(&unlimited),
        switching: reverse.switching.unwrap_or(link.switching),
        loss: reverse.loss.as_ref(),
        jitter: reverse.jitter.as_ref(),
        duplication: reverse.duplication,
        mtu: reverse.mtu.or(link.mtu),
    };
    if reverse.rate.is_some() || reverse.switching.is_some() {
        direction.check_trace(transmitters, back_at, report);
    }
    // Rate and delay are inherited, losses are not.
    let is_own = reverse.rate.is_some();
    let has_delays = is_own || reverse.delay.is_none();
    let varying = direction.rate.table().map(|table| Varying { table: table.clone(), has_delays, has_losses: is_own });
    let port = direction.port(transmitters, varying.as_ref(), [back_at, &back], context, report);
    let back = Half {
        port,
        buffer: direction.queue.buffer,
        place: back.into(),
        varying: varying.clone(),
        with_queue_of_link: None,
        is_of_host: reverse.queue.as_ref().is_some_and(|queue| *queue == Queue::of_interface()),
    };
    if reverse.queue.is_some() {
        return Pair { there, back: Some(back) };
    }
    // Errors in the queue have been reported for the link.
    let port = Direction { queue: &link.queue, ..direction }.port(
        transmitters,
        varying.as_ref(),
        [back_at, &place],
        context,
        &mut report.aside(),
    );
    let with_queue_of_link = Half { port, buffer: link.queue.buffer, place, ..back.clone() };
    Pair { there, back: Some(Half { with_queue_of_link: Some(with_queue_of_link.into()), ..back }) }
}

/// What links refer to.
pub(super) struct Context<'d> {
    pub groups: &'d Groups<'d>,
}

const GIGABYTE: u64 = 1_000_000_000;

/// One direction of a link, as in the scenario.
struct Direction<'d> {
    rate: &'d LinkRate,
    delay: Duration,
    queue: &'d Queue,
    switching: Word<Switching>,
    loss: Option<&'d Loss>,
    jitter: Option<&'d Jitter>,
    duplication: Probability,
    mtu: Option<Size>,
}

impl Direction<'_> {
    /// Builds the port, without its name.
    fn port(
        &self,
        transmitters: u32,
        varying: Option<&Varying>,
        [at, queue_at]: [&str; 2],
        context: &Context,
        report: &mut Report,
    ) -> Port {
        let groups = context.groups;
        let rate = self.rate.mean().0 as f64 * f64::from(transmitters);
        let buffer = self.queue.resolved(rate, queue_at, report);
        let policy = policy_spec(&self.queue.policy, self.queue.buffer, buffer, queue_at, report);
        let scheduling = classes::scheduling(self.queue, buffer, policy.as_ref(), queue_at, groups, report);
        self.check_policers(policy.as_ref(), scheduling.as_ref(), rate, queue_at, report);
        self.check_loss(at, report);
        Port {
            name: String::new(),
            rate: self.rate.mean(),
            varying: self.rate.varying(),
            delay: varying.and_then(Varying::first_delay).unwrap_or(self.delay).time_delta(),
            transmitters,
            switching: self.switching.0,
            buffer: buffer.map_or(network::Buffer::Unlimited, Buffer::core),
            counts_in_service: self.queue.counts_in_service(),
            policy: policy.unwrap_or_default(),
            scheduling: scheduling.map(Box::new),
            shaper: self.shaper(rate, queue_at, report),
            random_loss: self.loss.map_or(0.0, |loss| loss.probability.0),
            listed_drops: self.listed_drops(at, groups, report),
            impairments: Impairments {
                loss_at: self.loss.map_or(LossAt::Wire, |loss| loss.at.0),
                bursts: self.bursts(at, report),
                jitter: self.jitter.map(|jitter| network::Jitter { delay: jitter.delay.delay(), reordering: jitter.reordering }),
                duplication: self.duplication.0,
                mtu: self.mtu(at, report),
            },
        }
    }

    /// `rate` is the total of all transmitters in bit/s.
    fn shaper(&self, rate: f64, queue_at: &str, report: &mut Report) -> Option<BucketSpec> {
        let shaper = self.queue.shaper.as_ref()?;
        let (at, burst) = (format!("{queue_at}.shaper"), shaper.burst.bytes());
        if !(1..=GIGABYTE).contains(&burst) && report.is_valid(&format!("{at}.burst")) {
            let problem = report.add(format!("{at}.burst"), "`burst` is out of range");
            problem.given(shaper.burst.to_string()).expected(format!("1 B to {}", Size::new(GIGABYTE)));
        }
        if shaper.rate.rate().0 as f64 >= rate && report.is_valid(&format!("{at}.rate")) {
            let problem = report.warn(format!("{at}.rate"), "`rate` of the shaper has no effect: the link is not faster");
            problem.given(shaper.rate.to_string()).expected(format!("less than {}", self.rate));
        }
        Some(BucketSpec { rate: shaper.rate.rate(), burst: Bytes(burst) })
    }

    /// Warns of policers in the queue or its classes. `rate` is the total of all transmitters in bit/s.
    fn check_policers(
        &self,
        policy: Option<&PolicySpec>,
        scheduling: Option<&Scheduling>,
        rate: f64,
        queue_at: &str,
        report: &mut Report,
    ) {
        let of_queue = policy.map(|policy| (queue_at.to_string(), policy));
        let of_classes = scheduling.map_or(&[][..], |scheduling| match &scheduling.queues {
            Queues::OfClasses(classes, _) => classes,
            _ => &[],
        });
        let of_classes = of_classes.iter().enumerate();
        let of_classes = of_classes.map(|(index, class)| (format!("{queue_at}.classes[{index}]"), &class.policy));
        for (at, policy) in of_queue.into_iter().chain(of_classes) {
            let Some(BucketSpec { rate: policed, .. }) = policy.bucket() else { continue };
            let at = format!("{at}.rate");
            if policed.0 as f64 >= rate && report.is_valid(&at) {
                let message = "`rate` of the policer has no effect: the link is not faster";
                let problem = report.warn(at, message);
                problem.given(Rate::new(policed.0).to_string()).expected(format!("less than {}", self.rate));
            }
        }
    }

    fn check_loss(&self, at: &str, report: &mut Report) {
        let at = format!("{at}.loss");
        let loses_nothing = |loss: &Loss| loss.probability.0 == 0.0 && loss.gilbert_elliott.is_none() && loss.drops.is_empty();
        if self.loss.is_some_and(loses_nothing) && report.is_valid(&at) {
            let problem = report.warn(at, "`loss` has no effect: it loses no packets");
            problem.expected("a `probability` above 0, `gilbert_elliott` or `drops` in it, or no `loss`");
        }
    }

    /// Reports settings that a rate that varies excludes: it is that of one transmitter, which sends whole packets.
    fn check_trace(&self, transmitters: u32, at: &str, report: &mut Report) {
        if self.rate.is_fixed() {
            return;
        }
        let transmitters_at = format!("{}.transmitters", at.strip_suffix(".reverse").unwrap_or(at));
        if transmitters > 1 && report.is_valid(&transmitters_at) {
            let problem = report.add(transmitters_at, "`transmitters` must be 1 on a link with a trace");
            problem.given(transmitters.to_string()).expected("1, or a rate such as `10 Mbps`");
        }
        let switching_at = format!("{at}.switching");
        if self.switching.0 == Switching::CutThrough && report.is_valid(&switching_at) {
            let problem = report.add(switching_at, "`switching` cannot be cut-through on a link with a trace");
            problem.given(self.switching.0.word()).expected("`store_and_forward`, or a rate such as `10 Mbps`");
        }
    }

    fn mtu(&self, at: &str, report: &mut Report) -> Option<Bytes> {
        let mtu = self.mtu?;
        let at = format!("{at}.mtu");
        if !(MIN_MTU..=MAX_MTU).contains(&mtu.bytes()) && report.is_valid(&at) {
            let problem = report.add(at, "`mtu` is out of range");
            problem.given(mtu.to_string()).expected(format!("{MIN_MTU} B to {MAX_MTU} B"));
        }
        Some(Bytes(mtu.bytes()))
    }

    fn bursts(&self, at: &str, report: &mut Report) -> Option<network::GilbertElliott> {
        let given = self.loss?.gilbert_elliott.as_ref()?;
        let at = format!("{at}.loss.gilbert_elliott.r");
        if given.r.0 == 0.0 && given.p.0 > 0.0 && report.is_valid(&at) {
            let problem = report.add(at, "`r` of 0 keeps the link in the bad state");
            problem.given("0").expected("a probability above 0, or `probability` alone for losses without bursts");
        } else if given.r.0 == 0.0 && given.p.0 == 0.0 && report.is_valid(&at) {
            let problem = report.add(at, "`p` and `r` of 0 keep the link in the good state");
            problem.given("p = 0, r = 0").expected("both above 0, or `probability` alone for losses without bursts");
        }
        let [p, r, loss_in_good, loss_in_bad] = [given.p, given.r, given.loss_in_good, given.loss_in_bad].map(|given| given.0);
        Some(network::GilbertElliott { p, r, loss_in_good, loss_in_bad })
    }

    fn listed_drops(&self, at: &str, groups: &Groups, report: &mut Report) -> Vec<ListedDrop> {
        let drops = self.loss.map_or(&[][..], |loss| &loss.drops);
        let mut faults = RepeatedErrors::default();
        let listed = |(position, drop): (usize, &schema::Drop), report: &mut Report| {
            let at = format!("{at}.loss.drops[{position}]");
            let key = if groups.knows(drop.group.as_str()) { "flow" } else { "group" };
            let flow = groups.flow(drop.group.as_str(), drop.flow.number(), &format!("{at}.{key}"), report)?;
            let at = format!("{at}.group");
            if groups.is_on_stack(drop.group.as_str()) && report.is_valid(&at) {
                let problem =
                    report.add(at, "`drops` lists segments of simulated TCP; packets of a `stack` have no such numbers");
                problem.given(format!("`{}`", drop.group)).expected("a simulated group, or `loss.probability` for random losses");
                return None;
            }
            Some(ListedDrop {
                flow,
                segment: SegmentNumber(drop.segment.0 as u32),
                transmission: drop.transmission.0 as u32,
                cell: drop.cell.map(|cell| cell.0 as u32),
            })
        };
        let told = |drop| report.among(&mut faults, |report| listed(drop, report));
        let found = drops.iter().enumerate().filter_map(told).collect();
        if let Some(problem) = faults.rest(format!("{at}.loss.drops"), "packets", report) {
            problem.expected("flows of the scenario");
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;
    use tailback_core::network::{Accounting, Buffer, Delay, GilbertElliott, Impairments, Jitter, LossAt, Network, VaryingRate};
    use tailback_core::primitives::units::{Bytes, Rate, TimeDelta};

    const WIRE: &str = "duration = \"1 s\"\n[nodes]\na = {}\nb = {}\n[flows.web]\nfrom = \"a\"\nto = \"b\"\ntcp = {preset = \"sack\"}\n\
        [links.wire]\nfrom = \"a\"\nto = \"b\"\ndelay = \"1 ms\"\nqueue = {buffer = \"50 %\", bdp_rtt = \"100 ms\"}\n";

    fn built(link: &str) -> (Scenario, Network) {
        let scenario = Scenario::from_toml(&format!("{WIRE}{link}"), "").unwrap_or_else(|errors| panic!("{errors}"));
        let network = scenario.build().unwrap_or_else(|errors| panic!("{errors}"));
        (scenario, network)
    }

    #[test]
    fn a_trace_applies_to_both_directions_and_its_mean_to_the_buffer() {
        // 3 x 12 kbit in 3 ms.
        let (scenario, network) = built("rate = {opportunities = [[1, 1], [3, 2]]}\n");
        let [there, back] = network.ports.as_slice() else { panic!("two ports") };
        assert_eq!((there.rate, back.rate), (Rate(12_000_000), Rate(12_000_000)));
        assert!(there.varying.as_ref().zip(back.varying.as_ref()).is_some_and(|(there, back)| there.shares_data_with(back)));
        // Half of 12 Mbit/s x 100 ms / 1500 B.
        assert_eq!(there.buffer, Buffer::Units(50));
        let again = Scenario::from_json(&scenario.to_json(), "").unwrap();
        assert_eq!((again.content_hash(""), again.build().unwrap()), (scenario.content_hash(""), network));
        assert!(scenario.to_json().contains("{\"opportunities\":[[1,1],[3,2]]}"));
    }

    #[test]
    fn the_accounting_of_a_trace_is_kept_and_mahimahi_s_is_the_default() {
        let accounting = |network: &Network| match &network.ports[0].varying {
            Some(VaryingRate::Opportunities(trace)) => trace.accounting(),
            other => panic!("{other:?}"),
        };
        let (_, usual) = built("rate = {opportunities = [[1, 1]]}\n");
        let (scenario, own) = built("rate = {opportunities = [[1, 1]], accounting = \"ip\"}\n");
        assert_eq!((accounting(&usual), accounting(&own)), (Accounting::Mahimahi, Accounting::Ip));
        let again = Scenario::from_json(&scenario.to_json(), "").unwrap();
        assert_eq!(again.build().unwrap(), own);
    }

    #[test]
    fn impairments_of_a_link_do_not_apply_to_its_reverse_link() {
        let link = "rate = \"1 Mbps\"\nduplication = \"1 %\"\njitter = {delay = {normal = {mean = \"5 ms\", deviation = \"1 ms\"}}}\n\
            loss = {at = \"before_queue\", gilbert_elliott = {p = \"1 %\", r = 0.5, loss_in_good = 0.001}}\n\
            reverse = {jitter = {delay = {exponential = \"2 ms\"}, reordering = true}}\n";
        let (scenario, network) = built(link);
        let delay = Delay::Normal(TimeDelta::from_millis(5), TimeDelta::from_millis(1));
        let there = Impairments {
            loss_at: LossAt::BeforeQueue,
            bursts: Some(GilbertElliott { p: 0.01, r: 0.5, loss_in_good: 0.001, loss_in_bad: 1.0 }),
            jitter: Some(Jitter { delay, reordering: false }),
            duplication: 0.01,
            mtu: None,
        };
        let jitter = Some(Jitter { delay: Delay::Exponential(TimeDelta::from_millis(2)), reordering: true });
        let back = Impairments { jitter, ..Impairments::default() };
        assert_eq!([network.ports[0].impairments, network.ports[1].impairments], [there, back]);
        let again = Scenario::from_json(&scenario.to_json(), "").unwrap();
        assert_eq!((again.content_hash(""), again.build().unwrap()), (scenario.content_hash(""), network));
        assert!(scenario.is_random());
    }

    #[test]
    fn an_mtu_applies_to_both_directions_and_to_all_simulated_packets() {
        let mtus = |link: &str| built(link).1.ports.into_iter().map(|port| port.impairments.mtu).collect::<Vec<_>>();
        let [large, small] = [Some(Bytes(1500)), Some(Bytes(68))];
        assert_eq!(mtus("rate = \"1 Mbps\"\nmtu = \"1500 B\"\n"), [large, large]);
        assert_eq!(mtus("rate = \"1 Mbps\"\nmtu = \"1500 B\"\nreverse = {mtu = \"68 B\"}\n"), [large, small]);
        let refused = |link: &str| {
            let scenario = Scenario::from_toml(&format!("{WIRE}rate = \"1 Mbps\"\n{link}"), "");
            scenario.and_then(|scenario| scenario.build()).unwrap_err().to_string()
        };
        let larger = refused("mtu = \"1499 B\"\n");
        assert!(larger.contains("packets of `web` are larger than the `mtu` of `wire`"), "{larger}");
        assert!(refused("mtu = \"67 B\"\n").contains("`mtu` is out of range"));
    }

    #[test]
    fn a_reverse_link_that_data_cross_has_the_queue_of_its_link() {
        // A quarter of 8 Mbit/s x 60 ms, and of 2 Mbit/s x 60 ms, in packets of 1500 bytes.
        let queue = "queue = {policy = \"pie\", buffer = \"25 %\", bdp_rtt = \"60 ms\", shaper = {rate = \"1 Mbps\", burst = \"15 kB\"}}\n";
        let buffers = |link: &str, more: &str| {
            let wire = WIRE.replace(
                "queue = {buffer = \"50 %\", bdp_rtt = \"100 ms\"}\n",
                &format!("rate = \"8 Mbps\"\n{queue}{link}{more}"),
            );
            let scenario = Scenario::from_toml(&wire, "").unwrap_or_else(|errors| panic!("{errors}"));
            let ports = scenario.build().unwrap_or_else(|errors| panic!("{errors}")).ports;
            assert_eq!(ports[0].policy == ports[1].policy, ports[0].shaper == ports[1].shaper);
            ports.into_iter().map(|port| port.buffer).collect::<Vec<_>>()
        };
        let back = "[flows.back]\nfrom = \"b\"\nto = \"a\"\n";
        let tcp = format!("{back}tcp = {{preset = \"sack\"}}\n");
        let datagrams = format!("{back}source = {{kind = \"constant\", rate = \"1 Mbps\", packet_size = \"100 B\"}}\n");
        let requests = "[flows.back]\nfrom = \"a\"\nto = \"b\"\ntcp = {preset = \"sack\"}\napplication = {kind = \"requests\", requests = 1, request_size = \"1 kB\", response_size = \"1 MB\"}\n";
        assert_eq!(buffers("", ""), [Buffer::Units(10), Buffer::Unlimited]);
        for data in [&tcp, &datagrams, requests] {
            assert_eq!(buffers("", data), [Buffer::Units(10); 2]);
        }
        assert_eq!(buffers("reverse = {rate = \"2 Mbps\"}\n", &tcp), [Buffer::Units(10), Buffer::Units(3)]);
        assert_eq!(buffers("reverse = {queue = {buffer = \"7 packets\"}}\n", &tcp), [Buffer::Units(10), Buffer::Units(7)]);
        assert_eq!(buffers("reverse = {queue = {buffer = \"unlimited\"}}\n", &tcp), [Buffer::Units(10), Buffer::Unlimited]);
        // Data take another reverse link from 0.5 s on. Ports are in the order of the links' names.
        let rerouted = "[links.other]\nfrom = \"b\"\nto = \"a\"\nrate = \"1 Gbps\"\ndelay = \"1 ms\"\nqueue = {buffer = \"9 packets\", policy = \"pie\", shaper = {rate = \"1 Mbps\", burst = \"15 kB\"}}\n\
            [[timeline]]\nat = \"0.5 s\"\ngroup = \"web\"\nroute = [\"other.reverse\"]\nreturn_route = [\"other\"]\n";
        assert_eq!(buffers("", rerouted)[..2], [Buffer::Units(9); 2]);
    }

    #[test]
    fn settings_without_effect_cause_warnings() {
        let warned = |link: &str| {
            let scenario = Scenario::from_toml(&format!("{WIRE}{link}"), "").unwrap_or_else(|errors| panic!("{errors}"));
            let (_, warnings) = scenario.build_with_warnings().unwrap_or_else(|errors| panic!("{errors}"));
            let first = |text: String| text.lines().next().unwrap_or_default().to_string();
            warnings.list.iter().map(|warning| warning.at.clone()).zip(warnings.texts().map(first)).collect::<Vec<_>>()
        };
        let of = |at: &str, message: &str| vec![(at.to_string(), message.to_string())];
        let nothing = "`loss` has no effect: it loses no packets";
        assert_eq!(warned("rate = \"1 Mbps\"\nloss = {}\n"), of("links.wire.loss", nothing));
        let back = "rate = \"1 Mbps\"\nreverse = {loss = {at = \"before_queue\"}}\n";
        assert_eq!(warned(back), of("links.wire.reverse.loss", nothing));
        assert_eq!(warned("rate = \"1 Mbps\"\nloss = {probability = 0.1}\n"), []);
        // Equal to the rate of the link, and less.
        let policed = |rate: &str, at: &str| {
            let policer = format!("policy = \"policer\", rate = \"{rate}\", burst = \"15 kB\"");
            let queue = format!("{{buffer = \"9 packets\", {policer}}}");
            let of_class = format!(
                "{{buffer = \"9 packets\", scheduler = \"drr\", classes = [{{name = \"a\", default = true, {policer}}}]}}"
            );
            let queue = if at.contains("classes") { of_class } else { queue };
            warned(&format!("rate = \"2 Mbps\"\nreverse = {{queue = {queue}}}\n"))
        };
        let message = "`rate` of the policer has no effect: the link is not faster";
        for at in ["links.wire.reverse.queue.rate", "links.wire.reverse.queue.classes[0].rate"] {
            assert_eq!(policed("2 Mbps", at), of(at, message));
            assert_eq!(policed("1999 kbps", at), []);
        }
    }
}
