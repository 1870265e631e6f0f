//! State of the geometry engine, and its commands.

use super::command::{self, Command, MAX_PARAMS};
use super::light::{Lighting, color5, vector10};
use super::matrix::{Matrix, ONE};
use super::pipeline::{Circumstances, Completed};
use super::polygon::PolygonList;
use super::stack::Matrices;
use super::vertex::{Assembly, Corner};
use super::viewport::Viewport;
use crate::raster::Rules;
use crate::state::{Io, StateError, Stated};

/// SWAP_BUFFERS' parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwapBuffers(pub u32);

impl SwapBuffers {
    /// Translucent polygons of this frame are drawn as submitted.
    pub fn manual_sort(self) -> bool {
        self.0 & 1 != 0
    }

    /// Depths of the *next* frame are w.
    pub fn w_buffering(self) -> bool {
        self.0 & 2 != 0
    }
}

/// What no guest should do, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// Numbers that are no command.
    pub unknown_commands: u64,
    /// Polygons with more than ten vertices after clipping; ten were kept.
    pub clip_overflows: u64,
    /// Polygons dropped because polygon or vertex memory was full.
    pub dropped_polygons: u64,
}

/// Where texture coordinates are from; TEXIMAGE_PARAM bits 30 and 31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TexcoordSource {
    Raw,
    Texcoord,
    Normal,
    Vertex,
}

/// The geometry engine.
///
/// It takes commands with their parameters; how words become commands is [`super::fifo`]'s. After SWAP_BUFFERS it takes
/// none until [`GeometryEngine::vblank`].
#[derive(Clone, Debug)]
pub struct GeometryEngine {
    pub(super) rules: Rules,
    pub(super) matrices: Matrices,
    pub(super) lighting: Lighting,
    viewport: Viewport,
    /// POLYGON_ATTR as last written.
    pub(super) next_attributes: u32,
    /// POLYGON_ATTR as latched by BEGIN_VTXS.
    pub(super) attributes: u32,
    pub(super) texture: u32,
    pub(super) palette: u32,
    pub(super) color: [u8; 3],
    pub(super) raw_texcoord: [i16; 2],
    texcoord: [i16; 2],
    pub(super) vertex: [i16; 3],
    pub(super) assembly: Assembly,
    /// The polygon that the last vertex has completed.
    pub(super) completed: Option<Completed>,
    /// Place in polygon memory of the strip's polygon before, if its vertices may be shared.
    pub(super) strip: Option<usize>,
    pub(super) back: PolygonList,
    front: PolygonList,
    swap: SwapBuffers,
    pending: Option<SwapBuffers>,
    /// DISP_1DOT_DEPTH as w.
    pub(super) one_dot_limit: i32,
    pub(super) overflow: bool,
    pub(super) box_result: bool,
    pub(super) position_result: [i32; 4],
    pub(super) vector_result: [i16; 3],
    pub(super) diagnostics: Diagnostics,
    params: [u32; MAX_PARAMS],
    collected: usize,
    collecting: u8,
}

impl GeometryEngine {
    /// An engine after a reset that does this of what consoles do.
    pub fn new(rules: Rules) -> GeometryEngine {
        GeometryEngine { rules, ..GeometryEngine::default() }
    }
}

impl Default for GeometryEngine {
    fn default() -> GeometryEngine {
        GeometryEngine {
            rules: Rules::default(),
            matrices: Matrices::default(),
            lighting: Lighting::default(),
            viewport: Viewport::default(),
            next_attributes: 0,
            attributes: 0,
            texture: 0,
            palette: 0,
            color: [0; 3],
            raw_texcoord: [0; 2],
            texcoord: [0; 2],
            vertex: [0; 3],
            assembly: Assembly::default(),
            completed: None,
            strip: None,
            back: PolygonList::with_room(),
            front: PolygonList::with_room(),
            swap: SwapBuffers::default(),
            pending: None,
            one_dot_limit: 0x1ff,
            overflow: false,
            box_result: false,
            position_result: [0; 4],
            vector_result: [0; 3],
            diagnostics: Diagnostics::default(),
            params: [0; MAX_PARAMS],
            collected: 0,
            collecting: 0,
        }
    }
}

fn halves(word: u32) -> [i16; 2] {
    [word as i16, (word >> 16) as i16]
}

impl GeometryEngine {
    /// Polygons and vertices of the frame that is shown.
    pub fn frame(&self) -> &PolygonList {
        &self.front
    }

    /// Polygons and vertices of the frame being built; they have no order yet.
    pub fn building(&self) -> &PolygonList {
        &self.back
    }

    /// The last SWAP_BUFFERS that took effect.
    pub fn swap_buffers(&self) -> SwapBuffers {
        self.swap
    }

    /// Whether a SWAP_BUFFERS waits for the vertical blank.
    #[inline]
    pub fn is_swap_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// What no guest should do.
    pub fn diagnostics(&self) -> Diagnostics {
        self.diagnostics
    }

    /// DISP_1DOT_DEPTH, 15 bits.
    pub fn set_one_dot_depth(&mut self, depth: u16) {
        self.one_dot_limit = i32::from(depth & 0x7fff) * 0x200 + 0x1ff;
    }

