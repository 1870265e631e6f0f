//! Formats by the numbers of Vulkan, OpenGL and DXGI, and whether a number says that texels are encoded by sRGB. Of these
//! only ASTC decodes sRGB to other bytes, so that only it has a format for it.

use crate::astc::Footprint;
use crate::format::{Format, Profile, Texel};
use crate::plain::{Field, Layout, Numeric};
use alloc::string::ToString;

/// Footprints before this one in [`Footprint::ALL`] are flat.
const FLAT: usize = 14;

fn astc(index: u32, deep: bool, profile: Profile) -> Option<Format> {
    let footprints = if deep { &Footprint::ALL[FLAT..] } else { &Footprint::ALL[..FLAT] };
    Some(Format::Astc(*footprints.get(index as usize)?, profile))
}

/// The first `VkFormat` of ASTC, of its floats, and of its footprints with depth.
const ASTC: u32 = 157;
const ASTC_FLOAT: u32 = 1_000_066_000;
const ASTC_DEEP: u32 = 1_000_288_000;

/// A format and whether its number says sRGB.
fn with_srgb(format: Format, srgb: bool) -> (Format, bool) {
    (format, srgb || matches!(format, Format::Astc(_, Profile::Srgb)))
}

impl Format {
    /// The format of a `VkFormat`, and whether that is of sRGB. ASTC is to be decoded to bytes, unless it is of floats.
    pub fn from_vulkan(number: u32) -> Option<(Format, bool)> {
        vulkan(number)
    }

    /// The `VkFormat` of the format; that of sRGB if `srgb` is set and there is one.
    pub fn vulkan(self, srgb: bool) -> Option<u32> {
        vulkan_number(self, srgb)
    }

    /// The format of a name, and whether that is of sRGB: as [`Format`] is shown (`BC7`, `ASTC_6x6_SRGB`, `PICA200_ETC1A4`), or
    /// Vulkan's (`VK_FORMAT_BC7_SRGB_BLOCK`). Upper and lower case are alike.
    pub fn from_name(name: &str) -> Option<(Format, bool)> {
        let upper = name.to_ascii_uppercase().replace('-', "_");
        let name = upper.strip_prefix("VK_FORMAT_").unwrap_or(&upper);
        let name = name.strip_suffix("_BLOCK").unwrap_or(name);
        let find = |name: &str| {
            let others = [Format::Etc1s, Format::Etc1sAlpha, Format::Uastc];
            let plain = (1..=184).chain(LATE).filter_map(|number| Some(vulkan(number)?.0));
            let texels = Texel::ALL.map(Format::Plain);
            let mut all = Format::compressed().chain(others).chain(texels).chain(plain);
            all.find(|format| format.to_string().eq_ignore_ascii_case(name))
        };
        let bare = |suffix| name.strip_suffix(suffix).and_then(find);
        let own = find(name).map(|format| (format, matches!(format, Format::Astc(_, Profile::Srgb))));
        own.or_else(|| Some((bare("_UNORM")?, false))).or_else(|| Some((bare("_SRGB")?, true)))
    }

    /// The format of a `DXGI_FORMAT`, and whether that is of sRGB. Numbers without a type stand for those of numbers from
    /// 0 to 1, or of floats where there are none.
    pub fn from_dxgi(number: u32) -> Option<(Format, bool)> {
        dxgi(number)
    }

    /// The `DXGI_FORMAT` of the format; that of sRGB if `srgb` is set and there is one.
    pub fn dxgi(self, srgb: bool) -> Option<u32> {
        let own = || (1..=191).filter(|n| !(OTHERS.contains(n) || *n > 132 && *n < 188 && n % 4 == 1));
        let number = |srgb| own().find(|&n| dxgi(n) == Some((self, srgb)));
        number(srgb).or_else(|| number(false))
    }

    /// The format of OpenGL's sized internal format of blocks, and whether that is of sRGB.
    pub fn from_gl_blocks(internal: u32) -> Option<(Format, bool)> {
        gl(internal)
    }

    /// Plain texels by OpenGL's format and type, as they are given to `glTexImage2D`, and whether the internal format is
    /// of sRGB.
    pub fn from_gl_texels(internal: u32, format: u32, ty: u32) -> Option<(Format, bool)> {
        gl_plain(internal, format, ty)
    }
}

