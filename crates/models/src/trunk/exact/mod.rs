//! The detailed model of section 3.6.1 without noise: the stationary distribution of its Markov chain.
//!
//! An input link is idle, busy (its packet is cut through), inserting (the packet is stored) or discarding. The text does not
//! specify the departure of a packet that waited ([`TrunkVariant`]). Packets that keep their own length do not form a finite chain,
//! because the transmission time of a stored packet equals its reception time, a real number per packet. Only without a buffer is
//! the chain finite, and then all variants are equal. The two memoryless variants are finite: [`fresh`], which has few states,
//! and [`coupled`], whose states double with each waiting place. [`levels`] solves both.

mod coupled;
mod fresh;
mod levels;

use super::{IntendedLoad, Trunk, TrunkLoss, TrunkVariant};
use crate::model::{EvaluationError, InterruptCheck, models};
use crate::parameter::ParameterError;
use coupled::Coupled;
use fresh::Fresh;
use levels::{DetailedModel, Solution};

/// The chain of a trunk, solved sweep by sweep.
pub struct DetailedChain {
    states: u64,
    /// `None` if no packet can be lost.
    solution: Option<Solution>,
}

/// 8 bytes each, and a run time of up to a minute.
const MAX_STATES: u64 = 4_000_000;
/// The rows of the coupled variant are numbered by their bits, including rows that few input links cannot reach.
const MAX_COUPLED_BUFFER: u32 = 20;

impl DetailedChain {
    /// For `load` see [`super::LossModel::ln_loss`].
    ///
    /// # Errors
    /// Packets with their own length and a buffer, more than 4,000,000 states, or more than 20 places in the coupled variant.
    pub fn new(trunk: &Trunk, load: f64, variant: TrunkVariant) -> Result<DetailedChain, ParameterError> {
        trunk.check(load)?;
        if load == 0.0 || trunk.inputs <= trunk.transmitters {
            return Ok(DetailedChain { states: 1, solution: None });
        }
        if variant == TrunkVariant::OwnLength && trunk.buffer > 0 {
            let expected = "fresh or coupled with a buffer: waiting packets that keep their length have no finite chain";
            return Err(ParameterError::new("variant", "own_length", expected));
        }
        if variant == TrunkVariant::Coupled && trunk.buffer > MAX_COUPLED_BUFFER {
            let expected = format!("at most {MAX_COUPLED_BUFFER} packets in the coupled variant, whose states double with each");
            return Err(ParameterError::new("buffer", trunk.buffer, expected));
        }
        let coupled = variant == TrunkVariant::Coupled && trunk.buffer > 0;
        let states = if coupled { Coupled::states(trunk) } else { Fresh::states(trunk) };
        if states > MAX_STATES {
            let given = format!("a chain of {states} states");
            return Err(ParameterError::new("trunk", given, format!("at most {MAX_STATES} states")));
        }
        let carried = load * f64::from(trunk.transmitters);
        let arrivals_per_idle = carried / (f64::from(trunk.inputs) - carried);
        let model: Box<dyn DetailedModel> = if coupled {
            Box::new(Coupled::new(trunk, arrivals_per_idle))
        } else {
            Box::new(Fresh::new(trunk, arrivals_per_idle))
        };
        Ok(DetailedChain { states, solution: Some(Solution::new(model)) })
    }

    pub fn states(&self) -> u64 {
        self.states
    }

    /// One sweep through all states: a few milliseconds for 100,000 states. Once the sweeps have converged, returns the natural
    /// logarithm of the fraction of packets lost, to about 1e-10; minus infinity if no packet is lost.
    pub fn sweep(&mut self) -> Option<f64> {
        match &mut self.solution {
            Some(solution) => solution.sweep(),
            None => Some(f64::NEG_INFINITY),
        }
    }
}

