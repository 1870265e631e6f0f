//! What units and models hand each other in a tick. All are structures of the C ABI: integers only, flags are 0 or 1.

use super::Answer;
use crate::params::{Memory, Params, Timing};
use xenoglot_vpu::number::{LANES, Lanes};
use xenoglot_vpu::{MAX_PROGRAM_WORDS, Number, REGISTERS};

/// Parameters that models need.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Config {
    /// Width and height of a tile buffer in pixels.
    pub bin_size: u32,
    /// VPUs, 1 to 8. The pixel at x and y goes to VPU `(x / 2 + y / 2) % vpus`.
    pub vpus: u32,
    /// Pixels of a row that the rasteriser tests in a tick.
    pub raster_pixels: u32,
    /// Whether it skips the rest of a row after the last covered pixel: 0 or 1.
    pub row_skip: u32,
    /// Pixels that a fill writes in a tick.
    pub fill_pixels: u32,
    /// Ticks to set up a triangle.
    pub setup: u32,
    /// Vertices that the vertex cache holds.
    pub vertex_cache: u32,
    /// Lines of 32 bytes that the texture cache holds.
    pub texture_cache: u32,
    /// Fraction bits of fixed-point registers; 0 for `f32`.
    pub fraction: u32,
    /// Threads of a VPU.
    pub threads: u32,
    /// Ticks from the issue of an instruction to the thread's next, by
    /// [`Latency`](xenoglot_vpu::isa::Latency): simple, multiply, dot, special, tile, texture.
    pub latency: [u32; 6],
    /// Memory.
    pub memory: MemoryConfig,
}

/// Parameters of memory. Times are in ticks.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "named after the parameters")]
pub struct MemoryConfig {
    /// Bytes.
    pub bytes: u32,
    /// Whether the timer says how long accesses take, not the SDRAM: 0 or 1.
    pub timer: u32,
    pub burst: u32,
    pub read: u32,
    pub write: u32,
    pub controller: u32,
    /// A number.
    pub banks: u32,
    /// Bytes.
    pub row_bytes: u32,
    pub cas: u32,
    pub rcd: u32,
    pub rp: u32,
    pub ras: u32,
    pub rc: u32,
    pub rrd: u32,
    pub wr: u32,
    pub turnaround: u32,
    pub rfc: u32,
    pub refresh: u32,
}

impl Config {
    pub(crate) fn new(params: &Params) -> Config {
        let l = &params.latency;
        Config {
            bin_size: params.bin_size,
            vpus: params.vpus,
            raster_pixels: params.raster.pixels,
            row_skip: params.raster.row_skip.into(),
            fill_pixels: params.fill_pixels,
            setup: params.raster.setup,
            vertex_cache: params.vertex_cache,
            texture_cache: params.texture_cache,
            fraction: match params.number {
                Number::Fixed(f) => f.bits(),
                Number::Float => 0,
            },
            threads: params.threads,
            latency: [l.simple, l.multiply, l.dot, l.special, l.tile, l.texture],
            memory: MemoryConfig::new(&params.memory),
        }
    }
}

impl MemoryConfig {
    fn new(memory: &Memory) -> MemoryConfig {
        let s = &memory.sdram;
        MemoryConfig {
            bytes: memory.bytes,
            timer: (memory.timing == Timing::Timer).into(),
            burst: memory.burst,
            read: memory.read,
            write: memory.write,
            controller: s.controller,
            banks: s.banks,
            row_bytes: s.row_bytes,
            cas: s.cas,
            rcd: s.rcd,
            rp: s.rp,
            ras: s.ras,
            rc: s.rc,
            rrd: s.rrd,
            wr: s.wr,
            turnaround: s.turnaround,
            rfc: s.rfc,
            refresh: s.refresh,
        }
    }
}

/// What a unit asks memory for. It has one access at a time; the tile buffer store writes, all others read.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Request {
    /// 1 if there is one.
    pub valid: u32,
    /// The first byte.
    pub address: u32,
    /// How many.
    pub bytes: u32,
    /// Not used.
    pub reserved: u32,
}

/// What memory answers.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reply {
    /// The tick in which the access under way is done; 0 without one.
    pub done: u64,
    /// 1 in the first tick from that one on: the access is over, and another one can be asked for.
    pub valid: u32,
    /// Not used.
    pub reserved: u32,
}

