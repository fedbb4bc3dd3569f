//! A cut-through trunk, packet by packet, against the detailed model of cui-thesis section 3.6.1: M inputs, each idle for an exponential
//! time and then receiving a packet of exponential length; K transmitters; B buffer places, each free again when its packet begins to
//! leave. A queued packet takes as long to leave as it took to arrive: the variant `own_length`.
//!
//! As in `queues.rs`, a mean packet takes 1 ms and has 10,000 bytes, so that rounding to whole bytes is negligible. The expected value is
//! within the 99.9 % confidence interval of 30 seeds, whose half-width is less than 2 %.

use crate::common::statistics::{Interval, SEEDS};
use crate::common::{first, flow, group, port, route, run};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use tailback_core::network::{AccessLink, Buffer, Flow, MAX_PACKET, Network, Port, Recording, Switching, Transport};
use tailback_core::price::PriceSpec;
use tailback_core::primitives::random::{Entity, Purpose, Stream};
use tailback_core::primitives::units::{Bytes, Rate, TimeDelta};
use tailback_core::traffic::{AlternatingSpec, Arrivals, DatagramSpec, PacketSize, ProcessSpec};
use tailback_models::ParameterError;
use tailback_models::parameter::{Load, Places, Servers};
use tailback_models::queues::mmck;
use tailback_models::trunk::monte_carlo::{Settings, Simulation};
use tailback_models::trunk::{DetailedChain, Trunk, TrunkVariant};

const SERVICE_S: f64 = 1e-3;
const MEAN_BYTES: u32 = 10_000;
const RATE: Rate = Rate(80_000_000);

/// Maximum half-width of an interval, relative to the expected value.
const HALF_WIDTH: f64 = 0.02;
/// Student's t with 31 degrees of freedom: 99.9 % point over 95 % point.
const TO_99_9: f64 = 3.633 / 2.0395;

/// Inputs, transmitters, places.
type Size = (u64, u64, u64);

#[derive(Clone, Copy)]
enum Inputs {
    /// A private link for each flow.
    Private,
    /// A link for each flow, with its own queue, which is always empty.
    Links,
}

#[test]
fn the_loss_of_a_bufferless_trunk_matches_the_exact_chain() -> Result<(), ParameterError> {
    for (size, load) in [((4, 2, 0), 0.5), ((3, 1, 0), 1.5), ((16, 2, 0), 0.8), ((60, 20, 0), 0.9)] {
        let mut chain = DetailedChain::new(&trunk(size)?, load, TrunkVariant::OwnLength)?;
        let exact = std::iter::from_fn(|| Some(chain.sweep())).flatten().next().map_or(f64::NAN, libm::exp);
        for inputs in [Inputs::Private, Inputs::Links] {
            let measured = Measured::of(size, load, inputs, Switching::CutThrough, 40_000);
            measured.loss.assert_holds(&format!("loss of {size:?} at {load}"), exact, HALF_WIDTH);
            // Whether or not a packet is discarded, its input is busy while it arrives.
            measured.arrivals.assert_holds("packets in a service time", load * size.1 as f64, HALF_WIDTH);
        }
    }
    Ok(())
}

#[test]
fn the_loss_of_a_trunk_with_a_buffer_matches_the_detailed_model() -> Result<(), ParameterError> {
    for (size, load) in [((3, 1, 2), 0.7), ((4, 2, 3), 0.9), ((2, 1, 6), 1.4), ((16, 2, 5), 0.9)] {
        let ours = Measured::of(size, load, Inputs::Private, Switching::CutThrough, 80_000).loss;
        let (expected, half_width) = detailed(size, load)?;
        let (apart, near) = ((ours.mean - expected).abs(), half_width.hypot(ours.half_width));
        assert!(
            apart < near && near < 2.0 * HALF_WIDTH * expected,
            "{size:?} at {load}: {ours:?} for {expected} +- {half_width}"
        );
    }
    Ok(())
}

