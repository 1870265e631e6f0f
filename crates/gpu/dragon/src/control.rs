//! The command processor: the FIFO, the registers that commands set, and the state machine that takes one command a
//! tick.

use crate::command::{Command, Cull, Write};
use crate::cosim::{CommandInput, CommandOutput, Outcome, Replaceable, Seam, busy};
use crate::event::{Activity, Event};
use crate::machine::{Faults, Shared, Units};
use crate::params::Params;
use crate::unit::draw::DrawJob;
use crate::unit::triangle::{MAX_ATTRIBUTES, Setup};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use xenoglot_vpu::number::{LANES, Lanes};
use xenoglot_vpu::{TILE_BUFFERS, Texture};

/// What commands set for those that start units.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Registers {
    program: u32,
    tile_addresses: [u32; TILE_BUFFERS],
    fill_values: [u32; TILE_BUFFERS],
    stride: u32,
    attributes: u8,
    perspective: bool,
    vertices: u32,
    indices: u32,
    triangles: u16,
    bin: [u16; 2],
    targets: [u8; TILE_BUFFERS],
    cull: Cull,
    global: Lanes,
}

impl Default for Registers {
    fn default() -> Registers {
        Registers {
            program: 0,
            tile_addresses: [0; TILE_BUFFERS],
            fill_values: [0; TILE_BUFFERS],
            stride: 0,
            attributes: 1,
            perspective: false,
            vertices: 0,
            indices: 0,
            triangles: 0,
            bin: [0; 2],
            targets: [0, 1, 2, 3],
            cull: Cull::default(),
            global: [0; LANES],
        }
    }
}

/// The command processor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Control {
    fifo: VecDeque<Write>,
    depth: usize,
    registers: Registers,
    /// The signals waited for.
    waiting: Option<u32>,
    /// What was taken last.
    taken: Write,
    seam: Seam<CommandInput, CommandOutput>,
}

impl Control {
    pub fn new(depth: u32) -> Control {
        let depth = depth as usize;
        Control {
            fifo: VecDeque::with_capacity(depth),
            depth,
            registers: Registers::default(),
            waiting: None,
            taken: Write::default(),
            seam: Seam::default(),
        }
    }

    /// Whether this state is valid for `params`.
    pub fn is_sound(&self, params: &Params) -> bool {
        let depth = params.fifo as usize;
        let attributes = usize::from(self.registers.attributes);
        self.depth == depth && self.fifo.len() <= depth && (1..=MAX_ATTRIBUTES).contains(&attributes)
    }

    pub fn is_full(&self) -> bool {
        self.fifo.len() >= self.depth
    }

    pub fn push(&mut self, write: Write) -> bool {
        let room = !self.is_full();
        if room {
            self.fifo.push_back(write);
        }
        room
    }

    pub fn depth(&self) -> usize {
        self.fifo.len()
    }

    pub fn is_done(&self) -> bool {
        self.fifo.is_empty() && self.waiting.is_none()
    }

    pub fn waiting(&self) -> u32 {
        self.waiting.unwrap_or(0)
    }

    pub fn taken(&self) -> Write {
        self.taken
    }

    pub fn describe(&self) -> String {
        let state = match (self.waiting, self.fifo.front()) {
            (Some(mask), _) => format!("waits for {mask:#x}, {} commands behind", self.fifo.len()),
            (None, Some(next)) => format!("next is {:02x} = {:#x}", next.register, next.value),
            (None, None) => "idle".into(),
        };
        state + self.seam.describe()
    }

    fn execute(&mut self, command: Command, shared: &mut Shared, units: &mut Units) {
        let r = &mut self.registers;
        let textures = &mut units.textures;
        let index = |n: u8| usize::from(n & 3);
        match command {
            Command::SigWait(mask) => self.waiting = Some(mask),
            Command::SetVpuProgram(address) => r.program = address,
            Command::SetVpuTileFormat(tile, format) => shared.tiles.formats[index(tile)] = format,
            Command::SetVpuTileAddr(tile, address) => r.tile_addresses[index(tile)] = address,
            Command::SetFillTileBufferValue(tile, value) => r.fill_values[index(tile)] = value,
            Command::SetTileStride(bytes) => r.stride = bytes,
            Command::SetTriangleVertexFormat { attributes, perspective } => {
                (r.attributes, r.perspective) = (attributes, perspective);
            }
            Command::SetTriangleVertexDataAddr(address) => r.vertices = address,
            Command::SetTriangleIndexDataAddr(address) => r.indices = address,
            Command::SetTriangleCount(count) => r.triangles = count,
            Command::SetBinTopLeft(x, y) => r.bin = [x, y],
            Command::SetDrawTargets(tiles) => r.targets = tiles,
            Command::SetCull(cull) => r.cull = cull,
            Command::SetVpuGlobal(lane, value) => r.global[index(lane)] = value,
            Command::SetTextureAddr(n, address) => {
                textures.textures[index(n)].address = address;
                textures.flush();
            }
            Command::SetTexturePalette(n, address) => {
                textures.textures[index(n)].palette = address;
                textures.flush();
            }
            Command::SetTextureFormat(n, format) => {
                let texture = &mut textures.textures[index(n)];
                *texture = Texture { address: texture.address, palette: texture.palette, ..format };
                textures.flush();
            }
            Command::ExecVpuProgramLoad { sig } => units.program_load.start(r.program, sig),
            Command::ExecFillTileBuffer { tile, sig } => {
                units.fill.start(tile, r.fill_values[index(tile)], sig, shared);
            }
            Command::ExecVpuTileStore { tile, sig } => {
                units.store.start(tile, r.tile_addresses[index(tile)], r.stride, sig);
            }
            Command::ExecVpuTileLoad { tile, sig } => {
                units.load.start(tile, r.tile_addresses[index(tile)], r.stride, sig);
            }
            Command::ExecWriteVpuGlobal { global, sig } => units.write_global.start(global, r.global, sig),
            Command::ExecDrawTriangles { sig } => {
                shared.targets = r.targets;
                if let Some(profile) = &mut shared.profile {
                    profile.begin(r.bin, &r.targets);
                }
                units.vertex_cache.begin(r.vertices, r.attributes);
                units.draw.start(DrawJob {
                    setup: Setup {
                        number: shared.params.number,
                        attributes: r.attributes,
                        perspective: r.perspective,
                        cull: r.cull,
                        bin: r.bin,
                        size: shared.params.bin_size,
                    },
                    indices: r.indices,
                    triangles: r.triangles,
                    sig,
                    start: shared.now,
                });
            }
        }
    }
}

