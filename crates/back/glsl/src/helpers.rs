//! Functions that stand for ops GLSL does not have. Each is written once per width it is used with, and only then.
//!
//! A helper is defined on scalars; its vector forms apply the scalar form to each lane (compilers take vectors
//! apart anyway). Definitions follow the fold functions of the op table.

use rustc_hash::FxHashMap;
use std::fmt::Write;
use xenoglot_ir::Flags;
use xenoglot_ir::imm::FloatFormat;

/// Which variant of a helper: the width of its `Int` and `Float`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) enum Width {
    /// `uint` and `float`.
    #[default]
    W32,
    /// `uint64_t` and `double`.
    W64,
    /// `uint16_t` and `float16_t`.
    W16,
    /// `uint8_t`.
    W8,
}

impl Width {
    /// The width of a number of kind `kind`.
    pub(crate) fn of(kind: xenoglot_ir::Kind) -> Width {
        match kind.bits() {
            8 => Width::W8,
            16 => Width::W16,
            64 => Width::W64,
            _ => Width::W32,
        }
    }

    /// What stands for a placeholder in a body.
    fn text(self, what: &str) -> Option<&'static str> {
        let row = match what {
            "U" => ["uint", "uint64_t", "uint16_t", "uint8_t"],
            "I" => ["int", "int64_t", "int16_t", "int8_t"],
            "N" => ["32", "64", "16", "8"],
            "F" => ["float", "double", "float16_t", "float"],
            "B" => ["floatBitsToUint", "doubleBitsToUint64", "float16BitsToUint16", "floatBitsToUint"],
            "R" => ["uintBitsToFloat", "uint64BitsToDouble", "uint16BitsToFloat16", "uintBitsToFloat"],
            "X" => ["0x7f800000u", "0x7ff0000000000000ul", "uint16_t(0x7c00u)", "0x7f800000u"],
            "Z" => ["0.0", "0.0lf", "float16_t(0.0)", "0.0"],
            "O" => ["0x3f800000u", "0x3ff0000000000000ul", "uint16_t(0x3c00u)", "0x3f800000u"],
            "S" => ["0x80000000u", "0x8000000000000000ul", "uint16_t(0x8000u)", "0x80000000u"],
            _ => return None,
        };
        Some(row[self as usize])
    }
}

/// Kind of a parameter or result. `Int` and `Float` are as wide as the variant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum K {
    Float,
    Int,
    /// `uint` in every variant.
    Word,
    Bool,
}
use K::{Bool, Float, Int, Word};

macro_rules! helpers {
    ($($id:ident $name:literal $ret:ident($($param:ident),*) $body:literal $(, in 330 $old:literal)?
        $(, after $($dep:ident),+)?;)+) => {
        /// A helper with a fixed definition.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub(crate) enum Helper { $($id),+ }

        const ROWS: &[Row] = &[$(Row {
            name: $name,
            ret: $ret,
            params: &[$($param),*],
            body: $body,
            body_330: helpers!(@old $body $(, $old)?),
            deps: &[$($(Helper::$dep),+)?],
        }),+];
    };
    (@old $body:literal) => { $body };
    (@old $body:literal, $old:literal) => { $old };
}

/// A definition. In bodies the parameters are a, b, c, d; `$U` and `$I` are the unsigned and signed integer type, `$N` its
/// width, `$F` the float type, `$B` and `$R` the functions to its bits and back, `$X` the bits of infinity, `$O` of 1,
/// `$S` of -0, `$Z` is 0.
struct Row {
    name: &'static str,
    ret: K,
    params: &'static [K],
    body: &'static str,
    body_330: &'static str,
    deps: &'static [Helper],
}

