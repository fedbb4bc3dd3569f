//! The error of an invalid parameter.

use std::borrow::Cow;
use std::fmt;

/// A parameter that is invalid for its model.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterError {
    pub name: &'static str,
    pub given: String,
    pub expected: Cow<'static, str>,
}

impl ParameterError {
    pub fn new(name: &'static str, given: impl fmt::Display, expected: impl Into<Cow<'static, str>>) -> ParameterError {
        ParameterError { name, given: given.to_string(), expected: expected.into() }
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` is {}; expected {}", self.name, self.given, self.expected)
    }
}

impl std::error::Error for ParameterError {}
