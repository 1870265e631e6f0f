//! Custom textures: dumps and replacements.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use xenoglot_host::{Compilation, Device, DeviceOptions};
use xenoglot_pica::host::{GuestTexture, HostRenderer, Programs, Replacement};
use xenoglot_pica::memory::FCRAM;
use xenoglot_pica::regs::*;
use xenoglot_pica::renderer::{Draw, OutOfPixels, Renderer};
use xenoglot_pica::replay::{Image, Limits, Player};
use xenoglot_pica::texture::tiling::pixel_index;
use xenoglot_pica::texture::{Format, Texture, TileCache};
use xenoglot_pica_scenes::{Params, Scene};
use xenoglot_testgen::skip::skip;

type Custom = fn(&GuestTexture<'_>) -> Option<Replacement>;

/// The second frame of a scene of three textures.
fn second_frame(renderer: impl Renderer) -> Image {
    let capture = Scene::find("multitexture").unwrap().build(Params { frames: Some(2), count: None });
    let mut player = Player::new(&capture, renderer, Limits::default()).unwrap();
    player.next_frame().unwrap().unwrap();
    player.next_frame().unwrap().unwrap()
}

/// That frame, and the names of textures that were handed out.
fn frame(programs: &Arc<Programs>, custom: Custom) -> (Image, Vec<String>) {
    let mut renderer = HostRenderer::new(Arc::clone(programs)).unwrap();
    let (send, names): (Sender<String>, _) = channel();
    renderer.set_custom_textures(Some(Box::new(move |texture| {
        send.send(texture.name()).unwrap();
        custom(texture)
    })));
    let image = second_frame(renderer);
    (image, names.try_iter().collect())
}

/// Draws as if the guest's own textures had `scale` times the texels along each axis: RGBA8 textures of that size lie in
/// guest memory, and the registers name them.
struct Enlarged {
    inner: HostRenderer,
    scale: u32,
    known: HashMap<Texture, u32>,
    next: u32,
}

impl Enlarged {
    fn new(inner: HostRenderer, scale: u32) -> Enlarged {
        // Behind all that the scene has in memory.
        Enlarged { inner, scale, known: HashMap::new(), next: FCRAM + (96 << 20) }
    }

    /// Puts the larger texture into guest memory; its address.
    fn enlarge(&mut self, draw: &mut Draw<'_>, texture: Texture) -> u32 {
        let (address, scale) = (self.next, self.scale);
        let (width, height) = (texture.width * scale, texture.height * scale);
        let bytes = width * height * 4;
        self.next += bytes;
        let mut tiles = TileCache::default();
        tiles.start(texture.tiles());
        let mut texel = |x: u32, y: u32| {
            let tile = y / 8 * texture.tiles_per_row() + x / 8;
            tiles.tile(draw.memory, &texture, 0, tile)[(y % 8 * 8 + x % 8) as usize]
        };
        let mut words = vec![0u32; (width * height) as usize];
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            // Bytes are a, b, g, r.
            words[pixel_index(x, y, width / 8) as usize] = texel(x / scale, y / scale).swap_bytes();
        }
        let place = draw.memory.bytes_mut(address, bytes).unwrap();
        place.copy_from_slice(words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>().as_slice());
        address
    }
}

impl Renderer for Enlarged {
    fn draw(&mut self, mut draw: Draw<'_>) -> Result<(), OutOfPixels> {
        let mut regs = draw.regs.clone();
        let units = [(TEXTURE0, TEXTURE0_FORMAT), (TEXTURE1, TEXTURE1_FORMAT), (TEXTURE2, TEXTURE2_FORMAT)];
        for (first, format) in units {
            let (height, width) = (regs.get(first + 1) & 0x7ff, regs.get(first + 1) >> 16 & 0x7ff);
            let address = regs.get(first + 4) * 8;
            let Some(kind) = Format::from_number(regs.get(format) & 15).filter(|_| address != 0) else {
                continue;
            };
            let texture = Texture { address, width, height, format: kind };
            let larger = match self.known.get(&texture) {
                Some(&address) => address,
                None => {
                    let address = self.enlarge(&mut draw, texture);
                    self.known.insert(texture, address);
                    address
                }
            };
            regs.set(first + 1, (height * self.scale) | ((width * self.scale) << 16));
            regs.set(first + 4, larger / 8);
            regs.set(format, Format::Rgba8 as u32);
        }
        self.inner.draw(Draw { regs: &regs, ..draw.again() })
    }

    xenoglot_pica::forward_renderer!(inner);
}

/// Each texel several times.
fn enlarged(texture: &GuestTexture<'_>, scale: u32) -> Replacement {
    let place = |x: u32, y: u32| (y / scale * texture.width + x / scale) as usize;
    let rows = 0..texture.height * scale;
    let texels = rows.flat_map(|y| (0..texture.width * scale).map(move |x| place(x, y)));
    Replacement { scale, texels: texels.map(|place| texture.texels[place]).collect() }
}

fn blue(texture: &GuestTexture<'_>, scale: u32) -> Replacement {
    Replacement { scale, texels: vec![0xffff_0000; texture.texels.len() * (scale * scale) as usize] }
}

#[test]
fn textures_are_handed_out_once_and_replaced() {
    let device = match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => device,
        Err(error) => return skip(&error.to_string()),
    };
    let programs = Arc::new(Programs::new(&device, Compilation::Blocking));
    let (plain, names) = frame(&programs, |_| None);
    let mut different = names.clone();
    different.sort();
    different.dedup();
    // In two frames.
    assert_eq!((names.len(), different.len()), (3, 3), "{names:?}");
    let (one, _) = frame(&programs, |texture| Some(enlarged(texture, 1)));
    assert_eq!(one, plain);
    // The picture is the one that the guest's own textures of that size give. It is not the plain one: the chip truncates
    // coordinates in texels towards 0, so -0.3 of a small texel is texel 0, and -1.2 of a texel a quarter as wide is -1.
    let (four, _) = frame(&programs, |texture| Some(enlarged(texture, 4)));
    let renderer = HostRenderer::new(Arc::clone(&programs)).unwrap();
    assert!(
        four == second_frame(Enlarged::new(renderer, 4)),
        "other pixels than those of larger textures of the guest"
    );
    assert!(four != plain);
    let (small, _) = frame(&programs, |texture| Some(blue(texture, 1)));
    let (large, _) = frame(&programs, |texture| Some(blue(texture, 8)));
    assert!(small == large && small != plain);
    // What has not the texels it should have is not taken.
    let (wrong, _) = frame(&programs, |texture| Some(Replacement { scale: 3, ..blue(texture, 3) }));
    assert_eq!(wrong, plain);
}
