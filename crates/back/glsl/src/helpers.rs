//! Functions that stand for ops that are operators or functions on some types and lanes only. Each is written once, and only
//! where it is used.
//!
//! A helper is defined on scalars; its vector forms apply the scalar form to each lane (compilers take vectors
//! apart anyway). What GLSL has on no type is lowered before (`legalize`).

use rustc_hash::FxHashMap;
use std::fmt::Write;
use xenoglot_ir::{Kind, Type};

macro_rules! helpers {
    ($($id:ident $name:literal $ret:ident($($param:ident),*) $body:literal $(, after $($dep:ident),+)?;)+) => {
        /// A helper with a fixed definition.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub(crate) enum Helper { $($id),+ }

        const ROWS: &[Row] = &[$(Row {
            name: $name,
            ret: Kind::$ret,
            params: &[$(Kind::$param),*],
            body: $body,
            deps: &[$($(Helper::$dep),+)?],
        }),+];
    };
}

/// A definition. In bodies the parameters are a, b, c.
struct Row {
    name: &'static str,
    ret: Kind,
    params: &'static [Kind],
    body: &'static str,
    deps: &'static [Helper],
}

helpers! {
    // High halves of products, which are results of functions without one.
    Umulh "mul_high" I32(I32, I32)
        "uint high, low;\numulExtended(a, b, high, low);\nreturn high;";
    Imulh "imul_high" I32(I32, I32)
        "int high, low;\nimulExtended(int(a), int(b), high, low);\nreturn uint(high);";
    // Another lane's operand; the host's is undefined where that lane is not active or none.
    LaneIsActive "lane_is_active" Bool(I32)
        "uint id = a < gl_SubgroupSize ? a : gl_SubgroupInvocationID;\nreturn id == a && subgroupBallotBitExtract(subgroupBallot(true), id);";
    FromLaneFloat "from_lane" F32(F32, I32)
        "bool known = lane_is_active(b);\nfloat v = subgroupShuffle(a, known ? b : gl_SubgroupInvocationID);\nreturn known ? v : a;", after LaneIsActive;
    FromLaneWord "from_lane" I32(I32, I32)
        "bool known = lane_is_active(b);\nuint v = subgroupShuffle(a, known ? b : gl_SubgroupInvocationID);\nreturn known ? v : a;", after LaneIsActive;
    FromLaneBool "from_lane" Bool(Bool, I32)
        "bool known = lane_is_active(b);\nbool v = subgroupShuffle(a, known ? b : gl_SubgroupInvocationID);\nreturn known ? v : a;", after LaneIsActive;
    // Lane by lane, for vectors of types that `mix` and the logical operators do not take.
    PickWord "pick" I32(Bool, I32, I32) "return a ? b : c;";
    PickLong "pick" I64(Bool, I64, I64) "return a ? b : c;";
    PickShort "pick" I16(Bool, I16, I16) "return a ? b : c;";
    PickByte "pick" I8(Bool, I8, I8) "return a ? b : c;";
    PickBool "pick" Bool(Bool, Bool, Bool) "return a ? b : c;";
    AndBool "both" Bool(Bool, Bool) "return a && b;";
    OrBool "either" Bool(Bool, Bool) "return a || b;";
    XorBool "differ" Bool(Bool, Bool) "return a ^^ b;";
}

/// Whether an identifier is the name of some helper.
pub(crate) fn is_helper_name(name: &str) -> bool {
    ROWS.iter().any(|row| row.name == name)
}

/// The helpers a module uses.
#[derive(Default)]
pub(crate) struct Helpers {
    /// With a mask of the widths used: bit n - 1 for n lanes.
    used: Vec<(Helper, u8)>,
    /// Definitions by helper, widths and qualifier: modules mostly use the same ones.
    texts: FxHashMap<(Helper, u8, &'static str), String>,
}

impl Helpers {
    pub(crate) fn clear(&mut self) {
        self.used.clear();
    }

    /// Marks `helper` as used with operands of `lanes` lanes, and gives its name.
    pub(crate) fn call(&mut self, helper: Helper, lanes: u8) -> &'static str {
        let row = &ROWS[helper as usize];
        let bit = 1 << (lanes.clamp(1, 4) - 1);
        match self.used.iter_mut().find(|(k, _)| *k == helper) {
            Some((_, mask)) => *mask |= bit,
            None => {
                self.used.push((helper, bit | 1));
                for &dep in row.deps {
                    self.call(dep, 1);
                }
            }
        }
        row.name
    }

    /// Writes the definitions of all helpers in use, a helper after those it calls.
    pub(crate) fn write(&mut self, out: &mut String, precise: &'static str) {
        self.used.sort_unstable();
        for &(helper, widths) in &self.used {
            let text = self.texts.entry((helper, widths, precise));
            out.push_str(text.or_insert_with(|| definition(&ROWS[helper as usize], widths, precise)));
        }
    }
}

fn definition(row: &Row, widths: u8, precise: &str) -> String {
    let mut out = String::new();
    let type_of = |kind: Kind, lanes: u8| {
        let ty = Type::new(kind, lanes).and_then(|ty| crate::literal::type_name(ty).ok());
        ty.unwrap_or_default()
    };
    let params = || row.params.iter().zip(["a", "b", "c"]).enumerate();
    for lanes in (1..=4u8).filter(|n| widths >> (n - 1) & 1 == 1) {
        if row.ret.is_float() {
            out.push_str(precise);
        }
        let _ = write!(out, "{} {}(", type_of(row.ret, lanes), row.name);
        for (i, (&kind, name)) in params() {
            let _ = write!(out, "{}{} {name}", if i == 0 { "" } else { ", " }, type_of(kind, lanes));
        }
        out.push_str(") {\n");
        if lanes == 1 {
            for line in row.body.lines() {
                let _ = writeln!(out, "    {line}");
            }
        } else {
            let _ = write!(out, "    return {}(", type_of(row.ret, lanes));
            for (i, lane) in ["x", "y", "z", "w"].into_iter().take(usize::from(lanes)).enumerate() {
                let _ = write!(out, "{}{}(", if i == 0 { "" } else { ", " }, row.name);
                for (k, (_, name)) in params() {
                    let _ = write!(out, "{}{name}.{lane}", if k == 0 { "" } else { ", " });
                }
                out.push(')');
            }
            out.push_str(");\n");
        }
        out.push_str("}\n\n");
    }
    out
}
