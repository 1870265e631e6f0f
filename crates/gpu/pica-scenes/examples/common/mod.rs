//! What the examples share.

use std::fs::File;
use std::io::BufWriter;
use xenoglot_pica::raster::Renderer;
use xenoglot_pica::replay::{Limits, Player};
use xenoglot_pica_scenes::{Params, Scene};

/// Plays frames of the scene called `name`, as many as the first argument says or one, and writes the last one to
/// `frame.png`.
pub fn show(name: &str) -> Result<(), Box<dyn std::error::Error>> {
    let frames = std::env::args().nth(1).map(|n| n.parse()).transpose()?.unwrap_or(1);
    let scene = Scene::find(name).ok_or("no such scene")?;
    let capture = scene.build(Params { frames: Some(frames), count: None });
    let mut player = Player::new(&capture, Renderer::new(), Limits::default())?;
    let mut last = None;
    while let Some(frame) = player.next_frame() {
        last = Some(frame?);
    }
    for message in &player.take_report().messages {
        eprintln!("{message}");
    }
    let image = last.ok_or("no frame")?;
    let mut encoder =
        png::Encoder::new(BufWriter::new(File::create("frame.png")?), image.width, image.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.write_header()?.write_image_data(&image.rgba)?;
    println!("{name}: {}. Written to frame.png", scene.doc);
    Ok(())
}
