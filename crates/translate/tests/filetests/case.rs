//! The form of test files.

/// Gives a case's text as it should be, its input included.
pub type Render = fn(&Case) -> Result<String, String>;

/// Begins a case in a file with several.
const TITLE: &str = "; ---- ";
/// Begins what is expected.
const EXPECT: &str = "; expect:";
/// Begins a line of options.
const OPTIONS: &str = "; options: ";

/// A file's text before its first case, and each case's title line and text. A file without titles is one case.
pub fn split(text: &str) -> (&str, Vec<(&str, &str)>) {
    let mut starts: Vec<usize> = text.match_indices(TITLE).map(|(at, _)| at).collect();
    starts.retain(|&at| at == 0 || text.as_bytes()[at - 1] == b'\n');
    let Some(&first) = starts.first() else { return ("", vec![("", text)]) };
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let cases = starts.iter().zip(ends).map(|(&start, end)| {
        let case = &text[start..end];
        case.split_at(case.find('\n').map_or(case.len(), |at| at + 1))
    });
    (&text[..first], cases.collect())
}

/// An input with its options.
pub struct Case<'a> {
    /// Name of the file's folder.
    pub folder: &'a str,
    /// The input with its comments, up to the first line `; expect:`.
    pub input: &'a str,
    /// Options: `name` or `name=value`.
    options: Vec<(&'a str, &'a str)>,
}

impl<'a> Case<'a> {
    /// Reads a case.
    pub fn new(folder: &'a str, text: &'a str) -> Result<Case<'a>, String> {
        let end = match text.starts_with(EXPECT) {
            true => Some(0),
            false => text.find(&format!("\n{EXPECT}")).map(|at| at + 1),
        };
        let input = &text[..end.unwrap_or(text.len())];
        let words = input.lines().filter_map(|l| l.strip_prefix(OPTIONS)).flat_map(str::split_whitespace);
        let options = words.map(|word| word.split_once('=').unwrap_or((word, "")));
        Ok(Case { folder, input, options: options.collect() })
    }

    /// Hands each option to `set`, which answers whether it knows the name and could read the value.
    pub fn each_option(&self, mut set: impl FnMut(&str, &str) -> Option<()>) -> Result<(), String> {
        for &(name, value) in &self.options {
            set(name, value).ok_or_else(|| format!("option `{name}={value}` is unknown or out of range"))?;
        }
        Ok(())
    }

    /// The input's lines without comments and blank lines.
    pub fn lines(&self) -> impl Iterator<Item = &'a str> {
        let lines = self.input.lines().map(|line| line.split(';').next().unwrap_or_default().trim());
        lines.filter(|line| !line.is_empty())
    }

    /// The input followed by what is expected of it: a name, which may be empty, and a text each.
    pub fn with(&self, sections: &[(&str, String)]) -> String {
        let mut out = self.input.to_owned();
        if !out.ends_with('\n') {
            out.push('\n');
        }
        for (name, text) in sections {
            out.push_str(format!("{EXPECT} {name}").trim_end());
            out.push('\n');
            out.extend(text.lines().flat_map(|line| [line.trim_end(), "\n"]));
        }
        out
    }
}
