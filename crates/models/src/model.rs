//! Declaration of a model, once and in its own file: its name, parameters, result, equation, source and assumptions. The Python
//! function, its docstring and the tables of docs/evidence/theory.md are derived from it.
//!
//! Models are declared by `models!`, each as a function:
//!
//! ```text
//! models! {
//!     /// M/M/1/K: Poisson arrivals, exponential service, one transmitter.
//!     pub fn mm1k(load: Load, places: Places) -> FiniteQueue {
//!         mmck(load, Servers::ONE, places)
//!     }
//!     quantity: "M/M/1/K loss, number, wait";
//!     equation: "...";
//!     source: "Kleinrock, Queueing Systems 1, 1975, section 3.6";
//!     assumes: ["Poisson arrivals", "packets of exponential length"];
//!     example: ">>> tb.models.mm1k(load=1.0, places=4).loss\n0.2";
//! }
//! ```
//!
//! A parameter has a type of [`crate::parameter`], which defines its range. Several parameters with names of their own form a
//! struct declared by `arguments!`. The result is a number, or a struct of numbers declared by `answers!`. A documentation line
//! on a parameter overrides that of its type.

use crate::error::ParameterError;

/// A closed form, as users see it.
#[derive(Debug)]
pub struct Model {
    pub name: &'static str,
    /// Documentation, line by line.
    pub help: &'static [&'static str],
    /// Quantity that it computes, for tables; empty for a model that solves the equation of the previous model for another
    /// variable.
    pub quantity: &'static str,
    /// Equation in plain text, in the names of the parameters.
    pub equation: &'static str,
    /// Literature reference.
    pub source: &'static str,
    /// Assumptions under which the model is valid.
    pub assumes: &'static [&'static str],
    /// For a buffer sizing rule: the purpose of the buffer, which is the reason why rules differ.
    pub idea: &'static str,
    /// Inputs without a result although all parameters are in range.
    pub refuses: &'static str,
    /// Meaning of the result, if it is a single number.
    pub returns: &'static str,
    /// Python example, prompts included.
    pub example: &'static str,
    pub parameters: fn() -> Vec<Parameter>,
    pub answer: fn() -> OutputGroup,
    /// Appends the numbers of the result to the row, one per field.
    pub evaluate: fn(&mut Inputs, &mut Vec<f64>) -> Result<(), EvaluationError>,
}

/// A number or a choice that a model takes.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub help: String,
    pub kind: ParameterKind,
    /// Default in Python syntax; `None` if the parameter is required.
    pub default: Option<&'static str>,
    /// Whether it belongs to an [`Arguments`] struct. Python then accepts it by name only.
    pub named: bool,
}

/// Valid values of a parameter.
#[derive(Clone, Debug)]
pub enum ParameterKind {
    Number {
        whole: bool,
        /// In words: `> 0`.
        range: &'static str,
    },
    Keyword {
        /// Name of its type.
        of: &'static str,
        words: Vec<KeywordInfo>,
    },
}

/// One of the words of a choice.
#[derive(Clone, Copy, Debug)]
pub struct KeywordInfo {
    pub word: &'static str,
    /// Spelling for people.
    pub title: &'static str,
    pub help: &'static str,
    /// Literature reference, if different from that of the model.
    pub source: &'static str,
}

/// The result of a model.
#[derive(Clone, Debug)]
pub struct OutputGroup {
    /// Empty for a single number.
    pub name: &'static str,
    pub help: &'static [&'static str],
    pub fields: Vec<Field>,
}

/// One number of a result with several.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: &'static str,
    pub help: &'static [&'static str],
    pub figure: OutputKind,
    /// Whether some models omit it.
    pub optional: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    Number,
    Integer,
    Boolean,
}

/// Reason why a model returned no result.
#[derive(Debug)]
pub enum EvaluationError {
    Parameter(ParameterError),
    /// The caller interrupted the computation.
    Interrupted,
}

impl From<ParameterError> for EvaluationError {
    fn from(error: ParameterError) -> EvaluationError {
        EvaluationError::Parameter(error)
    }
}

/// Arguments of a model: numbers and words, each in the order of the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    numbers: &'a [Option<f64>],
    words: &'a [String],
    patience: InterruptCheck,
}

/// Called periodically by a long computation; returns whether to continue.
#[derive(Clone, Copy, Debug)]
pub struct InterruptCheck(pub fn() -> bool);

impl<'a> Inputs<'a> {
    pub fn new(numbers: &'a [Option<f64>], words: &'a [String], patience: InterruptCheck) -> Inputs<'a> {
        Inputs { numbers, words, patience }
    }

    fn is_left_out(&self) -> bool {
        matches!(self.numbers, [None, ..])
    }

    pub(crate) fn number(&mut self, name: &'static str) -> Result<f64, ParameterError> {
        let missing = || ParameterError::new(name, "missing", "a number");
        let (number, others) = self.numbers.split_first().ok_or_else(missing)?;
        self.numbers = others;
        number.ok_or_else(missing)
    }

    pub(crate) fn word(&mut self, name: &'static str) -> Result<&'a str, ParameterError> {
        let (word, others) = self.words.split_first().ok_or_else(|| ParameterError::new(name, "missing", "a word"))?;
        self.words = others;
        Ok(word)
    }
}