/// Bytes of a burst.
pub const BURST_BYTES: usize = crate::memory::BURST as usize;
/// Bytes of the largest vertex.
pub const VERTEX_BYTES: usize = 128;

macro_rules! outputs {
    ($($output:ty),+) => {
        $(impl Answer for $output {
            fn until(&self) -> u64 { self.until }
            fn event(&self) -> u32 { self.event }
        })+
    };
}

outputs! {
    CommandOutput, ProgramLoadOutput, DrawOutput, VertexCacheOutput, RasterOutput, TextureOutput, FillOutput,
    TransferOutput, WriteGlobalOutput, VpuOutput
}

/// Bits of [`CommandInput::busy`].
pub mod busy {
    /// The program loader.
    pub const PROGRAM_LOAD: u32 = 1;
    /// The triangle draw coordinator.
    pub const DRAW: u32 = 1 << 1;
    /// The tile buffer fill.
    pub const FILL: u32 = 1 << 2;
    /// The tile buffer store.
    pub const STORE: u32 = 1 << 3;
    /// The tile buffer load.
    pub const LOAD: u32 = 1 << 4;
    /// The unit that writes globals.
    pub const WRITE_GLOBAL: u32 = 1 << 5;
}

/// What the command processor is handed in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CommandInput {
    /// The tick.
    pub now: u64,
    /// Signals that are raised.
    pub signals: u32,
    /// Units that have something under way: [`busy`].
    pub busy: u32,
    /// Register writes in the FIFO.
    pub depth: u32,
    /// Register of the first; 0 without one.
    pub reg: u32,
    /// Value of the first.
    pub value: u32,
    /// Not used.
    pub reserved: u32,
}

/// What the command processor did in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CommandOutput {
    /// The tick before which it does nothing by itself.
    pub until: u64,
    /// What it did: a number of [`Event::ALL`](crate::Event::ALL).
    pub event: u32,
    /// 1 if it took the first write from the FIFO.
    pub take: u32,
    /// 1 if the write below takes effect: a register is set, or a unit that is not busy is started. A write that has no
    /// meaning sets the machine's faults; a wait for signals has no effect, as that is the command processor's own.
    pub write: u32,
    /// Its register.
    pub reg: u32,
    /// Its value.
    pub value: u32,
    /// Signals that it cleared.
    pub clear: u32,
    /// 1 if it has something under way after this tick, such as a wait for signals: the frame is not over.
    pub waits: u32,
    /// The signals it waits for.
    pub mask: u32,
}

/// What the program loader is handed in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ProgramLoadInput {
    /// The tick.
    pub now: u64,
    /// Memory's answer.
    pub memory: Reply,
    /// 1 if a load is started. That happens only after the one before is finished.
    pub valid: u32,
    /// Where the program is.
    pub address: u32,
}

/// What the program loader did in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ProgramLoadOutput {
    /// The tick before which it does nothing by itself.
    pub until: u64,
    /// What it did: a number of [`Event::ALL`](crate::Event::ALL).
    pub event: u32,
    /// 1 if what memory holds at the address is the program from the next tick on.
    pub finished: u32,
    /// What it asks memory for.
    pub request: Request,
}

/// What the unit that writes globals is handed in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct WriteGlobalInput {
    /// The tick.
    pub now: u64,
    /// 1 if a write is started. That happens only after the one before is finished.
    pub valid: u32,
    /// The global.
    pub global: u32,
    /// Its value.
    pub value: Lanes,
}

/// What the unit that writes globals did in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct WriteGlobalOutput {
    /// The tick before which it does nothing by itself.
    pub until: u64,
    /// What it did: a number of [`Event::ALL`](crate::Event::ALL).
    pub event: u32,
    /// 1 if the write is finished: the global below has its value from now on.
    pub finished: u32,
    /// The global, 0 to 15.
    pub global: u32,
    /// Not used.
    pub reserved: u32,
    /// Its value.
    pub value: Lanes,
}

