//! The crate's own shaders, for demonstrations, benchmarks and tests.

/// A shader's source in the assembler's syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundled {
    /// File name: `.v.pica` for vertex, `.g.pica` for geometry shaders.
    pub name: &'static str,
    /// Text.
    pub source: &'static str,
}

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(Bundled { name: $name, source: include_str!(concat!("../shaders/", $name)) }),*]
    };
}

/// All of them, from simple to difficult.
pub const SHADERS: &[Bundled] = bundled![
    "basic.v.pica",
    "textured.v.pica",
    "lit.v.pica",
    "two_lights.v.pica",
    "fragment_light.v.pica",
    "toon.v.pica",
    "shiny.v.pica",
    "skin2.v.pica",
    "skin4.v.pica",
    "skinned.v.pica",
    "fractal.v.pica",
    "irreducible.v.pica",
    "billboard.g.pica",
    "particles.g.pica",
    "subdivision.g.pica",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asm::{assemble, tests::check_round_trip};
    use crate::container::{Limits, ShaderKind, Shbin};

    #[test]
    fn all_assemble_and_round_trip() {
        for shader in SHADERS {
            let shbin = assemble(shader.source).unwrap_or_else(|e| panic!("{}: {e}", shader.name));
            let [dvle] = shbin.executables.as_slice() else { panic!("{}: not one executable", shader.name) };
            assert_eq!(
                dvle.kind == ShaderKind::Geometry,
                shader.name.ends_with(".g.pica"),
                "{}",
                shader.name
            );
            assert!(shbin.program.code.len() <= 512, "{}: more than a vertex unit holds", shader.name);
            check_round_trip(&shbin);
            assert_eq!(
                Shbin::parse(&shbin.write(), &Limits::default()),
                Ok(shbin.clone()),
                "{}",
                shader.name
            );
            println!("{}: {} words", shader.name, shbin.program.code.len());
        }
    }

    #[test]
    fn every_file_is_listed() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
        let mut files: Vec<_> =
            folder.read_dir().unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        let mut listed: Vec<_> = SHADERS.iter().map(|shader| shader.name.to_owned()).collect();
        listed.sort();
        assert_eq!(files, listed);
    }
}
