//! Scenes to captures to pictures.

use crate::common::{folder, json, picture, run, text};
use std::fs;

/// A scene of the DS with textures, antialiasing and wireframes.
const DS_SCENE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/nds/scene_193.ndsf.zst");

/// A glTF scene of our own.
const YARD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../gpu/warp/models/yard.glb");

#[test]
fn scenes_are_listed_and_written() {
    let list = text(&["scenes"]);
    for name in ["cubes", "triangles", "batch", "shadow"] {
        assert!(list.contains(name), "{list}");
    }
    let dir = folder("scenes");
    let out = dir.to_str().unwrap();
    let rows = json(&["scenes", "--json", "triangles", "fog", "--frames", "2", "-o", out]);
    assert_eq!(rows.as_array().unwrap().len(), 2);
    assert!(fs::read(dir.join("triangles.xgc")).unwrap().starts_with(b"\x89XGC"));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
    run(&["scenes", "no-such-scene"], 2);
    run(&["scenes", "fog", "--frames", "0"], 2);
}

#[test]
fn captures_are_rendered() {
    let dir = folder("render");
    let path = |name: &str| dir.join(name).display().to_string();
    run(&["scenes", "triangles", "--frames", "3", "--count", "7", "-o", &path("")], 0);
    let capture = path("triangles.xgc");
    let facts = json(&["render", &capture, "-o", &path("last.png"), "--json"]);
    assert_eq!((&facts["frames"], &facts["report"]["draws"]), (&3.into(), &21.into()));
    run(&["render", &capture, "-o", &path("native.png"), "--engine", "native"], 0);
    run(&["render", &capture, "-o", &path("lanes.png"), "--engine", "lanes"], 0);
    run(&["render", &capture, "-o", &path("all"), "--all"], 0);
    let read = |name: &str| fs::read(dir.join(name)).unwrap();
    assert_eq!(fs::read_dir(dir.join("all")).unwrap().count(), 3);
    assert_eq!(read("last.png"), read("all/00002.png"));
    assert_eq!(read("last.png"), read("native.png"));
    assert_eq!(read("last.png"), read("lanes.png"));
    run(&["render", &capture, "-o", &path("first.png"), "--frame", "0"], 0);
    assert_eq!(read("first.png"), read("all/00000.png"));
    assert_ne!(read("first.png"), read("last.png"));
    run(&["render", &capture, "-o", &path("none.png"), "--frame", "3"], 1);
    run(&["render", &capture], 2);
    // A capture that expects nothing cannot be checked.
    run(&["render", &capture, "--check"], 1);
}

#[test]
fn recordings_are_imported() {
    let dir = folder("import");
    let path = |name: &str| dir.join(name).display().to_string();
    // The header with all parts empty, and a stream of one element: the end of a frame.
    let header = [u32::from_le_bytes(*b"CiTr"), 1, 100];
    let parts = [100, 0].repeat(10);
    let words = header.into_iter().chain(parts).chain([100, 1]).chain([0xe1, 0, 0, 0, 0]);
    let file: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    fs::write(path("empty.ctf"), &file).unwrap();
    let facts = json(&["import", &path("empty.ctf"), "-o", &path("empty.xgc"), "--json"]);
    assert_eq!(facts["frames"], 1);
    run(&["render", &path("empty.xgc"), "-o", &path("empty.png")], 0);
    assert_eq!(picture(&dir.join("empty.png")).0, (400, 240));
    fs::write(path("short.ctf"), &file[..90]).unwrap();
    run(&["import", &path("short.ctf"), "-o", &path("short.xgc")], 1);
    run(&["import", &path("empty.ctf"), "-o", &path("empty.png")], 2);
    assert!(!dir.join("short.xgc").exists());
}

/// Whether there is a GPU of the host's; says so where there is none.
#[cfg(feature = "gpu")]
fn has_gpu() -> bool {
    use xenoglot_host::{Device, DeviceOptions};
    let opened = Device::open(&DeviceOptions::from_env());
    opened.inspect_err(|error| xenoglot_testgen::skip::skip(&error.to_string())).is_ok()
}

