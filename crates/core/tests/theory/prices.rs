//! Price-based sources reach the theoretical allocation with every price scheme. For a parking lot it is known analytically.

use crate::common::{floats, flow, group, link, route, run, tcp};
use tailback_core::congestion::{ClampClientSpec, ControllerSpec, MaxNetSourceSpec, RcpSourceSpec, RemSourceSpec};
use tailback_core::network::*;
use tailback_core::price::{
    AdpmSpec, Feedback, Identification, Mapping, MappingKind, PriceSpec, RamSpec, RpmSpec, SchemeSpec, Thresholds, TpmSpec,
};
use tailback_core::price::{EcnBits, RemMarksSpec};
use tailback_core::primitives::units::{Bytes, Rate, TimeDelta};
use tailback_core::queue::{ClampSpec, MaxNetSpec, PolicySpec, RcpSpec, RemSpec, XcpSpec};
use tailback_core::tcp::{Recovery, TcpSpec};

/// Three links of 10 Mbit/s in a row, 5 ms each: flow 0 crosses all of them, flows 1 to 3 one each. Returns rates in the second half of the
/// run, as shares of a link.
fn parking_lot(policy: PolicySpec, laws: [ControllerSpec; 4], prices: PriceSpec, seconds: u64) -> Vec<f64> {
    let delay = TimeDelta::from_millis(5);
    let there = |hop: usize| Port { policy: policy.clone(), ..link(&format!("hop{hop}"), 10, delay, Buffer::Units(1000)) };
    let back = |hop: usize| link(&format!("back{hop}"), 10, delay, Buffer::Unlimited);
    let spec = TcpSpec { mss: Bytes(960), initial_window: 10.0, ..tcp(Recovery::NewReno) };
    let duration = TimeDelta::from_millis(1000 * seconds);
    let results = run(Network {
        ports: (0..3).map(there).chain((0..3).map(back)).collect(),
        paths: vec![route([0, 1, 2]), route([5, 4, 3]), route([0]), route([3]), route([1]), route([4]), route([2]), route([5])],
        groups: laws
            .into_iter()
            .zip(["long", "first", "second", "third"])
            .map(|(law, name)| group(name, Transport::Tcp(spec.clone(), law)))
            .collect(),
        flows: (0..4).map(|index| flow(index, 2 * index, 2 * index + 1)).collect(),
        messages: Default::default(),
        changes: Vec::new(),
        duration,
        warmup: TimeDelta(duration.0 / 2),
        seed: 1,
        record: Recording::default(),
        stepped: false,
        prices,
    });
    floats(&results.flows, "goodput_bps").into_iter().map(|goodput| goodput / 9.6e6).collect()
}

fn price_spec(scheme: SchemeSpec, kind: MappingKind, range: (f64, f64)) -> PriceSpec {
    let mapping = Mapping { kind, min: range.0, max: range.1, scale: 1.0 };
    PriceSpec { scheme, mapping, ..PriceSpec::default() }
}

fn near(rates: &[f64], expected: [f64; 4], within: f64, what: &str) {
    let is_near = rates.iter().zip(expected).all(|(rate, expected)| (rate / expected - 1.0).abs() < within);
    assert!(is_near, "{what}: {rates:?}, not {expected:?}");
}

fn adpm() -> SchemeSpec {
    SchemeSpec::Adpm(AdpmSpec { thresholds: Thresholds::ExclusiveOr, ..AdpmSpec::default() })
}

#[test]
fn maxnet_is_max_min_fair_with_any_scheme_that_estimates_the_maximum_price() {
    let target = 0.9;
    let policy = PolicySpec::MaxNet(MaxNetSpec { target, ..MaxNetSpec::default() });
    let source = MaxNetSourceSpec { max_rate: Rate(10_000_000), ..MaxNetSourceSpec::default() };
    let law = ControllerSpec::MaxNet(source);
    let half = [target / 2.0; 4];
    let rates = |prices| parking_lot(policy.clone(), [(); 4].map(|()| law.clone()), prices, 20);
    near(&rates(PriceSpec::default()), half, 0.005, "exact");
    let marked = price_spec(adpm(), MappingKind::Linear, (0.0, 10.0));
    near(&rates(marked), half, 0.02, "adpm");
    near(&rates(PriceSpec { feedback: Feedback::OneBit, ..marked }), half, 0.03, "adpm there and back");
    near(&rates(PriceSpec { identification: Identification::Checksum, ..marked }), half, 0.03, "adpm by checksums");
    let rpm = SchemeSpec::Rpm(RpmSpec { levels: 100, memory: 100 });
    near(&rates(price_spec(rpm, MappingKind::Linear, (0.0, 10.0))), half, 0.06, "rpm");
}

