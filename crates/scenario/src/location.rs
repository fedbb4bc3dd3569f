//! Locations in a scenario's text: line, column, and the source line with a caret that messages show.

use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Where a key or value is written in a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Location {
    /// Counted from 1.
    pub line: u32,
    /// Column of the first character, counted in characters from 1.
    pub column: u32,
    /// Column behind the last character in this line.
    pub end_column: u32,
    /// The line without its line break. Only part of a line longer than [`LONGEST_LINE`] is stored.
    pub source_line: String,
    /// Column at which `source_line` starts.
    #[serde(skip)]
    first_column: u32,
}

/// Characters of a line that a location stores.
const LONGEST_LINE: usize = 1000;

/// Columns of a terminal that a source line may take in a message.
const SHOWN_WIDTH: usize = 100;

/// Columns shown before the caret where a line is cut.
const CONTEXT_WIDTH: usize = 40;

const TAB_WIDTH: usize = 4;
const CUT: &str = "...";

impl Location {
    /// The source line under a ruler, with a caret under each column of the value:
    ///
    /// ```text
    ///   |
    /// 6 | rate = "10"
    ///   |        ^^^^
    /// ```
    pub(crate) fn snippet(&self) -> String {
        let (line, marks) = self.shown();
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        format!("{margin} |\n{number} | {line}\n{margin} | {marks}")
    }

    /// The source line as a terminal shows it, cut around the value, and the line of carets.
    fn shown(&self) -> (String, String) {
        let glyphs: Vec<Glyph> = self.source_line.chars().map(Glyph::of).collect();
        let width = |glyphs: &[Glyph]| glyphs.iter().map(|glyph| glyph.width).sum::<usize>();
        let start = ((self.column - self.first_column) as usize).min(glyphs.len());
        let end = ((self.end_column - self.first_column) as usize).clamp(start, glyphs.len());
        let (before, marked) = (width(&glyphs[..start]), width(&glyphs[start..end]).max(1));
        if width(&glyphs) <= SHOWN_WIDTH {
            let line: String = glyphs.iter().map(|glyph| glyph.text.as_str()).collect();
            return (line.trim_end().to_string(), " ".repeat(before) + &"^".repeat(marked));
        }
        // The first shown character: the start of the line if the whole value fits behind it.
        let first = if before + marked <= SHOWN_WIDTH {
            0
        } else {
            (0..=start).find(|&first| width(&glyphs[first..start]) <= CONTEXT_WIDTH).unwrap_or(start)
        };
        let last = (first..=glyphs.len()).rev().find(|&last| width(&glyphs[first..last]) <= SHOWN_WIDTH).unwrap_or(first);
        let is_cut = [first > 0 || self.first_column > 1, last < glyphs.len()];
        let [left, right] = is_cut.map(|is_cut| if is_cut { CUT } else { "" });
        let line: String = glyphs[first..last].iter().map(|glyph| glyph.text.as_str()).collect();
        let indent = left.len() + width(&glyphs[first..start]);
        let marks = "^".repeat(width(&glyphs[start..end.min(last).max(start)]).max(1));
        (format!("{left}{}{right}", line.trim_end()), " ".repeat(indent) + &marks)
    }
}

/// A character as a terminal shows it.
struct Glyph {
    text: String,
    width: usize,
}

impl Glyph {
    fn of(character: char) -> Glyph {
        match character {
            '\t' => Glyph { text: " ".repeat(TAB_WIDTH), width: TAB_WIDTH },
            // Control characters, and marks that change the direction of text, would garble the message.
            _ if character.is_control() || matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}') => {
                Glyph { text: "\u{FFFD}".into(), width: 1 }
            }
            _ => Glyph { text: character.into(), width: width_of(character) },
        }
    }
}