/// A `VkFormat`.
pub fn vulkan(number: u32) -> Option<(Format, bool)> {
    let profiles = [Profile::LdrUnorm8, Profile::Srgb, Profile::Hdr];
    let format = match number {
        123 => Format::E5b9g9r9,
        131 | 132 => Format::Bc1Rgb,
        133 | 134 => Format::Bc1,
        135 | 136 => Format::Bc2,
        137 | 138 => Format::Bc3,
        139 => Format::Bc4Unorm,
        140 => Format::Bc4Snorm,
        141 => Format::Bc5Unorm,
        142 => Format::Bc5Snorm,
        143 => Format::Bc6hUfloat,
        144 => Format::Bc6hSfloat,
        145 | 146 => Format::Bc7,
        147 | 148 => Format::Etc2Rgb,
        149 | 150 => Format::Etc2Rgba1,
        151 | 152 => Format::Etc2Rgba8,
        153 => Format::EacR11Unorm,
        154 => Format::EacR11Snorm,
        155 => Format::EacRg11Unorm,
        156 => Format::EacRg11Snorm,
        ASTC..=184 => astc((number - ASTC) / 2, false, profiles[(number - ASTC) as usize % 2])?,
        ASTC_FLOAT..1_000_066_014 => astc(number - ASTC_FLOAT, false, Profile::Hdr)?,
        ASTC_DEEP..1_000_288_030 => {
            astc((number - ASTC_DEEP) / 3, true, profiles[(number - ASTC_DEEP) as usize % 3])?
        }
        _ => Format::of_layout(vulkan_layout(number)?),
    };
    let srgb =
        matches!(number, 15 | 22 | 29 | 36 | 43 | 50 | 57 | 132 | 134 | 136 | 138 | 146 | 148 | 150 | 152);
    Some(with_srgb(format, srgb))
}

/// Plain texels of a `VkFormat`. Numbers that stand for scaled integers are left out: KTX does not allow them.
fn vulkan_layout(number: u32) -> Option<Layout> {
    use Numeric::{Float, Sint, Snorm, Uint, Unorm};
    let packed = |order: &[u8], bits: &[u8]| Layout::packed(order, bits, Unorm);
    // Families of the same components, a number for each meaning of their bits.
    let of_family = |first: u32, all: &[Option<Numeric>]| *all.get(number.checked_sub(first)? as usize)?;
    let words = [Some(Unorm), Some(Snorm), None, None, Some(Uint), Some(Sint), Some(Float)];
    let bytes = [Some(Unorm), Some(Snorm), None, None, Some(Uint), Some(Sint), Some(Unorm)];
    let wide = [Some(Uint), Some(Sint), Some(Float)];
    for (first, order) in
        [(9, &b"r"[..]), (16, b"rg"), (23, b"rgb"), (30, b"bgr"), (37, b"rgba"), (44, b"bgra"), (51, b"rgba")]
    {
        if let Some(numeric) = of_family(first, &bytes) {
            return Layout::array(order, 8, numeric);
        }
    }
    for (first, order) in [(58, b"argb"), (64, b"abgr")] {
        if let Some(numeric) = of_family(first, &bytes[..6]) {
            return Layout::packed(order, &[2, 10, 10, 10], numeric);
        }
    }
    for (i, order) in [&b"r"[..], b"rg", b"rgb", b"rgba"].into_iter().enumerate() {
        if let Some(numeric) = of_family(70 + 7 * i as u32, &words) {
            return Layout::array(order, 16, numeric);
        }
        if let Some(numeric) = of_family(98 + 3 * i as u32, &wide) {
            return Layout::array(order, 32, numeric);
        }
    }
    // Ten and twelve bits in the high ones of words.
    let high = |count: usize, bits: u8| {
        let mut fields = [Field::NONE; 4];
        for (i, field) in fields.iter_mut().enumerate().take(count) {
            *field = Field { offset: 16 * i as u8 + 16 - bits, bits };
        }
        Layout::new(2 * count as u8, Unorm, fields)
    };
    match number {
        1 => packed(b"rg", &[4, 4]),
        2 => packed(b"rgba", &[4; 4]),
        3 => packed(b"bgra", &[4; 4]),
        4 => packed(b"rgb", &[5, 6, 5]),
        5 => packed(b"bgr", &[5, 6, 5]),
        6 => packed(b"rgba", &[5, 5, 5, 1]),
        7 => packed(b"bgra", &[5, 5, 5, 1]),
        8 => packed(b"argb", &[1, 5, 5, 5]),
        122 => Layout::packed(b"bgr", &[10, 11, 11], Float),
        // Depth and stencil, as red.
        124 => Layout::array(b"r", 16, Unorm),
        125 => packed(b"xr", &[8, 24]),
        126 => Layout::array(b"r", 32, Float),
        127 => Layout::array(b"r", 8, Uint),
        1_000_156_007 => high(1, 10),
        1_000_156_008 => high(2, 10),
        1_000_156_009 => high(4, 10),
        1_000_156_017 => high(1, 12),
        1_000_156_018 => high(2, 12),
        1_000_156_019 => high(4, 12),
        1_000_340_000 => packed(b"argb", &[4; 4]),
        1_000_340_001 => packed(b"abgr", &[4; 4]),
        1_000_470_000 => packed(b"abgr", &[1, 5, 5, 5]),
        1_000_470_001 => Layout::array(b"a", 8, Unorm),
        _ => None,
    }
}

