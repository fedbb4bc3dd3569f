//! Simulations of the detailed trunk model compared with exact solutions. `theory/trunk.rs` of the core compares them with
//! independent simulations.

use tailback_models::ParameterError;
use tailback_models::trunk::monte_carlo::{Estimate, Settings, Simulation};
use tailback_models::trunk::{DetailedChain, MMKKB, Trunk, TrunkVariant};

/// Inputs, transmitters, places.
type Size = (u64, u64, u64);

fn settings((inputs, transmitters, buffer): Size, load: f64) -> Result<Settings, ParameterError> {
    Ok(Settings {
        trunk: Trunk::new(inputs, transmitters, buffer)?,
        load,
        variant: TrunkVariant::OwnLength,
        relative_width: 0.2,
        max_arrivals: 1_000_000_000,
        splitting: true,
        seed: 1,
    })
}

fn estimate(settings: Settings) -> Result<Estimate, ParameterError> {
    let mut simulation = Simulation::new(settings)?;
    while !simulation.conclude() {
        simulation.segments(u64::MAX).into_iter().for_each(|segment| segment.run());
    }
    Ok(simulation.estimate())
}

fn exact(settings: &Settings) -> Result<f64, ParameterError> {
    let mut chain = DetailedChain::new(&settings.trunk, settings.load, settings.variant)?;
    Ok(std::iter::from_fn(|| Some(chain.sweep())).flatten().next().map_or(f64::NAN, libm::exp))
}

/// M/M/K/(K+B), the limit of every variant for an infinite number of inputs: packets then arrive at a constant rate.
fn poisson(settings: &Settings) -> Result<f64, ParameterError> {
    Ok(libm::exp(MMKKB.ln_loss(&settings.trunk, settings.load)?))
}

/// Student's t with 31 degrees of freedom: 99.9 % point over 95 % point.
const TO_99_9: f64 = 3.633 / 2.0395;

#[track_caller]
fn assert_holds(settings: Settings, exact: f64) -> Result<(), ParameterError> {
    let Estimate { loss, half_width, narrow, .. } = estimate(settings)?;
    assert!(narrow && 2.0 * half_width <= settings.relative_width * loss, "{settings:?}: {loss} +- {half_width}");
    assert!((loss - exact).abs() <= TO_99_9 * half_width, "{settings:?}: {loss} +- {half_width} for {exact}");
    Ok(())
}

#[test]
fn the_loss_of_memoryless_variants_matches_their_chains() -> Result<(), ParameterError> {
    let trunks = [((4, 1, 3), 0.9), ((4, 2, 4), 0.3), ((3, 1, 6), 0.2), ((2, 1, 5), 1.5), ((9, 3, 2), 0.5), ((5, 4, 6), 1.1)];
    for (size, load) in trunks {
        for variant in [TrunkVariant::Fresh, TrunkVariant::Coupled] {
            let settings = Settings { variant, relative_width: 0.03, ..settings(size, load)? };
            assert_holds(settings, exact(&settings)?)?;
        }
    }
    Ok(())
}

#[test]
fn without_places_the_loss_of_all_variants_matches_the_chain_of_busy_and_discarding_inputs() -> Result<(), ParameterError> {
    for (size, load) in [((16, 2, 0), 0.01), ((16, 2, 0), 1.2), ((80, 20, 0), 0.2), ((2, 1, 0), 0.001)] {
        for variant in TrunkVariant::ALL {
            let settings = Settings { variant, relative_width: 0.05, ..settings(size, load)? };
            assert_holds(settings, exact(&settings)?)?;
        }
    }
    Ok(())
}

#[test]
fn with_a_million_inputs_the_loss_of_all_variants_matches_poisson_arrivals() -> Result<(), ParameterError> {
    // Losses of 9e-13, 7e-12 and 6e-4.
    for (size, load) in [((1_000_000, 1, 11), 0.1), ((1_000_000, 3, 12), 0.15), ((1_000_000, 2, 20), 0.8)] {
        for variant in TrunkVariant::ALL {
            let settings = Settings { variant, ..settings(size, load)? };
            assert_holds(settings, poisson(&settings)?)?;
        }
    }
    Ok(())
}

/// At least 88 of 100 intervals with 95 % coverage contain the true value, except once in 680 tries.
#[track_caller]
fn assert_covers(settings: Settings, exact: f64) -> Result<(), ParameterError> {
    let mut covered = 0;
    for seed in 1..=100 {
        let Estimate { loss, half_width, .. } = estimate(Settings { seed, ..settings })?;
        covered += u32::from((loss - exact).abs() <= half_width);
    }
    assert!(covered >= 88, "{settings:?}: {covered} of 100");
    Ok(())
}