helpers! {
    // Flags of float ops.
    Ftz "ftz" Float(Float)
        "$U u = $B(a);\nreturn (u & $X) == $U(0) ? $R(u & $S) : a;";
    // On the bits, where positive floats compare like integers: compilers make a maximum of `a > 0.0 ? a : 0.0`, which
    // may keep -0.
    Sat "sat" Float(Float)
        "$U u = $B(a);\nreturn u - $U(1) < $X ? $R(min(u, $O)) : $Z;";
    // The sum with +0: compilers that do not keep signed zeros drop `0.0 + a`.
    PlusZero "plus_zero" Float(Float) "return $B(a) == $S ? $Z : a;";
    MulZw "mul_zw" Float(Float, Float)
        "$P $F p = a * b;\nreturn isnan(p) && !isnan(a) && !isnan(b) ? $Z : p;";
    MulFmz "mul_fmz" Float(Float, Float) "$P $F p = a * b;\nreturn a == $Z || b == $Z ? $Z : p;";
    FmaZw "fma_zw" Float(Float, Float, Float)
        "$P $F r = plus_zero(c);\nif (!(isinf(a) && b == $Z) && !(a == $Z && isinf(b))) {\n    r = fma(a, b, c);\n}\nreturn r;", after PlusZero;
    FmaFmz "fma_fmz" Float(Float, Float, Float)
        "$P $F r = plus_zero(c);\nif (a != $Z && b != $Z) {\n    r = fma(a, b, c);\n}\nreturn r;", after PlusZero;
    // Of two equal operands the second is the result, whatever happens to NaNs.
    MinOther "min_other" Float(Float, Float) "return a < b || isnan(b) ? a : b;";
    MinSecond "min_second" Float(Float, Float) "return a < b ? a : b;";
    MinFirst "min_first" Float(Float, Float) "return b <= a ? b : a;";
    MinPropagate "min_propagate" Float(Float, Float) "return a < b || isnan(a) ? a : b;";
    MaxOther "max_other" Float(Float, Float) "return a > b || isnan(b) ? a : b;";
    MaxSecond "max_second" Float(Float, Float) "return a > b ? a : b;";
    MaxFirst "max_first" Float(Float, Float) "return b >= a ? b : a;";
    MaxPropagate "max_propagate" Float(Float, Float) "return a > b || isnan(a) ? a : b;";
    // Float compares that have no operator.
    OrderedNe "ordered_ne" Bool(Float, Float) "return a < b || a > b;";
    UnorderedEq "unordered_eq" Bool(Float, Float) "return !(a < b || a > b);";
    Unordered "unordered" Bool(Float, Float) "return isnan(a) || isnan(b);";
    // Conversions that saturate; NaN becomes 0.
    F2s "to_int_sat" Word(Float)
        "if (isnan(a)) {\n    return 0u;\n}\nreturn a >= 2147483648.0 ? 0x7fffffffu : a <= -2147483648.0 ? 0x80000000u : uint(int(a));";
    F2u "to_uint_sat" Word(Float) "return !(a > 0.0) ? 0u : a >= 4294967296.0 ? 0xffffffffu : uint(a);";
    // Exponents, on bits: hosts flush denormals or round twice.
    FrexpExp "exponent_of" Word(Float)
        "uint u = floatBitsToUint(a);\nuint e = u >> 23 & 0xffu;\nuint m = u & 0x7fffffu;\nif (e == 0xffu || (e | m) == 0u) {\n    return 0u;\n}\nreturn e != 0u ? e - 126u : (floatBitsToUint(float(m)) >> 23) - 275u;";
    FrexpMant "mantissa_of" Float(Float)
        "uint u = floatBitsToUint(a);\nuint e = u >> 23 & 0xffu;\nuint m = u & 0x7fffffu;\nif (e == 0xffu || (e | m) == 0u) {\n    return a;\n}\nuint f = e != 0u ? m : floatBitsToUint(float(m)) & 0x7fffffu;\nreturn uintBitsToFloat(u & 0x80000000u | 0x3f000000u | f);";
    Ldexp "scale_by_exp" Float(Float, Word)
        "uint u = floatBitsToUint(mantissa_of(a));\nif ((u & 0x7fffffffu) == 0u || (u & 0x7f800000u) == 0x7f800000u) {\n    return a;\n}\nint e = 126 + clamp(int(exponent_of(a)) + clamp(int(b), -600, 600), -300, 300);\nu &= 0x807fffffu;\nif (e >= 255) {\n    return uintBitsToFloat(u & 0x80000000u | 0x7f800000u);\n}\nif (e > 0) {\n    return uintBitsToFloat(u | uint(e) << 23);\n}\nu |= uint(max(e, -60) + 64) << 23;\n$P float r = uintBitsToFloat(u) * uintBitsToFloat(0x1f800000u);\nreturn r;", after FrexpExp, FrexpMant;
    // Integers.
    Umulh "mul_high" Word(Word, Word)
        "uint high, low;\numulExtended(a, b, high, low);\nreturn high;",
        in 330 "uint al = a & 0xffffu;\nuint ah = a >> 16;\nuint bl = b & 0xffffu;\nuint bh = b >> 16;\nuint m = al * bh + (al * bl >> 16);\nuint n = ah * bl + (m & 0xffffu);\nreturn ah * bh + (m >> 16) + (n >> 16);";
    Imulh "imul_high" Word(Word, Word)
        "uint h = mul_high(a, b);\nh -= int(a) < 0 ? b : 0u;\nreturn h - (int(b) < 0 ? a : 0u);", after Umulh;
    UdivZero "udiv_zero" Int(Int, Int) "return b == $U(0) ? $U(0) : a / b;";
    UdivOnes "udiv_ones" Int(Int, Int) "return b == $U(0) ? ~$U(0) : a / b;";
    UremZero "urem_zero" Int(Int, Int) "return b == $U(0) ? $U(0) : a % b;";
    UremOnes "urem_ones" Int(Int, Int) "return b == $U(0) ? ~$U(0) : a % b;";
    // Division of magnitudes: signed overflow and `%` of negative numbers are undefined in GLSL.
    Sdiv "sdiv" Int(Int, Int)
        "$U q = ($I(a) < $I(0) ? $U(0) - a : a) / ($I(b) < $I(0) ? $U(0) - b : b);\nreturn $I(a ^ b) < $I(0) ? $U(0) - q : q;";
    SdivZero "sdiv_zero" Int(Int, Int) "if (b == $U(0)) {\n    return $U(0);\n}\nreturn sdiv(a, b);", after Sdiv;
    SdivOnes "sdiv_ones" Int(Int, Int) "if (b == $U(0)) {\n    return ~$U(0);\n}\nreturn sdiv(a, b);", after Sdiv;
    SremZero "srem_zero" Int(Int, Int) "if (b == $U(0)) {\n    return $U(0);\n}\nreturn a - sdiv(a, b) * b;", after Sdiv;
    SremOnes "srem_ones" Int(Int, Int) "if (b == $U(0)) {\n    return ~$U(0);\n}\nreturn a - sdiv(a, b) * b;", after Sdiv;
    Iabs "iabs" Int(Int) "return $I(a) < $I(0) ? $U(0) - a : a;";
    CarryOut "carry_out" Bool(Int, Int, Bool) "$U s = a + b;\nreturn s < a || c && s == ~$U(0);";
    AddOverflow "add_overflow" Bool(Int, Int, Bool)
        "$U s = a + b + (c ? $U(1) : $U(0));\nreturn $I((a ^ s) & (b ^ s)) < $I(0);";
    BorrowOut "borrow_out" Bool(Int, Int, Bool) "return a < b || c && a == b;";
    SubOverflow "sub_overflow" Bool(Int, Int, Bool)
        "$U s = a - b - (c ? $U(1) : $U(0));\nreturn $I((a ^ b) & (a ^ s)) < $I(0);";
    Rotl "rotl" Int(Int, Int) "$U s = b & $U($N - 1);\nreturn s == $U(0) ? a : a << s | a >> ($U($N) - s);";
    FunnelL "funnel_l" Int(Int, Int, Int)
        "$U s = c & $U($N - 1);\nreturn s == $U(0) ? a : a << s | b >> ($U($N) - s);";
    FunnelR "funnel_r" Int(Int, Int, Int)
        "$U s = c & $U($N - 1);\nreturn s == $U(0) ? b : b >> s | a << ($U($N) - s);";
    FieldU "field_u" Int(Int, Int, Int)
        "$U n = b < $U($N) ? min(c, $U($N) - b) : $U(0);\nreturn n == $U(0) ? $U(0) : a >> b & ~$U(0) >> ($U($N) - n);";
    FieldS "field_s" Int(Int, Int, Int)
        "$U n = b < $U($N) ? min(c, $U($N) - b) : $U(0);\nreturn n == $U(0) ? $U(0) : $U($I(a << ($U($N) - n - b)) >> ($U($N) - n));";
    FieldInsert "field_insert" Int(Int, Int, Int, Int)
        "$U n = c < $U($N) ? min(d, $U($N) - c) : $U(0);\nif (n == $U(0)) {\n    return a;\n}\n$U m = ~$U(0) >> ($U($N) - n) << c;\nreturn a & ~m | b << c & m;";
    Popcount "popcount" Word(Word)
        "return uint(bitCount(a));",
        in 330 "a -= a >> 1 & 0x55555555u;\na = (a & 0x33333333u) + (a >> 2 & 0x33333333u);\nreturn (a + (a >> 4) & 0x0f0f0f0fu) * 0x01010101u >> 24;";
    Clz "clz" Word(Word)
        "return uint(31 - findMSB(a));",
        in 330 "uint n = 32u;\nwhile (a != 0u) {\n    a >>= 1;\n    n--;\n}\nreturn n;";
    Ctz "ctz" Word(Word)
        "return a == 0u ? 32u : uint(findLSB(a));",
        in 330 "return a == 0u ? 32u : (floatBitsToUint(float(a & uint(-int(a)))) >> 23) - 127u;";
    FindMsbS "find_msb_s" Word(Word)
        "return uint(findMSB(int(a)));",
        in 330 "uint m = int(a) < 0 ? ~a : a;\nuint n = 0xffffffffu;\nwhile (m != 0u) {\n    m >>= 1;\n    n++;\n}\nreturn n;";
    Reverse "reverse_bits" Word(Word)
        "return bitfieldReverse(a);",
        in 330 "a = a >> 1 & 0x55555555u | (a & 0x55555555u) << 1;\na = a >> 2 & 0x33333333u | (a & 0x33333333u) << 2;\na = a >> 4 & 0x0f0f0f0fu | (a & 0x0f0f0f0fu) << 4;\na = a >> 8 & 0x00ff00ffu | (a & 0x00ff00ffu) << 8;\nreturn a >> 16 | a << 16;";
    Byteswap "byteswap" Word(Word)
        "return a << 24 | (a & 0xff00u) << 8 | a >> 8 & 0xff00u | a >> 24;";
    PermuteByte "permute_byte" Word(Word, Word, Word)
        "uint byte = ((c & 4u) == 0u ? a : b) >> ((c & 3u) * 8u) & 0xffu;\nreturn (c & 8u) == 0u ? byte : byte >= 0x80u ? 0xffu : 0u;";
    PermuteBytes "permute_bytes" Word(Word, Word, Word)
        "uint r = permute_byte(a, b, c & 15u);\nr |= permute_byte(a, b, c >> 4 & 15u) << 8;\nr |= permute_byte(a, b, c >> 8 & 15u) << 16;\nreturn r | permute_byte(a, b, c >> 12 & 15u) << 24;", after PermuteByte;
    Lop3 "lop3" Int(Int, Int, Int, Int)
        "$U r = $U(0);\nfor (int i = 0; i < 8; i++) {\n    if ((d >> $U(i) & $U(1)) != $U(0)) {\n        r |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);\n    }\n}\nreturn r;";
    // Another lane's operand; the host's is undefined where that lane is not active or none.
    LaneIsActive "lane_is_active" Bool(Word)
        "uint id = a < gl_SubgroupSize ? a : gl_SubgroupInvocationID;\nreturn id == a && subgroupBallotBitExtract(subgroupBallot(true), id);";
    FromLaneFloat "from_lane" Float(Float, Word)
        "bool known = lane_is_active(b);\nfloat v = subgroupShuffle(a, known ? b : gl_SubgroupInvocationID);\nreturn known ? v : a;", after LaneIsActive;
    FromLaneWord "from_lane" Word(Word, Word)
        "bool known = lane_is_active(b);\nuint v = subgroupShuffle(a, known ? b : gl_SubgroupInvocationID);\nreturn known ? v : a;", after LaneIsActive;
    FromLaneBool "from_lane" Bool(Bool, Word)
        "bool known = lane_is_active(b);\nbool v = subgroupShuffle(a, known ? b : gl_SubgroupInvocationID);\nreturn known ? v : a;", after LaneIsActive;
    // Lane by lane, for vectors of types that `mix` and the logical operators do not take.
    PickWord "pick" Int(Bool, Int, Int) "return a ? b : c;";
    PickBool "pick" Bool(Bool, Bool, Bool) "return a ? b : c;";
    AndBool "both" Bool(Bool, Bool) "return a && b;";
    OrBool "either" Bool(Bool, Bool) "return a || b;";
    XorBool "differ" Bool(Bool, Bool) "return a ^^ b;";
}

