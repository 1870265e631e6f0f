//! Captures that end well, and hostile ones.

use proptest::prelude::*;
use xenoglot_capture::{Capture, Info};
use xenoglot_pica::memory::{FCRAM, VRAM};
use xenoglot_pica::regs;
use xenoglot_pica::renderer::NullRenderer;
use xenoglot_pica::replay::{CommandList, Error, Image, Limits, MACHINE, Operation, Player, Recorder, Shown};
use xenoglot_pica::report;
use xenoglot_pica::transfer::Fill;

/// Little of everything, so that hostile captures end soon.
fn limits() -> Limits {
    let gpu =
        report::Limits { writes: 1000, draws: 10, vertices: 100, instructions: 10_000, pixels: 1 << 20 };
    Limits { fcram: 1 << 16, side: 64, operations: 100, bytes: 1 << 16, gpu }
}

fn shown(address: u32, width: u32, height: u32, format: u32, on_its_side: bool) -> Shown {
    Shown { address, width, height, format, on_its_side }
}

fn play(capture: &Capture) -> (Vec<Image>, Option<Error>) {
    let mut player = Player::new(capture, NullRenderer, limits()).unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = player.next_frame() {
        match frame {
            Ok(image) => frames.push(image),
            Err(error) => {
                assert!(player.next_frame().is_none(), "an error is the end");
                return (frames, Some(error));
            }
        }
    }
    (frames, None)
}

fn error(record: impl FnOnce(&mut Recorder)) -> String {
    let mut recorder = Recorder::new(Info::default());
    record(&mut recorder);
    play(&recorder.finish()).1.expect("an error").to_string()
}

#[test]
fn frames_are_set_up_and_decoded() {
    let mut recorder = Recorder::new(Info::default());
    // Two rows of three pixels in RGB8: 1 2 3 / 4 5 6 in red.
    recorder.memory(FCRAM, (1..=6).flat_map(|red| [0, 0, red]).collect());
    recorder.end_frame(shown(FCRAM, 3, 2, 1, false));
    recorder.end_frame(shown(FCRAM, 3, 2, 1, true));
    let (frames, error) = play(&recorder.finish());
    assert!(error.is_none());
    let reds = |image: &Image| {
        assert!(image.rgba.chunks(4).all(|p| p[1..] == [0, 0, 255]));
        let rows = image.rgba.chunks(4 * image.width as usize);
        rows.map(|row| row.iter().step_by(4).copied().collect()).collect::<Vec<Vec<u8>>>()
    };
    assert_eq!(reds(&frames[0]), [[1, 2, 3], [4, 5, 6]]);
    assert_eq!(reds(&frames[1]), [[3, 6], [2, 5], [1, 4]]);
}

#[test]
fn registers_are_written_byte_by_byte() {
    let mut recorder = Recorder::new(Info::default());
    recorder.register(regs::FOG_COLOR, 0x1122_3344);
    recorder.push(&Operation::Register { register: regs::FOG_COLOR, value: 0xaabb_ccdd, mask: 0b0110 });
    let mut list = CommandList::new();
    list.write_bytes(regs::FOG_COLOR, 0x5555_5555, 0b0001);
    recorder.list(FCRAM, &list);
    let capture = recorder.finish();
    let mut player = Player::new(&capture, NullRenderer, limits()).unwrap();
    assert!(player.next_frame().is_none());
    assert_eq!(player.gpu().registers().get(regs::FOG_COLOR), 0x11bb_cc55);
    assert_eq!(player.position(), Some(3));
    assert_eq!(player.take_report().writes, 2);
}

#[test]
fn captures_that_do_not_fit_the_machine_are_refused() {
    let new = |capture: &Capture| Player::new(capture, NullRenderer, limits()).err().unwrap().to_string();
    assert!(new(&Capture::new(*b"NDS ", Info::default())).contains("NDS "));
    let mut recorder = Recorder::new(Info::default());
    recorder.memory(FCRAM, vec![1]);
    recorder.memory(FCRAM + 0xffff, vec![1; 2]);
    assert!(new(&recorder.finish()).contains("memory block 1: 2 bytes at 0x2000ffff"));
    let mut recorder = Recorder::new(Info::default());
    recorder.register(0x300, 0);
    assert!(new(&recorder.finish()).contains("0x300"));
}

