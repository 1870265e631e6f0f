//! The PICA200 scenes of the project as captures: what comes back from a file and is replayed leaves the same memory.

use rayon::prelude::*;
use std::path::Path;
use xenoglot_capture::{Capture, Info};
use xenoglot_conformance::Verdict;
use xenoglot_conformance::picagpu::compare::{Observed, front, judge};
use xenoglot_conformance::picagpu::format::{Operation, Scene};
use xenoglot_conformance::picagpu::scenes;
use xenoglot_pica::memory::{FCRAM, Memory};
use xenoglot_pica::raster;
use xenoglot_pica::replay::{self, Limits, Player, Recorder, Shown};

const SCENES: usize = 176;

fn capture(scene: &Scene) -> Capture {
    let mut recorder = Recorder::new(Info { title: scene.name.clone(), ..Info::default() });
    scene.registers.iter().for_each(|&(register, value)| recorder.register(register, value));
    scene.memory.iter().for_each(|(address, bytes)| recorder.memory(*address, bytes.clone()));
    for operation in &scene.operations {
        recorder.push(&match *operation {
            Operation::List { address, bytes } => replay::Operation::List { address, bytes },
            Operation::Fill(fill) => replay::Operation::Fill(fill),
            Operation::Display(transfer) => replay::Operation::Display(transfer),
            Operation::Copy(copy) => replay::Operation::Copy(copy),
        });
    }
    recorder.end_frame(Shown { address: FCRAM, width: 1, height: 1, format: 0, on_its_side: false });
    recorder.finish()
}

/// What differs after a replay.
fn difference(scene: &Scene) -> Option<String> {
    let capture = capture(scene);
    let capture = Capture::from_bytes(&capture.to_bytes(), &Default::default()).map_err(|e| e.to_string());
    let capture = match capture {
        Ok(capture) => capture,
        Err(error) => return Some(error),
    };
    let limits = Limits { fcram: 8 << 20, ..Limits::default() };
    let mut player = match Player::new(&capture, raster::Renderer::new(), limits) {
        Ok(player) => player,
        Err(error) => return Some(error.to_string()),
    };
    match player.next_frame() {
        Some(Ok(_)) => {}
        other => return Some(format!("{other:?}")),
    }
    let complaints = player.take_report().messages.iter().map(ToString::to_string).collect();
    let interrupts = player.gpu().interrupts();
    let memory: &dyn Memory = player.memory();
    // The triangles on the way are the other tests' concern.
    let without_triangles = Scene { triangles: Vec::new(), ..scene.clone() };
    let observed = Observed { triangles: &[], interrupts, memory, complaints, detours: 0 };
    front(&without_triangles, &observed).or_else(|| match judge(&without_triangles, &observed) {
        Verdict::Passed => None,
        Verdict::Failed(difference) | Verdict::Unconfirmed(difference) | Verdict::TimedOut(difference) => {
            Some(difference)
        }
    })
}

#[test]
fn every_scene_is_the_same_as_a_capture() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/picagpu");
    let scenes = scenes(&folder).unwrap();
    assert_eq!(scenes.len(), SCENES);
    let failures: Vec<String> = scenes
        .par_iter()
        .filter_map(|scene| difference(scene).map(|difference| format!("{}: {difference}", scene.name)))
        .collect();
    assert!(failures.is_empty(), "{} failures: {failures:#?}", failures.len());
}
