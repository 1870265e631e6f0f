//! Textures and images: declarations and the ops on them, version 450 only.

use crate::error::Error;
use crate::expr::{ANY, Sel};
use crate::options::Target;
use crate::writer::{Extension, ModuleNames, Writer};
use std::fmt::Write;
use xenoglot_ir::entities::Resource;
use xenoglot_ir::imm::{Dim, TexInfo, TexOperands};
use xenoglot_ir::module::{Count, ResourceData, ResourceKind, Texel};
use xenoglot_ir::op::Sig;
use xenoglot_ir::{Imm, Inst, Kind, Module, Op, Stage, Value};

/// Whether an op reads a texture or works on an image.
pub(crate) fn is_texture(op: Op) -> bool {
    op.info().sig == Sig::Texture
}

/// What is done with a resource.
#[derive(Clone, Copy, Default)]
struct Uses {
    any: bool,
    shadow: bool,
    separate: bool,
    loads: bool,
    stores: bool,
}

fn uses(module: &Module, resource: Resource) -> Uses {
    let mut uses = Uses::default();
    for f in module.funcs.values() {
        for &inst in f.layout.iter().flat_map(|&b| &f.blocks[b].insts) {
            let data = &f.insts[inst];
            uses.any |= data.op == Op::ResourceHandle && data.imm == Imm::Resource(resource);
            let Imm::Tex(info) = data.imm else { continue };
            let args = f.args(inst);
            let handle = args.first().and_then(|&v| f.def_inst(v)).map(|i| f.insts[i].imm);
            if handle == Some(Imm::Resource(resource)) {
                uses.shadow |= info.shadow;
                uses.separate |= args.get(1).is_some_and(|&v| f.ty(v).kind() == Kind::Samp);
                uses.stores |= data.op == Op::ImgStore;
                uses.loads |= !matches!(data.op, Op::ImgStore | Op::ImgQuery);
            }
        }
    }
    uses
}

fn prefix(texel: Texel) -> &'static str {
    match texel {
        Texel::Float => "",
        Texel::Sint => "i",
        Texel::Uint => "u",
    }
}

fn dim_name(dim: Dim) -> &'static str {
    match dim {
        Dim::D1 => "1D",
        Dim::D2 | Dim::Subpass => "2D",
        Dim::D3 => "3D",
        Dim::Cube => "Cube",
        Dim::Buffer => "Buffer",
    }
}

/// Declares the textures and images that are used.
pub(crate) fn declare(
    out: &mut String,
    module: &Module,
    target: Target,
    names: &ModuleNames,
    extensions: &mut u32,
) -> Result<(), Error> {
    for (id, data) in module.resources.iter() {
        let uses = uses(module, id);
        if !uses.any {
            continue;
        }
        let refuse = |reason| Err(Error::UnsupportedDeclaration { name: data.name.clone(), reason });
        if !target.is_450() {
            return refuse("textures and images need version 450");
        }
        let name = names.resources.get(id).ok_or(Error::Malformed("a resource that does not exist"))?;
        let place = match target {
            Target::Vulkan450 => format!("set = {}, binding = {}", data.set, data.binding),
            _ => format!("binding = {}", data.binding),
        };
        let array = |word| if word { "Array" } else { "" };
        let ty = match data.kind {
            ResourceKind::Texture { .. } if uses.separate => return refuse("separate samplers"),
            ResourceKind::Texture { dim, arrayed, multisampled, texel } => format!(
                "layout({place}) uniform {}sampler{}{}{}{}",
                if uses.shadow { "" } else { prefix(texel) },
                dim_name(dim),
                if multisampled { "MS" } else { "" },
                array(arrayed),
                if uses.shadow { "Shadow" } else { "" }
            ),
            ResourceKind::Image { dim, arrayed, multisampled, format, .. } => {
                let unknown = format.is_unknown();
                if unknown && uses.loads {
                    *extensions |= 1 << Extension::LoadFormatted as u32;
                }
                let qualifier = match unknown {
                    true => String::new(),
                    false => format!(", {}", format.name()),
                };
                let access = if unknown && !uses.loads { "writeonly " } else { "" };
                let (texel, dim, array) = (prefix(format.texel()), dim_name(dim), array(arrayed));
                let samples = if multisampled { "MS" } else { "" };
                format!("layout({place}{qualifier}) uniform {access}{texel}image{dim}{samples}{array}")
            }
            _ => return refuse("a handle of this resource"),
        };
        let count = match data.count {
            Count::One => String::new(),
            Count::Fixed(n) => format!("[{n}]"),
            Count::Unbounded => return refuse("arrays without bound"),
        };
        let _ = writeln!(out, "{ty} {name}{count};");
    }
    Ok(())
}

