//! A trunk and the TCP flows that load it: the loss that makes the flows send the load that loses so much.

use super::{LossModel, Trunk};
use crate::parameter::{Count, Load, Loss, ParameterError, Places, Positive};
use crate::queues::md1k;
use crate::root::root;
use crate::tcp::{Mathis, Padhye, mathis_rate, padhye_rate};

/// How the rate of a flow follows the loss.
#[derive(Clone, Copy, Debug)]
pub enum RateLaw {
    /// The square-root law, as in (3.19): no timeouts, no window limit.
    Mathis,
    /// With timeouts and a window limit, at the harmonic mean of the round trips: exact for one round trip only, since a timeout
    /// takes the same time over any.
    Padhye { rto_s: Positive, receiver_window: Count },
}

/// Greedy flows, all alike but for their round trips.
#[derive(Clone, Copy, Debug)]
pub struct GreedyFlows {
    pub count: Count,
    /// Harmonic mean of the round trips without queueing.
    pub harmonic_rtt_s: Positive,
    /// Size of a packet on the wire.
    pub packet_bytes: Positive,
    /// 1, or 2 with delayed acknowledgements.
    pub segments_per_ack: Count,
    pub law: RateLaw,
}

impl GreedyFlows {
    /// What all of them send together, bit/s on the wire.
    fn rate_bps(&self, loss: Loss) -> f64 {
        let GreedyFlows { count, harmonic_rtt_s: rtt_s, packet_bytes: mss_bytes, segments_per_ack, law } = *self;
        let one = match law {
            RateLaw::Mathis => mathis_rate(&Mathis { mss_bytes, rtt_s, loss, segments_per_ack }),
            RateLaw::Padhye { rto_s, receiver_window } => {
                padhye_rate(&Padhye { mss_bytes, rtt_s, loss, rto_s, receiver_window, segments_per_ack })
            }
        };
        count.get() as f64 * one
    }
}

/// The loss at a given load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenLoop {
    /// A chain with packets of exponential length.
    Chain(LossModel),
    /// M/D/1/(1+B): packets of one size, Poisson arrivals, one transmitter, as [`md1k`] has it.
    Md1k,
}

impl OpenLoop {
    /// As [`LossModel::named`], and `md1k`.
    pub fn named(name: &str) -> Result<OpenLoop, ParameterError> {
        match name {
            "md1k" => Ok(OpenLoop::Md1k),
            _ => match LossModel::named(name) {
                Ok(model) => Ok(OpenLoop::Chain(model)),
                Err(error) => {
                    let expected = format!("{}, md1k", error.expected);
                    Err(ParameterError { expected: expected.into(), ..error })
                }
            },
        }
    }

    /// All but the largest load, at which the gaps between packets vanish; M/D/1/K knows no input links but has a limit of its own.
    fn most_load(self, trunk: &Trunk) -> f64 {
        match self {
            OpenLoop::Chain(_) => trunk.most_load() * (1.0 - 1e-9),
            OpenLoop::Md1k => 500.0,
        }
    }

    fn loses_nothing(self, trunk: &Trunk) -> bool {
        match self {
            OpenLoop::Chain(model) => model.loses_nothing(trunk),
            OpenLoop::Md1k => false,
        }
    }

    /// Of the fraction `lost` it is assumed that their input links discard.
    fn ln_loss_if(self, lost: f64, trunk: &Trunk, load: f64) -> Result<f64, ParameterError> {
        match self {
            OpenLoop::Chain(model) => {
                trunk.check(load)?;
                Ok(model.ln_loss_if(lost, trunk, load))
            }
            OpenLoop::Md1k if trunk.transmitters() == 1 => {
                let queue = md1k(Load::new(load)?, Places::new(u64::from(trunk.buffer()) + 1)?);
                let expected = "at most 9999 packets with this loss model";
                let queue = queue.map_err(|_| ParameterError::new("buffer", trunk.buffer(), expected))?;
                Ok(libm::log(queue.loss))
            }
            OpenLoop::Md1k => {
                Err(ParameterError::new("transmitters", trunk.transmitters(), "1: this loss model is of a single link"))
            }
        }
    }
}

