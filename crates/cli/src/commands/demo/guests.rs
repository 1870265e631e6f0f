//! The guests beside shaders: the tool's own commands on small files that come with it, each in a process of its own.
//!
//! The page shows the commands, so that whoever reads it can repeat them in the guest's folder.

use super::{Card, Made};
use crate::output;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// A guest of the demonstration.
pub struct Guest {
    /// Its folder.
    name: &'static str,
    kind: &'static str,
    about: &'static str,
    /// Files the commands start from.
    files: &'static [(&'static str, &'static [u8])],
    /// What is done, in order, and what the result shows. Words are separated by spaces; `> FILE` behind them keeps what
    /// the command prints.
    steps: &'static [(&'static str, &'static str)],
    /// Two files to show side by side.
    pair: Option<[&'static str; 2]>,
}

macro_rules! file {
    ($name:literal) => {
        ($name, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/demo/", $name)))
    };
}

/// All of them. The files are copies from `vectors/`; `toon.astc` is astcenc's of the scene of that name.
pub const GUESTS: &[Guest] = &[
    Guest {
        name: "kernel",
        kind: "Maxwell kernel",
        about: "A sum over a workgroup in shared memory, compiled for the Tegra X1: a barrier in a loop, and a branch in \
                which lanes part.",
        files: &[file!("reduce_shared.cubin"), file!("reduce_shared.ptx")],
        steps: &[
            ("control flow of the guest", "cfg reduce_shared.cubin --what guest -o guest.svg"),
            (
                "control flow, structured",
                "cfg reduce_shared.cubin --what structured --optimized -o structured.svg",
            ),
            ("disassembly", "disasm reduce_shared.cubin -o reduce_shared.sass"),
            ("IR after all passes", "ir reduce_shared.cubin --optimize -o optimized.xir"),
            ("GLSL", "translate reduce_shared.cubin --workgroup 64 --to glsl --comments -o kernel.comp"),
            ("SPIR-V", "translate reduce_shared.cubin --workgroup 64 --to spirv -o kernel.spv"),
            (
                "a run on the interpreter",
                "run reduce_shared.cubin --workgroup 64 --args u32[64]=3,1,2 u32[1] > run.txt",
            ),
        ],
        pair: Some(["reduce_shared.sass", "kernel.comp"]),
    },
    Guest {
        name: "direct3d",
        kind: "Direct3D 12 shader",
        about: "A prefix sum in group-shared memory, compiled by DXC to DXIL.",
        files: &[file!("lds_scan.dxil"), file!("lds_scan.hlsl")],
        steps: &[
            ("control flow of the guest", "cfg lds_scan.dxil --what guest -o guest.svg"),
            ("control flow, structured", "cfg lds_scan.dxil --what structured --optimized -o structured.svg"),
            ("disassembly", "disasm lds_scan.dxil -o lds_scan.ll"),
            ("IR after all passes", "ir lds_scan.dxil --optimize -o optimized.xir"),
            ("GLSL", "translate lds_scan.dxil --to glsl -o scan.comp"),
            ("SPIR-V", "translate lds_scan.dxil --to spirv -o scan.spv"),
            #[cfg(feature = "naga")]
            ("WGSL", "translate lds_scan.dxil --to wgsl -o scan.wgsl"),
            #[cfg(feature = "naga")]
            ("Metal", "translate lds_scan.dxil --to msl -o scan.metal"),
        ],
        pair: Some(["lds_scan.hlsl", "scan.comp"]),
    },
    Guest {
        name: "pica200",
        kind: "frame of the Nintendo 3DS",
        about: "A capture of toon shading with outlines, drawn by the emulated PICA200 on the CPU.",
        files: &[],
        steps: &[
            ("the capture", "scenes toon --frames 1 -o . > scene.txt"),
            ("the frame", "render toon.xgc -o frame.png > report.txt"),
        ],
        pair: None,
    },
    Guest {
        name: "nintendo-ds",
        kind: "frame of the Nintendo DS",
        about: "A test scene of opaque, translucent and shadow polygons, drawn by the emulated 3D engines.",
        files: &[file!("scene.ndsf.zst")],
        steps: &[
            ("the frame", "render scene.ndsf.zst -o frame.png > report.txt"),
            ("outlines of its polygons", "render scene.ndsf.zst --overlay polygons -o polygons.png"),
        ],
        pair: None,
    },
    Guest {
        name: "dragon",
        kind: "frame of the Dragon GPU",
        about: "A torus, drawn by a GPU that is simulated tick by tick, and what its units did meanwhile.",
        files: &[],
        steps: &[(
            "the frame, the timeline, a trace for Chrome, the report",
            "dragon run -o frame.png --timeline timeline.svg --trace trace.json --report > report.txt",
        )],
        pair: None,
    },
    Guest {
        name: "texture",
        kind: "ASTC texture",
        about: "A picture in blocks of 8 by 8 texels, two bits a texel, decoded.",
        files: &[file!("toon.astc")],
        steps: &[
            ("the picture", "texture decode toon.astc -o toon.png"),
            ("what the file says", "texture info toon.astc > info.txt"),
        ],
        pair: None,
    },
    Guest {
        name: "mips",
        kind: "MIPS program",
        about: "SHA-256 in C, compiled for 32-bit MIPS: an ELF file without an operating system.",
        files: &[file!("sha.elf"), file!("sha.c")],
        steps: &[("disassembly", "disasm sha.elf -o sha.s")],
        pair: Some(["sha.c", "sha.s"]),
    },
];

/// Writes a guest's files into its folder in `root` and runs its commands there.
pub fn show(guest: &Guest, root: &Path) -> Result<Card> {
    let folder = root.join(guest.name);
    for (name, bytes) in guest.files {
        output::write(&folder.join(name), bytes)?;
    }
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let start = Instant::now();
    for (_, line) in guest.steps {
        step(line, &folder)?;
    }
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    let titles = guest.steps.iter().flat_map(|(title, line)| outputs(line).map(move |name| (name, *title)));
    let inputs = guest.files.iter().map(|(name, _)| (*name, "input"));
    let mut files = Vec::new();
    for (name, title) in inputs.chain(titles) {
        let path = folder.join(name);
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        files.push(Made { name: name.into(), title: format!("{name} ({title})"), bytes });
    }
    Ok(Card {
        name: guest.name.into(),
        kind: guest.kind.into(),
        about: guest.about.into(),
        facts: vec![("commands", guest.steps.len().to_string()), ("time", format!("{milliseconds:.0} ms"))],
        commands: guest.steps.iter().map(|(_, line)| format!("xenoglot {line}")).collect(),
        pair: guest.pair,
        files,
    })
}

/// Files that a command line names as outputs.
fn outputs(line: &'static str) -> impl Iterator<Item = &'static str> {
    let words = line.split(' ');
    let after = words.clone().skip(1);
    words.zip(after).filter_map(|(flag, value)| {
        let is_file = matches!(flag, "-o" | "--timeline" | "--trace" | ">") && value != ".";
        is_file.then_some(value)
    })
}

/// Runs a command of this program in a folder.
fn step(line: &str, folder: &Path) -> Result<()> {
    let (line, kept) = match line.split_once(" > ") {
        Some((line, file)) => (line, Some(file)),
        None => (line, None),
    };
    let program = std::env::current_exe()?;
    let done = Command::new(program).args(line.split(' ')).current_dir(folder).output()?;
    if !done.status.success() {
        bail!("xenoglot {line}: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    kept.map_or(Ok(()), |file| output::write(&folder.join(file), &done.stdout))
}
