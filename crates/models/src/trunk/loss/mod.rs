//! The loss of a trunk at a given load: one file per model, each a birth-death chain of the number of packets in the trunk.

mod eb;
mod ebd;
mod ebi;
mod ebl;
mod engset;
mod g1dm;
mod loss_model;
mod mmkkb;

pub use loss_model::LossModel;

use super::{IntendedLoad, Trunk, TrunkLoss};
use crate::model::{
    Arguments, Inputs, Keyword, KeywordInfo, Parameter, ParameterSpec, describe_keyword, models, unknown_keyword,
};
use crate::parameter::ParameterError;

/// To add a loss model, add its file and a name to this list.
macro_rules! loss_models {
    ($($file:ident::$model:ident),+ $(,)?) => {
        $(pub use $file::$model;)+

        /// All loss models.
        pub const LOSS_MODELS: [&LossModel; [$(stringify!($model)),+].len()] = [$(&$model),+];
    };
}

loss_models! { g1dm::G1DM, ebd::EBD, ebi::EBI, eb::EB, mmkkb::MMKKB, ebl::EBL }

impl Keyword for &'static LossModel {
    const NAME: &'static str = "LossModel";

    fn words() -> Vec<KeywordInfo> {
        LOSS_MODELS
            .iter()
            .map(|model| KeywordInfo { word: model.name, title: model.title, help: model.help, source: model.source })
            .collect()
    }

    fn named(word: &str) -> Result<&'static LossModel, ParameterError> {
        let model = LOSS_MODELS.into_iter().find(|model| model.name == word);
        model.ok_or_else(|| unknown_keyword::<&'static LossModel>("model", word))
    }
}

impl Arguments for &'static LossModel {
    fn describe(asked: ParameterSpec, parameters: &mut Vec<Parameter>) {
        describe_keyword::<&'static LossModel>(&asked, parameters);
    }

    fn read(name: &'static str, given: &mut Inputs) -> Result<&'static LossModel, ParameterError> {
        Keyword::named(given.word(name)?)
    }
}

