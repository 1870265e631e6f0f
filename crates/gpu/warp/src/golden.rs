//! Files of scenes with expected frames (`vectors/warp/FORMAT.md`): forms `RWGOLD1`, `RWGOLD2` and `RWSETUP1`;
//! and `RWGOLD3`, which is `RWGOLD2` with states of 96 bytes ([`RenderState::from_full_bytes`]).

use crate::clip::Viewport;
use crate::frame::{Error as FrameError, Frame, MEMORY_BYTES, Memory, Surface, Targets};
use crate::primitive::{PRIMITIVE_BYTES, Primitive};
use crate::setup::{Cull, Vertex};
use crate::state::{FULL_STATE_BYTES, RenderState, STATE_BYTES};
use crate::{Draw, NoState};
use std::ops::Range;
use thiserror::Error;

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// It has none of the forms' first bytes.
    #[error("neither RWGOLD1, RWGOLD2, RWGOLD3 nor RWSETUP1")]
    Form,
    /// It ends inside of something.
    #[error("at byte {at}: the file ends inside {what}")]
    Truncated {
        /// Where that begins.
        at: usize,
        /// What it is.
        what: &'static str,
    },
    /// There is more behind it.
    #[error("at byte {at}: bytes behind the end")]
    Trailing {
        /// Where.
        at: usize,
    },
    /// A number means nothing.
    #[error("at byte {at}: {what} is {value}")]
    Value {
        /// Where it is.
        at: usize,
        /// What it is.
        what: &'static str,
        /// The number.
        value: u64,
    },
    /// A primitive's state is not there.
    #[error(transparent)]
    NoState(#[from] NoState),
    /// A target cannot be drawn into.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// A file.
#[derive(Clone, Debug, PartialEq)]
pub enum Golden {
    /// Frames.
    Scene(Scene),
    /// Clipping and setup.
    Setups(Vec<SetupCase>),
}

/// Passes over memory and what they leave.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The states.
    pub states: Vec<RenderState>,
    /// The state of each primitive.
    pub state_of: Vec<u16>,
    /// The primitives.
    pub primitives: Vec<Primitive>,
    /// What is in memory before the first pass, by byte address.
    pub uploads: Vec<(u32, Vec<u8>)>,
    /// What is drawn.
    pub passes: Vec<Pass>,
    /// Byte addresses and lengths of what is compared.
    pub ranges: Vec<(u32, u32)>,
    /// Expected bytes of all ranges, each with the paths of the original that made them; none for form 1, where all did.
    pub results: Vec<(u32, Vec<u8>)>,
}

/// Primitives drawn into one pair of targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Where.
    pub targets: Targets,
    /// Primitives.
    pub primitives: Range<usize>,
    /// What the colours are cleared to.
    pub clear_color: Option<u16>,
    /// What the depths are cleared to.
    pub clear_depth: Option<u16>,
}

/// A triangle in clip space and what comes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct SetupCase {
    /// Which triangles are dropped.
    pub cull: Cull,
    /// Where the picture is.
    pub viewport: Viewport,
    /// The triangle.
    pub vertices: [Vertex; 3],
    /// Primitives in order.
    pub expected: Vec<Primitive>,
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], Error> {
        let part = self.at.checked_add(count).and_then(|end| self.bytes.get(self.at..end));
        let part = part.ok_or(Error::Truncated { at: self.at, what })?;
        self.at += count;
        Ok(part)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<&'a [u8; N], Error> {
        let at = self.at;
        self.take(N, what)?.first_chunk().ok_or(Error::Truncated { at, what })
    }

    fn word(&mut self, what: &'static str) -> Result<u32, Error> {
        self.array(what).map(|bytes| u32::from_le_bytes(*bytes))
    }

    fn words<const N: usize>(&mut self, what: &'static str) -> Result<[u32; N], Error> {
        let mut words = [0; N];
        for word in &mut words {
            *word = self.word(what)?;
        }
        Ok(words)
    }

    fn floats<const N: usize>(&mut self, what: &'static str) -> Result<[f32; N], Error> {
        self.words(what).map(|words| words.map(f32::from_bits))
    }

    /// `count` of something, each at least `size` bytes, so that no more is set aside than is there.
    fn list<T>(
        &mut self,
        count: u32,
        size: usize,
        what: &'static str,
        mut one: impl FnMut(&mut Self) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let left = self.bytes.len() - self.at;
        if (count as usize).checked_mul(size).is_none_or(|bytes| bytes > left) {
            return Err(Error::Truncated { at: self.at, what });
        }
        (0..count).map(|_| one(self)).collect()
    }

    fn states(&mut self, count: u32) -> Result<Vec<RenderState>, Error> {
        self.list(count, STATE_BYTES, "render states", |r| {
            Ok(RenderState::from_bytes(r.array("a render state")?))
        })
    }

    fn full_states(&mut self, count: u32) -> Result<Vec<RenderState>, Error> {
        self.list(count, FULL_STATE_BYTES, "render states", |r| {
            Ok(RenderState::from_full_bytes(r.array("a render state")?))
        })
    }

    fn state_numbers(&mut self, count: u32) -> Result<Vec<u16>, Error> {
        self.list(count, 2, "numbers of states", |r| Ok(u16::from_le_bytes(*r.array("a state's number")?)))
    }

    fn primitives(&mut self, count: u32) -> Result<Vec<Primitive>, Error> {
        self.list(count, PRIMITIVE_BYTES, "primitives", |r| {
            Ok(Primitive::from_bytes(r.array("a primitive")?))
        })
    }
}

