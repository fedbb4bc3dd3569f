//! `queue = {...}`: the buffer of a port, its queue policy, scheduler and shaper.

use super::policy::Policy;
use super::scheduling::{Class, Scheduler};
use crate::buffer::Buffer;
use crate::member::Member;
use crate::problem::Report;
use crate::quantity::{Duration, Rate, Size};
use crate::record::record;
use tailback_core::queue::PolicySpec;
use tailback_core::settings::Kind;

record! {
    /// A queue.
    pub struct Queue {
        /// Size of the buffer in packets, cells or bytes, as the time in which the link sends it (rate times time), as a percentage of rate times
        /// `bdp_rtt`, or `unlimited`. A time is converted to bytes, or to packets of `bdp_packet_size` for a policy with thresholds in packets.
        buffer: Buffer; "100 packets",
        /// Count the packet or cell in transmission as buffered. By default true for a buffer in cells, otherwise false.
        counts_in_service: Option<bool>,
        /// Round-trip time of the bandwidth-delay product for a `buffer` in percent.
        bdp_rtt: Option<Duration>; "100 ms",
        /// Packet size for converting a `buffer` in percent to packets.
        bdp_packet_size: Size = Size::new(1500),
        /// Scheduler of several queues that share the buffer: one queue per flow, each with the policy, or one per entry of `classes`.
        scheduler: Option<Scheduler>,
        /// Queues of the scheduler, one per traffic class. Priority schedulers serve them in this order.
        classes: Option<Vec<Class>>,
        /// Token bucket behind the queue, which limits the long-term rate of the link.
        shaper: Option<Shaper>,
    }
    with
    /// Queue policy, which admits, marks or discards packets or cells.
    policy: Policy
}

record! {
    /// Token bucket behind a queue. A packet that waits for tokens does not count as buffered.
    pub struct Shaper {
        /// Token rate, headers included.
        rate: Rate,
        /// Bucket size, 1 B to 1 GB. A larger packet leaves when the bucket is full and leaves a deficit.
        burst: Size; "15 kB",
    }
}

/// Queue of an interface in Linux, in packets (`DEFAULT_TX_QUEUE_LEN`).
const INTERFACE_PACKETS: u64 = 1000;

impl Queue {
    /// The queue of a host's interface.
    pub(crate) fn of_interface() -> Queue {
        Queue { buffer: Buffer::Packets(INTERFACE_PACKETS), ..Queue::default() }
    }

    pub(crate) fn counts_in_service(&self) -> bool {
        self.counts_in_service.unwrap_or(matches!(self.buffer, Buffer::Cells(_)))
    }
}

impl Queue {
    /// Whether the policy compares the queue with thresholds in packets, so that a buffer in time is converted to packets.
    fn has_packet_thresholds(&self) -> bool {
        let Member::BuiltIn(config, _) = &self.policy else { return false };
        if config.has_thresholds_in_bytes() {
            return false;
        }
        let policy = PolicySpec::MEMBERS.iter().find(|member| member.name == config.name());
        policy.is_some_and(|policy| policy.settings.iter().any(|setting| matches!(setting.kind, Kind::QueueLength)))
    }

