//! Elements of signatures: what a stage takes from the one before and gives to the next (DXIL.rst, "Signatures").

use super::{Component, Reader};
use crate::bitcode::MetadataId;

/// What an element is, by number; those that no stage here reads or writes by themselves are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantic {
    /// Whatever both stages call by its name.
    Arbitrary,
    /// Number of the vertex.
    VertexId,
    /// Number of the instance.
    InstanceId,
    /// Clip-space or window position.
    Position,
    /// Layer of the target.
    RenderTargetArrayIndex,
    /// Number of the viewport.
    ViewportArrayIndex,
    /// Distances to planes that primitives are clipped at.
    ClipDistance,
    /// Distances to planes that primitives are dropped behind.
    CullDistance,
    /// Number of the primitive.
    PrimitiveId,
    /// Number of the sample.
    SampleIndex,
    /// Whether the front is seen.
    IsFrontFace,
    /// Covered samples.
    Coverage,
    /// A colour target.
    Target,
    /// Depth.
    Depth,
    /// Depth that is not greater than the primitive's.
    DepthLessEqual,
    /// Depth that is not less than the primitive's.
    DepthGreaterEqual,
    /// Reference value of the stencil test.
    StencilRef,
    /// Parts that an edge is divided in.
    TessFactor,
    /// Parts that the inside is divided in.
    InsideTessFactor,
    /// Where in the triangle.
    Barycentrics,
    /// Pixels per fragment.
    ShadingRate,
    /// Whether the primitive is dropped.
    CullPrimitive,
    /// Another, by its number.
    Other(u32),
}

impl Semantic {
    fn from_number(number: u32) -> Semantic {
        match number {
            0 => Semantic::Arbitrary,
            1 => Semantic::VertexId,
            2 => Semantic::InstanceId,
            3 => Semantic::Position,
            4 => Semantic::RenderTargetArrayIndex,
            5 => Semantic::ViewportArrayIndex,
            6 => Semantic::ClipDistance,
            7 => Semantic::CullDistance,
            10 => Semantic::PrimitiveId,
            12 => Semantic::SampleIndex,
            13 => Semantic::IsFrontFace,
            14 => Semantic::Coverage,
            16 => Semantic::Target,
            17 => Semantic::Depth,
            18 => Semantic::DepthLessEqual,
            19 => Semantic::DepthGreaterEqual,
            20 => Semantic::StencilRef,
            25 => Semantic::TessFactor,
            26 => Semantic::InsideTessFactor,
            28 => Semantic::Barycentrics,
            29 => Semantic::ShadingRate,
            30 => Semantic::CullPrimitive,
            other => Semantic::Other(other),
        }
    }
}

/// The numbers of component types of 16 bits: i16, u16 and f16.
const NARROW: [u32; 3] = [2, 3, 8];

/// An element of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its number, which loads and stores name.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Its semantic index: that of its first row.
    pub index: u32,
    /// What its components are.
    pub component: Component,
    /// Whether its components have 16 bits (at least 16, in shaders without native 16-bit types).
    pub is_narrow: bool,
    /// What it is.
    pub semantic: Semantic,
    /// Interpolation by number: 1 constant, 2 linear, 3 at centroids, 4 without perspective, 5 both, 6 and 7 at samples.
    pub interpolation: u32,
    /// Rows.
    pub rows: u32,
    /// Components of a row, 1 to 4.
    pub columns: u8,
    /// Its first row among the signature's registers; none where it has no register.
    pub row: Option<u32>,
    /// Its first component in the register.
    pub column: u8,
    /// Vertex stream of a geometry shader's output, 0 to 3.
    pub stream: u8,
}

impl Reader<'_> {
    /// The elements of a list; nothing for null.
    pub(super) fn signature(&self, list: Option<MetadataId>) -> Option<Vec<Element>> {
        let items = list.and_then(|l| self.metadata.list(l)).unwrap_or_default();
        items.iter().map(|item| self.element(self.metadata.list((*item)?)?)).collect()
    }

    /// The stream that an element's tags name.
    fn stream(&self, tags: Option<MetadataId>) -> u8 {
        const STREAM: u64 = 0;
        let tags = tags.and_then(|t| self.metadata.list(t)).unwrap_or_default();
        let stream = tags.chunks_exact(2).find(|pair| self.integer(pair[0]) == Some(STREAM));
        stream.and_then(|pair| self.integer(pair[1])).map_or(0, |n| (n & 3) as u8)
    }

    fn first_index(&self, indices: Option<MetadataId>) -> u32 {
        let first = indices.and_then(|list| self.metadata.list(list)?.first().copied());
        first.and_then(|first| self.integer(first)).map_or(0, |n| n as u32)
    }

    /// Number, name, component type, semantic, indices, interpolation, rows, columns, first row and column, tags.
    fn element(&self, fields: &[Option<MetadataId>]) -> Option<Element> {
        let field = |at: usize| self.integer32(fields, at);
        let columns = u8::try_from(field(7)?).ok().filter(|c| (1..=4).contains(c))?;
        // A first row or column of all ones is none.
        let column = u8::try_from(field(9)?).ok().filter(|&c| c < 4 && c + columns <= 4);
        let row = Some(field(8)?).filter(|&row| row < 64);
        let component = field(2)?;
        Some(Element {
            id: field(0)?,
            name: self.text((*fields.get(1)?)?)?,
            index: self.first_index(fields.get(4).copied().flatten()),
            component: Component::from_number(component.into())?,
            is_narrow: NARROW.contains(&component),
            semantic: Semantic::from_number(field(3)?),
            interpolation: field(5)?,
            rows: Some(field(6)?).filter(|&r| r <= 64)?,
            columns,
            row: row.filter(|_| column.is_some()),
            column: column.unwrap_or(0),
            stream: self.stream(fields.get(10).copied().flatten()),
        })
    }
}
