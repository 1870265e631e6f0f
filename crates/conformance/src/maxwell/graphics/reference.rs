//! The sources of shaders as GLSL for Vulkan, and stages around a shader.

use super::reflect::{Module, Type};
use super::source::Varying;
use super::warps;
use spirv::{Capability, Decoration, Op, StorageClass};
use std::fmt::Write;
use xenoglot_ir::module::Texel;
use xenoglot_maxwell::gpu::TessDomain;

/// The descriptor set of a shader's source; that of the tessellator's other half is the next.
pub(super) const SET: u32 = 1;
/// The bindings of storage blocks, samplers and images, which OpenGL counts on their own.
pub(super) const STORAGE: u32 = 32;
pub(super) const SAMPLER: u32 = 64;
pub(super) const IMAGE: u32 = 96;

/// The source with the names that Vulkan has.
///
/// uam divides what looks a cube up by its greatest component, so levels come from the derivatives of the quotients; here, too.
///
/// Vulkan's GLSL has no rectangles: they become plain textures and images, coordinates of samplers divided by their size.
pub(super) fn for_vulkan(source: &str) -> String {
    let mut out = source.to_owned();
    for rect in names(source, "sampler2DRect ") {
        let call = format!("texture({rect},");
        if let Some(at) = out.find(&call) {
            let start = at + call.len();
            let end = out[start..].find(')').map_or(out.len(), |n| start + n);
            out.insert_str(end, &format!("/vec2(textureSize({rect},0))"));
        }
    }
    for cube in names(source, "samplerCube ") {
        let call = format!("texture({cube},");
        let mut from = 0;
        while let Some(at) = out[from..].find(&call) {
            let start = from + at + call.len();
            let end = start + argument(&out[start..]);
            out.insert(end, ')');
            out.insert_str(start, "on_face(");
            from = start;
        }
        if from > 0
            && let Some(main) = out.find("void main").filter(|_| !out.contains(ON_FACE))
        {
            out.insert_str(main, ON_FACE);
        }
    }
    if source.contains("local_size_x") {
        out = warps::widen(&out);
    }
    out.replace("gl_VertexID", "gl_VertexIndex")
        .replace("gl_InstanceID", "gl_InstanceIndex")
        .replace("sampler2DRect", "sampler2D")
        .replace("image2DRect", "image2D")
}

/// Puts all that a module binds into a descriptor set, with one numbering: OpenGL counts blocks, samplers and images on
/// their own. Indices of tables that are not constant may differ between invocations, as on the machine.
///
/// # Errors
/// Words that are no module.
pub(super) fn bind(words: &mut Vec<u32>, set: u32) -> Result<(), String> {
    let module = Module::read(words)?;
    let base = |id: u32| {
        let variable = module.variables.iter().find(|v| v.id == id)?;
        let (element, _) = module.element(variable.ty);
        match (variable.class, module.ty(element)) {
            (StorageClass::UniformConstant, Some(Type::Image(image))) if image.stored => Some(IMAGE),
            (StorageClass::UniformConstant, Some(Type::Image(_))) => Some(SAMPLER),
            (StorageClass::StorageBuffer, _) => Some(STORAGE),
            (StorageClass::Uniform, _) if module.decorations(element).buffer_block => Some(STORAGE),
            (StorageClass::Uniform, _) => Some(0),
            _ => None,
        }
    };
    // Results that come of an index that is not constant, and where decorations begin.
    let mut varying = Vec::new();
    let mut first_decoration = None;
    let mut at = HEADER_WORDS;
    while let Some(&first) = words.get(at) {
        let (length, op) = ((first >> 16) as usize, Op::from_u32(first & 0xffff));
        let instruction = words.get_mut(at..at + length).filter(|i| !i.is_empty()).ok_or("damaged SPIR-V")?;
        match (op, instruction) {
            (Some(Op::Decorate), [_, id, decoration, rest @ ..]) => {
                first_decoration = first_decoration.or(Some(at));
                if let (Some(base), [value]) = (base(*id), rest) {
                    match Decoration::from_u32(*decoration) {
                        Some(Decoration::DescriptorSet) => *value = set,
                        Some(Decoration::Binding) => *value = value.saturating_add(base),
                        _ => {}
                    }
                }
            }
            (Some(Op::AccessChain | Op::InBoundsAccessChain), [_, _, id, table, index, ..])
                if matches!(base(*table), Some(SAMPLER | IMAGE)) && !module.is_constant(*index) =>
            {
                varying.push(*id);
            }
            (Some(Op::Load | Op::Image), [_, _, id, of, ..]) if varying.contains(of) => varying.push(*id),
            _ => {}
        }
        at += length;
    }
    let (Some(first), false) = (first_decoration, varying.is_empty()) else { return Ok(()) };
    let decorate = |&id: &u32| [3 << 16 | Op::Decorate as u32, id, Decoration::NonUniform as u32];
    words.splice(first..first, varying.iter().flat_map(decorate).collect::<Vec<u32>>());
    let capabilities = [
        Capability::ShaderNonUniform,
        Capability::SampledImageArrayNonUniformIndexing,
        Capability::StorageImageArrayNonUniformIndexing,
    ];
    let capabilities = capabilities.map(|c| [2 << 16 | Op::Capability as u32, c as u32]);
    words.splice(HEADER_WORDS..HEADER_WORDS, capabilities.into_iter().flatten());
    Ok(())
}