impl Replaceable for Control {
    type Input = CommandInput;
    type Output = CommandOutput;
    type Others<'a> = Units;

    fn seam(&self) -> &Seam<CommandInput, CommandOutput> {
        &self.seam
    }

    fn seam_mut(&mut self) -> &mut Seam<CommandInput, CommandOutput> {
        &mut self.seam
    }

    fn is_idle(&self) -> bool {
        self.waiting.is_none()
    }

    fn tick_own(&mut self, shared: &mut Shared, units: &mut Units) -> Activity {
        if let Some(mask) = self.waiting {
            if shared.sig & mask != mask {
                return Activity::blocked(Event::GPUWait);
            }
            shared.sig &= !mask;
            self.waiting = None;
            return Activity::busy(Event::GPUWait, shared.now);
        }
        let Some(&write) = self.fifo.front() else { return Activity::IDLE };
        match Command::decode(write) {
            Ok(command) if !is_free(&command, units) => return Activity::blocked(Event::UnitBusy),
            Ok(command) => self.execute(command, shared, units),
            Err(fault) => shared.faults |= fault,
        }
        self.fifo.pop_front();
        self.taken = write;
        Activity::busy(Event::GPUProcessCommand, shared.now)
    }

    fn input(&mut self, shared: &mut Shared, units: &mut Units) -> (CommandInput, bool) {
        let first = self.fifo.front().copied().unwrap_or_default();
        let input = CommandInput {
            now: shared.now,
            signals: shared.sig,
            busy: busy_units(units),
            depth: self.fifo.len() as u32,
            reg: first.register.into(),
            value: first.value,
            reserved: 0,
        };
        (input, false)
    }

    fn carry_out(&mut self, output: &CommandOutput, shared: &mut Shared, units: &mut Units) -> Outcome {
        let mut sound = true;
        if output.take != 0 {
            match self.fifo.pop_front() {
                Some(write) => self.taken = write,
                None => sound = false,
            }
        }
        if output.write != 0 {
            let register = u8::try_from(output.reg).map_err(|_| Faults::REGISTER);
            let write = register.map(|register| Write { register, value: output.value });
            match write.and_then(Command::decode) {
                Ok(Command::SigWait(_)) => sound = false,
                Ok(command) if !is_free(&command, units) => sound = false,
                Ok(command) => self.execute(command, shared, units),
                Err(fault) => shared.faults |= fault,
            }
        }
        shared.sig &= !output.clear;
        let waiting = (output.waits != 0).then_some(output.mask);
        let handed = output.take != 0 || output.write != 0 || output.clear != 0 || waiting != self.waiting;
        self.waiting = waiting;
        Outcome { sound, handed }
    }
}

/// The units that have something under way, as bits.
fn busy_units(units: &Units) -> u32 {
    [
        (units.program_load.is_idle(), busy::PROGRAM_LOAD),
        (units.draw.is_idle(), busy::DRAW),
        (units.fill.is_idle(), busy::FILL),
        (units.store.is_idle(), busy::STORE),
        (units.load.is_idle(), busy::LOAD),
        (units.write_global.is_idle(), busy::WRITE_GLOBAL),
    ]
    .iter()
    .map(|&(idle, bit)| if idle { 0 } else { bit })
    .sum()
}

/// Whether the unit a command starts has nothing to do.
fn is_free(command: &Command, units: &Units) -> bool {
    match command {
        Command::ExecVpuProgramLoad { .. } => units.program_load.is_idle(),
        Command::ExecFillTileBuffer { .. } => units.fill.is_idle(),
        Command::ExecDrawTriangles { .. } => units.draw.is_idle(),
        Command::ExecVpuTileStore { .. } => units.store.is_idle(),
        Command::ExecVpuTileLoad { .. } => units.load.is_idle(),
        Command::ExecWriteVpuGlobal { .. } => units.write_global.is_idle(),
        _ => true,
    }
}
