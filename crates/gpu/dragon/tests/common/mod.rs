//! Scenes and machines that tests share.
#![allow(dead_code, reason = "each test uses a part")]

use xenoglot_dragon::command::{Command, Write, sig};
use xenoglot_dragon::host::{Demo, Frame, globe, torus};
use xenoglot_dragon::{Machine, Params};

/// A turning ring of a few hundred triangles on a small screen.
pub fn demo() -> Demo {
    Demo { screen: [96, 80], ..Demo::new(torus(20, 10)).unwrap() }
}

/// Another model, with triangles without area.
pub fn other_demo() -> Demo {
    Demo { screen: [96, 80], ..Demo::new(globe(16, 8)).unwrap() }
}

pub fn machine(toml: &str) -> Machine {
    Machine::new(Params::from_toml(toml).unwrap()).unwrap()
}

/// Frame 3 of a demo on a machine with these parameters.
pub fn frame(demo: &Demo, toml: &str) -> Frame {
    demo.frame(&mut machine(toml), 3).unwrap()
}

pub fn writes(commands: &[Command]) -> Vec<Write> {
    commands.iter().map(|c| c.encode()).collect()
}

/// Fills tile buffer 0 and waits for it.
pub fn fill() -> Vec<Write> {
    writes(&[
        Command::SetFillTileBufferValue(0, 0x1234),
        Command::ExecFillTileBuffer { tile: 0, sig: sig::CLEAR_TILE | 1 << 20 },
        Command::SigWait(sig::CLEAR_TILE),
    ])
}
