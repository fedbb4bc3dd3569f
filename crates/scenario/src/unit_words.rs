//! Units in words and of other tools: the quantity to write instead.

use crate::tree::Node;

/// Units, each with its other spellings in lower case. A spelling may stand for several units: `m` is minutes or megabits per second.
const SPELLINGS: &[(&str, &[&str])] = &[
    ("s", &["sec", "secs", "second", "seconds"]),
    ("ms", &["msec", "msecs", "millis", "millisecond", "milliseconds"]),
    ("us", &["usec", "usecs", "microsecond", "microseconds", "μs", "µsec", "μsec"]),
    ("ns", &["nsec", "nsecs", "nanosecond", "nanoseconds"]),
    ("min", &["m", "mins", "minute", "minutes"]),
    ("h", &["hr", "hrs", "hour", "hours"]),
    ("bps", &["b/s", "bit", "bits", "bits/s", "bit/sec", "bits/sec"]),
    ("kbps", &["k", "kb", "kb/s", "kbit", "kbits", "kbits/s", "kbit/sec", "kbits/sec", "kilobit", "kilobits"]),
    ("Mbps", &["m", "mb", "mb/s", "meg", "mbit", "mbits", "mbits/s", "mbit/sec", "mbits/sec", "megabit", "megabits"]),
    ("Gbps", &["g", "gb", "gb/s", "gig", "gbit", "gbits", "gbits/s", "gbit/sec", "gbits/sec", "gigabit", "gigabits"]),
    ("B", &["byte", "bytes", "octet", "octets"]),
    ("kB", &["k", "kbyte", "kbytes", "kilobyte", "kilobytes"]),
    ("MB", &["m", "meg", "mbyte", "mbytes", "megabyte", "megabytes"]),
    ("GB", &["g", "gig", "gbyte", "gbytes", "gigabyte", "gigabytes"]),
    ("packets", &["p", "pkt", "pkts", "frame", "frames", "segment", "segments", "mtu", "mtus"]),
];

/// Basic units in words.
const NOUNS: &[(&str, &str)] = &[("s", "seconds"), ("bps", "bits per second"), ("B", "bytes"), ("packets", "packets")];

/// Names of a bandwidth-delay product.
const PRODUCTS: &[&str] = &["bdp", "bdps", "bandwidth-delay product", "bandwidth-delay products", "bandwidth delay product"];

/// The hint for a quantity with an unknown unit; `plain` is the basic unit of its kind, and `units` are the valid ones.
pub(crate) fn of_unit(node: &Node, unit: &str, plain: &str, units: &[&str]) -> Option<String> {
    let Node::Text(text) = node else { return None };
    let lower = unit.to_lowercase();
    let is_bytes = lower.contains("byte") || ["B", "Bps", "B/s"].iter().any(|end| unit.ends_with(end));
    let is_bits = lower.contains("bit") || unit.ends_with('b');
    match plain {
        "bps" if is_bytes => Some("rates are in bits: 1 megabyte per second is `8 Mbps`".into()),
        "B" if is_bits => Some("sizes are in bytes: 8 megabits are `1 MB`".into()),
        "B" if meant(unit, &["packets"]).is_some() || lower.starts_with("packet") => {
            Some("sizes are in bytes: 10 packets with 1460 B each are `14600 B`".into())
        }
        _ => rewritten(text, unit, units),
    }
}

/// The hint for a number without a unit.
pub(crate) fn of_number(node: &Node, plain: &str) -> Option<String> {
    let number = match node {
        Node::Text(text) => text.trim().into(),
        Node::Float(number) => number.to_string(),
        number => number.to_string(),
    };
    let (_, noun) = NOUNS.iter().find(|(unit, _)| *unit == plain)?;
    Some(format!("write `{number} {plain}` if it is in {noun}"))
}

/// The quantity in one of `units` for a text with a number and an unknown unit, which may have further words: `100ms rtt`.
fn rewritten(text: &str, unit: &str, units: &[&str]) -> Option<String> {
    let number = text.strip_suffix(unit)?.trim_end();
    let first = unit.split_whitespace().next()?;
    let meant = meant(unit, units).or_else(|| meant(first, units))?;
    Some(format!("write `{number} {meant}`"))
}

