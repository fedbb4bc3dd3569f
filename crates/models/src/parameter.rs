//! Parameter types that cannot hold invalid values: each is checked once, on construction.

pub use crate::error::ParameterError;
use crate::model::{Parameter, ParameterKind, ParameterSpec, prose};

/// Offered work over the capacity of all transmitters together, dimensionless: finite, at least 0, may exceed 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load(f64);

/// A load below 1, as an unlimited buffer requires for an equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StableLoad(f64);

/// Capacity of a port in units, units in service included: 0 to 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places(u32);

/// Transmitters of a port: 1 to 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Servers(u32);

/// Probability that a packet is lost, above 0 and below 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss(f64);

/// Target utilisation of a rule, above 0 and below 1. Full utilisation has rules of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Utilisation(f64);

/// A finite number above 0 in the unit given by the field's name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Positive(f64);

/// A finite number of at least 0 in the unit given by the field's name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NonNegative(f64);

/// A whole number of at least 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer(u64);

/// A whole number of at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(u64);

const MAX_UNITS: u32 = 1_000_000;

impl Load {
    pub fn new(load: f64) -> Result<Load, ParameterError> {
        match load {
            _ if load.is_finite() && load >= 0.0 => Ok(Load(load)),
            _ => Err(ParameterError::new("load", load, "a finite number of at least 0")),
        }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl StableLoad {
    pub fn new(load: f64) -> Result<StableLoad, ParameterError> {
        match load {
            _ if (0.0..1.0).contains(&load) => Ok(StableLoad(load)),
            _ => Err(ParameterError::new("load", load, "at least 0 and below 1: an unlimited queue has no equilibrium at 1")),
        }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl Places {
    pub fn new(places: u64) -> Result<Places, ParameterError> {
        match u32::try_from(places) {
            Ok(places) if places <= MAX_UNITS => Ok(Places(places)),
            _ => Err(ParameterError::new("places", places, "0 to 1000000 units")),
        }
    }

    pub fn get(self) -> u32 {
        self.0
    }
}

impl Servers {
    pub(crate) const ONE: Servers = Servers(1);

    pub fn new(servers: u64) -> Result<Servers, ParameterError> {
        match u32::try_from(servers) {
            Ok(servers @ 1..=MAX_UNITS) => Ok(Servers(servers)),
            _ => Err(ParameterError::new("servers", servers, "1 to 1000000 transmitters")),
        }
    }

    pub fn get(self) -> u32 {
        self.0
    }

    /// The same number of places as transmitters: no waiting room.
    pub(crate) fn as_places(self) -> Places {
        Places(self.0)
    }
}

impl Loss {
    pub fn new(loss: f64) -> Result<Loss, ParameterError> {
        match loss {
            _ if loss > 0.0 && loss < 1.0 => Ok(Loss(loss)),
            _ => Err(ParameterError::new("loss", loss, "a probability above 0 and below 1")),
        }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl Utilisation {
    pub fn new(utilisation: f64) -> Result<Utilisation, ParameterError> {
        match utilisation {
            _ if utilisation > 0.0 && utilisation < 1.0 => Ok(Utilisation(utilisation)),
            _ => Err(ParameterError::new("utilisation", utilisation, "a share above 0 and below 1")),
        }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl Positive {
    /// `name` is the field for error messages.
    pub fn new(name: &'static str, value: f64) -> Result<Positive, ParameterError> {
        match value {
            _ if value.is_finite() && value > 0.0 => Ok(Positive(value)),
            _ => Err(ParameterError::new(name, value, "a finite number above 0")),
        }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl NonNegative {
    /// `name` is the field for error messages.
    pub fn new(name: &'static str, value: f64) -> Result<NonNegative, ParameterError> {
        match value {
            _ if value.is_finite() && value >= 0.0 => Ok(NonNegative(value)),
            _ => Err(ParameterError::new(name, value, "a finite number of at least 0")),
        }
    }

    /// The ratio to a size above 0.
    pub(crate) fn ratio(of: NonNegative, size: f64) -> NonNegative {
        NonNegative((of.0 / size).min(f64::MAX))
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl Integer {
    pub fn new(value: u64) -> Integer {
        Integer(value)
    }

    pub fn get(self) -> u64 {
        self.0
    }
}

impl Count {
    pub(crate) const ONE: Count = Count(1);

    /// `name` is the field for error messages.
    pub fn new(name: &'static str, value: u64) -> Result<Count, ParameterError> {
        match value {
            1.. => Ok(Count(value)),
            0 => Err(ParameterError::new(name, value, "at least 1")),
        }
    }

    pub fn get(self) -> u64 {
        self.0
    }
}

/// Default descriptions: parameters with one name mean the same in all models unless a model overrides it.
const MEANINGS: &[(&str, &str)] = &[
    ("inputs", "M, input links that feed the bottleneck, each as fast as one transmitter."),
    ("flows", "N, long-lived flows."),
    ("harmonic_rtt_s", "Harmonic mean of the flows' round trips without queueing; see `round_trips`."),
    ("mean_rtt_s", "Mean of the flows' round trips without queueing."),
    ("max_rtt_s", "The longest of the flows' round trips without queueing."),
    ("buffer", "B, buffer size in packets."),
];

/// A number that a model takes.
pub(crate) trait Scalar: Sized {
    /// Description, unless the model gives one.
    const HELP: &'static str;
    /// Valid values, in words.
    const RANGE: &'static str;
    const WHOLE: bool = false;

    fn of(name: &'static str, number: f64) -> Result<Self, ParameterError>;
}

impl Scalar for Load {
    const HELP: &'static str = "Offered load: offered work over the capacity of all transmitters.";
    const RANGE: &'static str = ">= 0; may exceed 1";

    fn of(_name: &'static str, number: f64) -> Result<Load, ParameterError> {
        Load::new(number)
    }
}

impl Scalar for StableLoad {
    const HELP: &'static str = Load::HELP;
    const RANGE: &'static str = "at least 0 and below 1";

    fn of(_name: &'static str, number: f64) -> Result<StableLoad, ParameterError> {
        StableLoad::new(number)
    }
}

impl Scalar for Places {
    const HELP: &'static str = "Capacity in units, units in service included.";
    const RANGE: &'static str = "0 to 1,000,000";
    const WHOLE: bool = true;

    fn of(name: &'static str, number: f64) -> Result<Places, ParameterError> {
        Places::new(whole(name, number)?)
    }
}

impl Scalar for Servers {
    const HELP: &'static str = "Transmitters.";
    const RANGE: &'static str = "1 to 1,000,000";
    const WHOLE: bool = true;

    fn of(name: &'static str, number: f64) -> Result<Servers, ParameterError> {
        Servers::new(whole(name, number)?).map_err(|error| ParameterError { name, ..error })
    }
}

impl Scalar for Loss {
    const HELP: &'static str = "Probability that a packet is lost.";
    const RANGE: &'static str = "above 0 and below 1";

    fn of(_name: &'static str, number: f64) -> Result<Loss, ParameterError> {
        Loss::new(number)
    }
}

impl Scalar for Utilisation {
    const HELP: &'static str = "U, target utilisation of the bottleneck.";
    const RANGE: &'static str = "above 0 and below 1";

    fn of(_name: &'static str, number: f64) -> Result<Utilisation, ParameterError> {
        Utilisation::new(number)
    }
}

impl Scalar for Positive {
    const HELP: &'static str = "";
    const RANGE: &'static str = "> 0";

    fn of(name: &'static str, number: f64) -> Result<Positive, ParameterError> {
        Positive::new(name, number)
    }
}

impl Scalar for NonNegative {
    const HELP: &'static str = "";
    const RANGE: &'static str = ">= 0";

    fn of(name: &'static str, number: f64) -> Result<NonNegative, ParameterError> {
        NonNegative::new(name, number)
    }
}

impl Scalar for Integer {
    const HELP: &'static str = "";
    const RANGE: &'static str = ">= 0";
    const WHOLE: bool = true;

    fn of(name: &'static str, number: f64) -> Result<Integer, ParameterError> {
        Ok(Integer::new(whole(name, number)?))
    }
}

impl Scalar for Count {
    const HELP: &'static str = "";
    const RANGE: &'static str = ">= 1";
    const WHOLE: bool = true;

    fn of(name: &'static str, number: f64) -> Result<Count, ParameterError> {
        Count::new(name, whole(name, number)?)
    }
}

pub(crate) fn described<S: Scalar>(asked: &ParameterSpec) -> Parameter {
    let ParameterSpec { name, help, default, named } = *asked;
    let meaning = MEANINGS.iter().find(|(of, _)| *of == name).map_or(S::HELP, |(_, meaning)| meaning);
    let help = if help.is_empty() { meaning.into() } else { prose(help) };
    Parameter { name, help, kind: ParameterKind::Number { whole: S::WHOLE, range: S::RANGE }, default, named }
}

/// Models may take each of these types.
macro_rules! arguments_of_one_number {
    ($($kind:ty),+ $(,)?) => {$(
        impl $crate::model::Arguments for $kind {
            fn describe(asked: $crate::model::ParameterSpec, parameters: &mut Vec<$crate::model::Parameter>) {
                parameters.push($crate::parameter::described::<$kind>(&asked));
            }

            fn read(name: &'static str, given: &mut $crate::model::Inputs) -> Result<$kind, $crate::error::ParameterError> {
                <$kind as $crate::parameter::Scalar>::of(name, given.number(name)?)
            }
        }
    )+};
}
pub(crate) use arguments_of_one_number;

arguments_of_one_number!(Load, StableLoad, Places, Servers, Loss, Utilisation, Positive, NonNegative, Integer, Count);

/// A parameter that is a whole number.
pub(crate) fn whole(name: &'static str, number: f64) -> Result<u64, ParameterError> {
    const MAX_INTEGER: f64 = 9_007_199_254_740_992.0;
    match number {
        _ if (0.0..=MAX_INTEGER).contains(&number) && number.fract() == 0.0 => Ok(number as u64),
        _ => Err(ParameterError::new(name, number, "a whole number of at least 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_parameter_its_value_and_the_valid_values() {
        let shown = Positive::new("rtt_s", -0.1).map_err(|error| error.to_string());
        assert_eq!(shown, Err("`rtt_s` is -0.1; expected a finite number above 0".into()));
    }

    #[test]
    fn not_a_number_and_infinity_are_refused_everywhere() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Load::new(value).is_err() && StableLoad::new(value).is_err() && Loss::new(value).is_err());
            assert!(Utilisation::new(value).is_err());
            assert!(Positive::new("x", value).is_err() && NonNegative::new("x", value).is_err());
        }
    }

    #[test]
    fn each_range_includes_exactly_its_documented_ends() {
        assert!(Load::new(0.0).is_ok() && Load::new(-f64::MIN_POSITIVE).is_err());
        assert!(StableLoad::new(0.0).is_ok() && StableLoad::new(1.0).is_err());
        assert!(Places::new(0).is_ok() && Places::new(1_000_000).is_ok() && Places::new(1_000_001).is_err());
        assert!(Places::new((1 << 32) + 1).is_err());
        assert!(Servers::new(0).is_err() && Servers::new(1).is_ok() && Servers::new(1_000_001).is_err());
        assert!(Loss::new(0.0).is_err() && Loss::new(1.0).is_err() && Loss::new(0.5).is_ok());
        assert!(Utilisation::new(0.0).is_err() && Utilisation::new(1.0).is_err() && Utilisation::new(0.5).is_ok());
        assert!(Positive::new("x", 0.0).is_err() && NonNegative::new("x", 0.0).is_ok());
        assert!(Count::new("x", 0).is_err() && Count::new("x", 1).is_ok());
    }
}
