//! Versions of what translates, and which of them an entry depends on.

use crate::key::Key;
use std::collections::BTreeMap;

/// Versions of front ends, passes and writers by name.
///
/// An entry depends on those that had a part in it: an update of the others leaves it as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Versions(BTreeMap<String, u16>);

impl Versions {
    /// None.
    pub const NONE: Versions = Versions(BTreeMap::new());

    /// The version of `name`.
    pub fn get(&self, name: &str) -> Option<u16> {
        self.0.get(name).copied()
    }

    /// These of them. A name that there is none of has version 0: what it stands for is gone, or was not built in.
    pub fn part<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Versions {
        names.into_iter().map(|name| (name.to_owned(), self.get(name).unwrap_or(0))).collect()
    }

    /// All of them, in order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u16)> {
        self.0.iter().map(|(name, version)| (name.as_str(), *version))
    }

    /// A short name of these versions, which entries carry. Not 0.
    pub fn stamp(&self) -> u64 {
        let mut key = Key::of("versions");
        for (name, version) in self.iter() {
            key.bytes(name.as_bytes()).number(version.into());
        }
        key.finish().short().max(1)
    }

    /// Where a store keeps the versions of a stamp.
    pub(crate) fn key_of(stamp: u64) -> Key {
        Key::of("versions of a stamp").number(stamp).finish()
    }

    /// The versions as the payload of an entry.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Strings and numbers always serialise.
        postcard::to_stdvec(&self.0).unwrap_or_default()
    }

    #[cfg(any(test, feature = "disk"))]
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Versions> {
        postcard::from_bytes(bytes).ok().map(Versions)
    }

    /// Whether what was made under these versions would be made now, when there are `present` ones.
    #[cfg(any(test, feature = "disk"))]
    pub(crate) fn is_current(&self, present: &Versions) -> bool {
        self.iter().all(|(name, version)| present.get(name).unwrap_or(0) == version)
    }
}

impl<N: Into<String>> FromIterator<(N, u16)> for Versions {
    fn from_iter<I: IntoIterator<Item = (N, u16)>>(all: I) -> Versions {
        Versions(all.into_iter().map(|(name, version)| (name.into(), version)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_changes_with_its_own_versions_only() {
        let old: Versions = [("lift", 1), ("fold", 1), ("glsl", 1)].into_iter().collect();
        let new: Versions = [("lift", 1), ("fold", 1), ("glsl", 2)].into_iter().collect();
        let spirv = ["lift", "fold"];
        assert_eq!(old.part(spirv).stamp(), new.part(spirv).stamp());
        assert!(old.part(spirv).is_current(&new));
        assert_ne!(old.part(["glsl"]).stamp(), new.part(["glsl"]).stamp());
        assert!(!old.part(["glsl"]).is_current(&new));
        assert_eq!(Versions::from_bytes(&old.to_bytes()), Some(old));
    }

    #[test]
    fn what_is_gone_is_another_version() {
        let old: Versions = [("fold", 1)].into_iter().collect();
        assert!(!old.part(["fold"]).is_current(&Versions::NONE));
    }
}
