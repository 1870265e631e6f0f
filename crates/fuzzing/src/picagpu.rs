//! The PICA200 GPU up to the clipper, and its transfers.

use crate::bytes::Bytes;
use std::sync::OnceLock;
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::memory::{FCRAM, Memory, Regions, VRAM};
use xenoglot_pica::regs::{DRAW_ARRAYS, TABLE, VERTEX_CODE_DATA};
use xenoglot_pica::renderer::{NullRenderer, Recorder};
use xenoglot_pica::report::Limits;
use xenoglot_pica::state;
use xenoglot_pica::transfer::{DisplayTransfer, Fill, TextureCopy};
use xenoglot_pica_shader::decode::decode;
use xenoglot_testgen::rng::Rng;

const MEMORY: u32 = 1 << 14;
const LIMITS: Limits =
    Limits { writes: 4096, draws: 8, vertices: 256, instructions: 8 << 20, pixels: 1 << 16 };

/// A register with a name, and sometimes one without.
pub fn register(bytes: &mut Bytes) -> u32 {
    let (row, place) = (usize::from(bytes.u8()), u32::from(bytes.u8()));
    TABLE.get(row).map_or(row as u32 * 4, |row| row.first + place % (row.count * row.stride))
}

/// A value: small, an address or anything.
pub fn value(bytes: &mut Bytes) -> u32 {
    match bytes.u8() {
        255 => bytes.u32(),
        254 => FCRAM / 8 + u32::from(bytes.u8()) * 2,
        253 => VRAM / 8 + u32::from(bytes.u8()) * 2,
        252 => 1 << (bytes.u8() & 31),
        small => small.into(),
    }
}

/// A list of entries that decode.
fn list(bytes: &mut Bytes) -> Vec<u8> {
    let mut words = Vec::new();
    while !bytes.is_empty() && words.len() < MEMORY as usize / 8 {
        let (register, shape) = (register(bytes), u32::from(bytes.u8()));
        let extra = shape & 7;
        // Mostly all bytes of the register.
        let mask = if shape & 0x40 != 0 { u32::from(bytes.u8()) & 15 } else { 15 };
        words.push(value(bytes));
        words.push(register | mask << 16 | extra << 20 | (shape >> 7) << 31);
        for _ in 0..extra.next_multiple_of(2) {
            let word = value(bytes);
            let is_code = register == VERTEX_CODE_DATA && decode(0, word).is_err();
            words.push(if is_code { 0x22 << 26 } else { word });
        }
    }
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Lists of any entries run within their limits, report what is wrong with them, and run the same again.
pub fn picagpu(data: &[u8]) {
    let run = || {
        let mut bytes = Bytes::new(data);
        let mut memory = Regions::new();
        memory.add(VRAM, (0..MEMORY).map(|i| i as u8).collect());
        memory.add(FCRAM, vec![0; MEMORY as usize]);
        let mut gpu = Gpu::new(Recorder { inner: NullRenderer, triangles: Vec::new() });
        gpu.set_limits(LIMITS);
        let words: [u32; 6] = std::array::from_fn(|_| value(&mut bytes).wrapping_mul(8));
        let list = list(&mut bytes);
        let len = list.len() as u32;
        if let Some(place) = memory.bytes_mut(FCRAM, len) {
            place.copy_from_slice(&list);
        }
        gpu.run_command_list(&mut memory, FCRAM, len);
        gpu.write_register(&mut memory, DRAW_ARRAYS, 1);
        let [a, b, c, d, e, f] = words;
        gpu.fill(&mut memory, &Fill { start: a, end: b, value: c, control: d });
        let transfer = DisplayTransfer { src: a, dst: b, out_size: c, in_size: d, flags: e };
        gpu.display_transfer(&mut memory, &transfer);
        let copy = TextureCopy { src: a, dst: b, bytes: c, in_line: e, out_line: f, flags: d };
        gpu.texture_copy(&mut memory, &copy);
        let report = gpu.take_report();
        assert!(report.writes <= 2 * LIMITS.writes && report.draws <= 2 * LIMITS.draws);
        let words = |v: &xenoglot_pica::vertex::Vertex| v.values.map(f32::to_bits);
        let triangles: Vec<_> = gpu.renderer().triangles.iter().map(|t| t.each_ref().map(words)).collect();
        (triangles, gpu.registers().clone(), memory.tail(VRAM).map(<[u8]>::to_vec))
    };
    assert!(run() == run(), "two runs differ");
}

/// Bytes of a state before what its checksum is of.
const STATE_HEAD: usize = 12;

/// A state in which something is begun everywhere: what [`pica_state`] changes.
fn begun() -> &'static [u8] {
    static STATE: OnceLock<Vec<u8>> = OnceLock::new();
    STATE.get_or_init(|| {
        let mut memory = Regions::new();
        let mut gpu = Gpu::new(NullRenderer);
        gpu.set_limits(LIMITS);
        let mut rng = Rng::new(1);
        for row in TABLE {
            for register in (row.first..).take((row.count * row.stride) as usize) {
                gpu.write_register(&mut memory, register, rng.next_u32());
            }
        }
        gpu.save_state(&mut memory)
    })
}

/// States with changes that their checksum does not show are refused or go on, through draws, and are written and read back
/// to the same.
pub fn pica_state(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let mut state = begun().to_vec();
    for _ in 0..bytes.u8() {
        let at = STATE_HEAD + bytes.u32() as usize % (state.len() - STATE_HEAD);
        if let Some(byte) = state.get_mut(at) {
            *byte = bytes.u8();
        }
    }
    let checksum = crc32fast::hash(&state[STATE_HEAD..]);
    state[8..STATE_HEAD].copy_from_slice(&checksum.to_le_bytes());
    assert!(state.starts_with(&state::MAGIC));
    let mut memory = Regions::new();
    memory.add(VRAM, vec![0; MEMORY as usize]);
    memory.add(FCRAM, (0..MEMORY).map(|i| i as u8).collect());
    let mut gpu = Gpu::new(NullRenderer);
    gpu.set_limits(LIMITS);
    if gpu.load_state(&state).is_err() {
        return;
    }
    let again = gpu.save_state(&mut memory);
    gpu.load_state(&again).expect("its own state");
    assert!(gpu.save_state(&mut memory) == again, "a state is read to another");
    gpu.write_register(&mut memory, DRAW_ARRAYS, 1);
    let list = list(&mut bytes);
    let len = list.len() as u32;
    if let Some(place) = memory.bytes_mut(FCRAM, len) {
        place.copy_from_slice(&list);
    }
    gpu.run_command_list(&mut memory, FCRAM, len);
}

/// Changes of a state to start from: none, and some anywhere, with lists behind them.
pub fn state_changes() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(2);
    (0..16u8).map(|n| std::iter::once(n).chain((0..200).map(|_| rng.next_u32() as u8)).collect()).collect()
}