fn meant<'a>(unit: &str, units: &[&'a str]) -> Option<&'a str> {
    let lower = unit.trim_end_matches('.').to_lowercase();
    let spells = |known: &str| SPELLINGS.iter().any(|(meant, words)| *meant == known && words.contains(&lower.as_str()));
    units.iter().copied().find(|known| *known == unit || spells(known))
}

/// The hint for the size of a buffer in bandwidth-delay products, in time or in words.
pub(crate) fn of_buffer(text: &str, unit: &str) -> Option<String> {
    if ["inf", "infinite", "infinity", "none"].contains(&text.to_lowercase().as_str()) {
        return Some("did you mean `unlimited`?".into());
    }
    let number = text.strip_suffix(unit)?.trim_end();
    let lower = unit.to_lowercase();
    if PRODUCTS.contains(&lower.as_str()) {
        let percent = number.parse::<f64>().ok().map(|products| 100.0 * products)?;
        return Some(format!("write `{percent} %`, which is relative to rate times `bdp_rtt`"));
    }
    rewritten(text, unit, &["packets", "kB", "MB", "s", "ms", "us"])
}

/// The hint for a number in another notation: separators of thousands, a decimal comma, a sign, or no digit before or after the point.
pub(crate) fn of_notation(text: &str) -> Option<String> {
    let text = text.trim();
    let is_numeric = |letter: char| letter.is_ascii_digit() || "+.,_' ".contains(letter);
    let (number, unit) = text.split_at(text.find(|letter| !is_numeric(letter)).unwrap_or(text.len()));
    let number = number.trim();
    let (comma, point) = (number.rfind(','), number.rfind('.'));
    // With points between thousands, as in German, the comma is the decimal separator.
    let is_german = point.is_some() && comma > point || comma.is_none() && has_point_groups(number);
    let german = if is_german { number.replace('.', "").replace(',', ".") } else { String::new() };
    let digits = if german.is_empty() { number.trim_start_matches('+') } else { &german };
    let (whole, fraction) = digits.rsplit_once('.').unwrap_or((digits, ""));
    let groups: Vec<&str> = whole.split([',', '_', '\'', ' ']).collect();
    let are_thousands = groups.len() > 1 && !groups[0].is_empty() && groups[1..].iter().all(|group| group.len() == 3);
    let (plain, other) = match (&groups[..], digits.contains('.')) {
        ([first, decimals], false) if whole.contains(',') => {
            let decimal = format!("{}.{decimals}", if first.is_empty() { "0" } else { first });
            if are_thousands { (groups.concat(), Some(decimal)) } else { (decimal, None) }
        }
        (_, _) if are_thousands || groups.len() == 1 => {
            let whole = if groups[0].is_empty() { "0".into() } else { groups.concat() };
            (if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }, None)
        }
        _ => return None,
    };
    let is_number = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && text.matches('.').count() < 2
    };
    if plain == number || !digits.contains(|letter: char| letter.is_ascii_digit()) || !is_number(&plain) {
        return None;
    }
    let written = |number: &str| format!("`{}`", format!("{number} {unit}").trim());
    let other = other.map_or(String::new(), |other| format!(", or {} if the comma is a decimal separator", written(&other)));
    Some(format!("write {}{other}", written(&plain)))
}

