//! The module's own lines: stage, sizes, variables, resources.

use super::{Parsed, Parser, duplicate, unknown};
use crate::imm::{Dim, Imm};
use crate::module::{
    Access, Builtin, Capture, Count, Direction, ImageFormat, Interpolation, OutOfBounds, PayloadKind,
    ResourceData, ResourceKind, ResourceName, Semantic, Stage, Texel, VarData,
};
use crate::stage::{Denormals, Depth, Geometry, Mesh, Samplers, TessDomain, TessSpacing, Tessellation};
use crate::text::lex::Token;

impl<'a> Parser<'a> {
    /// The whole text.
    pub(super) fn module(&mut self) -> Parsed<()> {
        self.keyword("module", "`module`")?;
        self.module.stage = self.known("a stage", Stage::parse)?;
        self.module.name = self.string("the module's name in quotes")?.into_owned();
        self.punct('{', "`{`")?;
        self.end_of_line()?;
        while !self.eat('}')? {
            self.item()?;
            self.end_of_line()?;
        }
        self.skip_newline()?;
        if self.token != Token::End {
            return self.expected("the end of the text");
        }
        self.resolve_calls()
    }

    fn item(&mut self) -> Parsed<()> {
        let start = self.at;
        if let Some(direction) = self.eat_known(Direction::parse)? {
            return self.var(direction);
        }
        if let Some(name) = self.eat_known(ResourceName::parse)? {
            return self.resource(name);
        }
        match self.word("an item of the module")? {
            "workgroup" => {
                for n in 0..3 {
                    self.module.workgroup[n] = self.number("size of the workgroup")?;
                }
                Ok(())
            }
            "shared" => {
                self.module.shared_size = self.number("size of shared memory")?;
                Ok(())
            }
            "early_tests" => {
                self.module.pipeline.early_fragment_tests = true;
                Ok(())
            }
            "dual_source" => {
                self.module.pipeline.dual_source = true;
                Ok(())
            }
            "invariant_position" => {
                self.module.pipeline.invariant_position = true;
                Ok(())
            }
            "depth" => {
                self.module.pipeline.depth = self.known("how depth compares", Depth::parse)?;
                Ok(())
            }
            "geometry" => {
                self.module.pipeline.geometry = Some(Geometry {
                    input_vertices: self.labelled("in", "`in`")?,
                    output_vertices: self.labelled("out", "`out`")?,
                    max_vertices: self.labelled("vertices", "`vertices`")?,
                    invocations: self.labelled("invocations", "`invocations`")?,
                });
                Ok(())
            }
            "patch" => {
                self.module.pipeline.patch_vertices = Some(self.number("vertices of a patch")?);
                Ok(())
            }
            "tessellator" => {
                let domain = self.known("what the tessellator divides", TessDomain::parse)?;
                let spacing = self.eat_known(TessSpacing::parse)?;
                let winding = |word: &str| match word {
                    "cw" => Some(true),
                    "ccw" => Some(false),
                    _ => None,
                };
                let clockwise = self.eat_known(winding)?;
                let points = self.eat_word("points")?;
                self.module.pipeline.tessellation = Some(Tessellation { domain, spacing, clockwise, points });
                Ok(())
            }
            "mesh" => {
                self.module.pipeline.mesh = Some(Mesh {
                    primitive_vertices: self.labelled("out", "`out`")?,
                    max_vertices: self.labelled("vertices", "`vertices`")?,
                    max_primitives: self.labelled("primitives", "`primitives`")?,
                });
                Ok(())
            }
            "denormals" => {
                self.module.denormals = self.known("what becomes of denormals", Denormals::parse)?;
                Ok(())
            }
            "samplers" => {
                self.module.samplers = self.known("how samplers are bound", Samplers::parse)?;
                Ok(())
            }
            "optimized" => {
                self.module.optimized = true;
                Ok(())
            }
            "relaxed_floats" => {
                self.module.relaxed_floats = true;
                Ok(())
            }
            "func" => self.func().map(|_| ()),
            "entry" => {
                if self.module.entry.is_some() {
                    return Err(duplicate("the", "entry", start));
                }
                self.keyword("func", "`func`")?;
                self.module.entry = self.func()?.into();
                Ok(())
            }
            other => Err(unknown("item", other, start)),
        }
    }

