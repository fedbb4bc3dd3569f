//! Time sequences of bpd-2001: figures 1, 2 and 4 (Reno), 19 (SACK), segment by segment. Of these drawings the paper's text gives
//! the window and the number of losses; which segments are lost is chosen here, and every sequence was worked out by hand.
//!
//! The link sends a segment in 1 ms and the empty round trip is 100 ms. The sender begins in congestion avoidance with a window of W.
//! A line of a sequence is an instant at the sender: milliseconds, what arrived, what was sent, what became of the window.
//!
//! * `ack 5`: acknowledges all below 5; `dup 5 #3`: the third duplicate of it
//! * `> 8`: segment 8 is sent; `> 3'`: it is sent again; `> 0-7`: several in order
//! * `cwnd 4`: in whole segments, without the inflation of fast recovery, where that or the threshold or the state changes

mod common;

use common::{first, floats, flow, group, one_link, port, reno, run, steady, trace};
use std::collections::BTreeMap;
use tailback_core::Results;
use tailback_core::base::units::{Rate, Span};
use tailback_core::network::{ListedDrop, Record, Trace, TraceKind};
use tailback_core::record::Column;
use tailback_core::tcp::RecoveryKind;

#[test]
fn x() {
    let mut out = String::new();
    for (k, w, lost) in [(RecoveryKind::Reno, 8, &[2][..]), (RecoveryKind::Reno, 8, &[2, 4]), (RecoveryKind::Reno, 24, &[0, 21, 22]), 
      (RecoveryKind::Sack, 8, &[2, 4]), (RecoveryKind::BpdSack, 8, &[2, 4]), (RecoveryKind::Sack, 24, &[0, 21, 22]), (RecoveryKind::BpdSack, 24, &[0, 21, 22])
    , (RecoveryKind::Sack, 8, &[2, 4,5,6]), (RecoveryKind::BpdSack, 8, &[2, 4,5,6])] {
        out += &format!("{k:?} {w} {lost:?}\n{}\n", transcript(&play(k, w, lost, 1300)));
    }
    panic!("{out}");
}

/// `window` segments under way from the start; those `lost` do not arrive the first time.
fn play(recovery: RecoveryKind, window: u32, lost: &[u32], milliseconds: u64) -> Results {
    let mut link = port("link", Rate(8_000_000), Span::from_millis(49));
    link.listed_drops = lost.iter().map(|&segment| ListedDrop { flow: 0, segment, transmission: 1 }).collect();
    // So fast that an acknowledgement takes a nanosecond.
    let reverse = port("reverse", Rate(320_000_000_000), Span::from_millis(50));
    let transport = reno(steady(recovery, window));
    let mut network = one_link([link, reverse], group("sender", transport), vec![flow()], Span::from_millis(milliseconds));
    let kinds = [TraceKind::Segments, TraceKind::Acks, TraceKind::Cwnd, TraceKind::Ssthresh, TraceKind::State];
    network.record = Record { traces: kinds.map(|kind| Trace { kind, of: vec![0] }).into(), delay_percentiles: false };
    run(network)
}

/// What a sender saw and did, a line per instant.
fn transcript(results: &Results) -> String {
    let mut lines: BTreeMap<i64, [String; 3]> = BTreeMap::new();
    let times = |name: &str| floats(trace(results, name), "time_s").into_iter().map(|time| (time * 1e3).round() as i64).collect::<Vec<_>>();
    let mut note = |time: i64, part: usize, words: String| {
        let text = &mut lines.entry(time).or_default()[part];
        *text = if text.is_empty() { words } else { format!("{text} {words}") };
    };
    let acks = floats(trace(results, "acks"), "ack");
    let duplicates = floats(trace(results, "acks"), "duplicate");
    let mut repeated = 0;
    for ((time, ack), duplicate) in times("acks").into_iter().zip(acks).zip(duplicates) {
        repeated = if duplicate == 1.0 { repeated + 1 } else { 0 };
        note(time, 0, if repeated == 0 { format!("ack {ack}") } else { format!("dup {ack} #{repeated}") });
    }
    let mut runs: Vec<(i64, u64, u64, bool)> = Vec::new();
    let segments = floats(trace(results, "segments"), "segment");
    let transmissions = floats(trace(results, "segments"), "transmission");
    for ((time, segment), transmission) in times("segments").into_iter().zip(segments).zip(transmissions) {
        let (segment, again) = (segment as u64, transmission > 1.0);
        match runs.last_mut().filter(|run| run.0 == time && run.2 + 1 == segment && run.3 == again) {
            Some(run) => run.2 = segment,
            None => runs.push((time, segment, segment, again)),
        }
    }
    for (time, from, to, again) in runs {
        let range = if from == to { format!("> {from}") } else { format!("> {from}-{to}") };
        note(time, 1, if again { range + "'" } else { range });
    }
    for name in ["cwnd", "ssthresh"] {
        let mut last = 0.0;
        for (time, value) in times(name).into_iter().zip(floats(trace(results, name), &format!("{name}_packets"))) {
            if value.floor() != last {
                last = value.floor();
                note(time, 2, format!("{name} {last}"));
            }
        }
    }
    if let Some(Column::Word(states, names)) = trace(results, "state").column("state") {
        times("state").into_iter().zip(states).for_each(|(time, &state)| note(time, 2, names[state as usize].clone()));
    }
    let line = |(time, [arrived, sent, window]): (i64, [String; 3])| format!("{time:5} {arrived:10} {sent:12} {window}").trim_end().to_string();
    lines.into_iter().map(line).collect::<Vec<_>>().join("\n")
}
