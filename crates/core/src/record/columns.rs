//! Descriptions of the columns of all result tables. The reference page is generated from them, and a test checks the results against them.

/// A table and its columns in order. A column has a name and a description, which states when the column or a value is missing.
pub struct Described {
    pub table: &'static str,
    /// Description of a row.
    pub row: &'static str,
    pub columns: &'static [(&'static str, &'static str)],
}

const TIME: (&str, &str) = ("time_s", "Simulated time.");
const GROUP: (&str, &str) = ("group", "Name of the flow's group in the scenario.");
const FLOW: (&str, &str) = ("flow", "Index of the flow within its group, from 0.");

/// `flows`, `queues`, `groups` and `classes`, then the traces in the order of `record.traces`.
pub const TABLES: &[Described] = &[
    Described {
        table: "flows",
        row: "A flow. Counts cover the measurement interval, which begins after `warmup`. For a flow with a `stack`, columns that only the transport \
              knows are missing unless the stack reports them, and payload is that of IP packets unless it reports the delivered bytes.",
        columns: &[
            GROUP,
            FLOW,
            ("start_s", "Start time of the flow."),
            ("size_bytes", "Payload to transfer. Missing for endless flows."),
            (
                "base_rtt_s",
                "Round-trip time of a full packet and its acknowledgement with empty queues: propagation and serialisation. For a flow with a `stack`, the packet has the size of its `mtu`, and the acknowledgement has 40 bytes.",
            ),
            ("sent_packets", "Data packets sent, including retransmissions."),
            ("retransmitted_packets", "Retransmitted data packets."),
            ("spurious_retransmissions", "Data packets that reached the receiver although it already had their data."),
            ("fast_retransmits", "Recoveries triggered by acknowledgements rather than by the retransmission timer."),
            ("timeouts", "Expirations of the retransmission timer."),
            (
                "probes",
                "Tail loss probes (RFC 8985 section 7): transmissions after about two round trips without an acknowledgement.",
            ),
            ("delivered_packets", "Distinct data packets that reached the receiver."),
            (
                "delivered_bytes",
                "Payload of the delivered packets. For a `stack` that reports them, bytes that its application has read, in order.",
            ),
            (
                "goodput_bps",
                "Delivered payload per second of the measurement interval, also for flows that last only a part of it. A `stack` delivers data when its application reads it in order, so that a short interval after a gap may have more than the link's rate.",
            ),
            (
                "marked_packets",
                "Data packets that reached the receiver with a congestion mark (CE) of this network. Packets that a stack sends with CE do not count.",
            ),
            (
                "loss_rate",
                "Discarded share of the packets, and of copies made by links, that were sent within the measurement interval. Discards by PAWS count; 0 if none were sent.",
            ),
            ("dropped_acks", "Acknowledgements to the flow's sender that were discarded; `loss_rate` does not include them."),
            (
                "waiting_at_end",
                "1 if the flow was stalled at the end of the run, waiting for its retransmission timer; otherwise 0.",
            ),
            (
                "active_share",
                "Share of the flow's measured lifetime in which it was not waiting for its retransmission timer. Missing if none of it is measured.",
            ),
            (
                "starved",
                "1 if the flow had data to send for at least ten base RTTs of the measurement interval without a pause, and delivered nothing, or less than 1 % of an equal share of its bottleneck; otherwise 0. The share divides the rate of each link by the number of flows that cross it at each instant. Completed transfers do not count, and flows of a `stack` without a size count only if they delivered nothing. Missing for real flows of an emulation.",
            ),
            (
                "completion_time_s",
                "Time from the start until the receiver has the whole transfer. Missing for endless and unfinished flows.",
            ),
            (
                "transfer_rate_bps",
                "Payload of a completed transfer divided by `completion_time_s`, also if it finished during the warm-up. Missing as `completion_time_s` is.",
            ),
            (
                "slowdown",
                "Completion time divided by the minimum completion time: all packets sent at once through empty queues, over links with their \
                 highest rate and shortest delay of the run (a lower bound if a link has several transmitters). Missing if \
                 `completion_time_s` is, and for datagrams and stacks.",
            ),
            ("backlog_packets", "Data handed over by the application and not yet sent by TCP at the end of the run, in packets."),
            ("frame_cells", "ATM: cells of a full packet. 0 without framing."),
            ("frame_goodput_cells", "ATM: cells that arrived in complete frames, including duplicate data."),
            ("badput_cells", "ATM: cells that arrived in incomplete frames."),
            ("mean_rtt_s", "Mean of the sender's RTT samples. Missing without samples."),
            (
                "lost_packets",
                "Packets that a stack has declared lost. Only if some flow has a `stack`, and for stacks that report it.",
            ),
            ("min_rtt_s", "Minimum RTT over the whole run, as a stack measures it. Present as `lost_packets` is."),
            (
                "rto_s",
                "Retransmission timeout at the end of the run, with its backoff, as a stack reports it. Present as `lost_packets` is.",
            ),
            (
                "rejected_packets",
                "Packets of both ends of a stack that the network did not carry, over the whole run: not IPv4, not between the addresses of the ends, or empty. Present as `lost_packets` is.",
            ),
            (
                "stalls",
                "Times at which the playback ran out of data, over the whole run. Only if some flow is video, and for it.",
            ),
            ("stalled_s", "Total duration of the stalls. Present as `stalls` is."),
            ("bitrate_switches", "Changes of the bit rate between consecutive chunks. Present as `stalls` is."),
            ("mean_bitrate_bps", "Mean bit rate of the delivered chunks. Present as `stalls` is."),
            ("startup_s", "Time from the start of the flow to the start of the playback. Present as `stalls` is."),
        ],
    },
    Described {
        table: "queues",
        row: "A queue: one direction of a link, `NAME` or `NAME.reverse`. Counts cover the measurement interval.",
        columns: &[
            ("queue", "Name of the queue: the link's name, with `.reverse` for the reverse direction."),
            ("unit", "Unit of the counts: `packets`, or `cells` if flows with framing use the queue."),
            ("arrived_units", "Arrived units, including discarded ones."),
            ("departed_units", "Transmitted units."),
            ("departed_bytes", "Transmitted bytes, including headers."),
            ("marked_units", "Units marked by the policy (CE)."),
            ("dropped_units", "Units discarded within the measurement interval, for any reason."),
            ("dropped_acks", "Units of acknowledgements among the discarded ones."),
            ("dropped_full", "Units discarded because the buffer was full."),
            ("dropped_early", "Units discarded by the policy on arrival, although the buffer had room."),
            (
                "dropped_late",
                "Units discarded by the policy at departure, or to make room in a buffer that several queues share.",
            ),
            ("dropped_partial", "Cells discarded because another cell of their frame was discarded here."),
            ("dropped_single", "Single packets discarded by SPD when a queue builds up."),
            (
                "dropped_random",
                "Units lost on the link or before the queue: at random (`loss.probability`, `loss.gilbert_elliott`), or because the link has failed (`down`).",
            ),
            ("dropped_listed", "Units discarded because the scenario lists them: `loss.drops`."),
            ("dropped_policed", "Units discarded by a policer. Only if the run has a policer."),
            ("dropped_mtu", "Packets discarded because they were larger than the link's `mtu`. Only if some link has one."),
            (
                "loss_rate",
                "Discarded share of `arrived_units`, without units that arrived during the warm-up; 0 if none arrived.",
            ),
            (
                "utilisation",
                "Share of the measurement interval in which the link was transmitting; the mean over several transmitters. For a link with a \
                 rate that varies, the used share of its capacity.",
            ),
            (
                "mean_queue_units",
                "Time average of the number of units in the queue. The unit at the transmitter, which may wait there for a shaper, counts only with `counts_in_service`.",
            ),
            (
                "max_queue_units",
                "Maximum number of units in the queue, counted as in `mean_queue_units`, from the end of the warm-up.",
            ),
            ("mean_wait_s", "Mean time from arrival to the start of transmission. Missing if no unit was sent."),
            ("duplicated_units", "Units duplicated by the link. Only if some link duplicates packets."),
            ("price", "Price at the end of the run. Only if some queue has a price; missing for queues without one."),
            (
                "clamped_packets",
                "Packets whose price was outside the scheme's range and was clamped to it. Present as `price` is.",
            ),
            (
                "wait_p50_s",
                "Median waiting time. Only with `record.delay_percentiles`; missing if no unit was sent. Percentiles of delays are the means of bins that differ by 0.8 %: at most 0.8 % from the sample's, exact if the samples are equal, and never below the shortest.",
            ),
            ("wait_p95_s", "95th percentile of the waiting time. Present as `wait_p50_s` is."),
            ("wait_p99_s", "99th percentile of the waiting time. Present as `wait_p50_s` is."),
        ],
    },
    Described {
        table: "groups",
        row: "A group of flows. `dropped_acks` and `probes` are missing for flows with a `stack`; so are completions, unless the stack reports the delivered bytes.",
        columns: &[
            ("group", "Name of the group in the scenario."),
            ("flows", "Number of flows."),
            ("goodput_bps", "Payload of all flows that was delivered per second of the measurement interval."),
            (
                "fairness",
                "Jain's index: 1 if all flows are equal, 1/n if one flow has everything. If all flows have a `size_bytes`, the index of the `transfer_rate_bps` of those that completed; otherwise of the `goodput_bps` of the flows that existed in the measurement interval. Missing if no flow counts or nothing was delivered.",
            ),
            ("starved", "Number of starved flows. Missing if it is unknown for one."),
            ("dropped_acks", "Sum of the flows' discarded acknowledgements."),
            ("probes", "Sum of the flows' tail loss probes."),
            (
                "completed",
                "Flows whose receiver has the whole transfer, including those that finished during the warm-up. The columns below refer to them.",
            ),
            ("completion_p50_s", "Median completion time. Missing if no flow completed."),
            ("completion_p95_s", "95th percentile of the completion time, by nearest rank. Missing as `completion_p50_s` is."),
            ("completion_p99_s", "99th percentile of the completion time. Missing as `completion_p50_s` is."),
            ("slowdown_p50", "Median slowdown. Missing if no flow completed."),
            ("slowdown_p95", "95th percentile of the slowdown. Missing as `slowdown_p50` is."),
            ("slowdown_p99", "99th percentile of the slowdown. Missing as `slowdown_p50` is."),
            (
                "delay_p50_s",
                "Median one-way delay of data packets, in bins as `wait_p50_s` in `queues`. Only with `record.delay_percentiles`; missing if none arrived.",
            ),
            ("delay_p95_s", "95th percentile of the one-way delay. Present as `delay_p50_s` is."),
            ("delay_p99_s", "99th percentile of the one-way delay. Present as `delay_p50_s` is."),
        ],
    },
    Described {
        table: "edges",
        row: "The edge of a flow with the available bit rate service (`abr`). Only if some flow has it.",
        columns: &[
            GROUP,
            FLOW,
            ("arrived_packets", "Packets that arrived at the edge, including discarded ones."),
            ("dropped_packets", "Packets discarded because the edge's buffer was full."),
            ("loss_rate", "`dropped_packets` divided by `arrived_packets`; 0 if none arrived."),
            ("data_cells", "Data cells sent."),
            ("forward_rm_cells", "Forward RM cells sent."),
            ("backward_rm_cells", "Backward RM cells received."),
            ("congested_rm_cells", "Backward RM cells received with CI set, which lowers the rate."),
            ("mean_acr_bps", "Time average of the allowed cell rate (ACR), in whole cells."),
            ("acr_bps", "ACR at the end of the run."),
            ("mean_queue_cells", "Time average of the number of cells in the buffer."),
            ("max_queue_cells", "Maximum number of cells in the buffer."),
            ("held_acks", "Acknowledgements held at the edge."),
            ("mean_hold_s", "Mean holding time of the held acknowledgements. Missing if none were held."),
        ],
    },
    Described {
        table: "messages",
        row: "A message of a flow whose `application` writes messages: a scripted write, a request, or a response. Only if some flow has \
              messages. A row of a response exists once it is requested.",
        columns: &[
            GROUP,
            FLOW,
            ("message", "Number of the message in its flow, from 0."),
            ("size_bytes", "Payload of the message."),
            ("start_s", "Time at which the message is written or, for a response, requested by the client."),
            (
                "completion_time_s",
                "Time from `start_s` until the receiver has the message and all earlier ones. Missing for unfinished messages.",
            ),
        ],
    },
    Described {
        table: "classes",
        row: "A class at a queue with classes (`queue.classes`). Only if some queue has classes.",
        columns: &[
            ("queue", "Name of the queue: the link's name, with `.reverse` for the reverse direction."),
            ("class", "Name of the class in the scenario."),
            ("arrived_units", "Arrived units of the class, including discarded ones."),
            ("departed_units", "Transmitted units."),
            ("departed_bytes", "Transmitted bytes, including headers."),
            ("dropped_units", "Units discarded at the queue, without losses on the link."),
            (
                "loss_rate",
                "Discarded share of `arrived_units`, without units that arrived during the warm-up; 0 if none arrived.",
            ),
            ("throughput_bps", "Transmitted bits, including headers, per second of the measurement interval."),
            ("mean_wait_s", "Mean time from arrival to the start of transmission. Missing if no unit was sent."),
        ],
    },
    Described {
        table: "queue_flows",
        row: "A queue and a flow that sent units through it. Only with `record.queue_flows`.",
        columns: &[
            ("queue", "Name of the queue: the link's name, with `.reverse` for the reverse direction."),
            GROUP,
            FLOW,
            ("departed_units", "Transmitted units of the flow, data or acknowledgements."),
            ("departed_bytes", "Transmitted bytes, including headers."),
            ("throughput_bps", "Transmitted bits of the flow per second of the measurement interval."),
        ],
    },
    Described {
        table: "cwnd",
        row: "A change of a flow's congestion window.",
        columns: &[
            TIME,
            GROUP,
            FLOW,
            (
                "cwnd_packets",
                "New congestion window in segments; may be fractional. For a `stack`, in packets of its `mtu`, as the stack reports it.",
            ),
        ],
    },
    Described {
        table: "ssthresh",
        row: "A change of a flow's slow-start threshold.",
        columns: &[
            TIME,
            GROUP,
            FLOW,
            (
                "ssthresh_packets",
                "New threshold in segments. For a `stack`, in packets of its `mtu`, as the stack reports it; never unlimited.",
            ),
        ],
    },
    Described {
        table: "rtt",
        row: "An RTT sample of a sender.",
        columns: &[
            TIME,
            GROUP,
            FLOW,
            (
                "rtt_s",
                "Time from the transmission of a segment to its acknowledgement. For a `stack`, a new smoothed RTT, as the stack reports it.",
            ),
        ],
    },
    Described {
        table: "rto",
        row: "A change of a sender's retransmission timeout.",
        columns: &[
            TIME,
            GROUP,
            FLOW,
            (
                "rto_s",
                "New retransmission timeout, with the backoff after timeouts (RFC 6298). For a `stack`, as the stack reports it.",
            ),
        ],
    },
    Described {
        table: "in_flight",
        row: "An acknowledgement received by a sender.",
        columns: &[
            TIME,
            GROUP,
            FLOW,
            (
                "in_flight_packets",
                "Segments in flight: sent, and neither acknowledged nor considered lost. For a `stack`, each change, rounded to packets of its `mtu`.",
            ),
        ],
    },
    Described {
        table: "segments",
        row: "A data segment sent by a sender.",
        columns: &[
            TIME,
            GROUP,
            FLOW,
            ("segment", "Segment number, from 0. With a handshake, segment 0 is the SYN."),
            ("transmission", "1 for the first transmission, 2 for a retransmission."),
        ],
    },
    Described {
        table: "acks",
        row: "An acknowledgement received by a sender.",
        columns: &[
            TIME,
            GROUP,
            FLOW,
            ("ack", "The next segment that the receiver expects."),
            ("duplicate", "1 for a duplicate acknowledgement, otherwise 0."),
        ],
    },
    Described {
        table: "state",
        row: "A change of a sender's state.",
        columns: &[
            TIME,
            GROUP,
            FLOW,
            (
                "state",
                "`slow_start`, `congestion_avoidance`, `recovery`, `timeout` or `done`. The first two depend on whether the window is below the slow-start \
                 threshold: a controller without a threshold (`ledbat`, `swift`, `timely`, `fast`, `copa`, `bbrv1`, `bbrv3`) is in `slow_start` until a loss sets one. For a `stack`, as it reports its window, threshold and state; never `done`.",
            ),
        ],
    },
    Described {
        table: "controller",
        row: "A change of a controller's internal quantity.",
        columns: &[
            TIME,
            GROUP,
            FLOW,
            ("quantity", "Name of the quantity, as the controller defines it."),
            ("value", "New value, in the controller's unit."),
        ],
    },
    Described {
        table: "throughput",
        row: "A time bin of a flow; the width is set in `record.traces`.",
        columns: &[
            ("time_s", "Start of the bin."),
            GROUP,
            FLOW,
            (
                "throughput_bps",
                "Payload delivered in the bin, in bits per second. For a flow with a `stack`, this is the payload of the IP packets that arrived, with its headers and repeated data.",
            ),
        ],
    },
    Described {
        table: "queue",
        row: "A change of the number of units in a port.",
        columns: &[
            TIME,
            ("queue", "Name of the queue: the link's name, with `.reverse` for the reverse direction."),
            ("queue_units", "New number of units. The unit in service counts only with `counts_in_service`."),
        ],
    },
    Described {
        table: "drops",
        row: "A discarded unit.",
        columns: &[
            TIME,
            ("queue", "Name of the queue: the link's name, with `.reverse` for the reverse direction."),
            GROUP,
            FLOW,
            ("kind", "`ack` for a unit of an acknowledgement, otherwise `data`."),
            ("segment", "Number of the segment or datagram that the unit belongs to, or that caused the acknowledgement."),
            ("transmission", "1 for the first transmission, 2 for a retransmission; 0 for an acknowledgement."),
            ("reason", "`full`, `early`, `late`, `partial`, `single`, `random` or `listed`; see `queues`."),
        ],
    },
    Described {
        table: "departures",
        row: "A unit that has left a queue: its last bit has been transmitted.",
        columns: &[
            TIME,
            ("queue", "Name of the queue: the link's name, with `.reverse` for the reverse direction."),
            GROUP,
            FLOW,
            ("bytes", "Size on the wire."),
        ],
    },
    Described {
        table: "packets",
        row: "A packet sent or received by a flow's sender.",
        columns: &[
            TIME,
            GROUP,
            FLOW,
            ("kind", "`data`, `datagram` or `syn` when sent, `ack` or `syn_ack` when received."),
            ("segment", "Number of the segment or datagram; for an acknowledgement, the next expected segment."),
            ("transmission", "1 for the first transmission, 2 for a retransmission."),
            ("sequence_bytes", "Position of `segment` in the byte stream."),
            ("payload_bytes", "Payload."),
            ("bytes", "Size on the wire."),
            ("window_bytes", "Receiver window in the header."),
            ("ecn", "ECN state: `capable`, `reduced` (CWR), `echo` (ECE), `capable_echo`, `l4s` (ECT(1)), `l4s_echo`, or empty."),
            ("sack_blocks", "SACK blocks of an acknowledgement, as `FROM-TO` in bytes."),
            ("queue", "Queue at which a data packet was discarded; empty if it was not."),
            ("reason", "Reason for the discard; empty if it was not discarded."),
            ("dropped_s", "Time of the discard; missing if it was not discarded."),
        ],
    },
];

