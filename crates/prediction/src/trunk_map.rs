//! Error of each model of a trunk, measured on a grid of parameters and interpolated. docs/evidence/trunk_accuracy.md describes
//! the grid.

use crate::number_text::digits;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;
use tailback_models::ParameterError;
use tailback_models::trunk::{IntendedLoad, LossModel, MMKKB, Trunk, TrunkVariant, trunk_loss};

/// The measurements, which `tools/trunk_map.py` writes.
const TRUNK_MAP: &str = include_str!("trunk_map.csv");

const CHANNELS: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 256];
/// Channels over inputs. 0 means an unlimited number of inputs: a Poisson process, M/M/K/(K+B).
const SHARES: [(u64, u64); 7] = [(0, 1), (1, 16), (1, 8), (1, 4), (1, 2), (2, 3), (4, 5)];
const BUFFERS: [u64; 8] = [0, 1, 2, 5, 10, 20, 50, 100];
const LOADS: [f64; 9] = [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3];

/// Effectively unlimited inputs.
const COUNTLESS: u64 = 1_000_000;

/// Error of a model of a trunk: its loss divided by the loss in the detailed model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrunkAccuracy {
    /// Interpolated between measured points; NaN outside the map.
    pub ratio: f64,
    /// The smallest and the largest ratio at the surrounding points.
    pub low: f64,
    pub high: f64,
}

/// Interpolation is not reliable if the surrounding points differ by more than this factor.
const WIDE: f64 = 1.1;

impl TrunkAccuracy {
    /// Whether all surrounding points were measured.
    pub fn is_mapped(&self) -> bool {
        !self.ratio.is_nan()
    }

    /// Range of the ratio; both ends are `ratio` if the surrounding points agree within a tenth.
    fn span(&self) -> (f64, f64) {
        if self.high > WIDE * self.low { (self.low, self.high) } else { (self.ratio, self.ratio) }
    }

    /// Whether the whole span is within a factor, up or down.
    pub fn is_within(&self, factor: f64) -> bool {
        let (low, high) = self.span();
        1.0 / factor <= low && high <= factor
    }
}

impl fmt::Display for TrunkAccuracy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_mapped() {
            return out.write_str("not mapped");
        }
        let (low, high) = self.span();
        let bound = match () {
            () if self.is_within(1.05) => "within 5 %",
            () if self.is_within(1.2) => "within 20 %",
            () if self.is_within(2.0) => "within a factor of 2",
            () if high < 0.5 || low > 2.0 => "off by more than a factor of 2",
            () => "perhaps off by more than a factor of 2",
        };
        match low == high {
            true => write!(out, "{bound} ({})", error_text(low)),
            false => write!(out, "{bound} ({} to {} at the surrounding points)", error_text(low), error_text(high)),
        }
    }
}

fn error_text(ratio: f64) -> String {
    match ratio {
        0.5..=2.0 => format!("{:+.0} %", 100.0 * (ratio - 1.0)),
        _ if ratio > 1.0 => format!("{} times", digits(ratio, 3)),
        _ => format!("1/{}", digits(1.0 / ratio, 3)),
    }
}

/// Error of a model at a load. The logarithm of the ratio is interpolated in log K, K/M, B and load.
pub fn accuracy(
    trunk: &Trunk,
    load: f64,
    model: &'static LossModel,
    variant: TrunkVariant,
) -> Result<TrunkAccuracy, ParameterError> {
    let loss = trunk_loss(*trunk, IntendedLoad(load), model)?.loss;
    if load == 0.0 || trunk.inputs() <= trunk.transmitters() {
        // There is no loss, and only M/M/K/(K+B) predicts some.
        let ratio = if loss == 0.0 { 1.0 } else { f64::INFINITY };
        return Ok(TrunkAccuracy { ratio, low: ratio, high: ratio });
    }
    let (mut mean, mut low, mut high) = (0.0, f64::INFINITY, f64::NEG_INFINITY);
    let points = around(trunk.inputs().into(), trunk.transmitters().into(), trunk.buffer().into(), load);
    if points.is_empty() {
        mean = f64::NAN;
    }
    for (point, weight) in points {
        let ratio = match point.loss(variant)? {
            Some(measured) => model.ln_loss(&point.trunk()?, point.load())? - libm::log(measured),
            None => f64::NAN,
        };
        mean += weight * ratio;
        (low, high) = (low.min(ratio), high.max(ratio));
    }
    let unless_unknown = |ln_ratio: f64| if mean.is_nan() { f64::NAN } else { libm::exp(ln_ratio) };
    Ok(TrunkAccuracy { ratio: unless_unknown(mean), low: unless_unknown(low), high: unless_unknown(high) })
}

