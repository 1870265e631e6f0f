//! All that an emulator connects: memory with marked pages, the GPU's external registers, interrupts, screens, save states.
//!
//! `cargo run -p xenoglot-pica --example video_core` draws two frames on the processor; with `--features host` they stay on
//! the host's GPU until somebody looks. `docs/embedding-pica.md` goes through it.

use std::collections::HashMap;
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::lcd::{Eye, Image, Lcd, Picture, Screen};
use xenoglot_pica::memory::{FCRAM, Mark, Memory, PAGE, Regions, VRAM};
use xenoglot_pica::regs::*;
use xenoglot_pica::renderer::Renderer;
use xenoglot_pica::state::StateError;
use xenoglot_pica::transfer::{DisplayTransfer, Fill, TextureCopy};

/// Interrupts of the GPU, as the guest's kernel numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interrupt {
    MemoryFill(u32),
    Transfer,
    CommandList,
}

/// Guest memory. An emulator has it already; here it is two regions and a mark for each page, which would be protection in a
/// page table.
struct Bus {
    regions: Regions,
    marks: HashMap<u32, Mark>,
}

impl Bus {
    /// The strongest mark of the pages of a range.
    fn mark_of(&self, address: u32, len: u32) -> Option<Mark> {
        let last = address.saturating_add(len.saturating_sub(1)) / PAGE;
        let marks = (address / PAGE..=last).filter_map(|page| self.marks.get(&page).copied());
        marks.max_by_key(|&mark| mark == Mark::Dirty)
    }
}

impl Memory for Bus {
    fn tail(&self, address: u32) -> Option<&[u8]> {
        self.regions.tail(address)
    }

    fn tail_mut(&mut self, address: u32) -> Option<&mut [u8]> {
        self.regions.tail_mut(address)
    }

    // The processor's accesses below keep the promise.
    fn is_tracked(&self) -> bool {
        true
    }

    fn mark(&mut self, address: u32, len: u32, mark: Mark) {
        let (first, last) =
            (address / PAGE, (u64::from(address) + u64::from(len)).div_ceil(PAGE.into()) as u32);
        self.marks.extend((first..last).map(|page| (page, mark)));
    }
}

/// What takes the place of an emulator's `video_core`.
struct VideoCore<R> {
    bus: Bus,
    gpu: Gpu<R>,
    lcd: Lcd,
    /// External registers that wait for their trigger, by word from 0x10400000 on.
    external: Box<[u32; 0x1000]>,
    /// Interrupts, and after how many cycles of the GPU the guest is to see them.
    interrupts: Vec<(Interrupt, u64)>,
}

const EXTERNAL: u32 = 0x1040_0000;

impl<R: Renderer> VideoCore<R> {
    fn new(renderer: R) -> VideoCore<R> {
        let bus = Bus { regions: Regions::console(16 << 20), marks: HashMap::new() };
        // `Gpu::with_engines` takes faster shader engines; the interpreter is always there.
        let gpu = Gpu::new(renderer);
        VideoCore { bus, gpu, lcd: Lcd::default(), external: Box::new([0; 0x1000]), interrupts: Vec::new() }
    }

    /// The guest's processor reads memory. Pages without a mark are its own.
    fn read(&mut self, address: u32, len: u32) -> &[u8] {
        if self.bus.mark_of(address, len) == Some(Mark::Dirty) {
            self.gpu.flush_region(&mut self.bus, address, len);
        }
        self.bus.bytes(address, len).unwrap_or_default()
    }

    /// The guest's processor writes memory.
    fn write(&mut self, address: u32, bytes: &[u8]) {
        let len = bytes.len() as u32;
        let mark = self.bus.mark_of(address, len);
        if mark == Some(Mark::Dirty) {
            // Some of the page is newer in a copy: it must not get lost.
            self.gpu.flush_region(&mut self.bus, address, len);
        }
        if let Some(place) = self.bus.bytes_mut(address, len) {
            place.copy_from_slice(bytes);
        }
        if mark.is_some() {
            self.gpu.invalidate_region(address, len);
        }
    }

    fn register(&self, offset: u32) -> u32 {
        self.external.get(offset as usize / 4).copied().unwrap_or(0)
    }