#[test]
fn weights_are_shares_of_the_bottleneck() {
    let policy = PolicySpec::MaxNet(MaxNetSpec { target: 0.9, ..MaxNetSpec::default() });
    let law =
        |weight| ControllerSpec::MaxNet(MaxNetSourceSpec { max_rate: Rate(10_000_000), weight, ..MaxNetSourceSpec::default() });
    let rates = parking_lot(policy, [2.0, 1.0, 1.0, 1.0].map(law), PriceSpec::default(), 20);
    near(&rates, [0.6, 0.3, 0.3, 0.3], 0.005, "a long flow of weight 2");
}

#[test]
fn rcp_is_max_min_fair_with_exact_prices_and_with_adpm() {
    let policy = PolicySpec::Rcp(RcpSpec { target: 0.95, ..RcpSpec::default() });
    let law = ControllerSpec::Rcp(RcpSourceSpec { slow_start: true, ..RcpSourceSpec::default() });
    let rates = |prices| parking_lot(policy.clone(), [(); 4].map(|()| law.clone()), prices, 20);
    // The long flow uses the minimum of three rates, which fluctuate a little.
    near(&rates(PriceSpec::default()), [0.475; 4], 0.02, "exact");
    // With marks the rates fluctuate more, and the estimate is the maximum price of a recent interval, so that the flow gets one tenth
    // less.
    near(&rates(price_spec(adpm(), MappingKind::Logarithmic, (1e-9, 1e-4))), [0.475; 4], 0.12, "adpm");
}

#[test]
fn xcp_is_max_min_fair_except_for_shuffling_at_other_queues() {
    // Shuffling takes some of the rate of a flow that another queue limits (Low, Andrew and Wydrowski, "Understanding XCP", INFOCOM 2005).
    let policy = PolicySpec::Xcp(XcpSpec::default());
    let rates = parking_lot(policy, [(); 4].map(|()| ControllerSpec::Xcp(())), PriceSpec::default(), 30);
    near(&rates, [0.5; 4], 0.1, "xcp");
}

#[test]
fn clamp_is_proportionally_fair() {
    // The rate of each flow is its backlog over the sum of the waits.
    let policy = PolicySpec::Clamp(ClampSpec::default());
    let laws =
        |weights: [f64; 4]| weights.map(|weight| ControllerSpec::Clamp(ClampClientSpec { weight, ..ClampClientSpec::default() }));
    let rates = |weights, prices| parking_lot(policy.clone(), laws(weights), prices, 60);
    near(&rates([1.0; 4], PriceSpec::default()), [0.25, 0.75, 0.75, 0.75], 0.05, "exact");
    near(
        &rates([6.0, 1.0, 1.0, 1.0], PriceSpec::default()),
        [2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0],
        0.05,
        "a long flow of weight 6",
    );
    let sums = price_spec(SchemeSpec::Ram(RamSpec { memory: 300 }), MappingKind::Linear, (0.0, 0.1));
    near(&rates([1.0; 4], sums), [0.25, 0.75, 0.75, 0.75], 0.15, "ram");
}

#[test]
fn rem_is_proportionally_fair_with_any_scheme_that_estimates_the_sum() {
    // The long flow pays three prices: it gets a quarter of each link, and the others three quarters. A price is then 1 over 7.5.
    let policy = PolicySpec::Rem(RemSpec {
        target: 10.into(),
        alpha: 0.1,
        gamma: 0.0002,
        phi: 1.001,
        period: TimeDelta::from_millis(2),
        mean_packet_size: 1000,
    });
    let source = RemSourceSpec { weight: Rate(1_000_000), max_rate: Rate(10_000_000), slow_start: true };
    let shares = [0.25, 0.75, 0.75, 0.75];
    let rates = |prices| parking_lot(policy.clone(), [(); 4].map(|()| ControllerSpec::Rem(source)), prices, 60);
    near(&rates(PriceSpec::default()), shares, 0.01, "exact");
    let sums = |scheme| price_spec(scheme, MappingKind::Linear, (0.0, 0.5));
    near(&rates(sums(SchemeSpec::Ram(RamSpec { memory: 300 }))), shares, 0.1, "ram");
    near(&rates(sums(SchemeSpec::RemMarks(RemMarksSpec { phi: 10.0, memory: 300 }))), shares, 0.1, "rem");
    for ecn_bits in [EcnBits::One, EcnBits::Two] {
        near(&rates(sums(SchemeSpec::Tpm(TpmSpec { bits: 8, hops: 3, ecn_bits }))), shares, 0.1, "tpm");
    }
}
