//! Every scene on the CPU renderer: the first frame is the picture in `docs/pictures/scenes`, bit for bit, and all
//! vertex engines draw the same.

use std::path::Path;
use xenoglot_capture::{Capture, Limits};
use xenoglot_host::{Compilation, Device, DeviceOptions};
use xenoglot_pica::raster::Renderer;
use xenoglot_pica::replay::{self, Image, Player};
use xenoglot_pica::report::{Error, Report};
use xenoglot_pica::shader::{Choice, Engine, EngineError, Engines, Host, Native, Tier, Tiers};
use xenoglot_pica_scenes::{HEIGHT, Params, SCENES, Scene, WIDTH};
use xenoglot_testgen::skip::skip;

const FRAMES: u32 = 2;

fn capture(scene: &Scene) -> Capture {
    scene.build(Params { frames: Some(FRAMES), count: None })
}

fn play(scene: &Scene, engines: Engines) -> Vec<Image> {
    let (frames, report) = play_with_report(scene, engines);
    assert_eq!((report.errors, report.fallbacks), (0, 0), "{}: {:?}", scene.name, report.messages);
    frames
}

fn play_with_report(scene: &Scene, engines: Engines) -> (Vec<Image>, Report) {
    let capture = capture(scene);
    let mut player =
        Player::with_engines(&capture, Renderer::new(), engines, replay::Limits::default()).unwrap();
    let frames: Vec<Image> = std::iter::from_fn(|| player.next_frame()).map(Result::unwrap).collect();
    let report = player.take_report();
    assert_eq!(frames.len(), FRAMES as usize, "{}", scene.name);
    assert!(frames.iter().all(|frame| (frame.width, frame.height) == (WIDTH, HEIGHT)), "{}", scene.name);
    (frames, report)
}

fn picture(scene: &Scene) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/pictures/scenes");
    let file = std::fs::File::open(folder.join(scene.name).with_extension("png")).unwrap();
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().unwrap();
    let mut rgba = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgba).unwrap();
    assert_eq!((info.width, info.height, info.color_type), (WIDTH, HEIGHT, png::ColorType::Rgba));
    rgba
}

#[test]
fn first_frames_are_the_pictures() {
    for scene in SCENES {
        let frames = play(scene, Engines::default());
        let picture = picture(scene);
        let pairs = frames[0].rgba.iter().zip(&picture);
        let different = pairs.filter(|(a, b)| a != b).count();
        assert_eq!((frames[0].rgba.len(), different), (picture.len(), 0), "{}", scene.name);
        assert!(frames[0] != frames[1], "{} moves", scene.name);
    }
}

#[test]
fn the_reference_draws_the_same() {
    for scene in SCENES {
        assert!(play(scene, Engines::reference()) == play(scene, Engines::default()), "{}", scene.name);
    }
}

#[test]
fn the_native_engine_draws_the_same() {
    for scene in SCENES {
        let lanes = play(scene, Engines::default());
        for tiers in [Tiers::Only(Tier::Quick), Tiers::Only(Tier::Thorough), Tiers::Both] {
            let mut native = Native::new().unwrap();
            native.set_tiers(tiers);
            assert!(play(scene, Engines::new(vec![Box::new(native)])) == lanes, "{}, {tiers:?}", scene.name);
        }
    }
}

#[test]
fn engines_chosen_by_measurement_draw_the_same() {
    for scene in SCENES {
        let native: Box<dyn Engine> = Box::new(Native::new().unwrap());
        let measured = Engines::with_choice(vec![native], Choice::Measured);
        assert!(play(scene, measured) == play(scene, Engines::default()), "{}", scene.name);
    }
}

#[test]
fn the_hosts_gpu_draws_the_same() {
    let device = match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => device,
        Err(error) => return skip(&format!("vertex engine on the host's GPU: {error}")),
    };
    for scene in SCENES {
        let host: Box<dyn Engine> = Box::new(Host::new(&device, Compilation::Blocking));
        let (frames, report) = play_with_report(scene, Engines::new(vec![host]));
        assert!(frames == play(scene, Engines::default()), "{}", scene.name);
        let loops = |error: &Error| matches!(error, Error::Fallback { error: EngineError::Declined(_), .. });
        assert_eq!(report.errors, 0, "{}: {:?}", scene.name, report.messages);
        assert!(report.messages.iter().all(loops), "{}: {:?}", scene.name, report.messages);
        println!("{}: {:?}, {} fall-backs", scene.name, report.engines, report.fallbacks);
    }
}

#[test]
fn captures_survive_their_file_and_depend_on_parameters_only() {
    for scene in SCENES {
        let first = capture(scene);
        assert!(first == capture(scene), "{}", scene.name);
        assert!(
            Capture::from_bytes(&first.to_bytes(), &Limits::default()).unwrap() == first,
            "{}",
            scene.name
        );
    }
}

#[test]
fn counts_are_brought_into_their_range() {
    for scene in SCENES {
        let Some(count) = &scene.count else { continue };
        let build = |count| scene.build(Params { frames: Some(1), count: Some(count) });
        assert!(build(u32::MAX) == build(*count.range.end()), "{}", scene.name);
        assert!(build(0) == build(*count.range.start()), "{}", scene.name);
    }
}