#[cfg(feature = "gpu")]
#[test]
fn captures_are_rendered_on_the_hosts_gpu() {
    if !has_gpu() {
        return;
    }
    let dir = folder("render-gpu");
    let path = |name: &str| dir.join(name).display().to_string();
    run(&["scenes", "triangles", "--frames", "1", "--count", "7", "-o", &path("")], 0);
    let capture = path("triangles.xgc");
    run(&["render", &capture, "-o", &path("cpu.png")], 0);
    let facts = json(&["render", &capture, "-o", &path("gpu.png"), "--renderer", "gpu", "--json"]);
    assert_eq!((&facts["report"]["detours"], &facts["report"]["errors"]), (&0.into(), &0.into()));
    assert_eq!(fs::read(dir.join("cpu.png")).unwrap(), fs::read(dir.join("gpu.png")).unwrap());
    let isolated = ["render", &capture, "-o", &path("isolated.png"), "--renderer", "gpu", "--isolate-driver"];
    run(&isolated, 0);
    assert_eq!(fs::read(dir.join("cpu.png")).unwrap(), fs::read(dir.join("isolated.png")).unwrap());
    run(&["render", &capture, "-o", &path("none.png"), "--renderer", "gpu", "--device", "no such"], 1);
    run(&["render", &capture, "-o", &path("large.png"), "--scale", "3"], 0);
    assert_eq!(picture(&dir.join("large.png")).0, (1200, 720));
    run(&["render", &capture, "-o", &path("none.png"), "--scale", "9"], 2);
    run(&["render", &capture, "-o", &path("none.png"), "--scale", "2", "--check"], 2);
}

/// Written textures in their own place change nothing; a picture of another size is an error.
#[cfg(feature = "gpu")]
#[test]
fn textures_of_captures_are_written_and_replaced() {
    if !has_gpu() {
        return;
    }
    let dir = folder("render-textures");
    let path = |name: &str| dir.join(name).display().to_string();
    run(&["scenes", "multitexture", "--frames", "1", "-o", &path("")], 0);
    let (capture, textures) = (path("multitexture.xgc"), path("textures"));
    let written = ["--renderer", "gpu", "--dump-textures", &textures, "--json"];
    let facts = json(&[&["render", &capture, "-o", &path("before.png")], &written[..]].concat());
    assert_eq!(facts["textures"]["written"], 3);
    let replaced = ["--renderer", "gpu", "--textures", &textures, "--json"];
    let facts = json(&[&["render", &capture, "-o", &path("after.png")], &replaced[..]].concat());
    assert_eq!(facts["textures"]["replaced"], 3);
    assert_eq!(fs::read(dir.join("before.png")).unwrap(), fs::read(dir.join("after.png")).unwrap());
    for file in fs::read_dir(&textures).unwrap() {
        fs::copy(dir.join("before.png"), file.unwrap().path()).unwrap();
    }
    run(&["render", &capture, "-o", &path("none.png"), "--renderer", "gpu", "--textures", &textures], 1);
    // The CPU renderer has the guest's textures.
    run(&["render", &capture, "-o", &path("none.png"), "--textures", &textures], 2);
}

#[test]
fn expected_frames_are_compared() {
    use xenoglot_capture::{Capture, Frame};
    let dir = folder("check");
    let scene = xenoglot_pica_scenes::Scene::find("triangles").unwrap();
    let mut capture = scene.build(xenoglot_pica_scenes::Params { frames: Some(2), count: Some(1) });
    let background = [20, 20, 28, 255].repeat(400 * 240);
    capture.frames.push(Frame { index: 1, width: 400, height: 240, rgba: background });
    let path = dir.join("a.xgc");
    capture.save(&path).unwrap();
    let out = run(&["render", path.to_str().unwrap(), "--check"], 1);
    let out = String::from_utf8(out.stdout).unwrap();
    assert!(out.contains("1 frames compared, 1 differ"), "{out}");
    assert!(out.contains("frame 1: ") && out.contains("pixels differ"), "{out}");
    capture.frames = vec![Frame { index: 5, width: 1, height: 1, rgba: vec![0; 4] }];
    capture.save(&path).unwrap();
    let out = String::from_utf8(run(&["render", path.to_str().unwrap(), "--check"], 1).stdout).unwrap();
    assert!(out.contains("frame 5 is missing"), "{out}");
    assert!(Capture::load(&path, &Default::default()).is_ok());
}

#[test]
fn damaged_captures_name_the_chunk_and_play_what_is_there() {
    let dir = folder("damaged");
    let path = |name: &str| dir.join(name).display().to_string();
    // Operations of more than one chunk.
    run(&["scenes", "cubes", "--frames", "30", "--count", "200", "-o", &path("")], 0);
    let bytes = fs::read(dir.join("cubes.xgc")).unwrap();
    fs::write(dir.join("cut.xgc"), &bytes[..bytes.len() * 9 / 10]).unwrap();
    let refused = run(&["render", &path("cut.xgc"), "-o", &path("cut.png")], 1);
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("(OPER)") && message.contains("recovered"), "{message}");
    assert!(!dir.join("cut.png").exists());
    let recovered = run(&["render", &path("cut.xgc"), "-o", &path("cut.png"), "--recover"], 1);
    assert!(dir.join("cut.png").exists(), "{recovered:?}");
    fs::write(dir.join("none.xgc"), b"nothing").unwrap();
    run(&["render", &path("none.xgc"), "-o", &path("none.png"), "--recover"], 1);
    run(&["render", &path("missing.xgc"), "-o", &path("none.png")], 1);
}

