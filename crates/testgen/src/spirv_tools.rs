//! SPIRV-Tools' validator and disassembler, from its shared library: compiling it in takes minutes, and starting `spirv-val` for
//! a module takes longer than validating it.
//!
//! The library is the file that `XENOGLOT_SPIRV_TOOLS` names, else the one that `./test.sh` installed, else the system's.
//! Functions, structures and numbers are those of its header `libspirv.h`.

use libloading::{Library, library_filename};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::{Once, OnceLock};

/// Year and number of a release.
pub type Release = (u32, u32);

/// The environment variable that names the library.
pub const VARIABLE: &str = "XENOGLOT_SPIRV_TOOLS";

/// Releases before this one refuse valid modules: they take locations of patches for those of vertices.
pub const SINCE: Release = (2024, 1);

/// `SPV_BINARY_TO_TEXT_OPTION_NO_HEADER` and `_FRIENDLY_NAMES`.
const TEXT_OPTIONS: u32 = 1 << 5 | 1 << 6;

/// `spv_diagnostic_t`.
#[repr(C)]
struct Diagnostic {
    /// Line, column and index of a word.
    position: [usize; 3],
    error: *mut c_char,
    is_text: bool,
}

/// `spv_text_t`.
#[repr(C)]
struct Text {
    characters: *const c_char,
    length: usize,
}

type Context = *mut c_void;
type Validate = unsafe extern "C" fn(Context, *const u32, usize, *mut *mut Diagnostic) -> c_int;
type ToText =
    unsafe extern "C" fn(Context, *const u32, usize, u32, *mut *mut Text, *mut *mut Diagnostic) -> c_int;

/// The library, loaded.
pub struct SpirvTools {
    release: Release,
    parse_target: unsafe extern "C" fn(*const c_char, *mut c_int) -> bool,
    create: unsafe extern "C" fn(c_int) -> Context,
    destroy: unsafe extern "C" fn(Context),
    validate: Validate,
    to_text: ToText,
    destroy_text: unsafe extern "C" fn(*mut Text),
    destroy_diagnostic: unsafe extern "C" fn(*mut Diagnostic),
    /// Keeps the code of the functions above in memory.
    _library: Library,
}

impl SpirvTools {
    /// The library, if there is one of release 2024.1 or later; loaded once.
    pub fn find() -> Option<&'static SpirvTools> {
        static FOUND: OnceLock<Option<SpirvTools>> = OnceLock::new();
        let load = || candidates().into_iter().find_map(SpirvTools::load);
        FOUND.get_or_init(load).as_ref()
    }

    fn load(path: PathBuf) -> Option<SpirvTools> {
        // SAFETY: SPIRV-Tools' library initialises tables when it is loaded, nothing else. The types are those of the
        // functions in its header, and the functions are used as long as the library is loaded: both are in one structure.
        unsafe {
            let library = Library::new(path).ok()?;
            let version: unsafe extern "C" fn() -> *const c_char =
                *library.get(b"spvSoftwareVersionString\0").ok()?;
            let release = release(CStr::from_ptr(version()).to_str().ok()?).filter(|&r| r >= SINCE)?;
            Some(SpirvTools {
                release,
                parse_target: *library.get(b"spvParseTargetEnv\0").ok()?,
                create: *library.get(b"spvContextCreate\0").ok()?,
                destroy: *library.get(b"spvContextDestroy\0").ok()?,
                validate: *library.get(b"spvValidateBinary\0").ok()?,
                to_text: *library.get(b"spvBinaryToText\0").ok()?,
                destroy_text: *library.get(b"spvTextDestroy\0").ok()?,
                destroy_diagnostic: *library.get(b"spvDiagnosticDestroy\0").ok()?,
                _library: library,
            })
        }
    }

    /// The library's release.
    pub fn release(&self) -> Release {
        self.release
    }

    /// Whether words are a valid module for a target that `spirv-val` knows by this name, such as `vulkan1.3`.
    ///
    /// # Errors
    /// What the validator says; a target that it does not know.
    pub fn validate(&self, words: &[u32], target: &str) -> Result<(), String> {
        self.with_context(target, |context, diagnostic| {
            // SAFETY: the context is alive, and the pointer and length are those of a slice.
            unsafe { (self.validate)(context, words.as_ptr(), words.len(), diagnostic) }
        })
    }

    /// A module's text, with names made of what ids are.
    ///
    /// # Errors
    /// Words that are no module.
    pub fn disassemble(&self, words: &[u32]) -> Result<String, String> {
        let mut text: *mut Text = null_mut();
        self.with_context("vulkan1.3", |context, diagnostic| {
            // SAFETY: as in `validate`; the text is written to where one pointer has room.
            unsafe {
                (self.to_text)(context, words.as_ptr(), words.len(), TEXT_OPTIONS, &mut text, diagnostic)
            }
        })?;
        // SAFETY: where it succeeds, the library has made a text of so many characters, which is ours to destroy.
        unsafe {
            let Some(made) = text.as_ref() else { return Err("no text".into()) };
            let characters = std::slice::from_raw_parts(made.characters.cast::<u8>(), made.length);
            let owned = String::from_utf8_lossy(characters).into_owned();
            (self.destroy_text)(text);
            Ok(owned)
        }
    }

    /// Calls a function of the library with a context of its own; what the function says where it does not succeed.
    fn with_context(
        &self,
        target: &str,
        call: impl FnOnce(Context, *mut *mut Diagnostic) -> c_int,
    ) -> Result<(), String> {
        let name = CString::new(target).map_err(|e| e.to_string())?;
        let mut number = 0;
        // SAFETY: the name ends in a zero, and the number is written to where it has room.
        if !unsafe { (self.parse_target)(name.as_ptr(), &mut number) } {
            return Err(format!("no target is called {target}"));
        }
        // SAFETY: the target is one that the library gave.
        let context = unsafe { (self.create)(number) };
        if context.is_null() {
            return Err("no context".into());
        }
        let mut diagnostic: *mut Diagnostic = null_mut();
        let code = call(context, &mut diagnostic);
        // SAFETY: what the library has written to the pointer is a diagnostic, or nothing; its message ends in a zero. Both
        // are destroyed once, and the context after them.
        unsafe {
            let said = diagnostic.as_ref().map(|diagnostic| {
                let message = CStr::from_ptr(diagnostic.error).to_string_lossy().into_owned();
                format!("word {}: {message}", diagnostic.position[2])
            });
            if !diagnostic.is_null() {
                (self.destroy_diagnostic)(diagnostic);
            }
            (self.destroy)(context);
            match code {
                0 => Ok(()),
                code => Err(said.unwrap_or_else(|| format!("code {code}"))),
            }
        }
    }
}

