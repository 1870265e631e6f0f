//! Names and quoted strings.

use std::fmt::{self, Write};

/// Whether `text` is a valid name of a function, variable, resource or slot: ASCII letters, digits and `_`, not
/// starting with a digit.
pub fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// A string in quotes, on one line: quotes, backslashes and control characters are escaped.
pub struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                c if c.is_control() => write!(f, "\\u{{{:x}}}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// A name as the text form has it: bare if valid, else quoted.
pub(super) struct Name<'a>(pub &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_name(self.0) { f.write_str(self.0) } else { Quoted(self.0).fmt(f) }
    }
}

/// What stands between the quotes of a string, escapes resolved; `None` if an escape is malformed.
pub(super) fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match rest.next()? {
            c @ ('"' | '\\') => c,
            'n' => '\n',
            't' => '\t',
            'u' => {
                let (hex, after) = rest.as_str().strip_prefix('{')?.split_once('}')?;
                rest = after.chars();
                char::from_u32(u32::from_str_radix(hex, 16).ok()?)?
            }
            _ => return None,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_is_undone() {
        for text in ["", "a b", "\"\\\n\t\r\0\u{7f}é\u{10ffff}", "\\u{41}"] {
            let quoted = Quoted(text).to_string();
            let inner = quoted.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap();
            assert!(!inner.contains(char::is_control), "{quoted}");
            assert_eq!(unescape(inner).as_deref(), Some(text));
        }
        for bad in ["\\", "\\x", "\\u", "\\u{", "\\u{}", "\\u{110000}", "\\u{d800}"] {
            assert_eq!(unescape(bad), None, "{bad}");
        }
    }

    #[test]
    fn names() {
        assert!(is_name("a") && is_name("_0") && is_name("Main_2"));
        assert!(!is_name("") && !is_name("0a") && !is_name("a b") && !is_name("é"));
    }
}