/// Whether all grid points around the trunk are measured. With a transmitter per input nothing is lost, and no measurement is
/// needed; for an unlimited number of inputs the loss is known exactly.
pub(crate) fn is_measured(inputs: Option<u64>, transmitters: u64, buffer: u64, load: f64) -> bool {
    let inputs = inputs.unwrap_or(COUNTLESS);
    let points = around(inputs, transmitters, buffer, load);
    let is_known = |(point, _): &(MapPoint, f64)| point.share == 0 || MEASURED.contains_key(&(*point, "own_length"));
    inputs <= transmitters || (!points.is_empty() && points.iter().all(is_known))
}

/// Indices on the axes of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct MapPoint {
    channels: usize,
    share: usize,
    buffer: usize,
    load: usize,
}

/// Loss by point and variant.
static MEASURED: LazyLock<HashMap<(MapPoint, &str), f64>> = LazyLock::new(|| TRUNK_MAP.lines().filter_map(measurement).collect());

/// Parses a row; `None` for the header.
fn measurement(row: &'static str) -> Option<((MapPoint, &'static str), f64)> {
    let cells: Vec<&str> = row.split(',').collect();
    let [inputs, channels, buffer, load, variant, loss, _half_width] = cells[..] else { return None };
    let (inputs, channels): (u64, u64) = (inputs.parse().ok()?, channels.parse().ok()?);
    let (buffer, load): (u64, f64) = (buffer.parse().ok()?, load.parse().ok()?);
    let point = MapPoint {
        channels: CHANNELS.iter().position(|&other| other == channels)?,
        share: SHARES.iter().position(|&(part, of)| part * inputs == of * channels)?,
        buffer: BUFFERS.iter().position(|&other| other == buffer)?,
        load: LOADS.iter().position(|&other| other == load)?,
    };
    Some(((point, variant), loss.parse().ok()?))
}

impl MapPoint {
    fn load(&self) -> f64 {
        LOADS[self.load]
    }

    fn trunk(&self) -> Result<Trunk, ParameterError> {
        let (channels, (part, of)) = (CHANNELS[self.channels], SHARES[self.share]);
        let inputs = (channels * of).checked_div(part).unwrap_or(COUNTLESS);
        Trunk::new(inputs, channels, BUFFERS[self.buffer])
    }

    /// The loss in the detailed model; `None` if it was not measured. Without a buffer all variants are equal.
    fn loss(&self, variant: TrunkVariant) -> Result<Option<f64>, ParameterError> {
        if self.share == 0 {
            let poisson = trunk_loss(self.trunk()?, IntendedLoad(self.load()), &MMKKB)?.loss;
            return Ok(Some(poisson).filter(|&loss| loss > 0.0));
        }
        let variant = if self.buffer == 0 { TrunkVariant::OwnLength } else { variant };
        Ok(MEASURED.get(&(*self, variant.name())).copied())
    }
}

/// The grid points around a trunk with their weights; none outside the map.
fn around(inputs: u64, transmitters: u64, buffer: u64, load: f64) -> Vec<(MapPoint, f64)> {
    let channels = between(CHANNELS.map(|channels| libm::log(channels as f64)), libm::log(transmitters as f64));
    let shares = between(SHARES.map(|(part, of)| part as f64 / of as f64), transmitters as f64 / inputs as f64);
    let (buffers, loads) = (between(BUFFERS.map(|buffer| buffer as f64), buffer as f64), between(LOADS, load));
    let mut points = Vec::new();
    for &(channels, of_channels) in &channels {
        for &(share, of_share) in &shares {
            for &(buffer, of_buffer) in &buffers {
                for &(load, of_load) in &loads {
                    points.push((MapPoint { channels, share, buffer, load }, of_channels * of_share * of_buffer * of_load));
                }
            }
        }
    }
    points
}

/// The indices around a value on an axis, with their weights; none outside the axis.
fn between<const N: usize>(axis: [f64; N], value: f64) -> Vec<(usize, f64)> {
    let Some(place) = axis.windows(2).position(|pair| pair[0] <= value && value <= pair[1]) else { return Vec::new() };
    let part = (value - axis[place]) / (axis[place + 1] - axis[place]);
    [(place, 1.0 - part), (place + 1, part)].into_iter().filter(|(_, weight)| *weight > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trunk_is_measured_if_the_grid_points_around_it_are() {
        assert!(is_measured(Some(8), 2, 20, 0.9));
        assert!(is_measured(Some(5), 8, 1000, 0.9));
        assert!(is_measured(None, 1, 15, 0.85));
        assert!(!is_measured(Some(8), 2, 200, 0.9));
        assert!(!is_measured(Some(7), 1, 100, 0.75));
    }
}
