//! Atomics on images: whether they are signed.

mod common;

use common::code;
use xenoglot_ir::module::ImageFormat;
use xenoglot_maxwell::decode;
use xenoglot_maxwell::gpu::{GpuAccessor, Handle};
use xenoglot_maxwell::lift::{Kernel, LiftError, LiftOptions, lift_compute_on};

/// Images of a format.
struct Gpu(ImageFormat);

impl GpuAccessor for Gpu {
    fn image_format(&self, _handle: Handle) -> ImageFormat {
        self.0
    }
}

fn lifted(word: u64, format: ImageFormat) -> Result<String, LiftError> {
    let kernel = Kernel {
        code: &code(&[word]),
        entry: 0,
        workgroup: [32, 1, 1],
        shared_bytes: 0,
        local_bytes: 0,
        constants: &[],
        functions: &[],
    };
    let lifted = lift_compute_on(&kernel, &LiftOptions::default(), &Gpu(format))?;
    xenoglot_ir::verify(&lifted.module).unwrap_or_else(|e| panic!("{e}\n{}", lifted.module));
    Ok(lifted.module.to_string())
}

/// Bound raw MAX and MIN of uam, as in `cs_image_atomics.comp` of `vectors/maxwell-2`: the type, S32, is written over the
/// handle's index 0x49.
const MAX: u64 = 0xea78_0496_4057_00ff;
const MIN: u64 = 0xea78_0496_2067_00ff;

#[test]
fn bound_image_atomics_are_signed_as_the_images_format_is() {
    for (word, name) in [(MAX, "max"), (MIN, "min")] {
        let text = decode(8, word).unwrap().to_string();
        assert!(text.starts_with("SUATOM.D.2D"), "{text}");
        for (format, sign) in
            [(ImageFormat::R32i, 's'), (ImageFormat::R32ui, 'u'), (ImageFormat::Unknown, 'u')]
        {
            let module = lifted(word, format).unwrap();
            assert!(module.contains(&format!("atomic.{sign}{name}")), "{format:?}\n{module}");
            let seen = if format == ImageFormat::R32i { " r32i" } else { " r32ui" };
            assert!(module.contains(seen), "{format:?}\n{module}");
        }
    }
}

#[test]
fn bound_image_atomics_on_texels_that_have_none_are_refused() {
    for format in [ImageFormat::Rgba8, ImageFormat::R32f] {
        assert!(matches!(lifted(MAX, format), Err(LiftError::Unsupported { .. })), "{format:?}");
    }
}