#[test]
fn the_detailed_model_matches_a_direct_implementation() -> Result<(), ParameterError> {
    for (size, load) in [((3, 1, 2), 0.7), ((4, 2, 3), 0.9), ((2, 1, 6), 1.4), ((6, 2, 8), 1.0)] {
        let port_by_port: Vec<f64> = SEEDS.map(|seed| loss_port_by_port(size, load, seed, 60_000)).collect();
        let ((expected, half_width), theirs) = (detailed(size, load)?, Interval::of(&port_by_port));
        let apart = (expected - theirs.mean).abs();
        let (near, small) = (half_width.hypot(theirs.half_width), 0.05 * theirs.mean);
        assert!(apart < near && near < small, "{size:?} at {load}: {expected} +- {half_width} and {theirs:?}");
    }
    Ok(())
}

#[test]
fn loss_and_wait_with_many_inputs_match_mmck() -> Result<(), ParameterError> {
    let (size, load) = ((20_000, 4, 6), 0.9);
    let expected = mmck(Load::new(load)?, Servers::new(4)?, Places::new(4 + 6)?);
    let measured = Measured::of(size, load, Inputs::Private, Switching::CutThrough, 60_000);
    measured.loss.assert_holds("M/M/4/10 loss", expected.loss, HALF_WIDTH);
    measured.wait.assert_holds("M/M/4/10 wait", expected.mean_wait, HALF_WIDTH);
    Ok(())
}

#[test]
fn a_cut_through_trunk_with_at_least_one_transmitter_per_input_loses_nothing() {
    // A packet leaves while it arrives, so that an input with a new packet has sent its previous one completely. At a store-and-forward
    // port it may still be leaving.
    let lost = |switching| Measured::of((2, 2, 0), 0.9, Inputs::Private, switching, 20_000).loss.mean;
    assert_eq!(lost(Switching::CutThrough), 0.0);
    assert!(lost(Switching::StoreAndForward) > 0.1);
}

fn trunk((inputs, transmitters, buffer): Size) -> Result<Trunk, ParameterError> {
    Trunk::new(inputs, transmitters, buffer)
}

/// The loss of the detailed model, simulated, and the half-width of its 99.9 % interval.
fn detailed(size: Size, load: f64) -> Result<(f64, f64), ParameterError> {
    let mut simulation = Simulation::new(Settings {
        trunk: trunk(size)?,
        load,
        variant: TrunkVariant::OwnLength,
        relative_width: 0.01,
        max_arrivals: 1_000_000_000,
        splitting: true,
        seed: 1,
    })?;
    while !simulation.conclude() {
        simulation.segments(u64::MAX).into_iter().for_each(|segment| segment.run());
    }
    let estimate = simulation.estimate();
    Ok((estimate.loss, TO_99_9 * estimate.half_width))
}

/// A direct implementation of the same model: each input draws its own gaps and lengths, and all events are in one calendar.
fn loss_port_by_port((inputs, transmitters, buffer): Size, load: f64, seed: u64, arrivals: u64) -> f64 {
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    enum Event {
        Sent,
        Begins(u64),
    }
    let active = load * transmitters as f64 / inputs as f64;
    let lambda = active / (1.0 - active);
    let (gaps, lengths) = (
        Stream::new(Entity { seed, name: "trunk", index: 0 }, Purpose::Gap),
        Stream::new(Entity { seed, name: "trunk", index: 0 }, Purpose::Size),
    );
    // The bit patterns of non-negative times have the same order as the times.
    let mut calendar = BinaryHeap::new();
    let mut waiting: VecDeque<f64> = VecDeque::new();
    let (mut sending, mut came, mut lost) = (0, 0, 0u64);
    for input in 0..inputs {
        calendar.push(Reverse(((gaps.exponential(input) / lambda).to_bits(), Event::Begins(input))));
    }
    while let Some(Reverse((now, event))) = calendar.pop() {
        let now = f64::from_bits(now);
        match event {
            Event::Sent => match waiting.pop_front() {
                Some(length) => calendar.push(Reverse(((now + length).to_bits(), Event::Sent))),
                None => sending -= 1,
            },
            Event::Begins(input) => {
                if came == arrivals {
                    break;
                }
                let length = lengths.exponential(came);
                let next = now + length + gaps.exponential(inputs + came) / lambda;
                calendar.push(Reverse((next.to_bits(), Event::Begins(input))));
                came += 1;
                if sending < transmitters {
                    sending += 1;
                    calendar.push(Reverse(((now + length).to_bits(), Event::Sent)));
                } else if (waiting.len() as u64) < buffer {
                    waiting.push_back(length);
                } else {
                    lost += 1;
                }
            }
        }
    }
    lost as f64 / arrivals as f64
}

