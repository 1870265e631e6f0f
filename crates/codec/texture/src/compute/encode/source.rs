//! Which sources and tables an encoder's program is made of.

use crate::compute::source::{Add, is_signed, wgsl};
use crate::compute::tables::{self, Tables};
use crate::format::{Format, Texel};
use std::fmt::Write;

/// The encoder of a format in WGSL, and its tables; nothing for formats that have none.
pub fn program(format: Format) -> Option<(String, Vec<u32>)> {
    let (parts, add): (&[&str], &[Add]) = match format {
        Format::Bc1Rgb => {
            (wgsl!("encode/bytes", "encode/codes", "encode/color", "encode/bc1"), &[tables::bc1_single])
        }
        Format::Bc3 => {
            let parts = wgsl!("encode/bytes", "encode/codes", "encode/color", "encode/ramp", "encode/bc3");
            (parts, &[tables::bc1_single])
        }
        Format::Bc4Unorm => (wgsl!("encode/bytes", "encode/ramp", "encode/bc4"), &[]),
        Format::Bc5Unorm => (wgsl!("encode/bytes", "encode/ramp", "encode/bc5"), &[]),
        Format::Bc6hUfloat | Format::Bc6hSfloat => {
            (wgsl!("bc6h_mode", "encode/fields", "encode/bc6h"), &[tables::bc6h])
        }
        Format::Bc7 => {
            (wgsl!("encode/bytes", "encode/codes", "encode/fields", "encode/bc7"), &[tables::bc7_single])
        }
        _ => return None,
    };
    let mut tables = Tables::default();
    add.iter().for_each(|add| add(&mut tables));
    let mut source = tables.constants;
    let texel = match format.encoder_texel()? {
        Texel::Rgba16Float => "vec2<u32>",
        _ => "u32",
    };
    // Writing to a string cannot fail.
    let _ = writeln!(source, "const SIGNED: bool = {};", is_signed(format));
    let _ = writeln!(source, "alias Texel = {texel};");
    let _ = writeln!(source, "alias Block = vec{}<u32>;", format.block_bytes() / 4);
    let shared: &[&str] = wgsl!("common", "picture", "encode/main", "encode/line");
    source.extend(shared.iter().chain(parts).copied());
    Some((source, tables.words))
}
