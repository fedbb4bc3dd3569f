//! Time sequences of bpd-2001: figures 1, 2 and 4 (Reno), 19 (SACK), segment by segment. The text of the paper gives the window and the
//! number of losses of these figures. The lost segments are chosen here, and every sequence was worked out by hand, as were those of
//! RACK-TLP recovery (RFC 8985, RFC 9937).
//!
//! The link sends a segment in 1 ms and the empty round trip is 100 ms. The sender begins in congestion avoidance with a window of W. A
//! line of a sequence is an instant at the sender: milliseconds, arrivals, transmissions, changes of the window.
//!
//! * `ack 5`: acknowledges all segments below 5; `dup 5 #3`: its third duplicate
//! * `> 8`: segment 8 is sent; `> 3'`: it is retransmitted, `> 3''` for a second time; `> 0-7`: several in order
//! * `cwnd 4`: in whole segments, without the inflation of fast recovery; window, threshold and state are listed where they change
//! * after `--`: explanation

use crate::common::{first, floats, flow, group, one_link, port, reno, run, steady, trace};
use std::collections::BTreeMap;
use tailback_core::Results;
use tailback_core::network::{Change, ChangeKind, Flow, FlowId, ListedDrop, Network, PortId, Recording, Trace, TraceKind};
use tailback_core::primitives::segment_number::SegmentNumber;
use tailback_core::primitives::units::{Bytes, Rate, Time, TimeDelta};
use tailback_core::record::Column;
use tailback_core::tcp::{Recovery, TcpSpec};

#[test]
fn figure_1_one_loss_of_eight_is_repaired_by_fast_retransmit() {
    let run = play(Recovery::Reno, 8, &[2]);
    run.assert_begins(
        "   0            > 0-7   cwnd 8 ssthresh 8 congestion_avoidance
          100 ack 1      > 8
          101 ack 2      > 9                                        -- una 2: the window is 2-9 and full
          102 dup 2 #1                                              -- for 3; 2 is lost
          103 dup 2 #2
          104 dup 2 #3   > 2'    cwnd 4 ssthresh 4 recovery         -- W/2 = 4; 4 + 3 from 2: up to 8
          105 dup 2 #4                                              -- up to 9
          106 dup 2 #5   > 10                                       -- for 7; W/2 - N = 3 new ones from here
          200 dup 2 #6   > 11                                       -- for 8
          201 dup 2 #7   > 12                                       -- for 9, the last: W - N = 7 duplicates
          204 ack 10     > 13    congestion_avoidance               -- 2' arrived; una 10, four from there: up to 13
          206 ack 11     > 14
          300 ack 12     > 15
          301 ack 13     > 16
          304 ack 14     > 17                                       -- 4 + 1/4 + 1/4.25 + 1/4.49 + 1/4.71 = 4.92
          306 ack 15     > 18-19 cwnd 5",
    );
    assert_eq!((run.fast_retransmits, run.timeouts), (1.0, 0.0));
}

#[test]
fn figure_2_the_second_of_two_losses_of_eight_waits_for_the_timer() {
    let run = play(Recovery::Reno, 8, &[2, 4]);
    run.assert_begins(
        "   0            > 0-7   cwnd 8 ssthresh 8 congestion_avoidance
          100 ack 1      > 8
          101 ack 2      > 9
          102 dup 2 #1                                              -- for 3; 2 and 4 are lost
          103 dup 2 #2                                              -- for 5
          104 dup 2 #3   > 2'    cwnd 4 ssthresh 4 recovery
          105 dup 2 #4                                              -- for 7: up to 9
          200 dup 2 #5   > 10                                       -- for 8; W/2 - N = 2 new ones
          201 dup 2 #6   > 11                                       -- for 9: W - N = 6 duplicates
          204 ack 4      congestion_avoidance                       -- una 4, four from there: up to 7, all sent
          300 dup 4 #1                                              -- for 10
          301 dup 4 #2                                              -- for 11, and nothing is under way: one too few
         1204            > 4'    cwnd 1 ssthresh 2 timeout slow_start  -- 1 s after ack 4 had restarted the timer
         1304 ack 12     > 12-13 cwnd 2 congestion_avoidance",
    );
    assert_eq!((run.fast_retransmits, run.timeouts), (1.0, 1.0));
}