/// The reference page of all tables.
pub fn tables_markdown() -> String {
    let mut page = String::from(
        "# Tables and columns\n\nEvery run has the tables `flows`, `queues` and `groups`, and one table for each kind of trace in `record.traces`. \
         The tables of a [study](../howto/studies.md) begin with the columns `point` and `seed`, followed by the label and, for numeric axes, the number of each axis. \
         Names include units: `_s` \
         seconds, `_bps` bits per second, `_bytes`, `_packets` and `_cells`; a share is from 0 to 1. Missing values are NaN in Python, null in Arrow, empty \
         in CSV and `null` in JSON. This page is generated from the core, and a test checks the results against it.\n",
    );
    for Described { table, row, columns } in TABLES {
        page += &format!("\n## `{table}`\n\nOne row is {}{}\n\n", row[..1].to_lowercase(), &row[1..]);
        columns.iter().for_each(|(name, meaning)| page += &format!("* `{name}`: {meaning}\n"));
    }
    page + MADE_OF_THESE
}

/// Description of tables that Python computes.
const MADE_OF_THESE: &str = "
## Computed from these

`Run.completions` has one row per group and size class: `group`, `above_bytes` and `up_to_bytes` (the bounds of the class; the upper bound is inclusive, \
and missing for the last class), `flows`, `completed`, and statistics of the completed flows: `completion_mean_s`, `completion_p50_s` and so on, `slowdown_mean`, \
`slowdown_p50` and so on.

