//! A trunk loaded by TCP flows: the loss at which the flows send exactly the load that causes it.
//!
//! The rate falls with the loss and the loss grows with the rate, so that the fixed point is unique. Flows cannot send more than
//! the input links carry, which limits the load to M / K. If the input links do not outnumber the channels (and the model takes
//! input links into account) nothing is lost. Flows without a window limit then fill the input links.
//!
//! K transmitters carry at most K packets per packet time, so that no trunk loses less than 1 - 1/rho of a load rho (see (3.16) to (3.18)).
//! G1DM and EBI fall below this bound with many waiting places at high loads. The closed loop then takes the bound itself as the loss: the
//! trunk is full, and the flows offer the load at which they lose the excess.

use super::{LossModel, Trunk};
use crate::model::{
    Arguments, Inputs, Keyword, KeywordInfo, Parameter, ParameterSpec, answers, arguments, describe_keyword, models,
    unknown_keyword,
};
use crate::parameter::{Count, Load, Loss, ParameterError, Places, Positive};
use crate::queues::md1k;
use crate::root::root;
use crate::tcp::{Mathis, Padhye, mathis_rate, padhye_rate};

arguments! {
    /// Identical greedy flows, except for their round trips.
    pub struct GreedyFlows {
        /// Size of a packet on the wire.
        packet_bytes: Positive,
        /// N, greedy flows.
        flows: Count,
        /// Harmonic mean of the flows' round trips without queueing; see `round_trips`. Queueing is neglected, which is accurate
        /// for small buffers.
        harmonic_rtt_s: Positive,
        /// Segments per acknowledgement: 1, or 2 with delayed acknowledgements.
        segments_per_ack: Count = 1,
        /// First timeout. With this and `receiver_window` the rate follows Padhye's model instead of the square-root law. The
        /// harmonic mean is then an approximation if round trips differ, because the duration of a timeout does not depend on the
        /// round trip.
        rto_s: Option<Positive>,
        /// Receiver window in segments.
        receiver_window: Option<Count>,
    }
}

/// Rate of a flow as a function of the loss.
#[derive(Clone, Copy, Debug)]
enum RateLaw {
    /// The square-root law, as in (3.19): no timeouts, no window limit.
    Mathis,
    Padhye {
        rto_s: Positive,
        receiver_window: Count,
    },
}

impl GreedyFlows {
    fn law(&self) -> Result<RateLaw, ParameterError> {
        let alone = |given: &str, missing| {
            let expected = format!("both this and `{given}` for Padhye's rate, or neither for Mathis's");
            Err(ParameterError::new(missing, "missing", expected))
        };
        match (self.rto_s, self.receiver_window) {
            (None, None) => Ok(RateLaw::Mathis),
            (Some(rto_s), Some(receiver_window)) => Ok(RateLaw::Padhye { rto_s, receiver_window }),
            (Some(_), None) => alone("rto_s", "receiver_window"),
            (None, Some(_)) => alone("receiver_window", "rto_s"),
        }
    }

    /// Total rate of all flows in bit/s on the wire.
    fn rate_bps(&self, law: RateLaw, loss: Loss) -> f64 {
        let GreedyFlows { flows, harmonic_rtt_s: rtt_s, packet_bytes: mss_bytes, segments_per_ack, .. } = *self;
        let one = match law {
            RateLaw::Mathis => mathis_rate(Mathis { mss_bytes, rtt_s, loss, segments_per_ack }),
            RateLaw::Padhye { rto_s, receiver_window } => {
                padhye_rate(Padhye { mss_bytes, rtt_s, loss, rto_s, receiver_window, segments_per_ack })
            }
        };
        flows.get() as f64 * one
    }
}

/// The loss at a given load.
#[derive(Clone, Copy, Debug)]
pub enum OpenLoop {
    /// A chain with packets of exponential length.
    Chain(&'static LossModel),
    /// M/D/1/(1+B): packets of one size, Poisson arrivals, one transmitter, as in [`md1k`].
    Md1k,
}

impl OpenLoop {
    /// Slightly below the largest load, at which the gaps between packets vanish. M/D/1/K does not model input links but has a
    /// limit of its own.
    fn max_load(self, trunk: &Trunk) -> f64 {
        match self {
            OpenLoop::Chain(_) => trunk.max_load() * (1.0 - 1e-9),
            OpenLoop::Md1k => 500.0,
        }
    }