/// Words of a module before its instructions.
const HEADER_WORDS: usize = 5;

const ON_FACE: &str = "vec3 on_face(vec3 r) { vec3 a=abs(r); return r/max(max(a.x,a.y),a.z); }\n";

/// The names of samplers of a type.
fn names<'a>(source: &'a str, ty: &'a str) -> impl Iterator<Item = &'a str> {
    source.split(ty).skip(1).filter_map(|after| after.split([';', '[']).next())
}

/// Bytes of the first argument in a list.
fn argument(list: &str) -> usize {
    let mut depth = 0;
    let end = list.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth < 0 || depth == 0 && c == ','
    });
    end.unwrap_or(list.len())
}

fn ty(v: &Varying) -> String {
    let (scalar, prefix) = match v.texel {
        Texel::Float => ("float", ""),
        Texel::Sint => ("int", "i"),
        Texel::Uint => ("uint", "u"),
    };
    if v.components == 1 { scalar.into() } else { format!("{prefix}vec{}", v.components) }
}

fn flat(v: &Varying) -> &'static str {
    if v.texel == Texel::Float { "" } else { "flat " }
}

/// The first components of a vector of four.
fn swizzle(v: &Varying) -> &'static str {
    &"xyzw"[..usize::from(v.components).min(4)]
}

/// A vertex shader that covers the targets, w and all that `varyings` take differing between corners: by two triangles, or
/// by a patch of some other number of vertices.
pub(super) fn vertex(varyings: &[Varying], patch: u32) -> String {
    let mut out = String::from("#version 450\n");
    for v in varyings {
        let _ = writeln!(out, "layout(location={}) {}out {} v{0};", v.location, flat(v), ty(v));
    }
    out.push_str("void main() { ");
    let _ = match patch {
        2 => write!(out, "vec2 c=vec2(float(gl_VertexIndex&1));"),
        3 => write!(
            out,
            "const int k[6]=int[6](0,1,2,2,1,3); int i=k[gl_VertexIndex%6]; vec2 c=vec2(i&1,i>>1);"
        ),
        4 => write!(out, "const int k[4]=int[4](0,1,3,2); int i=k[gl_VertexIndex&3]; vec2 c=vec2(i&1,i>>1);"),
        n => {
            let side = f64::from(n).sqrt().ceil() as u32;
            let last = side.saturating_sub(1).max(1);
            write!(out, "int i=gl_VertexIndex%{n}; vec2 c=vec2(i%{side},i/{side})/{last}.0;")
        }
    };
    out.push_str("\nfloat w=1.0+0.5*c.x; gl_Position=vec4((c*2.0-1.0)*0.9*w,0.05*w,w); gl_PointSize=1.0;\n");
    for v in varyings {
        let of = match v.texel {
            Texel::Float => {
                format!("(vec4(c.x,c.y,0.2+0.5*c.x*c.y,0.9-0.6*c.y)+{}*0.03)", v.location)
            }
            // Numbers of four components are what integer operations are tried on.
            _ if v.components == 4 => "(uvec4(0x9e3779b1u,0x85ebca6bu,0x7feb352du,0x00012345u))".into(),
            _ => "(uvec4(3u,2u,1u,0u))".into(),
        };
        let _ = writeln!(out, "v{}={}({of}.{});", v.location, ty(v), swizzle(v));
    }
    out.push_str("}\n");
    out
}