#[test]
fn figure_4_three_losses_of_24_are_repaired_if_the_first_two_are_21_apart() {
    let run = play(Recovery::Reno, 24, &[0, 21, 22]);
    run.assert_begins(
        "   0            > 0-23  cwnd 24 ssthresh 24 congestion_avoidance
          100 dup 0 #1                                              -- for 1; 0, 21 and 22 are lost
          101 dup 0 #2
          102 dup 0 #3   > 0'    cwnd 12 ssthresh 12 recovery       -- 12 + 3 from 0: up to 14
          103 dup 0 #4
          104 dup 0 #5
          105 dup 0 #6
          106 dup 0 #7
          107 dup 0 #8
          108 dup 0 #9
          109 dup 0 #10
          110 dup 0 #11
          111 dup 0 #12                                             -- up to 23
          112 dup 0 #13  > 24                                       -- W/2 - N = 9 new ones from here
          113 dup 0 #14  > 25
          114 dup 0 #15  > 26
          115 dup 0 #16  > 27
          116 dup 0 #17  > 28
          117 dup 0 #18  > 29
          118 dup 0 #19  > 30
          119 dup 0 #20  > 31
          120 dup 0 #21  > 32                                       -- for 23, the last: W - N = 21 duplicates
          202 ack 21     congestion_avoidance                       -- twelve from 21: up to 32, all sent
          212 dup 21 #1                                             -- for 24
          213 dup 21 #2
          214 dup 21 #3  > 21'   cwnd 6 ssthresh 6 recovery         -- 6 + 3 from 21: up to 29
          215 dup 21 #4
          216 dup 21 #5
          217 dup 21 #6                                             -- up to 32
          218 dup 21 #7  > 33                                       -- n2 - n1 - 3W/4 = 3 new ones
          219 dup 21 #8  > 34
          220 dup 21 #9  > 35
          314 ack 22     congestion_avoidance                       -- six from 22: up to 27
          318 dup 22 #1
          319 dup 22 #2
          320 dup 22 #3  > 22'   cwnd 3 ssthresh 3 recovery         -- for 35: just enough
          420 ack 36     > 36-38 congestion_avoidance",
    );
    assert_eq!((run.fast_retransmits, run.timeouts), (3.0, 0.0));

    let closer = play(Recovery::Reno, 24, &[0, 20, 22]);
    assert_eq!((closer.fast_retransmits, closer.timeouts), (2.0, 1.0));
}

#[test]
fn figure_19_sack_repairs_the_losses_of_figure_2_without_a_timeout() {
    // RFC 6675: pipe counts segments that are neither SACKed nor lost, and retransmissions; 4 is lost once 5, 6 and 7 are SACKed.
    let run = play(Recovery::Sack, 8, &[2, 4]);
    run.assert_begins(
        "   0            > 0-7   cwnd 8 ssthresh 8 congestion_avoidance
          100 ack 1      > 8
          101 ack 2      > 9
          102 dup 2 #1                                              -- SACK 3
          103 dup 2 #2                                              -- SACK 3, 5
          104 dup 2 #3   > 2'    cwnd 4 ssthresh 4 recovery         -- SACK 3, 5, 6; pipe 2', 4, 7, 8, 9: five
          105 dup 2 #4   > 4'                                       -- SACK 7; pipe 2', 8, 9, and now 4'
          200 dup 2 #5   > 10                                       -- SACK 8; pipe 2', 4', 9, and now 10
          201 dup 2 #6   > 11                                       -- SACK 9
          204 ack 4      > 12                                       -- 2' arrived
          205 ack 10     > 13    congestion_avoidance               -- 4' arrived: all that was outstanding at 104
          300 ack 11     > 14",
    );
    assert_eq!((run.fast_retransmits, run.timeouts), (1.0, 0.0));

    // Section 6.1: pipe is W - 3 at first, plus one per segment sent, minus one per duplicate, minus two per partial acknowledgement.
    let run = play(Recovery::BpdSack, 8, &[2, 4]);
    run.assert_begins(
        "   0            > 0-7   cwnd 8 ssthresh 8 congestion_avoidance
          100 ack 1      > 8
          101 ack 2      > 9
          102 dup 2 #1
          103 dup 2 #2
          104 dup 2 #3   > 2'    cwnd 4 ssthresh 4 recovery         -- pipe 8 - 3 + 1 = 6
          105 dup 2 #4                                              -- pipe 5
          200 dup 2 #5                                              -- pipe 4 = W/2
          201 dup 2 #6   > 4'                                       -- pipe 3, now 4
          204 ack 4      > 10-11                                    -- pipe 2, now 4
          301 ack 10     > 12-13 congestion_avoidance               -- una 10, four from there: up to 13
          304 ack 11     > 14",
    );
    assert_eq!((run.fast_retransmits, run.timeouts), (1.0, 0.0));
}

