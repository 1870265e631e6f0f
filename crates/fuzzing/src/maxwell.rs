//! Files with Maxwell programs.

use crate::seeds;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use xenoglot::guest::{Guest, Style};
use xenoglot::maxwell::{Options, lift, load};
use xenoglot::{Error, Host, Options as CodeOptions, Translator};
use xenoglot_ir::verify;
use xenoglot_maxwell::container::fatbin::{Compression, Kind};
use xenoglot_maxwell::container::{Cubin, FatBinary, link};
use xenoglot_opt::pipeline::Verify;
use xenoglot_testgen::maxwell::fatbin::{Member, fat_binary as written, in_library};

/// Kernels are linked, or refused.
fn linked(data: &[u8]) {
    let Ok(cubin) = Cubin::parse(data) else { return };
    let addresses: Vec<u64> = (1..=cubin.globals.len() as u64).map(|n| n << 32).collect();
    for kernel in cubin.kernels.iter().take(8) {
        let Ok(bytes) = link(data, &kernel.name, &addresses) else { continue };
        // Sections may overlap in a damaged file, and relocations write to the descriptions of others.
        let Ok(cubin) = Cubin::parse(&bytes) else { continue };
        assert_eq!(bytes.len(), data.len());
        let _ = cubin.kernel(&kernel.name);
    }
}

/// Members of fat binaries are found, decompressed within a limit, and their kernels listed and lifted, or refused.
pub fn fat_binary(data: &[u8]) {
    let Ok(FatBinary { members }) = FatBinary::parse(data) else { return };
    for member in members.iter().take(16) {
        if let Ok(contents) = member.contents(1 << 20) {
            assert_eq!(contents.len() as u64, member.bytes);
        }
    }
    if members.iter().map(|member| member.bytes).fold(0, u64::saturating_add) > 1 << 20 {
        return;
    }
    let guest = xenoglot::maxwell::Maxwell;
    let Ok(image) = guest.load(data) else { return };
    for number in 0..image.programs().len().min(4) {
        let _ = (image.disassemble(number, Style::default()), image.lift(number, &guest.options()));
    }
}

/// Small cubins of the project's vectors: with relocations, global data, functions and many parameters.
fn cubins() -> Vec<Vec<u8>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/maxwell-2/compute/public.tar.xz");
    let file = File::open(&file).expect("the vectors");
    let mut archive = tar::Archive::new(lzma_rust2::XzReader::new(file, false));
    let mut cubins = Vec::new();
    for entry in archive.entries().expect("an archive") {
        let mut entry = entry.expect("an archive");
        let is_cubin =
            entry.path().is_ok_and(|path| path.extension().is_some_and(|ending| ending == "cubin"));
        if is_cubin && entry.size() < 12 << 10 {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("an archive");
            cubins.push(bytes);
        }
    }
    cubins
}

/// Shaders, and those cubins.
pub(crate) fn containers() -> Vec<Vec<u8>> {
    [seeds::maxwell_programs(), cubins()].concat()
}

/// Fat binaries of cubins with PTX, stored in each way, alone and in a library.
pub(crate) fn fat_binaries() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for contents in cubins().iter().take(2) {
        for compression in [None, Some(Compression::Lz4), Some(Compression::Zstd)] {
            let ptx = b".version 8.8\n.target sm_90\n";
            let ptx = Member { kind: Kind::Ptx, sm: 90, contents: ptx, compression };
            let file = written(&[Member { kind: Kind::Cubin, sm: 53, contents, compression }, ptx]);
            files.extend([in_library(&file), file]);
        }
    }
    files
}

/// Programs in any bytes are listed, and lifted to sound modules, which passes keep sound and back ends take, or refused.
pub fn maxwell_container(data: &[u8]) {
    let Ok(programs) = load(data) else { return };
    linked(data);
    let start = data.as_ptr_range();
    let mut translator = Translator::new();
    for program in programs.iter().take(8) {
        let code = program.code.as_ptr_range();
        assert!(program.code.is_empty() || (start.start <= code.start && code.end <= start.end));
        let lifted = match lift(program, &Options::default()) {
            Ok(lifted) => lifted,
            Err(Error::MaxwellLift(_) | Error::Unlinked { .. }) => continue,
            Err(e) => panic!("{}: {e}", program.name),
        };
        verify(&lifted.module).unwrap_or_else(|e| panic!("{}: {e}", program.name));
        for host in ["lavapipe-25", "vulkan-glsl"] {
            let host = Host::named(host).expect("a name of the table");
            let (mut module, options) = (lifted.module.clone(), CodeOptions::default());
            if let Err(errors) = translator.prepare(&mut module, &host, &options, &mut Verify) {
                panic!("{}: {errors}", program.name);
            }
            // What no host has is refused.
            let _ = translator.write(&module, &host, &options);
        }
    }
}