/// Result of a model for numbers by name, its fields in order; or an error message.
pub fn evaluate(model: &Model, known: impl Fn(&str) -> Option<f64>) -> Result<Vec<f64>, String> {
    let number = |name: &str, default: Option<&str>| known(name).or_else(|| default?.parse().ok());
    let numbers: Vec<Option<f64>> =
        (model.parameters)().iter().map(|parameter| number(parameter.name, parameter.default)).collect();
    let mut answer = Vec::new();
    match (model.evaluate)(&mut Inputs::new(&numbers, &[], InterruptCheck(|| true)), &mut answer) {
        Ok(()) => Ok(answer),
        Err(EvaluationError::Parameter(error)) => Err(error.to_string()),
        Err(EvaluationError::Interrupted) => Err("interrupted".to_string()),
    }
}

/// Declaration of a parameter by a model.
pub struct ParameterSpec {
    pub name: &'static str,
    pub help: &'static [&'static str],
    pub default: Option<&'static str>,
    pub named: bool,
}

/// One parameter of a model, or several.
pub trait Arguments: Sized {
    fn describe(asked: ParameterSpec, parameters: &mut Vec<Parameter>);

    fn read(name: &'static str, given: &mut Inputs) -> Result<Self, ParameterError>;
}

impl<A: Arguments> Arguments for Option<A> {
    fn describe(asked: ParameterSpec, parameters: &mut Vec<Parameter>) {
        A::describe(ParameterSpec { default: Some("None"), ..asked }, parameters);
    }

    fn read(name: &'static str, given: &mut Inputs) -> Result<Option<A>, ParameterError> {
        if given.is_left_out() {
            given.numbers = &given.numbers[1..];
            return Ok(None);
        }
        A::read(name, given).map(Some)
    }
}

impl Arguments for InterruptCheck {
    fn describe(_asked: ParameterSpec, _parameters: &mut Vec<Parameter>) {}

    fn read(_name: &'static str, given: &mut Inputs) -> Result<InterruptCheck, ParameterError> {
        Ok(given.patience)
    }
}

/// A set of words; a model takes one of them.
pub trait Keyword: Sized {
    /// Name of its type.
    const NAME: &'static str;

    fn words() -> Vec<KeywordInfo>;

    fn named(word: &str) -> Result<Self, ParameterError>;
}

pub(crate) fn describe_keyword<C: Keyword>(asked: &ParameterSpec, parameters: &mut Vec<Parameter>) {
    let kind = ParameterKind::Keyword { of: C::NAME, words: C::words() };
    let ParameterSpec { name, help, default, .. } = *asked;
    parameters.push(Parameter { name, help: prose(help), kind, default, named: true });
}

/// The error for a word that is not in the choice.
pub(crate) fn unknown_keyword<C: Keyword>(name: &'static str, word: &str) -> ParameterError {
    let words: Vec<&str> = C::words().iter().map(|word| word.word).collect();
    ParameterError::new(name, format!("\"{word}\""), format!("one of {}", words.join(", ")))
}

/// One number of a result.
pub trait Quantity: Sized {
    const FIGURE: OutputKind;
    const OPTIONAL: bool = false;

    /// NaN where there is none.
    fn number(self) -> f64;
}

impl Quantity for f64 {
    const FIGURE: OutputKind = OutputKind::Number;

    fn number(self) -> f64 {
        self
    }
}

/// Values are below 2^53.
impl Quantity for u64 {
    const FIGURE: OutputKind = OutputKind::Integer;

    fn number(self) -> f64 {
        self as f64
    }
}

impl Quantity for bool {
    const FIGURE: OutputKind = OutputKind::Boolean;

    fn number(self) -> f64 {
        f64::from(self)
    }
}

impl<Q: Quantity> Quantity for Option<Q> {
    const FIGURE: OutputKind = Q::FIGURE;
    const OPTIONAL: bool = true;

    fn number(self) -> f64 {
        self.map_or(f64::NAN, Q::number)
    }
}

/// The result of a model: one number, or several.
pub trait ModelOutput {
    fn describe() -> OutputGroup;

    fn write(self, row: &mut Vec<f64>);
}

impl<Q: Quantity> ModelOutput for Q {
    fn describe() -> OutputGroup {
        let field = Field { name: "", help: &[], figure: Q::FIGURE, optional: Q::OPTIONAL };
        OutputGroup { name: "", help: &[], fields: vec![field] }
    }

    fn write(self, row: &mut Vec<f64>) {
        row.push(self.number());
    }
}

/// A result, or the reason why there is none.
pub trait Outcome {
    fn describe() -> OutputGroup;

    fn write(self, row: &mut Vec<f64>) -> Result<(), EvaluationError>;
}

impl<A: ModelOutput> Outcome for A {
    fn describe() -> OutputGroup {
        A::describe()
    }

