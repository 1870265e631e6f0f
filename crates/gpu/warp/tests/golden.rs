//! The golden frames and setups against the engines on the CPU.

use std::path::{Path, PathBuf};
use xenoglot_warp::golden::{Error, Golden, Scene};
use xenoglot_warp::{Engine, Fog, RenderState, Stencil, clip, reference};

/// The result of the span rule without tiles, which ours is for any tile size: first where it differs.
const SPAN_RULE: u32 = 0x800;
/// The paths of the original with one shader, whose alpha test is ours.
const UBER: u32 = 0x30f;

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "zst"));
    files.sort();
    files
}

fn all() -> Vec<(String, Golden)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut paths = files(&root.join("vectors/warp"));
    let shared = root.join("../shared/vectors/warp");
    if shared.is_dir() {
        paths.extend(files(&shared));
        paths.extend(files(&shared.join("more")));
    } else {
        xenoglot_testgen::skip::skip("the large golden frames are not here");
    }
    let golden = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.contains(".rw") {
            return None;
        }
        let mut bytes = Vec::new();
        let mut decoder =
            ruzstd::decoding::StreamingDecoder::new(std::fs::File::open(path).unwrap()).unwrap();
        std::io::Read::read_to_end(&mut decoder, &mut bytes).unwrap();
        Some((name.clone(), Golden::parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"))))
    };
    paths.iter().filter_map(golden).collect()
}

fn expected(scene: &Scene) -> &[u8] {
    let paths = if scene.results.iter().any(|(paths, _)| paths & SPAN_RULE != 0) { SPAN_RULE } else { UBER };
    scene.expected(paths).unwrap()
}

fn differing(a: &[u8], b: &[u8]) -> usize {
    assert_eq!(a.len(), b.len());
    a.as_chunks::<2>().0.iter().zip(b.as_chunks::<2>().0).filter(|(a, b)| a != b).count()
}

#[test]
fn frames_are_those_of_the_original() {
    let mut failures = Vec::new();
    for (name, golden) in all() {
        let Golden::Scene(scene) = golden else { continue };
        let engine = Engine::new();
        let fast = scene.run(|frame, memory, draw| -> Result<(), Error> {
            engine.draw(frame, memory, draw);
            Ok(())
        });
        let slow = scene.run(|frame, memory, draw| -> Result<(), Error> {
            reference::draw(frame, memory, draw);
            Ok(())
        });
        for (engine, result) in [("cpu", fast.unwrap()), ("reference", slow.unwrap())] {
            let count = differing(&result, expected(&scene));
            if count != 0 {
                failures.push(format!("{name}: {engine}: {count} of {} words differ", result.len() / 2));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn setups_are_those_of_the_original() {
    for (name, golden) in all() {
        let Golden::Setups(cases) = golden else { continue };
        for (number, case) in cases.iter().enumerate() {
            let mut out = Vec::new();
            clip::draw(case.vertices, &case.viewport, case.cull, &mut out);
            let bytes =
                |list: &[xenoglot_warp::Primitive]| list.iter().map(|p| p.to_bytes()).collect::<Vec<_>>();
            assert!(bytes(&out) == bytes(&case.expected), "{name}: input {number}: {case:#?}\n{out:#?}");
        }
    }
}

/// A scene in which nothing is drawn.
fn nothing(ranges: Vec<(u32, u32)>) -> Scene {
    Scene {
        states: Vec::new(),
        state_of: Vec::new(),
        primitives: Vec::new(),
        uploads: Vec::new(),
        passes: Vec::new(),
        ranges,
        results: Vec::new(),
    }
}

#[test]
fn what_is_beyond_the_original_is_read_back() {
    let fog = Fog { enable: 1, start: 300, scale: 77, color: [1, 2, 3] };
    let stencil = Stencil { test: 0x82, reference: 5, mask: 7, operations: [1, 2, 3] };
    let state = RenderState { palette: 0x1234, fog, stencil, ..RenderState::default() };
    let scene = Scene { states: vec![state], ..nothing(Vec::new()) };
    assert_eq!(Golden::parse(&scene.to_bytes()), Ok(Golden::Scene(scene)));
}

/// A file of a few bytes cannot ask for more than memory has.
#[test]
fn ranges_longer_than_memory_are_refused() {
    let half = 1 << 25;
    let whole = nothing(vec![(0, half), (half, half)]);
    assert_eq!(Golden::parse(&whole.to_bytes()), Ok(Golden::Scene(whole)));
    let more = nothing(vec![(0, half), (half, half), (0, 1)]).to_bytes();
    assert_eq!(
        Golden::parse(&more),
        Err(Error::Value { at: more.len() - 4, what: "a range's length", value: 1 })
    );
}
