//! Reader of the PICA200 vectors; layout in `vectors/pica/FORMAT.md`, sections 1 and 2.

use crate::Error;
use crate::input::Reader;
use xenoglot_pica_shader::Program;

/// First bytes of a file of shader programs.
pub const PROGRAMS_MAGIC: &[u8; 8] = b"PICV0001";
/// First bytes of a file of float conversions.
pub const FLOATS_MAGIC: &[u8; 8] = b"PICF0001";

/// Names of the categories, by number.
pub const CATEGORIES: [&str; 11] = [
    "arith",
    "approx",
    "special",
    "reladdr",
    "struct",
    "jump",
    "irreducible",
    "endmid",
    "geometry",
    "quirk",
    "typical",
];

/// What the third implementation said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Third {
    /// The same.
    Agrees,
    /// Something else.
    Differs,
    /// It refused the program.
    Refused,
    /// It was not run.
    NotRun,
}

/// A vertex or a change of winding sent by a geometry program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Reverses the winding of the next triangle.
    Winding,
    /// A vertex: the masked outputs from the lowest register on.
    Vertex(Vec<u32>),
}

/// One run of a program with what it should leave.
#[derive(Clone, Debug)]
pub struct Set {
    /// Bit n is `b` n.
    pub bools: u16,
    /// i0 to i3, x y z w each.
    pub ints: [u8; 16],
    /// v0 to v15.
    pub inputs: Vec<u32>,
    /// o0 to o15 at the end.
    pub outputs: Vec<u32>,
    /// r0 to r15 at the end.
    pub temps: Vec<u32>,
    /// a0.x, a0.y, aL at the end; [`OUT_OF_RANGE`] for a0 outside -128..=127.
    pub address: [i32; 3],
    /// Condition flags at the end.
    pub flags: [bool; 2],
    /// What the second implementation said, 0 (equal) to 4.
    pub verdict: u8,
    /// What the third said.
    pub third: Third,
    /// Instructions executed; 0 for geometry programs.
    pub steps: u32,
    /// What a geometry program sent.
    pub events: Vec<Event>,
}

/// How the expected a0 stands for a value outside -128..=127.
pub const OUT_OF_RANGE: i32 = i32::MAX;

/// A program with its runs.
#[derive(Clone, Debug)]
pub struct TestProgram {
    /// Number.
    pub id: u32,
    /// Index into [`CATEGORIES`].
    pub category: u16,
    /// Whether it is a geometry program.
    pub geometry: bool,
    /// Whether it uses RCP, RSQ, EX2 or LG2.
    pub approximate: bool,
    /// Word address of the entry point.
    pub entry: u16,
    /// What EMIT copies.
    pub output_mask: u16,
    /// Code and descriptors.
    pub program: Program,
    /// c0 to c95.
    pub floats: Vec<u32>,
    /// The runs.
    pub sets: Vec<Set>,
}

impl TestProgram {
    /// The name of its category.
    pub fn category_name(&self) -> &'static str {
        CATEGORIES.get(usize::from(self.category)).copied().unwrap_or("unknown")
    }
}

fn check_magic(r: &mut Reader, magic: &[u8; 8]) -> Result<(), Error> {
    if r.take(8)? == magic { Ok(()) } else { Err(Error::Malformed { offset: 0, what: "magic" }) }
}

/// Reads a file of programs.
pub fn programs(bytes: &[u8]) -> Result<Vec<TestProgram>, Error> {
    let mut r = Reader::new(bytes);
    check_magic(&mut r, PROGRAMS_MAGIC)?;
    let n = r.u32()?;
    let mut out = Vec::new();
    for _ in 0..n {
        let len = r.u32()? as usize;
        let at = r.offset();
        let body = r.take(len)?;
        out.push(program(body).map_err(|e| e.shifted(at))?);
    }
    Ok(out)
}

fn program(bytes: &[u8]) -> Result<TestProgram, Error> {
    let mut r = Reader::new(bytes);
    let id = r.u32()?;
    let category = r.u16()?;
    let flags = r.u16()?;
    let entry = r.u16()?;
    let output_mask = r.u16()?;
    let (n_code, n_desc, n_sets) = (r.u16()?, r.u16()?, r.u16()?);
    let _traits = r.u32()?;
    let code = r.words(n_code.into())?;
    let descriptors = r.words(n_desc.into())?;
    let floats = r.words(384)?;
    let sets = (0..n_sets).map(|_| set(&mut r, output_mask)).collect::<Result<_, _>>()?;
    if !r.is_empty() {
        return Err(Error::Malformed { offset: r.offset(), what: "length of a program" });
    }
    let (geometry, approximate) = (flags & 1 != 0, flags & 2 != 0);
    let program = Program { code, descriptors };
    Ok(TestProgram { id, category, geometry, approximate, entry, output_mask, program, floats, sets })
}

fn set(r: &mut Reader, output_mask: u16) -> Result<Set, Error> {
    let bools = r.u16()?;
    let mut ints = [0; 16];
    ints.copy_from_slice(r.take(16)?);
    let inputs = r.words(64)?;
    let outputs = r.words(64)?;
    let temps = r.words(64)?;
    let mut address = [0; 3];
    for a in &mut address {
        *a = r.u32()? as i32;
    }
    let flags = [r.u8()? != 0, r.u8()? != 0];
    let verdict = r.u8()?;
    let third = match r.u8()? >> 4 & 3 {
        0 => Third::Agrees,
        1 => Third::Differs,
        2 => Third::Refused,
        _ => Third::NotRun,
    };
    let steps = r.u32()?;
    let _lanes = (r.u64()?, r.u64()?);
    let n = r.u16()?;
    let vertex_words = output_mask.count_ones() as usize * 4;
    let mut events = Vec::new();
    for _ in 0..n {
        let offset = r.offset();
        events.push(match r.u8()? {
            0 => Event::Winding,
            1 => Event::Vertex(r.words(vertex_words)?),
            _ => return Err(Error::Malformed { offset, what: "kind of an event" }),
        });
    }
    Ok(Set { bools, ints, inputs, outputs, temps, address, flags, verdict, third, steps, events })
}

/// A float conversion.
#[derive(Clone, Copy, Debug)]
pub struct FloatCase {
    /// Width in bits: 24, 20 or 16.
    pub kind: u8,
    /// The word.
    pub raw: u32,
    /// The value as IEEE single.
    pub single: u32,
}

/// Reads a file of float conversions.
pub fn floats(bytes: &[u8]) -> Result<Vec<FloatCase>, Error> {
    let mut r = Reader::new(bytes);
    check_magic(&mut r, FLOATS_MAGIC)?;
    let n = r.u32()?;
    let mut out = Vec::new();
    for _ in 0..n {
        out.push(FloatCase { kind: r.u8()?, raw: r.u32()?, single: r.u32()? });
    }
    Ok(out)
}
