//! Operand descriptors: the write mask and the source modifiers that instruction words share through a table.
//!
//! Layout (vectors/pica/FORMAT.md, section 3): mask `[3:0]` with x in bit 3, then per source a negation bit and an
//! 8-bit selector (`neg1[4] sel1[12:5] neg2[13] sel2[21:14] neg3[22] sel3[30:23]`); bit 31 has no known meaning.

use std::fmt;

/// One component of a four-component register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Component {
    /// First.
    X = 0,
    /// Second.
    Y = 1,
    /// Third.
    Z = 2,
    /// Fourth.
    W = 3,
}

impl Component {
    /// x, y, z, w.
    pub const ALL: [Component; 4] = [Component::X, Component::Y, Component::Z, Component::W];

    /// The component with number `n & 3`.
    pub fn from_bits(n: u32) -> Component {
        Self::ALL[(n & 3) as usize]
    }

    /// 0 for x to 3 for w.
    pub fn index(self) -> usize {
        self as usize
    }

    /// `x`, `y`, `z` or `w`.
    pub fn letter(self) -> char {
        ['x', 'y', 'z', 'w'][self.index()]
    }

    /// The component a letter names: `xyzw`, and the assembler's synonyms `rgba` and `stpq`.
    pub fn from_letter(c: char) -> Option<Component> {
        Some(match c {
            'x' | 'r' | 's' => Self::X,
            'y' | 'g' | 't' => Self::Y,
            'z' | 'b' | 'p' => Self::Z,
            'w' | 'a' | 'q' => Self::W,
            _ => return None,
        })
    }
}

/// Which components an instruction writes: 4 bits, x in bit 3.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mask(u8);

impl Mask {
    /// No component.
    pub const NONE: Mask = Mask(0);
    /// All four components.
    pub const ALL: Mask = Mask(0xf);

    /// The mask with bits `bits & 15`, x in bit 3.
    pub fn from_bits(bits: u8) -> Mask {
        Mask(bits & 0xf)
    }

    /// The four bits, x in bit 3.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Whether `c` is written.
    pub fn contains(self, c: Component) -> bool {
        self.0 & (8 >> c.index()) != 0
    }

    /// This mask with `c` added.
    pub fn with(self, c: Component) -> Mask {
        Mask(self.0 | (8 >> c.index()))
    }

    /// The components in it, x first.
    pub fn components(self) -> impl Iterator<Item = Component> {
        Component::ALL.into_iter().filter(move |&c| self.contains(c))
    }
}

/// The letters of the components written (`xz`), `_` for none.
impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("_");
        }
        self.components().try_for_each(|c| write!(f, "{}", c.letter()))
    }
}

/// Which source component each lane reads: four 2-bit numbers, the one for x on top.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Swizzle(u8);

impl Swizzle {
    /// Every lane reads its own component.
    pub const IDENTITY: Swizzle = Swizzle(0x1b);

    /// The selector with these bits.
    pub fn from_bits(bits: u8) -> Swizzle {
        Swizzle(bits)
    }

    /// Lane `i` reads `lanes[i]`.
    pub fn new(lanes: [Component; 4]) -> Swizzle {
        Swizzle(lanes.iter().fold(0, |bits, &c| bits << 2 | c as u8))
    }

    /// The selector as the descriptor holds it.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The source component that `lane` reads.
    pub fn lane(self, lane: Component) -> Component {
        Component::from_bits(u32::from(self.0) >> (6 - 2 * lane.index()))
    }

    /// The source components of lanes x, y, z, w.
    pub fn lanes(self) -> [Component; 4] {
        Component::ALL.map(|c| self.lane(c))
    }
}

/// The four letters, also for the identity.
impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lanes().iter().try_for_each(|c| write!(f, "{}", c.letter()))
    }
}

/// What happens to a source after it is read: selection, then negation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Modifier {
    /// Selection.
    pub swizzle: Swizzle,
    /// Negation of all four selected components.
    pub negate: bool,
}

impl Modifier {
    /// The source as it is.
    pub const PLAIN: Modifier = Modifier { swizzle: Swizzle::IDENTITY, negate: false };
}

impl Default for Modifier {
    fn default() -> Self {
        Self::PLAIN
    }
}

/// One entry of the operand descriptor table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Descriptor(pub u32);

impl Descriptor {
    /// Bits of the write mask.
    pub const MASK_BITS: u32 = 0xf;

    /// Bits of source `n`'s selector and negation; `n` is 0, 1 or 2.
    pub const fn source_bits(n: usize) -> u32 {
        0x1ff << (4 + 9 * n)
    }

    /// Bits that say what `lane` of source `n` reads.
    pub const fn lane_bits(n: usize, lane: Component) -> u32 {
        3 << (4 + 9 * n + 7 - 2 * lane as usize)
    }

    /// A descriptor that writes `mask` and modifies sources 1 to 3 with `sources`.
    pub fn new(mask: Mask, sources: [Modifier; 3]) -> Descriptor {
        let mut bits = u32::from(mask.bits());
        for (n, m) in sources.iter().enumerate() {
            bits |= (u32::from(m.negate) | u32::from(m.swizzle.bits()) << 1) << (4 + 9 * n);
        }
        Descriptor(bits)
    }

    /// Components written.
    pub fn mask(self) -> Mask {
        Mask::from_bits((self.0 & Self::MASK_BITS) as u8)
    }

    /// Modifier of source `n`: 0, 1 or 2.
    pub fn source(self, n: usize) -> Modifier {
        let bits = self.0 >> (4 + 9 * n);
        Modifier { negate: bits & 1 != 0, swizzle: Swizzle::from_bits((bits >> 1) as u8) }
    }

    /// Modifiers of sources 1, 2 and 3.
    pub fn sources(self) -> [Modifier; 3] {
        [self.source(0), self.source(1), self.source(2)]
    }
}

impl fmt::Debug for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Descriptor({:#010x})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_lie_where_the_format_says() {
        // mask xw, src1 -wzyx, src2 yyyy, src3 identity: written out by hand from FORMAT.md.
        let d = Descriptor(0b1001 | 1 << 4 | 0xe4 << 5 | 0x55 << 14 | 0x1b << 23);
        assert_eq!(d.mask().to_string(), "xw");
        assert_eq!(d.source(0).swizzle.to_string(), "wzyx");
        assert!(d.source(0).negate);
        assert_eq!(d.source(1).swizzle.to_string(), "yyyy");
        assert!(!d.source(1).negate);
        assert_eq!(d.source(2), Modifier::PLAIN);
        let lanes = Component::ALL.map(|lane| (d.0 & Descriptor::lane_bits(0, lane)) >> 5);
        assert_eq!(lanes, [3 << 6, 2 << 4, 1 << 2, 0]);
    }

    #[test]
    fn component_letters_have_three_alphabets() {
        for alphabet in ["xyzw", "rgba", "stpq"] {
            let got: Vec<_> = alphabet.chars().map(|c| Component::from_letter(c).unwrap()).collect();
            assert_eq!(got, Component::ALL);
        }
        assert_eq!(Component::from_letter('e'), None);
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(256))]

        #[test]
        fn parts_make_the_whole(bits in 0u32..0x8000_0000) {
            let d = Descriptor(bits);
            prop_assert_eq!(Descriptor::new(d.mask(), d.sources()), d);
            for n in 0..3 {
                prop_assert_eq!(Swizzle::new(d.source(n).swizzle.lanes()), d.source(n).swizzle);
            }
        }
    }
}