    /// The guest's kernel writes an external register. Addresses are those of 3dbrew, GPU/External Registers.
    fn write_register(&mut self, address: u32, value: u32) {
        if self.lcd.write(address, value) {
            return;
        }
        let offset = address.wrapping_sub(EXTERNAL);
        if let Some(place) = self.external.get_mut(offset as usize / 4) {
            *place = value;
        }
        let eight = |offset| self.register(offset) << 3;
        match offset {
            // Memory fills 0 and 1: start, end, value, control.
            0x1c | 0x2c if value & 1 != 0 => {
                let first = offset - 0xc;
                let [start, end] = [eight(first), eight(first + 4)];
                let fill = Fill { start, end, value: self.register(first + 8), control: value };
                let cycles = self.gpu.fill(&mut self.bus, &fill);
                self.interrupts.push((Interrupt::MemoryFill(first / 0x10 - 1), cycles));
            }
            0xc18 if value & 1 != 0 => {
                let [src, dst] = [eight(0xc00), eight(0xc04)];
                let [out_size, in_size, flags] = [0xc08, 0xc0c, 0xc10].map(|at| self.register(at));
                let cycles = if flags & 8 != 0 {
                    let [bytes, in_line, out_line] = [0xc20, 0xc24, 0xc28].map(|at| self.register(at));
                    let copy = TextureCopy { src, dst, bytes, in_line, out_line, flags };
                    self.gpu.texture_copy(&mut self.bus, &copy)
                } else {
                    let transfer = DisplayTransfer { src, dst, out_size, in_size, flags };
                    self.gpu.display_transfer(&mut self.bus, &transfer)
                };
                self.interrupts.push((Interrupt::Transfer, cycles));
            }
            0x18f0 if value & 1 != 0 => {
                let (address, bytes) = (eight(0x18e8), eight(0x18e0));
                let before = self.gpu.interrupts();
                // `Gpu::set_observer` tells when within the list, for lists that go on after it.
                let cycles = self.gpu.run_command_list(&mut self.bus, address, bytes);
                if self.gpu.interrupts() != before {
                    self.interrupts.push((Interrupt::CommandList, cycles));
                }
            }
            // Registers from 0x10401000 on are the GPU's own.
            0x1000..0x1c00 => {
                self.gpu.write_register(&mut self.bus, (offset - 0x1000) / 4, value);
            }
            _ => {}
        }
    }

    /// A screen's picture, in bytes.
    fn screen(&mut self, screen: Screen, eye: Eye) -> Image {
        let size = if screen == Screen::Top { (400, 240) } else { (320, 240) };
        match self.lcd.picture(screen, eye) {
            Picture::Off => Image::filled([0; 3], size.0, size.1),
            Picture::Color(color) => Image::filled(color, size.0, size.1),
            Picture::Frame(frame) => {
                self.gpu.show(&mut self.bus, &frame).unwrap_or_else(|_| Image::filled([0; 3], size.0, size.1))
            }
        }
    }

    /// Everything of the GPU and its memory. The screens' registers are the embedder's to keep, as are its own.
    fn save(&mut self) -> (Vec<u8>, Regions) {
        // The state first: it brings what was drawn to memory.
        (self.gpu.save_state(&mut self.bus), self.bus.regions.clone())
    }

    fn load(&mut self, (state, memory): (Vec<u8>, Regions)) -> Result<(), StateError> {
        self.gpu.load_state(&state)?;
        self.bus = Bus { regions: memory, marks: HashMap::new() };
        Ok(())
    }
}

const SIDE: u32 = 16;
const VERTICES: u32 = FCRAM + 0x1000;
const FRAME: u32 = FCRAM + 0x2000;
/// 8 as float24: half of the viewport.
const HALF: u32 = 66 << 16;

