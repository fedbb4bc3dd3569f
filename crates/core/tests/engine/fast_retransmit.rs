//! The conditions of bpd-2001, section 2.2, against the simulated sender and network: every pattern of up to four losses in windows up to
//! 24.
//!
//! `abstract_reno.rs` runs the same patterns without an engine.

use crate::common::{first, flow, group, one_link, port, reno, run, steady};
use tailback_core::network::{FlowId, ListedDrop};
use tailback_core::primitives::segment_number::SegmentNumber;
use tailback_core::primitives::units::{Rate, TimeDelta};
use tailback_core::tcp::{Recovery, TcpSpec, TimerSpec};
use tailback_models::ParameterError;
use tailback_models::tcp::fast_retransmit;

const ROUND_TRIP: TimeDelta = TimeDelta::from_millis(10);

/// The sender's response to the losses.
#[derive(Debug, PartialEq)]
struct Repair {
    fast_retransmits: f64,
    timeouts: f64,
}

#[test]
fn the_sender_needs_a_timeout_exactly_if_the_conditions_predict_one() -> Result<(), ParameterError> {
    let mut disagreements = Vec::new();
    let mut compared = 0;
    for window in 1..=24 {
        for count in 1..=4.min(window as usize) {
            for lost in patterns(window, count) {
                let model = fast_retransmit(window, &lost)?;
                let shipped = play(Recovery::Reno, window, &lost);
                compared += 1;
                if model.recovers != (shipped.timeouts == 0.0) || f64::from(model.retransmitted) != shipped.fast_retransmits {
                    disagreements.push((window, lost, shipped));
                }
            }
        }
    }
    assert_eq!(compared, 68_380);
    // All of these have n1 = 0, and their other losses end the window: n2 - n1 = W - N + 1. After ack(n2) has halved the window, one new
    // segment is sent that the paper does not count, because its "new segments will be transmitted only if n2 - n1 > W - N" excludes this
    // case. It causes the third duplicate if W/2 - N = 2, and therefore at these windows:
    let one_more =
        |window, lost: &[u32], fast_retransmits, timeouts| (window, lost.to_vec(), Repair { fast_retransmits, timeouts });
    let expected = [
        one_more(8, &[0, 7], 2.0, 0.0),
        one_more(9, &[0, 8], 2.0, 0.0),
        // It repairs the second loss, but not the third.
        one_more(10, &[0, 8, 9], 2.0, 1.0),
        one_more(11, &[0, 9, 10], 2.0, 1.0),
        one_more(12, &[0, 9, 10, 11], 2.0, 1.0),
        one_more(13, &[0, 10, 11, 12], 2.0, 1.0),
    ];
    assert_eq!(disagreements, expected);
    Ok(())
}

/// SACK as in section 6.1: the pipe is N + 1 after all duplicates and N - 1 after the first partial acknowledgement, and half of the window
/// must exceed that. The paper gives no such condition; this one holds for all patterns of windows up to 13.
#[test]
fn sack_repairs_losses_of_up_to_half_the_window_if_three_segments_arrive() {
    for window in 1..=13u32 {
        for losses in 1..1u32 << window {
            let lost: Vec<u32> = (0..window).filter(|position| losses >> position & 1 == 1).collect();
            let count = lost.len() as u32;
            let recovers = play(Recovery::BpdSack, window, &lost).timeouts == 0.0;
            assert_eq!(recovers, window - count >= 3 && count <= window / 2, "{window} {lost:?}");
        }
    }
}

/// A sender with a full window of `window` segments that loses exactly those at the positions `lost`.
fn play(recovery: Recovery, window: u32, lost: &[u32]) -> Repair {
    let steady = steady(recovery, window);
    let spec = TcpSpec {
        timer: TimerSpec { min_rto: TimeDelta(10 * ROUND_TRIP.0), initial_rto: TimeDelta(10 * ROUND_TRIP.0), ..steady.timer },
        ..steady
    };
    let mut link = port("link", Rate(10_000_000_000), TimeDelta(ROUND_TRIP.0 / 2));
    link.listed_drops = lost
        .iter()
        .map(|&segment| ListedDrop { flow: FlowId(0), segment: SegmentNumber(segment), transmission: 1, cell: None })
        .collect();
    let reverse = port("reverse", Rate(10_000_000_000), TimeDelta(ROUND_TRIP.0 / 2));
    // Three recoveries take at most five round trips, and the timer runs for ten after the last.
    let network = one_link([link, reverse], group("sender", reno(spec)), vec![flow(0, 0, 1)], TimeDelta(20 * ROUND_TRIP.0));
    let flows = run(network).flows;
    Repair { fast_retransmits: first(&flows, "fast_retransmits"), timeouts: first(&flows, "timeouts") }
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