#[test]
fn frame_dumps_of_ds_scenes_draw_the_same_picture() {
    let folder = folder("nds-dump");
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let [dump, of_scene, of_dump] = ["frame.ntrfd", "scene.png", "dump.png"].map(file);
    run(&["render", DS_SCENE, "-o", &of_scene, "--frame-dump", &dump], 0);
    run(&["render", &dump, "-o", &of_dump], 0);
    assert!(fs::read(&of_scene).unwrap() == fs::read(&of_dump).unwrap());
    let damaged = file("damaged.ntrfd");
    let bytes = fs::read(&dump).unwrap();
    fs::write(&damaged, &bytes[..bytes.len() - 1]).unwrap();
    run(&["render", &damaged, "-o", &of_dump], 1);
}

/// Written textures in their own place change nothing; other pictures do. What is no picture is an error.
#[test]
fn textures_of_ds_scenes_are_written_and_replaced() {
    let folder = folder("nds-textures");
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let [before, after, textures] = ["before.png", "after.png", "textures"].map(file);
    run(&["render", DS_SCENE, "-o", &before, "--dump-textures", &textures], 0);
    let written: Vec<_> = fs::read_dir(&textures).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!written.is_empty());
    let said = json(&["render", DS_SCENE, "-o", &after, "--textures", &textures, "--json"]);
    assert_eq!(said["textures_replaced"], written.len());
    assert!(fs::read(&before).unwrap() == fs::read(&after).unwrap());
    for path in &written {
        fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pictures/nds/ids.png"), path).unwrap();
    }
    run(&["render", DS_SCENE, "-o", &after, "--textures", &textures], 0);
    assert!(fs::read(&before).unwrap() != fs::read(&after).unwrap());
    fs::write(&written[0], b"nothing").unwrap();
    run(&["render", DS_SCENE, "-o", &after, "--textures", &textures], 1);
}

#[test]
fn scenes_of_the_ds_are_rendered() {
    let folder = folder("nds");
    for view in [&[][..], &["--depth"], &["--attributes"], &["--overlay", "edges"], &["--overlay", "ids"]] {
        let frame = folder.join("frame.png");
        let arguments = [&["render", DS_SCENE, "-o", frame.to_str().unwrap()], view].concat();
        run(&arguments, 0);
        let (size, pixels) = picture(&frame);
        assert_eq!(size, (256, 192));
        assert!(pixels.iter().any(|p| *p != pixels[0]), "{view:?}");
    }
}

/// A glTF scene is the same on every engine that there is, and its dump is replayed to the same.
#[test]
fn models_are_rendered_by_warp() {
    let dir = folder("render-model");
    let path = |name: &str| dir.join(name).display().to_string();
    let render = |more: &[&str]| {
        run(&[&["render", YARD, "--size", "161x121", "--fog"][..], more].concat(), 0);
    };
    render(&["-o", &path("cpu.png"), "--dump", &path("yard.rwgold")]);
    let read = |name: &str| fs::read(dir.join(name)).unwrap();
    let (size, mut colors) = picture(&dir.join("cpu.png"));
    assert_eq!(size, (161, 121));
    colors.sort_unstable();
    colors.dedup();
    assert!(colors.len() > 100, "{} colours", colors.len());
    run(&["render", &path("yard.rwgold"), "-o", &path("again.png"), "--check"], 0);
    assert_eq!(read("cpu.png"), read("again.png"));
    run(&["conformance", "warp", &path("yard.rwgold"), "--engine", "reference"], 0);
    run(&["conformance", "warp", &path("yard.rwgold"), "--tile", "9"], 2);
    run(&["render", YARD, "-o", &path("none.png"), "--size", "0x5"], 1);
}

/// The same on the host's GPU, in all ways.
#[cfg(feature = "gpu")]
#[test]
fn models_are_the_same_on_the_gpu() {
    if !has_gpu() {
        return;
    }
    let dir = folder("render-model-gpu");
    let path = |name: &str| dir.join(name).display().to_string();
    let render = |more: &[&str]| {
        run(&[&["render", YARD, "--size", "161x121", "--fog"][..], more].concat(), 0);
    };
    render(&["-o", &path("cpu.png"), "--dump", &path("yard.rwgold")]);
    for (architecture, tile) in [("uber", "8"), ("uber", "16"), ("split", "8"), ("split", "16")] {
        let gpu = ["--renderer", "gpu", "--architecture", architecture, "--tile", tile];
        render(&[&["-o", &path("gpu.png")][..], &gpu].concat());
        let read = |name: &str| fs::read(dir.join(name)).unwrap();
        assert!(read("cpu.png") == read("gpu.png"), "{architecture}, {tile}");
        let suite = ["conformance", "warp", &path("yard.rwgold"), "--engine", architecture, "--tile", tile];
        run(&suite, 0);
    }
}