models! {
    /// Loss of a trunk at a given load, by one of the thesis's five models or by Tailback's own, ``"ebl"``.
    ///
    /// If transmitters are at least as many as inputs nothing is lost, except in ``"mmkkb"``, which does not model input links.
    /// `trunk_accuracy` gives the error of each model.
    pub fn trunk_loss(
        trunk: Trunk,
        load: IntendedLoad,
        /// Loss model.
        model: &'static LossModel = "g1dm",
    ) -> Result<TrunkLoss, ParameterError> {
        model.ln_loss(&trunk, load.0).map(TrunkLoss::of)
    }
    quantity: "loss at a given load";
    equation: "P_B = a(K+B) p(K+B) / sum over i of a(i) p(i), with the arrival rates a and the states p of the model's chain";
    source: "cui-thesis, sections 3.6.2 and 3.6.4; EBL: docs/evidence/trunk_accuracy.md";
    assumes: ["exponential packets and gaps", "M input links, K channels, B waiting places"];
    example: ">>> trunk = dict(inputs=16, transmitters=2, buffer=10)\n\
              >>> tb.models.trunk_loss(**trunk, load=[0.5, 1.0]).log10_loss.round(3).tolist()\n\
              [-4.132, -1.158]\n\
              >>> bool(tb.models.trunk_loss(**trunk, load=0.5, model=\"mmkkb\").loss > tb.models.trunk_loss(**trunk, load=0.5).loss)\n\
              True";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::{Load, Places, Servers};
    use crate::queues::mmck;
    use crate::trunk::loss::engset::{self, ReceivingInputs};

    fn loss(model: &LossModel, trunk: (u64, u64, u64), load: f64) -> Result<f64, ParameterError> {
        Ok(libm::exp(ln(model, trunk, load)?))
    }

    fn ln(model: &LossModel, (inputs, transmitters, buffer): (u64, u64, u64), load: f64) -> Result<f64, ParameterError> {
        model.ln_loss(&Trunk::new(inputs, transmitters, buffer)?, load)
    }

    const TRUNKS: [(u64, u64, u64); 12] = [
        (2, 1, 0),
        (2, 1, 5),
        (4, 1, 10),
        (16, 2, 1),
        (16, 2, 10),
        (16, 2, 1000),
        (80, 20, 5),
        (80, 60, 200),
        (500, 2, 1000),
        (1000, 1, 3),
        (3000, 1000, 1000),
        (3000, 2999, 20),
    ];
    const SHARES: [f64; 7] = [1e-6, 0.05, 0.3, 0.6, 0.9, 0.99, 0.9999];

    /// Every trunk under loads from almost none to almost M/K.
    fn cases() -> impl Iterator<Item = ((u64, u64, u64), f64)> {
        let loads = |trunk: (u64, u64, u64)| {
            let max_load = trunk.0 as f64 / trunk.1 as f64;
            SHARES.map(|share| share * max_load).into_iter().chain(SHARES.map(|share| share.min(share * max_load)))
        };
        TRUNKS.into_iter().flat_map(move |trunk| loads(trunk).map(move |load| (trunk, load)))
    }

    #[test]
    fn two_inputs_share_one_channel() -> Result<(), ParameterError> {
        // Load 1 of (3.14) is a mean gap of 1. EB: states 0, 1 have rates 2, 1 and weights 1, 2, so that 1 * 2 of 2 * 1 + 1 * 2
        // is lost. EBD: a gap of 1 + P gives weights 1, 2 / (1 + P), so that P = 1 / (2 + P), the root of P^2 + 2 P = 1.
        for model in [&EB, &EBI] {
            assert!((loss(model, (2, 1, 0), 1.0)? - 0.5).abs() < 1e-15, "{}", model.name);
        }
        for model in [&EBD, &G1DM] {
            assert!((loss(model, (2, 1, 0), 1.0)? - (2f64.sqrt() - 1.0)).abs() < 1e-15, "{}", model.name);
        }
        Ok(())
    }

    #[test]
    fn a_waiting_place_slows_the_inserting_link() -> Result<(), ParameterError> {
        // Three inputs, one channel, one place, load 1.5: a mean gap of 1. EBI: alpha(2) = 0 for B >= K, so rates are 3, 2, 2 and
        // weights 1, 3, 6: 12 of 3 + 6 + 12 are lost; EB is the same. With two places alpha(2) = 1/2 and the rate there is
        // 1 + 1/1.5 = 5/3, alpha(3) = 0: weights 1, 3, 6, 10 and rates 3, 2, 5/3, 2: 20 of 39.
        assert!((loss(&EBI, (3, 1, 1), 1.5)? - 4.0 / 7.0).abs() < 1e-15);
        assert!((loss(&EB, (3, 1, 1), 1.5)? - 4.0 / 7.0).abs() < 1e-15);
        assert!((loss(&EBI, (3, 1, 2), 1.5)? - 20.0 / 39.0).abs() < 1e-15);
        Ok(())
    }

    #[test]
    fn a_shallow_buffer_has_its_own_share_of_inserting_links() -> Result<(), ParameterError> {
        // B < K: alpha(3) = 1 - 1/2. Four inputs, two channels, one place, load 1: gap 1, rates 4, 3, 2 and 1 + 1/1.5 = 5/3 at 3,
        // departures 1, 2, 2: weights 1, 4, 6, 6: 10 of 4 + 12 + 12 + 10.
        assert!((loss(&EBI, (4, 2, 1), 1.0)? - 10.0 / 38.0).abs() < 1e-15);
        Ok(())
    }

    #[test]
    fn a_million_states_summed_from_both_ends_match_states_added_one_by_one() -> Result<(), ParameterError> {
        for (trunk, load) in cases().filter(|((inputs, _, _), _)| *inputs < 1000) {
            for discarding in [0.0, 1e-3, 0.2] {
                let at_once = engset::ln_loss(
                    &Trunk::new(trunk.0, trunk.1, trunk.2)?,
                    load,
                    ReceivingInputs { discarding, inserting: true },
                );
                let one_by_one = state_by_state(trunk, load, discarding);
                let error = (at_once - one_by_one).abs() / one_by_one.abs().max(1.0);
                assert!(error < 1e-12, "{trunk:?} at {load}, {discarding}: {at_once} and {one_by_one}");
            }
        }
        Ok(())
    }

    /// (3.6) to (3.12) as printed, in logarithms of weights.
    fn state_by_state((inputs, transmitters, buffer): (u64, u64, u64), load: f64, discarding: f64) -> f64 {
        let (m, k, b) = (inputs as f64, transmitters as f64, buffer as f64);
        let gap = m / (load * k) - 1.0 + discarding;
        let mut weight = 0.0;
        let mut ln_arrivals = Vec::new();
        for state in 0..=transmitters + buffer {
            let i = state as f64;
            let arrivals = if state <= transmitters {
                (m - i) / gap
            } else {
                let alpha = 1.0 - (i - k) / k.max(b);
                (m - i.min(m)) / gap + (i.min(m) - k) / (gap + alpha)
            };
            ln_arrivals.push(weight + libm::log(arrivals));
            weight += libm::log(arrivals / (i + 1.0).min(k));
        }
        let largest = ln_arrivals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let last = ln_arrivals.last().copied().unwrap_or(f64::NAN);
        last - largest - libm::log(ln_arrivals.iter().map(|ln| libm::exp(ln - largest)).sum::<f64>())
    }

    #[test]
    fn fixed_points_predict_the_loss_that_they_assume() -> Result<(), ParameterError> {
        for (trunk, load) in cases() {
            for (model, inserting) in [(&G1DM, true), (&EBD, false)] {
                let found = ln(model, trunk, load)?;
                let ports = ReceivingInputs { discarding: libm::exp(found), inserting };
                let predicted = engset::ln_loss(&Trunk::new(trunk.0, trunk.1, trunk.2)?, load, ports);
                // An error in the last bit of a loss changes the prediction by as much in each of the places.
                let error = (found - predicted).abs() / found.abs().max(1.0);
                assert!(
                    error < 1e-13 * (trunk.2 as f64 + 10.0),
                    "{} of {trunk:?} at {load}: {found} gives {predicted}",
                    model.name
                );
            }
        }
        Ok(())
    }

    #[test]
    fn models_with_more_receiving_links_lose_less() -> Result<(), ParameterError> {
        for (trunk, load) in cases() {
            let [g1dm, ebd, ebi, eb] = [&G1DM, &EBD, &EBI, &EB].map(|model| ln(model, trunk, load));
            let (g1dm, ebd, ebi, eb) = (g1dm?, ebd?, ebi?, eb?);
            let slack = 1e-12 * eb.abs().max(1.0);
            assert!(eb + slack >= ebd && ebd + slack >= g1dm && eb + slack >= ebi && ebi + slack >= g1dm, "{trunk:?} at {load}");
        }
        Ok(())
    }

    #[test]
    fn without_a_buffer_no_packet_is_inserted() -> Result<(), ParameterError> {
        for (inputs, transmitters) in [(2, 1), (16, 2), (80, 20), (3000, 1000)] {
            for load in [0.01, 0.5, 1.0, 1.5] {
                let trunk = (inputs, transmitters, 0);
                assert_eq!(ln(&G1DM, trunk, load)?, ln(&EBD, trunk, load)?);
                assert_eq!(ln(&EBI, trunk, load)?, ln(&EB, trunk, load)?);
            }
        }
        Ok(())
    }

    #[test]
    fn loss_grows_with_the_load_and_shrinks_with_the_buffer() -> Result<(), ParameterError> {
        for model in LOSS_MODELS {
            let mut less = f64::NEG_INFINITY;
            for load in (1..160).map(|step| f64::from(step) / 20.0 - 0.01) {
                let more = ln(model, (16, 2, 10), load)?;
                assert!(more > less, "{} at {load}", model.name);
                less = more;
            }
        }
        // (3.10) distributes alpha over the buffer, so that in the models with inserting links a larger buffer may lose more in
        // overload.
        for model in [&EBD, &EB, &MMKKB] {
            for load in [0.5, 1.0, 3.0] {
                let losses = [0, 1, 2, 5, 10, 100, 10_000].map(|buffer| ln(model, (16, 2, buffer), load));
                let losses = losses.into_iter().collect::<Result<Vec<_>, _>>()?;
                assert!(losses.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12), "{} at {load}: {losses:?}", model.name);
            }
        }
        Ok(())
    }

    #[test]
    fn many_inputs_are_a_poisson_process() -> Result<(), ParameterError> {
        for load in [0.3, 0.9, 1.0, 1.2] {
            let poisson = ln(&MMKKB, (1_000_000, 2, 3), load)?;
            for model in [&G1DM, &EBD, &EBI, &EB] {
                assert!((ln(model, (1_000_000, 2, 3), load)? - poisson).abs() < 1e-4, "{} at {load}", model.name);
            }
        }
        Ok(())
    }

    #[test]
    fn mmkkb_matches_the_queueing_model() -> Result<(), ParameterError> {
        for (trunk, load) in cases() {
            let queue = mmck(Load::new(load)?, Servers::new(trunk.1)?, Places::new(trunk.1 + trunk.2)?).loss;
            if queue > 1e-280 {
                assert!((loss(&MMKKB, trunk, load)? / queue - 1.0).abs() < 1e-11, "{trunk:?} at {load}");
            }
        }
        Ok(())
    }

    #[test]
    fn overload_loses_the_excess() -> Result<(), ParameterError> {
        // (3.16), (3.18): 1 - 1/rho; (3.17): too much by M / (M - K).
        for load in [1.5, 2.5] {
            let excess = 1.0 - 1.0 / load;
            for (model, near) in [(&G1DM, 1e-4), (&EBD, 1e-12), (&MMKKB, 1e-12)] {
                let found = loss(model, (500, 2, 1000), load)?;
                assert!((found / excess - 1.0).abs() < near, "{} at {load}: {found}", model.name);
            }
            assert!((loss(&EB, (16, 2, 1000), load)? / excess - 16.0 / 14.0).abs() < 1e-12);
            assert!((loss(&EBD, (16, 2, 1000), load)? / excess - 1.0).abs() < 1e-12);
        }
        Ok(())
    }

    #[test]
    fn losses_below_floating_point_range_and_buffers_of_a_million() -> Result<(), ParameterError> {
        // EB above K is geometric with (M - K) load / (M - K load) per place: 14 * 0.5 / 15.
        let (small, large) = (ln(&EB, (16, 2, 1_000), 0.5)?, ln(&EB, (16, 2, 1_000_000), 0.5)?);
        assert!((large - small - 999_000.0 * libm::log(7.0 / 15.0)).abs() < 1e-4, "{small} {large}");
        for model in LOSS_MODELS {
            let found = ln(model, (2000, 1000, 1_000_000), 0.999)?;
            assert!(found.is_finite() && found < -1000.0, "{}: {found}", model.name);
        }
        Ok(())
    }

    #[test]
    fn no_load_or_one_channel_per_input_loses_nothing() -> Result<(), ParameterError> {
        for model in LOSS_MODELS {
            assert_eq!(ln(model, (16, 2, 3), 0.0)?, f64::NEG_INFINITY);
        }
        for model in [&G1DM, &EBD, &EBI, &EB, &EBL] {
            assert_eq!(ln(model, (4, 4, 0), 0.99)?, f64::NEG_INFINITY);
            assert_eq!(ln(model, (4, 9, 5), 0.3)?, f64::NEG_INFINITY);
        }
        Ok(())
    }

    #[test]
    fn invalid_parameters_are_refused_by_name() {
        let refused = |trunk: (u64, u64, u64), load| ln(&G1DM, trunk, load).map_err(|error| error.name);
        assert_eq!(refused((0, 1, 0), 0.5), Err("inputs"));
        assert_eq!(refused((4, 0, 0), 0.5), Err("transmitters"));
        assert_eq!(refused((4, 1, 2_000_000_000), 0.5), Err("buffer"));
        for load in [-0.1, 4.0, 5.0, f64::NAN, f64::INFINITY, 1e-201] {
            assert_eq!(refused((4, 1, 2), load), Err("load"), "{load}");
        }
        let shown = ln(&G1DM, (16, 2, 0), 8.0).map_err(|error| error.to_string());
        let expected =
            "`load` is 8; expected 0, or 1e-200 up to but not 8 (inputs / transmitters, where no input link is ever idle)";
        assert_eq!(shown, Err(expected.to_string()));
        assert_eq!(<&LossModel>::named("ebd").map(|model| model.name), Ok("ebd"));
        assert_eq!(<&LossModel>::named("edb").map(drop).map_err(|error| error.name), Err("model"));
    }
}