    fn var(&mut self, direction: Direction) -> Parsed<()> {
        self.charge("names", |l| &mut l.names)?;
        let at = self.at;
        let name = self.sigil_name('%', "a name with `%`")?;
        self.punct('=', "`=`")?;
        let semantic = if self.eat_word("builtin")? {
            Semantic::Builtin(self.known("a builtin", Builtin::parse)?)
        } else {
            self.keyword("location", "`location` or `builtin`")?;
            let location = self.number("location")?;
            let component = if self.eat_word("component")? { self.number("component")? } else { 0 };
            Semantic::Location { location, component }
        };
        self.punct(':', "`:` and a type")?;
        let ty = self.ty()?;
        let interpolation = self.eat_known(Interpolation::parse)?.unwrap_or(Interpolation::Smooth);
        let array = if self.eat_word("array")? { Some(self.number("size of the array")?) } else { None };
        let inner = if self.eat_word("of")? { Some(self.number("size of the array")?) } else { None };
        let stream = if self.eat_word("stream")? { self.number("stream")? } else { 0 };
        let name_text = name.to_string();
        let data = VarData { name: name_text, direction, ty, semantic, interpolation, array, inner, stream };
        let id = self.module.vars.push(data);
        while self.eat_word("capture")? {
            let buffer = self.number("buffer")?;
            self.keyword("offset", "`offset`")?;
            let offset = self.number("offset")?;
            self.keyword("stride", "`stride`")?;
            let stride = self.number("stride")?;
            self.module.captures.push(Capture { var: id, buffer, offset, stride });
        }
        match self.vars.insert(name.clone(), id) {
            Some(_) => Err(duplicate("variable", &name, at)),
            None => Ok(()),
        }
    }

    fn resource(&mut self, kind: ResourceName) -> Parsed<()> {
        self.charge("names", |l| &mut l.names)?;
        let at = self.at;
        let name = self.sigil_name('@', "a name with `@`")?;
        self.punct('=', "`=`")?;
        self.keyword("set", "`set`")?;
        let set = self.number("descriptor set")?;
        self.keyword("binding", "`binding`")?;
        let binding = self.number("binding")?;
        let kind = match kind {
            ResourceName::Uniform => ResourceKind::UniformBuffer { size: self.size()? },
            ResourceName::Record => ResourceKind::ShaderRecord { size: self.size()? },
            ResourceName::Push => ResourceKind::PushConstants { size: self.size()? },
            ResourceName::Storage => ResourceKind::StorageBuffer { access: self.access()? },
            ResourceName::Texture => ResourceKind::Texture {
                dim: self.known("a shape", Dim::parse)?,
                arrayed: self.eat_word("array")?,
                multisampled: self.eat_word("ms")?,
                texel: self.eat_known(Texel::parse)?.unwrap_or(Texel::Float),
            },
            ResourceName::Image => ResourceKind::Image {
                dim: self.known("a shape", Dim::parse)?,
                arrayed: self.eat_word("array")?,
                multisampled: self.eat_word("ms")?,
                access: self.access()?,
                format: self.eat_known(ImageFormat::parse)?.unwrap_or(ImageFormat::Unknown),
            },
            ResourceName::Sampler => ResourceKind::Sampler,
            ResourceName::Accel => ResourceKind::AccelerationStructure,
            ResourceName::Payload => {
                let kind = self.known("what the payload is for", PayloadKind::parse)?;
                ResourceKind::Payload { kind, size: self.size()? }
            }
            ResourceName::Query => ResourceKind::RayQuery,
            ResourceName::Hit => ResourceKind::HitObject,
        };
        let count = match self.eat_word("count")? {
            false => Count::One,
            true if self.eat_word("unbounded")? => Count::Unbounded,
            true => Count::Fixed(self.number("number of descriptors")?),
        };
        let oob = match self.eat_word("oob")? {
            true => self.known("what happens out of bounds", OutOfBounds::parse)?,
            false => OutOfBounds::Undefined,
        };
        let data = ResourceData { name: name.to_string(), kind, set, binding, count, oob };
        let id = self.module.resources.push(data);
        match self.resources.insert(name.clone(), id) {
            Some(_) => Err(duplicate("resource", &name, at)),
            None => Ok(()),
        }
    }

    /// A number behind its label.
    fn labelled(&mut self, label: &str, what: &'static str) -> Parsed<u32> {
        self.keyword(label, what)?;
        self.number(what)
    }

    fn size(&mut self) -> Parsed<u32> {
        self.keyword("size", "`size`")?;
        self.number("size")
    }

    fn access(&mut self) -> Parsed<Access> {
        self.known("an access mode", Access::parse)
    }

    fn resolve_calls(&mut self) -> Parsed<()> {
        for call in std::mem::take(&mut self.calls) {
            let callee = self.funcs.get(&call.callee).copied();
            let callee = callee.ok_or_else(|| unknown("function", &call.callee, call.at))?;
            self.module.funcs[call.func].insts[call.inst].imm = Imm::Func(callee);
        }
        Ok(())
    }
}