    fn write(self, row: &mut Vec<f64>) -> Result<(), EvaluationError> {
        ModelOutput::write(self, row);
        Ok(())
    }
}

impl<A: ModelOutput, E: Into<EvaluationError>> Outcome for Result<A, E> {
    fn describe() -> OutputGroup {
        A::describe()
    }

    fn write(self, row: &mut Vec<f64>) -> Result<(), EvaluationError> {
        ModelOutput::write(self.map_err(Into::into)?, row);
        Ok(())
    }
}

/// Lines of a comment as running text.
pub fn prose(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// See [`Arguments`]: a struct whose fields are parameters.
macro_rules! arguments {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident {
            $($(#[doc = $help:literal])* $field:ident: $kind:ty $(= $default:literal)?,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $($(#[doc = $help])* pub $field: $kind,)+
        }

        impl $crate::model::Arguments for $name {
            fn describe(_asked: $crate::model::ParameterSpec, parameters: &mut Vec<$crate::model::Parameter>) {
                $(<$kind as $crate::model::Arguments>::describe(
                    $crate::model::asked!($field, [$($help),*], true $(, $default)?),
                    parameters,
                );)+
            }

            fn read(
                _name: &'static str,
                given: &mut $crate::model::Inputs,
            ) -> Result<$name, $crate::error::ParameterError> {
                Ok($name { $($field: $crate::model::Arguments::read(stringify!($field), given)?,)+ })
            }
        }
    };
}

/// See [`ModelOutput`]: a struct whose fields are numbers.
macro_rules! answers {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident {
            $($(#[doc = $help:literal])+ $field:ident: $kind:ty,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            $($(#[doc = $help])+ pub $field: $kind,)+
        }

        impl $crate::model::ModelOutput for $name {
            fn describe() -> $crate::model::OutputGroup {
                use $crate::model::Quantity;
                let fields = vec![$($crate::model::Field {
                    name: stringify!($field),
                    help: &[$($help),+],
                    figure: <$kind>::FIGURE,
                    optional: <$kind>::OPTIONAL,
                },)+];
                $crate::model::OutputGroup { name: stringify!($name), help: &[$($doc),+], fields }
            }

            fn write(self, row: &mut Vec<f64>) {
                $(row.push($crate::model::Quantity::number(self.$field));)+
            }
        }
    };
}

/// Declaration of a parameter by a model.
macro_rules! asked {
    ($name:ident, [$($help:literal),*], $named:literal $(, $default:literal)?) => {
        $crate::model::ParameterSpec {
            name: stringify!($name),
            help: &[$($help),*],
            default: [$(Some(stringify!($default)),)? None][0],
            named: $named,
        }
    };
}

/// The models of a file, and their list, `MODELS`.
macro_rules! models {
    ($(
        $(#[doc = $help:literal])+
        pub fn $name:ident($($(#[doc = $about:literal])* $argument:ident: $kind:ty $(= $default:literal)?),* $(,)?) -> $answer:ty $body:block
        $(quantity: $quantity:expr;)?
        equation: $equation:expr;
        source: $source:expr;
        assumes: $assumes:expr;
        $(idea: $idea:expr;)?
        $(refuses: $refuses:expr;)?
        $(returns: $returns:expr;)?
        $(example: $example:expr;)?
    )+) => {
        /// The models of this file.
        pub(crate) const MODELS: &[$crate::model::Model] = &[$($crate::model::Model {
            name: stringify!($name),
            help: &[$($help),+],
            quantity: [$($quantity,)? ""][0],
            equation: $equation,
            source: $source,
            assumes: &$assumes,
            idea: [$($idea,)? ""][0],
            refuses: [$($refuses,)? ""][0],
            returns: [$($returns,)? ""][0],
            example: [$($example,)? ""][0],
            parameters: || {
                #[allow(unused_mut, reason = "a model may have no parameters")]
                let mut parameters = Vec::new();
                $(<$kind as $crate::model::Arguments>::describe(
                    $crate::model::asked!($argument, [$($about),*], false $(, $default)?),
                    &mut parameters,
                );)*
                parameters
            },
            answer: <$answer as $crate::model::Outcome>::describe,
            #[allow(unused_variables, reason = "a model may have no parameters")]
            evaluate: |given, row| {
                $(let $argument = <$kind as $crate::model::Arguments>::read(stringify!($argument), given)?;)*
                $crate::model::Outcome::write($name($($argument),*), row)
            },
        },)+];

        $(
            $(#[doc = $help])+
            pub fn $name($($argument: $kind),*) -> $answer $body
        )+
    };
}

/// The files of a family, in the order of its list of models: re-exports their contents and defines `MODELS`.
macro_rules! family {
    ($($file:ident),+ $(,)?) => {
        $(pub use $file::*;)+

        pub(crate) const MODELS: &[&[$crate::model::Model]] = &[$($file::MODELS),+];
    };
}

pub(crate) use {answers, arguments, asked, family, models};
