//! Two packets per input.

use super::BufferSize;
use crate::model::models;
use crate::parameter::{Count, ParameterError};

models! {
    /// Two packets per input link, or per flow for a link whose inputs are unknown.
    pub fn gorinsky_buffer(inputs: Count) -> Result<BufferSize, ParameterError> {
        BufferSize::of(2.0 * inputs.get() as f64)
    }
    quantity: "two packets per input";
    equation: "2 M";
    source: "Gorinsky, Kantawala and Turner, Link Buffer Sizing: A New Look at the Old Problem, ISCC 2005";
    assumes: [
        "bursts come from packets that arrive on several inputs at once",
        "the number of input links is known; otherwise the number of flows replaces it",
        "the rule guarantees no utilisation",
    ];
    idea: "absorbs packets that arrive on all inputs at once";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_inputs_need_sixteen_places() -> Result<(), ParameterError> {
        assert_eq!(gorinsky_buffer(Count::new("inputs", 8)?)?.buffer, 16);
        Ok(())
    }
}