    fn loses_nothing(self, trunk: &Trunk) -> bool {
        match self {
            OpenLoop::Chain(model) => model.loses_nothing(trunk),
            OpenLoop::Md1k => false,
        }
    }

    /// Logarithm of the loss if the input links discard the fraction `lost`: that of the model, or its lower bound if it is larger.
    fn bounded_ln_loss_if(self, lost: f64, trunk: &Trunk, load: f64) -> Result<f64, ParameterError> {
        Ok(self.ln_loss_if(lost, trunk, load)?.max(min_ln_loss(load)))
    }

    /// Logarithm of the loss by the model if the input links discard the fraction `lost`.
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
                Err(ParameterError::new("transmitters", trunk.transmitters(), "1: this loss model is for a single link"))
            }
        }
    }
}

/// Logarithm of the smallest loss of any trunk: the excess of the load over the capacity.
fn min_ln_loss(load: f64) -> f64 {
    if load > 1.0 { libm::log1p(-1.0 / load) } else { f64::NEG_INFINITY }
}

impl Keyword for OpenLoop {
    const NAME: &'static str = "OpenLoop";

    fn words() -> Vec<KeywordInfo> {
        let mut words = <&'static LossModel>::words();
        words.push(KeywordInfo {
            word: "md1k",
            title: "M/D/1/K",
            help: "packets of one size and Poisson arrivals at one transmitter",
            source: "that of `md1k`",
        });
        words
    }

    fn named(word: &str) -> Result<OpenLoop, ParameterError> {
        match word {
            "md1k" => Ok(OpenLoop::Md1k),
            _ => Keyword::named(word).map(OpenLoop::Chain).map_err(|_| unknown_keyword::<OpenLoop>("model", word)),
        }
    }
}

impl Arguments for OpenLoop {
    fn describe(asked: ParameterSpec, parameters: &mut Vec<Parameter>) {
        describe_keyword::<OpenLoop>(&asked, parameters);
    }

    fn read(name: &'static str, given: &mut Inputs) -> Result<OpenLoop, ParameterError> {
        Keyword::named(given.word(name)?)
    }
}

answers! {
    /// The operating point of flows and trunk.
    pub struct ClosedLoop {
        /// Intended load: the flows' sending rate over the capacity of the transmitters. At most `inputs / transmitters`.
        load: f64,
        /// Fraction of packets lost; 0 where it is below the smallest floating-point number.
        loss: f64,
        /// Its natural logarithm; minus infinity where nothing is lost.
        ln_loss: f64,
        /// Utilisation of the transmitters, ``load * (1 - loss)``, 0 to 1.
        utilisation: f64,
        /// Throughput in bit/s on the wire.
        throughput_bps: f64,
        /// Whether the flows would send more than the input links carry. In this case the input links, not the trunk, are the
        /// bottleneck and are never idle.
        inputs_full: bool,
        /// False if the loss model is outside its range, as G1DM and EBI are with many waiting places at high loads: its loss is below
        /// ``1 - 1 / load``, so that the transmitters would carry more than their capacity. The result then has the loss ``1 - 1 /
        /// load`` and a utilisation of 1, and the model does not give the distance to 1.
        keeps_bound: bool,
    }
}

/// Search range of the logarithm of the loss: of 1e-300, and of the largest floating-point number below 1.
const MIN_LN: f64 = -690.0;
const MAX_LN: f64 = -f64::EPSILON / 2.0;