impl Golden {
    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(bytes: &[u8]) -> Result<Golden, Error> {
        let mut reader = Reader { bytes, at: 0 };
        let golden = match reader.array::<8>("the form").ok() {
            Some(b"RWGOLD1\0") => Golden::Scene(first_form(&mut reader)?),
            Some(b"RWGOLD2\0") => Golden::Scene(second_form(&mut reader, Reader::states)?),
            Some(b"RWGOLD3\0") => Golden::Scene(second_form(&mut reader, Reader::full_states)?),
            Some(b"RWSETUP1") => Golden::Setups(setups(&mut reader)?),
            _ => return Err(Error::Form),
        };
        if reader.at < bytes.len() {
            return Err(Error::Trailing { at: reader.at });
        }
        Ok(golden)
    }
}

/// A list of primitives without header, 112 bytes each.
///
/// # Errors
/// [`Error::Truncated`] if bytes are left.
pub fn primitives(bytes: &[u8]) -> Result<Vec<Primitive>, Error> {
    let (primitives, rest) = bytes.as_chunks::<PRIMITIVE_BYTES>();
    if !rest.is_empty() {
        return Err(Error::Truncated { at: bytes.len() - rest.len(), what: "a primitive" });
    }
    Ok(primitives.iter().map(Primitive::from_bytes).collect())
}

fn first_form(reader: &mut Reader<'_>) -> Result<Scene, Error> {
    let [width, height, states, count, texture_at, texture_length] = reader.words("the header")?;
    let (states, state_of) = (reader.states(states)?, reader.state_numbers(count)?);
    let primitives = reader.primitives(count)?;
    let texture = reader.take(texture_length as usize, "the texture")?.to_vec();
    let color = Surface { offset: 0, size: [width, height], stride: width.wrapping_mul(2) };
    let plane = width.checked_mul(height).and_then(|pixels| pixels.checked_mul(2));
    let plane = plane.ok_or(FrameError::Size { size: [width, height] })?;
    let targets = Targets { color, depth: Surface { offset: plane, ..color } };
    let length = plane.checked_mul(2).ok_or(FrameError::Size { size: [width, height] })?;
    let expected = reader.take(length as usize, "the frame")?.to_vec();
    let pass =
        Pass { targets, primitives: 0..count as usize, clear_color: Some(0), clear_depth: Some(0xffff) };
    Ok(Scene {
        states,
        state_of,
        primitives,
        uploads: vec![(texture_at, texture)],
        passes: vec![pass],
        ranges: vec![(0, length)],
        results: vec![(u32::MAX, expected)],
    })
}

fn second_form<'a>(
    reader: &mut Reader<'a>,
    read_states: fn(&mut Reader<'a>, u32) -> Result<Vec<RenderState>, Error>,
) -> Result<Scene, Error> {
    let [states, count, uploads, passes, ranges, results] = reader.words("the header")?;
    let (states, state_of) = (read_states(reader, states)?, reader.state_numbers(count)?);
    let primitives = reader.primitives(count)?;
    let uploads = reader.list(uploads, 8, "uploads", |r| {
        let [at, length] = r.words("an upload")?;
        Ok((at, r.take(length as usize, "an upload")?.to_vec()))
    })?;
    let passes = reader.list(passes, 56, "passes", |r| pass(r, count))?;
    let mut length = 0;
    let ranges = reader.list(ranges, 8, "ranges", |r| {
        let at = r.at;
        let [offset, bytes] = r.words("a range")?;
        // Their sum is bounded, as a run reads all of them.
        if bytes as usize > MEMORY_BYTES - length {
            return Err(Error::Value { at: at + 4, what: "a range's length", value: bytes.into() });
        }
        length += bytes as usize;
        Ok((offset, bytes))
    })?;
    let results = reader
        .list(results, 4, "results", |r| Ok((r.word("a result")?, r.take(length, "a result")?.to_vec())))?;
    Ok(Scene { states, state_of, primitives, uploads, passes, ranges, results })
}

fn pass(reader: &mut Reader<'_>, count: u32) -> Result<Pass, Error> {
    let at = reader.at;
    let surface = |r: &mut Reader<'_>| {
        let [offset, width, height, stride] = r.words("a pass")?;
        Ok::<_, Error>(Surface { offset, size: [width, height], stride })
    };
    let targets = Targets { color: surface(reader)?, depth: surface(reader)? };
    let [first, number, bits, color, depth, _] = reader.words("a pass")?;
    if first.checked_add(number).is_none_or(|end| end > count) {
        return Err(Error::Value {
            at: at + 36,
            what: "a pass's number of primitives",
            value: number.into(),
        });
    }
    Ok(Pass {
        targets,
        primitives: first as usize..(first + number) as usize,
        clear_color: (bits & 1 != 0).then_some(color as u16),
        clear_depth: (bits & 2 != 0).then_some(depth as u16),
    })
}

