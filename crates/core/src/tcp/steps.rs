//! The steps of loops over segments or ranges, which tests count: the work per segment must not depend on the window.

/// Counts a step, in tests only.
#[inline]
pub(in crate::tcp) fn count_step() {
    #[cfg(test)]
    tests::STEPS.set(tests::STEPS.get() + 1);
}

#[cfg(test)]
pub(in crate::tcp) mod tests {
    use crate::congestion::ControllerSpec;
    use crate::primitives::packet::Slab;
    use crate::primitives::units::{Segments, Time, TimeDelta};
    use crate::tcp::bench::plain;
    use crate::tcp::receiver::Receiver;
    use crate::tcp::{AckFields, LoneSender, Recovery, TcpSpec};
    use std::cell::Cell;
    use std::collections::VecDeque;

    thread_local! {
        pub(in crate::tcp) static STEPS: Cell<u64> = const { Cell::new(0) };
    }

    /// Steps per segment sent, if this many are sent at one instant and the first transmission of one in fifty is lost.
    fn steps_per_segment(recovery: Recovery, controller: &ControllerSpec, window: u32) -> f64 {
        let (initial_window, receiver_window) = (f64::from(window), Segments(window));
        let spec = TcpSpec { recovery, initial_window, receiver_window, timestamps: true, ..plain() };
        let mut sender = LoneSender::new(spec, controller, 1);
        let (mut receiver, mut pool) = (Receiver::new(), Slab::default());
        let (before, mut sent, mut now) = (STEPS.get(), 0, Time::ZERO);
        let mut line = VecDeque::new();
        sender.write(Segments(window));
        while receiver.expected.0 < window {
            let departures = sender.take_departures();
            sent += departures.len();
            line.extend(departures.into_iter().filter(|departure| !departure.is_new || departure.segment.0 % 50 != 49));
            let Some(arrival) = line.pop_front() else {
                now += TimeDelta::from_millis(100);
                sender.advance(now);
                continue;
            };
            now = (arrival.time + TimeDelta::from_millis(100)).max(now + TimeDelta::from_micros(1));
            sender.advance(now);
            receiver.on_segment(arrival.segment, arrival.time, None, &mut pool);
            let received = receiver.blocks(3, &pool);
            let blocks = received.as_ref().filter(|_| recovery.uses_sack()).map_or(&[][..], |received| received.ranges());
            let ack =
                AckFields { ack: receiver.expected, blocks, echo: arrival.time, echoes_mark: false, window: receiver_window };
            assert!(sender.acknowledge(&ack));
        }
        (STEPS.get() - before) as f64 / sent as f64
    }

    #[test]
    fn the_work_per_segment_does_not_grow_with_the_window() {
        let is_tested = |law: &ControllerSpec| ["reno", "bbrv1"].map(Some).contains(&law.name());
        let mut laws = ControllerSpec::samples();
        laws.dedup_by_key(|law| law.name());
        laws.retain(is_tested);
        assert_eq!(laws.len(), 2);
        for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::BpdSack, Recovery::RackTlp] {
            for law in &laws {
                let (few, many) = (steps_per_segment(recovery, law, 4000), steps_per_segment(recovery, law, 64_000));
                assert!(
                    many <= 1.2 * few.max(1.0),
                    "{recovery:?}, {:?}: {few} with 4000 segments, {many} with 64,000",
                    law.name()
                );
                assert!(recovery != Recovery::RackTlp || few > 1.0, "{few}");
            }
        }
    }
}