/// Numbers of plain texels behind those of the first version of Vulkan.
const LATE: [u32; 10] = [
    1_000_156_007,
    1_000_156_008,
    1_000_156_009,
    1_000_156_017,
    1_000_156_018,
    1_000_156_019,
    1_000_340_000,
    1_000_340_001,
    1_000_470_000,
    1_000_470_001,
];

/// The `VkFormat` of a format; the sRGB variant if `srgb` is set and there is one.
pub fn vulkan_number(format: Format, srgb: bool) -> Option<u32> {
    let format = match format {
        Format::Astc(footprint, Profile::LdrUnorm8 | Profile::LdrFloat16) if srgb => {
            Format::Astc(footprint, Profile::Srgb)
        }
        Format::Astc(footprint, Profile::LdrFloat16) => Format::Astc(footprint, Profile::LdrUnorm8),
        _ => format,
    };
    let numbers = (1..=184).chain(ASTC_FLOAT..ASTC_FLOAT + 14).chain(LATE).chain(ASTC_DEEP..ASTC_DEEP + 30);
    let number = |srgb| numbers.clone().find(|&n| vulkan(n) == Some(with_srgb(format, srgb)));
    number(srgb).or_else(|| number(false))
}

/// An internal format of OpenGL.
pub fn gl(number: u32) -> Option<(Format, bool)> {
    let format = match number {
        0x83f0 | 0x8c4c => Format::Bc1Rgb,
        0x83f1 | 0x8c4d => Format::Bc1,
        0x83f2 | 0x8c4e => Format::Bc2,
        0x83f3 | 0x8c4f => Format::Bc3,
        0x8dbb => Format::Bc4Unorm,
        0x8dbc => Format::Bc4Snorm,
        0x8dbd => Format::Bc5Unorm,
        0x8dbe => Format::Bc5Snorm,
        0x8e8c | 0x8e8d => Format::Bc7,
        0x8e8e => Format::Bc6hSfloat,
        0x8e8f => Format::Bc6hUfloat,
        0x8d64 => Format::Etc1,
        0x9270 => Format::EacR11Unorm,
        0x9271 => Format::EacR11Snorm,
        0x9272 => Format::EacRg11Unorm,
        0x9273 => Format::EacRg11Snorm,
        0x9274 | 0x9275 => Format::Etc2Rgb,
        0x9276 | 0x9277 => Format::Etc2Rgba1,
        0x9278 | 0x9279 => Format::Etc2Rgba8,
        0x93b0..0x93be => astc(number - 0x93b0, false, Profile::LdrUnorm8)?,
        0x93c0..0x93ca => astc(number - 0x93c0, true, Profile::LdrUnorm8)?,
        0x93d0..0x93de => astc(number - 0x93d0, false, Profile::Srgb)?,
        0x93e0..0x93ea => astc(number - 0x93e0, true, Profile::Srgb)?,
        _ => return None,
    };
    let srgb = matches!(number, 0x8c43 | 0x8c4c..=0x8c4f | 0x8e8d | 0x9275 | 0x9277 | 0x9279);
    Some(with_srgb(format, srgb))
}

