//! Guests: every kind of machine code that becomes modules, behind one interface.
//!
//! ```
//! let guest = xenoglot::guest::named("pica").ok_or("a feature is off")?;
//! let source = b".out pos position\n.proc main\nmov pos, v0\nend\n.end";
//! let image = guest.load(source)?;
//! let module = image.lift(0, &guest.options())?;
//! assert_eq!((image.programs()[0].name.as_str(), module.stage.name()), ("main", "vertex"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::Error;
use xenoglot_ir::Module;
use xenoglot_ir::module::ListingLine;

/// A kind of machine code.
pub trait Guest: Sync {
    /// What commands and options call it: lower-case letters.
    fn name(&self) -> &'static str;

    /// The machine, for people.
    fn title(&self) -> &'static str;

    /// The format of a file of this guest's, for people; `None` where the file is not one. Looks at the beginning of the file
    /// alone.
    fn detect(&self, bytes: &[u8]) -> Option<&'static str>;

    /// The format of a file of another kind that has programs of this guest inside. May look at every byte.
    fn detect_inside(&self, _bytes: &[u8]) -> Option<&'static str> {
        None
    }

    /// How programs are lifted where nothing else is asked for.
    fn options(&self) -> LiftOptions;

    /// Reads a file.
    ///
    /// # Errors
    /// The reader's, with the offset; [`Error::UnknownFormat`] where no program is inside.
    fn load<'a>(&self, bytes: &'a [u8]) -> Result<Box<dyn Image + 'a>, Error>;
}

/// A file that was read.
pub trait Image {
    /// Its stretches of code, in the order of the file. Each has a listing.
    fn units(&self) -> &[Unit];

    /// Its programs, in the order of the file.
    fn programs(&self) -> &[Program];

    /// The code of a unit as text of the guest's assembler.
    ///
    /// # Errors
    /// [`Error::NoExecutable`]; code that the guest has no text form for.
    fn disassemble(&self, unit: usize, style: Style) -> Result<String, Error>;

    /// A program's module.
    ///
    /// # Errors
    /// [`Error::NoExecutable`], [`Error::ForeignOptions`], and what the lifter refuses, with the guest's address.
    fn lift(&self, program: usize, options: &LiftOptions) -> Result<Module, Error>;

    /// A program's instructions by guest address, in order, for comments in what is made of its module. Empty where the
    /// guest's code has no addresses.
    fn listing(&self, _program: usize) -> Vec<ListingLine> {
        Vec::new()
    }
}

/// A stretch of code of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unit {
    /// Its name, where the file has one.
    pub name: Option<String>,
    /// Byte offset in the file, where it is read from one place.
    pub offset: Option<usize>,
    /// Tells it from the file's others in names of results: empty, or begins with a period.
    pub suffix: String,
    /// Extension of files with its text.
    pub extension: &'static str,
}

/// What of a file is lifted as one module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Its name; `main` where the file has none.
    pub name: String,
    /// What it is run as, for people.
    pub stage: &'static str,
    /// The unit that it is in.
    pub unit: usize,
    /// The number that commands choose it by: within its unit where a unit has several programs, else within the file.
    pub number: usize,
    /// Tells it from the file's others in names of results: empty, or begins with a period.
    pub suffix: String,
}

/// How listings are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Names of the file, instead of numbers of registers and addresses.
    pub names: bool,
    /// Each instruction's address and encoding too, where the guest's listing may leave them out.
    pub addresses: bool,
}

impl Default for Style {
    fn default() -> Style {
        Style { names: true, addresses: false }
    }
}

/// How a program is lifted: options of its guest.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LiftOptions {
    /// Of modules, which are lifted.
    Ir,
    /// Of PICA200 shaders.
    #[cfg(feature = "pica")]
    Pica(crate::pica::Options),
    /// Of Maxwell programs.
    #[cfg(feature = "maxwell")]
    Maxwell(crate::maxwell::Options),
    /// Of Direct3D 12 shaders.
    #[cfg(feature = "dxil")]
    Dxil(crate::dxil::Options),
    /// Of MIPS programs.
    #[cfg(feature = "mips")]
    Mips(crate::mips::Options),
    /// Of the Dragon's programs.
    #[cfg(feature = "vpu")]
    Vpu(xenoglot_vpu::lift::LiftOptions),
}

impl LiftOptions {
    /// The name of the guest that these options belong to.
    pub fn guest(&self) -> &'static str {
        match self {
            LiftOptions::Ir => "ir",
            #[cfg(feature = "pica")]
            LiftOptions::Pica(_) => "pica",
            #[cfg(feature = "maxwell")]
            LiftOptions::Maxwell(_) => "maxwell",
            #[cfg(feature = "dxil")]
            LiftOptions::Dxil(_) => "dxil",
            #[cfg(feature = "mips")]
            LiftOptions::Mips(_) => "mips",
            #[cfg(feature = "vpu")]
            LiftOptions::Vpu(_) => "vpu",
        }
    }

    /// The error of a guest that was given the options of another.
    pub(crate) fn foreign(&self, guest: &'static str) -> Error {
        Error::ForeignOptions { guest, given: self.guest() }
    }
}

