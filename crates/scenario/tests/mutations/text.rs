//! Damage to bytes, lines, values and units of a text.

use super::Chance;

pub fn damage(text: Vec<u8>, chance: &mut Chance) -> Vec<u8> {
    const VALUES: &[&str] = &[
        "nan",
        "inf",
        "-1",
        "0",
        "1e308",
        "\"1e308 s\"",
        "\"-1 ms\"",
        "\"0 s\"",
        "\"nan Mbps\"",
        "true",
        "[]",
        "{}",
        "\"\"",
        "4000001",
        "18446744073709551616",
        "\"1 bps\"",
        "\"1000 Tbps\"",
        "\"4800 h\"",
        "\"0 %\"",
        "\"unlimited\"",
        "2001-01-01",
        "[[[]]]",
        "\"left\"",
    ];
    const UNITS: &[&str] = &["ms", "s", "us", "h", "Mbps", "Gbps", "bps", "kB", "KB", "B", "packets", "%", ""];
    let position = chance.below(text.len().max(1));
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let line = chance.below(lines.len());
    let words = |chance: &mut Chance, list: &[&str]| list[chance.below(list.len())].as_bytes().to_vec();
    match chance.below(8) {
        0 => {
            let mut text = text.clone();
            if let Some(byte) = text.get_mut(position) {
                *byte ^= 1 << chance.below(8);
            }
            text
        }
        1 => [&text[..position], &text[(position + chance.below(20)).min(text.len())..]].concat(),
        2 => [&text[..position], &words(chance, VALUES), &text[position..]].concat(),
        // Removes a line, doubles it, or swaps it with another one.
        3 => joined(lines.iter().enumerate().filter(|(index, _)| *index != line).map(|(_, line)| *line)),
        4 => {
            joined(lines.iter().enumerate().flat_map(|(index, text)| std::iter::repeat_n(*text, 1 + usize::from(index == line))))
        }
        5 => {
            let other = chance.below(lines.len());
            let mut lines = lines.clone();
            lines.swap(line, other);
            joined(lines.into_iter())
        }
        // Another value, or another unit.
        6 => {
            let value = words(chance, VALUES);
            replaced(&lines, line, |text| {
                Some([&text[..=text.iter().position(|&byte| byte == b'=')?], b" ", &value[..]].concat())
            })
        }
        _ => {
            let unit = words(chance, UNITS);
            replaced(&lines, line, |text| {
                let end = text.iter().rposition(|&byte| byte == b'"')?;
                let start = text[..end].iter().rposition(|byte| !byte.is_ascii_alphabetic() && *byte != b'%')? + 1;
                Some([&text[..start], &unit, &text[end..]].concat())
            })
        }
    }
}

fn joined<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    lines.collect::<Vec<_>>().join(&b'\n')
}

fn replaced(lines: &[&[u8]], line: usize, change: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Vec<u8> {
    let changed = change(lines[line]).unwrap_or_default();
    joined(lines.iter().enumerate().map(|(index, text)| if index == line { &changed[..] } else { text }))
}
