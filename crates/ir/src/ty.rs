//! Types of values: scalars of one to four lanes, and opaque handles. There are no aggregates.

use std::fmt;

/// What one lane of a value is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Kind {
    /// Truth value, stored as 0 or 1.
    Bool,
    /// 8-bit signless integer.
    I8,
    /// 16-bit signless integer.
    I16,
    /// 32-bit signless integer.
    I32,
    /// 64-bit signless integer.
    I64,
    /// IEEE 754 binary16.
    F16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// Handle of a buffer.
    Buf,
    /// Handle of a texture.
    Tex,
    /// Handle of a sampler.
    Samp,
    /// Handle of a storage image.
    Img,
    /// Handle of an acceleration structure.
    Accel,
    /// Opaque pointer (ray payloads, mesh payloads).
    Ptr,
}

impl Kind {
    /// Every kind, in the order of the discriminants.
    pub const ALL: [Kind; 14] = [
        Kind::Bool,
        Kind::I8,
        Kind::I16,
        Kind::I32,
        Kind::I64,
        Kind::F16,
        Kind::F32,
        Kind::F64,
        Kind::Buf,
        Kind::Tex,
        Kind::Samp,
        Kind::Img,
        Kind::Accel,
        Kind::Ptr,
    ];

    /// The name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::I8 => "i8",
            Kind::I16 => "i16",
            Kind::I32 => "i32",
            Kind::I64 => "i64",
            Kind::F16 => "f16",
            Kind::F32 => "f32",
            Kind::F64 => "f64",
            Kind::Buf => "buf",
            Kind::Tex => "tex",
            Kind::Samp => "samp",
            Kind::Img => "img",
            Kind::Accel => "accel",
            Kind::Ptr => "ptr",
        }
    }

    /// Width of a lane in bits: 1 for `bool`, 64 for handles.
    pub fn bits(self) -> u32 {
        match self {
            Kind::Bool => 1,
            Kind::I8 => 8,
            Kind::I16 | Kind::F16 => 16,
            Kind::I32 | Kind::F32 => 32,
            _ => 64,
        }
    }

    /// Whether this is one of the integers (`bool` is not).
    pub const fn is_int(self) -> bool {
        matches!(self, Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64)
    }

    /// Whether this is one of the floats.
    pub const fn is_float(self) -> bool {
        matches!(self, Kind::F16 | Kind::F32 | Kind::F64)
    }

    /// Whether this is an opaque handle.
    pub const fn is_handle(self) -> bool {
        (self as u8) >= Kind::Buf as u8
    }

    /// A mask of the bits a lane may have set.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
}

/// A type: a kind and one to four lanes. Handles always have one lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    kind: Kind,
    lanes: u8,
}

impl Type {
    /// One truth value.
    pub const BOOL: Type = Type::scalar(Kind::Bool);
    /// One 32-bit integer.
    pub const I32: Type = Type::scalar(Kind::I32);
    /// One 64-bit integer.
    pub const I64: Type = Type::scalar(Kind::I64);
    /// One half.
    pub const F16: Type = Type::scalar(Kind::F16);
    /// One 32-bit float.
    pub const F32: Type = Type::scalar(Kind::F32);
    /// One 64-bit float.
    pub const F64: Type = Type::scalar(Kind::F64);
    /// Four 32-bit floats.
    pub const F32X4: Type = Type { kind: Kind::F32, lanes: 4 };
    /// Two halves.
    pub const F16X2: Type = Type { kind: Kind::F16, lanes: 2 };
    /// Two 32-bit floats.
    pub const F32X2: Type = Type { kind: Kind::F32, lanes: 2 };
    /// Three 32-bit floats.
    pub const F32X3: Type = Type { kind: Kind::F32, lanes: 3 };
    /// Two 32-bit integers.
    pub const I32X2: Type = Type { kind: Kind::I32, lanes: 2 };
    /// Three 32-bit integers.
    pub const I32X3: Type = Type { kind: Kind::I32, lanes: 3 };
    /// Four 64-bit integers.
    pub const I64X4: Type = Type { kind: Kind::I64, lanes: 4 };
    /// Four 32-bit integers.
    pub const I32X4: Type = Type { kind: Kind::I32, lanes: 4 };