/// What the tile buffer store or load is handed in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TransferInput {
    /// The tick.
    pub now: u64,
    /// Memory's answer.
    pub memory: Reply,
    /// 1 if a transfer is started. That happens only after the one before is finished.
    pub valid: u32,
    /// The first row's address.
    pub address: u32,
    /// Bytes from row to row in memory.
    pub stride: u32,
    /// Rows of the tile buffer.
    pub rows: u32,
    /// Bytes of a row.
    pub row_bytes: u32,
    /// Not used.
    pub reserved: u32,
}

/// What the tile buffer store or load did in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TransferOutput {
    /// The tick before which it does nothing by itself.
    pub until: u64,
    /// What it did: a number of [`Event::ALL`](crate::Event::ALL).
    pub event: u32,
    /// 1 if the transfer is finished.
    pub finished: u32,
    /// 1 if a row's data move, from the tile buffer to memory or the other way.
    pub moved: u32,
    /// The row.
    pub row: u32,
    /// Its address.
    pub address: u32,
    /// Not used.
    pub reserved: u32,
    /// What it asks memory for.
    pub request: Request,
}

/// What the vertex cache is handed in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VertexCacheInput {
    /// The tick.
    pub now: u64,
    /// Memory's answer.
    pub memory: Reply,
    /// 1 if a draw has started: what is cached is of no use any more.
    pub flush: u32,
    /// Where the draw's vertices are.
    pub address: u32,
    /// Bytes of a vertex.
    pub bytes: u32,
    /// 1 if a vertex is asked for. That happens only after the one before was answered.
    pub valid: u32,
    /// Its index.
    pub index: u32,
    /// Not used.
    pub reserved: u32,
    /// What was read, when memory's answer is valid.
    pub data: [u8; VERTEX_BYTES],
}

/// What the vertex cache did in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VertexCacheOutput {
    /// The tick before which it does nothing by itself.
    pub until: u64,
    /// What it did: a number of [`Event::ALL`](crate::Event::ALL).
    pub event: u32,
    /// 1 if it has found that the vertex is there.
    pub hit: u32,
    /// 1 if it has found that it is not.
    pub miss: u32,
    /// 1 if it answers what it was asked.
    pub answer: u32,
    /// What it asks memory for.
    pub request: Request,
    /// The vertex as memory holds it.
    pub data: [u8; VERTEX_BYTES],
}

impl Default for VertexCacheInput {
    fn default() -> VertexCacheInput {
        VertexCacheInput {
            now: 0,
            memory: Reply::default(),
            flush: 0,
            address: 0,
            bytes: 0,
            valid: 0,
            index: 0,
            reserved: 0,
            data: [0; VERTEX_BYTES],
        }
    }
}

impl Default for VertexCacheOutput {
    fn default() -> VertexCacheOutput {
        let (request, data) = (Request::default(), [0; VERTEX_BYTES]);
        VertexCacheOutput { until: 0, event: 0, hit: 0, miss: 0, answer: 0, request, data }
    }
}

/// An edge function: `value + x * dx + y * dy`, in 1/256 of a pixel's area. A pixel is covered where it is at least
/// `bias` for all three edges.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Edge {
    /// At the centre of the tile buffer's first pixel.
    pub value: i64,
    /// From pixel to pixel, to the right.
    pub dx: i64,
    /// From pixel to pixel, downwards.
    pub dy: i64,
    /// 1 where a pixel on the edge is outside, else 0.
    pub bias: i64,
}

/// What the triangle draw coordinator is handed in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DrawInput {
    /// The tick.
    pub now: u64,
    /// Memory's answer.
    pub memory: Reply,
    /// 1 if a draw is started. That happens only after the one before is finished.
    pub valid: u32,
    /// Where its indices are, 16 bits each.
    pub indices: u32,
    /// How many triangles it has.
    pub triangles: u32,
    /// Which are not drawn: 0 none, 1 clockwise ones, 2 counter-clockwise ones.
    pub cull: u32,
    /// The bin's first pixel: x and y.
    pub bin: [u32; 2],
    /// 1 if a vertex is there that was asked for.
    pub vertex: u32,
    /// Its place on the screen in sixteenths of a pixel: x and y, from -32768 to 32767.
    pub place: [i32; 2],
    /// 1 if the rasteriser takes a triangle in this tick.
    pub room: u32,
    /// 1 if the rasteriser has no triangle, and no VPU a fragment.
    pub drained: u32,
    /// Not used.
    pub reserved: u32,
    /// The burst that was read, when memory's answer is valid.
    pub data: [u8; BURST_BYTES],
}

