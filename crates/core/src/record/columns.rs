//! What each table of results has, column by column. The reference is made from it, and a test holds the results to it.

/// A table and its columns, in their order: name and meaning, which also says where a column or a value is missing.
pub struct Described {
    pub table: &'static str,
    /// What a row is.
    pub row: &'static str,
    pub columns: &'static [(&'static str, &'static str)],
}

const TIME: (&str, &str) = ("time_s", "Simulated time.");
const GROUP: (&str, &str) = ("group", "The group of the flow, as the scenario names it.");
const FLOW: (&str, &str) = ("flow", "Its place in the group, from 0.");

/// `flows`, `queues`, `groups` and `classes`, then the traces in the order of their names in `record.traces`.
pub const TABLES: &[Described] = &[
    Described {
        table: "flows",
        row: "A flow. Counts are of the measured part of the run, from `warmup` on.",
        columns: &[
            GROUP,
            FLOW,
            ("start_s", "When the flow starts."),
            ("size_bytes", "Payload that the flow is to transfer. Missing for endless flows."),
            (
                "base_rtt_s",
                "Round trip of a full packet and its acknowledgement through empty queues: propagation and serialisation.",
            ),
            ("sent_packets", "Data packets that the sender sent, retransmissions included."),
            ("retransmitted_packets", "Those sent before."),
            ("spurious_retransmissions", "Data packets that reached the receiver although it had their data."),
            ("fast_retransmits", "Recoveries begun by acknowledgements, without waiting for the timer."),
            ("timeouts", "Expirations of the retransmission timer."),
            ("delivered_packets", "Data packets that reached the receiver, each segment counted once."),
            ("delivered_bytes", "Their payload."),
            ("goodput_bps", "That payload per second of the measured part."),
            ("marked_packets", "Data packets that reached the receiver with a mark of congestion (CE)."),
            ("loss_share", "Packets discarded on the way over packets sent; 0 if none was sent."),
            ("waiting_at_end", "1 if the flow stood still at the end and waited for its timer, else 0."),
            (
                "active_share",
                "Share of the flow's measured time in which it did not wait for its timer. Missing if none of it is measured.",
            ),
            (
                "completion_time_s",
                "From start until the receiver has everything. Missing for endless flows, and for those not done in time.",
            ),
            (
                "slowdown",
                "Completion time over the least: that of the same packets, sent at once through empty queues, over links as fast and as \
                 short as they ever are (a bound where a link has several transmitters). Missing as that, and for datagrams.",
            ),
            ("backlog_packets", "Data that the application handed over and TCP had not sent when the run ended, in packets."),
            ("frame_cells", "ATM: cells of a full packet. 0 without framing."),
            ("frame_goodput_cells", "ATM: cells that arrived in whole frames, data that arrived before included."),
            ("badput_cells", "ATM: cells that arrived in frames of which another cell was lost."),
            ("mean_rtt_s", "Mean of the round trips that the sender measured. Missing without any."),
        ],
    },
    Described {
        table: "queues",
        row: "A queue: one direction of a link, `NAME` or `NAME.reverse`. Counts are of the measured part of the run.",
        columns: &[
            ("queue", "The link's name."),
            ("unit", "What units are: `packets`, or `cells` where flows with framing pass."),
            ("arrived_units", "Units that came, discarded ones included."),
            ("departed_units", "Units that were sent on."),
            ("departed_bytes", "Their size on the wire."),
            ("marked_units", "Units that the policy marked (CE)."),
            ("discarded_units", "Units discarded, for any reason."),
            ("discarded_full", "... because there was no room."),
            ("discarded_early", "... by the policy, although there was room."),
            (
                "discarded_late",
                "... by the policy, when their turn to be sent came, or to make room for others, where several queues share a buffer.",
            ),
            ("discarded_partial", "... because they belong to a frame of which a cell was discarded here."),
            ("discarded_single", "... as the one packet that SPD takes of a queue that builds up."),
            ("discarded_random", "... by the wire, behind the queue or before it: `loss.probability`, `loss.gilbert_elliott`."),
            ("discarded_listed", "... because the scenario lists them: `loss.drops`."),
            ("discarded_policed", "... because they came faster than a policer allows. Only where there is one."),
            ("loss_share", "Discarded over arrived; 0 if none arrived."),
            (
                "utilisation",
                "Share of the measured time in which the link sent; of several transmitters their mean. Of a link that sends by a trace, the \
                 share of its opportunities' bytes.",
            ),
            ("mean_queue_units", "Units in the queue, on average over time; the one being sent only with `counts_in_service`."),
            ("max_queue_units", "The most that were in it at once; the one being sent likewise."),
            ("mean_wait_s", "Time from arrival until sending began, mean of the units that were sent. Missing without any."),
            ("duplicated_units", "Units that arrive twice, counted once. Only where some link duplicates any."),
            ("price", "The price when the run ended. Only where some queue tells one; missing for those that do not."),
            (
                "beyond_range_packets",
                "Packets that were told the end of the scheme's range instead of a price beyond it. As `price`.",
            ),
            ("wait_p50_s", "Median of the wait. Only with `record.delay_percentiles`; missing if nothing was sent."),
            ("wait_p95_s", "What 95 of 100 waits do not exceed. As `wait_p50_s`."),
            ("wait_p99_s", "What 99 of 100 waits do not exceed. As `wait_p50_s`."),
        ],
    },
    Described {
        table: "groups",
        row: "A group of flows.",
        columns: &[
            ("group", "The group, as the scenario names it."),
            ("flows", "Flows in it."),
            ("goodput_bps", "Sum of the flows' goodputs."),
            (
                "fairness",
                "Jain's index of the flows' goodputs, 1 if all are alike, 1/n if one has all. Missing if nothing was delivered.",
            ),
            ("completed", "Flows whose receiver has everything, be it during the warm-up; so are the times below."),
            ("completion_p50_s", "Median of the completion times of those. Missing without any."),
            ("completion_p95_s", "What 95 of 100 do not exceed, by nearest rank. As `completion_p50_s`."),
            ("completion_p99_s", "What 99 of 100 do not exceed. As `completion_p50_s`."),
            ("slowdown_p50", "Median of the slowdowns of those. Missing without any."),
            ("slowdown_p95", "What 95 of 100 do not exceed. As `slowdown_p50`."),
            ("slowdown_p99", "What 99 of 100 do not exceed. As `slowdown_p50`."),
            (
                "delay_p50_s",
                "Median time of data packets from sender to receiver. Only with `record.delay_percentiles`; missing without any.",
            ),
            ("delay_p95_s", "What 95 of 100 do not exceed. As `delay_p50_s`."),
            ("delay_p99_s", "What 99 of 100 do not exceed. As `delay_p50_s`."),
        ],
    },
    Described {
        table: "edges",
        row: "The edge of a flow with the available bit rate service (`abr`). Only of runs in which some flow has one.",
        columns: &[
            ("group", "The flow's group."),
            ("flow", "Its place in the group, from 0."),
            ("arrived_packets", "Packets that came to the edge, discarded ones included."),
            ("discarded_packets", "Packets for which its buffer had no room."),
            ("loss_share", "Discarded over arrived; 0 if none arrived."),
            ("data_cells", "Cells of packets that it sent."),
            ("forward_rm_cells", "RM cells that it sent among them."),
            ("backward_rm_cells", "RM cells that came back."),
            ("congested_rm_cells", "... with CI, which lowers the rate."),
            ("mean_acr_bps", "Allowed cell rate (ACR), of whole cells, mean over time."),
            ("acr_bps", "ACR when the run ended."),
            ("mean_queue_cells", "Cells that wait in its buffer, on average over time."),
            ("max_queue_cells", "The most that waited at once."),
            ("held_acks", "Acknowledgements that had to wait at the edge."),
            ("mean_hold_s", "How long they waited, mean. Missing without any."),
        ],
    },
    Described {
        table: "classes",
        row: "A class at a queue that tells classes apart (`queue.classes`). Only of runs in which one does.",
        columns: &[
            ("queue", "The link's name."),
            ("class", "The class, as the link names it."),
            ("arrived_units", "Units of the class that came, discarded ones included."),
            ("departed_units", "Units that were sent on."),
            ("departed_bytes", "Their size on the wire."),
            ("discarded_units", "Units discarded at the queue; what the wire loses is not among them."),
            ("loss_share", "Discarded over arrived; 0 if none arrived."),
            ("throughput_bps", "What was sent on, headers included, per second of the measured part."),
            ("mean_wait_s", "Time from arrival until sending began, mean of the units that were sent. Missing without any."),
        ],
    },
    Described {
        table: "queue_flows",
        row: "A queue and a flow of which something passed it. Only with `record.flows_of_queues`.",
        columns: &[
            ("queue", "The link's name."),
            GROUP,
            FLOW,
            ("departed_units", "Units of the flow, data or acknowledgements, that were sent on."),
            ("departed_bytes", "Their size on the wire."),
            ("throughput_bps", "The same per second of the measured part."),
        ],
    },
    Described {
        table: "cwnd",
        row: "A change of a flow's congestion window.",
        columns: &[TIME, GROUP, FLOW, ("cwnd_packets", "The window from then on, in segments; may be fractional.")],
    },
    Described {
        table: "ssthresh",
        row: "A change of a flow's slow-start threshold.",
        columns: &[TIME, GROUP, FLOW, ("ssthresh_packets", "The threshold from then on, in segments.")],
    },
    Described {
        table: "rtt",
        row: "A round trip that a sender measured.",
        columns: &[TIME, GROUP, FLOW, ("rtt_s", "From sending a segment to its acknowledgement.")],
    },
    Described {
        table: "in_flight",
        row: "An acknowledgement that a sender received.",
        columns: &[TIME, GROUP, FLOW, ("in_flight_packets", "Segments then sent and neither acknowledged nor taken for lost.")],
    },
    Described {
        table: "segments",
        row: "A data segment that a sender sent.",
        columns: &[
            TIME,
            GROUP,
            FLOW,
            ("segment", "Its number, from 0, which is the SYN where a connection is opened."),
            ("transmission", "1 the first time that it is sent, 2 afterwards."),
        ],
    },
    Described {
        table: "acks",
        row: "An acknowledgement that reached a sender.",
        columns: &[
            TIME,
            GROUP,
            FLOW,
            ("ack", "The next segment that the receiver expects."),
            ("duplicate", "1 for a duplicate acknowledgement, else 0."),
        ],
    },
    Described {
        table: "state",
        row: "A change of what a sender is doing.",
        columns: &[
            TIME,
            GROUP,
            FLOW,
            (
                "state",
                "`slow_start`, `congestion_avoidance`, `recovery`, `timeout` or `done`. The first two say whether the window is below the slow-start \
                 threshold: a law without one (`ledbat`, `swift`, `timely`, `fast`, `copa`, `bbrv1`, `bbrv3`) is in `slow_start` until a loss sets one.",
            ),
        ],
    },
    Described {
        table: "law",
        row: "A change of something that a control law goes by beside its window.",
        columns: &[
            TIME,
            GROUP,
            FLOW,
            ("quantity", "What it is, as the law calls it."),
            ("value", "Its value from then on, in units of the law."),
        ],
    },
    Described {
        table: "throughput",
        row: "A bin of time of a flow, of the width that `record.traces` says.",
        columns: &[
            ("time_s", "Where the bin begins."),
            GROUP,
            FLOW,
            ("throughput_bps", "Payload that the receiver got in it, per second."),
        ],
    },
    Described {
        table: "queue",
        row: "A change of the number of units in a port.",
        columns: &[
            TIME,
            ("queue", "The link's name."),
            ("queue_units", "Units in it from then on; the one being sent only with `counts_in_service`."),
        ],
    },
    Described {
        table: "drops",
        row: "A discarded unit.",
        columns: &[
            TIME,
            ("queue", "The link's name."),
            GROUP,
            FLOW,
            ("segment", "Number of the segment, or datagram, that it belongs to."),
            ("transmission", "1 if that was sent for the first time, 2 afterwards."),
            ("reason", "`full`, `early`, `late`, `partial`, `single`, `random` or `listed`: see `queues`."),
        ],
    },
    Described {
        table: "departures",
        row: "A unit that has left a queue: its last bit is on the wire.",
        columns: &[TIME, ("queue", "The link's name."), GROUP, FLOW, ("bytes", "Its size on the wire.")],
    },
    Described {
        table: "packets",
        row: "A packet that a flow's sender sent or received.",
        columns: &[
            TIME,
            GROUP,
            FLOW,
            ("what", "`data`, `datagram` or `syn` when sent, `ack` or `syn_ack` when received."),
            ("segment", "Number of the segment or datagram; of an acknowledgement the next one that is expected."),
            ("transmission", "1 the first time that it is sent, 2 afterwards."),
            ("sequence_bytes", "The same place in the stream of bytes."),
            ("payload_bytes", "Payload."),
            ("bytes", "Size on the wire."),
            ("window_bytes", "The receiver's window that the header tells."),
            ("ecn", "What it says of congestion: `capable`, `reduced`, `echo`, `l4s` (capable, and L4S), or nothing."),
            ("sack_blocks", "Blocks of an acknowledgement, as `FROM-TO` in bytes."),
            ("queue", "Where a data packet was discarded; empty if it was not."),
            ("reason", "Why; empty if it was not."),
            ("discarded_s", "When; missing if it was not."),
        ],
    },
];