fn setups(reader: &mut Reader<'_>) -> Result<Vec<SetupCase>, Error> {
    let count = reader.word("the header")?;
    reader.list(count, 152, "inputs", |r| {
        let at = r.at;
        let cull = match r.word("an input")? {
            0 => Cull::None,
            1 => Cull::CounterClockwiseOnly,
            2 => Cull::ClockwiseOnly,
            value => return Err(Error::Value { at, what: "culling", value: value.into() }),
        };
        let [x, y, width, height, near, far] = r.floats("an input")?;
        let viewport = Viewport { origin: [x, y], size: [width, height], depth: [near, far] };
        let mut vertices = [Vertex::default(); 3];
        for vertex in &mut vertices {
            *vertex = Vertex {
                position: r.floats("an input")?,
                uv: r.floats("an input")?,
                color: r.floats("an input")?,
            };
        }
        let count = r.word("an input")?;
        Ok(SetupCase { cull, viewport, vertices, expected: r.primitives(count)? })
    })
}

impl Scene {
    /// The scene in form 2, or 3 if a state has what only that can say: how a session is recorded.
    pub fn to_bytes(&self) -> Vec<u8> {
        let full = self.states.iter().any(|state| RenderState::from_bytes(&state.to_bytes()) != *state);
        let mut out = if full { b"RWGOLD3\0" } else { b"RWGOLD2\0" }.to_vec();
        let words = |out: &mut Vec<u8>, words: &[u32]| {
            words.iter().for_each(|word| out.extend(word.to_le_bytes()));
        };
        let counts = [
            self.states.len(),
            self.primitives.len(),
            self.uploads.len(),
            self.passes.len(),
            self.ranges.len(),
            self.results.len(),
        ];
        words(&mut out, &counts.map(|count| count as u32));
        for state in &self.states {
            if full {
                out.extend(state.to_full_bytes());
            } else {
                out.extend(state.to_bytes());
            }
        }
        self.state_of.iter().for_each(|state| out.extend(state.to_le_bytes()));
        self.primitives.iter().for_each(|primitive| out.extend(primitive.to_bytes()));
        for (at, bytes) in &self.uploads {
            words(&mut out, &[*at, bytes.len() as u32]);
            out.extend(bytes);
        }
        for pass in &self.passes {
            for surface in [&pass.targets.color, &pass.targets.depth] {
                let [width, height] = surface.size;
                words(&mut out, &[surface.offset, width, height, surface.stride]);
            }
            let bits = u32::from(pass.clear_color.is_some()) | u32::from(pass.clear_depth.is_some()) << 1;
            let [color, depth] = [pass.clear_color, pass.clear_depth].map(|value| value.unwrap_or(0).into());
            let first = pass.primitives.start as u32;
            words(&mut out, &[first, pass.primitives.len() as u32, bits, color, depth, 0]);
        }
        self.ranges.iter().for_each(|&(at, length)| words(&mut out, &[at, length]));
        for (paths, bytes) in &self.results {
            words(&mut out, &[*paths]);
            out.extend(bytes);
        }
        out
    }

    /// Runs the passes on 64 MiB of memory with an engine, and gives the bytes of all ranges.
    ///
    /// # Errors
    /// [`Error::NoState`], [`Error::Frame`], and what the engine says.
    pub fn run<E: From<Error>>(
        &self,
        mut engine: impl FnMut(&mut Frame, &Memory, &Draw<'_>) -> Result<(), E>,
    ) -> Result<Vec<u8>, E> {
        let mut memory = Memory::new(MEMORY_BYTES).map_err(Error::from)?;
        for (at, bytes) in &self.uploads {
            memory.write(*at, bytes);
        }
        for pass in &self.passes {
            let (primitives, state_of) =
                (self.primitives.get(pass.primitives.clone()), self.state_of.get(pass.primitives.clone()));
            let draw = Draw::new(&self.states, primitives.unwrap_or_default(), state_of.unwrap_or_default());
            let draw = draw.map_err(Error::from)?;
            let mut frame = Frame::load(&memory, &pass.targets).map_err(Error::from)?;
            frame.clear(pass.clear_color, pass.clear_depth);
            engine(&mut frame, &memory, &draw)?;
            frame.store(&mut memory);
        }
        Ok(self.ranges.iter().flat_map(|&(at, length)| memory.read(at, length)).collect())
    }

    /// The result of the original's path with this bit, or of all paths where they agree.
    pub fn expected(&self, path: u32) -> Option<&[u8]> {
        let found = self.results.iter().find(|(paths, _)| paths & path != 0);
        found.or(self.results.first().filter(|_| self.results.len() == 1)).map(|(_, bytes)| bytes.as_slice())
    }
}