/// Whether an identifier is the name of some helper.
pub(crate) fn is_helper_name(name: &str) -> bool {
    name.starts_with("dot")
        || name.starts_with("to_int")
        || name.starts_with("to_uint")
        || name.starts_with("quantize_")
        || ROWS.iter().any(|row| row.name == name)
}

impl Helper {
    /// Whether the definition also serves numbers of a width: of integers, or of floats where no `float` is in it.
    pub(crate) fn has_form(self, width: Width) -> bool {
        let row = &ROWS[self as usize];
        let floats = row.params.contains(&Float);
        let generic = matches!(
            self,
            Helper::Ftz
                | Helper::Sat
                | Helper::PlusZero
                | Helper::MulZw
                | Helper::MulFmz
                | Helper::FmaZw
                | Helper::FmaFmz
                | Helper::MinOther
                | Helper::MinSecond
                | Helper::MinFirst
                | Helper::MinPropagate
                | Helper::MaxOther
                | Helper::MaxSecond
                | Helper::MaxFirst
                | Helper::MaxPropagate
                | Helper::OrderedNe
                | Helper::UnorderedEq
                | Helper::Unordered
        );
        width == Width::W32 || if floats { generic && width != Width::W8 } else { row.params.contains(&Int) }
    }
}

/// What is used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Fixed(Helper, Width),
    /// Conversion to an integer that saturates: signed, from, to.
    ToInt(bool, Width, Width),
    /// Exponent and mantissa bits.
    Quantize(u8, u8),
    /// Lanes and [`dot_flags`].
    Dot(u8, u8),
}

