//! The lexer: words, strings, punctuation, line ends.

use super::parse::ParseErrorKind;

/// A token; texts are parts of the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    /// A name, mnemonic with flags, keyword or number: letters, digits, `_`, `.`, a leading minus, a signed exponent.
    Word(&'a str),
    /// What stands between quotes, escapes unresolved.
    Str(&'a str),
    /// One of `{}()[]:,=@%`.
    Punct(char),
    /// `->`.
    Arrow,
    /// One or more line ends, with comments and blank lines between.
    Newline,
    /// The end of the text.
    End,
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// The next token and the offset of its first byte.
    pub(super) fn next(&mut self) -> Result<(Token<'a>, usize), (ParseErrorKind, usize)> {
        let mut newline = None;
        loop {
            let rest = self.rest();
            match rest.bytes().next() {
                Some(b'\n') => {
                    newline.get_or_insert(self.at);
                    self.at += 1;
                }
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b';') => self.at += rest.find('\n').unwrap_or(rest.len()),
                _ => break,
            }
        }
        if let Some(at) = newline {
            return Ok((Token::Newline, at));
        }
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok((Token::End, start)) };
        let (token, len) = match first {
            '{' | '}' | '(' | ')' | '[' | ']' | ':' | ',' | '=' | '@' | '%' => (Token::Punct(first), 1),
            '-' if rest.starts_with("->") => (Token::Arrow, 2),
            '"' => {
                let inner = string(rest).ok_or((ParseErrorKind::UnterminatedString, start))?;
                (Token::Str(inner), inner.len() + 2)
            }
            _ => match word(rest) {
                "" => return Err((ParseErrorKind::BadCharacter(first), start)),
                word => (Token::Word(word), word.len()),
            },
        };
        self.at += len;
        Ok((token, start))
    }
}

/// What stands between the quote that `text` starts with and the next one on the line.
fn string(text: &str) -> Option<&str> {
    let inner = text.get(1..)?;
    let mut escaped = false;
    for (i, b) in inner.bytes().enumerate() {
        match b {
            b'\n' => return None,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return inner.get(..i),
            _ => {}
        }
    }
    None
}

/// The longest word `text` starts with.
fn word(text: &str) -> &str {
    let bytes = text.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let negative = bytes.first() == Some(&b'-') && digit(1);
    let mut len = usize::from(negative);
    // Only in a decimal number is an `e` before a sign an exponent.
    let number = digit(len) && !text.get(len..).is_some_and(|t| t.starts_with("0x"));
    while let Some(&b) = bytes.get(len) {
        let exponent = number && matches!(b, b'-' | b'+') && bytes.get(len.wrapping_sub(1)) == Some(&b'e');
        if !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.') || exponent) {
            break;
        }
        len += 1;
    }
    // Words are ASCII, so that `len` is a character boundary.
    text.get(..len).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(text);
        let mut out = Vec::new();
        loop {
            match lexer.next().unwrap().0 {
                Token::End => return out,
                token => out.push(token),
            }
        }
    }

    #[test]
    fn kinds() {
        use Token::*;
        let text = "v0 : f32 = fmul.zw -1.5e-7, 0x1e ; note\n\n ; more\n@\"a\\\"b\" -> 2d";
        let expected = [
            Word("v0"),
            Punct(':'),
            Word("f32"),
            Punct('='),
            Word("fmul.zw"),
            Word("-1.5e-7"),
            Punct(','),
            Word("0x1e"),
            Newline,
            Punct('@'),
            Str("a\\\"b"),
            Arrow,
            Word("2d"),
        ];
        assert_eq!(tokens(text), expected);
    }

    #[test]
    fn refused() {
        let error = |text| Lexer::new(text).next().unwrap_err().0;
        assert_eq!(error("é"), ParseErrorKind::BadCharacter('é'));
        assert_eq!(error("-a"), ParseErrorKind::BadCharacter('-'));
        assert_eq!(error("\"abc"), ParseErrorKind::UnterminatedString);
        assert_eq!(error("\"abc\\\""), ParseErrorKind::UnterminatedString);
        assert_eq!(error("\"a\nb\""), ParseErrorKind::UnterminatedString);
    }
}