#[test]
fn intervals_by_splitting_have_their_nominal_coverage() -> Result<(), ParameterError> {
    // A loss of 8e-7.
    let settings = Settings { variant: TrunkVariant::Fresh, ..settings((3, 1, 6), 0.2)? };
    assert_covers(settings, exact(&settings)?)
}

#[test]
fn intervals_of_packets_with_their_own_length_have_their_nominal_coverage() -> Result<(), ParameterError> {
    // A loss of 5e-5.
    let settings = settings((1_000_000, 1, 5), 0.2)?;
    assert_covers(settings, poisson(&settings)?)
}

#[test]
fn intervals_of_coupled_packets_have_their_nominal_coverage() -> Result<(), ParameterError> {
    // A loss of 4e-6.
    let settings = Settings { variant: TrunkVariant::Coupled, relative_width: 0.3, ..settings((6, 2, 6), 0.3)? };
    assert_covers(settings, exact(&settings)?)
}

#[test]
fn intervals_by_counting_have_their_nominal_coverage() -> Result<(), ParameterError> {
    // Losses are clustered here: a loss of 1e-2.
    let settings = Settings { variant: TrunkVariant::Fresh, splitting: false, ..settings((5, 1, 12), 0.9)? };
    assert_covers(settings, exact(&settings)?)
}

#[test]
fn results_do_not_depend_on_the_size_and_order_of_slices() -> Result<(), ParameterError> {
    let settings = settings((4, 2, 4), 0.3)?;
    let mut simulation = Simulation::new(settings)?;
    let mut slice = 1;
    while !simulation.conclude() {
        simulation.segments(slice).into_iter().rev().for_each(|segment| segment.run());
        slice = (slice * 3) % 100_000;
    }
    assert_eq!(simulation.estimate(), estimate(settings)?);
    Ok(())
}

#[test]
fn simulated_results_are_pinned() -> Result<(), ParameterError> {
    let Estimate { loss, arrivals, lost, simulated, .. } = estimate(settings((4, 2, 4), 0.3)?)?;
    assert_eq!((loss, arrivals, lost, simulated), (6.643_086_183_618_361_5e-6, 161_600, 9_447, 1_373_524));
    Ok(())
}

#[test]
fn a_trunk_that_cannot_lose_packets_is_not_simulated() -> Result<(), ParameterError> {
    for (size, load) in [((4, 4, 0), 0.9), ((3, 5, 10), 0.5), ((16, 2, 10), 0.0)] {
        let settled = estimate(settings(size, load)?)?;
        assert_eq!((settled.loss, settled.half_width, settled.narrow, settled.simulated), (0.0, 0.0, true, 0));
    }
    Ok(())
}

#[test]
fn an_unreachable_width_returns_the_best_estimate() -> Result<(), ParameterError> {
    let few = Settings { relative_width: 1e-6, max_arrivals: 1_000_000, ..settings((16, 2, 10), 0.8)? };
    let Estimate { loss, half_width, narrow, simulated, .. } = estimate(few)?;
    assert!(!narrow && half_width > 0.0 && half_width < loss && simulated <= 1_100_000);
    let rare = Settings { splitting: false, max_arrivals: 1_000_000, ..settings((16, 2, 10), 0.1)? };
    let Estimate { loss, half_width, narrow, simulated, .. } = estimate(rare)?;
    assert!(!narrow && loss == 0.0 && half_width.is_nan() && simulated <= 1_100_000);
    Ok(())
}

#[test]
fn widths_and_budgets_out_of_range_are_refused_by_name() -> Result<(), ParameterError> {
    for relative_width in [0.0, -0.1, 0.51, f64::NAN, f64::INFINITY] {
        let refused = Simulation::new(Settings { relative_width, ..settings((4, 1, 2), 0.5)? });
        assert_eq!(refused.err().map(|error| error.name), Some("relative_width"), "{relative_width}");
    }
    for max_arrivals in [0, 99_999, u64::MAX] {
        let refused = Simulation::new(Settings { max_arrivals, ..settings((4, 1, 2), 0.5)? });
        assert_eq!(refused.err().map(|error| error.name), Some("max_arrivals"), "{max_arrivals}");
    }
    Ok(())
}
