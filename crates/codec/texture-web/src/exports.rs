//! What the module exports: a file goes in through memory that [`texture_room`] makes, and what was read lies in the module's memory
//! until the next call.

use crate::{Error, Read, Target, read};
use std::cell::RefCell;
use xenoglot_texture::container::Limits;
use xenoglot_texture::{Format, Quality};

/// What lies between two calls.
#[derive(Default)]
struct State {
    file: Vec<u8>,
    /// The description as JSON, or why there is none.
    text: String,
    data: Vec<u8>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

fn with<T>(run: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(run)
}

/// The target of a format's number in Vulkan, 0 for texels, and a place in [`Quality::ALL`]; what is beyond is the last.
fn target(vulkan: u32, quality: u32) -> Result<Target, Error> {
    if vulkan == 0 {
        return Ok(Target::Texels);
    }
    let (format, _) = Format::from_vulkan(vulkan).ok_or(Error::Number(vulkan))?;
    let quality = Quality::ALL.get(quality as usize).copied().unwrap_or(Quality::High);
    Ok(Target::Blocks(format, quality))
}

/// Makes room for a file, and says where the page writes it; what was read before is gone.
// SAFETY: no other symbol of the module has this name, nor have those below.
#[unsafe(no_mangle)]
pub extern "C" fn texture_room(bytes: usize) -> *mut u8 {
    with(|state| {
        *state = State { file: vec![0; bytes], ..State::default() };
        state.file.as_mut_ptr()
    })
}

/// Reads the file: 1, or 0 and the reason as text.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn texture_read(vulkan: u32, quality: u32) -> u32 {
    with(|state| {
        let file = std::mem::take(&mut state.file);
        let done = target(vulkan, quality).and_then(|target| read(&file, target, &Limits::default()));
        let text = match &done {
            Ok(Read { description, .. }) => serde_json::to_string(description).map_err(|e| e.to_string()),
            Err(e) => Err(e.to_string()),
        };
        state.data = done.map(|read| read.data).unwrap_or_default();
        let is_read = text.is_ok();
        state.text = text.unwrap_or_else(|reason| reason);
        is_read.into()
    })
}

/// Where the text lies: what [`Description`](crate::Description) says, in JSON, or why there is none.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn texture_text() -> *const u8 {
    with(|state| state.text.as_ptr())
}

/// Bytes of the text.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn texture_text_bytes() -> usize {
    with(|state| state.text.len())
}

/// Where the images lie.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn texture_data() -> *const u8 {
    with(|state| state.data.as_ptr())
}

/// Bytes of the images.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn texture_data_bytes() -> usize {
    with(|state| state.data.len())
}
