//! Parameters of the machine. All of them are this project's decision but for the number of VPUs (4), of tile buffers
//! (4, fixed) and the tick limit, which the original states.

use crate::unit::Unit;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use thiserror::Error;
use xenoglot_vpu::Number;

/// Largest width and height of a tile buffer, in pixels.
pub const MAX_BIN_SIZE: u32 = 64;
/// Largest parameter file, in bytes.
pub const MAX_TOML_BYTES: usize = 1 << 16;

/// Parameters; a TOML file names those that differ from the defaults.
///
/// ```
/// use xenoglot_dragon::Params;
///
/// let params = Params::from_toml("vpus = 8\nnumber = \"f32\"\n[raster]\nrow_skip = false\n")?;
/// assert_eq!(params.threads, 16);
/// # Ok::<(), xenoglot_dragon::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Ticks a second.
    pub clock_hz: u64,
    /// What registers hold: `f32`, or `s16.16` down to `s24.8`.
    pub number: Number,
    /// Vector processing units, 1 to 8.
    pub vpus: u32,
    /// Threads of a VPU, 1 to 64.
    pub threads: u32,
    /// Fragments that can wait before a VPU.
    pub vpu_queue: u32,
    /// Width and height of a tile buffer in pixels: 8, 16, 32 or 64.
    pub bin_size: u32,
    /// Commands that can wait.
    pub fifo: u32,
    /// Pixels a fill writes in a tick.
    pub fill_pixels: u32,
    /// Vertices the vertex cache holds, direct mapped by index.
    pub vertex_cache: u32,
    /// Lines of 32 bytes the texture cache holds, direct mapped by address.
    pub texture_cache: u32,
    /// Ticks of a run after which a wait counts as endless.
    pub tick_limit: u64,
    /// The rasteriser and the triangle set-up before it.
    pub raster: Raster,
    /// Ticks from the issue of an instruction to the thread's next.
    pub latency: Latencies,
    /// Memory.
    pub memory: Memory,
    /// Units that take no time.
    pub instant: Instant,
}

/// Units that take no time of their own: what they wait for in memory and what they do happens in the tick in which it
/// is begun. They still hand over what they hand over tick by tick, and wait for room. No hardware does that; the frame
/// time that is left says how much of it a unit can be responsible for ([`explain`](crate::host::explain)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "named after the units")]
pub struct Instant {
    pub triangle_draw: bool,
    pub vertex_cache: bool,
    pub rasterizer: bool,
    pub texture: bool,
    pub tile_buffer_fill: bool,
    pub tile_buffer_store: bool,
    pub tile_buffer_load: bool,
    pub vpu: bool,
    /// Memory, for all units.
    pub memory: bool,
}

impl Instant {
    /// Whether what a unit asks memory for is there at once.
    pub(crate) fn has(self, unit: Unit) -> bool {
        let of_unit = match unit {
            Unit::Draw => self.triangle_draw,
            Unit::VertexCache => self.vertex_cache,
            Unit::Texture => self.texture,
            Unit::Store => self.tile_buffer_store,
            Unit::Load => self.tile_buffer_load,
            _ => false,
        };
        of_unit || self.memory
    }
}

/// The rasteriser and the triangle set-up before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Raster {
    /// Pixels of a row tested in a tick.
    pub pixels: u32,
    /// Go on with the next row after the first uncovered pixel that follows a covered one.
    pub row_skip: bool,
    /// Ticks to set up a triangle.
    pub setup: u32,
}

/// Ticks from the issue of an instruction to the thread's next, by kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "named after xenoglot_vpu::isa::Latency")]
pub struct Latencies {
    pub simple: u32,
    pub multiply: u32,
    pub dot: u32,
    pub special: u32,
    pub tile: u32,
    /// Without misses of the texture cache.
    pub texture: u32,
}

/// Memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Memory {
    /// Size, a multiple of 32 up to 64 MiB.
    pub bytes: u32,
    /// What says how long accesses take.
    pub timing: Timing,
    /// Ticks that a burst of 32 bytes has the bus: 4 of 64 bits.
    pub burst: u32,
    /// With the timer, latency of a read.
    pub read: u32,
    /// With the timer, latency of a write.
    pub write: u32,
    /// The SDRAM.
    pub sdram: Sdram,
}

/// What says how long accesses take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timing {
    /// Banks, rows, refresh, and a bus that units have in the order in which they ask, those of one tick in the order of
    /// the tick.
    #[default]
    Sdram,
    /// The original's: an access of n bursts takes its latency and, for all but the first, the ticks of a burst, whatever
    /// else happens.
    Timer,
}

/// The SDRAM, times in ticks. The defaults are those of PC100 SDRAM at 100 MHz with a CAS latency of 2, 64 bits wide: 32 MiB of
/// four chips of 64 Mbit (IBM13T4644MPE, sheet 45L7084, its serial presence detect: 4 banks, 12 row and 8 column address
/// bits, tRP, tRRD and tRCD 20 ns, tRAS 50 ns, refresh every 15.625 µs; tRC and tRFC 70 ns, tWR 15 ns in sheets of the chips,
/// such as MT48LC4M16A2-8E).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sdram {
    /// From the unit to the chips and back, through crossbar and controller. Ours.
    pub controller: u32,
    /// Banks, a power of two up to 16; rows are spread over them in turn.
    pub banks: u32,
    /// Bytes of a row of a bank: 256 columns of 64 bits.
    pub row_bytes: u32,
    /// CL: from a column command to the first data read.
    pub cas: u32,
    /// tRCD: from ACTIVE to a column command.
    pub rcd: u32,
    /// tRP: from PRECHARGE to ACTIVE.
    pub rp: u32,
    /// tRAS: from ACTIVE to PRECHARGE.
    pub ras: u32,
    /// tRC: from ACTIVE to ACTIVE of the same bank.
    pub rc: u32,
    /// tRRD: from ACTIVE to ACTIVE of another bank.
    pub rrd: u32,
    /// tWR: from the last data written to PRECHARGE.
    pub wr: u32,
    /// Between data of opposite directions.
    pub turnaround: u32,
    /// tRFC: a refresh.
    pub rfc: u32,
    /// Between refreshes; 0 for none.
    pub refresh: u32,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            clock_hz: 100_000_000,
            number: Number::default(),
            vpus: 4,
            threads: 16,
            vpu_queue: 16,
            bin_size: 32,
            fifo: 256,
            fill_pixels: 16,
            vertex_cache: 16,
            texture_cache: 64,
            tick_limit: 100_000_000,
            raster: Raster::default(),
            latency: Latencies::default(),
            memory: Memory::default(),
            instant: Instant::default(),
        }
    }
}

impl Default for Raster {
    fn default() -> Raster {
        Raster { pixels: 4, row_skip: true, setup: 8 }
    }
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies { simple: 1, multiply: 2, dot: 4, special: 8, tile: 1, texture: 8 }
    }
}

impl Default for Memory {
    fn default() -> Memory {
        let (timing, sdram) = (Timing::default(), Sdram::default());
        Memory { bytes: 8 << 20, timing, burst: 4, read: 20, write: 12, sdram }
    }
}

impl Default for Sdram {
    fn default() -> Sdram {
        Sdram {
            controller: 6,
            banks: 4,
            row_bytes: 2048,
            cas: 2,
            rcd: 2,
            rp: 2,
            ras: 5,
            rc: 7,
            rrd: 2,
            wr: 2,
            turnaround: 1,
            rfc: 7,
            refresh: 1562,
        }
    }
}

/// Why parameters are none.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ParamError {
    /// Not TOML, or not with our names and types.
    #[error("{0}")]
    Toml(String),
    /// A value that is not possible.
    #[error("{name} = {value}: it has to be {allowed}")]
    Value {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: u64,
        /// What is possible.
        allowed: String,
    },
}

