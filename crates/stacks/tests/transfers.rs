//! Transfers of the stacks over a simulated dumbbell.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::{Ipv4Addr, SocketAddrV4};
use tailback_core::primitives::units::{Bytes, Time};
use tailback_host::{Host, Outcome, Testbed};
use tailback_scenario::Scenario;
use tailback_stacks::quinn::Crypto;
use tailback_stacks::{Transfer, noq, quinn, smoltcp};

fn scenario(buffer: &str, more: &str) -> Scenario {
    let text = format!(
        "duration = \"20 s\"\nwarmup = \"5 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"20 ms\"\nqueue = {{buffer = \"{buffer}\"}}\n{more}\n"
    );
    Scenario::from_toml(&text, "").unwrap()
}

/// Runs a transfer from left to right. Returns the outcome and the addresses.
fn transferred<S: Host, R: Host>(
    scenario: &Scenario,
    size: Option<u64>,
    ends: impl FnOnce(Transfer) -> (S, R),
) -> (Outcome, Ipv4Addr, Ipv4Addr) {
    let mut testbed = Testbed::new(scenario, &[]).unwrap();
    let [left, right] = ["left", "right"].map(|name| testbed.address(name).unwrap());
    let transfer = Transfer {
        local: SocketAddrV4::new(left, 50_000),
        remote: SocketAddrV4::new(right, 443),
        start: Time::ZERO,
        stop: Time::NEVER,
        size: size.map(Bytes),
    };
    attach(&mut testbed, transfer, ends);
    let outcome = testbed.run().unwrap();
    assert_eq!(outcome.fault, None);
    (outcome, left, right)
}

fn attach<S: Host, R: Host>(testbed: &mut Testbed, transfer: Transfer, ends: impl FnOnce(Transfer) -> (S, R)) {
    let (sender, receiver) = ends(transfer);
    testbed.attach(*transfer.local.ip(), sender).unwrap();
    testbed.attach(*transfer.remote.ip(), receiver).unwrap();
}

fn of_quinn(settings: quinn::Settings) -> impl Fn(Transfer) -> (quinn::Quinn, quinn::Quinn) {
    move |transfer| (quinn::Quinn::sender(&settings, transfer), quinn::Quinn::receiver(&settings, transfer.remote))
}

fn of_noq(settings: noq::Settings) -> impl Fn(Transfer) -> (noq::Noq, noq::Noq) {
    move |transfer| (noq::Noq::sender(&settings, transfer), noq::Noq::receiver(&settings, transfer.remote))
}

fn of_smoltcp(settings: smoltcp::Settings) -> impl Fn(Transfer) -> (smoltcp::Smoltcp, smoltcp::Smoltcp) {
    move |transfer| (smoltcp::Smoltcp::sender(&settings, transfer), smoltcp::Smoltcp::receiver(&settings, transfer.remote))
}

const QUINN: [quinn::Congestion; 3] = [quinn::Congestion::Cubic, quinn::Congestion::NewReno, quinn::Congestion::Bbr];
const NOQ: [noq::Congestion; 2] = [noq::Congestion::Cubic, noq::Congestion::NewReno];
const SMOLTCP: [smoltcp::Congestion; 2] = [smoltcp::Congestion::Reno, smoltcp::Congestion::Cubic];

#[test]
fn every_byte_of_a_transfer_arrives_once_despite_losses() {
    let scenario = scenario("20 packets", "loss = {probability = \"1 %\"}");
    let size = 1_000_000;
    for congestion in QUINN {
        let settings = quinn::Settings { congestion, ..quinn::Settings::default() };
        let (outcome, left, right) = transferred(&scenario, Some(size), of_quinn(settings));
        let ended = outcome.host::<quinn::Quinn>(left).unwrap().ended();
        assert_eq!(outcome.host::<quinn::Quinn>(right).unwrap().received(), size, "{congestion:?} {ended:?}");
    }
    let settings = quinn::Settings { crypto: Crypto::Rustls, ..quinn::Settings::default() };
    let (outcome, _, right) = transferred(&scenario, Some(size), of_quinn(settings));
    assert_eq!(outcome.host::<quinn::Quinn>(right).unwrap().received(), size);
    for (congestion, crypto) in NOQ.map(|congestion| (congestion, Crypto::Null)).into_iter().chain([(NOQ[0], Crypto::Rustls)]) {
        let settings = noq::Settings { congestion, crypto, ..noq::Settings::default() };
        let (outcome, _, right) = transferred(&scenario, Some(size), of_noq(settings));
        assert_eq!(outcome.host::<noq::Noq>(right).unwrap().received(), size, "{congestion:?} {crypto:?}");
    }
    for congestion in SMOLTCP {
        let settings = smoltcp::Settings { congestion, ..smoltcp::Settings::default() };
        let (outcome, _, right) = transferred(&scenario, Some(size), of_smoltcp(settings));
        assert_eq!(outcome.host::<smoltcp::Smoltcp>(right).unwrap().received(), size, "{congestion:?}");
    }
}

