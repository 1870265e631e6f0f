//! Sets of SPIR-V's capabilities.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use xenoglot_spirv::Capability;

/// A set of SPIR-V's capabilities. Serialised as their names.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Capabilities(Vec<Capability>);

/// A name that no capability of SPIR-V has.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("SPIR-V has no capability `{0}`")]
pub struct UnknownCapability(pub String);

impl Capabilities {
    /// None.
    pub const NONE: Capabilities = Capabilities(Vec::new());

    /// Adds one.
    pub fn insert(&mut self, capability: Capability) {
        if let Err(at) = self.0.binary_search_by_key(&(capability as u32), |&c| c as u32) {
            self.0.insert(at, capability);
        }
    }

    /// Whether the set has `capability`.
    pub fn contains(&self, capability: Capability) -> bool {
        self.0.binary_search_by_key(&(capability as u32), |&c| c as u32).is_ok()
    }

    /// Those of the set, in the order of their numbers.
    pub fn as_slice(&self) -> &[Capability] {
        &self.0
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<I: IntoIterator<Item = Capability>>(of: I) -> Capabilities {
        let mut set = Capabilities::NONE;
        of.into_iter().for_each(|capability| set.insert(capability));
        set
    }
}

impl TryFrom<Vec<String>> for Capabilities {
    type Error = UnknownCapability;

    fn try_from(names: Vec<String>) -> Result<Capabilities, UnknownCapability> {
        names.into_iter().map(|name| name.parse().map_err(|()| UnknownCapability(name))).collect()
    }
}

impl From<Capabilities> for Vec<String> {
    fn from(set: Capabilities) -> Vec<String> {
        set.0.iter().map(|capability| format!("{capability:?}")).collect()
    }
}