/// [`SpirvTools::validate`]; where there is no library, a line says so once, and everything is taken for valid.
///
/// # Errors
/// What the validator says.
pub fn validate(words: &[u32], target: &str) -> Result<(), String> {
    match SpirvTools::find() {
        Some(tools) => tools.validate(words, target),
        None => {
            // A test validates many modules.
            static SAID: Once = Once::new();
            SAID.call_once(|| {
                crate::skip("SPIR-V is not validated: no library of SPIRV-Tools 2024.1 or later")
            });
            Ok(())
        }
    }
}

/// Where the library may be, the best first.
fn candidates() -> Vec<PathBuf> {
    let file = library_filename("SPIRV-Tools-shared");
    let folder = |variable, below: &str| std::env::var_os(variable).map(|f| PathBuf::from(f).join(below));
    let cache = folder("XDG_CACHE_HOME", "").or_else(|| folder("HOME", ".cache"));
    let installed = cache.map(|cache| cache.join("xenoglot/spirv-tools/lib").join(&file));
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    named.into_iter().chain(installed).chain([PathBuf::from(file)]).collect()
}

/// The release of a version string, such as `v2025.5` or `v2025.5-dev`.
pub fn release(version: &str) -> Option<Release> {
    let (year, rest) = version.trim_start_matches('v').split_once('.')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((year.parse().ok()?, rest.get(..digits)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A compute shader that returns.
    #[rustfmt::skip]
    const EMPTY: [u32; 35] = [
        // Magic number, SPIR-V 1.0, bound of 5 ids.
        0x0723_0203, 0x0001_0000, 0, 5, 0,
        // OpCapability Shader, OpMemoryModel Logical GLSL450
        2 << 16 | 17, 1, 3 << 16 | 14, 0, 1,
        // OpEntryPoint GLCompute %1 "main", OpExecutionMode %1 LocalSize 1 1 1
        5 << 16 | 15, 5, 1, u32::from_le_bytes(*b"main"), 0, 6 << 16 | 16, 1, 17, 1, 1, 1,
        // OpTypeVoid %2, OpTypeFunction %3 %2
        2 << 16 | 19, 2, 3 << 16 | 33, 3, 2,
        // OpFunction %2 %1 None %3, OpLabel %4, OpReturn, OpFunctionEnd
        5 << 16 | 54, 2, 1, 0, 3, 2 << 16 | 248, 4, 1 << 16 | 253, 1 << 16 | 56,
    ];

    #[test]
    fn modules_are_validated_and_disassembled() {
        let Some(tools) = SpirvTools::find() else { return crate::skip("no library of SPIRV-Tools") };
        assert!(tools.release() >= SINCE);
        assert_eq!(tools.validate(&EMPTY, "vulkan1.1"), Ok(()));
        assert!(tools.disassemble(&EMPTY).unwrap().contains("OpMemoryModel Logical GLSL450"));
        let unknown = EMPTY.map(|word| if word == 1 << 16 | 253 { 1 << 16 | 254 } else { word });
        assert!(tools.validate(&unknown, "vulkan1.1").is_err());
        assert!(tools.validate(&[], "vulkan1.1").is_err());
        assert!(tools.disassemble(&EMPTY[..4]).is_err());
        assert!(tools.validate(&EMPTY, "vulkan\0").is_err());
        assert_eq!(tools.validate(&EMPTY, "moon1.1"), Err("no target is called moon1.1".into()));
    }

    #[test]
    fn releases_are_read() {
        assert_eq!(release("v2025.5"), Some((2025, 5)));
        assert_eq!(release("v2023.1-dev unknown"), Some((2023, 1)));
        assert_eq!(release("unknown"), None);
    }
}
