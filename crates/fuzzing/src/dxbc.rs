//! Containers of Direct3D 12 and root signatures.

use xenoglot_dxil::binding::{HeapSets, Registers, Remapper, RootSignatureMap};
use xenoglot_dxil::bitcode;
use xenoglot_dxil::container::{self, Container, Content};
use xenoglot_dxil::model::{ResourceClass, ShaderKind};
use xenoglot_dxil::root_signature::{ParameterKind, RootSignature};

/// Containers: parts lie inside the bytes, are read or refused, and so is the bitcode.
pub fn dxbc(data: &[u8]) {
    if let Ok(container) = Container::parse(data) {
        let all = data.as_ptr_range();
        for part in &container.parts {
            let range = part.data.as_ptr_range();
            assert!(all.start <= range.start && range.end <= all.end);
            match container.content(part) {
                Ok(Content::RootSignature(signature)) => through_bytes(&signature),
                // The names and lists that it borrows are read as they are printed.
                Ok(content) => drop(format!("{content:?}")),
                Err(_) => {}
            }
        }
    }
    if let Ok(code) = container::bitcode(data) {
        let _ = bitcode::read(code.bytes, &bitcode::Limits::default());
    }
}

/// Root signatures: what is read is written to the same; what is valid is bound where it says.
pub fn root_signature(data: &[u8]) {
    let Ok(signature) = RootSignature::parse(data) else { return };
    through_bytes(&signature);
    if !signature.validate().is_empty() {
        return;
    }
    let map = RootSignatureMap::new(&signature, None, HeapSets::default());
    for stage in ShaderKind::ALL {
        for parameter in &signature.parameters {
            let (class, first) = match &parameter.kind {
                ParameterKind::Constants { register, .. } => (ResourceClass::Cbv, *register),
                ParameterKind::Descriptor { class, register, .. } => (*class, *register),
                ParameterKind::Table(ranges) => match ranges.first() {
                    Some(range) => (range.class, range.register),
                    None => continue,
                },
            };
            let _ = map.resource(&Registers { class, first, count: Some(1), stage });
        }
    }
}

fn through_bytes(signature: &RootSignature) {
    let written = signature.write();
    let read = RootSignature::parse(&written).unwrap_or_else(|e| panic!("{e}: {signature}"));
    // NaN is not equal to itself, but its bits are.
    assert_eq!(read.write(), written, "{signature}");
    assert_eq!(read.to_string(), signature.to_string());
}

macro_rules! files {
    ($folder:literal: $($name:literal),* $(,)?) => {
        [$(include_bytes!(concat!("../../front/dxil/tests/", $folder, "/", $name)).as_slice()),*]
    };
}

/// Containers of every kind.
pub fn containers() -> Vec<Vec<u8>> {
    let files = files!("containers":
        "callable.dxil", "counters.dxil", "debug.dxil", "math.dxil", "mesh.dxil", "packed.dxil", "queries.dxil",
        "strips.dxil", "subobjects.dxil", "textures.dxil", "view.dxil",
    );
    files.into_iter().map(<[u8]>::to_vec).collect()
}

/// Root signatures with everything they can have, by themselves.
pub fn root_signatures() -> Vec<Vec<u8>> {
    let files = files!("root_signatures":
        "constants_1_1.bin", "descriptor_flags_1_1.bin", "descriptors_1_0.bin", "empty_1_1.bin", "flags_1_1.bin",
        "local_1_1.bin", "mixed_1_1.bin", "range_flags_1_1.bin", "samplers_1_1.bin", "tables_1_0.bin",
        "tables_1_1.bin", "unbounded_1_1.bin",
    );
    let part = |file: &[u8]| Container::parse(file).ok()?.parts.first().map(|part| part.data.to_vec());
    files.into_iter().filter_map(part).collect()
}