/// Columns that a character takes in a terminal: 0 for combining marks, 2 for wide ones. Ranges: the blocks of Unicode Standard Annex #11
/// (East Asian Width W and F) and of combining marks, without exceptions inside a block.
fn width_of(character: char) -> usize {
    match u32::from(character) {
        0x0300..=0x036F | 0x0483..=0x0489 | 0x0591..=0x05BD | 0x064B..=0x065F | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF => 0,
        0x200B..=0x200F | 0x20D0..=0x20FF | 0xFE00..=0xFE0F | 0xFE20..=0xFE2F | 0xFEFF | 0xE0100..=0xE01EF => 0,
        0x1100..=0x115F | 0x2E80..=0x303E | 0x3041..=0x33FF | 0x3400..=0x4DBF | 0x4E00..=0xA4CF | 0xA960..=0xA97F => 2,
        0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1F64F => 2,
        0x1F680..=0x1F6FF | 0x1F900..=0x1F9FF | 0x1FA70..=0x1FAFF | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// Whether a message points at a value or at its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    Key,
    Value,
}

/// Where a key and its value are written, as byte offsets.
#[derive(Clone, Debug)]
pub(crate) struct KeyValueSpans {
    /// None for an entry of a list.
    pub key: Option<Range<u32>>,
    pub value: Range<u32>,
    /// The value is a table.
    pub is_table: bool,
}

/// A text with the places of its keys and values.
#[derive(Debug, Default)]
pub(crate) struct Text {
    text: String,
    /// Byte offsets of the lines.
    starts: Vec<usize>,
    /// By dotted path.
    places: BTreeMap<String, KeyValueSpans>,
}

const BYTE_ORDER_MARK: char = '\u{FEFF}';

impl Text {
    pub fn new(text: &str) -> Text {
        let after_breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(index, _)| index + 1);
        Text { text: text.into(), starts: std::iter::once(0).chain(after_breaks).collect(), places: BTreeMap::new() }
    }

    pub fn add(&mut self, path: String, spans: KeyValueSpans) {
        self.places.insert(path, spans);
    }

    /// Byte offset of an error in JSON. Its line and column are counted from 1, columns in bytes.
    pub fn offset(&self, error: &serde_json::Error) -> usize {
        let start = self.starts.get(error.line().saturating_sub(1)).copied().unwrap_or(self.text.len());
        (start + error.column().saturating_sub(1)).min(self.text.len())
    }

    /// The place of a span of bytes. A span of several lines ends with its first line.
    pub fn location(&self, span: Range<usize>) -> Location {
        let on_boundary = |offset: usize| (0..=offset.min(self.text.len())).rev().find(|&at| self.text.is_char_boundary(at));
        let start = on_boundary(span.start).unwrap_or(0);
        let index = self.starts.partition_point(|&line| line <= start) - 1;
        let line_start = self.starts[index];
        let line = self.text[line_start..].split('\n').next().unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        let end = on_boundary(span.end).unwrap_or(0).clamp(start, (line_start + line.len()).max(start));
        let is_marked = index == 0 && line.starts_with(BYTE_ORDER_MARK);
        let skipped = if is_marked { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        let first = line_start + skipped;
        let before = self.text[first.min(start)..start].chars().count();
        let marked = self.text[start..end].chars().count();
        let cut = before.saturating_sub(LONGEST_LINE / 2);
        let source_line: String = line[skipped..].chars().skip(cut).take(LONGEST_LINE).collect();
        let column = |count: usize| u32::try_from(count + 1).unwrap_or(u32::MAX);
        Location {
            line: u32::try_from(index + 1).unwrap_or(u32::MAX),
            column: column(before),
            end_column: column(before + marked.max(1)),
            source_line,
            first_column: column(cut),
        }
    }

    /// The place of a path or, if it is not in the text, of the nearest one around it.
    fn locate(&self, at: &str, focus: Focus) -> Option<Location> {
        let mut place = at;
        let spans = loop {
            if let Some(spans) = self.places.get(place) {
                break spans;
            }
            place = &place[..place.rfind(['.', '['])?];
        };
        let is_exact = place.len() == at.len();
        let wants_key = if is_exact { focus == Focus::Key } else { spans.is_table };
        let span = match &spans.key {
            // A table with a header of its own has no value behind its key.
            Some(key) if wants_key || spans.value.start < key.end => key,
            _ => &spans.value,
        };
        Some(self.location(span.start as usize..span.end as usize))
    }
}

/// Where a scenario was written. Two scenarios that differ only in this are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    /// The name that messages show; empty if there is none.
    pub file: String,
    /// None for a scenario that has no lines, such as one from JSON.
    pub text: Option<Arc<Text>>,
    /// Paths of the values that were read from further files.
    pub from_files: Vec<String>,
}