/// Whether several points separate groups of three digits, as in 1.000.000.
fn has_point_groups(number: &str) -> bool {
    number.matches('.').count() > 1 && number.split('.').skip(1).all(|group| group.len() == 3)
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    /// The hint for a value of a scenario of one link and one transfer.
    fn hint(key: &str, value: &str) -> Option<String> {
        let given = |name: &str, default: &str| if name == key { value.to_string() } else { default.to_string() };
        let text = format!(
            "duration = {}\n[topology.dumbbell]\nrate = {}\ndelay = \"1 ms\"\nqueue = {{buffer = {}}}\n\
             [flows.web]\nsize = {}\ntcp = {{preset = \"sack\"}}\n",
            given("duration", "\"1 s\""),
            given("rate", "\"1 Mbps\""),
            given("buffer", "\"9 packets\""),
            given("size", "\"1 MB\""),
        );
        let mut errors = Scenario::from_toml(&text, "").expect_err(&text).list;
        assert_eq!(errors.len(), 1, "{text}");
        errors.remove(0).hint
    }

    #[test]
    fn units_in_words_are_rewritten() {
        for (key, value, hinted) in [
            ("duration", "1 minute", "write `1 min`"),
            ("duration", "10 Seconds", "write `10 s`"),
            // The Greek letter, which is not the sign for micro.
            ("duration", "20 \u{3bc}s", "write `20 us`"),
            ("buffer", "2 MTU", "write `2 packets`"),
            ("duration", "1.5 hrs", "write `1.5 h`"),
            ("duration", "100ms rtt", "write `100 ms`"),
            ("rate", "10M", "write `10 Mbps`"),
            ("rate", "100 Mbits/sec", "write `100 Mbps`"),
            ("rate", "1 gig", "write `1 Gbps`"),
            ("rate", "1 megabyte", "rates are in bits: 1 megabyte per second is `8 Mbps`"),
            ("size", "10 M", "write `10 MB`"),
            ("size", "3 megabytes", "write `3 MB`"),
            ("size", "8 Mbit", "sizes are in bytes: 8 megabits are `1 MB`"),
            ("size", "20 packets", "sizes are in bytes: 10 packets with 1460 B each are `14600 B`"),
            ("buffer", "1 BDP", "write `100 %`, which is relative to rate times `bdp_rtt`"),
            ("buffer", "0.25 bdp", "write `25 %`, which is relative to rate times `bdp_rtt`"),
            ("buffer", "10 msec", "write `10 ms`"),
            ("buffer", "64k", "write `64 kB`"),
            ("buffer", "1,000 packets", "write `1000 packets`, or `1.000 packets` if the comma is a decimal separator"),
            ("rate", "1,5 Mbps", "write `1.5 Mbps`"),
            ("rate", "1.000.000 bps", "write `1000000 bps`"),
            ("rate", "1,000 Mbps", "write `1000 Mbps`, or `1.000 Mbps` if the comma is a decimal separator"),
            ("rate", "1,000,000.5 bps", "write `1000000.5 bps`"),
            ("rate", "1.500,5 Mbps", "write `1500.5 Mbps`"),
            ("rate", "1 000 Mbps", "write `1000 Mbps`"),
            ("rate", ".5 Mbps", "write `0.5 Mbps`"),
            ("rate", "5. Mbps", "write `5 Mbps`"),
            ("rate", "+5 Mbps", "write `5 Mbps`"),
            ("duration", "0,5 s", "write `0.5 s`"),
            ("size", "1_000 kB", "write `1000 kB`"),
            ("buffer", "100 pkts", "write `100 packets`"),
            ("buffer", "infinite", "did you mean `unlimited`?"),
        ] {
            assert_eq!(hint(key, &format!("\"{value}\"")).as_deref(), Some(hinted), "{key} = {value}");
        }
    }

    #[test]
    fn numbers_without_a_unit_get_one() {
        for (key, value, hinted) in [
            ("duration", "10", "write `10 s` if it is in seconds"),
            ("rate", "1e6", "write `1000000 bps` if it is in bits per second"),
            ("size", "\"3000\"", "write `3000 B` if it is in bytes"),
            ("buffer", "100", "write `100 packets` if it is in packets"),
        ] {
            assert_eq!(hint(key, value).as_deref(), Some(hinted), "{key} = {value}");
        }
    }

    #[test]
    fn nothing_is_guessed_for_other_units() {
        for (key, value) in [("duration", "3 parsecs"), ("rate", "3 m/s"), ("size", "3 acres"), ("buffer", "3 x")] {
            assert_eq!(hint(key, &format!("\"{value}\"")), None, "{key} = {value}");
        }
    }
}