/// Operands of an op by what they are.
#[derive(Default)]
struct Operands {
    compare: Option<Value>,
    bias: Option<Value>,
    lod: Option<Value>,
    grad: Option<[Value; 2]>,
    offset: Option<Value>,
    sample: Option<Value>,
}

fn operands(info: TexInfo, rest: &[Value]) -> Option<Operands> {
    let mut out = Operands::default();
    let mut values = rest.iter().copied();
    for (operand, _) in TexOperands::NAMED {
        if info.operands.0 & operand.0 == 0 {
            continue;
        }
        let v = values.next()?;
        match operand {
            TexOperands::COMPARE => out.compare = Some(v),
            TexOperands::BIAS => out.bias = Some(v),
            TexOperands::LOD => out.lod = Some(v),
            TexOperands::GRAD => out.grad = Some([v, values.next()?]),
            TexOperands::OFFSET => out.offset = Some(v),
            TexOperands::SAMPLE => out.sample = Some(v),
            _ => return None,
        }
    }
    Some(out)
}

const OPERANDS: Error = Error::Malformed("operands of a texture op");

impl Writer<'_> {
    /// The resource a handle is of, and its instruction.
    fn handle(&self, v: Value) -> Result<(&ResourceData, Resource, Inst), Error> {
        let inst = self.func.def_inst(v).filter(|&i| self.func.insts[i].op == Op::ResourceHandle);
        let inst = inst.ok_or(Error::Malformed("a handle that is not of a resource"))?;
        let Imm::Resource(r) = self.func.insts[inst].imm else { return Err(OPERANDS) };
        Ok((self.module.resources.get(r).ok_or(OPERANDS)?, r, inst))
    }

    fn texel(&self, v: Value) -> Result<Texel, Error> {
        Ok(match self.handle(v)?.0.kind {
            ResourceKind::Texture { texel, .. } => texel,
            ResourceKind::Image { format, .. } => format.texel(),
            _ => Texel::Float,
        })
    }

    /// Writes the name of what a handle is of.
    fn write_handle(&mut self, v: Value) -> Result<(), Error> {
        let (_, r, inst) = self.handle(v)?;
        let names = self.names;
        self.out.push_str(names.resources.get(r).ok_or(OPERANDS)?);
        if let Some(&index) = self.func.args(inst).first() {
            let nonuniform = self.func.insts[inst].flags.nonuniform() && self.target() == Target::Vulkan450;
            if nonuniform {
                self.extension(Extension::Nonuniform);
            }
            self.out.push_str(if nonuniform { "[nonuniformEXT(" } else { "[" });
            self.value(index, ANY)?;
            self.out.push_str(if nonuniform { ")]" } else { "]" });
        }
        Ok(())
    }

    /// A value as signed integers.
    fn signed(&mut self, v: Value) -> Result<(), Error> {
        let n = self.func.ty(v).lanes();
        let _ = match n {
            1 => write!(self.out, "int("),
            n => write!(self.out, "ivec{n}("),
        };
        self.value(v, ANY)?;
        self.out.push(')');
        Ok(())
    }

    fn comma(&mut self, v: Option<Value>) -> Result<(), Error> {
        if let Some(v) = v {
            self.out.push_str(", ");
            self.value(v, ANY)?;
        }
        Ok(())
    }

    fn comma_signed(&mut self, v: Option<Value>) -> Result<(), Error> {
        if let Some(v) = v {
            self.out.push_str(", ");
            self.signed(v)?;
        }
        Ok(())
    }

    /// An op on a texture or image that gives something.
    pub(crate) fn texture(&mut self, inst: Inst, sel: Sel) -> Result<(), Error> {
        let f = self.func;
        let Imm::Tex(info) = f.insts[inst].imm else { return Err(OPERANDS) };
        let op = f.insts[inst].op;
        let args = f.args(inst);
        let &handle = args.first().ok_or(OPERANDS)?;
        if args.get(1).is_some_and(|&v| f.ty(v).kind() == Kind::Samp) {
            return Err(self.unsupported(inst, "separate samplers"));
        }
        let rest = &args[1..];
        if info.residency {
            return Err(self.unsupported(inst, "residency"));
        }
        let ty = f.result(inst).map(|v| f.ty(v)).ok_or(OPERANDS)?;
        if ty.kind() == Kind::I64 {
            return Err(self.unsupported(inst, "texels of 64 bits"));
        }
        let reads = matches!(op, Op::TexSample | Op::TexFetch | Op::TexGather | Op::ImgLoad);
        let whole = !reads || self.texel(handle)? == Texel::Sint;
        // Sizes and signed texels are signed in GLSL.
        let converts = whole && ty.kind() == Kind::I32;
        if converts {
            let _ = match ty.lanes() {
                1 => write!(self.out, "uint("),
                n => write!(self.out, "uvec{n}("),
            };
        }
        match op {
            Op::TexSample => self.sample(inst, info, handle, rest)?,
            Op::TexGather => self.gather(inst, info, handle, rest)?,
            Op::TexFetch => self.fetch(inst, info, handle, rest)?,
            Op::TexQueryLod if self.module.stage == Stage::Fragment => {
                self.call_with("textureQueryLod", handle)?;
                self.comma(rest.first().copied())?;
            }
            Op::TexQuerySize => {
                self.call_with("textureSize", handle)?;
                let levels = !info.multisampled && info.dim != Dim::Buffer;
                match rest.first() {
                    Some(&lod) => self.comma_signed(Some(lod))?,
                    None if levels => self.out.push_str(", 0"),
                    None => {}
                }
            }
            Op::TexQueryLevels => self.call_with("textureQueryLevels", handle)?,
            Op::TexQuerySamples => {
                let stored = f.ty(handle).kind() == Kind::Img;
                self.call_with(if stored { "imageSamples" } else { "textureSamples" }, handle)?;
            }
            Op::ImgQuery => self.call_with("imageSize", handle)?,
            Op::ImgLoad => {
                self.call_with("imageLoad", handle)?;
                self.comma_signed(rest.first().copied())?;
                self.comma_signed(rest.get(1).copied())?;
            }
            _ => self.image_atomic(inst, handle, rest)?,
        }
        self.out.push_str(if converts { "))" } else { ")" });
        sel.write(self.out);
        Ok(())
    }

    fn call_with(&mut self, function: &str, handle: Value) -> Result<(), Error> {
        self.out.push_str(function);
        self.out.push('(');
        self.write_handle(handle)
    }

    fn sample(&mut self, inst: Inst, info: TexInfo, handle: Value, rest: &[Value]) -> Result<(), Error> {
        let (&p, rest) = rest.split_first().ok_or(OPERANDS)?;
        let o = operands(info, rest).ok_or_else(|| self.unsupported(inst, "this operand"))?;
        let explicit = o.lod.is_some() || o.grad.is_some();
        if !explicit && self.module.stage != Stage::Fragment {
            return Err(self.unsupported(inst, "an implicit level of detail in this stage"));
        }
        let cube = info.dim == Dim::Cube;
        // Comparisons whose coordinates fill a vector, or whose level core GLSL does not take.
        let beside = info.shadow && cube && info.arrayed;
        if info.shadow
            && (cube || (info.arrayed && info.dim == Dim::D2))
            && (o.lod.is_some() || o.bias.is_some())
        {
            self.extension(Extension::ShadowLod);
        }
        self.out.push_str(match (&o.lod, &o.grad) {
            (Some(_), _) => "textureLod",
            (_, Some(_)) => "textureGrad",
            _ => "texture",
        });
        if let Some(offset) = o.offset {
            if self.func.const_bits(offset).is_none() {
                return Err(self.unsupported(inst, "an offset that is not constant"));
            }
            self.out.push_str("Offset");
        }
        self.out.push('(');
        self.write_handle(handle)?;
        self.out.push_str(", ");
        match o.compare.filter(|_| !beside) {
            None => self.value(p, ANY)?,
            Some(reference) => {
                // A line's comparison has an unused coordinate.
                let line = info.dim == Dim::D1 && !info.arrayed;
                let n = self.func.ty(p).lanes() + 1 + u8::from(line);
                let _ = write!(self.out, "vec{n}(");
                self.value(p, ANY)?;
                self.out.push_str(if line { ", 0.0" } else { "" });
                self.comma(Some(reference))?;
                self.out.push(')');
            }
        }
        self.comma(o.compare.filter(|_| beside))?;
        self.comma(o.lod)?;
        for along in o.grad.into_iter().flatten() {
            self.comma(Some(along))?;
        }
        self.comma_signed(o.offset)?;
        self.comma(o.bias)
    }

    fn gather(&mut self, inst: Inst, info: TexInfo, handle: Value, rest: &[Value]) -> Result<(), Error> {
        let (&p, rest) = rest.split_first().ok_or(OPERANDS)?;
        let o = operands(info, rest).ok_or_else(|| self.unsupported(inst, "this operand"))?;
        let name = if o.offset.is_some() { "textureGatherOffset" } else { "textureGather" };
        self.call_with(name, handle)?;
        self.comma(Some(p))?;
        self.comma(o.compare)?;
        self.comma_signed(o.offset)?;
        if !info.shadow {
            let _ = write!(self.out, ", {}", info.component);
        }
        Ok(())
    }

    fn fetch(&mut self, inst: Inst, info: TexInfo, handle: Value, rest: &[Value]) -> Result<(), Error> {
        let (&p, rest) = rest.split_first().ok_or(OPERANDS)?;
        let o = operands(info, rest).ok_or_else(|| self.unsupported(inst, "this operand"))?;
        let offset = o.offset.is_some();
        self.call_with(if offset { "texelFetchOffset" } else { "texelFetch" }, handle)?;
        self.comma_signed(Some(p))?;
        if info.multisampled {
            self.comma_signed(o.sample)?;
        } else if info.dim != Dim::Buffer {
            match o.lod {
                Some(lod) => self.comma_signed(Some(lod))?,
                None => self.out.push_str(", 0"),
            }
        }
        self.comma_signed(o.offset)
    }

    fn image_atomic(&mut self, inst: Inst, handle: Value, rest: &[Value]) -> Result<(), Error> {
        let (&p, values) = rest.split_first().ok_or(OPERANDS)?;
        let name = match self.func.insts[inst].op {
            Op::ImgAtomicAdd => "imageAtomicAdd",
            Op::ImgAtomicAnd => "imageAtomicAnd",
            Op::ImgAtomicOr => "imageAtomicOr",
            Op::ImgAtomicXor => "imageAtomicXor",
            Op::ImgAtomicXchg => "imageAtomicExchange",
            Op::ImgAtomicCmpxchg => "imageAtomicCompSwap",
            Op::ImgAtomicUmin | Op::ImgAtomicSmin => "imageAtomicMin",
            Op::ImgAtomicUmax | Op::ImgAtomicSmax => "imageAtomicMax",
            _ => return Err(self.unsupported(inst, "the op has no GLSL form")),
        };
        let signed = self.texel(handle)? == Texel::Sint;
        self.call_with(name, handle)?;
        self.comma_signed(Some(p))?;
        for &v in values {
            if signed { self.comma_signed(Some(v))? } else { self.comma(Some(v))? }
        }
        Ok(())
    }

    /// The statement of an image store.
    pub(crate) fn image_store(&mut self, inst: Inst) -> Result<(), Error> {
        let &[handle, p, ref sample @ .., v] = self.func.args(inst) else {
            return Err(OPERANDS);
        };
        if self.func.ty(v).kind() == Kind::I64 {
            return Err(self.unsupported(inst, "texels of 64 bits"));
        }
        let signed = self.texel(handle)? == Texel::Sint;
        self.call_with("imageStore", handle)?;
        self.comma_signed(Some(p))?;
        self.comma_signed(sample.first().copied())?;
        if signed {
            self.comma_signed(Some(v))?
        } else {
            self.comma(Some(v))?
        }
        self.out.push_str(");");
        Ok(())
    }
}