/// The page of the reference.
pub fn tables_markdown() -> String {
    let mut page = String::from(
        "# Tables and columns\n\nEvery run has the tables `flows`, `queues` and `groups`, and one for each kind of trace that `record.traces` asks for. \
         The tables of a [study](../howto/studies.md) have the columns `point` and `seed` before these, then the labels of each axis, with their numbers \
         beside them. Units are part of the names: `_s` \
         seconds, `_bps` bits per second, `_bytes`, `_packets` and `_cells`; a share is from 0 to 1. What is missing is NaN in Python, null in Arrow, empty \
         in CSV and `null` in JSON. This page is made from the core, and a test holds the results to it.\n",
    );
    for Described { table, row, columns } in TABLES {
        page +=
            &format!("\n## `{table}`\n\nA row: {}{}\n\n| Column | Description |\n|---|---|\n", row[..1].to_lowercase(), &row[1..]);
        columns.iter().for_each(|(name, meaning)| page += &format!("| `{name}` | {meaning} |\n"));
    }
    page + MADE_OF_THESE
}

/// Tables that Python computes.
const MADE_OF_THESE: &str = "
## Computed from these

`Run.completions` has a row for each group and class of sizes: `group`, `above_bytes` and `up_to_bytes` (the class; its upper end belongs to it, \
and is missing for the last), `flows`, `completed`, and of those `completion_mean_s`, `completion_p50_s` and so on, `slowdown_mean`, \
`slowdown_p50` and so on.