models! {
    /// Utilisation and loss of a trunk shared by greedy TCP flows: the fixed point of a loss model and a TCP rate model.
    pub fn closed_loop(
        trunk: Trunk,
        /// Bit rate of one transmitter.
        rate_bps: Positive,
        flows: GreedyFlows,
        /// Model of the loss at a given load; `trunk_accuracy` gives its error at the resulting load.
        model: OpenLoop = "g1dm",
    ) -> Result<ClosedLoop, ParameterError> {
        let law = flows.law()?;
        let max_load = model.max_load(&trunk);
        let capacity_bps = f64::from(trunk.transmitters()) * rate_bps.get();
        let wanted = |ln_loss: f64| -> Result<f64, ParameterError> {
            let loss = Loss::new(libm::exp(ln_loss))?;
            Ok(flows.rate_bps(law, loss) / capacity_bps)
        };
        if model.loses_nothing(&trunk) {
            let load = wanted(MIN_LN)?;
            let inputs_full = load > max_load;
            let load = if inputs_full { trunk.max_load() } else { load };
            return Ok(ClosedLoop {
                load,
                loss: 0.0,
                ln_loss: f64::NEG_INFINITY,
                utilisation: load,
                throughput_bps: load * capacity_bps,
                inputs_full,
                keeps_bound: true,
            });
        }
        // The chain assumes this loss, too, so that one search finds the common fixed point.
        let found = |ln_assumed: f64| {
            let load = f64::min(wanted(ln_assumed)?, max_load);
            model.bounded_ln_loss_if(libm::exp(ln_assumed), &trunk, load)
        };
        // The load is lowest where everything is lost.
        found(MAX_LN)?;
        let at_least = found(MIN_LN)?;
        let ln_loss = if at_least <= MIN_LN {
            // The flows cannot send enough for a loss within floating-point range.
            at_least
        } else {
            root(|assumed| found(assumed).map_or(f64::NAN, |found| found - assumed), MIN_LN, MAX_LN)
        };
        let wanted = wanted(ln_loss.max(MIN_LN))?;
        let inputs_full = wanted > max_load;
        let load = if inputs_full { max_load } else { wanted };
        // Rounding of a loss near 1 must not raise the utilisation above 1.
        let utilisation = (load * -libm::expm1(ln_loss)).min(1.0);
        let carried_by_model = load * -libm::expm1(model.ln_loss_if(libm::exp(ln_loss), &trunk, load)?);
        Ok(ClosedLoop {
            load,
            loss: libm::exp(ln_loss),
            ln_loss,
            utilisation,
            throughput_bps: utilisation * capacity_bps,
            inputs_full,
            keeps_bound: carried_by_model <= 1.0 + 1e-9,
        })
    }
    quantity: "utilisation and loss with TCP";
    equation: "U = N rate(P) (1 - P) / C, P the loss of the model at the load rho = N rate(P) / C, but at least 1 - 1/rho";
    source: "cui-thesis, section 3.7.1, equations (3.19) to (3.22)";
    assumes: ["greedy flows with rates by Mathis or Padhye", "no queueing delay in the round trips"];
    refuses: "loads below 1e-200";
    example: ">>> trunk = dict(rate_bps=40e9, packet_bytes=1040, harmonic_rtt_s=0.1091)\n\
              >>> end = tb.models.closed_loop(inputs=[32, 1600], transmitters=[2, 100], buffer=0, flows=[8000, 400_000], **trunk)\n\
              >>> end.utilisation.round(2).tolist()\n\
              [0.09, 0.71]";
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::trunk::{EB, EBD, G1DM, LOSS_MODELS, MMKKB};

    fn flows(count: u64, law: RateLaw) -> Result<GreedyFlows, ParameterError> {
        let (rto_s, receiver_window) = match law {
            RateLaw::Mathis => (None, None),
            RateLaw::Padhye { rto_s, receiver_window } => (Some(rto_s), Some(receiver_window)),
        };
        Ok(GreedyFlows {
            packet_bytes: Positive::new("packet_bytes", 1040.0)?,
            flows: Count::new("flows", count)?,
            harmonic_rtt_s: Positive::new("harmonic_rtt_s", 0.1091)?,
            segments_per_ack: Count::new("segments_per_ack", 1)?,
            rto_s,
            receiver_window,
        })
    }

    /// 40 Gbps channels, packets of 1040 bytes, 109.1 ms: section 3.7.2.
    fn found(model: &'static LossModel, trunk: (u64, u64, u64), count: u64, law: RateLaw) -> Result<ClosedLoop, ParameterError> {
        let trunk = Trunk::new(trunk.0, trunk.1, trunk.2)?;
        closed_loop(trunk, Positive::new("rate_bps", 40e9)?, flows(count, law)?, OpenLoop::Chain(model))
    }

    #[test]
    fn the_solution_satisfies_both_equations() -> Result<(), ParameterError> {
        for model in LOSS_MODELS {
            for trunk in [(2, 1, 0), (32, 2, 10), (16, 8, 1), (200, 100, 0), (4000, 1000, 1000)] {
                let end = found(model, trunk, 4000 * trunk.1, RateLaw::Mathis)?;
                let loss = libm::exp(end.ln_loss);
                // (3.3): U C_O = N sqrt(1.5 / P) (1 - P) / RTT_H.
                let per_channel = 4000.0 * (1.5 / loss).sqrt() * (1.0 - loss) / 0.1091 / (40e9 / 8320.0);
                assert!((end.utilisation / per_channel - 1.0).abs() < 1e-9, "{} {trunk:?}: {end:?}", model.name);
                let again = model.ln_loss(&Trunk::new(trunk.0, trunk.1, trunk.2)?, end.load)?.max(min_ln_loss(end.load));
                assert!((again - end.ln_loss).abs() < 1e-9, "{} {trunk:?}: {again}, {end:?}", model.name);
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
            harmonic_rtt_s: Positive::new("harmonic_rtt_s", 1.5f64.sqrt())?,
            packet_bytes: Positive::new("packet_bytes", 1000.0)?,
            ..flows(1, RateLaw::Mathis)?
        };
        let end = closed_loop(trunk, rate, flows, OpenLoop::Chain(&EB))?;
        let loss = libm::cbrt(0.0005 * 0.0005);
        assert!((libm::exp(end.ln_loss) / loss - 1.0).abs() < 1e-12, "{end:?}");
        assert!((end.load / (2.0 * loss) - 1.0).abs() < 1e-12, "{end:?}");
        Ok(())
    }

    #[test]
    fn utilisation_grows_with_flows_and_buffer() -> Result<(), ParameterError> {
        for model in LOSS_MODELS {
            let by_flows = [1, 100, 10_000, 1_000_000].map(|flows| found(model, (16, 2, 5), flows, RateLaw::Mathis));
            let by_buffer = [0, 1, 10, 100].map(|buffer| found(model, (16, 2, buffer), 8000, RateLaw::Mathis));
            for ends in [by_flows, by_buffer] {
                let ends = ends.into_iter().collect::<Result<Vec<_>, _>>()?;
                assert!(ends.windows(2).all(|pair| pair[0].utilisation < pair[1].utilisation), "{}: {ends:?}", model.name);
            }
        }
        Ok(())
    }

    #[test]
    fn very_many_flows_fill_the_inputs_and_no_more() -> Result<(), ParameterError> {
        // All eight inputs of two channels are always busy, and with enough waiting places three of four packets are lost.
        for model in [&EBD, &MMKKB] {
            let end = found(model, (8, 2, 100), 10_000_000_000, RateLaw::Mathis)?;
            assert!(end.inputs_full, "{}: {end:?}", model.name);
            assert!((end.load - 4.0).abs() < 1e-8);
            assert!((libm::exp(end.ln_loss) - 0.75).abs() < 1e-8, "{}: {end:?}", model.name);
            assert!((end.utilisation - 1.0).abs() < 1e-8);
        }
        Ok(())
    }

    #[test]
    fn inputs_that_do_not_outnumber_channels_are_full_and_lose_nothing() -> Result<(), ParameterError> {
        let end = found(&G1DM, (4, 8, 0), 10, RateLaw::Mathis)?;
        assert_eq!((end.ln_loss, end.inputs_full), (f64::NEG_INFINITY, true));
        assert!((end.utilisation - 0.5).abs() < 1e-12);
        Ok(())
    }

    #[test]
    fn the_loss_with_small_windows_underflows() -> Result<(), ParameterError> {
        // 4000 flows of 1000 segments per 0.1091 s offer 7.6 times the rate of a channel; with 1 segment 0.76 %.
        let rto_s = Positive::new("rto_s", 1.0)?;
        let small = RateLaw::Padhye { rto_s, receiver_window: Count::new("receiver_window", 1)? };
        let end = found(&G1DM, (16, 1, 1000), 4000, small)?;
        assert!((end.load / (4000.0 / 0.1091 / (40e9 / 8320.0)) - 1.0).abs() < 1e-6, "{end:?}");
        assert!(end.ln_loss < -690.0 && !end.inputs_full);
        Ok(())
    }

    #[test]
    fn timeouts_cost_more_at_higher_loss() -> Result<(), ParameterError> {
        let law =
            RateLaw::Padhye { rto_s: Positive::new("rto_s", 1.0)?, receiver_window: Count::new("receiver_window", 1_000_000)? };
        let ratio = |flows| -> Result<f64, ParameterError> {
            let [padhye, mathis] = [law, RateLaw::Mathis].map(|law| found(&G1DM, (16, 2, 2), flows, law));
            Ok(padhye?.utilisation / mathis?.utilisation)
        };
        // Losses of 1e-6 and of a few per cent.
        assert!((ratio(400)? - 1.0).abs() < 0.02, "{}", ratio(400)?);
        assert!(ratio(400_000)? < 0.9, "{}", ratio(400_000)?);
        Ok(())
    }

    #[test]
    fn packets_of_one_size_achieve_more_utilisation_and_satisfy_both_equations() -> Result<(), ParameterError> {
        let flows = flows(4000, RateLaw::Mathis)?;
        let (trunk, rate) = (Trunk::new(1_000_000, 1, 10)?, Positive::new("rate_bps", 40e9)?);
        let [one_size, exponential] =
            [OpenLoop::Md1k, OpenLoop::Chain(&MMKKB)].map(|model| closed_loop(trunk, rate, flows, model));
        let (one_size, exponential) = (one_size?, exponential?);
        assert!(one_size.utilisation > exponential.utilisation);
        let queue = md1k(Load::new(one_size.load)?, Places::new(11)?)?;
        assert!((libm::exp(one_size.ln_loss) / queue.loss - 1.0).abs() < 1e-9);
        let refused = closed_loop(Trunk::new(8, 2, 0)?, rate, flows, OpenLoop::Md1k);
        assert_eq!(refused.map_err(|error| error.name), Err("transmitters"));
        assert_eq!(OpenLoop::named("md1").map(drop).map_err(|error| error.name), Err("model"));
        Ok(())
    }

    #[test]
    fn a_thousand_channels_and_a_million_places() -> Result<(), ParameterError> {
        let full = found(&EBD, (2000, 1000, 1_000_000), 4_000_000, RateLaw::Mathis)?;
        assert!(full.utilisation > 0.99 && full.keeps_bound, "{full:?}");
        Ok(())
    }

    #[test]
    fn a_loss_model_beyond_its_range_loses_the_excess_and_is_reported() -> Result<(), ParameterError> {
        // G1DM counts most links as busy with a packet that waits, and loses less than the excess.
        let beyond = found(&G1DM, (2000, 1000, 1_000_000), 4_000_000, RateLaw::Mathis)?;
        assert!(!beyond.keeps_bound && (1.0 - beyond.utilisation).abs() < 1e-12, "{beyond:?}");
        // (3.3) with the loss of a full trunk: 4000 sqrt(1.5 / P) (1 - P) / RTT_H is the rate of a channel.
        let rate = 4000.0 * (1.5 / beyond.loss).sqrt() * (1.0 - beyond.loss) / 0.1091;
        assert!((rate / (40e9 / 8320.0) - 1.0).abs() < 1e-9, "{beyond:?}");
        assert!((beyond.loss - (1.0 - 1.0 / beyond.load)).abs() < 1e-12, "{beyond:?}");
        Ok(())
    }
}
