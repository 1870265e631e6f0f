//! The sources of shaders as GLSL for Vulkan, and stages around a shader.

use super::source::{Varying, opaque};
use super::warps;
use std::fmt::Write;
use xenoglot_ir::module::Texel;

/// The descriptor set of a shader's source; that of the tessellator's other half is the next.
pub(super) const SET: u32 = 1;
/// The bindings of storage blocks, samplers and images, which OpenGL counts on their own.
pub(super) const STORAGE: u32 = 32;
pub(super) const SAMPLER: u32 = 64;
pub(super) const IMAGE: u32 = 96;

/// The source with one numbering for all bindings of a descriptor set, and the names that Vulkan has.
///
/// uam divides what looks a cube up by its greatest component, so levels come from the derivatives of the quotients; here, too.
///
/// Vulkan's GLSL has no rectangles: they become plain textures and images, coordinates of samplers divided by their size.
pub(super) fn for_vulkan(source: &str, set: u32) -> String {
    let mut out = String::new();
    let mut rest = source;
    while let Some(at) = rest.find("binding=") {
        let (before, after) = rest.split_at(at);
        let digits = &after[8..];
        let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let binding: u32 = digits[..length].parse().unwrap_or(0);
        let declaration = after.split([';', '{']).next().unwrap_or_default();
        let base = if declaration.contains("sampler") {
            SAMPLER
        } else if declaration.contains(" buffer ") {
            STORAGE
        } else if declaration.split_whitespace().any(|word| opaque(word, "image").is_some()) {
            IMAGE
        } else {
            0
        };
        let _ = write!(out, "{before}set={set},binding={}", base + binding);
        rest = &digits[length..];
    }
    out.push_str(rest);
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

/// A vertex shader that covers the targets with two triangles, w and all that `varyings` take differing between corners.
pub(super) fn vertex(varyings: &[&Varying]) -> String {
    let mut out = String::from("#version 450\n");
    for v in varyings {
        let _ = writeln!(out, "layout(location={}) {}out {} v{0};", v.location, flat(v), ty(v));
    }
    out.push_str(
        "void main() { const int k[6]=int[6](0,1,2,2,1,3); int i=k[gl_VertexIndex%6]; vec2 c=vec2(i&1,i>>1);\n\
         float w=1.0+0.5*c.x; gl_Position=vec4((c*2.0-1.0)*0.9*w,0.05*w,w); gl_PointSize=1.0;\n",
    );
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

/// A fragment shader that writes each varying to a target of its own, or without any the depth.
pub(super) fn fragment(varyings: &[&Varying]) -> String {
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
    use super::for_vulkan;

    #[test]
    fn cubes_are_looked_up_on_their_faces() {
        let source =
            "layout(binding=1) uniform samplerCube b; void main(){ o=texture(b,f(u.xy,1),w)+texture(b,u); }";
        let text = for_vulkan(source, 0);
        assert!(text.contains("texture(b,on_face(f(u.xy,1)),w)+texture(b,on_face(u))"), "{text}");
        assert_eq!(text.matches("vec3 on_face").count(), 1);
    }

    #[test]
    fn bindings_are_counted_once_for_all() {
        let source = "layout(binding=2,r32ui) uniform uimage2DRect i; layout(binding=2) uniform sampler2D s;";
        let wanted = "layout(set=1,binding=98,r32ui) uniform uimage2D i; layout(set=1,binding=66) uniform sampler2D s;";
        assert_eq!(for_vulkan(source, 1), wanted);
    }
}