/// A tessellation control shader that hands on what `varyings` take, divides a little, and makes up what `patch` takes.
pub(super) fn control(varyings: &[Varying], patch: &[Varying], vertices: u32) -> String {
    let mut out = format!("#version 450\nlayout(vertices={vertices}) out;\n");
    for v in varyings {
        let _ = writeln!(
            out,
            "layout(location={0}) {1}in {2} i{0}[]; layout(location={0}) {1}out {2} v{0}[];",
            v.location,
            flat(v),
            ty(v)
        );
    }
    for v in patch {
        let _ = writeln!(out, "layout(location={}) patch out {} p{0};", v.location, ty(v));
    }
    out.push_str(
        "void main() {\n#define ID gl_InvocationID\ngl_out[ID].gl_Position=gl_in[ID].gl_Position;\n",
    );
    for v in varyings {
        let _ = writeln!(out, "v{0}[ID]=i{0}[ID];", v.location);
    }
    for v in patch {
        let of = if v.texel == Texel::Float { "vec4(0.5,0.25,0.75,1.0)" } else { "uvec4(3u,2u,1u,0u)" };
        let _ = writeln!(out, "p{}={}({of}.{});", v.location, ty(v), swizzle(v));
    }
    out.push_str(
        "if(ID==0) { gl_TessLevelOuter[0]=3.0; gl_TessLevelOuter[1]=4.0; gl_TessLevelOuter[2]=5.0;\n\
         gl_TessLevelOuter[3]=2.0; gl_TessLevelInner[0]=3.0; gl_TessLevelInner[1]=4.0; } }\n",
    );
    out
}

/// A tessellation evaluation shader that spreads corners over what is divided, and hands on what is of patches.
pub(super) fn evaluation(
    varyings: &[Varying],
    patch: &[Varying],
    domain: TessDomain,
    vertices: u32,
) -> String {
    let name = match domain {
        TessDomain::Triangles => "triangles",
        TessDomain::Quads => "quads",
        TessDomain::Isolines => "isolines",
    };
    let mut out = format!("#version 450\nlayout({name}, equal_spacing, ccw) in;\n");
    for v in varyings {
        let _ = writeln!(
            out,
            "layout(location={0}) in {2} i{0}[]; layout(location={0}) {1}out {2} v{0};",
            v.location,
            flat(v),
            ty(v)
        );
    }
    for (n, v) in behind(varyings, patch) {
        let _ = writeln!(
            out,
            "layout(location={}) patch in {} p{0}; layout(location={n}) {}out {1} q{0};",
            v.location,
            ty(v),
            flat(v)
        );
    }
    // Corners that a patch does not have are its last one.
    let last = vertices.saturating_sub(1);
    let corner = |n: u32| n.min(last);
    let spread = |of: &dyn Fn(u32) -> String| match domain {
        TessDomain::Triangles => {
            format!("{}*t.x+{}*t.y+{}*t.z", of(corner(0)), of(corner(1)), of(corner(2)))
        }
        _ => format!(
            "mix(mix({},{},t.x),mix({},{},t.x),t.y)",
            of(corner(0)),
            of(corner(1)),
            of(corner(3)),
            of(corner(2))
        ),
    };
    let _ = writeln!(
        out,
        "void main() {{ vec3 t=gl_TessCoord; gl_Position={};",
        spread(&|n| format!("gl_in[{n}].gl_Position"))
    );
    for v in varyings {
        let value = match v.texel {
            Texel::Float => spread(&|n| format!("i{}[{n}]", v.location)),
            _ => format!("i{}[0]", v.location),
        };
        let _ = writeln!(out, "v{}={value};", v.location);
    }
    for v in patch {
        let _ = writeln!(out, "q{0}=p{0};", v.location);
    }
    out.push_str("}\n");
    out
}