    /// One lane of `kind`.
    pub const fn scalar(kind: Kind) -> Type {
        Type { kind, lanes: 1 }
    }

    /// `lanes` lanes of `kind`; `None` unless 1 to 4 lanes, or one for a handle.
    pub fn new(kind: Kind, lanes: u8) -> Option<Type> {
        ((1..=4).contains(&lanes) && (lanes == 1 || !kind.is_handle())).then_some(Type { kind, lanes })
    }

    /// What a lane is.
    pub fn kind(self) -> Kind {
        self.kind
    }

    /// Number of lanes, 1 to 4.
    pub fn lanes(self) -> u8 {
        self.lanes
    }

    /// The type of one lane.
    pub fn lane(self) -> Type {
        Type::scalar(self.kind)
    }

    /// The same lanes with another kind; a handle has one lane whatever `self` has.
    pub fn with_kind(self, kind: Kind) -> Type {
        Type { kind, lanes: if kind.is_handle() { 1 } else { self.lanes } }
    }

    /// The same kind with `lanes` lanes; `None` as in [`Type::new`].
    pub fn with_lanes(self, lanes: u8) -> Option<Type> {
        Type::new(self.kind, lanes)
    }

    /// Whether there is one lane.
    pub fn is_scalar(self) -> bool {
        self.lanes == 1
    }

    /// Width of all lanes together in bits.
    pub fn bits(self) -> u32 {
        self.kind.bits() * u32::from(self.lanes)
    }

    /// Size in memory in bytes; `None` for `bool` and handles, which have no memory form.
    pub fn bytes(self) -> Option<u32> {
        (self.kind.is_int() || self.kind.is_float()).then_some(self.bits() / 8)
    }

    /// Parses `f32`, `f32x4` and the like.
    pub fn parse(text: &str) -> Option<Type> {
        let (name, lanes) = match text.rsplit_once('x') {
            Some((name, digits)) if matches!(digits, "2" | "3" | "4") => (name, digits.as_bytes()[0] - b'0'),
            _ => (text, 1),
        };
        Kind::ALL.into_iter().find(|k| k.name() == name).and_then(|k| Type::new(k, lanes))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        if self.lanes > 1 { write!(f, "x{}", self.lanes) } else { Ok(()) }
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The bits of a value, lane by lane, each in the low bits of its word. Lanes past the type's are zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Bits(pub [u64; 4]);

impl Bits {
    /// A scalar.
    pub fn scalar(bits: u64) -> Bits {
        Bits([bits, 0, 0, 0])
    }

    /// The same bits in each lane of `ty`.
    pub fn splat(ty: Type, bits: u64) -> Bits {
        Bits(std::array::from_fn(|i| if i < usize::from(ty.lanes()) { bits } else { 0 }))
    }

    /// Four 32-bit floats.
    pub fn f32x4(lanes: [f32; 4]) -> Bits {
        Bits(lanes.map(|x| u64::from(x.to_bits())))
    }

    /// Lane `i`; zero past the fourth.
    pub fn lane(&self, i: usize) -> u64 {
        self.0.get(i).copied().unwrap_or(0)
    }

    /// All lanes as 32-bit words.
    pub fn words(&self) -> [u32; 4] {
        self.0.map(|x| x as u32)
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:#x} {:#x} {:#x} {:#x}]", self.0[0], self.0[1], self.0[2], self.0[3])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for kind in Kind::ALL {
            for lanes in 1..=4 {
                if let Some(ty) = Type::new(kind, lanes) {
                    assert_eq!(Type::parse(&ty.to_string()), Some(ty));
                }
            }
        }
        for bad in ["", "f32x5", "f32x1", "tex2", "texx2", "i128", "x4"] {
            assert_eq!(Type::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn handles_have_one_lane() {
        assert_eq!(Type::new(Kind::Tex, 2), None);
        assert_eq!(Type::F32X4.with_kind(Kind::Tex).lanes(), 1);
    }
}
