//! Programs of fat binaries, whose members may be compressed: an image owns what they were decompressed to.

use super::{Program, load};
use crate::Error;
use xenoglot_maxwell::container::ContainerError;
use xenoglot_maxwell::container::fatbin::{FatBinary, Kind, Member};

/// Most bytes of cubins of a fat binary that are loaded together. Those of larger ones are to be extracted and loaded one by one.
pub const MAX_FAT_BYTES: u64 = 1 << 28;

type Programs<'a> = Vec<Program<'a>>;

self_cell::self_cell!(
    /// A cubin with its kernels.
    pub(super) struct Loaded {
        owner: Vec<u8>,
        #[covariant]
        dependent: Programs,
    }
);

/// Whether a member is a cubin of SM50 to SM62.
fn is_ours(member: &Member) -> bool {
    member.kind == Kind::Cubin && (50..=62).contains(&member.sm)
}

/// Whether bytes are a fat binary, or have one inside.
pub(super) fn is_fat(bytes: &[u8]) -> bool {
    FatBinary::is_one(bytes) || FatBinary::is_inside(bytes)
}

/// The kernels of all members for SM50 to SM62, with what tells those of one architecture from others'.
///
/// # Errors
/// The reader's; [`ContainerError::Architecture`] if there is no such member, [`ContainerError::TooLarge`] with more than
/// [`MAX_FAT_BYTES`].
pub(super) fn members(bytes: &[u8]) -> Result<Vec<(Loaded, String)>, Error> {
    let all = FatBinary::parse(bytes)?.members;
    let (mut loaded, mut left) = (Vec::new(), MAX_FAT_BYTES);
    for member in all.iter().filter(|member| is_ours(member)) {
        let contents = member.contents(left)?.into_owned();
        left = left.saturating_sub(contents.len() as u64);
        let cell = Loaded::try_new(contents, |contents| load(contents))?;
        loaded.push((cell, format!(".sm_{}", member.sm)));
    }
    match all.iter().find(|member| member.kind == Kind::Cubin) {
        Some(other) if loaded.is_empty() => Err(ContainerError::Architecture(other.sm).into()),
        None if loaded.is_empty() => Err(Error::UnknownFormat),
        _ => Ok(loaded),
    }
}

/// The contents of the member for SM50 to SM62 that has a kernel; of several that for the highest architecture.
///
/// # Errors
/// The reader's; [`ContainerError::TooLarge`] with a member of more than [`MAX_FAT_BYTES`].
pub fn cubin_with(bytes: &[u8], kernel: &str) -> Result<Option<Vec<u8>>, Error> {
    let mut found: Option<(u32, Vec<u8>)> = None;
    for member in FatBinary::parse(bytes)?.members.iter().filter(|member| is_ours(member)) {
        if found.as_ref().is_some_and(|(sm, _)| *sm >= member.sm) {
            continue;
        }
        let contents = member.contents(MAX_FAT_BYTES)?.into_owned();
        if load(&contents)?.iter().any(|program| program.name == kernel) {
            found = Some((member.sm, contents));
        }
    }
    Ok(found.map(|(_, contents)| contents))
}
