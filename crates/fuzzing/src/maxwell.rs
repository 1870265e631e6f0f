//! Files with Maxwell programs.

use xenoglot::maxwell::{Options, lift, load};
use xenoglot::{Error, Host, Options as CodeOptions, Translator};
use xenoglot_ir::verify;
use xenoglot_maxwell::container::{Cubin, link};
use xenoglot_opt::pipeline::Verify;

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
