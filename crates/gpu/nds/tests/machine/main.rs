//! A scripted machine through the bus: command lists, DMA, banks that change places, capture that feeds back, both screens by
//! turns. Two of them, with different renderers, hand their states to each other.

mod script;

use script::{Machine, start};
use std::fmt::Debug;
use xenoglot_nds::raster::{Extensions, Options, Renderer};
use xenoglot_nds::state::{self, StateError};
use xenoglot_nds::video::{Drawing, Rasterizer, Video};
use xenoglot_testgen::property::budget;

/// Frames between states that are handed over.
const EVERY: u32 = 7;

fn plain() -> Options {
    Options { threads: 1, ..Options::default() }
}

/// Plays frames on two machines, which exchange their states in every seventh: in the middle of drawing, at another line each
/// time. Colours on both screens, and how many frames there are.
fn compare<A, B>(frames: u32, a: A, b: B, options: [Options; 2])
where
    A: Rasterizer<Error: Debug>,
    B: Rasterizer<Error: Debug>,
{
    let [first, second] = options.map(|options| start(Video::new(options)));
    let mut a = Machine { video: first, rasterizer: a, asked: Vec::new() };
    let mut b = Machine { video: second, rasterizer: b, asked: Vec::new() };
    let mut colors = std::collections::BTreeSet::<u32>::new();
    let mut states = 0;
    for frame in 0..frames {
        let line = frame * 37 % 263;
        let hands_over = frame % EVERY == EVERY - 1;
        let (mut from_a, mut from_b) = (Vec::new(), Vec::new());
        a.frame(frame, |at, machine| {
            if hands_over && at == line {
                from_a = machine.video.save();
            }
        });
        b.frame(frame, |at, machine| {
            if hands_over && at == line {
                from_b = machine.video.save();
                machine.video.load(&from_a).unwrap();
            }
        });
        assert!(from_a == from_b, "states of frame {frame} differ");
        if hands_over {
            // The other way round, into a machine that is ahead by some lines; it goes on from the end of the frame.
            let end = b.video.save();
            assert_ne!(end, from_b);
            a.video.load(&end).unwrap();
            assert!(a.video.save() == end, "a state changes by being loaded");
            states += 1;
        }
        for screen in 0..2 {
            assert!(
                a.video.screen(screen) == b.video.screen(screen),
                "screen {screen} of frame {frame} differs"
            );
            colors.extend(a.video.screen(screen).as_flattened().iter().step_by(97));
        }
        assert!(a.asked == b.asked, "interrupts and DMAs of frame {frame} differ");
        assert_eq!(a.video.three_d().frames(), u64::from(frame) + 1);
        a.asked.clear();
        b.asked.clear();
    }
    println!("{frames} frames, {states} states handed over, {} colours", colors.len());
    assert!(colors.len() > 100);
}

#[test]
fn machines_with_different_threads_and_extensions_hand_over_their_states() {
    let other = Options { threads: 3, extensions: Extensions::Baseline, ..Options::default() };
    compare(budget(60, 600), Renderer::new(plain()), Renderer::new(other), [plain(), other]);
}

/// The script changes no textures while they are read, so that it makes no difference when a row is drawn. A machine that draws
/// row by row goes on from its own states with another renderer, also in the middle of a frame.
#[test]
fn frames_drawn_row_by_row_are_the_same_across_states() {
    let mut machines = [Drawing::WholeFrame, Drawing::ByRow].map(|drawing| {
        let mut video = start(Video::new(plain()));
        video.set_drawing(drawing);
        Machine { video, rasterizer: Renderer::new(plain()), asked: Vec::new() }
    });
    for frame in 0..budget(40, 600) {
        let [whole, by_row] = &mut machines;
        whole.frame(frame, |_, _| {});
        by_row.frame(frame, |line, machine| {
            if line == frame * 37 % 263 {
                let state = machine.video.save();
                machine.video.load(&state).unwrap();
                machine.rasterizer = Renderer::new(Options { threads: 2, ..plain() });
            }
        });
        for screen in 0..2 {
            assert!(
                whole.video.screen(screen) == by_row.video.screen(screen),
                "screen {screen} of frame {frame}"
            );
        }
        assert!(whole.asked == by_row.asked, "interrupts and DMAs of frame {frame} differ");
        machines.iter_mut().for_each(|machine| machine.asked.clear());
    }
}

#[cfg(feature = "compute")]
#[test]
fn machines_with_cpu_and_compute_renderers_hand_over_their_states() {
    use xenoglot_host::{Device, DeviceOptions};
    use xenoglot_nds::raster::compute::{ComputeRenderer, Options as ComputeOptions};
    use xenoglot_testgen::skip::skip;

    let device = match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => device,
        Err(error) => return skip(&error.to_string()),
    };
    let rules = plain().rules;
    let compute =
        ComputeRenderer::new(&device, ComputeOptions { rules, ..ComputeOptions::default() }).unwrap();
    compare(budget(28, 600), Renderer::new(plain()), compute, [plain(), plain()]);
}

#[test]
fn damaged_states_are_refused_and_change_nothing() {
    let mut machine =
        Machine { video: start(Video::new(plain())), rasterizer: Renderer::new(plain()), asked: Vec::new() };
    machine.frame(0, |_, _| {});
    let state = machine.video.save();
    let before = machine.video.save();
    let mut refused = |bytes: &[u8]| machine.video.load(bytes).unwrap_err();
    assert_eq!(refused(&state[..8]), StateError::Magic);
    assert!(matches!(refused(&state[..state.len() - 1]), StateError::Checksum { .. }));
    let mut later = state.clone();
    later[4] = 99;
    assert_eq!(refused(&later), StateError::Version(99));
    // A state whose checksum is right, and that ends early or has impossible contents.
    let sealed = |payload: &[u8]| state::save(|io| io.bytes(&mut payload.to_vec()));
    let payload = &state[12..];
    assert!(matches!(refused(&sealed(&payload[..payload.len() / 2])), StateError::Truncated { .. }));
    let more = [payload, &[0]].concat();
    assert!(matches!(refused(&sealed(&more)), StateError::Contents { .. }));
    assert!(machine.video.save() == before);
}