#[test]
fn without_congestion_control_the_receiver_window_limits_smoltcp() {
    let window = 20_000;
    let settings = smoltcp::Settings { congestion: smoltcp::Congestion::None, buffer: window, ..smoltcp::Settings::default() };
    let (outcome, _, right) = transferred(&scenario("50 packets", ""), None, of_smoltcp(settings));
    // At most a window in each round trip of 40 ms.
    let received = outcome.host::<smoltcp::Smoltcp>(right).unwrap().received();
    let most = window as u64 * 500;
    assert!((most * 3 / 4..=most).contains(&received), "{received} of {most}");
}

fn utilisation(outcome: &Outcome) -> f64 {
    outcome.results.queues.floats("utilisation").unwrap()[0]
}

#[test]
fn a_buffer_of_a_bandwidth_delay_product_is_filled() {
    let scenario = scenario("50 packets", "");
    for congestion in QUINN {
        let settings = quinn::Settings { congestion, ..quinn::Settings::default() };
        let (outcome, ..) = transferred(&scenario, None, of_quinn(settings));
        assert!(utilisation(&outcome) > 0.9, "{congestion:?} {}", utilisation(&outcome));
    }
    for congestion in NOQ {
        let settings = noq::Settings { congestion, ..noq::Settings::default() };
        let (outcome, ..) = transferred(&scenario, None, of_noq(settings));
        assert!(utilisation(&outcome) > 0.9, "{congestion:?} {}", utilisation(&outcome));
    }
    for congestion in SMOLTCP {
        let settings = smoltcp::Settings { congestion, ..smoltcp::Settings::default() };
        let (outcome, ..) = transferred(&scenario, None, of_smoltcp(settings));
        assert!(utilisation(&outcome) > 0.5, "{congestion:?} {}", utilisation(&outcome));
    }
}

#[test]
fn repeated_runs_have_the_same_bytes() {
    let scenario = scenario("20 packets", "loss = {probability = \"1 %\"}");
    let folder = std::env::temp_dir().join(format!("tailback-stacks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let run = |stack: &str, number: u32| {
        let file = folder.join(format!("{stack}{number}.pcapng"));
        let mut testbed = Testbed::new(&scenario, &[]).unwrap();
        testbed.capture_to(&file).unwrap();
        let [left, right] = ["left", "right"].map(|name| testbed.address(name).unwrap());
        let (local, remote) = (SocketAddrV4::new(left, 50_000), SocketAddrV4::new(right, 443));
        let transfer = Transfer { local, remote, start: Time::ZERO, stop: Time::NEVER, size: None };
        match stack {
            "quinn" => attach(&mut testbed, transfer, of_quinn(quinn::Settings::default())),
            "quinn-bbr" => {
                let settings = quinn::Settings { congestion: quinn::Congestion::Bbr, ..quinn::Settings::default() };
                attach(&mut testbed, transfer, of_quinn(settings));
            }
            "quinn-rustls" => {
                let settings = quinn::Settings { crypto: Crypto::Rustls, ..quinn::Settings::default() };
                attach(&mut testbed, transfer, of_quinn(settings));
            }
            "noq" => attach(&mut testbed, transfer, of_noq(noq::Settings::default())),
            "noq-rustls" => {
                let settings = noq::Settings { crypto: Crypto::Rustls, ..noq::Settings::default() };
                attach(&mut testbed, transfer, of_noq(settings));
            }
            _ => attach(&mut testbed, transfer, of_smoltcp(smoltcp::Settings::default())),
        }
        (testbed.run().unwrap().results.bytes(), std::fs::read(file).unwrap())
    };
    for stack in ["quinn", "quinn-bbr", "quinn-rustls", "noq", "noq-rustls", "smoltcp"] {
        let (first, second) = (run(stack, 1), run(stack, 2));
        assert!(first.1.len() > 1_000_000);
        assert!(first == second, "{stack}");
        // Applications send zeros, and captures contain the first 256 bytes of a packet.
        let has_data = first.1.windows(128).any(|bytes| bytes == [0; 128]);
        assert_eq!(has_data, !stack.ends_with("rustls"), "{stack}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn transfers_of_a_group_have_completion_times() {
    let web = "[flows.web]\ncount = 3\nfrom = \"left\"\nto = \"right\"\nstart = {evenly = [\"6 s\", \"9 s\"]}\nsize = \"500 kB\"\n\
               tcp = {preset = \"cubic\"}";
    let mut testbed = Testbed::new(&scenario("200 packets", web), &["web"]).unwrap();
    for of in testbed.transfers("web").unwrap().to_vec() {
        let (local, remote) = (SocketAddrV4::new(of.from, 50_000), SocketAddrV4::new(of.to, 443));
        let transfer = Transfer { local, remote, start: of.start, stop: of.stop, size: of.size };
        attach(&mut testbed, transfer, of_quinn(quinn::Settings::default()));
    }
    let Outcome { results, .. } = testbed.run().unwrap();
    let of = |column: &str| results.flows.floats(column).unwrap()[..3].to_vec();
    assert_eq!(of("start_s"), [6.5, 7.5, 8.5]);
    // Each has the link alone: one and a half round trips of 40 ms, and at least 0.4 s for its data.
    assert!(of("completion_time_s").iter().all(|time| (0.46..0.8).contains(time)), "{:?}", of("completion_time_s"));
    for (rate, time) in of("transfer_rate_bps").iter().zip(of("completion_time_s")) {
        assert!((rate * time - 4e6).abs() < 1e-3);
    }
    assert_eq!(results.groups.floats("completed").unwrap()[0], 3.0);
}
