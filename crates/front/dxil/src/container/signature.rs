//! `ISG1`, `OSG1`, `PSG1`: what goes in and out of a shader, by semantics.

use super::{ContainerError, Part};
use crate::number::numbered;
use serde::Serialize;

numbered! {
    /// A semantic with a meaning to the pipeline.
    SystemValue {
        0 None "none",
        1 Position "SV_Position",
        2 ClipDistance "SV_ClipDistance",
        3 CullDistance "SV_CullDistance",
        4 RenderTargetArrayIndex "SV_RenderTargetArrayIndex",
        5 ViewportArrayIndex "SV_ViewportArrayIndex",
        6 VertexId "SV_VertexID",
        7 PrimitiveId "SV_PrimitiveID",
        8 InstanceId "SV_InstanceID",
        9 IsFrontFace "SV_IsFrontFace",
        10 SampleIndex "SV_SampleIndex",
        11 QuadEdgeTessFactor "SV_TessFactor (quad)",
        12 QuadInsideTessFactor "SV_InsideTessFactor (quad)",
        13 TriEdgeTessFactor "SV_TessFactor (tri)",
        14 TriInsideTessFactor "SV_InsideTessFactor (tri)",
        15 LineDetailTessFactor "SV_TessFactor (line detail)",
        16 LineDensityTessFactor "SV_TessFactor (line density)",
        23 Barycentrics "SV_Barycentrics",
        24 ShadingRate "SV_ShadingRate",
        25 CullPrimitive "SV_CullPrimitive",
        64 Target "SV_Target",
        65 Depth "SV_Depth",
        66 Coverage "SV_Coverage",
        67 DepthGreaterEqual "SV_DepthGreaterEqual",
        68 DepthLessEqual "SV_DepthLessEqual",
        69 StencilRef "SV_StencilRef",
        70 InnerCoverage "SV_InnerCoverage",
    }
}

numbered! {
    /// The type of a component.
    ComponentType {
        0 Unknown "unknown",
        1 Uint32 "uint",
        2 Sint32 "int",
        3 Float32 "float",
        4 Uint16 "uint16",
        5 Sint16 "int16",
        6 Float16 "half",
        7 Uint64 "uint64",
        8 Sint64 "int64",
        9 Float64 "double",
    }
}

numbered! {
    /// The precision a component needs at least.
    MinPrecision {
        0 Default "default",
        1 Float16 "min16float",
        2 Float2_8 "min10float",
        3 Reserved "reserved",
        4 Sint16 "min16int",
        5 Uint16 "min16uint",
        0xf0 Any16 "any16",
        0xf1 Any10 "any10",
    }
}

/// A row of an element of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SignatureElement<'a> {
    /// The semantic's name.
    pub semantic: &'a str,
    /// The semantic's index.
    pub index: u32,
    /// Its meaning to the pipeline.
    pub system_value: SystemValue,
    /// The type of its components.
    pub component_type: ComponentType,
    /// The register; `None` if it has none.
    pub register: Option<u32>,
    /// Components it has: bit 0 is x.
    pub mask: u8,
    /// Components an input's shader always reads, or an output's never writes.
    pub used_mask: u8,
    /// The precision it needs.
    pub min_precision: MinPrecision,
    /// The geometry shader's stream it goes to.
    pub stream: u32,
}

/// A signature.
pub type Signature<'a> = Vec<SignatureElement<'a>>;

/// Bytes of an element.
const ELEMENT: u64 = 32;

/// Reads a signature: number and offset of elements, which hold the offset of the name.
pub(super) fn parse<'a>(part: &Part<'a>) -> Result<Signature<'a>, ContainerError> {
    let start = part.reader();
    let mut header = start;
    let count = header.count("elements", part.data.len() as u64 / ELEMENT)?;
    let mut at = start.seek(header.u32("offset of elements")?.into(), "elements")?;
    (0..count)
        .map(|_| {
            let stream = at.u32("stream")?;
            let semantic = start.seek(at.u32("offset of a name")?.into(), "name")?.text("name")?;
            let index = at.u32("semantic index")?;
            let system_value = at.number("system value", SystemValue::from_number)?;
            let component_type = at.number("component type", ComponentType::from_number)?;
            let register = at.u32("register")?;
            let mask = at.u8("mask")?;
            let used_mask = at.u8("mask of use")?;
            at.u16("padding")?;
            let min_precision = at.number("precision", MinPrecision::from_number)?;
            Ok(SignatureElement {
                semantic,
                index,
                system_value,
                component_type,
                register: (register != u32::MAX).then_some(register),
                mask,
                used_mask,
                min_precision,
                stream,
            })
        })
        .collect()
}
