//! Settings that replace those of a preset.

use crate::decode::{Decoder, Table};
use crate::quantity::Size;
use crate::record::{Record, Shape};
use crate::setting::{SettingText, describe, json, notation, take};
use schemars::SchemaGenerator;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use std::marker::PhantomData;
use tailback_core::settings::{Keys, Setting, Value};

/// Settings of `S`. Each that is absent has the value of the preset.
#[derive(Clone, Debug, PartialEq)]
pub struct PresetSettings<S> {
    /// One entry per setting.
    texts: Vec<Option<SettingText>>,
    of: PhantomData<S>,
}

impl<S: Keys> Default for PresetSettings<S> {
    fn default() -> PresetSettings<S> {
        PresetSettings { texts: vec![None; S::SETTINGS.len()], of: PhantomData }
    }
}

impl<S: Keys> PresetSettings<S> {
    /// Converts settings of the core for a scenario; all are given.
    pub(crate) fn of(spec: &S) -> PresetSettings<S> {
        let text = |(setting, value): (&'static Setting, Value)| Some(notation(&setting.kind).text(value));
        PresetSettings { texts: S::SETTINGS.iter().zip(spec.values()).map(text).collect(), of: PhantomData }
    }

    /// Replaces settings of a preset by the given ones. Windows in bytes are left to the caller.
    pub(crate) fn replace(&self, preset: &mut S) {
        let mut values = preset.values();
        for (value, text) in values.iter_mut().zip(&self.texts) {
            if let Some(SettingText::Value(given)) = text {
                *value = *given;
            }
        }
        // The kind of each setting has the values of its type.
        let _ = preset.set(&values);
    }

    /// Whether the setting is given.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.given().any(|(setting, _)| setting.key == key)
    }

    /// The setting, if it is given as a number.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        self.given().find_map(|(setting, text)| match text {
            SettingText::Value(Value::Number(number)) if setting.key == key => Some(number),
            _ => None,
        })
    }

    /// The setting, if it is given as a window in bytes.
    pub(crate) fn window_bytes(&self, key: &str) -> Option<Size> {
        self.given().find_map(|(setting, text)| match text {
            SettingText::WindowBytes(size) if setting.key == key => Some(size),
            _ => None,
        })
    }

    /// The given settings as in the normalised form.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'static str, Json)> {
        self.given().map(|(setting, text)| (setting.key, json(setting, text)))
    }

    fn given(&self) -> impl Iterator<Item = (&'static Setting, SettingText)> {
        S::SETTINGS.iter().zip(&self.texts).filter_map(|(setting, text)| Some((setting, (*text)?)))
    }
}

impl<S: Keys> Record for PresetSettings<S> {
    fn take(table: &mut Table, decoder: &mut Decoder) -> PresetSettings<S> {
        PresetSettings { texts: S::SETTINGS.iter().map(|setting| take(setting, table, decoder)).collect(), of: PhantomData }
    }

    fn shapes(generator: &mut SchemaGenerator) -> Vec<Shape> {
        let mut shape = Shape::default();
        for setting in S::SETTINGS {
            describe(setting, setting.help, Some(Json::Null), &mut shape, generator);
        }
        vec![shape]
    }
}

impl<S: Keys> Serialize for PresetSettings<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        serializer.collect_map(self.entries())
    }
}