#[test]
fn sack_repairs_the_losses_of_figure_4_in_one_recovery() {
    let run = play(Recovery::Sack, 24, &[0, 21, 22]);
    run.assert_from(
        112,
        "112 dup 0 #13  > 24                                       -- pipe 13-23 and 0': twelve, now eleven and 24
         113 dup 0 #14  > 25
         114 dup 0 #15  > 26
         115 dup 0 #16  > 27
         116 dup 0 #17  > 28
         117 dup 0 #18  > 29
         118 dup 0 #19  > 30
         119 dup 0 #20  > 31
         120 dup 0 #21  > 32                                       -- SACK 23
         202 ack 21     > 33                                       -- pipe 21, 22, 24-32: eleven
         212 dup 21 #1  > 34                                       -- SACK 24
         213 dup 21 #2  > 21-22' > 35                              -- SACK 25: 21 and 22 are lost; pipe 26-34: nine
         214 dup 21 #3  > 36
         215 dup 21 #4  > 37
         216 dup 21 #5  > 38
         217 dup 21 #6  > 39
         218 dup 21 #7  > 40
         219 dup 21 #8  > 41
         220 dup 21 #9  > 42                                       -- SACK 32
         302 dup 21 #10 > 43
         312 dup 21 #11 > 44
         313 ack 22     > 45                                       -- 21' arrived
         314 ack 35     > 46    congestion_avoidance               -- 22' arrived",
    );
    assert_eq!((run.fast_retransmits, run.timeouts), (1.0, 0.0));

    let run = play(Recovery::BpdSack, 24, &[0, 21, 22]);
    run.assert_from(
        112,
        "112 dup 0 #13                                             -- pipe 24 - 3 + 1 - 10 = 12
         113 dup 0 #14  > 24
         114 dup 0 #15  > 25
         115 dup 0 #16  > 26
         116 dup 0 #17  > 27
         117 dup 0 #18  > 28
         118 dup 0 #19  > 29
         119 dup 0 #20  > 30
         120 dup 0 #21  > 21'                                      -- SACK 23: now 21 and 22 are holes
         202 ack 21     > 22' > 31                                 -- pipe 10
         213 dup 21 #1  > 32                                       -- SACK 24
         214 dup 21 #2  > 33
         215 dup 21 #3  > 34
         216 dup 21 #4  > 35
         217 dup 21 #5  > 36
         218 dup 21 #6  > 37
         219 dup 21 #7  > 38                                       -- SACK 30
         220 ack 22     > 39-40                                    -- pipe 10
         302 ack 31     > 41-42 congestion_avoidance               -- twelve from 31: up to 42",
    );
    assert_eq!((run.fast_retransmits, run.timeouts), (1.0, 0.0));
}

#[test]
fn rack_repairs_one_loss_of_eight_like_sack_once_three_are_sacked() {
    let run = play(Recovery::RackTlp, 8, &[2]);
    run.assert_begins(
        "   0            > 0-7   cwnd 8 ssthresh 8 congestion_avoidance
          100 ack 1      > 8
          101 ack 2      > 9
          102 dup 2 #1                                              -- SACK 3: 2 may yet come, for 100/4 ms
          103 dup 2 #2
          104 dup 2 #3   > 2'    cwnd 4 ssthresh 4 recovery         -- RecoverFS 8 - 2; in flight 6-9: as many as ssthresh, but 2' is forced
          105 dup 2 #4                                              -- in flight 2', 7, 8, 9
          106 dup 2 #5   > 10                                       -- in flight 2', 8, 9: one more
          200 dup 2 #6   > 11
          201 dup 2 #7   > 12
          204 ack 10     > 13    congestion_avoidance               -- 2' arrived; in flight 10, 11, 12; the law hears it: 4.25
          206 ack 11     > 14
          300 ack 12     > 15
          301 ack 13     > 16                                       -- 4.25 + 1/4.25 + 1/4.49 + 1/4.71 = 4.92
          304 ack 14     > 17-18 cwnd 5",
    );
    assert_eq!((run.fast_retransmits, run.timeouts), (1.0, 0.0));
}