/// The helpers a module uses.
#[derive(Default)]
pub(crate) struct Helpers {
    /// With a mask of the widths used: bit n - 1 for n lanes.
    used: Vec<(Key, u8)>,
    /// Definitions by helper, widths, version and qualifier: modules mostly use the same ones.
    texts: FxHashMap<(Key, u8, bool, &'static str), String>,
}

const ZW: u8 = 1;
const FMZ: u8 = 2;
const FTZ: u8 = 4;
const SAT: u8 = 8;

/// The flags that change what a dot product is.
fn dot_flags(flags: Flags) -> u8 {
    let bit = |on: bool, bit: u8| if on { bit } else { 0 };
    bit(flags.zero_wins(), ZW) | bit(flags.fmz(), FMZ) | bit(flags.ftz(), FTZ) | bit(flags.sat(), SAT)
}

fn dot_name(out: &mut String, lanes: u8, flags: u8) {
    let _ = write!(out, "dot{lanes}");
    for (bit, suffix) in [(ZW, "_zw"), (FMZ, "_fmz"), (FTZ, "_ftz"), (SAT, "_sat")] {
        if flags & bit != 0 {
            out.push_str(suffix);
        }
    }
}

impl Helpers {
    pub(crate) fn clear(&mut self) {
        self.used.clear();
    }