impl Params {
    /// Reads and checks parameters.
    ///
    /// # Errors
    /// Unknown names, wrong types, values out of range, more than [`MAX_TOML_BYTES`].
    pub fn from_toml(text: &str) -> Result<Params, ParamError> {
        if text.len() > MAX_TOML_BYTES {
            return Err(ParamError::Toml(format!("more than {MAX_TOML_BYTES} bytes")));
        }
        checked(toml::from_str(text))
    }

    /// These parameters with assignments in TOML's syntax, such as `raster.row_skip = false`. Strings need no quotes:
    /// `number = f32`.
    ///
    /// # Errors
    /// As [`Params::from_toml`].
    pub fn with(&self, assignments: &[String]) -> Result<Params, ParamError> {
        let toml = |e: &dyn std::fmt::Display| ParamError::Toml(e.to_string());
        let mut all: toml::Table = self.to_toml().parse().map_err(|e: toml::de::Error| toml(&e))?;
        for text in assignments {
            let changes =
                text.parse().or_else(|e: toml::de::Error| unquoted(text).ok_or_else(|| toml(&e)))?;
            merge(&mut all, changes, 2);
        }
        checked(all.try_into())
    }

    /// The parameters as TOML.
    pub fn to_toml(&self) -> String {
        // Numbers, truths and strings in tables can all be written.
        toml::to_string(self).unwrap_or_default()
    }

