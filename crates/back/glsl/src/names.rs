//! Identifiers: the module's names where GLSL allows them, something close where it does not.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Words that an identifier may not be, sorted: keywords and reserved words of all targets, the built-in functions
/// the writer calls, and the writer's own fixed names. Words that start with a prefix in [`PREFIXES`] are not listed.
const RESERVED: &[&str] = &[
    "PRECISE",
    "abs",
    "active",
    "asm",
    "atomic_uint",
    "attribute",
    "bool",
    "break",
    "buffer",
    "bvec2",
    "bvec3",
    "bvec4",
    "case",
    "cast",
    "ceil",
    "centroid",
    "class",
    "coherent",
    "common",
    "const",
    "continue",
    "cos",
    "default",
    "demote",
    "discard",
    "do",
    "double",
    "else",
    "enum",
    "equal",
    "exit_to",
    "exp2",
    "extern",
    "external",
    "false",
    "filter",
    "fixed",
    "flat",
    "float",
    "floor",
    "fma",
    "for",
    "goto",
    "half",
    "highp",
    "if",
    "in",
    "inline",
    "inout",
    "input",
    "int",
    "interface",
    "intersect",
    "invariant",
    "inversesqrt",
    "isinf",
    "isnan",
    "ivec2",
    "ivec3",
    "ivec4",
    "layout",
    "lessThan",
    "lessThanEqual",
    "log2",
    "long",
    "lowp",
    "main",
    "max",
    "mediump",
    "min",
    "mix",
    "namespace",
    "noinline",
    "noise",
    "noperspective",
    "not",
    "notEqual",
    "out",
    "output",
    "partition",
    "patch",
    "precise",
    "precision",
    "public",
    "readonly",
    "resource",
    "restrict",
    "return",
    "roundEven",
    "route",
    "sample",
    "shared",
    "short",
    "sin",
    "sizeof",
    "smooth",
    "sqrt",
    "static",
    "struct",
    "subroutine",
    "superp",
    "switch",
    "template",
    "this",
    "true",
    "trunc",
    "typedef",
    "uint",
    "uint64_t",
    "uniform",
    "union",
    "unsigned",
    "using",
    "uvec2",
    "uvec3",
    "uvec4",
    "varying",
    "vec2",
    "vec3",
    "vec4",
    "void",
    "volatile",
    "while",
    "writeonly",
];

/// Families of reserved words and of the writer's own names.
const PREFIXES: &[&str] = &[
    "gl_",
    "sampler",
    "isampler",
    "usampler",
    "image",
    "iimage",
    "uimage",
    "texture",
    "itexture",
    "utexture",
    "subpass",
    "mat",
    "dmat",
    "dvec",
    "i64vec",
    "u64vec",
    "f16",
    "f32",
    "f64",
    "int8",
    "int16",
    "int32",
    "int64",
    "i8vec",
    "i16vec",
    "i32vec",
    "u8vec",
    "u16vec",
    "u32vec",
    "hvec",
    "fvec",
    "float16",
    "uint8",
    "uint16",
    "uint32",
    "atomic",
    "subgroup",
    "bitfield",
    "bitCount",
    "find",
    "floatBits",
    "uintBits",
    "memoryBarrier",
    "group",
    "barrier",
    "dFd",
    "pack",
    "unpack",
    "umul",
    "ldexp",
    "x_",
];

/// Gives out identifiers that differ from all reserved words and from each other.
#[derive(Default)]
pub(crate) struct Namer {
    /// With the next number to try for each.
    taken: HashMap<String, u32>,
    /// What the names of the function at hand were before it, the latest last.
    locals: Vec<(String, Option<u32>)>,
}

impl Namer {
    pub(crate) fn clear(&mut self) {
        self.taken.clear();
        self.locals.clear();
    }

    /// An identifier like `wish` for what is seen in the function at hand only.
    pub(crate) fn local(&mut self, wish: &str) -> String {
        let base = clean(wish);
        self.locals.push((base.clone(), self.taken.get(&base).copied()));
        let name = self.unique(&base);
        if name != base {
            self.locals.push((name.clone(), None));
        }
        name
    }

    /// Ends a function: others may use the names of its locals.
    pub(crate) fn end_function(&mut self) {
        while let Some((name, before)) = self.locals.pop() {
            match before {
                Some(next) => self.taken.insert(name, next),
                None => self.taken.remove(&name),
            };
        }
    }

    /// An identifier like `wish`.
    pub(crate) fn unique(&mut self, wish: &str) -> String {
        let base = clean(wish);
        let mut n = match self.taken.entry(base.clone()) {
            Entry::Vacant(free) => {
                free.insert(2);
                return base;
            }
            Entry::Occupied(next) => *next.get(),
        };
        let name = loop {
            let name = format!("{base}_{n}");
            n += 1;
            if !self.taken.contains_key(&name) {
                break name;
            }
        };
        self.taken.insert(base, n);
        self.taken.insert(name.clone(), 2);
        name
    }
}

/// Characters of an identifier.
const MAX_LEN: usize = 200;

/// `wish` as a legal identifier: no leading digit, no doubled or trailing underscore, no reserved word.
fn clean(wish: &str) -> String {
    if is_register(wish) && wish.len() < MAX_LEN {
        return wish.to_owned();
    }
    let mut name = String::with_capacity(wish.len() + 2);
    for c in wish.chars().take(MAX_LEN) {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if c != '_' || !name.ends_with('_') {
            name.push(c);
        }
    }
    let trimmed = name.trim_end_matches('_').len();
    name.truncate(trimmed);
    let reserved = RESERVED.binary_search(&name.as_str()).is_ok();
    let taken = reserved || prefixed(&name) || crate::helpers::is_helper_name(&name);
    if name.is_empty() {
        name.push_str("unnamed");
    } else if taken || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert_str(0, "my_");
    }
    name
}

/// Whether it is a letter and a number, as most names are, and no type's prefix: nothing like that is reserved.
fn is_register(name: &str) -> bool {
    let (letter, number) = name.split_at(name.len().min(1));
    letter.starts_with(|c: char| c.is_ascii_alphabetic() && c != 'f')
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
}

fn prefixed(name: &str) -> bool {
    let first = name.as_bytes().first();
    PREFIXES.iter().any(|p| p.as_bytes().first() == first && name.starts_with(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_words_are_sorted() {
        assert!(RESERVED.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn no_register_is_reserved() {
        let reserved = RESERVED.iter().chain(PREFIXES);
        assert!(reserved.clone().all(|word| !is_register(word)));
        assert!(["r0", "o15", "t123"].iter().all(|name| is_register(name)));
        assert!(["f16", "f", "", "r", "r0x", "rr0"].iter().all(|name| !is_register(name)));
    }

    #[test]
    fn names_are_legal_and_unique() {
        let mut n = Namer::default();
        assert_eq!(n.unique("r0"), "r0");
        assert_eq!(n.unique("r0"), "r0_2");
        assert_eq!(n.unique("r0_2"), "r0_2_2");
        assert_eq!(n.unique("input"), "my_input");
        assert_eq!(n.unique("gl_Position"), "my_gl_Position");
        assert_eq!(n.unique("9__a__"), "my_9_a");
        assert_eq!(n.unique("mul_high"), "my_mul_high");
        assert_eq!(n.unique(""), "unnamed");
        assert_eq!(n.unique("_"), "unnamed_2");
    }
}