`Runs.means`, `Study.means` and `Study.difference` have one row per quantity or point: `seeds` (number of seeds used), `mean`, and `low` and `high`, \
the bounds of its 95 % confidence interval (Student's t, and for a share within 0 and 1), which are missing with a single seed and for deterministic runs. A difference is computed over pairs with the same \
seed, right minus left. A mean is missing if a value of any run is missing. `flows.*.completion_time_s` and `flows.*.slowdown` are therefore missing as soon as one \
flow is unfinished; use the percentiles in `groups` instead.

`Study.runs` has one row per run: `state` (`planned`, `running`, `done` or `failed`); `error`, the reason of a failure, otherwise empty; `events` \
and `simulated_s`, 0 until the run is done; and `content_hash`, a hash of its scenario, its seed and the sources of the core.

`Run.fairness` has two tables. `flows` has one row per greedy flow: `group`, `flow`, the measured `goodput_bps`, the fair allocations `max_min_bps` and `proportional_bps`, \
and the ratios of goodput to these, `of_max_min` and `of_proportional`. `links` has one row per queue that these flows \
cross: `queue`, `capacity_bps` (including headers), `others_bps` (the rate of other flows), `held_flows` (number of flows whose max-min bottleneck is here), \
and `price_per_bps` (derivative of the proportionally fair objective with respect to the capacity).
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_their_columns_are_described_once() {
        for (place, described) in TABLES.iter().enumerate() {
            assert!(TABLES[..place].iter().all(|before| before.table != described.table), "{}", described.table);
            for (at, (name, meaning)) in described.columns.iter().enumerate() {
                assert!(described.columns[..at].iter().all(|(before, _)| before != name), "{name}");
                assert!(meaning.ends_with('.'), "{meaning}");
            }
        }
    }
}
