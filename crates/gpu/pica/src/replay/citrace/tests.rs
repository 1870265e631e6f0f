use super::*;
use crate::raster::Renderer;
use crate::replay::{CommandList, Limits, Player};
use proptest::prelude::*;

/// A recording in the making.
#[derive(Default)]
struct Writer {
    parts: [Vec<u32>; 10],
    data: Vec<u8>,
    /// Elements; what a memory load has for its place is relative to the data.
    stream: Vec<[u32; 5]>,
    /// Register writes have a width.
    widths: bool,
}

impl Writer {
    fn register(&mut self, address: u32, value: u32) {
        let rest = if self.widths { [0xd3, value] } else { [value, 0] };
        self.stream.push([REGISTER, address, rest[0], rest[1], 0]);
    }

    fn memory(&mut self, address: u32, bytes: &[u8]) {
        self.stream.push([MEMORY, self.data.len() as u32, bytes.len() as u32, address, 0]);
        self.data.extend_from_slice(bytes);
    }

    fn finish(&self) -> Vec<u8> {
        let mut header = vec![u32::from_le_bytes(MAGIC), VERSION, HEADER as u32];
        let mut at = HEADER as u32;
        for part in &self.parts {
            header.extend([at, part.len() as u32]);
            at += 4 * part.len() as u32;
        }
        let data = at;
        header.extend([data + self.data.len() as u32, self.stream.len() as u32]);
        let mut words = header;
        words.extend(self.parts.iter().flatten());
        let mut file: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        file.extend_from_slice(&self.data);
        for element in &self.stream {
            let mut element = *element;
            if element[0] == MEMORY {
                element[1] += data;
            }
            file.extend(element.iter().flat_map(|w| w.to_le_bytes()));
        }
        file
    }
}

const GPU: u32 = WINDOWS[0];

fn read(writer: &Writer) -> Imported {
    import(&writer.finish(), Info::default(), &ImportLimits::default()).unwrap()
}

fn operations(imported: &Imported) -> Vec<Operation<'_>> {
    imported.capture.ops.iter().map(|op| Operation::decode(&op).unwrap()).collect()
}

/// A fill, a transfer and a frame of the upper screen, with memory and a command list.
fn recording(widths: bool) -> Writer {
    let mut w = Writer { widths, ..Writer::default() };
    // 8 × 8 pixels of green, from VRAM to a screen behind them.
    for (offset, value) in [(0x10, VRAM / 8), (0x14, (VRAM + 256) / 8), (0x18, 0x00ff_00ff), (0x1c, 0x201)] {
        w.register(GPU + offset, value);
    }
    let (size, flags) = (8 << 16 | 8, 0);
    for (offset, value) in [
        (0xc00, VRAM / 8),
        (0xc04, (VRAM + 256) / 8),
        (0xc08, size),
        (0xc0c, size),
        (0xc10, flags),
        (0xc18, 1),
    ] {
        w.register(GPU + offset, value);
    }
    let mut list = CommandList::new();
    list.write(INTERRUPT_COMPARE, 1);
    let bytes = list.to_bytes();
    w.memory(FCRAM, &bytes);
    for (register, value) in [(LIST_SIZE, bytes.len() as u32 / 8), (LIST_ADDRESS, FCRAM / 8), (LIST_JUMP, 1)]
    {
        w.register(GPU + 0x1000 + 4 * register, value);
    }
    for (offset, value) in [(0x45c, size), (0x468, VRAM + 256), (0x470, 0), (0x478, 0)] {
        w.register(GPU + offset, value);
    }
    w.register(0x1020_2204, 7); // a colour of the screens
    w.stream.push([FRAME, 0, 0, 0, 0]);
    w
}

#[test]
fn a_recording_plays() {
    for widths in [false, true] {
        let imported = read(&recording(widths));
        assert_eq!((imported.frames, imported.ignored), (1, 1));
        let mut player = Player::new(&imported.capture, Renderer::default(), Limits::default()).unwrap();
        let image = player.next_frame().unwrap().unwrap();
        assert_eq!((image.width, image.height), (8, 8));
        assert!(image.rgba.chunks(4).all(|p| p == [0, 255, 0, 255]), "{:?}", &image.rgba[..8]);
        assert!(player.next_frame().is_none());
        assert_eq!(player.gpu().registers().get(INTERRUPT_COMPARE), 1);
    }
}