/// What the triangle draw coordinator did in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DrawOutput {
    /// The tick before which it does nothing by itself.
    pub until: u64,
    /// What it did: a number of [`Event::ALL`](crate::Event::ALL).
    pub event: u32,
    /// 1 if the draw is finished.
    pub finished: u32,
    /// 1 if it asks for a vertex. It has one request at a time.
    pub ask: u32,
    /// The vertex's index.
    pub index: u32,
    /// What it asks memory for.
    pub request: Request,
    /// 1 if it hands the rasteriser the triangle of the last three vertices, set up. What is said of it has to be right: the
    /// machine interpolates, from the same vertices.
    pub triangle: u32,
    /// Not used.
    pub reserved: u32,
    /// First pixel of its bounding box in the tile buffer: x and y.
    pub first: [u32; 2],
    /// Last pixel, which is inside.
    pub last: [u32; 2],
    /// Its edges: opposite the first vertex, and on clockwise, the second and third in turn.
    pub edges: [Edge; 3],
}

/// What the rasteriser is handed in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RasterInput {
    /// The tick.
    pub now: u64,
    /// 1 if a triangle is handed over. That happens only after a tick with `ready`.
    pub valid: u32,
    /// First pixel of the triangle's bounding box in the tile buffer: x and y.
    pub first: [u32; 2],
    /// Last pixel, which is inside.
    pub last: [u32; 2],
    /// Not used.
    pub reserved: u32,
    /// Edges.
    pub edges: [Edge; 3],
    /// Fragments that the queue of each VPU has room for.
    pub room: [u32; 8],
}

/// A pixel of a tile buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Pixel {
    /// From the left.
    pub x: u16,
    /// From the top.
    pub y: u16,
}

/// Most pixels the rasteriser hands on in a tick.
pub const MAX_PIXELS: usize = 16;

/// What the rasteriser did in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RasterOutput {
    /// The tick before which it does nothing by itself.
    pub until: u64,
    /// What it did: a number of [`Event::ALL`](crate::Event::ALL).
    pub event: u32,
    /// 1 if it takes another triangle in the next tick.
    pub ready: u32,
    /// 1 if the triangle it was handed first is finished, with the pixels of this tick.
    pub finished: u32,
    /// How many of `pixels` are covered by that triangle and handed on.
    pub count: u32,
    /// Pixels, in the order in which VPUs receive them.
    pub pixels: [Pixel; MAX_PIXELS],
}

/// Most samples that the texture unit is handed in a tick.
pub const MAX_SAMPLES: usize = 8;
/// Most lines of memory that a sample needs: four texels, each with its colour in a palette.
pub const MAX_LINES: usize = 8;

/// A sample of a texture that a thread waits for.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Sample {
    /// The thread's VPU.
    pub vpu: u32,
    /// Its slot there.
    pub slot: u32,
    /// How many of `lines` it needs, in order.
    pub count: u32,
    /// Lines of memory of 32 bytes: addresses divided by 32.
    pub lines: [u32; MAX_LINES],
}

/// What the texture unit is handed in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TextureInput {
    /// The tick.
    pub now: u64,
    /// Memory's answer.
    pub memory: Reply,
    /// 1 if a texture was changed: what is cached is of no use any more.
    pub flush: u32,
    /// How many of `samples` are asked for.
    pub count: u32,
    /// Samples, in order.
    pub samples: [Sample; MAX_SAMPLES],
}

/// What the texture unit did in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TextureOutput {
    /// The tick before which it does nothing by itself.
    pub until: u64,
    /// What it did: a number of [`Event::ALL`](crate::Event::ALL).
    pub event: u32,
    /// 1 if the sample it was handed first is finished.
    pub finished: u32,
    /// Lines it has found to be there.
    pub hits: u32,
    /// Lines it has found not to be.
    pub misses: u32,
    /// What it asks memory for.
    pub request: Request,
}

