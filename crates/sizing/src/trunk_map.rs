//! Trunks for which the loss model of the rules, EBD, has been compared with measurements.

/// The measurements, which `tools/trunk_map.py` writes.
pub const TRUNK_MAP: &str = include_str!("trunk_map.csv");

// The axes of the map; see python/tailback/models/_trunk_map.py.
const CHANNELS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 256.0];
/// Channels over inputs; 0 means an unlimited number of inputs, for which the loss is known exactly.
const SHARES: [f64; 7] = [0.0, 1.0 / 16.0, 1.0 / 8.0, 1.0 / 4.0, 1.0 / 2.0, 2.0 / 3.0, 4.0 / 5.0];
const BUFFERS: [f64; 8] = [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];
const LOADS: [f64; 9] = [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3];

/// Effectively unlimited inputs.
const COUNTLESS: u64 = 1_000_000;

/// Whether all grid points around the trunk are measured. With a transmitter per input nothing is lost, and no measurement is
/// needed.
pub(crate) fn is_measured(inputs: Option<u64>, transmitters: u64, buffer: u64, load: f64) -> bool {
    let inputs = inputs.unwrap_or(COUNTLESS);
    if inputs <= transmitters {
        return true;
    }
    let channels = around(&CHANNELS, transmitters as f64);
    let shares = around(&SHARES, transmitters as f64 / inputs as f64);
    let (buffers, loads) = (around(&BUFFERS, buffer as f64), around(&LOADS, load));
    if [&channels, &shares, &buffers, &loads].iter().any(|axis| axis.is_empty()) {
        return false;
    }
    let near = |place: &MapPoint| {
        channels.contains(&place.channels)
            && shares.contains(&place.share)
            && buffers.contains(&place.buffer)
            && loads.contains(&place.load)
    };
    let measured = TRUNK_MAP.lines().filter_map(MapPoint::read).filter(near).count();
    measured == channels.len() * shares.iter().filter(|share| **share > 0.0).count() * buffers.len() * loads.len()
}

struct MapPoint {
    channels: f64,
    share: f64,
    buffer: f64,
    load: f64,
}

impl MapPoint {
    /// Parses a row that measures the detailed model, in which a packet keeps its length. Without waiting places all variants are
    /// equal.
    fn read(row: &str) -> Option<MapPoint> {
        let mut cells = row.split(',');
        let mut number = || cells.next()?.parse::<f64>().ok();
        let (inputs, channels, buffer, load) = (number()?, number()?, number()?, number()?);
        let variant = cells.next()?;
        (variant == "own_length" || buffer == 0.0).then_some(MapPoint { channels, share: channels / inputs, buffer, load })
    }
}

/// The grid points of an axis around a value: the value itself if it is one; none outside the axis.
fn around(axis: &[f64], value: f64) -> Vec<f64> {
    if axis.contains(&value) {
        return vec![value];
    }
    axis.windows(2).find(|pair| pair[0] < value && value < pair[1]).map(<[f64]>::to_vec).unwrap_or_default()
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
