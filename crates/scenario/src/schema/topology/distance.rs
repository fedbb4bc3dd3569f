//! Lengths of edges, and distances between places on the Earth.

/// Attributes of nodes in degrees, latitude first: of the Topology Zoo, of NetworkX users, of TopoHub, and other abbreviations.
const NAMES: [[&str; 2]; 5] =
    [["Latitude", "Longitude"], ["latitude", "longitude"], ["lat", "lon"], ["lat", "long"], ["lat", "lng"]];

/// Units of length, each in kilometres. The mile is the international one.
const UNITS: [(&str, f64); 3] = [("km", 1.0), ("mi", 1.609_344), ("m", 1e-3)];

const MAX_KM: f64 = 1e6;

/// The mean radius of the Earth, in kilometres (IUGG).
const EARTH_KM: f64 = 6371.0088;

/// A place on the Earth, in radians.
#[derive(Clone, Copy)]
pub(super) struct Coordinates {
    latitude: f64,
    longitude: f64,
}

impl Coordinates {
    /// Reads the attributes of a node; `None` if it has none that are numbers of degrees.
    pub fn of<'a>(attribute: impl Fn(&str) -> Option<&'a str>) -> Option<Coordinates> {
        let radians = |name: &str| {
            let degrees: f64 = attribute(name)?.parse().ok()?;
            (degrees.abs() <= 360.0).then(|| degrees.to_radians())
        };
        NAMES
            .iter()
            .find_map(|[latitude, longitude]| Some(Coordinates { latitude: radians(latitude)?, longitude: radians(longitude)? }))
    }
}

/// The names of the coordinates that the nodes of a file have, or else those of the Topology Zoo.
pub(super) fn coordinate_names(has: impl Fn(&str) -> bool) -> [&'static str; 2] {
    NAMES.into_iter().find(|names| names.iter().all(|name| has(name))).unwrap_or(NAMES[0])
}

/// The great-circle distance of two places, by the haversine formula.
pub(super) fn great_circle_km(from: Coordinates, to: Coordinates) -> f64 {
    let half = |from: f64, to: f64| ((to - from) / 2.0).sin().powi(2);
    let share = half(from.latitude, to.latitude) + from.latitude.cos() * to.latitude.cos() * half(from.longitude, to.longitude);
    2.0 * EARTH_KM * share.sqrt().min(1.0).asin()
}

/// A length in kilometres. A plain number has the unit in which the attribute's name ends, by default kilometres; `None` if the text is no
/// length.
pub(super) fn kilometres(text: &str, attribute: &str) -> Option<f64> {
    let of_name = || UNITS.iter().find(|(unit, _)| attribute.strip_suffix(unit).is_some_and(|stem| stem.ends_with('_')));
    let (number, per_unit) = match text.trim().parse::<f64>() {
        Ok(number) => (number, of_name().map_or(1.0, |(_, km)| *km)),
        Err(_) => UNITS.iter().find_map(|(unit, km)| Some((text.trim().strip_suffix(unit)?.trim_end().parse().ok()?, *km)))?,
    };
    Some(number * per_unit).filter(|km| (0.0..=MAX_KM).contains(km))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_has_the_unit_of_its_text_or_of_the_attribute() {
        let of = |text| kilometres(text, "dist");
        assert_eq!(
            [of("74.71"), of("74.71 km"), of("1500 m"), of("10 mi")],
            [Some(74.71), Some(74.71), Some(1.5), Some(16.09344)]
        );
        assert_eq!([kilometres("1500", "length_m"), kilometres("3", "length_km")], [Some(1.5), Some(3.0)]);
        assert_eq!([of("-1"), of("nan"), of("far"), of("3 ft"), of("1e7"), of("")], [None; 6]);
    }

    #[test]
    fn coordinates_have_one_of_several_pairs_of_names() {
        let quarter = |latitude: &'static str, longitude: &'static str| {
            let place = |degrees: &'static str| {
                Coordinates::of(move |name| if name == latitude { Some("0") } else { (name == longitude).then_some(degrees) })
            };
            place("0").zip(place("90")).map(|(from, to)| great_circle_km(from, to).round())
        };
        // A quarter of the circumference: 6371.0088 x pi / 2.
        let expected = Some(10_008.0);
        assert_eq!([quarter("Latitude", "Longitude"), quarter("latitude", "longitude"), quarter("lat", "lon")], [expected; 3]);
        assert_eq!([quarter("lat", "long"), quarter("lat", "lng")], [expected; 2]);
        assert_eq!(quarter("Latitude", "lon"), None);
        assert_eq!(coordinate_names(|name| name == "lat" || name == "lon"), ["lat", "lon"]);
    }
}
