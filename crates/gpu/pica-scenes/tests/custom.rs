//! Textures from elsewhere in place of the guest's.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use xenoglot_host::{Compilation, Device, DeviceOptions};
use xenoglot_pica::host::{GuestTexture, HostRenderer, Programs, Replacement};
use xenoglot_pica::replay::{Image, Limits, Player};
use xenoglot_pica_scenes::{Params, Scene};
use xenoglot_testgen::skip::skip;

type Custom = fn(&GuestTexture<'_>) -> Option<Replacement>;

/// The first frame of a scene of two textures, and the names of textures that were handed out.
fn frame(programs: &Arc<Programs>, custom: Custom) -> (Image, Vec<String>) {
    let capture = Scene::find("multitexture").unwrap().build(Params { frames: Some(2), count: None });
    let mut renderer = HostRenderer::new(Arc::clone(programs)).unwrap();
    let (send, names): (Sender<String>, _) = channel();
    renderer.set_custom_textures(Some(Box::new(move |texture| {
        send.send(texture.name()).unwrap();
        custom(texture)
    })));
    let mut player = Player::new(&capture, renderer, Limits::default()).unwrap();
    player.next_frame().unwrap().unwrap();
    let image = player.next_frame().unwrap().unwrap();
    (image, names.try_iter().collect())
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
    assert_eq!(different.len(), names.len());
    println!("{names:?}");
    let (one, _) = frame(&programs, |texture| Some(enlarged(texture, 1)));
    assert_eq!(one, plain);
    // Coordinates below 0 choose other texels: they are rounded towards 0 in texels.
    let (four, _) = frame(&programs, |texture| Some(enlarged(texture, 4)));
    let differ =
        four.rgba.as_chunks::<4>().0.iter().zip(plain.rgba.as_chunks::<4>().0).filter(|(a, b)| a != b);
    let (differ, all) = (differ.count(), plain.rgba.len() / 4);
    println!("{differ} of {all} pixels differ with enlarged textures");
    assert!(differ * 20 < all);
    let (small, _) = frame(&programs, |texture| Some(blue(texture, 1)));
    let (large, _) = frame(&programs, |texture| Some(blue(texture, 8)));
    assert!(small == large && small != plain);
    // What has not the texels it should have is not taken.
    let (wrong, _) = frame(&programs, |texture| Some(Replacement { scale: 3, ..blue(texture, 3) }));
    assert_eq!(wrong, plain);
}