/// All guests of this build, those whose files are told with most certainty first.
pub static GUESTS: &[&dyn Guest] = &[
    #[cfg(feature = "maxwell")]
    &crate::maxwell::Maxwell,
    #[cfg(feature = "dxil")]
    &crate::dxil::Dxil,
    #[cfg(feature = "mips")]
    &crate::mips::Mips,
    &crate::ir_text::IrText,
    #[cfg(feature = "pica")]
    &crate::pica::Pica,
    #[cfg(feature = "vpu")]
    &crate::vpu::Vpu,
];

/// The guest of a name.
pub fn named(name: &str) -> Option<&'static dyn Guest> {
    GUESTS.iter().copied().find(|guest| guest.name() == name)
}

/// A file's guest and the name of its format, for people; `None` for files that are no guest's and have no programs inside.
pub fn detect(bytes: &[u8]) -> Option<(&'static dyn Guest, &'static str)> {
    let found = |look: fn(&dyn Guest, &[u8]) -> Option<&'static str>| {
        GUESTS.iter().find_map(|&guest| Some((guest, look(guest, bytes)?)))
    };
    found(|guest, bytes| guest.detect(bytes)).or_else(|| found(|guest, bytes| guest.detect_inside(bytes)))
}

/// Bytes of a text that are looked at.
const SNIFF: usize = 1 << 16;

/// The first word of a text's first line that is neither empty nor a comment; `None` where the bytes are no text.
pub(crate) fn first_word(bytes: &[u8]) -> Option<&str> {
    let head = &bytes[..bytes.len().min(SNIFF)];
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // A character may be cut at the end of the head.
        Err(e) if e.error_len().is_none() => std::str::from_utf8(head.get(..e.valid_up_to())?).ok()?,
        Err(_) => return None,
    };
    if text.contains('\0') {
        return None;
    }
    let line = text.lines().map(|l| l.split(';').next().unwrap_or("").trim()).find(|l| !l.is_empty())?;
    line.split_whitespace().next()
}

/// The text that a file is.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|e| Error::Utf8 { offset: e.valid_up_to() })
}

/// An entry of a list, or the error that there is none.
pub(crate) fn entry<T>(list: &[T], index: usize) -> Result<&T, Error> {
    list.get(index).ok_or(Error::NoExecutable { index, count: list.len() })
}

/// What tells entry `index` of `count` from the others; nothing where it is alone.
#[cfg(any(feature = "dxil", feature = "maxwell", feature = "mips", feature = "pica"))]
pub(crate) fn suffix(index: usize, count: usize) -> String {
    if count > 1 { format!(".{index}") } else { String::new() }
}

#[cfg(all(test, feature = "dxil", feature = "maxwell", feature = "mips", feature = "pica"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(bytes: &[u8]) -> Option<&'static str> {
        detect(bytes).map(|(guest, _)| guest.name())
    }

    #[test]
    fn texts_are_told_apart() {
        assert_eq!(name(b"; a comment\nmodule vertex \"x\" {}"), Some("ir"));
        assert_eq!(name(b"; hello\n.out pos position\n.proc main"), Some("pica"));
        assert_eq!(name(b"mov o0, v0\nend"), Some("pica"));
        assert_eq!(name(b"Lorem ipsum"), None);
        assert_eq!(name(b""), None);
        assert_eq!(name(b".\0"), None);
    }

    #[test]
    fn binaries_are_told_by_their_magic() {
        assert_eq!(detect(b"DXBC").map(|(_, format)| format), Some("Direct3D container (DXBC)"));
        assert_eq!(detect(b"BC\xc0\xde").map(|(_, format)| format), Some("DXIL bitcode"));
        assert_eq!(detect(b"\xde\xc0\x17\x0b").map(|(_, format)| format), Some("DXIL bitcode with wrapper"));
        let elf = [b"\x7fELF\x01\x01".as_slice(), &[0; 12], &[8, 0]].concat();
        assert_eq!(name(&elf), Some("mips"));
    }

    #[test]
    fn guests_are_found_by_name_and_take_their_own_options_only() {
        for guest in GUESTS {
            assert_eq!(named(guest.name()).map(Guest::name), Some(guest.name()));
            assert_eq!(guest.options().guest(), guest.name());
        }
        let pica = named("pica").unwrap();
        let image = pica.load(b".out pos position\n.proc main\nmov pos, v0\nend\n.end").unwrap();
        let error = image.lift(0, &named("maxwell").unwrap().options()).unwrap_err();
        assert!(matches!(error, Error::ForeignOptions { guest: "pica", given: "maxwell" }), "{error}");
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(256))]

        /// No bytes make a guest panic: they are refused, or what they hold can be listed and is lifted or refused.
        #[test]
        fn any_bytes_are_something(bytes: Vec<u8>, start in prop::sample::select(vec![
            b"".as_slice(), b"DVLB", b"DXBC", b"BC\xc0\xde", b"\x7fELF\x01\x02\x01", b"module compute \"x\" {", b"mov o0, v0\n",
        ])) {
            let bytes = [start, &bytes].concat();
            detect(&bytes);
            for guest in GUESTS {
                let Ok(image) = guest.load(&bytes) else { continue };
                for unit in 0..image.units().len() {
                    let _ = image.disassemble(unit, Style::default());
                }
                for program in 0..image.programs().len().min(4) {
                    let _ = image.lift(program, &guest.options());
                    image.listing(program);
                }
            }
        }
    }
}
