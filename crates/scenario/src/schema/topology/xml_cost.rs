//! Bounds the work of the XML parser before it begins. The parser compares each attribute of a tag with the others, and copies the namespaces
//! in scope to each element that declares one; without bounds, a file of a few megabytes takes it minutes.

/// Maximum number of attributes of a tag.
const MAX_ATTRIBUTES: usize = 100;
/// Maximum number of namespace declarations in scope.
const MAX_NAMESPACES: usize = 64;
/// Maximum depth of elements.
const MAX_DEPTH: usize = 256;

/// The first line that exceeds a bound, and the bound. Text that is not XML is left to the parser.
pub(super) fn excess(text: &str) -> Option<(usize, String)> {
    let mut rest = text;
    // Namespaces in scope of each open element.
    let mut open: Vec<usize> = Vec::new();
    loop {
        let start = rest.find('<')?;
        let line = || 1 + text[..text.len() - rest.len() + start].matches('\n').count();
        let tag = &rest[start..];
        let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"), ("</", ">")];
        if let Some((begin, end)) = skipped.into_iter().find(|(begin, _)| tag.starts_with(begin)) {
            if begin == "</" {
                open.pop();
            }
            rest = &tag[begin.len() + tag[begin.len()..].find(end)? + end.len()..];
            continue;
        }
        let tag = Tag::of(tag)?;
        let in_scope = open.last().copied().unwrap_or(0) + tag.namespaces;
        if tag.attributes > MAX_ATTRIBUTES {
            return Some((line(), format!("a tag has more than {MAX_ATTRIBUTES} attributes")));
        }
        if in_scope > MAX_NAMESPACES {
            return Some((line(), format!("more than {MAX_NAMESPACES} namespaces are in scope")));
        }
        if !tag.is_empty {
            open.push(in_scope);
            if open.len() > MAX_DEPTH {
                return Some((line(), format!("elements are nested more than {MAX_DEPTH} deep")));
            }
        }
        rest = &rest[start + tag.length..];
    }
}

/// The name of an attribute that ends here.
fn name_before(text: &str) -> &str {
    let text = text.trim_end();
    let start = text.rfind(|letter: char| letter.is_whitespace() || "='\"".contains(letter));
    &text[start.map_or(0, |start| start + 1)..]
}

/// The start tag of an element.
struct Tag {
    length: usize,
    attributes: usize,
    namespaces: usize,
    is_empty: bool,
}

impl Tag {
    /// Reads a tag; `None` if it does not end.
    fn of(text: &str) -> Option<Tag> {
        let (mut attributes, mut namespaces, mut quote) = (0, 0, None);
        let bytes = text.as_bytes();
        for (place, byte) in bytes.iter().enumerate().skip(1) {
            match (quote, byte) {
                (Some(open), byte) if open == *byte => quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'') => quote = Some(*byte),
                (None, b'=') => {
                    attributes += 1;
                    namespaces += usize::from(name_before(&text[..place]).starts_with("xmlns"));
                }
                (None, b'>') => {
                    let is_empty = bytes[place - 1] == b'/';
                    return Some(Tag { length: place + 1, attributes, namespaces, is_empty });
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_files_pass() {
        let declared: String = (0..8).map(|number| format!(" xmlns:n{number}=\"u{number}\"")).collect();
        let text = format!(
            "<?xml version=\"1.0\"?>\n<!-- a > b <c -->\n<graphml xmlns='g'{declared}><graph edgedefault=\"undirected\">\n\
             <node id=\"a>b\"/><node id='c'><data key=\"d\"><![CDATA[<x y=]]></data></node>\n</graph></graphml>"
        );
        assert_eq!(excess(&text), None);
        assert_eq!(excess("not XML"), None);
        assert_eq!(excess("<never ends"), None);
        // Siblings that declare a namespace each have one in scope.
        assert_eq!(excess(&"<a xmlns:b='c'/>".repeat(1000)), None);
    }

    #[test]
    fn work_that_grows_with_the_square_of_a_tag_is_refused() {
        let many: String = (0..101).map(|number| format!(" a{number}='x'")).collect();
        assert_eq!(excess(&format!("<g>\n<n{many}/></g>")), Some((2, "a tag has more than 100 attributes".into())));
        let spaces: String = (0..65).map(|number| format!(" xmlns:n{number} = 'x'")).collect();
        assert_eq!(excess(&format!("<g{spaces}>")), Some((1, "more than 64 namespaces are in scope".into())));
        let nested: String = (0..65).map(|number| format!("<a xmlns:n{number}='x'>")).collect();
        assert_eq!(excess(&nested), Some((1, "more than 64 namespaces are in scope".into())));
        assert_eq!(excess(&"<a>".repeat(257)), Some((1, "elements are nested more than 256 deep".into())));
    }

    #[test]
    fn the_cost_of_looking_is_linear() {
        let started = std::time::Instant::now();
        let quotes = format!("<a b='{}'/>", " ".repeat(5_000_000));
        assert_eq!(excess(&quotes), None);
        assert_eq!(excess(&format!("<a {}", " ".repeat(5_000_000))), None);
        assert_eq!(excess(&format!("<a {}", "b ".repeat(2_500_000))), None);
        assert_eq!(excess(&format!("<a {}", "=".repeat(5_000_000))), None);
        assert_eq!(excess(&"<a>\n</a>".repeat(600_000)), None);
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }
}