/// Where the flows and the trunk agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedLoop {
    /// Intended load rho, at most M / K.
    pub load: f64,
    /// Natural logarithm of the fraction of packets lost; minus infinity where none is.
    pub ln_loss: f64,
    /// rho (1 - P): the share of the channels' capacity that is used.
    pub utilisation: f64,
    /// The flows would send more than the input links carry: these are the bottleneck, and are never idle.
    pub inputs_full: bool,
}

impl ClosedLoop {
    /// Whether the loss keeps the bound that no trunk can undercut, P >= 1 - 1/rho. G1DM and EBI may miss it in overload with a
    /// buffer far above both links and channels, and the utilisation is then above 1.
    pub fn keeps_bound(&self) -> bool {
        self.utilisation <= 1.0 + 1e-9
    }
}

/// Logarithms between which losses are searched: of 1e-300, and of the largest float below 1.
const LEAST_LN: f64 = -690.0;
const MOST_LN: f64 = -f64::EPSILON / 2.0;

/// The fixed point of section 3.7.1: (3.21) and (3.22), or Padhye's rate in its place, with the loss of `model`. `rate_bps` is of one
/// channel.
///
/// The rate falls as the loss grows and the loss grows with the rate, so there is one. What the flows would send beyond the input
/// links' rate stays with the senders: then the load is M / K. With no more input links than channels (and a model that knows these)
/// nothing is lost, and that is the case if the flows have no window limit.
///
/// Error: a load below 1e-200, of flows that send next to nothing.
pub fn closed_loop(
    model: OpenLoop,
    trunk: &Trunk,
    rate_bps: Positive,
    flows: &GreedyFlows,
) -> Result<ClosedLoop, ParameterError> {
    let most = model.most_load(trunk);
    let capacity_bps = f64::from(trunk.transmitters()) * rate_bps.get();
    let wanted = |ln_loss: f64| -> Result<f64, ParameterError> {
        let loss = Loss::new(libm::exp(ln_loss))?;
        Ok(flows.rate_bps(loss) / capacity_bps)
    };
    if model.loses_nothing(trunk) {
        let load = wanted(LEAST_LN)?;
        let inputs_full = load > most;
        let load = if inputs_full { trunk.most_load() } else { load };
        return Ok(ClosedLoop { load, ln_loss: f64::NEG_INFINITY, utilisation: load, inputs_full });
    }
    // What is assumed is lost in the chain too, so that one search finds what both agree on.
    let found = |ln_assumed: f64| {
        let load = f64::min(wanted(ln_assumed)?, most);
        model.ln_loss_if(libm::exp(ln_assumed), trunk, load)
    };
    // The load is lowest where all is lost.
    found(MOST_LN)?;
    let at_least = found(LEAST_LN)?;
    let ln_loss = if at_least <= LEAST_LN {
        // The flows cannot send enough for a loss that a float could show.
        at_least
    } else {
        root(|assumed| found(assumed).map_or(f64::NAN, |found| found - assumed), LEAST_LN, MOST_LN)
    };
    let wanted = wanted(ln_loss.max(LEAST_LN))?;
    let inputs_full = wanted > most;
    let load = if inputs_full { most } else { wanted };
    Ok(ClosedLoop { load, ln_loss, utilisation: load * -libm::expm1(ln_loss), inputs_full })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODELS: [LossModel; 6] = LossModel::ALL;

    /// Channels of 40 Gbps, packets of 1040 bytes, 109.1 ms: section 3.7.2.
    fn found(model: LossModel, trunk: (u64, u64, u64), flows: u64, law: RateLaw) -> Result<ClosedLoop, ParameterError> {
        let flows = GreedyFlows {
            count: Count::new("flows", flows)?,
            harmonic_rtt_s: Positive::new("harmonic_rtt_s", 0.1091)?,
            packet_bytes: Positive::new("packet_bytes", 1040.0)?,
            segments_per_ack: Count::new("segments_per_ack", 1)?,
            law,
        };
        closed_loop(OpenLoop::Chain(model), &Trunk::new(trunk.0, trunk.1, trunk.2)?, Positive::new("rate_bps", 40e9)?, &flows)
    }

    #[test]
    fn what_is_found_obeys_both_equations() -> Result<(), ParameterError> {
        for model in MODELS {
            for trunk in [(2, 1, 0), (32, 2, 10), (16, 8, 1), (200, 100, 0), (4000, 1000, 1000)] {
                let end = found(model, trunk, 4000 * trunk.1, RateLaw::Mathis)?;
                let loss = libm::exp(end.ln_loss);
                // (3.3): U C_O = N sqrt(1.5 / P) (1 - P) / RTT_H.
                let per_channel = 4000.0 * (1.5 / loss).sqrt() * (1.0 - loss) / 0.1091 / (40e9 / 8320.0);
                assert!((end.utilisation / per_channel - 1.0).abs() < 1e-9, "{} {trunk:?}: {end:?}", model.name());
                let again = model.ln_loss(&Trunk::new(trunk.0, trunk.1, trunk.2)?, end.load)?;
                assert!((again - end.ln_loss).abs() < 1e-9, "{} {trunk:?}: {again}, {end:?}", model.name());
                assert!(!end.inputs_full);
            }
        }
        Ok(())
    }

    #[test]
    fn two_inputs_and_one_channel_by_hand() -> Result<(), ParameterError> {
        // EB: at load r an idle link has 1/g of gap, g = r / (2 - r); weights 1 and 2 g, and P = 2 g / (2 + 2 g) = r / 2. One flow over
        // sqrt(1.5) s sends 1 / sqrt(P) packets/s of the channel's 1000, so r = 0.001 / sqrt(P): P^1.5 = 0.0005.
        let (trunk, rate) = (Trunk::new(2, 1, 0)?, Positive::new("rate_bps", 8e6)?);
        let flows = GreedyFlows {
            count: Count::new("flows", 1)?,
            harmonic_rtt_s: Positive::new("harmonic_rtt_s", 1.5f64.sqrt())?,
            packet_bytes: Positive::new("packet_bytes", 1000.0)?,
            segments_per_ack: Count::new("segments_per_ack", 1)?,
            law: RateLaw::Mathis,
        };
        let end = closed_loop(OpenLoop::Chain(LossModel::Eb), &trunk, rate, &flows)?;
        let loss = libm::cbrt(0.0005 * 0.0005);
        assert!((libm::exp(end.ln_loss) / loss - 1.0).abs() < 1e-12, "{end:?}");
        assert!((end.load / (2.0 * loss) - 1.0).abs() < 1e-12, "{end:?}");
        Ok(())
    }

    #[test]
    fn more_flows_and_more_buffer_use_more() -> Result<(), ParameterError> {
        for model in MODELS {
            let by_flows = [1, 100, 10_000, 1_000_000].map(|flows| found(model, (16, 2, 5), flows, RateLaw::Mathis));
            let by_buffer = [0, 1, 10, 100].map(|buffer| found(model, (16, 2, buffer), 8000, RateLaw::Mathis));
            for ends in [by_flows, by_buffer] {
                let ends = ends.into_iter().collect::<Result<Vec<_>, _>>()?;
                assert!(ends.windows(2).all(|pair| pair[0].utilisation < pair[1].utilisation), "{}: {ends:?}", model.name());
            }
        }
        Ok(())
    }

    #[test]
    fn flows_without_end_fill_the_inputs_and_no_more() -> Result<(), ParameterError> {
        // All eight inputs of two channels are always busy, and with enough room three of four packets are lost.
        for model in [LossModel::Ebd, LossModel::Mmkkb] {
            let end = found(model, (8, 2, 100), 10_000_000_000, RateLaw::Mathis)?;
            assert!(end.inputs_full, "{}: {end:?}", model.name());
            assert!((end.load - 4.0).abs() < 1e-8);
            assert!((libm::exp(end.ln_loss) - 0.75).abs() < 1e-8, "{}: {end:?}", model.name());
            assert!((end.utilisation - 1.0).abs() < 1e-8);
        }
        Ok(())
    }

    #[test]
    fn no_more_inputs_than_channels_are_filled_and_lose_nothing() -> Result<(), ParameterError> {
        let end = found(LossModel::G1dm, (4, 8, 0), 10, RateLaw::Mathis)?;
        assert_eq!((end.ln_loss, end.inputs_full), (f64::NEG_INFINITY, true));
        assert!((end.utilisation - 0.5).abs() < 1e-12);
        Ok(())
    }

    #[test]
    fn small_windows_lose_nothing_that_could_be_shown() -> Result<(), ParameterError> {
        // 4000 flows of 1000 segments per 0.1091 s want 7.6 times what a channel carries; of 1 segment 0.76 %.
        let rto_s = Positive::new("rto_s", 1.0)?;
        let small = RateLaw::Padhye { rto_s, receiver_window: Count::new("receiver_window", 1)? };
        let end = found(LossModel::G1dm, (16, 1, 1000), 4000, small)?;
        assert!((end.load / (4000.0 / 0.1091 / (40e9 / 8320.0)) - 1.0).abs() < 1e-6, "{end:?}");
        assert!(end.ln_loss < -690.0 && !end.inputs_full);
        Ok(())
    }

    #[test]
    fn timeouts_take_more_the_more_is_lost() -> Result<(), ParameterError> {
        let law =
            RateLaw::Padhye { rto_s: Positive::new("rto_s", 1.0)?, receiver_window: Count::new("receiver_window", 1_000_000)? };
        let ratio = |flows| -> Result<f64, ParameterError> {
            let [padhye, mathis] = [law, RateLaw::Mathis].map(|law| found(LossModel::G1dm, (16, 2, 2), flows, law));
            Ok(padhye?.utilisation / mathis?.utilisation)
        };
        // Losses of 1e-6 and of some percent.
        assert!((ratio(400)? - 1.0).abs() < 0.02, "{}", ratio(400)?);
        assert!(ratio(400_000)? < 0.9, "{}", ratio(400_000)?);
        Ok(())
    }

    #[test]
    fn packets_of_one_size_use_more_than_exponential_ones_and_obey_both_equations() -> Result<(), ParameterError> {
        let flows = GreedyFlows {
            count: Count::new("flows", 4000)?,
            harmonic_rtt_s: Positive::new("harmonic_rtt_s", 0.1091)?,
            packet_bytes: Positive::new("packet_bytes", 1040.0)?,
            segments_per_ack: Count::new("segments_per_ack", 1)?,
            law: RateLaw::Mathis,
        };
        let (trunk, rate) = (Trunk::new(1_000_000, 1, 10)?, Positive::new("rate_bps", 40e9)?);
        let [one_size, exponential] =
            [OpenLoop::Md1k, OpenLoop::Chain(LossModel::Mmkkb)].map(|model| closed_loop(model, &trunk, rate, &flows));
        let (one_size, exponential) = (one_size?, exponential?);
        assert!(one_size.utilisation > exponential.utilisation);
        let queue = md1k(Load::new(one_size.load)?, Places::new(11)?)?;
        assert!((libm::exp(one_size.ln_loss) / queue.loss - 1.0).abs() < 1e-9);
        let refused = closed_loop(OpenLoop::Md1k, &Trunk::new(8, 2, 0)?, rate, &flows);
        assert_eq!(refused.map_err(|error| error.name), Err("transmitters"));
        assert_eq!(OpenLoop::named("md1").map_err(|error| error.name), Err("model"));
        Ok(())
    }

    #[test]
    fn a_thousand_channels_and_a_million_places() -> Result<(), ParameterError> {
        let full = found(LossModel::Ebd, (2000, 1000, 1_000_000), 4_000_000, RateLaw::Mathis)?;
        assert!(full.utilisation > 0.99 && full.keeps_bound(), "{full:?}");
        // G1DM takes most links for busy with a packet that waits, and promises more than there is.
        let beyond = found(LossModel::G1dm, (2000, 1000, 1_000_000), 4_000_000, RateLaw::Mathis)?;
        assert!(!beyond.keeps_bound(), "{beyond:?}");
        Ok(())
    }
}