/// Measurements over all seeds.
struct Measured {
    loss: Interval,
    /// In service times, for accepted packets.
    wait: Interval,
    /// Per service time.
    arrivals: Interval,
}

impl Measured {
    /// `load` is per transmitter; each seed sends about `packets`.
    fn of(size: Size, load: f64, inputs: Inputs, switching: Switching, packets: u32) -> Measured {
        let mut network = network(size, load, inputs, switching);
        network.warmup = TimeDelta::from_seconds(1000.0 * SERVICE_S);
        let measured_s = f64::from(packets) * SERVICE_S / (load * size.1 as f64);
        network.duration = network.warmup + TimeDelta::from_seconds(measured_s);
        let (mut loss, mut wait, mut arrivals) = (Vec::new(), Vec::new(), Vec::new());
        for seed in SEEDS {
            network.seed = seed;
            // The trunk is the first port.
            let queues = run(network.clone()).queues;
            loss.push(first(&queues, "loss_rate"));
            wait.push(first(&queues, "mean_wait_s") / SERVICE_S);
            arrivals.push(first(&queues, "arrived_units") / measured_s * SERVICE_S);
        }
        Measured { loss: Interval::of(&loss), wait: Interval::of(&wait), arrivals: Interval::of(&arrivals) }
    }
}

/// The duration is set by the caller.
fn network((inputs, transmitters, buffer): Size, load: f64, kind: Inputs, switching: Switching) -> Network {
    // (3.14): an input is busy for load K / M of the time, and a packet takes one service time.
    let busy = load * transmitters as f64 / inputs as f64;
    let mean_idle = TimeDelta::from_seconds(SERVICE_S * (1.0 - busy) / busy);
    let spec = DatagramSpec {
        arrivals: Arrivals::Process(ProcessSpec::Alternating(AlternatingSpec { rate: RATE, mean_idle })),
        packet: PacketSize::Exponential { mean: MEAN_BYTES.into(), maximum: MAX_PACKET },
        header: Bytes(0),
    };
    let trunk = Port {
        transmitters: transmitters as u32,
        buffer: Buffer::Units(buffer),
        switching,
        ..port("trunk", RATE, TimeDelta::ZERO)
    };
    let mut ports = vec![trunk, port("back", RATE, TimeDelta::ZERO)];
    let mut paths = vec![route([0]), route([1])];
    let mut flows: Vec<Flow> = (0..inputs).map(|_| flow(0, 0, 1)).collect();
    for (index, flow) in (0..inputs as u32).zip(&mut flows) {
        match kind {
            Inputs::Private => flow.sender_access = AccessLink { rate: Some(RATE), delay: TimeDelta::ZERO },
            Inputs::Links => {
                ports.push(port(&format!("input{index}"), RATE, TimeDelta::from_millis(1)));
                flow.forward = paths.len() as u32;
                paths.push(route([ports.len() as u32 - 1, 0]));
            }
        }
    }
    Network {
        ports,
        paths,
        groups: vec![group("input", Transport::Datagram(spec))],
        flows,
        messages: Default::default(),
        changes: Vec::new(),
        duration: TimeDelta::ZERO,
        warmup: TimeDelta::ZERO,
        seed: 1,
        record: Recording::default(),
        stepped: false,
        prices: PriceSpec::default(),
    }
}
