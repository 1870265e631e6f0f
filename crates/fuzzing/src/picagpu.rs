//! The PICA200 GPU up to the clipper, and its transfers.

use crate::bytes::Bytes;
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::memory::{FCRAM, Memory, Regions, VRAM};
use xenoglot_pica::regs::{DRAW_ARRAYS, TABLE, VERTEX_CODE_DATA};
use xenoglot_pica::renderer::{NullRenderer, Recorder};
use xenoglot_pica::report::Limits;
use xenoglot_pica::transfer::{DisplayTransfer, Fill, TextureCopy};
use xenoglot_pica_shader::decode::decode;

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
