//! Tables of rate, delay and loss of a link: units, defaults of the reverse link, and the places of errors.

use crate::input_files::beside;
use tailback_core::network::{Change, ChangeKind, PortId};
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_scenario::Scenario;

fn scenario(more: &str) -> String {
    format!(
        "duration = \"5 s\"\n[topology.dumbbell]\nrate = {{trace = \"leo.csv\"}}\ndelay = \"30 ms\"\nqueue = {{buffer = \"50 packets\"}}\n{more}\
         [flows.web]\nfrom = \"left\"\nto = \"right\"\ntcp = {{preset = \"newreno\"}}\n"
    )
}

const LEO: &str = "at_s,rate_Mbps,delay_ms,loss\n0,12,20,0\n1,24,35,1 %\n2,0,35,0.5\n";

fn changes(more: &str) -> Vec<Change> {
    let read = beside("leo.csv", LEO, &scenario(more)).unwrap();
    let network = read.build().unwrap();
    let again = Scenario::from_json(&read.to_json(), "").unwrap();
    assert_eq!((again.to_json(), &again.build().unwrap()), (read.to_json(), &network));
    // 12 and 24 Mbit in the first two seconds, none in the third, and 12 Mbit in the fourth.
    let rate = network.ports[0].varying.clone().unwrap();
    let megabits =
        |seconds: u64| rate.mean_rate_before(Time::ZERO + TimeDelta::from_millis(1000 * seconds)) * seconds as f64 / 1e6;
    assert_eq!([1, 2, 3, 4].map(megabits), [12.0, 36.0, 36.0, 48.0]);
    // The delay at the start is that of the first row.
    assert_eq!((network.ports[0].rate.0, network.ports[0].delay), (12_000_000, TimeDelta::from_millis(20)));
    let base_rtt = network.base_rtt(&network.flows[0]).0 / 1_000_000_000;
    assert_eq!(base_rtt, if more.contains("\"9 ms\"") { 30 } else { 41 });
    network.changes
}

#[test]
fn a_table_has_rates_delays_and_losses() {
    let forward = PortId(0);
    let delay = |seconds: u64, port, ms| Change {
        at: Time::ZERO + TimeDelta::from_millis(1000 * seconds),
        what: ChangeKind::Delay(PortId(port), TimeDelta::from_millis(ms)),
    };
    let loss = |seconds: u64, share| Change {
        at: Time::ZERO + TimeDelta::from_millis(1000 * seconds),
        what: ChangeKind::RandomLoss(forward, share),
    };
    let found = changes("");
    let of_port = |port: u32| -> Vec<Change> {
        let of =
            |change: &&Change| matches!(change.what, ChangeKind::Delay(of, _) | ChangeKind::RandomLoss(of, _) if of.0 == port);
        found.iter().filter(of).cloned().collect()
    };
    let wanted = [
        delay(0, 0, 20),
        loss(0, 0.0),
        delay(1, 0, 35),
        loss(1, 0.01),
        loss(2, 0.5),
        delay(3, 0, 20),
        loss(3, 0.0),
        delay(4, 0, 35),
        loss(4, 0.01),
    ];
    assert_eq!(of_port(0), wanted);
    // The reverse link has the same rates and delays, and its own losses.
    assert_eq!(of_port(1), [delay(0, 1, 20), delay(1, 1, 35), delay(3, 1, 20), delay(4, 1, 35)]);
    assert!(
        changes("reverse = {delay = \"9 ms\"}\n").iter().all(|change| !matches!(change.what, ChangeKind::Delay(PortId(1), _)))
    );
}

#[test]
fn invalid_tables_are_refused() {
    let wrong = |text: &str| beside("leo.csv", text, &scenario("")).unwrap_err();
    for (text, says) in [
        ("at_s,rate_Mbps\n0,12\n1,-1\n", "rate.trace[leo.csv line 3].rate"),
        ("at_s,rate_Mbps\n0,12\n", "has fewer than two rows"),
        ("at_s,rate_Mbps\n5,12\n2,3\n", "`at` is negative"),
        ("at_s,rate_Mbps\n0,12\n0,3\n", "is not in the order of time"),
        ("at_s,rate_Mbps\n0,0\n1,0\n", "has no rate above 0"),
        ("at_s,speed\n0,12\n1,3\n", "has no column `rate`"),
        ("at_s,rate_Mbps,loss\n0,12,0\n1,3,\n", "rate.trace[leo.csv line 3].loss"),
    ] {
        assert!(wrong(text).contains(says), "{text}{}", wrong(text));
    }
}

#[test]
fn a_file_of_delays_has_one_rate_and_begins_at_any_time() {
    let of_rate =
        |text: &str, rate: &str| beside("leo.csv", text, &scenario("").replace("\"leo.csv\"", &format!("\"leo.csv\"{rate}")));
    let delays = "at_s,delay_ms\n1700000000.5,20\n1700000001.5,35\n1700000002.5,20\n";
    let network = of_rate(delays, ", rate = \"10 Mbps\"").unwrap().build().unwrap();
    assert_eq!((network.ports[0].rate.0, network.ports[0].delay), (10_000_000, TimeDelta::from_millis(20)));
    let first: Vec<u64> = network.changes.iter().map(|change| change.at.0 / 1_000_000_000).filter(|&ms| ms > 0).take(2).collect();
    assert_eq!(first, [1000, 1000]);
    let says = |text: &str, rate: &str| of_rate(text, rate).unwrap_err();
    assert!(says(delays, "").contains("has no column `rate`"), "{}", says(delays, ""));
    assert!(says(LEO, ", rate = \"10 Mbps\"").contains("has a column `rate`"), "{}", says(LEO, ", rate = \"10 Mbps\""));
}
