//! A shaded vertex as it reaches the clipper.

/// Values in the order of the output map's semantics: 0–3 position, 4–7 quaternion, 8–11 colour, 12/13 tex0, 14/15
/// tex1, 16 tex0.w, 17 unused, 18–20 view, 21 unused, 22/23 tex2.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Vertex {
    /// By semantic.
    pub values: [f32; 24],
}

/// Three vertices after primitive assembly, before clipping, culling and the quaternion's sign.
pub type Triangle = [Vertex; 3];