/// What the tile buffer fill is handed in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FillInput {
    /// The tick.
    pub now: u64,
    /// 1 if a fill is started. That happens only after the one before is finished.
    pub valid: u32,
    /// Pixels of the tile buffer.
    pub pixels: u32,
}

/// What the tile buffer fill did in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FillOutput {
    /// The tick before which it does nothing by itself.
    pub until: u64,
    /// What it did: a number of [`Event::ALL`](crate::Event::ALL).
    pub event: u32,
    /// 1 if the fill is finished.
    pub finished: u32,
    /// The first pixel that gets the value, row by row.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// What a VPU is handed in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VpuInput {
    /// The tick.
    pub now: u64,
    /// The tick from which the thread can use the sample that is there.
    pub sampled_at: u64,
    /// 1 if the sample is there that the thread of a slot waits for.
    pub sampled: u32,
    /// The slot.
    pub slot: u32,
    /// 1 if a fragment waits in the queue.
    pub fragment: u32,
    /// Its pixel: y times the tile buffer's width, and x.
    pub pixel: u32,
    /// What its thread starts with.
    pub registers: [Lanes; REGISTERS],
    /// What was loaded or sampled in the tick before.
    pub value: Lanes,
    /// Globals.
    pub globals: [Lanes; REGISTERS],
    /// Programs that have been loaded: another number, another program.
    pub loads: u32,
    /// Words of the program.
    pub words: u32,
    /// The program.
    pub program: [u32; MAX_PROGRAM_WORDS],
}

impl Default for VpuInput {
    fn default() -> VpuInput {
        VpuInput {
            now: 0,
            sampled_at: 0,
            sampled: 0,
            slot: 0,
            fragment: 0,
            pixel: 0,
            registers: Default::default(),
            value: [0; LANES],
            globals: Default::default(),
            loads: 0,
            words: 0,
            program: [0; MAX_PROGRAM_WORDS],
        }
    }
}

/// Values of [`VpuOutput::access`].
pub mod access {
    /// None.
    pub const NONE: u32 = 0;
    /// The pixel of a tile buffer is loaded; the next input has it.
    pub const LOAD: u32 = 1;
    /// The pixel of a tile buffer is stored.
    pub const STORE: u32 = 2;
    /// A texture is sampled at lanes x and y. The next input has the value, which the thread has no use of before it is told
    /// that the sample is there.
    pub const SAMPLE: u32 = 3;
}

/// What a VPU did in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct VpuOutput {
    /// The tick before which it does nothing by itself.
    pub until: u64,
    /// What it did: a number of [`Event::ALL`](crate::Event::ALL).
    pub event: u32,
    /// 1 if it took the fragment and started a thread.
    pub take: u32,
    /// Threads that it has after this tick.
    pub threads: u32,
    /// 1 if an instruction was issued.
    pub issue: u32,
    /// Its word in the program.
    pub pc: u32,
    /// The pixel of its thread.
    pub pixel: u32,
    /// Ticks until its thread can issue again, as far as that is known; for counters.
    pub ticks: u32,
    /// 1 if its word is no instruction.
    pub undefined: u32,
    /// What it does to tile buffers and textures: [`access`].
    pub access: u32,
    /// The program's number of that tile buffer or texture.
    pub unit: u32,
    /// The slot of the thread that samples.
    pub slot: u32,
    /// Not used.
    pub reserved: u32,
    /// What is stored, or the place that is sampled.
    pub value: Lanes,
}

/// An access that memory is asked for. Memory is not ticked: it is called when a unit asks.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MemoryInput {
    /// The tick.
    pub now: u64,
    /// Who asks: a number of [`UNITS`](crate::UNITS).
    pub unit: u32,
    /// 1 for a write.
    pub write: u32,
    /// The first byte.
    pub address: u32,
    /// How many.
    pub bytes: u32,
}

/// What comes of an access.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MemoryOutput {
    /// The tick in which it is done, later than that in which it is asked for.
    pub done: u64,
    /// Ticks for which the bus was others'.
    pub queued: u64,
    /// Bursts that found their row open.
    pub hits: u32,
    /// Bursts that found no row open in their bank.
    pub closed: u32,
    /// Bursts that found another row open in their bank.
    pub conflicts: u32,
    /// Refreshes that were made since the access before.
    pub refreshes: u32,
}