#[test]
fn errors_say_which_operation() {
    let fill = Fill { start: VRAM, end: VRAM + 4, value: 0, control: 0 };
    let unmapped = error(|r| {
        r.fill(fill);
        r.push(&Operation::Memory { address: 4, bytes: &[1, 2] });
    });
    assert_eq!(unmapped, "operation 1: 2 bytes at 0x00000004 are not all memory");
    let format = error(|r| r.end_frame(shown(VRAM, 4, 4, 5, false)));
    assert_eq!(format, "operation 0: a frame of 4x4 pixels in format 5 cannot be shown");
    assert!(error(|r| r.end_frame(shown(VRAM, 65, 4, 0, false))).contains("65x4"));
    assert!(error(|r| r.end_frame(shown(VRAM, 0, 4, 0, false))).contains("0x4"));
    assert!(error(|r| r.end_frame(shown(VRAM - 4, 4, 4, 0, false))).contains("64 bytes at 0x17fffffc"));
    let mut capture = Capture::new(MACHINE, Info::default());
    Operation::Fill(fill).encode(&mut capture.ops);
    capture.ops.push_words(17, &[1]);
    let text = play(&capture).1.unwrap().to_string();
    assert_eq!(text, "operation 1 at byte 0x18: 4 bytes in an operation of kind 17");
}

#[test]
fn work_is_limited_by_frame() {
    let endless = |r: &mut Recorder| {
        // A list that jumps to itself.
        let mut list = CommandList::new();
        list.write(regs::LIST_SIZE, 4).write(regs::LIST_ADDRESS, FCRAM / 8).write(regs::LIST_JUMP, 1);
        r.list(FCRAM, &list);
    };
    assert!(error(endless).contains("operation 1: more register writes"));
    let fill = Fill { start: VRAM, end: VRAM + 0x4000, value: 0, control: 0 };
    let fills = error(|r| (0..5).for_each(|_| r.fill(fill)));
    assert!(fills.contains("operation 4: more bytes"), "{fills}");
    let register = Operation::Register { register: 1, value: 1, mask: 15 };
    assert!(error(|r| (0..101).for_each(|_| r.push(&register))).contains("operation 100: more operations"));
    // Each frame starts anew.
    let mut recorder = Recorder::new(Info::default());
    for _ in 0..10 {
        (0..3).for_each(|_| recorder.fill(fill));
        recorder.end_frame(shown(VRAM, 1, 1, 0, false));
    }
    let (frames, error) = play(&recorder.finish());
    assert_eq!((frames.len(), error.is_none()), (10, true));
}

/// Words that mean something more often than not.
fn word() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0u32..0x300,
        (0u32..0x1_0000).prop_map(|n| FCRAM + n),
        (0u32..256).prop_map(|n| VRAM + n)
    ]
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn any_operations_are_played_or_refused(
        ops in prop::collection::vec((0u32..22, prop::collection::vec(word(), 0..7)), 0..30),
    ) {
        let mut capture = Capture::new(MACHINE, Info::default());
        ops.iter().for_each(|(kind, words)| capture.ops.push_words(*kind, words));
        let _ = play(&capture);
    }

    #[test]
    fn any_list_is_played_or_refused(words in prop::collection::vec(word(), 0..200)) {
        let mut recorder = Recorder::new(Info::default());
        let mut list = CommandList::new();
        words.as_chunks::<2>().0.iter().for_each(|&[register, value]| { list.write(register % 0x300, value); });
        recorder.list(FCRAM, &list);
        recorder.end_frame(shown(VRAM, 8, 8, 0, true));
        let _ = play(&recorder.finish());
    }
}
