//! Frame dumps: the last frame of each scene as a dump draws the same picture, in a file or in a PNG.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use xenoglot_nds::container::{Limits, Scene};
use xenoglot_nds::dump::{ConversionError, FrameDump, MAGIC, Problem};
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::play::play;
use xenoglot_nds::raster::Frame;

fn unpacked(path: &Path) -> Vec<u8> {
    let mut out = Vec::new();
    let file = std::fs::File::open(path).unwrap();
    ruzstd::decoding::StreamingDecoder::new(file).unwrap().read_to_end(&mut out).unwrap();
    out
}

/// Scenes of `vectors/nds`, every `step`th, with their memory images.
fn scenes(step: usize) -> Vec<(Scene, Option<Vec<u8>>)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../vectors/nds"));
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(".ndsf.zst"));
    paths.sort();
    let load = |path: &std::path::PathBuf| {
        let scene = Scene::from_bytes(&unpacked(path), &Limits::default()).unwrap();
        let image = scene.memory.as_ref().map(|name| unpacked(&folder.join(format!("vram/{name}.bin.zst"))));
        (scene, image)
    };
    paths.iter().step_by(step).map(load).collect()
}

fn picture(scene: &Scene, image: Option<&[u8]>) -> Vec<Vec<u32>> {
    let played = play(scene, image, Gpu::default()).unwrap();
    (0..192).map(|y| played.gpu.renderer().row(y).unwrap().color.to_vec()).collect()
}

#[test]
fn the_last_frame_of_a_scene_draws_the_same_as_a_dump() {
    let mut refused = BTreeMap::<String, usize>::new();
    let mut same = 0;
    for (scene, image) in scenes(2) {
        let name = scene.meta("name").unwrap_or_default().to_owned();
        let dump = match FrameDump::of_scene(&scene, image.as_deref()) {
            Ok(dump) => dump,
            Err(error @ ConversionError::State(_)) => {
                *refused.entry(error.to_string()).or_default() += 1;
                continue;
            }
            Err(error) => panic!("{name}: {error}"),
        };
        let read = FrameDump::from_bytes(&dump.to_bytes()).unwrap();
        assert!(read == dump, "{name}: a dump changes by being written");
        let wanted = picture(&Scene { probes: Vec::new(), ..scene }, image.as_deref());
        assert!(picture(&read.scene().unwrap(), None) == wanted, "{name}: the dump draws another picture");
        same += 1;
    }
    println!("{same} the same; refused: {refused:?}");
    assert!(same > 100, "{same}, {refused:?}");
}

/// A dump of a small scene.
fn small() -> FrameDump {
    let stream = vec![0x60, 255 << 16 | 191 << 24, 0x29, 0x1f_00c0, 0x40, 0, 0x20, 31, 0x50, 1];
    FrameDump::of_scene(&Scene { stream, ..Scene::default() }, None).unwrap()
}

/// A PNG of one pixel with a chunk.
fn png(tag: &[u8; 4], contents: &[u8]) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    for (tag, contents) in [(b"IHDR", &[0; 13][..]), (tag, contents), (b"IEND", &[])] {
        out.extend((contents.len() as u32).to_be_bytes());
        out.extend(tag);
        out.extend(contents);
        out.extend([0; 4]);
    }
    out
}

#[test]
fn dumps_are_found_in_pictures() {
    let dump = small();
    let picture = png(b"ndSf", &dump.to_bytes());
    assert!(FrameDump::detect(&picture));
    assert_eq!(FrameDump::from_bytes(&picture).unwrap(), dump);
    let without = png(b"tEXt", &dump.to_bytes());
    assert!(!FrameDump::detect(&without));
    assert_eq!(FrameDump::from_bytes(&without).unwrap_err().problem, Problem::NoChunk);
}

#[test]
fn what_is_no_dump_is_refused_where_it_is_wrong() {
    let bytes = small().to_bytes();
    let problem = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        let error = FrameDump::from_bytes(&bytes).unwrap_err();
        assert!(error.offset <= bytes.len(), "{error}");
        error.problem
    };
    assert_eq!(problem(&|bytes| bytes[0] = 0), Problem::Magic);
    assert_eq!(problem(&|bytes| bytes[MAGIC.len()] = 1), Problem::Version(1));
    assert_eq!(problem(&|bytes| bytes[MAGIC.len() + 2] = 9), Problem::Compression(9));
    assert_eq!(problem(&|bytes| bytes.truncate(bytes.len() - 3)), Problem::Truncated(3));
    assert_eq!(problem(&|bytes| bytes.push(0)), Problem::Surplus(1));
    // Commands are behind everything else: five of them, and five parameters.
    let at = bytes.len() - 5 - 4 * 5;
    assert_eq!(problem(&|bytes| bytes[at] = 0x70), Problem::Command(0x70));
    assert_eq!(problem(&|bytes| bytes[at] = 0x41), Problem::Params { given: 5, wanted: 4 });
    assert!(matches!(problem(&|bytes| bytes[at - 1] = 255), Problem::Commands(_)));
    for length in (0..bytes.len()).step_by(if bytes.len() > 100_000 { 997 } else { 1 }) {
        assert!(FrameDump::from_bytes(&bytes[..length]).is_err());
    }
}

#[test]
fn a_frame_that_a_dump_cannot_have_is_refused() {
    let of =
        |stream: &[u32]| FrameDump::of_scene(&Scene { stream: stream.to_vec(), ..Scene::default() }, None);
    assert_eq!(of(&[0x40, 0]).unwrap_err(), ConversionError::NoFrame);
    // A matrix on the stack, and a polygon that goes on in the next frame.
    assert!(matches!(of(&[0x10, 1, 0x11, 0x50, 0, 0x50, 0]), Err(ConversionError::State(_))));
    assert!(matches!(of(&[0x40, 0, 0x24, 0, 0x50, 0, 0x24, 0, 0x50, 0]), Err(ConversionError::State(_))));
    assert!(of(&[0x40, 0, 0x24, 0, 0x50, 0, 0x40, 0, 0x24, 0, 0x50, 0]).is_ok());
    let mut dump = small();
    dump.commands.insert(0, 0x72);
    dump.params.insert(0, 5);
    assert_eq!(dump.scene().unwrap_err(), ConversionError::OneDotDepth(0));
    let mut dump = small();
    dump.commands.pop();
    assert_eq!(dump.scene().unwrap_err(), ConversionError::Swap(None));
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn any_bytes_are_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        length in any::<prop::sample::Index>(),
    ) {
        let mut bytes = png(b"ndSf", &small().to_bytes());
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let length = length.index(bytes.len() + 1);
        for bytes in [&bytes[..], &bytes[..length]] {
            if let Ok(dump) = FrameDump::from_bytes(bytes) {
                prop_assert_eq!(FrameDump::from_bytes(&dump.to_bytes()).unwrap(), dump.clone());
                drop(dump.scene());
            }
        }
    }
}
