//! What a file is, by its content.

#[cfg(feature = "dxil")]
use xenoglot_dxil::container as dxil;
#[cfg(feature = "maxwell")]
use xenoglot_maxwell::container as maxwell;
#[cfg(feature = "pica")]
use xenoglot_pica_shader::container::extract::extract;
#[cfg(feature = "pica")]
use xenoglot_pica_shader::container::{Limits, Shbin};

/// A kind of file. Those of guests whose feature is off are [`Format::Unknown`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A PICA200 shader binary.
    Shbin,
    /// PICA200 assembly.
    PicaAssembly,
    /// Text form of the IR.
    IrText,
    /// NVIDIA Maxwell or Pascal programs.
    #[cfg(feature = "maxwell")]
    Maxwell(maxwell::Format),
    /// A shader of Direct3D 12.
    #[cfg(feature = "dxil")]
    Dxil(dxil::Format),
    /// Anything else with PICA200 shader binaries inside.
    ContainsShbin,
    /// None of these.
    Unknown,
}

impl Format {
    /// A name for people.
    pub fn name(self) -> &'static str {
        match self {
            Format::Shbin => "PICA200 shader binary (SHBIN)",
            Format::PicaAssembly => "PICA200 assembly",
            Format::IrText => "Xenoglot IR text",
            #[cfg(feature = "maxwell")]
            Format::Maxwell(format) => format.name(),
            #[cfg(feature = "dxil")]
            Format::Dxil(format) => format.name(),
            Format::ContainsShbin => "file with PICA200 shader binaries inside",
            Format::Unknown => "unknown",
        }
    }
}

/// Bytes of a text that are looked at.
const SNIFF: usize = 1 << 16;

/// Says what `bytes` are. Costs one scan for embedded binaries if they are nothing else.
pub fn detect(bytes: &[u8]) -> Format {
    #[cfg(feature = "pica")]
    if bytes.starts_with(b"DVLB") {
        // A file that only begins like one may still hold others.
        return match Shbin::parse(bytes, &Limits::default()) {
            Err(_) if contains_shbin(bytes) => Format::ContainsShbin,
            _ => Format::Shbin,
        };
    }
    #[cfg(feature = "maxwell")]
    if let Some(format) = maxwell::detect(bytes) {
        return Format::Maxwell(format);
    }
    #[cfg(feature = "dxil")]
    if let Some(format) = dxil::detect(bytes) {
        return Format::Dxil(format);
    }
    let head = &bytes[..bytes.len().min(SNIFF)];
    // A multi-byte character may be cut at the end of the head.
    let text = match std::str::from_utf8(head) {
        Ok(text) => Some(text),
        Err(e) if e.error_len().is_none() => std::str::from_utf8(&head[..e.valid_up_to()]).ok(),
        Err(_) => None,
    };
    match text.and_then(sniff_text) {
        Some(format) => format,
        None if contains_shbin(bytes) => Format::ContainsShbin,
        None => Format::Unknown,
    }
}

#[cfg(feature = "pica")]
fn contains_shbin(bytes: &[u8]) -> bool {
    !extract(bytes, &Limits::default()).found.is_empty()
}

#[cfg(not(feature = "pica"))]
fn contains_shbin(_: &[u8]) -> bool {
    false
}

#[cfg(feature = "pica")]
fn is_pica_mnemonic(word: &str) -> bool {
    xenoglot_pica_shader::inst::Opcode::from_name(word).is_some()
}

#[cfg(not(feature = "pica"))]
fn is_pica_mnemonic(_: &str) -> bool {
    false
}

/// The first line of code decides: IR starts with `module`, assembly with a directive, a label or an instruction.
fn sniff_text(text: &str) -> Option<Format> {
    if text.contains('\0') {
        return None;
    }
    let line = text.lines().map(|l| l.split(';').next().unwrap_or("").trim()).find(|l| !l.is_empty())?;
    let word = line.split_whitespace().next()?;
    if word == "module" {
        return Some(Format::IrText);
    }
    let is_pica = word.starts_with('.') || word.ends_with(':') || is_pica_mnemonic(word);
    (is_pica && cfg!(feature = "pica")).then_some(Format::PicaAssembly)
}

#[cfg(all(test, feature = "dxil", feature = "pica"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_told_apart() {
        assert_eq!(detect(b"; a comment\nmodule vertex \"x\" {}"), Format::IrText);
        assert_eq!(detect(b"; hello\n.out pos position\n.proc main"), Format::PicaAssembly);
        assert_eq!(detect(b"mov o0, v0\nend"), Format::PicaAssembly);
        assert_eq!(detect(b"Lorem ipsum"), Format::Unknown);
        assert_eq!(detect(b""), Format::Unknown);
        assert_eq!(detect(b".\0"), Format::Unknown);
        assert_eq!(detect(b"DXBC"), Format::Dxil(dxil::Format::Container));
        assert_eq!(detect(b"BC\xc0\xde"), Format::Dxil(dxil::Format::Bitcode));
    }

    #[test]
    fn direct3d_is_told_by_its_first_word() {
        assert_eq!(detect(b"DXBC"), Format::Dxil(dxil::Format::Container));
        assert_eq!(detect(b"BC\xc0\xde"), Format::Dxil(dxil::Format::Bitcode));
        assert_eq!(detect(b"\xde\xc0\x17\x0b"), Format::Dxil(dxil::Format::WrappedBitcode));
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(256))]

        #[test]
        fn any_bytes_are_something(bytes: Vec<u8>) {
            detect(&bytes);
            detect(&[b"DVLB".as_slice(), &bytes].concat());
        }
    }
}
