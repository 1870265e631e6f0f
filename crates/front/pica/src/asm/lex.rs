//! Text to tokens. Comments run from `;` to the end of the line; a statement ends with its line.

use super::{Position, Reason};
use std::fmt;

/// Characters in a name or string: as many as the container's reader accepts by default.
const MAX_NAME: usize = 1024;
const TOO_LONG: Reason = Reason::Limit { what: "characters in a name", limit: MAX_NAME };

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind<'a> {
    /// A name: letters, digits, `_` and `$`, not starting with a digit.
    Ident(&'a str),
    /// A number: its spelling.
    Number(&'a str),
    /// A string, escapes resolved.
    String(String),
    /// Any of `, : ( ) [ ] . - + ! & | = { }`.
    Punct(char),
    /// The end of a line with something on it, or of the text.
    End,
}

/// A token and where it starts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) at: Position,
}

impl fmt::Display for Kind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Ident(text) | Kind::Number(text) => write!(f, "{text:?}"),
            Kind::String(_) => f.write_str("a string"),
            Kind::Punct(c) => write!(f, "{c:?}"),
            Kind::End => f.write_str("the end of the line"),
        }
    }
}

pub(crate) fn is_ident_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$'
}

pub(crate) fn is_ident_part(c: char) -> bool {
    u8::try_from(c).is_ok_and(|byte| IDENT_PART[usize::from(byte)])
}

/// Splits `text` into tokens; the last is always [`Kind::End`].
pub(super) fn lex(text: &str) -> Result<Vec<Token<'_>>, (Position, Reason)> {
    // About as many as there are in a source with comments.
    let mut tokens: Vec<Token<'_>> = Vec::with_capacity(text.len() / 4);
    for (line, text) in (1..).zip(text.split('\n')) {
        lex_line(text, line, &mut tokens)?;
    }
    Ok(tokens)
}

fn lex_line<'a>(text: &'a str, line: u32, tokens: &mut Vec<Token<'a>>) -> Result<(), (Position, Reason)> {
    let mut column = 1;
    let mut rest = text;
    let start = tokens.len();
    loop {
        // Most space is ASCII: one byte, one column.
        let spaces = rest.bytes().take_while(|&byte| byte == b' ' || byte == b'\t').count();
        rest = &rest[spaces..];
        column += spaces as u32;
        let Some(c) = rest.chars().next() else { break };
        let at = Position { line, column };
        let fail = |reason| Err((at, reason));
        let (kind, used) = match c {
            ';' => break,
            c if c.is_whitespace() => {
                rest = &rest[c.len_utf8()..];
                column += 1;
                continue;
            }
            c if is_ident_start(c) => {
                let word = &rest[..word_len(rest)];
                if word.len() > MAX_NAME {
                    return fail(TOO_LONG);
                }
                (Kind::Ident(word), word)
            }
            c if c.is_ascii_digit() => {
                let number = number(rest);
                (Kind::Number(number), number)
            }
            '"' => match string(rest) {
                Some((value, _)) if value.chars().nth(MAX_NAME).is_some() => return fail(TOO_LONG),
                Some((value, used)) => (Kind::String(value), used),
                None => return fail(Reason::String),
            },
            ',' | ':' | '(' | ')' | '[' | ']' | '.' | '-' | '+' | '!' | '&' | '|' | '=' | '{' | '}' | '*'
            | '/' => (Kind::Punct(c), &rest[..c.len_utf8()]),
            other => return fail(Reason::Character(other)),
        };
        // One token per byte at most, so neither count exceeds the text's length.
        column += match kind {
            Kind::String(_) => used.chars().count(),
            // All else is ASCII.
            _ => used.len(),
        } as u32;
        tokens.push(Token { kind, at });
        rest = &rest[used.len()..];
    }
    if tokens.len() > start {
        tokens.push(Token { kind: Kind::End, at: Position { line, column } });
    }
    Ok(())
}

/// Whether a byte may stand in a name.
static IDENT_PART: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        let c = byte as u8;
        table[byte] = c.is_ascii_alphanumeric() || c == b'_' || c == b'$';
        byte += 1;
    }
    table
};

/// The bytes of a name that begins here.
fn word_len(text: &str) -> usize {
    text.bytes().position(|byte| !IDENT_PART[usize::from(byte)]).unwrap_or(text.len())
}

/// The number at the start of `text`, whose first character is a digit: an integer, a hexadecimal integer, or a
/// decimal fraction with an optional exponent. Letters that follow at once belong to it, and make it malformed later.
fn number(text: &str) -> &str {
    let mut end = word_len(text);
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    if !is_hex && text[end..].starts_with('.') {
        end += 1;
        end += word_len(&text[end..]);
    }
    if !is_hex && text[..end].ends_with(['e', 'E']) && text[end..].starts_with(['+', '-']) {
        end += 1;
        end += text[end..].bytes().take_while(u8::is_ascii_digit).count();
    }
    &text[..end]
}

/// The string at the start of `text`: its value and its spelling.
fn string(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[..=i])),
            '\\' => match chars.next()?.1 {
                c @ ('"' | '\\') => value.push(c),
                'x' => {
                    let digits = [chars.next()?.1.to_digit(16)?, chars.next()?.1.to_digit(16)?];
                    value.push(char::from_u32(digits[0] << 4 | digits[1])?);
                }
                _ => return None,
            },
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_becomes_tokens_with_columns() {
        let tokens = lex("\n mul r0.x, -c1[a0+2], 1.5e-3 ; not this").unwrap();
        let text: Vec<_> = tokens.iter().map(|t| (t.at.line, t.at.column, t.kind.to_string())).collect();
        let want = [
            (2, 2, "\"mul\""),
            (2, 6, "\"r0\""),
            (2, 8, "'.'"),
            (2, 9, "\"x\""),
            (2, 10, "','"),
            (2, 12, "'-'"),
            (2, 13, "\"c1\""),
            (2, 15, "'['"),
            (2, 16, "\"a0\""),
            (2, 18, "'+'"),
            (2, 19, "\"2\""),
            (2, 20, "']'"),
            (2, 21, "','"),
            (2, 23, "\"1.5e-3\""),
            (2, 30, "the end of the line"),
        ];
        assert_eq!(text, want.map(|(line, column, text)| (line, column, text.to_owned())));
    }

    #[test]
    fn strings_have_escapes() {
        let tokens = lex(r#""a\"\\\x0a""#).unwrap();
        assert_eq!(tokens[0].kind, Kind::String("a\"\\\n".to_owned()));
        assert_eq!(lex("nop \"abc").unwrap_err(), (Position { line: 1, column: 5 }, Reason::String));
    }

    #[test]
    fn a_strange_character_is_named_with_its_place() {
        let error = lex("nop\nnop @").unwrap_err();
        assert_eq!(error, (Position { line: 2, column: 5 }, Reason::Character('@')));
    }
}