`Runs.means`, `Study.means` and `Study.difference` have a row for each quantity or point: `seeds` that were counted, `mean`, and `low` and `high`, \
the ends of its 95 % interval (Student's t), missing where one seed or no chance gives none. A difference is that of the pairs with the same \
seed, right less left. A mean is missing where a value of some run is: `flows.*.completion_time_s` and `flows.*.slowdown` are as soon as one \
flow is not done, for which `groups` has percentiles.

`Study.runs` has a row for each run: its `state`, `planned`, `running`, `done` or `failed`; `error`, what it failed of, empty if it did not; `events` \
and `simulated_s`, 0 until it is done; and `content_hash`, of its scenario, its seed and the sources of the core.

`Run.optimum` has `flows`, a row for each flow that sends all it can: `group`, `flow`, `goodput_bps` as measured, `max_min_bps` and `proportional_bps`, \
what ideal allocations would give it, and `of_max_min` and `of_proportional`, the first over these; and `links`, a row for each queue that they \
cross: `queue`, `capacity_bps`, headers included, `others_bps`, what other flows take of that, `held_flows`, how many flows have their max-min bottleneck here, \
and `price_per_bps`, how much the proportionally fair objective would grow with the link.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_table_and_no_column_of_a_table_is_described_twice() {
        for (place, described) in TABLES.iter().enumerate() {
            assert!(TABLES[..place].iter().all(|before| before.table != described.table), "{}", described.table);
            for (at, (name, meaning)) in described.columns.iter().enumerate() {
                assert!(described.columns[..at].iter().all(|(before, _)| before != name), "{name}");
                assert!(meaning.ends_with('.'), "{meaning}");
            }
        }
    }
}
