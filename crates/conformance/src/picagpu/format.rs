//! Reader of the PICA200 scenes; layout in `vectors/picagpu/FORMAT.md`, section 1.

use crate::Error;
use crate::input::Reader;
use xenoglot_pica::transfer::{DisplayTransfer, Fill, TextureCopy};

/// First bytes of a scene.
pub const MAGIC: &[u8; 8] = b"PGPU0001";

/// What is done, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Runs a command list found in memory.
    List {
        /// Physical address.
        address: u32,
        /// Length.
        bytes: u32,
    },
    /// Memory fill.
    Fill(Fill),
    /// Display transfer.
    Display(DisplayTransfer),
    /// Texture copy.
    Copy(TextureCopy),
}

/// A region of memory at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Physical address.
    pub address: u32,
    /// What it is: \[7:0\] 0 raw bytes, 1 colour buffer, 2 depth buffer, 0x10 result of a display transfer; \[15:8\] its
    /// format.
    pub kind: u32,
    /// What it should hold.
    pub bytes: Vec<u8>,
}

/// Words of a vertex.
pub const VERTEX_WORDS: usize = 24;

/// A triangle as handed to the clipper: three vertices as bits.
pub type TriangleWords = [[u32; VERTEX_WORDS]; 3];

/// A scene and what should come of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// Its name.
    pub name: String,
    /// Name of the feature it shows.
    pub tags: String,
    /// Bits: 1 uses something the oracle ignores, 2 fragment lighting, 4 doubtful, 8 geometry program, 16 fill and
    /// transfers, 32 procedural texture, 64 shadows.
    pub flags: u32,
    /// Registers before the first operation.
    pub registers: Vec<(u32, u32)>,
    /// Memory before the first operation.
    pub memory: Vec<(u32, Vec<u8>)>,
    /// What is done.
    pub operations: Vec<Operation>,
    /// Memory after the last operation.
    pub regions: Vec<Region>,
    /// Triangles handed to the clipper.
    pub triangles: Vec<TriangleWords>,
    /// P3D interrupts raised.
    pub interrupts: u32,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').into()
}

/// The rest of the payload.
fn rest<'a>(r: &mut Reader<'a>, len: usize) -> Result<&'a [u8], Error> {
    r.take(len.saturating_sub(r.offset()))
}

fn triangles(r: &mut Reader) -> Result<Vec<TriangleWords>, Error> {
    let count = r.u32()?;
    let mut out = Vec::new();
    for _ in 0..count {
        let mut triangle = [[0; VERTEX_WORDS]; 3];
        for word in triangle.as_flattened_mut() {
            *word = r.u32()?;
        }
        out.push(triangle);
    }
    Ok(out)
}

/// Reads a scene.
pub fn scene(bytes: &[u8]) -> Result<Scene, Error> {
    let mut r = Reader::new(bytes);
    if r.take(8)? != MAGIC {
        return Err(Error::Malformed { offset: 0, what: "magic" });
    }
    let mut scene = Scene::default();
    while !r.is_empty() {
        let tag = r.take(4)?;
        let len = r.u32()? as usize;
        let at = r.offset();
        let payload = r.take(len)?;
        chunk(&mut scene, tag, payload).map_err(|e| e.shifted(at))?;
    }
    Ok(scene)
}

fn chunk(scene: &mut Scene, tag: &[u8], payload: &[u8]) -> Result<(), Error> {
    let mut r = Reader::new(payload);
    match tag {
        b"NAME" => scene.name = text(rest(&mut r, payload.len())?),
        b"TAGS" => scene.tags = text(rest(&mut r, payload.len())?),
        b"FLAG" => scene.flags = r.u32()?,
        b"REGS" => {
            while !r.is_empty() {
                scene.registers.push((r.u32()?, r.u32()?));
            }
        }
        b"MEM " | b"MEM\0" => {
            let address = r.u32()?;
            scene.memory.push((address, rest(&mut r, payload.len())?.to_vec()));
        }
        b"CMDL" => scene.operations.push(Operation::List { address: r.u32()?, bytes: r.u32()? }),
        b"FILL" => scene.operations.push(Operation::Fill(Fill {
            start: r.u32()?,
            end: r.u32()?,
            value: r.u32()?,
            control: r.u32()?,
        })),
        b"DISP" => scene.operations.push(Operation::Display(DisplayTransfer {
            src: r.u32()?,
            dst: r.u32()?,
            out_size: r.u32()?,
            in_size: r.u32()?,
            flags: r.u32()?,
        })),
        b"TCPY" => {
            let words = (r.u32()?, r.u32()?, r.u32()?, r.u32()?, r.u32()?, r.u32()?);
            let (src, dst, bytes, in_line, out_line, flags) = words;
            let copy = TextureCopy { src, dst, bytes, in_line, out_line, flags };
            scene.operations.push(Operation::Copy(copy));
        }
        // Where an expected region lies; the expectation says so again.
        b"OUTR" => {
            r.take(12)?;
        }
        b"EXPM" => {
            let (address, kind) = (r.u32()?, r.u32()?);
            scene.regions.push(Region { address, kind, bytes: rest(&mut r, payload.len())?.to_vec() });
        }
        b"EXPT" => scene.triangles = triangles(&mut r)?,
        b"EXPI" => scene.interrupts = r.u32()?,
        _ => return Err(Error::Malformed { offset: 0, what: "tag of a chunk" }),
    }
    if r.is_empty() {
        Ok(())
    } else {
        Err(Error::Malformed { offset: r.offset(), what: "length of a chunk" })
    }
}