impl PartialEq for Source {
    fn eq(&self, _: &Source) -> bool {
        true
    }
}

impl Source {
    pub fn new(file: &str, text: Option<Text>) -> Source {
        Source { file: file.into(), text: text.map(Arc::new), from_files: Vec::new() }
    }

    pub fn locate(&self, at: &str, focus: Focus) -> Option<Location> {
        self.text.as_ref()?.locate(at, focus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snippet(text: &str, value: &str) -> String {
        let start = text.find(value).unwrap();
        Text::new(text).location(start..start + value.len()).snippet()
    }

    #[test]
    fn a_caret_is_under_each_column_of_the_value() {
        assert_eq!(snippet("a = 1\nrate = \"10\" # slow\n", "\"10\""), "  |\n2 | rate = \"10\" # slow\n  |        ^^^^");
    }

    #[test]
    fn tabs_line_breaks_and_controls_do_not_move_the_caret() {
        assert_eq!(snippet("\ta = 17\r\nb = 2", "17"), "  |\n1 |     a = 17\n  |         ^^");
        assert_eq!(snippet("a\u{7}b = 17", "17"), "  |\n1 | a\u{FFFD}b = 17\n  |       ^^");
        assert_eq!(Text::new("\ta = 17").location(5..7).column, 6);
    }

    #[test]
    fn columns_count_characters_and_the_caret_counts_their_width() {
        let text = "n = \"\u{65E5}\u{672C}e\u{301}\", rate = 10";
        let start = text.find("10").unwrap();
        let location = Text::new(text).location(start..start + 2);
        assert_eq!((location.column, location.end_column), (20, 22));
        // Two characters of width 2, one of width 0: 19 + 2 - 1 columns before the caret.
        assert_eq!(location.snippet().lines().last().unwrap(), format!("  | {}^^", " ".repeat(20)));
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let location = Text::new("\u{FEFF}a = 1").location(7..8);
        assert_eq!((location.column, location.source_line.as_str()), (5, "a = 1"));
    }

    #[test]
    fn a_value_of_several_lines_is_marked_to_the_end_of_its_first() {
        assert_eq!(snippet("a = [1,\n  2]", "[1,\n  2]"), "  |\n1 | a = [1,\n  |     ^^^");
    }

    #[test]
    fn an_empty_span_has_one_caret() {
        assert_eq!(Text::new("a =").location(3..3).snippet(), "  |\n1 | a =\n  |    ^");
        assert_eq!(Text::new("").location(0..0).snippet(), "  |\n1 | \n  | ^");
        assert_eq!(Text::new("a\n").location(9..12).line, 2);
    }

    #[test]
    fn a_wide_line_is_cut_around_the_caret() {
        let text = format!("start = [{}\"x\", {}]", "\"1 s\", ".repeat(100), "\"2 s\", ".repeat(100));
        let shown = snippet(&text, "\"x\"");
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[1].starts_with("1 | ...") && lines[1].ends_with("...") && lines[1].len() < 115, "{shown}");
        let caret = lines[2].find('^').unwrap();
        assert_eq!((&lines[1][caret..caret + 3], lines[2].len()), ("\"x\"", caret + 3));
        // The beginning is kept where the value is near it, and a value wider than the line is marked as far as it is shown.
        let shown = snippet(&text, &text[8..]);
        assert!(shown.lines().nth(1).unwrap().starts_with("1 | ") && shown.lines().last().unwrap().len() < 115, "{shown}");
        let long = format!("a = \"{}\"", "y".repeat(10_000));
        let location = Text::new(&long).location(4..long.len());
        assert_eq!((location.source_line.len(), location.end_column), (LONGEST_LINE, 10_007));
        assert!(location.snippet().len() < 400);
    }
}