/// Plain texels by OpenGL's format and type, and whether its internal format is of sRGB.
pub fn gl_plain(internal: u32, format: u32, ty: u32) -> Option<(Format, bool)> {
    use Numeric::{Float, Sint, Snorm, Uint, Unorm};
    let (order, is_integer): (&[u8], bool) = match format {
        // Depth and stencil, as red.
        0x1901 => (b"r", true),
        0x1902 | 0x1903 => (b"r", false),
        0x8d94 => (b"r", true),
        0x8227 => (b"rg", false),
        0x8228 => (b"rg", true),
        0x1907 => (b"rgb", false),
        0x8d98 => (b"rgb", true),
        0x1908 => (b"rgba", false),
        0x8d99 => (b"rgba", true),
        0x80e0 => (b"bgr", false),
        0x8d9a => (b"bgr", true),
        0x80e1 => (b"bgra", false),
        0x8d9b => (b"bgra", true),
        0x1906 => (b"a", false),
        0x1909 => (b"l", false),
        0x190a => (b"la", false),
        _ => return None,
    };
    let unsigned = if is_integer { Uint } else { Unorm };
    let signed = if is_integer { Sint } else { Snorm };
    let array = |bits, numeric| Layout::array(order, bits, numeric);
    let fits = |count: usize| order.len() == count;
    // The first component in the highest bits, or, reversed, in the lowest.
    let packed = |bits: &[u8], reversed: bool| {
        let mut order = order.to_vec();
        if reversed {
            order.reverse();
        }
        if order.len() == bits.len() { Layout::packed(&order, bits, unsigned) } else { None }
    };
    let layout = match ty {
        0x1400 => array(8, signed),
        0x1401 => array(8, unsigned),
        0x1402 => array(16, signed),
        0x1403 => array(16, unsigned),
        0x1404 => array(32, signed),
        0x1405 => array(32, unsigned),
        0x1406 => array(32, Float),
        0x140b | 0x8d61 => array(16, Float),
        0x8032 => packed(&[3, 3, 2], false),
        0x8362 => packed(&[2, 3, 3], true),
        0x8363 => packed(&[5, 6, 5], false),
        0x8364 => packed(&[5, 6, 5], true),
        0x8033 => packed(&[4; 4], false),
        0x8365 => packed(&[4; 4], true),
        0x8034 => packed(&[5, 5, 5, 1], false),
        0x8366 => packed(&[1, 5, 5, 5], true),
        0x8035 => packed(&[8; 4], false),
        0x8367 => packed(&[8; 4], true),
        0x8036 => packed(&[10, 10, 10, 2], false),
        0x8368 => packed(&[2, 10, 10, 10], true),
        0x8c3b if fits(3) => Layout::packed(b"bgr", &[10, 11, 11], Float),
        0x8c3e if fits(3) => return Some((Format::E5b9g9r9, false)),
        _ => None,
    };
    let srgb = matches!(internal, 0x8c40..=0x8c47);
    Some(with_srgb(Format::of_layout(layout?), srgb))
}

/// Numbers of DXGI that are not those of their formats here: without a type, but those of ASTC, or of depth.
const OTHERS: [u32; 22] =
    [1, 5, 9, 15, 23, 27, 33, 39, 40, 48, 53, 55, 60, 70, 73, 76, 79, 82, 90, 92, 94, 97];

/// A `DXGI_FORMAT`.
pub fn dxgi(number: u32) -> Option<(Format, bool)> {
    let format = match number {
        67 => Format::E5b9g9r9,
        68 => Format::R8g8B8g8,
        69 => Format::G8r8G8b8,
        70..=72 => Format::Bc1,
        73..=75 => Format::Bc2,
        76..=78 => Format::Bc3,
        79 | 80 => Format::Bc4Unorm,
        81 => Format::Bc4Snorm,
        82 | 83 => Format::Bc5Unorm,
        84 => Format::Bc5Snorm,
        89 => Format::XrBias,
        94 | 95 => Format::Bc6hUfloat,
        96 => Format::Bc6hSfloat,
        97..=99 => Format::Bc7,
        // Four numbers a footprint: without a type, from 0 to 1, of sRGB, and one that is not used.
        133..=187 => {
            let profile = match (number - 133) % 4 {
                0 | 1 => Profile::LdrUnorm8,
                2 => Profile::Srgb,
                _ => return None,
            };
            astc((number - 133) / 4, false, profile)?
        }
        _ => Format::of_layout(dxgi_layout(number)?),
    };
    Some(with_srgb(format, matches!(number, 29 | 72 | 75 | 78 | 91 | 93 | 99)))
}