    fn mark(&mut self, key: Key, lanes: u8) {
        let bit = 1 << (lanes.clamp(1, 4) - 1);
        match self.used.iter_mut().find(|(k, _)| *k == key) {
            Some((_, mask)) => *mask |= bit,
            None => self.used.push((key, bit | 1)),
        }
    }

    /// Marks `helper` as used with operands of `lanes` lanes and a width, and gives its name.
    pub(crate) fn call(&mut self, helper: Helper, lanes: u8, width: Width) -> &'static str {
        let row = &ROWS[helper as usize];
        let varies =
            row.ret != Word && row.ret != Bool || row.params.iter().any(|p| matches!(p, Int | Float));
        let width = if varies && helper.has_form(width) { width } else { Width::W32 };
        let key = Key::Fixed(helper, width);
        if !self.used.iter().any(|(k, _)| *k == key) {
            for &dep in row.deps {
                self.call(dep, 1, width);
            }
        }
        self.mark(key, lanes);
        row.name
    }

    /// Writes the name of a saturating conversion to an integer.
    pub(crate) fn saturating(&mut self, out: &mut String, signed: bool, from: Width, to: Width, lanes: u8) {
        self.mark(Key::ToInt(signed, from, to), lanes);
        out.push_str(&to_int_name(signed, from, to));
    }