    /// Polygon or vertex memory overflowed since [`Self::clear_overflow`]; DISP3DCNT bit 13.
    pub fn has_overflowed(&self) -> bool {
        self.overflow
    }

    /// What writing 1 to DISP3DCNT bit 13 does.
    pub fn clear_overflow(&mut self) {
        self.overflow = false;
    }

    /// What writing 1 to GXSTAT bit 15 does: clears the error, and the projection and texture stack pointers.
    pub fn clear_stack_error(&mut self) {
        self.matrices.clear_error();
    }

    /// The vertical blank: carries out a SWAP_BUFFERS. Whether there was one.
    pub fn vblank(&mut self) -> bool {
        let Some(swap) = self.pending.take() else { return false };
        self.back.sort(swap.manual_sort());
        std::mem::swap(&mut self.back, &mut self.front);
        self.back.clear();
        self.strip = None;
        self.swap = swap;
        true
    }

    /// A word of a command; the command runs with its last one. One without parameters runs at once. The command that ran.
    #[inline]
    pub fn accept(&mut self, command: u8, param: u32) -> Option<Command> {
        let info = command::info(command);
        let wanted = usize::from(info.params);
        if wanted <= 1 {
            self.params[0] = param;
            self.execute(info.command);
            return info.command;
        }
        if self.collecting != command {
            (self.collecting, self.collected) = (command, 0);
        }
        if let Some(place) = self.params.get_mut(self.collected) {
            *place = param;
        }
        self.collected += 1;
        if self.collected < wanted {
            return None;
        }
        self.collected = 0;
        self.execute(info.command);
        info.command
    }

    /// What the time of the command that ran depends on.
    pub(super) fn circumstances(&mut self) -> Circumstances {
        Circumstances {
            mode: self.matrices.mode,
            lights: (self.attributes & 15).count_ones(),
            completed: self.completed.take(),
        }
    }

    /// Whether a command still misses parameters.
    #[inline]
    pub fn is_collecting(&self) -> bool {
        self.collected > 0
    }

    /// The command that still misses parameters, if one does.
    #[inline]
    pub fn collecting(&self) -> Option<u8> {
        self.is_collecting().then_some(self.collecting)
    }

    fn params<const N: usize>(&self) -> [u32; N] {
        std::array::from_fn(|i| self.params.get(i).copied().unwrap_or(0))
    }

    fn execute(&mut self, command: Option<Command>) {
        let Some(command) = command else {
            self.diagnostics.unknown_commands += 1;
            return;
        };
        let param = self.params[0];
        match command {
            Command::Nop | Command::EndVtxs => {}
            Command::MtxMode => self.matrices.mode = param.into(),
            Command::MtxPush => self.matrices.push(),
            Command::MtxPop => self.matrices.pop(param),
            Command::MtxStore => self.matrices.store(param),
            Command::MtxRestore => self.matrices.restore(param),
            Command::MtxIdentity => self.matrices.change(|m| *m = Matrix::IDENTITY),
            Command::MtxLoad4x4 => self.load(Matrix::from_4x4(&self.params())),
            Command::MtxLoad4x3 => self.load(Matrix::from_4x3(&self.params())),
            Command::MtxMult4x4 => self.multiply(Matrix::from_4x4(&self.params())),
            Command::MtxMult4x3 => self.multiply(Matrix::from_4x3(&self.params())),
            Command::MtxMult3x3 => self.multiply(Matrix::from_3x3(&self.params())),
            Command::MtxScale => self.matrices.scale(self.params().map(|p| p as i32)),
            Command::MtxTrans => {
                let by = self.params().map(|p| p as i32);
                self.matrices.change(|m| m.translate(by));
            }
            Command::Color => self.color = color5(param),
            Command::Normal => self.normal(param),
            Command::Texcoord => self.set_texcoord(halves(param)),
            Command::Vtx16 => {
                let [[x, y], [z, _]] = self.params().map(halves);
                self.add_vertex([x, y, z]);
            }
            Command::Vtx10 => self.add_vertex([0, 10, 20].map(|shift| ((param >> shift) << 6) as i16)),
            Command::VtxXy => self.add_vertex([halves(param)[0], halves(param)[1], self.vertex[2]]),
            Command::VtxXz => self.add_vertex([halves(param)[0], self.vertex[1], halves(param)[1]]),
            Command::VtxYz => self.add_vertex([self.vertex[0], halves(param)[0], halves(param)[1]]),
            Command::VtxDiff => {
                let by = vector10(param);
                self.add_vertex(std::array::from_fn(|i| self.vertex[i].wrapping_add(by[i] as i16)));
            }
            Command::PolygonAttr => self.next_attributes = param,
            Command::TeximageParam => self.texture = param,
            Command::PlttBase => self.palette = param & 0x1fff,
            Command::DifAmb => self.color = self.lighting.set_diffuse_ambient(param).unwrap_or(self.color),
            Command::SpeEmi => self.lighting.set_specular_emission(param),
            Command::LightVector => self.lighting.set_vector(param, self.matrices.vector()),
            Command::LightColor => self.lighting.set_color(param),
            Command::Shininess => self.lighting.set_shininess(&self.params),
            Command::BeginVtxs => {
                self.assembly.begin(param.into());
                self.attributes = self.next_attributes;
                self.strip = None;
            }
            Command::SwapBuffers => self.pending = Some(SwapBuffers(param & 3)),
            Command::Viewport => self.viewport = param.into(),
            Command::BoxTest => self.box_test(self.params()),
            Command::PosTest => self.position_test(self.params()),
            Command::VecTest => self.vector_test(param),
        }
    }