models! {
    /// Loss of a trunk in the detailed model that `trunk_loss` approximates, from its Markov chain; accurate to 1e-10.
    pub fn exact_trunk_loss(
        trunk: Trunk,
        load: IntendedLoad,
        /// Variant of the model: the transmission time of a packet that waited, which the source does not specify. Without a
        /// buffer all variants are equal.
        variant: TrunkVariant,
        patience: InterruptCheck,
    ) -> Result<TrunkLoss, EvaluationError> {
        let mut chain = DetailedChain::new(&trunk, load.0, variant)?;
        loop {
            if let Some(ln_loss) = chain.sweep() {
                return Ok(TrunkLoss::of(ln_loss));
            }
            if !(patience.0)() {
                return Err(EvaluationError::Interrupted);
            }
        }
    }
    quantity: "loss at a given load, exact";
    equation: "the stationary distribution of all link states";
    source: "cui-thesis, section 3.6.1";
    assumes: ["exponential packets and gaps, with all link states", "with `\"fresh\"`: a packet that waited has a new exponential transmission time"];
    refuses: "``\"own_length\"`` with a buffer, which has no finite chain, ``\"coupled\"`` with more than 20 places, whose states double with \
              each, and chains of more than 4,000,000 states, which take minutes";
    example: ">>> trunk = dict(inputs=16, transmitters=2, buffer=10, load=0.7)\n\
              >>> exact = tb.models.exact_trunk_loss(**trunk, variant=\"fresh\").loss\n\
              >>> round(tb.models.trunk_loss(**trunk).loss / exact, 2)\n\
              0.96";
}