    /// Writes the name of the rounding to `format`.
    pub(crate) fn quantize(&mut self, out: &mut String, format: FloatFormat, lanes: u8) {
        self.mark(Key::Quantize(format.exp, format.mant), lanes);
        let _ = write!(out, "quantize_e{}m{}", format.exp, format.mant);
    }

    /// Writes the name of a dot product.
    pub(crate) fn dot(&mut self, out: &mut String, lanes: u8, flags: Flags) {
        let bits = dot_flags(flags);
        self.call(Helper::PlusZero, 1, Width::W32);
        if bits & FMZ != 0 {
            self.call(Helper::MulFmz, 1, Width::W32);
        } else if bits & ZW != 0 {
            self.call(Helper::MulZw, 1, Width::W32);
        }
        if bits & FTZ != 0 {
            self.call(Helper::Ftz, 1, Width::W32);
        }
        if bits & SAT != 0 {
            self.call(Helper::Sat, 1, Width::W32);
        }
        self.mark(Key::Dot(lanes, bits), 1);
        dot_name(out, lanes, bits);
    }

    /// Writes the definitions of all helpers in use, a helper after those it calls.
    pub(crate) fn write(&mut self, out: &mut String, is_330: bool, precise: &'static str) {
        self.used.sort_unstable();
        for &(key, widths) in &self.used {
            let text = self.texts.entry((key, widths, is_330, precise));
            out.push_str(text.or_insert_with(|| definition(key, widths, is_330, precise)));
        }
    }
}

fn definition(key: Key, widths: u8, is_330: bool, precise: &str) -> String {
    let mut out = String::new();
    match key {
        Key::Fixed(helper, width) => {
            let row = &ROWS[helper as usize];
            let body = if is_330 { row.body_330 } else { row.body };
            define(&mut out, row.name, row.ret, row.params, body, width, widths, precise);
        }
        Key::Quantize(exp, mant) => {
            let (name, body) = quantize_body(exp, mant);
            define(&mut out, &name, Float, &[Float], &body, Width::W32, widths, precise);
        }
        Key::Dot(lanes, flags) => define_dot(&mut out, lanes, flags, precise),
        Key::ToInt(signed, from, to) => define_to_int(&mut out, signed, from, to, widths),
    }
    out
}