#[test]
fn rack_detects_a_lost_retransmission_by_later_segments() {
    let losses = [(2, 1), (2, 2)];
    let run = play_losses(Recovery::RackTlp, 8, &losses, None);
    run.assert_from(
        104,
        "104 dup 2 #3   > 2'    cwnd 4 ssthresh 4 recovery
         105 dup 2 #4
         106 dup 2 #5   > 10
         200 dup 2 #6   > 11
         201 dup 2 #7   > 12
         206 dup 2 #8   > 2'' > 13                                 -- for 10, sent 2 ms after 2', which is lost; in flight 11, 12
         300 dup 2 #9   > 14
         301 dup 2 #10  > 15
         306 ack 13     > 16    congestion_avoidance               -- 2'' arrived",
    );
    assert_eq!((run.fast_retransmits, run.timeouts), (1.0, 0.0));
    assert_eq!(play_losses(Recovery::Sack, 8, &losses, None).timeouts, 1.0);
}

#[test]
fn a_lost_tail_is_probed_for_before_the_timeout() {
    // The round-trip times are 100 to 106 ms, and SRTT is 102.14 ms; one segment is outstanding: PTO 2 SRTT + 200 ms = 404 ms.
    let run = play_losses(Recovery::RackTlp, 8, &[(7, 1)], Some(8));
    run.assert_from(
        106,
        "106 ack 7
         510            > 7'
         610 ack 8      done                                        -- by the probe, or late: section 7.4.2 waits for more to know",
    );
    assert_eq!((run.fast_retransmits, run.timeouts), (0.0, 0.0));
    assert_eq!(play_losses(Recovery::Sack, 8, &[(7, 1)], Some(8)).timeouts, 1.0);
}

/// The path delays all packets by a second and a half. The timer expires, although nothing was lost.
#[test]
fn a_spurious_timeout_is_undone_after_one_retransmission() {
    let seen = |recovery, timestamps| {
        let mut network = network_of(TcpSpec { timestamps, ..steady(recovery, 8) }, None);
        let at = |ms, delay| Change {
            at: Time(TimeDelta::from_millis(ms).0),
            what: ChangeKind::Delay(PortId(0), TimeDelta::from_millis(delay)),
        };
        network.changes = vec![at(150, 1549), at(1000, 49)];
        let results = run(network);
        ["timeouts", "retransmitted_packets", "spurious_retransmissions"].map(|column| first(&results.flows, column))
    };
    assert_eq!(seen(Recovery::RackTlp, true), [1.0, 1.0, 1.0]);
    assert_eq!(seen(Recovery::RackTlp, false), [1.0, 1.0, 1.0]);
    assert!(seen(Recovery::Sack, true)[2] > 1.0);
}

/// Outcome of a run.
struct Played {
    /// One line per instant at the sender.
    lines: Vec<String>,
    fast_retransmits: f64,
    timeouts: f64,
}

impl Played {
    #[track_caller]
    fn assert_begins(&self, expected: &str) {
        self.assert_from(0, expected);
    }

    /// Assert that the lines from that millisecond on are those expected, ignoring white space.
    #[track_caller]
    fn assert_from(&self, millisecond: i64, expected: &str) {
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected: Vec<String> = expected.lines().map(|line| words(line.split("--").next().unwrap_or(line))).collect();
        let is_late = |line: &&String| line.split(' ').next().and_then(|time| time.parse().ok()) >= Some(millisecond);
        let seen: Vec<&String> = self.lines.iter().filter(is_late).take(expected.len()).collect();
        for (seen, expected) in seen.iter().zip(&expected) {
            assert_eq!(*seen, expected);
        }
        assert_eq!(seen.len(), expected.len());
    }
}

/// The first new segment sent in a recovery is lost too. With SACK, its duplicates start another recovery; only a timeout prevents that.
#[test]
fn a_loss_right_after_a_recovery_starts_the_next_one() {
    for recovery in [Recovery::Sack, Recovery::BpdSack] {
        let run = play(recovery, 12, &[2, 14]);
        assert_eq!((run.fast_retransmits, run.timeouts), (2.0, 0.0), "{recovery:?}");
    }
}

/// A window of `window` segments from the start; the first transmissions of `lost` are lost. Runs for three seconds.
fn play(recovery: Recovery, window: u32, lost: &[u32]) -> Played {
    let lost: Vec<(u32, u32)> = lost.iter().map(|&segment| (segment, 1)).collect();
    play_losses(recovery, window, &lost, None)
}