#[cfg(test)]
pub(super) fn solved(trunk: &Trunk, load: f64, variant: TrunkVariant) -> Result<f64, ParameterError> {
    let mut chain = DetailedChain::new(trunk, load, variant)?;
    loop {
        if let Some(ln_loss) = chain.sweep() {
            return Ok(ln_loss);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trunk::MMKKB;
    use std::collections::HashMap;

    fn loss(trunk: (u64, u64, u64), load: f64, variant: TrunkVariant) -> Result<f64, ParameterError> {
        ln_loss(trunk, load, variant).map(libm::exp)
    }

    fn ln_loss((inputs, transmitters, buffer): (u64, u64, u64), load: f64, variant: TrunkVariant) -> Result<f64, ParameterError> {
        solved(&Trunk::new(inputs, transmitters, buffer)?, load, variant)
    }

    #[test]
    fn two_inputs_share_one_channel() -> Result<(), ParameterError> {
        // Load 1: all rates are 1. Relative to the idle state, balance gives busy 3/2, busy and discarding 1, discarding 1/2,
        // with 2, 1, 0 and 1 idle links: 3/2 of 2 + 3/2 + 1/2 arrivals are lost.
        for variant in TrunkVariant::ALL {
            assert!((loss((2, 1, 0), 1.0, variant)? - 3.0 / 8.0).abs() < 1e-10, "{}", variant.name());
        }
        Ok(())
    }

    #[test]
    fn the_lumped_chains_match_the_chains_of_individual_ports_and_places() -> Result<(), ParameterError> {
        for trunk in [(2, 1, 0), (2, 1, 1), (2, 1, 4), (3, 1, 2), (3, 2, 2), (4, 3, 1)] {
            for load in [0.02, 1.2] {
                for (variant, coupled) in [(TrunkVariant::Fresh, false), (TrunkVariant::Coupled, true)] {
                    let by_port = loss_of_every_port(trunk, load, coupled);
                    let lumped = loss(trunk, load, variant)?;
                    assert!(
                        (lumped / by_port - 1.0).abs() < 1e-9,
                        "{} of {trunk:?} at {load}: {lumped} {by_port}",
                        variant.name()
                    );
                }
            }
        }
        Ok(())
    }

    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    enum Port {
        Idle,
        Busy,
        Inserting,
        /// Receives a packet that waited and is being sent independently of its reception.
        Outrun,
        Discarding,
    }

    /// The definition, link by link: the ports; for each waiting packet from the head, the port that still receives it; and the
    /// channels whose packet is sent independently of its reception.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct State {
        ports: Vec<Port>,
        waiting: Vec<Option<usize>>,
        alone: usize,
    }

    impl State {
        fn channels(&self) -> usize {
            self.alone + self.ports.iter().filter(|port| **port == Port::Busy).count()
        }

        /// A channel has become free.
        fn start_next(mut self, coupled: bool) -> State {
            if self.waiting.is_empty() {
                return self;
            }
            match self.waiting.remove(0) {
                Some(port) if coupled => self.ports[port] = Port::Busy,
                Some(port) => {
                    self.ports[port] = Port::Outrun;
                    self.alone += 1;
                }
                None => self.alone += 1,
            }
            self
        }

        fn with(&self, port: usize, now: Port) -> State {
            let mut next = self.clone();
            next.ports[port] = now;
            next
        }

        /// Successor states, transition rates, and whether a packet is lost.
        fn moves(&self, (transmitters, buffer): (usize, usize), arrivals: f64, coupled: bool) -> Vec<(State, f64, bool)> {
            let mut moves = Vec::new();
            for (port, &doing) in self.ports.iter().enumerate() {
                moves.push(match doing {
                    Port::Idle if self.channels() < transmitters => (self.with(port, Port::Busy), arrivals, false),
                    Port::Idle if self.waiting.len() < buffer => {
                        let mut next = self.with(port, Port::Inserting);
                        next.waiting.push(Some(port));
                        (next, arrivals, false)
                    }
                    Port::Idle => (self.with(port, Port::Discarding), arrivals, true),
                    Port::Busy => (self.with(port, Port::Idle).start_next(coupled), 1.0, false),
                    Port::Inserting => {
                        let mut next = self.with(port, Port::Idle);
                        next.waiting.iter_mut().filter(|place| **place == Some(port)).for_each(|place| *place = None);
                        (next, 1.0, false)
                    }
                    Port::Outrun | Port::Discarding => (self.with(port, Port::Idle), 1.0, false),
                });
            }
            if self.alone > 0 {
                let freed = State { alone: self.alone - 1, ..self.clone() };
                moves.push((freed.start_next(coupled), self.alone as f64, false));
            }
            moves
        }
    }

    /// By elimination of one state after the other (Grassmann, Taksar and Heyman 1985).
    fn loss_of_every_port((inputs, transmitters, buffer): (u64, u64, u64), load: f64, coupled: bool) -> f64 {
        let arrivals = load * transmitters as f64 / (inputs as f64 - load * transmitters as f64);
        let room = (transmitters as usize, buffer as usize);
        let empty = State { ports: vec![Port::Idle; inputs as usize], waiting: Vec::new(), alone: 0 };
        let (mut known, mut states) = (HashMap::from([(empty.clone(), 0)]), vec![empty]);
        let (mut rates, mut lost, mut all) = (Vec::new(), Vec::new(), Vec::new());
        while rates.len() < states.len() {
            let state = states[rates.len()].clone();
            let mut row = HashMap::new();
            let mut lost_here = 0.0;
            for (next, rate, is_lost) in state.moves(room, arrivals, coupled) {
                let to = *known.entry(next.clone()).or_insert_with(|| {
                    states.push(next);
                    states.len() - 1
                });
                *row.entry(to).or_insert(0.0) += rate;
                lost_here += if is_lost { rate } else { 0.0 };
            }
            lost.push(lost_here);
            all.push(state.ports.iter().filter(|port| **port == Port::Idle).count() as f64 * arrivals);
            rates.push(row);
        }
        let count = states.len();
        let mut matrix = vec![vec![0.0; count]; count];
        rates.iter().enumerate().for_each(|(from, row)| row.iter().for_each(|(&to, rate)| matrix[from][to] = *rate));
        for state in (1..count).rev() {
            let row = matrix[state].clone();
            let away: f64 = row[..state].iter().sum();
            for from in matrix.iter_mut().take(state) {
                from[state] /= away;
                let factor = from[state];
                from.iter_mut().zip(&row).take(state).for_each(|(rate, onward)| *rate += factor * onward);
            }
        }
        let mut share = vec![1.0];
        for state in 1..count {
            share.push(share.iter().zip(&matrix).map(|(share, from)| share * from[state]).sum());
        }
        let sum = |rates: &[f64]| share.iter().zip(rates).map(|(share, rate)| share * rate).sum::<f64>();
        sum(&lost) / sum(&all)
    }

    #[test]
    fn the_loss_respects_offered_and_carried_load() -> Result<(), ParameterError> {
        // A link sends a packet every 1/lambda + 1 in all cases, and K channels carry at most K: P >= 1 - 1/rho.
        for variant in [TrunkVariant::Fresh, TrunkVariant::Coupled] {
            for trunk in [(16, 2, 10), (4, 1, 8), (10, 7, 3)] {
                for load in [1.1, 1.3, 1.42] {
                    let lost = loss(trunk, load, variant)?;
                    assert!(lost >= 1.0 - 1.0 / load && lost < 0.5, "{} of {trunk:?} at {load}: {lost}", variant.name());
                }
            }
            let much = loss((16, 2, 10), 7.9, variant)?;
            assert!((much - (1.0 - 1.0 / 7.9)).abs() < 1e-6, "{much}");
        }
        Ok(())
    }

    #[test]
    fn many_inputs_are_a_poisson_process() -> Result<(), ParameterError> {
        let poisson = libm::exp(MMKKB.ln_loss(&Trunk::new(2, 1, 3)?, 0.8)?);
        let apart = |inputs| loss((inputs, 1, 3), 0.8, TrunkVariant::Fresh).map(|many| poisson / many - 1.0);
        let (few, many) = (apart(200)?, apart(1600)?);
        assert!(many < 0.005 && (few / many - 8.0).abs() < 0.2, "{few} {many}");
        Ok(())
    }

    #[test]
    fn losses_far_below_floating_point_range_are_found() -> Result<(), ParameterError> {
        // At very low load a loss requires K + B + 1 overlapping packets: the slope of the logarithm of the loss over that of the
        // load is K + B.
        for variant in [TrunkVariant::Fresh, TrunkVariant::Coupled] {
            let (low, high) = (ln_loss((4, 2, 5), 1e-150, variant)?, ln_loss((4, 2, 5), 1e-140, variant)?);
            assert!(((high - low) / (10.0 * 10f64.ln()) - 7.0).abs() < 1e-9, "{}: {low} {high}", variant.name());
        }
        Ok(())
    }

    #[test]
    fn infinite_or_too_large_chains_are_refused() -> Result<(), ParameterError> {
        let refused = |trunk, variant| ln_loss(trunk, 0.5, variant).err().map(|error| error.to_string()).unwrap_or_default();
        let own = refused((4, 1, 2), TrunkVariant::OwnLength);
        assert!(own.starts_with("`variant` is own_length; expected fresh or coupled"), "{own}");
        let deep = refused((4, 1, 21), TrunkVariant::Coupled);
        assert!(deep.starts_with("`buffer` is 21; expected at most 20 packets"), "{deep}");
        let large = refused((1_000_000, 2, 1_000_000_000), TrunkVariant::Fresh);
        assert!(large.contains("`trunk` is a chain of 3000000006000002 states; expected at most 4000000 states"), "{large}");
        let wide = refused((400, 1, 16), TrunkVariant::Coupled);
        assert!(wide.contains("states; expected at most 4000000 states"), "{wide}");
        assert_eq!(ln_loss((3, 3, 9), 0.9, TrunkVariant::OwnLength)?, f64::NEG_INFINITY);
        assert_eq!(ln_loss((4, 1, 0), 0.0, TrunkVariant::OwnLength)?, f64::NEG_INFINITY);
        Ok(())
    }

    #[test]
    fn the_number_of_states_is_known_in_advance() -> Result<(), ParameterError> {
        for trunk in [(2, 1, 0), (2, 1, 5), (3, 2, 4), (9, 4, 6), (3, 1, 12)] {
            let of = Trunk::new(trunk.0, trunk.1, trunk.2)?;
            assert_eq!(Fresh::states(&of) as usize, Fresh::new(&of, 1.0).sizes().iter().sum(), "{trunk:?}");
            assert_eq!(Coupled::states(&of) as usize, Coupled::new(&of, 1.0).sizes().iter().sum(), "{trunk:?}");
        }
        Ok(())
    }
}