    /// Checks every value.
    ///
    /// # Errors
    /// The first that is not possible.
    pub fn check(&self) -> Result<(), ParamError> {
        let Params { raster, latency, memory, .. } = self;
        let sdram = &memory.sdram;
        range("clock_hz", self.clock_hz, 1000..=10_000_000_000)?;
        range("tick_limit", self.tick_limit, 1..=1 << 40)?;
        let small: [(&'static str, u32, RangeInclusive<u64>); 30] = [
            ("vpus", self.vpus, 1..=8),
            ("threads", self.threads, 1..=64),
            ("vpu_queue", self.vpu_queue, 1..=256),
            ("fifo", self.fifo, 1..=65536),
            ("fill_pixels", self.fill_pixels, 1..=4096),
            ("vertex_cache", self.vertex_cache, 1..=4096),
            ("texture_cache", self.texture_cache, 1..=4096),
            ("raster.pixels", raster.pixels, 1..=16),
            ("raster.setup", raster.setup, 1..=1000),
            ("latency.simple", latency.simple, 1..=1000),
            ("latency.multiply", latency.multiply, 1..=1000),
            ("latency.dot", latency.dot, 1..=1000),
            ("latency.special", latency.special, 1..=1000),
            ("latency.tile", latency.tile, 1..=1000),
            ("latency.texture", latency.texture, 1..=1000),
            ("memory.bytes", memory.bytes, 32..=64 << 20),
            ("memory.read", memory.read, 1..=10_000),
            ("memory.write", memory.write, 1..=10_000),
            ("memory.burst", memory.burst, 1..=1000),
            ("memory.sdram.controller", sdram.controller, 0..=1000),
            ("memory.sdram.cas", sdram.cas, 1..=1000),
            ("memory.sdram.rcd", sdram.rcd, 1..=1000),
            ("memory.sdram.rp", sdram.rp, 1..=1000),
            ("memory.sdram.ras", sdram.ras, 1..=1000),
            ("memory.sdram.rc", sdram.rc, 1..=1000),
            ("memory.sdram.rrd", sdram.rrd, 1..=1000),
            ("memory.sdram.wr", sdram.wr, 0..=1000),
            ("memory.sdram.turnaround", sdram.turnaround, 0..=1000),
            ("memory.sdram.rfc", sdram.rfc, 1..=1000),
            ("memory.sdram.refresh", sdram.refresh, 0..=1 << 24),
        ];
        for (name, value, allowed) in small {
            range(name, value.into(), allowed)?;
        }
        let power = |name, value: u32, allowed: RangeInclusive<u64>| {
            let is = value.is_power_of_two() && allowed.contains(&value.into());
            let allowed = format!("a power of two from {} to {}", allowed.start(), allowed.end());
            if is { Ok(()) } else { Err(ParamError::Value { name, value: value.into(), allowed }) }
        };
        power("bin_size", self.bin_size, 8..=MAX_BIN_SIZE.into())?;
        power("memory.sdram.banks", sdram.banks, 1..=16)?;
        power("memory.sdram.row_bytes", sdram.row_bytes, 32..=1 << 20)?;
        if memory.bytes % 32 != 0 {
            let allowed = "a multiple of 32".into();
            return Err(ParamError::Value { name: "memory.bytes", value: memory.bytes.into(), allowed });
        }
        Ok(())
    }
}

/// Parameters that were read, if they are possible.
fn checked(read: Result<Params, toml::de::Error>) -> Result<Params, ParamError> {
    let params = read.map_err(|e| ParamError::Toml(e.to_string()))?;
    params.check()?;
    Ok(params)
}

/// An assignment whose value is a string without its quotes.
fn unquoted(text: &str) -> Option<toml::Table> {
    let (name, value) = text.split_once('=')?;
    let value = toml::Value::String(value.trim().into());
    format!("{name} = {value}").parse().ok()
}

/// Takes over `changes`, tables part by part down to `depth`; what is deeper replaces.
fn merge(table: &mut toml::Table, changes: toml::Table, depth: u32) {
    for (key, value) in changes {
        match value {
            toml::Value::Table(new) if depth > 0 => {
                match table.entry(key).or_insert_with(|| toml::Table::new().into()) {
                    toml::Value::Table(old) => merge(old, new, depth - 1),
                    other => *other = new.into(),
                }
            }
            value => {
                table.insert(key, value);
            }
        }
    }
}

fn range(name: &'static str, value: u64, allowed: RangeInclusive<u64>) -> Result<(), ParamError> {
    if allowed.contains(&value) {
        return Ok(());
    }
    let allowed = format!("from {} to {}", allowed.start(), allowed.end());
    Err(ParamError::Value { name, value, allowed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_come_back_from_toml() {
        let params = Params { number: Number::Float, vpus: 2, ..Params::default() };
        assert_eq!(Params::from_toml(&params.to_toml()), Ok(params));
        assert_eq!(Params::from_toml(""), Ok(Params::default()));
    }

    #[test]
    fn what_is_wrong_has_a_name() {
        let error = |text| Params::from_toml(text).unwrap_err().to_string();
        assert_eq!(error("vpus = 9"), "vpus = 9: it has to be from 1 to 8");
        assert_eq!(error("bin_size = 24"), "bin_size = 24: it has to be a power of two from 8 to 64");
        let rows = Params::default().with(&["memory.sdram.banks = 8".into(), "raster.pixels = 2".into()]);
        let rows = rows.unwrap();
        assert_eq!((rows.memory.timing, rows.memory.sdram.banks, rows.raster.pixels), (Timing::Sdram, 8, 2));
        assert!(error("vpu = 2").contains("unknown field"));
        let set = |text: &str| Params::default().with(&[text.to_owned()]).map_err(|e| e.to_string());
        assert_eq!(set("number = f32").map(|p| p.number), Ok(Number::Float));
        assert_eq!(set("vpus = 0").unwrap_err(), "vpus = 0: it has to be from 1 to 8");
        let wrong = set("vpus = many").unwrap_err();
        assert!(wrong.contains("expected u32") && wrong.contains("vpus"), "{wrong}");
        assert!(set("vpus").unwrap_err().contains("vpus"));
        assert!(error("number = \"f16\"").contains("no number type"));
    }
}
