//! The conditions of `fast_retransmit` compared with an abstract Reno sender that simulates every loss pattern segment by
//! segment.

use std::collections::{BTreeSet, VecDeque};
use tailback_models::ParameterError;
use tailback_models::tcp::fast_retransmit;

/// Reno over a path that preserves order: a segment in flight reaches the receiver and its acknowledgement returns at once.
struct Reno {
    window: u32,
    una: u32,
    next: u32,
    duplicates: u32,
    in_recovery: bool,
    wire: VecDeque<u32>,
    received: BTreeSet<u32>,
    expected: u32,
    /// New segments sent in each recovery.
    new_segments: Vec<u32>,
}

impl Reno {
    /// The new segments of each recovery, until all losses are repaired or nothing is in flight.
    fn play(window: u32, lost: &[u32]) -> Vec<u32> {
        let mut reno = Reno {
            window,
            una: 0,
            next: 0,
            duplicates: 0,
            in_recovery: false,
            wire: VecDeque::new(),
            received: BTreeSet::new(),
            expected: 0,
            new_segments: Vec::new(),
        };
        let mut to_lose: BTreeSet<u32> = lost.iter().copied().collect();
        reno.send();
        while let Some(segment) = reno.wire.pop_front() {
            if to_lose.remove(&segment) {
                continue;
            }
            reno.receive(segment);
            if reno.una >= window {
                break;
            }
        }
        reno.new_segments
    }

    fn receive(&mut self, segment: u32) {
        self.received.insert(segment);
        while self.received.remove(&self.expected) {
            self.expected += 1;
        }
        if self.expected > self.una {
            self.una = self.expected;
            self.duplicates = 0;
            self.in_recovery = false;
        } else {
            self.duplicates += 1;
            if self.duplicates == 3 && !self.in_recovery {
                self.window = (self.window / 2).max(2);
                self.in_recovery = true;
                self.new_segments.push(0);
                self.wire.push_back(self.una);
            }
        }
        self.send();
    }

    fn send(&mut self) {
        let inflation = if self.in_recovery { self.duplicates } else { 0 };
        while self.next < self.una + self.window + inflation {
            self.wire.push_back(self.next);
            self.next += 1;
            if let (true, Some(sent)) = (self.in_recovery, self.new_segments.last_mut()) {
                *sent += 1;
            }
        }
    }
}

#[test]
fn the_conditions_are_exact_but_where_all_losses_after_the_first_end_the_window() -> Result<(), ParameterError> {
    let mut repaired_though_the_paper_says_no = Vec::new();
    for window in 1..=24 {
        for count in 1..=4.min(window as usize) {
            for lost in patterns(window, count) {
                let model = fast_retransmit(window, &lost)?;
                let played = Reno::play(window, &lost);
                assert_eq!(model.recovers, model.retransmitted as usize == count);
                if model.new_segments != played {
                    // One more new segment between two recoveries, and therefore one more duplicate.
                    assert_eq!(u64::from(lost[1] - lost[0]), u64::from(window) - count as u64 + 1, "{window} {lost:?}");
                    assert_eq!(played.len(), model.new_segments.len() + 1, "{window} {lost:?}");
                    if played.len() == count {
                        repaired_though_the_paper_says_no.push((window, lost));
                    }
                }
            }
        }
    }
    assert_eq!(repaired_though_the_paper_says_no, [(8, vec![0, 7]), (9, vec![0, 8])]);
    Ok(())
}

/// Every increasing list of `count` positions below `window`.
fn patterns(window: u32, count: usize) -> Vec<Vec<u32>> {
    (0..count).fold(vec![Vec::new()], |shorter, _| {
        shorter
            .iter()
            .flat_map(|list| (list.last().map_or(0, |last| last + 1)..window).map(|next| [&list[..], &[next]].concat()))
            .collect()
    })
}
