//! Giving out uniforms, inputs and outputs, and what names mean.

use crate::container::RegisterFile;
use crate::desc::{Component, Modifier, Swizzle};

/// A register of any file, as a name or alias denotes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alias {
    pub(super) file: File,
    pub(super) number: u8,
    pub(super) modifier: Modifier,
}

/// All register files the assembler knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum File {
    Output,
    Temp,
    Uniform(RegisterFile),
}

impl File {
    fn from_letter(letter: char) -> Option<File> {
        Some(match letter {
            'o' => File::Output,
            'r' => File::Temp,
            'v' => File::Uniform(RegisterFile::Input),
            'c' => File::Uniform(RegisterFile::Float),
            'i' => File::Uniform(RegisterFile::Int),
            'b' => File::Uniform(RegisterFile::Bool),
            _ => return None,
        })
    }

    pub(super) fn count(self) -> u8 {
        match self {
            File::Output | File::Temp => 16,
            File::Uniform(file) => file.count(),
        }
    }
}

/// The register that `name` spells, such as `c12`.
pub(super) fn builtin(name: &str) -> Option<(File, u8)> {
    let mut chars = name.chars();
    let file = File::from_letter(chars.next()?)?;
    let digits = chars.as_str();
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let number: u8 = digits.parse().ok()?;
    (number < file.count()).then_some((file, number))
}

/// Whether `name` looks like a register, existing or not.
pub(crate) fn looks_like_register(name: &str) -> bool {
    let mut chars = name.chars();
    let letter = chars.next().and_then(File::from_letter);
    letter.is_some() && !chars.as_str().is_empty() && chars.all(|c| c.is_ascii_digit())
}

/// The selector that letters spell: missing ones repeat the last.
pub(super) fn swizzle(letters: &str) -> Swizzle {
    let mut lanes = Component::ALL;
    let mut last = None;
    let mut letters = letters.chars().filter_map(Component::from_letter);
    for lane in &mut lanes {
        last = letters.next().or(last);
        *lane = last.unwrap_or(*lane);
    }
    Swizzle::new(lanes)
}

/// `inner` read through `outer`.
pub(super) fn compose(inner: Swizzle, outer: Swizzle) -> Swizzle {
    Swizzle::new(outer.lanes().map(|lane| inner.lane(lane)))
}

/// Registers of one file in use: bit n = register n.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used(u128);

fn run(first: u8, count: u8) -> u128 {
    ((1 << count) - 1) << first
}

impl Used {
    pub(super) fn mark(&mut self, first: u8, count: u8) {
        self.0 |= run(first, count);
    }

    pub(super) fn union(self, other: Used) -> Used {
        Used(self.0 | other.0)
    }

    /// The lowest run of `count` free registers from `from` on, below `end`.
    pub(super) fn lowest(self, from: u8, end: u8, count: u8) -> Option<u8> {
        (from..(end + 1).saturating_sub(count)).find(|&first| self.0 & run(first, count) == 0)
    }

    /// The highest run of `count` free registers below `end`.
    pub(super) fn highest(self, end: u8, count: u8) -> Option<u8> {
        (0..(end + 1).saturating_sub(count)).rev().find(|&first| self.0 & run(first, count) == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_given_out_from_both_ends() {
        let mut used = Used::default();
        used.mark(0, 4);
        used.mark(6, 1);
        assert_eq!(used.lowest(0, 96, 2), Some(4));
        assert_eq!(used.lowest(0, 96, 3), Some(7));
        assert_eq!(used.highest(96, 4), Some(92));
        assert_eq!(used.highest(8, 1), Some(7));
        assert_eq!(used.lowest(0, 8, 2), Some(4));
        assert_eq!(used.lowest(0, 8, 4), None);
        assert_eq!(Used::default().lowest(0, 96, 96), Some(0));
    }

    #[test]
    fn swizzles_repeat_their_last_letter_and_compose() {
        assert_eq!(swizzle("zy").to_string(), "zyyy");
        // The manual's example: an alias for c0.wyxz read as .xxww is c0.wwzz.
        assert_eq!(compose(swizzle("wyxz"), swizzle("xxww")).to_string(), "wwzz");
    }

    #[test]
    fn only_registers_that_exist_are_builtin() {
        assert_eq!(builtin("c95"), Some((File::Uniform(RegisterFile::Float), 95)));
        assert_eq!(builtin("c96"), None);
        assert_eq!(builtin("r16"), None);
        assert_eq!(builtin("color"), None);
        assert!(looks_like_register("c960"));
        assert!(!looks_like_register("c"));
    }
}
