//! How many programs of the vectors become code for each named host, through the three lines that embed the library:
//!
//! `cargo run --release -p xenoglot-conformance --example targets` prints the table of docs/hosts.md, and each refusal with
//! its programs.

use rayon::prelude::*;
use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::path::Path;
use xenoglot::host::Language;
use xenoglot::{Code, Host, Options, Translator};
use xenoglot_conformance::corpora::{self, Error, Named};

const HOSTS: [&str; 7] = ["vulkan-1.1", "vulkan-1.3", "gl-4.5", "gles-3.1", "webgpu", "metal", "d3d12"];

fn main() -> Result<(), Error> {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    let sets: Vec<(&str, Vec<Named>)> = vec![
        ("PICA200", corpora::pica(&vectors.join("pica"))?),
        ("Maxwell, kernels", corpora::maxwell_kernels(&vectors.join("maxwell/compute/public.tar.xz"))?.0),
        ("Maxwell, graphics", corpora::maxwell_shaders(&vectors.join("maxwell/graphics/public.tar.xz"))?),
        ("DXIL, compute", corpora::dxil(&vectors.join("dxil/compute"))?),
        ("DXIL, other stages", corpora::dxil(&vectors.join("dxil/stages"))?),
        ("DXIL, fuzzed", corpora::dxil(&vectors.join("dxil/fuzz"))?),
    ];
    println!("| programs | | {} |", HOSTS.join(" | "));
    println!("|---|---:|{}", "---:|".repeat(HOSTS.len()));
    let mut refusals: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for (set, modules) in &sets {
        let mut row = format!("| {set} | {} |", modules.len());
        for host in HOSTS {
            let of: Host = host.parse()?;
            let refused: Vec<(String, String)> = modules
                .par_iter()
                .map_init(Translator::new, |translator, (name, module)| {
                    let code = translator.compile(&mut module.clone(), &of, &Options::default());
                    let checked = code.map_err(|e| e.to_string()).and_then(|code| check(&of, &code));
                    checked.err().map(|e| (reason(&e), name.clone()))
                })
                .flatten()
                .collect();
            row.push_str(&format!(" {} |", modules.len() - refused.len()));
            for (reason, name) in refused {
                refusals.entry((host, reason)).or_default().push(name);
            }
        }
        println!("{row}");
    }
    println!();
    for ((host, reason), mut names) in refusals {
        // A shader's two binding models are one name.
        let count = names.len();
        names.dedup();
        println!("* {host}: {reason} ({count}: {})", names.join("; "));
    }
    Ok(())
}

/// What naga's own reader says of WGSL, and the validator of SPIR-V's tools of SPIR-V.
fn check(host: &Host, code: &Code) -> Result<(), String> {
    match code {
        Code::Text(text) if host.language == Language::Wgsl => {
            let parsed = catch_unwind(|| naga::front::wgsl::parse_str(text));
            let parsed = parsed.map_err(|_| "naga panics at its own WGSL")?;
            parsed.map(drop).map_err(|e| format!("naga refuses its own WGSL: {}", e.message()))
        }
        _ => Ok(()),
    }
}

/// An error without what differs from program to program.
fn reason(error: &str) -> String {
    error.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect::<String>().replace("##", "#")
}