/// Losses are (segment, transmission); `size` is in segments for a transfer.
fn play_losses(recovery: Recovery, window: u32, lost: &[(u32, u32)], size: Option<u64>) -> Played {
    let mut network = network_of(steady(recovery, window), size);
    let lost = lost.iter().map(|&(segment, transmission)| ListedDrop {
        flow: FlowId(0),
        segment: SegmentNumber(segment),
        transmission,
        cell: None,
    });
    network.ports[0].listed_drops = lost.collect();
    let kinds = [TraceKind::Segments, TraceKind::Acks, TraceKind::Cwnd, TraceKind::Ssthresh, TraceKind::State];
    network.record = Recording { traces: kinds.map(|kind| Trace { kind, of: vec![0] }).into(), ..Recording::default() };
    let results = run(network);
    let count = |column| first(&results.flows, column);
    Played { lines: transcript(&results), fast_retransmits: count("fast_retransmits"), timeouts: count("timeouts") }
}

/// One flow for three seconds.
fn network_of(spec: TcpSpec, size: Option<u64>) -> Network {
    let link = port("link", Rate(8_000_000), TimeDelta::from_millis(49));
    // Fast enough that an acknowledgement takes 1 ns.
    let reverse = port("reverse", Rate(320_000_000_000), TimeDelta::from_millis(50));
    let flow = Flow { size: size.map(|segments| Bytes(1000 * segments)), ..flow(0, 0, 1) };
    one_link([link, reverse], group("sender", reno(spec)), vec![flow], TimeDelta::from_millis(3000))
}

/// Input and output of a sender, by milliseconds.
fn transcript(results: &Results) -> Vec<String> {
    let mut instants: BTreeMap<i64, [Vec<String>; 3]> = BTreeMap::new();
    let mut note = |time: i64, part: usize, words: String| instants.entry(time).or_default()[part].push(words);
    let column = |name: &str, column: &str| {
        let milliseconds = floats(trace(results, name), "time_s").into_iter().map(|time| (time * 1e3).round() as i64);
        milliseconds.zip(floats(trace(results, name), column)).collect::<Vec<_>>()
    };
    let mut repeated = 0;
    for ((time, ack), (_, duplicate)) in column("acks", "ack").into_iter().zip(column("acks", "duplicate")) {
        repeated = if duplicate == 1.0 { repeated + 1 } else { 0 };
        note(time, 0, if repeated == 0 { format!("ack {ack}") } else { format!("dup {ack} #{repeated}") });
    }
    for (time, range) in ranges(column("segments", "segment"), column("segments", "transmission")) {
        note(time, 1, range);
    }
    for (name, values) in [("cwnd", "cwnd_packets"), ("ssthresh", "ssthresh_packets")] {
        let mut last = 0.0;
        for (time, value) in column(name, values) {
            if value.floor() != last {
                last = value.floor();
                note(time, 2, format!("{name} {last}"));
            }
        }
    }
    let states = trace(results, "state");
    let Some(Column::Word(words, names)) = states.column("state") else { panic!("states are a word column") };
    for (time, &word) in floats(states, "time_s").into_iter().zip(words) {
        note((time * 1e3).round() as i64, 2, names[word as usize].clone());
    }
    let line = |(time, parts): (i64, [Vec<String>; 3])| format!("{time} {}", parts.concat().join(" "));
    instants.into_iter().map(line).collect()
}

/// Consecutive segments sent at one instant, as `> 4-7`, with `'` after retransmissions.
fn ranges(segments: Vec<(i64, f64)>, transmissions: Vec<(i64, f64)>) -> Vec<(i64, String)> {
    let mut rows: Vec<(i64, f64, f64, usize)> = Vec::new();
    for ((time, segment), (_, transmission)) in segments.into_iter().zip(transmissions) {
        let again = transmission as usize - 1;
        match rows.last_mut().filter(|row| (row.0, row.2 + 1.0, row.3) == (time, segment, again)) {
            Some(row) => row.2 = segment,
            None => rows.push((time, segment, segment, again)),
        }
    }
    let text = |(from, to): (f64, f64)| if from == to { format!("> {from}") } else { format!("> {from}-{to}") };
    rows.into_iter().map(|(time, from, to, again)| (time, text((from, to)) + &"'".repeat(again))).collect()
}
