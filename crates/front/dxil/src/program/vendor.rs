//! Magic UAVs of vendor libraries: the vendor's driver turns accesses to them into intrinsics, and no buffer is bound.
//!
//! Sources: the headers that come with the libraries. AGS (`ags_shader_intrinsics_dx12.hlsl`) has a raw buffer in a space of
//! its own and codes an operation into the address of an atomic. NVAPI (`nvHLSLExtns.h`) has a structured buffer, at a
//! register of the application's choice, into whose records it puts operation and operands.

use super::{Class, Reader};
use crate::bitcode::{MetadataId, Type, TypeId};
use std::fmt;

/// A vendor's library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vendor {
    /// AMD's AGS.
    Ags,
    /// NVIDIA's NVAPI.
    Nvapi,
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Vendor::Ags => "AMD's AGS",
            Vendor::Nvapi => "NVIDIA's NVAPI",
        })
    }
}

/// The register space of AGS's UAV.
const AGS_SPACE: u32 = 0x7fff_0ade;
/// NVAPI's UAV, and the structure that is in it.
const NVAPI_NAME: &str = "g_NvidiaExt";
const NVAPI_STRUCT: &str = "NvShaderExtnStruct";

/// How many levels of nested types are searched.
const MOST_DEPTH: usize = 8;

impl Reader<'_> {
    /// The library whose intrinsics go through a resource of a class, by its space, name and global variable.
    pub(super) fn vendor(
        &self,
        class: Class,
        space: u32,
        name: Option<MetadataId>,
        global: Option<MetadataId>,
    ) -> Option<Vendor> {
        if class != Class::Uav {
            return None;
        }
        if space == AGS_SPACE {
            return Some(Vendor::Ags);
        }
        let is_named = || name.and_then(|name| self.text(name)).is_some_and(|name| name == NVAPI_NAME);
        (self.holds(global?, NVAPI_STRUCT) || is_named()).then_some(Vendor::Nvapi)
    }

    /// Whether a resource's variable holds structures of this name. Stripped containers keep the names of types.
    fn holds(&self, global: MetadataId, wanted: &str) -> bool {
        let mut ty = self.pointee(global);
        for _ in 0..MOST_DEPTH {
            let Some(of) = ty else { return false };
            if self.is_struct(of, wanted) {
                return true;
            }
            ty = self.first_member(of);
        }
        false
    }

    /// Whether a type is the structure of this name: `struct.Name`, or `struct.Name.N` where several have the name.
    fn is_struct(&self, ty: TypeId, wanted: &str) -> bool {
        match self.module.types.get(ty) {
            Some(Type::Struct { name: Some(name), .. }) => name.split('.').any(|part| part == wanted),
            _ => false,
        }
    }
}
