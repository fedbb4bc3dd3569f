//! Two packets an input.

use super::Rule;
use crate::parameter::Count;

pub const GORINSKY: Rule = Rule {
    name: "gorinsky",
    idea: "holds what may arrive on all inputs at once",
    equation: "2 M",
    source: "Gorinsky, Kantawala and Turner, Link Buffer Sizing: A New Look at the Old Problem, ISCC 2005",
    assumes: &[
        "bursts are those of packets that arrive on several inputs at once",
        "the input links; of a link whose inputs are not known, its flows",
        "no promise of a utilisation",
    ],
};

/// Packets: two for each input link M.
pub fn gorinsky_buffer(inputs: Count) -> f64 {
    2.0 * inputs.get() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParameterError;

    #[test]
    fn eight_inputs_need_sixteen_places() -> Result<(), ParameterError> {
        assert_eq!(gorinsky_buffer(Count::new("inputs", 8)?), 16.0);
        Ok(())
    }
}