/// A triangle of one colour; `mov o0, v0; end` shades its vertices.
#[rustfmt::skip]
const LIST: &[(u32, u32)] = &[
    (VIEWPORT_HALF_WIDTH, HALF), (VIEWPORT_HALF_HEIGHT, HALF),
    (COLOR_ADDRESS, VRAM / 8), (FRAMEBUFFER_SIZE, SIDE | (SIDE - 1) << 12),
    (COLOR_WRITE, 0xf), (DEPTH_TEST, 0xf << 8), (FRAGMENT_MODE, 1 << 8), (BLENDING, 0x0101_0000),
    (COMBINER0, 0x000e_000e), (COMBINER0 + 3, 0xff40_a0ff), (COMBINER1, 0x000f_000f),
    (COMBINER2, 0x000f_000f), (COMBINER3, 0x000f_000f), (COMBINER4, 0x000f_000f), (COMBINER5, 0x000f_000f),
    (LIGHTING_DISABLE, 1),
    (VERTEX_CODE_PORT, 0), (VERTEX_CODE_DATA, 0x4c00_0000), (VERTEX_CODE_DATA, 0x8800_0000),
    (VERTEX_DESCRIPTOR_PORT, 0), (VERTEX_DESCRIPTOR_DATA, 0x0000_036f),
    (VERTEX_OUTPUT_MASK, 1), (OUTPUT_COUNT, 1), (OUTPUT_MAP, 0x0302_0100), (VERTEX_PERMUTATION, 0x7654_3210),
    (ATTRIBUTE_BASE, VERTICES / 8), (ATTRIBUTE_FORMATS, 0b1011), (LOADER + 2, 12 << 16 | 1 << 28),
    (VERTEX_COUNT, 3), (DRAW_ARRAYS, 1),
    (INTERRUPT_COMPARE, 0x1234_5678), (INTERRUPT_REQUEST, 0x1234_5678),
];

/// A frame, as the guest's kernel asks for it.
fn frame<R: Renderer>(core: &mut VideoCore<R>, top: f32) {
    let corners = [[-1.0f32, -1.0, -0.5], [1.0, -1.0, -0.5], [0.0, top, -0.5]];
    core.write(VERTICES, &corners.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    let words = LIST.iter().flat_map(|&(register, value)| [value, register | 0xf << 16]);
    let list: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    core.write(FCRAM, &list);
    let size = SIDE | SIDE << 16;
    for (offset, value) in [
        // The colour buffer in one colour, 32 bits at a time.
        (0x10, VRAM / 8),
        (0x14, (VRAM + SIDE * SIDE * 4) / 8),
        (0x18, 0x2020_40ff),
        (0x1c, 1 << 9 | 1),
        // The command list.
        (0x18e0, list.len() as u32 / 8),
        (0x18e8, FCRAM / 8),
        (0x18f0, 1),
        // From tiles to rows.
        (0xc00, VRAM / 8),
        (0xc04, FRAME / 8),
        (0xc08, size),
        (0xc0c, size),
        (0xc10, 0),
        (0xc18, 1),
        // The bottom screen shows it.
        (0x55c, size),
        (0x568, FRAME),
        (0x570, 0),
        (0x590, SIDE * 4),
    ] {
        core.write_register(EXTERNAL + offset, value);
    }
}

/// A renderer on the host's GPU, if there is one.
#[cfg(feature = "host")]
fn on_host() -> Option<xenoglot_pica::host::HostRenderer> {
    use xenoglot_pica::host::{HostRenderer, Programs};
    use xenoglot_pica::xenoglot_host::{Compilation, Device, DeviceOptions};
    let device = Device::open(&DeviceOptions::from_env()).ok()?;
    // An emulator compiles in the background: draws are the processor's until their programs are ready.
    HostRenderer::new(Programs::new(&device, Compilation::Blocking).into()).ok()
}

fn main() -> Result<(), StateError> {
    #[cfg(feature = "host")]
    if let Some(renderer) = on_host() {
        return run(VideoCore::new(renderer));
    }
    run(VideoCore::new(xenoglot_pica::raster::Renderer::new()))
}

fn run<R: Renderer>(mut core: VideoCore<R>) -> Result<(), StateError> {
    frame(&mut core, 1.0);
    let saved = core.save();
    frame(&mut core, 0.0);
    let second = core.screen(Screen::Bottom, Eye::Left);
    // Back to the first frame, and the second one again.
    core.load(saved)?;
    frame(&mut core, 0.0);
    assert_eq!(core.screen(Screen::Bottom, Eye::Left), second);

    let report = core.gpu.take_report();
    println!("{:?}", core.interrupts);
    println!("{} triangles, {:?}, {:?}", report.triangles, report.traffic, report.messages);
    println!("the first pixel is {:02x?}", core.read(FRAME, 4));
    for row in second.rgba.chunks(4 * SIDE as usize) {
        println!("{}", row.chunks(4).map(|p| if p[0] == 0xff { '#' } else { '.' }).collect::<String>());
    }
    Ok(())
}