fn quantize_body(exp: u8, mant: u8) -> (String, String) {
    let drop = 23 - u32::from(mant);
    let bias = (1u32 << (exp - 1)) - 1;
    let (least, most) = ((128 - bias) << 23, (128 + bias) << 23);
    let half = (1u32 << (drop - 1)) - 1;
    let mask = !((1u32 << drop) - 1);
    (
        format!("quantize_e{exp}m{mant}"),
        format!(
            "if (isnan(a)) {{\n    return a;\n}}\nuint s = floatBitsToUint(a) & 0x80000000u;\n\
             uint m = floatBitsToUint(a) & 0x7fffffffu;\nm = m + {half:#x}u + (m >> {drop} & 1u) & {mask:#x}u;\n\
             m = m >= {most:#x}u ? 0x7f800000u : m < {least:#x}u ? 0u : m;\nreturn uintBitsToFloat(s | m);"
        ),
    )
}

fn kind_name(kind: K, width: Width, lanes: u8) -> &'static str {
    use xenoglot_ir::Kind as Ir;
    let kind = match (kind, width) {
        (Float, Width::W64) => Ir::F64,
        (Float, Width::W16) => Ir::F16,
        (Float, _) => Ir::F32,
        (Int, Width::W64) => Ir::I64,
        (Int, Width::W16) => Ir::I16,
        (Int, Width::W8) => Ir::I8,
        (Int | Word, _) => Ir::I32,
        (Bool, _) => Ir::Bool,
    };
    let ty = xenoglot_ir::Type::new(kind, lanes).and_then(|ty| crate::literal::type_name(ty).ok());
    ty.unwrap_or_default()
}

const PARAMS: [&str; 4] = ["a", "b", "c", "d"];

#[expect(clippy::too_many_arguments, reason = "one row's columns and how it is used")]
fn define(
    out: &mut String,
    name: &str,
    ret: K,
    params: &[K],
    body: &str,
    width: Width,
    widths: u8,
    precise: &str,
) {
    for lanes in (1..=4u8).filter(|n| widths >> (n - 1) & 1 == 1) {
        if ret == Float {
            out.push_str(precise);
        }
        let _ = write!(out, "{} {name}(", kind_name(ret, width, lanes));
        for (i, (param, name)) in params.iter().zip(PARAMS).enumerate() {
            let _ =
                write!(out, "{}{} {name}", if i == 0 { "" } else { ", " }, kind_name(*param, width, lanes));
        }
        out.push_str(") {\n");
        if lanes == 1 {
            for line in body.lines() {
                out.push_str("    ");
                expand(out, line, width, precise);
                out.push('\n');
            }
        } else {
            let _ = write!(out, "    return {}(", kind_name(ret, width, lanes));
            for (i, lane) in ["x", "y", "z", "w"].into_iter().take(usize::from(lanes)).enumerate() {
                let _ = write!(out, "{}{name}(", if i == 0 { "" } else { ", " });
                for (k, param) in PARAMS.iter().take(params.len()).enumerate() {
                    let _ = write!(out, "{}{param}.{lane}", if k == 0 { "" } else { ", " });
                }
                out.push(')');
            }
            out.push_str(");\n");
        }
        out.push_str("}\n\n");
    }
}

/// Copies a line of a body with its placeholders replaced.
fn expand(out: &mut String, line: &str, width: Width, precise: &str) {
    let mut parts = line.split('$');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (what, rest) = part.split_at(1);
        out.push_str(width.text(what).unwrap_or(precise.trim_end()));
        // A body writes `$P float`; without the qualifier the blank goes too.
        out.push_str(if what == "P" && precise.is_empty() { rest.trim_start() } else { rest });
    }
}

fn to_int_name(signed: bool, from: Width, to: Width) -> String {
    let number = |w: Width| w.text("N").unwrap_or_default();
    format!("to_{}{}_sat_from_{}", if signed { "int" } else { "uint" }, number(to), number(from))
}