    fn load(&mut self, matrix: Matrix) {
        self.matrices.change(|m| *m = matrix);
    }

    fn multiply(&mut self, matrix: Matrix) {
        self.matrices.change(|m| m.multiply(&matrix));
    }

    fn texcoord_source(&self) -> TexcoordSource {
        match self.texture >> 30 {
            0 => TexcoordSource::Raw,
            1 => TexcoordSource::Texcoord,
            2 => TexcoordSource::Normal,
            _ => TexcoordSource::Vertex,
        }
    }

    fn set_texcoord(&mut self, raw: [i16; 2]) {
        self.raw_texcoord = raw;
        self.texcoord = raw;
        if self.texcoord_source() == TexcoordSource::Texcoord {
            // 1/16 of the lower two rows, as coordinates have 4 bits of fraction.
            let row = [raw[0].into(), raw[1].into(), 1, 1];
            let texture = self.matrices.texture();
            self.texcoord = [0, 1].map(|j| (texture.dot_column(row, j) >> 12) as i16);
        }
    }

    /// Texture coordinates from a vector; its products with the matrix have `shift` surplus fraction bits.
    fn texcoord_from(&self, vector: [i32; 3], shift: u32) -> [i16; 2] {
        let sums = self.matrices.texture().rotate(vector);
        [0, 1].map(|j| self.raw_texcoord[j].wrapping_add((sums[j] >> shift) as i16))
    }

    fn normal(&mut self, param: u32) {
        let normal = vector10(param);
        if self.texcoord_source() == TexcoordSource::Normal {
            self.texcoord = self.texcoord_from(normal, 21);
        }
        self.color = self.lighting.shade(normal, self.matrices.vector(), self.attributes & 15);
    }

    #[inline]
    fn add_vertex(&mut self, vertex: [i16; 3]) {
        self.vertex = vertex;
        let [x, y, z] = vertex.map(i32::from);
        // Those from a vertex are this vertex's alone.
        let texcoord = match self.texcoord_source() {
            TexcoordSource::Vertex => self.texcoord_from([x, y, z], 24),
            _ => self.texcoord,
        };
        let position = self.matrices.clip().transform([x, y, z, ONE]);
        let corner = Corner { position, color: self.color, texcoord };
        self.completed = None;
        if let Some(corners) = self.assembly.add(corner) {
            self.submit(&corners);
        }
    }

    #[inline]
    pub(super) fn viewport(&self) -> &Viewport {
        &self.viewport
    }
}

impl Stated for SwapBuffers {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        io.number(self, |swap| swap.0, |bits| SwapBuffers(bits & 3))
    }
}

impl Stated for Diagnostics {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let Diagnostics { unknown_commands, clip_overflows, dropped_polygons } = self;
        [unknown_commands, clip_overflows, dropped_polygons].into_iter().try_for_each(|count| count.state(io))
    }
}

impl Stated for GeometryEngine {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let GeometryEngine {
            rules: _,
            matrices,
            lighting,
            viewport,
            next_attributes,
            attributes,
            texture,
            palette,
            color,
            raw_texcoord,
            texcoord,
            vertex,
            assembly,
            // Taken by the command that has completed it.
            completed: _,
            strip,
            back,
            front,
            swap,
            pending,
            one_dot_limit,
            overflow,
            box_result,
            position_result,
            vector_result,
            diagnostics,
            params,
            collected,
            collecting,
        } = self;
        matrices.state(io)?;
        lighting.state(io)?;
        viewport.state(io)?;
        [next_attributes, attributes, texture, palette].into_iter().try_for_each(|word| word.state(io))?;
        color.state(io)?;
        *color = color.map(|c| c & 31);
        raw_texcoord.state(io)?;
        texcoord.state(io)?;
        vertex.state(io)?;
        assembly.state(io)?;
        strip.state(io)?;
        back.state(io)?;
        front.state(io)?;
        if strip.is_some_and(|place| place >= back.polygons.len()) {
            return io.contents("the strip's last polygon");
        }
        swap.state(io)?;
        pending.state(io)?;
        one_dot_limit.state(io)?;
        *one_dot_limit = *one_dot_limit & (0x7fff * 0x200) | 0x1ff;
        overflow.state(io)?;
        box_result.state(io)?;
        position_result.state(io)?;
        vector_result.state(io)?;
        diagnostics.state(io)?;
        params.state(io)?;
        collected.state(io)?;
        collecting.state(io)?;
        if *collected > 0 && *collected >= usize::from(command::info(*collecting).params) {
            return io.contents("parameters of a command");
        }
        Ok(())
    }
}
