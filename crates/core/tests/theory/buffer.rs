//! Utilisation of a link by one flow as a function of the buffer. The closed form describes a fluid. The simulator is compared with the
//! same sawtooth in whole packets, and the sawtooth with the closed form as the bandwidth-delay product grows.

use crate::common::statistics::{Interval, SEEDS};
use crate::common::{classic_tcp, first, flow, group, one_link, port, reno, run};
use tailback_core::network::{Buffer, Flow, Group, Network, Port};
use tailback_core::primitives::random::{Entity, Purpose, Stream};
use tailback_core::primitives::units::{Rate, Time, TimeDelta};
use tailback_core::tcp::{Recovery, SsthreshFrom, TcpSpec};
use tailback_models::ParameterError;
use tailback_models::parameter::NonNegative;
use tailback_models::tcp::single_flow_utilisation;

/// Buffers in quarters of the bandwidth-delay product.
const BUFFERS: [u32; 4] = [0, 1, 2, 4];

/// Bandwidth-delay product of the runs in packets: 1000 bytes in 0.5 ms, so that the empty round trip is 100 ms.
const PRODUCT: u32 = 200;
const SEGMENT_S: f64 = 0.5e-3;

#[test]
fn the_sawtooth_is_within_the_interval_of_thirty_seeds() {
    for quarters in BUFFERS {
        let places = waiting_places(PRODUCT, quarters);
        let expected = sawtooth(PRODUCT, places);
        // Each measurement begins at a random phase of the period.
        let phase = |seed| {
            Stream::new(Entity { seed, name: "start", index: 0 }, Purpose::Start).uniform(0) * expected.packet_times * SEGMENT_S
        };
        let utilisations: Vec<f64> = SEEDS.map(|seed| measure(places, seed, phase(seed), 100.0)).collect();
        let measured = Interval::of(&utilisations);
        if quarters == 4 {
            // A link that is never idle has no variance.
            assert!(measured.mean > 0.9999, "{measured:?}");
        } else {
            measured.assert_holds(&format!("{quarters} quarters"), expected.utilisation, 0.02);
        }
    }
}

#[test]
fn over_whole_periods_the_simulator_matches_the_sawtooth() {
    for quarters in BUFFERS {
        let places = waiting_places(PRODUCT, quarters);
        let expected = sawtooth(PRODUCT, places);
        let measured = measure(places, 1, 0.0, 10.0 * expected.packet_times * SEGMENT_S);
        // The rounds of the sawtooth are whole; a measurement ends within one.
        let rounding = 1.5e-4;
        assert!((measured - expected.utilisation).abs() < rounding, "{quarters} quarters: {measured} for {expected:?}");
    }
}

#[test]
fn the_formula_is_the_limit_of_large_products_and_off_by_two_thirds_of_a_packet() -> Result<(), ParameterError> {
    for (quarters, packets) in BUFFERS.into_iter().zip([0.38, 0.66, 0.50, 0.0]) {
        for product in [400, 4000] {
            let places = waiting_places(product, quarters);
            let buffer = NonNegative::new("buffer_over_bdp", f64::from(places) / f64::from(product))?;
            let missing = (single_flow_utilisation(buffer) - sawtooth(product, places).utilisation) * f64::from(product);
            assert!((missing - packets).abs() < 0.01, "{quarters} quarters of {product}: {missing} packets");
        }
    }
    Ok(())
}

/// At least two packets: when the window grows, two packets are sent at once, and jitter may add one.
fn waiting_places(product: u32, quarters: u32) -> u32 {
    (quarters * product / 4).max(2)
}

/// One period of a window that grows by one packet per round trip and is halved when it overflows the buffer.
#[derive(Debug)]
struct Sawtooth {
    utilisation: f64,
    packet_times: f64,
}

/// [`single_flow_utilisation`] in whole packets, with the effects that it omits: returning acknowledgements are those of the window one
/// round trip ago, growth waits for them, and recovery first lets the network drain to half a window.
fn sawtooth(product: u32, places: u32) -> Sawtooth {
    // The window that overflows, and half of it, which recovery sends.
    let full = product + places + 1;
    let half = full / 2;
    let mut idle = u64::from((full - half).saturating_sub(places));
    let (mut window, mut round, mut acks, mut carried) = (f64::from(half), half, 0, 0u64);
    while window < f64::from(full) {
        window += 1.0 / window;
        carried += 1;
        acks += 1;
        if acks == round {
            idle += u64::from(product.saturating_sub(round));
            (round, acks) = (window as u32, 0);
        }
    }
    // Packets in flight when the packet is lost, and packets sent until the loss is detected.
    carried += u64::from(2 * full - 1);
    let packet_times = (carried + idle) as f64;
    Sawtooth { utilisation: carried as f64 / packet_times, packet_times }
}

/// Utilisation over `measured_s` by a flow that starts at `start_s`.
fn measure(places: u32, seed: u64, start_s: f64, measured_s: f64) -> f64 {
    let delay = TimeDelta::from_seconds(SEGMENT_S * f64::from(PRODUCT - 1));
    let link = Port { buffer: Buffer::Units(places.into()), ..port("link", Rate(16_000_000), delay) };
    let reverse = port("reverse", Rate(320_000_000_000), TimeDelta::ZERO);
    let ssthresh = f64::from(PRODUCT) / 2.0;
    let spec = TcpSpec { initial_ssthresh: ssthresh, ssthresh_from: SsthreshFrom::FlightSize, ..classic_tcp(Recovery::Sack) };
    let sender = Group { jitter: TimeDelta::from_micros(20), ..group("sender", reno(spec)) };
    let started = Flow { start: Time::ZERO + TimeDelta::from_seconds(start_s), ..flow(0, 0, 1) };
    // Long enough for the longest start, slow start and the first overflow.
    let warmup = TimeDelta::from_seconds(60.0);
    let network = one_link([link, reverse], sender, vec![started], warmup + TimeDelta::from_seconds(measured_s));
    first(&run(Network { warmup, seed, ..network }).queues, "utilisation")
}
