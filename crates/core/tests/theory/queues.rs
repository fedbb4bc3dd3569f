//! One port under Poisson arrivals: the closed form is within the 99.9 % confidence interval of 30 seeds, whose half-width is less than 2
//! %.
//!
//! A mean packet takes 1 ms to send. Exponential lengths have a mean of 10,000 bytes, so that rounding to whole bytes is negligible: it
//! keeps the mean and adds 1/12 of a byte squared to a variance of 10^8.

use crate::common::statistics::{Interval, SEEDS};
use crate::common::{first, flow, group, one_link, port, run};
use tailback_core::network::{Buffer, Flow, MAX_PACKET, Port, Transport};
use tailback_core::primitives::units::{Bytes, Rate, TimeDelta};
use tailback_core::traffic::{Arrivals, DatagramSpec, PacketSize, PoissonSpec, ProcessSpec};
use tailback_models::ParameterError;
use tailback_models::parameter::{Load, Places, Servers, StableLoad};
use tailback_models::queues::{erlang_b, md1_mean_wait, md1k, mm1k, mmck};

const SERVICE_S: f64 = 1e-3;
const MEAN_BYTES: u32 = 10_000;
const FIXED: PacketSize = PacketSize::Fixed(Bytes(MEAN_BYTES as u64));
const EXPONENTIAL: PacketSize = PacketSize::Exponential { mean: MEAN_BYTES as f64, maximum: MAX_PACKET };

/// Maximum half-width of an interval, relative to the expected value.
const HALF_WIDTH: f64 = 0.02;

#[test]
fn packets_of_one_size_wait_as_long_as_in_md1() -> Result<(), ParameterError> {
    let expected = md1_mean_wait(StableLoad::new(0.8)?);
    // Ten sources, because the sum of Poisson arrivals is Poisson.
    let measured = Measured::of(transmitter(), FIXED, 0.8, 10, 300_000);
    measured.wait.assert_holds("M/D/1 wait", expected, HALF_WIDTH);
    assert_eq!(measured.loss.mean, 0.0);
    Ok(())
}

#[test]
fn exponential_packets_are_lost_and_held_as_in_mm1k() -> Result<(), ParameterError> {
    for load in [0.8, 1.2] {
        let expected = mm1k(Load::new(load)?, Places::new(5)?);
        // Five places including the one in service.
        let overflow = Port { buffer: Buffer::Units(5), counts_in_service: true, ..transmitter() };
        let measured = Measured::of(overflow, EXPONENTIAL, load, 1, 100_000);
        measured.loss.assert_holds("M/M/1/5 loss", expected.loss, HALF_WIDTH);
        measured.number.assert_holds("M/M/1/5 number", expected.mean_number, HALF_WIDTH);
        measured.wait.assert_holds("M/M/1/5 wait", expected.mean_wait, HALF_WIDTH);
    }
    Ok(())
}

#[test]
fn packets_of_one_size_are_lost_and_held_as_in_md1k() -> Result<(), ParameterError> {
    let expected = md1k(Load::new(0.9)?, Places::new(5)?)?;
    let overflow = Port { buffer: Buffer::Units(5), counts_in_service: true, ..transmitter() };
    let measured = Measured::of(overflow, FIXED, 0.9, 3, 200_000);
    measured.loss.assert_holds("M/D/1/5 loss", expected.loss, HALF_WIDTH);
    measured.number.assert_holds("M/D/1/5 number", expected.mean_number, HALF_WIDTH);
    measured.wait.assert_holds("M/D/1/5 wait", expected.mean_wait, HALF_WIDTH);
    Ok(())
}

#[test]
fn the_loss_of_a_bufferless_trunk_is_erlang_b_for_any_lengths() -> Result<(), ParameterError> {
    let expected = erlang_b(Load::new(0.7)?, Servers::new(8)?)?;
    for size in [FIXED, EXPONENTIAL] {
        let trunk = Port { transmitters: 8, buffer: Buffer::Units(0), ..transmitter() };
        let measured = Measured::of(trunk, size, 0.7, 1, 100_000);
        measured.loss.assert_holds("M/G/8/8 loss", expected, HALF_WIDTH);
    }
    Ok(())
}

#[test]
fn the_loss_and_delay_of_a_trunk_with_a_buffer_match_mmck() -> Result<(), ParameterError> {
    let expected = mmck(Load::new(0.9)?, Servers::new(4)?, Places::new(4 + 6)?);
    let trunk = Port { transmitters: 4, buffer: Buffer::Units(6), ..transmitter() };
    let measured = Measured::of(trunk, EXPONENTIAL, 0.9, 1, 150_000);
    measured.loss.assert_holds("M/M/4/10 loss", expected.loss, HALF_WIDTH);
    measured.wait.assert_holds("M/M/4/10 wait", expected.mean_wait, HALF_WIDTH);
    // The number in the buffer without those in service, by Little's law.
    let waiting = 4.0 * 0.9 * (1.0 - expected.loss) * expected.mean_wait;
    measured.number.assert_holds("M/M/4/10 waiting", waiting, HALF_WIDTH);
    Ok(())
}

/// Measurements over all seeds.
struct Measured {
    loss: Interval,
    /// In service times.
    wait: Interval,
    /// Units that the buffer counts.
    number: Interval,
}

impl Measured {
    /// `load` is per transmitter, from `sources` equal sources; each seed sends about `packets`.
    fn of(port: Port, packet: PacketSize, load: f64, sources: usize, packets: u32) -> Measured {
        let transmitters = f64::from(port.transmitters);
        let gap_s = SERVICE_S / (load * transmitters);
        let rate = Rate((8.0 * f64::from(MEAN_BYTES) / (gap_s * sources as f64)).round() as u64);
        let spec =
            DatagramSpec { arrivals: Arrivals::Process(ProcessSpec::Poisson(PoissonSpec { rate })), packet, header: Bytes(0) };
        let flows: Vec<Flow> = (0..sources).map(|_| flow(0, 0, 1)).collect();
        let warmup = TimeDelta::from_seconds(1000.0 * SERVICE_S);
        let duration = warmup + TimeDelta::from_seconds(f64::from(packets) * gap_s);
        let mut network = one_link([port, transmitter()], group("source", Transport::Datagram(spec)), flows, duration);
        network.warmup = warmup;
        let (mut loss, mut wait, mut number) = (Vec::new(), Vec::new(), Vec::new());
        for seed in SEEDS {
            network.seed = seed;
            let queues = run(network.clone()).queues;
            loss.push(first(&queues, "loss_rate"));
            wait.push(first(&queues, "mean_wait_s") / SERVICE_S);
            number.push(first(&queues, "mean_queue_units"));
        }
        Measured { loss: Interval::of(&loss), wait: Interval::of(&wait), number: Interval::of(&number) }
    }
}

/// One transmitter with an unlimited buffer.
fn transmitter() -> Port {
    port("port", Rate(8 * u64::from(MEAN_BYTES) * 1000), TimeDelta::ZERO)
}
