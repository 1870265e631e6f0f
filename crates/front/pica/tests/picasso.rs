//! Whole SHBINs against those of picasso 2.7.1 (devkitPro/picasso, commit d522455), which made the files in `tests/picasso`:
//! `picasso -o NAME.shbin NAME.pica`.

use std::path::Path;
use xenoglot_pica_shader::asm::{Options, Source, assemble_sources};
use xenoglot_pica_shader::bundled::SHADERS;

/// Sources that say what picasso cannot: a uniform's register.
const NOT_PICASSOS: [&str; 1] = ["particles.g.pica"];

fn assemble(name: &str, text: &str) -> Vec<u8> {
    assemble_sources(&[Source { name, text }], &Options::picasso()).expect("assembles").write()
}

/// The first word that differs.
fn difference(got: &[u8], wanted: &[u8]) -> Option<String> {
    let at = got.chunks(4).zip(wanted.chunks(4)).position(|(a, b)| a != b);
    let at = at.or((got.len() != wanted.len()).then_some(got.len().min(wanted.len()) / 4))?;
    let word = |file: &[u8]| file.get(at * 4..at * 4 + 4).map(<[u8]>::to_vec);
    Some(format!(
        "word {at:#x} of {:#x} and {:#x}: {:x?}, not {:x?}",
        got.len() / 4,
        wanted.len() / 4,
        word(got),
        word(wanted)
    ))
}

#[test]
fn files_are_picassos() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/picasso");
    let mut sources: Vec<(String, String)> = SHADERS
        .iter()
        .filter(|shader| !NOT_PICASSOS.contains(&shader.name))
        .map(|shader| (shader.name.to_owned(), shader.source.to_owned()))
        .collect();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "pica") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            sources.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(sources.len() > 20, "{}", sources.len());
    let mut failures = Vec::new();
    for (name, text) in &sources {
        let wanted = std::fs::read(folder.join(name).with_extension("shbin")).expect(name);
        failures
            .extend(difference(&assemble(name, text), &wanted).map(|failure| format!("{name}: {failure}")));
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