    /// The buffer of a port with this total rate: a percentage in packets and a time in bytes; `None` if an error was reported.
    pub(crate) fn resolved(&self, rate: f64, at: &str, report: &mut Report) -> Option<Buffer> {
        let Buffer::Share(share) = self.buffer else {
            let Buffer::Time(time) = self.buffer else { return Some(self.buffer) };
            let bytes = rate * time.time_delta().seconds() / 8.0;
            return Some(match self.has_packet_thresholds() {
                true => Buffer::Packets((bytes / self.bdp_packet_size.bytes().max(1) as f64).round() as u64),
                false => Buffer::Bytes(Size::new(bytes.round() as u64)),
            });
        };
        let Some(rtt) = self.bdp_rtt else {
            let problem = report.add(format!("{at}.buffer"), "`buffer` in percent requires `bdp_rtt`");
            problem.given(share.to_string()).expected("also `bdp_rtt`, the round-trip time of the bandwidth-delay product");
            return None;
        };
        let packet = self.bdp_packet_size.bytes();
        if packet == 0 {
            let problem = report.add(format!("{at}.bdp_packet_size"), "`bdp_packet_size` is zero");
            problem.given("0 B").expected("at least 1 B");
            return None;
        }
        let bits = rate * rtt.time_delta().seconds();
        Some(Buffer::Packets((share.share() * bits / (8 * packet) as f64).round() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Decode, Decoder};
    use crate::schema::policy_spec;
    use tailback_core::primitives::units::TimeDelta;
    use tailback_core::queue::{
        ActiveVcs, BpdSpec, CodelSpec, EpdPerVcSpec, EpdSpec, PieSpec, RedQueueUnit, RedSignals, RedSpec, SpdSpec, SpdVariant,
        ThresholdSpec,
    };
    use tailback_core::settings::QueueLength;

    /// A queue from JSON, the policy for the core, and the errors as path and message. The port rate is 8 Mbit/s.
    fn read(json: &str) -> (Queue, PolicySpec, Vec<(String, String)>) {
        let (node, source) = crate::tree::from_json(json, "").unwrap();
        let mut decoder = Decoder::new(Report::new(&source));
        let queue = decoder.inside("queue", |decoder| Queue::decode(&node, decoder)).unwrap();
        let mut report = decoder.report;
        let resolved = queue.resolved(8e6, "queue", &mut report);
        let spec = policy_spec(&queue.policy, queue.buffer, resolved, "queue", &mut report).unwrap();
        let problems = report.finish().list.into_iter().map(|problem| (problem.at, problem.message)).collect();
        (queue, spec, problems)
    }

    fn spec(json: &str) -> PolicySpec {
        let (queue, spec, problems) = read(json);
        assert_eq!(problems, []);
        let (again, same, _) = read(&serde_json::to_string(&queue).unwrap());
        assert_eq!((again, &same), (queue, &spec));
        spec
    }

    #[test]
    fn thresholds_are_cells_or_shares_of_the_buffer() {
        let bpd = |buffer: &str| {
            let json =
                r#"{"policy": "bpd", "buffer": "BUFFER", "lower_threshold": "40 %", "upper_threshold": "900 cells", "gap": 25}"#;
            spec(&json.replace("BUFFER", buffer))
        };
        let of_cells = |lower_threshold| PolicySpec::Bpd(BpdSpec { lower_threshold, upper_threshold: 900, gap: 25 });
        assert_eq!(bpd("1200 cells"), of_cells(480));
        // 40 % of 1001 cells are 400.4, of 1004 cells 401.6.
        assert_eq!((bpd("1001 cells"), bpd("1004 cells")), (of_cells(400), of_cells(402)));
        // 50000 / 53 = 943.4: 943 whole cells, of which 40 % are 377.2.
        assert_eq!(bpd("50 kB"), of_cells(377));
    }

    #[test]
    fn half_a_cell_is_rounded_up() {
        // 14.5 % of 100 cells; as 0.145 x 100 in floating point it would be below 14.5.
        let epd = spec(r#"{"policy": "epd", "buffer": "100 cells", "threshold": "14.5 %"}"#);
        assert_eq!(epd, PolicySpec::Epd(EpdSpec { threshold: 15 }));
    }

    #[test]
    fn all_settings_reach_the_core() {
        let json = r#"{"policy": "spd", "buffer": "1000 cells", "dropping_threshold": "20 cells", "epd_threshold": "70 %",
            "congestion_threshold": "200 cells", "variant": "printed"}"#;
        let printed =
            SpdSpec { dropping_threshold: Some(20), epd_threshold: 700, congestion_threshold: 200, variant: SpdVariant::Printed };
        assert_eq!(spec(json), PolicySpec::Spd(printed));
        let off = json.replace("\"20 cells\"", "\"none\"").replace(", \"variant\": \"printed\"", "");
        let corrected = SpdSpec { dropping_threshold: None, variant: SpdVariant::Corrected, ..printed };
        assert_eq!(spec(&off), PolicySpec::Spd(corrected));
        let per_vc =
            |rest: &str| spec(&format!(r#"{{"policy": "epd_per_vc", "buffer": "1000 cells", "threshold": "70 %"{rest}}}"#));
        let of_vcs = |active_vcs| PolicySpec::EpdPerVc(EpdPerVcSpec { threshold: 700, active_vcs });
        assert_eq!(per_vc(""), of_vcs(ActiveVcs::Configured));
        assert_eq!(per_vc(r#", "active_vcs": "backlogged""#), of_vcs(ActiveVcs::Backlogged));
        assert_eq!(spec(r#"{"policy": "ppd", "buffer": "unlimited"}"#), PolicySpec::Ppd(()));
    }

    #[test]
    fn the_unit_in_service_counts_if_the_buffer_is_in_cells() {
        let counts = |json: &str| read(json).0.counts_in_service();
        assert!(counts(r#"{"buffer": "9 cells"}"#));
        assert!(!counts(r#"{"buffer": "9 cells", "counts_in_service": false}"#));
        assert!(
            !counts(r#"{"buffer": "9 packets"}"#) && !counts(r#"{"buffer": "9 kB"}"#) && !counts(r#"{"buffer": "unlimited"}"#)
        );
    }

    #[test]
    fn settings_of_active_queue_management_reach_the_core() {
        let red = |rest: &str| spec(&format!(r#"{{"policy": "red", "buffer": "80 packets", "min_threshold": "25 %"{rest}}}"#));
        let usual = RedSpec {
            min_threshold: 20.into(),
            max_threshold: 60.into(),
            weight: 0.002,
            max_probability: 0.1,
            gentle: true,
            mean_packet_size: 1000,
            queue_unit: RedQueueUnit::Packets,
            min_queue: 0,
            signals: RedSignals::Marks,
        };
        assert_eq!(red(r#", "max_threshold": "60 packets""#), PolicySpec::Red(usual));
        let given =
            r#", "max_threshold": "75 %", "weight": 0.01, "max_probability": 0.02, "gentle": false, "mean_packet_size": "500 B""#;
        let other = RedSpec { weight: 0.01, max_probability: 0.02, gentle: false, mean_packet_size: 500, ..usual };
        assert_eq!(red(given), PolicySpec::Red(other));
        let words = r#", "max_threshold": "60 packets", "queue_unit": "bytes", "signals": "drops""#;
        assert_eq!(red(words), PolicySpec::Red(RedSpec { queue_unit: RedQueueUnit::Bytes, signals: RedSignals::Drops, ..usual }));
        // RFC 8289 sections 4.2 and 4.3, RFC 8033 sections 4 and 5.1.
        let ms = TimeDelta::from_millis;
        let codel = CodelSpec { target: ms(5), interval: ms(100) };
        assert_eq!(spec(r#"{"policy": "codel", "buffer": "unlimited"}"#), PolicySpec::Codel(codel));
        let pie =
            PieSpec { target: ms(15), period: ms(15), max_burst: ms(150), max_mark_probability: 0.1, mean_packet_size: 1000 };
        assert_eq!(spec(r#"{"policy": "pie", "buffer": "50 kB"}"#), PolicySpec::Pie(pie));
        let switch = spec(r#"{"policy": "threshold", "buffer": "80 packets", "threshold": "25 %"}"#);
        assert_eq!(switch, PolicySpec::Threshold(ThresholdSpec { threshold: 20.into() }));
    }

    #[test]
    fn settings_that_disable_the_policy_cause_warnings() {
        let spd = |dropping: &str, congestion: &str| SpdSpec {
            dropping_threshold: dropping.parse().ok(),
            epd_threshold: 700,
            congestion_threshold: congestion.parse().unwrap(),
            variant: SpdVariant::Corrected,
        };
        let warned = |dropping, congestion| PolicySpec::Spd(spd(dropping, congestion)).check().len();
        // With 699 cells, EPD discards at every length above the congestion threshold. With 698, one length is left for SPD.
        assert_eq!((warned("20", "699"), warned("20", "698"), warned("none", "700")), (1, 0, 0));
        assert_eq!((warned("0", "200"), warned("1", "200")), (1, 0));
    }

    #[test]
    fn a_threshold_in_percent_of_a_buffer_in_percent_counts_packets() {
        // Half of 8 Mbit/s over 100 ms: 50,000 bytes, 50 packets of 1000; a tenth of these and 60 %.
        let json = r#"{"policy": "red", "buffer": "50 %", "bdp_rtt": "100 ms", "bdp_packet_size": "1000 B", "min_threshold": "10 %", "max_threshold": "60 %"}"#;
        let PolicySpec::Red(RedSpec { min_threshold, max_threshold, .. }) = spec(json) else { panic!("not RED") };
        assert_eq!((min_threshold, max_threshold), (5.into(), 30.into()));
        let beyond = json.replace("60 %", "51 packets");
        assert_eq!(read(&beyond).2, [("queue.max_threshold".into(), "`max_threshold` exceeds the buffer".into())]);
    }

    #[test]
    fn a_buffer_in_time_is_rate_times_time() {
        // 8 Mbit/s for 50 ms: 50,000 bytes, or 33 packets of 1500 bytes, of which a quarter are 8.
        let resolved = |json: &str| {
            let (queue, spec, problems) = read(json);
            assert_eq!(problems, []);
            (queue.resolved(8e6, "queue", &mut Report::new(&crate::location::Source::default())), spec)
        };
        assert_eq!(resolved(r#"{"buffer": "50 ms"}"#).0, Some(Buffer::Bytes(Size::new(50_000))));
        let red = resolved(r#"{"buffer": "50 ms", "policy": "red", "min_threshold": "25 %", "max_threshold": "75 %"}"#);
        assert_eq!(red.0, Some(Buffer::Packets(33)));
        let PolicySpec::Red(RedSpec { min_threshold, max_threshold, .. }) = red.1 else { panic!("not RED") };
        assert_eq!((min_threshold, max_threshold), (8.into(), 25.into()));
        // With a threshold in bytes, the buffer is in bytes.
        let switch = resolved(r#"{"buffer": "50 ms", "policy": "threshold", "threshold": "30 kB"}"#);
        assert_eq!(switch.0, Some(Buffer::Bytes(Size::new(50_000))));
    }

    #[test]
    fn thresholds_in_bytes_are_those_of_a_buffer_in_bytes() {
        let switch = |threshold: &str, buffer: &str| {
            let json = r#"{"policy": "threshold", "threshold": "THRESHOLD", "buffer": "BUFFER"}"#;
            read(&json.replace("THRESHOLD", threshold).replace("BUFFER", buffer))
        };
        let of_bytes = |bytes| PolicySpec::Threshold(ThresholdSpec { threshold: QueueLength::Bytes(bytes) });
        let valid = |threshold, buffer| {
            let (_, spec, problems) = switch(threshold, buffer);
            assert_eq!(problems, []);
            spec
        };
        assert_eq!(valid("30 kB", "1 MB"), of_bytes(30_000));
        assert_eq!((valid("25 %", "1 MB"), valid("30 kB", "unlimited")), (of_bytes(250_000), of_bytes(30_000)));
        assert_eq!(switch("1001 kB", "1 MB").2, [("queue.threshold".into(), "`threshold` exceeds the buffer".into())]);
        let differ = |threshold, buffer| switch(threshold, buffer).2[0].1.clone();
        assert_eq!(differ("30 kB", "100 packets"), "`threshold` and `buffer` have different units");
        assert_eq!(differ("30 packets", "1 MB"), "`threshold` and `buffer` have different units");
        let red = r#"{"policy": "red", "buffer": "90 kB", "min_threshold": "30 kB", "max_threshold": "60 kB"}"#;
        assert_eq!(read(red).2[0].0, "queue.queue_unit");
        let PolicySpec::Red(spec) = spec(&red.replace("\"90 kB\"", "\"90 kB\", \"queue_unit\": \"bytes\"")) else {
            panic!("not RED")
        };
        assert_eq!((spec.min_threshold, spec.max_threshold), (QueueLength::Bytes(30_000), QueueLength::Bytes(60_000)));
    }

    #[test]
    fn thresholds_may_be_the_whole_buffer_and_equal() {
        let json =
            r#"{"policy": "bpd", "buffer": "60 cells", "lower_threshold": "100 %", "upper_threshold": "60 cells", "gap": 0}"#;
        assert_eq!(spec(json), PolicySpec::Bpd(BpdSpec { lower_threshold: 60, upper_threshold: 60, gap: 0 }));
    }

    #[test]
    fn an_error_is_reported_once() {
        // An invalid buffer or threshold causes no further errors in keys that depend on it.
        let (.., problems) =
            read(r#"{"policy": "bpd", "buffer": 1200, "lower_threshold": "40 %", "upper_threshold": "90 %", "gap": 25}"#);
        assert_eq!(problems, [("queue.buffer".into(), "`buffer` has no unit".into())]);
        let (.., problems) =
            read(r#"{"policy": "bpd", "buffer": "9 cells", "lower_threshold": "4 cells", "upper_threshold": 8, "gap": 25}"#);
        assert_eq!(problems, [("queue.upper_threshold".into(), "`upper_threshold` has no unit".into())]);
    }
}