/// What is of patches, each with the location at which [`evaluation`] hands it on: behind those of `varyings`.
fn behind<'p>(
    varyings: &[Varying],
    patch: &'p [Varying],
) -> impl Iterator<Item = (u32, &'p Varying)> + use<'p> {
    let first_free = varyings.iter().map(|v| v.location + 1).max().unwrap_or(0);
    (first_free..).zip(patch)
}

/// What [`evaluation`] puts out.
pub(super) fn evaluated(varyings: &[Varying], patch: &[Varying]) -> Vec<Varying> {
    let of_patch =
        behind(varyings, patch).map(|(location, v)| Varying { location, patch: false, ..v.clone() });
    varyings.iter().cloned().chain(of_patch).collect()
}

/// A fragment shader that writes each varying to a target of its own, or without any the depth.
pub(super) fn fragment(varyings: &[Varying]) -> String {
    let mut out = String::from("#version 450\n");
    for (target, v) in varyings.iter().enumerate() {
        let _ = writeln!(out, "layout(location={}) {}in {} v{0};", v.location, flat(v), ty(v));
        let _ = writeln!(out, "layout(location={target}) out vec4 o{target};");
    }
    if varyings.is_empty() {
        out.push_str("layout(location=0) out vec4 o0;\nvoid main() { o0=vec4(gl_FragCoord.zw,0.0,1.0); }\n");
        return out;
    }
    out.push_str("void main() {\n");
    for (target, v) in varyings.iter().enumerate() {
        let rest = ["", ",0.0,0.0,1.0", ",0.0,1.0", ",1.0", ""][usize::from(v.components).min(4)];
        let _ = writeln!(out, "o{target}=vec4(v{}{rest});", v.location);
    }
    out.push_str("}\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use xenoglot_vulkan::glslang::{self, Stage};

    #[test]
    fn cubes_are_looked_up_on_their_faces() {
        let source =
            "layout(binding=1) uniform samplerCube b; void main(){ o=texture(b,f(u.xy,1),w)+texture(b,u); }";
        let text = for_vulkan(source);
        assert!(text.contains("texture(b,on_face(f(u.xy,1)),w)+texture(b,on_face(u))"), "{text}");
        assert_eq!(text.matches("vec3 on_face").count(), 1);
    }

    #[test]
    fn bindings_are_counted_once_for_all() {
        if !glslang::available() {
            return;
        }
        // As OpenGL's compilers take it: a macro, an expression, and blanks.
        let source = "#version 450\n#define AT 2\nlayout( binding = AT , r32ui ) uniform uimage2D i;\n\
            layout(binding = AT) uniform sampler2D s[1 + 2]; layout(binding=AT) buffer B { uint b[]; };\n\
            layout(std140, binding = 1 + 1) uniform U { vec4 u; }; layout(location=0) out vec4 o;\n\
            void main() { o = u + texture(s[0], vec2(b[0])) + vec4(imageLoad(i, ivec2(0))); }";
        let mut words = glslang::compile(source, Stage::Fragment).unwrap();
        bind(&mut words, 1).unwrap();
        let module = Module::read(&words).unwrap();
        let mut bindings: Vec<u32> =
            module.variables.iter().filter_map(|v| module.decorations(v.id).binding).collect();
        bindings.sort_unstable();
        assert_eq!(bindings, [2, STORAGE + 2, SAMPLER + 2, IMAGE + 2]);
    }

    #[test]
    fn damaged_modules_are_refused() {
        let mut words = vec![spirv::MAGIC_NUMBER, 0x1_0000, 0, 9, 0, 5 << 16 | 71, 1];
        assert!(bind(&mut words, 1).is_err() && Module::read(&words).is_err());
        assert!(Module::read(&[]).is_err());
    }
}