#[test]
fn what_was_uploaded_before_is_uploaded() {
    let mut w = Writer::default();
    let mut window = vec![0; OTHERS + COUNT];
    window[OTHERS + VERTEX_BOOLS as usize] = 5;
    window[OTHERS + GEOMETRY_EXCLUSIVE as usize] = 1;
    window[OTHERS + VERTEX_CODE_PORT as usize] = 77;
    w.parts[Part::Registers as usize] = window;
    w.parts[Part::VertexCode as usize] = vec![0x1234, 0x8800_0000, 0, 0];
    w.parts[Part::VertexDescriptors as usize] = vec![0x36f];
    w.parts[Part::VertexUniforms as usize] = (1..=8).collect();
    w.parts[Part::FixedAttributes as usize] = vec![1, 2, 3, 4];
    let imported = read(&w);
    assert!(imported.capture.registers.contains(&(VERTEX_CODE_PORT, 77)));
    let writes: Vec<(u32, u32)> = operations(&imported)
        .into_iter()
        .filter_map(|op| match op {
            Operation::Register { register, value, .. } => Some((register, value)),
            _ => None,
        })
        .collect();
    let to = |port: u32| {
        writes.iter().filter(move |w| w.0 == port || w.0 == port + 1).copied().collect::<Vec<_>>()
    };
    let (code, data) = (VERTEX_CODE_PORT, VERTEX_CODE_DATA);
    assert_eq!(to(code), [(code, 0), (data, 0x1234), (data, 0x8800_0000), (data, 0), (code, 77)]);
    let [a, b, c] = packed(5, 6, 7, 8);
    assert!(to(VERTEX_UNIFORM_PORT).windows(3).any(|w| w.iter().map(|w| w.1).eq([a, b, c])));
    assert_eq!(
        crate::shader::unpack24([a, b, c]),
        [5, 6, 7, 8].map(|v| { xenoglot_pica_shader::float::F24.to_single_bits(v) })
    );
    assert!(writes.contains(&(VERTEX_BOOLS, 5)));
    assert_eq!(writes.iter().filter(|w| w.0 == FIXED_ATTRIBUTE).count(), 2);
}

#[test]
fn damage_has_names() {
    let whole = recording(false).finish();
    let read = |file: &[u8]| import(file, Info::default(), &ImportLimits::default());
    assert_eq!(read(b"XGC"), Err(ImportError::Magic));
    assert!(matches!(read(&whole[..50]), Err(ImportError::Truncated { what: "header", .. })));
    assert!(matches!(read(&whole[..whole.len() - 1]), Err(ImportError::Truncated { what: "stream", .. })));
    let mut newer = whole.clone();
    newer[4] = 2;
    assert_eq!(read(&newer), Err(ImportError::Version(2)));

    let mut w = Writer::default();
    w.memory(0x100, &[1]);
    let unmapped = read(&w.finish());
    assert!(matches!(unmapped, Err(ImportError::Unmapped { address: 0x100, bytes: 1, .. })), "{unmapped:?}");
    let mut w = Writer::default();
    w.stream.push([0x55, 0, 0, 0, 0]);
    assert!(matches!(read(&w.finish()), Err(ImportError::Kind { kind: 0x55, .. })));
    let mut w = Writer::default();
    w.memory(FCRAM, &[0; 64]);
    let again = w.stream[0];
    w.stream.resize(1000, again);
    let limits = ImportLimits { bytes: 10_000, ..ImportLimits::default() };
    let refused = import(&w.finish(), Info::default(), &limits);
    assert!(matches!(refused, Err(ImportError::Limit { limit: 10_000, .. })), "{refused:?}");
}

fn element() -> impl Strategy<Value = [u32; 5]> {
    let window = prop_oneof![Just(GPU), Just(WINDOWS[1]), any::<u32>()];
    let offset = prop_oneof![0u32..0x2000, Just(0x1c), Just(0x2c), Just(0xc18), Just(0x1000 + 4 * LIST_JUMP)];
    let register = (window, offset, any::<u32>(), any::<u32>())
        .prop_map(|(window, offset, a, b)| [REGISTER, window.wrapping_add(offset), a, b, 0]);
    let memory = (0u32..64, 0u32..64, prop_oneof![Just(FCRAM), Just(VRAM), any::<u32>()])
        .prop_map(|(from, bytes, address)| [MEMORY, from, bytes, address, 0]);
    prop_oneof![4 => register, 2 => memory, 1 => Just([FRAME, 0, 0, 0, 0])]
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    /// What is read has as many frames as it says, and the container takes it.
    #[test]
    fn recordings_are_read_or_refused(
        parts in proptest::collection::vec(proptest::collection::vec(any::<u32>(), 0..20), 10),
        stream in proptest::collection::vec(element(), 0..40),
        widths: bool,
        damage in proptest::collection::vec((any::<u16>(), any::<u8>()), 0..4),
    ) {
        let parts = parts.try_into().unwrap();
        let mut file = Writer { parts, data: vec![7; 100], stream, widths }.finish();
        for (at, value) in damage {
            let len = file.len();
            file[usize::from(at) % len] = value;
        }
        if let Ok(imported) = import(&file, Info::default(), &ImportLimits::default()) {
            let frames = imported.capture.ops.iter().filter(|op| op.kind == xenoglot_capture::FRAME_END);
            prop_assert_eq!(frames.count() as u64, imported.frames);
            prop_assert!(imported.capture.ops.iter().all(|op| Operation::decode(&op).is_ok()));
            let back = Capture::from_bytes(&imported.capture.to_bytes(), &xenoglot_capture::Limits::default());
            prop_assert!(back.is_ok_and(|back| back == imported.capture));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(mut file: Vec<u8>, magic: bool) {
        if magic {
            file.splice(0..0, MAGIC);
        }
        let _ = import(&file, Info::default(), &ImportLimits::default());
    }
}