/// A conversion of floats to integers that saturates; NaN becomes 0.
fn define_to_int(out: &mut String, signed: bool, from: Width, to: Width, widths: u8) {
    let bits: i32 = to.text("N").and_then(|n| n.parse().ok()).unwrap_or(32);
    // Powers of two, so exact: the first value too large, and the last that is not too small. Halves reach neither.
    let high = 2f64.powi(bits - i32::from(signed));
    let suffix = if from == Width::W64 { "lf" } else { "" };
    let (unsigned, integer) = (to.text("U").unwrap_or_default(), to.text("I").unwrap_or_default());
    let ones = u64::MAX >> (64 - bits);
    let (most, least) = if signed { (ones >> 1, (ones >> 1) + 1) } else { (ones, 0) };
    let literal = |v: u64| if bits == 64 { format!("{v:#x}ul") } else { format!("{unsigned}({v:#x}u)") };
    let low = if signed { -high } else { 0.0 };
    let inner = if signed { format!("{unsigned}({integer}(x))") } else { format!("{unsigned}(x)") };
    let x = if from == Width::W64 { "double x = a;" } else { "float x = float(a);" };
    let body = format!(
        "{x}\nif (isnan(x)) {{\n    return {};\n}}\nreturn x >= {high:?}{suffix} ? {} : x <= {low:?}{suffix} ? {} : {inner};",
        literal(0),
        literal(most),
        literal(least),
    );
    let (from_name, name) = (kind_name(Float, from, 1), to_int_name(signed, from, to));
    for lanes in (1..=4u8).filter(|n| widths >> (n - 1) & 1 == 1) {
        let (ret, arg) = (kind_name(Int, to, lanes), kind_name(Float, from, lanes));
        let _ = writeln!(out, "{ret} {name}({arg} a) {{");
        if lanes == 1 {
            body.lines().for_each(|line| {
                let _ = writeln!(out, "    {line}");
            });
        } else {
            let parts: Vec<String> = LANES
                .iter()
                .take(usize::from(lanes))
                .map(|l| format!("{name}({from_name}(a.{l}))"))
                .collect();
            let _ = writeln!(out, "    return {ret}({});", parts.join(", "));
        }
        out.push_str("}\n\n");
    }
}

const LANES: [&str; 4] = ["x", "y", "z", "w"];

/// A dot product sums from +0 in lane order; every product and sum is rounded and flushed; the result is clamped.
fn define_dot(out: &mut String, lanes: u8, flags: u8, precise: &str) {
    let vec = kind_name(Float, Width::W32, lanes);
    let _ = write!(out, "{precise}float ");
    dot_name(out, lanes, flags);
    let _ = writeln!(out, "({vec} a, {vec} b) {{");
    if flags & FTZ != 0 {
        for v in ["a", "b"] {
            let _ = write!(out, "    {v} = {vec}(");
            for (i, lane) in ["x", "y", "z", "w"].into_iter().take(usize::from(lanes)).enumerate() {
                let _ = write!(out, "{}ftz({v}.{lane})", if i == 0 { "" } else { ", " });
            }
            out.push_str(");\n");
        }
    }
    for (i, lane) in ["x", "y", "z", "w"].into_iter().take(usize::from(lanes)).enumerate() {
        let mut term = match flags {
            f if f & FMZ != 0 => format!("mul_fmz(a.{lane}, b.{lane})"),
            f if f & ZW != 0 => format!("mul_zw(a.{lane}, b.{lane})"),
            _ => format!("a.{lane} * b.{lane}"),
        };
        if flags & FTZ != 0 {
            term = format!("ftz({term})");
        }
        let mut sum = if i == 0 { format!("plus_zero({term})") } else { format!("s + {term}") };
        if flags & FTZ != 0 {
            sum = format!("ftz({sum})");
        }
        let _ = writeln!(
            out,
            "    {}s = {sum};",
            if i == 0 { format!("{precise}float ") } else { String::new() }
        );
    }
    out.push_str(if flags & SAT != 0 { "    return sat(s);\n}\n\n" } else { "    return s;\n}\n\n" });
}