/// Plain texels of a `DXGI_FORMAT`; those without a type are taken for what most files of them hold.
fn dxgi_layout(number: u32) -> Option<Layout> {
    use Numeric::{Float, Sint, Snorm, Uint, Unorm};
    let family = |order: &[u8], bits: u8, all: &[Numeric], at: u32| {
        all.get(at as usize).and_then(|&numeric| Layout::array(order, bits, numeric))
    };
    let wide = [Float, Float, Uint, Sint];
    let words = [Float, Float, Unorm, Uint, Snorm, Sint];
    let bytes = [Unorm, Unorm, Uint, Snorm, Sint];
    match number {
        1..=4 => family(b"rgba", 32, &wide, number - 1),
        5..=8 => family(b"rgb", 32, &wide, number - 5),
        9..=14 => family(b"rgba", 16, &words, number - 9),
        15..=18 => family(b"rg", 32, &wide, number - 15),
        23 | 24 => Layout::packed(b"abgr", &[2, 10, 10, 10], Unorm),
        25 => Layout::packed(b"abgr", &[2, 10, 10, 10], Uint),
        26 => Layout::packed(b"bgr", &[10, 11, 11], Float),
        27..=29 => Layout::array(b"rgba", 8, Unorm),
        30..=32 => family(b"rgba", 8, &[Uint, Snorm, Sint], number - 30),
        33..=38 => family(b"rg", 16, &words, number - 33),
        39..=43 => family(b"r", 32, &[Float, Float, Float, Uint, Sint], number - 39),
        48..=52 => family(b"rg", 8, &bytes, number - 48),
        53 | 54 => Layout::array(b"r", 16, Float),
        55..=59 => family(b"r", 16, &bytes, number - 55),
        60..=64 => family(b"r", 8, &bytes, number - 60),
        65 => Layout::array(b"a", 8, Unorm),
        85 => Layout::packed(b"rgb", &[5, 6, 5], Unorm),
        86 => Layout::packed(b"argb", &[1, 5, 5, 5], Unorm),
        87 | 90 | 91 => Layout::array(b"bgra", 8, Unorm),
        88 | 92 | 93 => Layout::array(b"bgrx", 8, Unorm),
        115 => Layout::packed(b"argb", &[4; 4], Unorm),
        // Named from the lowest bits up.
        191 => Layout::packed(b"rgba", &[4; 4], Unorm),
        _ => None,
    }
}

/// The formats of DDS from before DX10: four letters, or a number of Direct3D 9.
#[cfg(feature = "containers")]
pub fn four_cc(name: [u8; 4]) -> Option<Format> {
    use Numeric::{Float, Snorm, Unorm};
    let array = |order, bits, numeric| Layout::array(order, bits, numeric).map(Format::of_layout);
    Some(match &name {
        b"DXT1" => Format::Bc1,
        b"DXT2" | b"DXT3" => Format::Bc2,
        b"DXT4" | b"DXT5" => Format::Bc3,
        b"ATI1" | b"BC4U" => Format::Bc4Unorm,
        b"BC4S" => Format::Bc4Snorm,
        b"ATI2" | b"BC5U" => Format::Bc5Unorm,
        b"BC5S" => Format::Bc5Snorm,
        b"RGBG" => Format::R8g8B8g8,
        b"GRGB" => Format::G8r8G8b8,
        _ => {
            return match u32::from_le_bytes(name) {
                36 => array(b"rgba", 16, Unorm),
                110 => array(b"rgba", 16, Snorm),
                111 => array(b"r", 16, Float),
                112 => array(b"rg", 16, Float),
                113 => array(b"rgba", 16, Float),
                114 => array(b"r", 32, Float),
                115 => array(b"rg", 32, Float),
                116 => array(b"rgba", 32, Float),
                _ => None,
            };
        }
    })
}
