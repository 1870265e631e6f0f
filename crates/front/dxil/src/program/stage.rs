//! What properties say of stages (DXIL.rst, "Shader Properties and Capabilities").

use super::{Program, Reader, Waves};
use crate::bitcode::MetadataId;
use crate::model::ShaderKind;
use xenoglot_ir::stage::{Geometry, Mesh, TessDomain, TessSpacing, Tessellation};

/// Tags of properties.
mod tag {
    pub const FLAGS: u64 = 0;
    pub const GEOMETRY: u64 = 1;
    pub const DOMAIN: u64 = 2;
    pub const HULL: u64 = 3;
    pub const THREADS: u64 = 4;
    pub const PAYLOAD: u64 = 6;
    pub const ATTRIBUTES: u64 = 7;
    pub const KIND: u64 = 8;
    pub const MESH: u64 = 9;
    pub const AMPLIFICATION: u64 = 10;
    pub const WAVE_SIZE: u64 = 11;
    pub const WAVE_SIZES: u64 = 23;
}

/// Most control points of a patch.
const MOST_POINTS: u32 = 32;

impl Reader<'_> {
    /// Tags and what they have.
    pub(super) fn properties(&self, id: MetadataId, program: &mut Program) -> Option<()> {
        for pair in self.metadata.list(id)?.chunks_exact(2) {
            let list = || self.metadata.list(pair[1]?);
            let number = || u32::try_from(self.integer(pair[1])?).ok();
            match self.integer(pair[0])? {
                tag::FLAGS => program.flags = super::ShaderFlags::from_bits_truncate(self.integer(pair[1])?),
                tag::GEOMETRY => program.pipeline.geometry = Some(self.geometry(list()?)?),
                tag::DOMAIN => {
                    let list = list()?;
                    let domain = domain(self.integer32(list, 0)?)?;
                    program.pipeline.tessellation =
                        Some(Tessellation { domain, spacing: None, clockwise: None, points: false });
                    program.input_points = self.points(list, 1)?;
                }
                tag::HULL => self.hull(list()?, program)?,
                tag::THREADS => program.threads = self.threads(list()?)?,
                tag::PAYLOAD => program.payload_bytes = number()?,
                tag::ATTRIBUTES => program.attribute_bytes = number()?,
                tag::KIND => program.kind = ShaderKind::from_number(number()?)?,
                tag::MESH => {
                    let list = list()?;
                    program.threads = self.threads(self.metadata.list((*list.first()?)?)?)?;
                    program.pipeline.mesh = Some(Mesh {
                        // Lines are 1, triangles 2.
                        primitive_vertices: self.integer32(list, 3)?.clamp(1, 2) + 1,
                        max_vertices: self.integer32(list, 1)?.min(256),
                        max_primitives: self.integer32(list, 2)?.min(256),
                    });
                    program.payload_bytes = self.integer32(list, 4)?;
                }
                tag::AMPLIFICATION => {
                    let list = list()?;
                    program.threads = self.threads(self.metadata.list((*list.first()?)?)?)?;
                    program.payload_bytes = self.integer32(list, 1)?;
                }
                // A number, or a list of it.
                tag::WAVE_SIZE => {
                    let lanes = match self.metadata.list(pair[1]?) {
                        Some(list) => self.integer32(list, 0)?,
                        None => number()?,
                    };
                    program.waves = Some(Waves { min: lanes, max: lanes, preferred: None });
                }
                tag::WAVE_SIZES => {
                    let list = list()?;
                    let (min, max) = (self.integer32(list, 0)?, self.integer32(list, 1)?);
                    let preferred = self.integer32(list, 2).filter(|&lanes| lanes != 0);
                    // Without a greatest size it is the least alone.
                    program.waves = Some(Waves { min, max: max.max(min), preferred });
                }
                _ => {}
            }
        }
        Some(())
    }

    pub(super) fn threads(&self, list: &[Option<MetadataId>]) -> Option<[u32; 3]> {
        Some([self.integer32(list, 0)?, self.integer32(list, 1)?, self.integer32(list, 2)?])
    }

    fn points(&self, list: &[Option<MetadataId>], at: usize) -> Option<u32> {
        self.integer32(list, at).filter(|&n| n <= MOST_POINTS)
    }

    /// Input primitive, most vertices, streams, output topology, instances.
    fn geometry(&self, list: &[Option<MetadataId>]) -> Option<Geometry> {
        Some(Geometry {
            input_vertices: match self.integer32(list, 0)? {
                1 => 1,
                2 => 2,
                3 => 3,
                6 => 4,
                7 => 6,
                _ => return None,
            },
            max_vertices: self.integer32(list, 1)?.min(1024),
            output_vertices: match self.integer32(list, 3)? {
                1 => 1,
                2 | 3 => 2,
                4 | 5 => 3,
                _ => return None,
            },
            invocations: self.integer32(list, 4)?.clamp(1, MOST_POINTS),
        })
    }

    /// Patch-constant function, control points in and out, domain, partitioning, output primitive, greatest factor.
    fn hull(&self, list: &[Option<MetadataId>], program: &mut Program) -> Option<()> {
        program.patch_function = list.first().copied().flatten().and_then(|f| self.function(f));
        program.input_points = self.points(list, 1)?;
        program.pipeline.patch_vertices = Some(self.points(list, 2)?.max(1));
        let primitive = self.integer32(list, 5)?;
        program.pipeline.tessellation = Some(Tessellation {
            domain: domain(self.integer32(list, 3)?)?,
            spacing: Some(match self.integer32(list, 4)? {
                // Powers of two are what integers are rounded to before.
                1 | 2 => TessSpacing::Equal,
                3 => TessSpacing::FractionalOdd,
                4 => TessSpacing::FractionalEven,
                _ => return None,
            }),
            clockwise: Some(primitive == 3),
            points: primitive == 1,
        });
        Some(())
    }
}

fn domain(number: u32) -> Option<TessDomain> {
    Some(match number {
        1 => TessDomain::Isolines,
        2 => TessDomain::Triangles,
        3 => TessDomain::Quads,
        _ => return None,
    })
}
