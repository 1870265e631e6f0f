//! What the device's float operations give, against IEEE 754 as the host computes it.
//!
//! `cargo test -p xenoglot-vulkan --test numerics -- --nocapture` prints the table for any device. For lavapipe of Mesa
//! 25, the device most of the project's tests run on, the table is also a claim: what other tests rely on when they
//! compare bits.

mod common;

use common::{bytes, compute_run, device, glsl, storage, words};
use xenoglot_vulkan::{ComputeJob, Device, VertexInput, VertexJob, VertexRun, glslang};

type Reference = fn(f32, f32, f32) -> u32;

struct Operation {
    name: &'static str,
    /// A GLSL expression of type `uint` over the floats `a`, `b` and `c`.
    glsl: &'static str,
    reference: Reference,
    claim: Claim,
}

/// How near lavapipe is to the reference. A NaN is as good as any other.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Claim {
    Exact,
    /// Exact, but a zero may have the other sign.
    ZeroSign,
    /// Nearer than so many units in the last place or than 2⁻²¹, where neither operand nor result is denormal.
    Within(u32),
}

use Claim::{Exact, Within, ZeroSign};

macro_rules! operations {
    ($($name:literal $claim:ident $(($ulps:literal))? $glsl:literal |$a:pat_param, $b:pat_param, $c:pat_param| $reference:expr;)*) => {
        &[$(Operation {
            name: $name,
            glsl: $glsl,
            reference: |$a: f32, $b: f32, $c: f32| $reference,
            claim: $claim $(($ulps))?,
        },)*]
    };
}

const OPERATIONS: &[Operation] = operations! {
    "add" Exact "floatBitsToUint(a + b)" |a, b, _| (a + b).to_bits();
    "sub" Exact "floatBitsToUint(a - b)" |a, b, _| (a - b).to_bits();
    "mul" Exact "floatBitsToUint(a * b)" |a, b, _| (a * b).to_bits();
    "div" Exact "floatBitsToUint(a / b)" |a, b, _| (a / b).to_bits();
    "rcp" Exact "floatBitsToUint(1.0 / a)" |a, _, _| (1.0 / a).to_bits();
    "sqrt" Exact "floatBitsToUint(sqrt(a))" |a, _, _| a.sqrt().to_bits();
    // The reciprocal of the rounded root.
    "rsq" Exact "floatBitsToUint(inversesqrt(a))" |a, _, _| (1.0 / a.sqrt()).to_bits();
    "exp2" Within(4) "floatBitsToUint(exp2(a))" |a, _, _| (f64::from(a).exp2() as f32).to_bits();
    "log2" Within(4) "floatBitsToUint(log2(a))" |a, _, _| (f64::from(a).log2() as f32).to_bits();
    "mul-add" Exact "floatBitsToUint(a * b + c)" |a, b, c| (a * b + c).to_bits();
    "precise mul-add" Exact "strict(a, b, c)" |a, b, c| (a * b + c).to_bits();
    // Not fused: rounded twice.
    "fma" Exact "floatBitsToUint(fma(a, b, c))" |a, b, c| (a * b + c).to_bits();
    "dot" Exact "floatBitsToUint(dot(vec2(a, b), vec2(c, a)))" |a, b, c| (a * c + b * a).to_bits();
    "neg" Exact "floatBitsToUint(-a)" |a, _, _| (-a).to_bits();
    "abs" Exact "floatBitsToUint(abs(a))" |a, _, _| a.abs().to_bits();
    "floor" Exact "floatBitsToUint(floor(a))" |a, _, _| a.floor().to_bits();
    "ceil" Exact "floatBitsToUint(ceil(a))" |a, _, _| a.ceil().to_bits();
    "trunc" Exact "floatBitsToUint(trunc(a))" |a, _, _| a.trunc().to_bits();
    "roundEven" Exact "floatBitsToUint(roundEven(a))" |a, _, _| a.round_ties_even().to_bits();
    "fract" Exact "floatBitsToUint(fract(a))" |a, _, _| (a - a.floor()).to_bits();
    // The operand that is a number, for FMin and NMin alike.
    "FMin" ZeroSign "floatBitsToUint(min(a, b))" |a, b, _| minimum_number(a, b).to_bits();
    "FMax" ZeroSign "floatBitsToUint(max(a, b))" |a, b, _| (-minimum_number(-a, -b)).to_bits();
    "NMin" ZeroSign "floatBitsToUint(nmin(a, b))" |a, b, _| minimum_number(a, b).to_bits();
    "NMax" ZeroSign "floatBitsToUint(nmax(a, b))" |a, b, _| (-minimum_number(-a, -b)).to_bits();
    "select min" Exact "floatBitsToUint(b < a ? b : a)" |a, b, _| (if b < a { b } else { a }).to_bits();
    "equal" Exact "uint(a == b)" |a, b, _| u32::from(a == b);
    "not equal" Exact "uint(a != b)" |a, b, _| u32::from(a != b);
    "less" Exact "uint(a < b)" |a, b, _| u32::from(a < b);
    "not less" Exact "uint(!(a < b))" |a, b, _| 1 - u32::from(a < b);
    "a != a" Exact "uint(a != a)" |a, _, _| u32::from(a.is_nan());
    "IsNan" Exact "uint(isnan(a))" |a, _, _| u32::from(a.is_nan());
    "IsInf" Exact "uint(isinf(a))" |a, _, _| u32::from(a.is_infinite());
    "IsNan of mul" Exact "uint(isnan(a * b))" |a, b, _| u32::from((a * b).is_nan());
    // Without `SignedZeroInfNanPreserve` the next two are always 0 (the first not where `precise`).
    "a - a" Exact "floatBitsToUint(a - a)" |a, _, _| (a + -a).to_bits();
    "a * 0" Exact "floatBitsToUint(a * 0.0)" |a, _, _| (a * 0.0).to_bits();
    "a * 1" Exact "floatBitsToUint(a * 1.0)" |a, _, _| (a * 1.0).to_bits();
    // Adding the constant zero is taken for doing nothing: -0 + 0 gives -0, and 0 - 0 gives -0.
    "a + 0" ZeroSign "floatBitsToUint(a + 0.0)" |a, _, _| (a + 0.0).to_bits();
    "a + -0" Exact "floatBitsToUint(a + -0.0)" |a, _, _| (a + -0.0).to_bits();
    "0 - a" ZeroSign "floatBitsToUint(0.0 - a)" |a, _, _| (0.0 - a).to_bits();
    // Conversions saturate, and NaN is 0.
    "to int" Exact "uint(int(a))" |a, _, _| a as i32 as u32;
    "to uint" Exact "uint(a)" |a, _, _| a as u32;
    "from int" Exact "floatBitsToUint(float(floatBitsToInt(a)))" |a, _, _| (a.to_bits() as i32 as f32).to_bits();
    "from uint" Exact "floatBitsToUint(float(floatBitsToUint(a)))" |a, _, _| (a.to_bits() as f32).to_bits();
    "identity" Exact "floatBitsToUint(a)" |a, _, _| a.to_bits();
};

fn minimum_number(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if b < a => b,
        _ => a,
    }
}

/// The operands: all triples of the odd ones would be too many, so pairs of them, and random bits.
fn operands() -> Vec<[f32; 3]> {
    const ODD: [u32; 26] = [
        0,
        0x8000_0000,
        1,
        0x8000_0001,
        0x0000_1234,
        0x007f_ffff,
        0x0080_0000,
        0x8080_0000,
        0x0080_0001,
        0x3f80_0000,
        0xbf80_0000,
        0x3f80_0001,
        0x3f00_0000,
        0xbf00_0000,
        0x3fc0_0000,
        0x4020_0000,
        0x4b00_0001,
        0x4effffff,
        0x4f00_0000,
        0xcf00_0000,
        0x4f80_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0xffc1_2345,
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    };
    let mut operands = Vec::new();
    for a in ODD {
        for b in ODD {
            operands.push([a, b, ODD[(random() % 26) as usize]].map(f32::from_bits));
        }
    }
    for _ in 0..512 {
        operands.push([random(), random(), random()].map(f32::from_bits));
        // Exponents near each other, where rounding happens.
        operands.push(
            [random(), random(), random()].map(|bits| f32::from_bits(bits & 0x83ff_ffff | 0x3c00_0000)),
        );
    }
    operands
}

/// To follow the declarations of captured outputs: glslang forgets their stride at these.
const FUNCTIONS: &str = "
    spirv_instruction(set = \"GLSL.std.450\", id = 79) float nmin(float a, float b);
    spirv_instruction(set = \"GLSL.std.450\", id = 80) float nmax(float a, float b);
    uint strict(float a, float b, float c) { precise float r = a * b + c; return floatBitsToUint(r); }";

/// `SignedZeroInfNanPreserve` for 32-bit floats.
const MODES: &str = "
    spirv_execution_mode(extensions = [\"SPV_KHR_float_controls\"], capabilities = [4466], 4461, 32);";

fn modes(device: &Device) -> &'static str {
    let controls = device.info().float_controls;
    if controls.signed_zero_inf_nan_preserve[1] { MODES } else { "" }
}

fn in_compute(device: &Device, modes: &str, operands: &[[f32; 3]]) -> Option<Vec<Vec<u32>>> {
    let stores: String = (OPERATIONS.iter().enumerate())
        .map(|(index, operation)| {
            format!("results[i * {} + {index}] = {};\n", OPERATIONS.len(), operation.glsl)
        })
        .collect();
    let source = format!(
        "#version 460\n#extension GL_EXT_spirv_intrinsics : require
        layout(local_size_x = 1) in;
        layout(set = 0, binding = 0) readonly buffer I {{ uint operands[]; }};
        layout(set = 0, binding = 1) buffer O {{ uint results[]; }};
        {FUNCTIONS}
        {modes}
        void main() {{
            uint i = gl_GlobalInvocationID.x;
            float a = uintBitsToFloat(operands[i * 3]);
            float b = uintBitsToFloat(operands[i * 3 + 1]);
            float c = uintBitsToFloat(operands[i * 3 + 2]);
            {stores}
        }}"
    );
    let spirv = glsl(&source, glslang::Stage::Compute)?;
    let inputs: Vec<u32> = operands.as_flattened().iter().map(|x| x.to_bits()).collect();
    let results = vec![0; operands.len() * OPERATIONS.len()];
    let runs = vec![compute_run(vec![storage(0, &inputs), storage(1, &results)], operands.len() as u32)];
    // SAFETY: glslang makes valid modules.
    let outputs =
        unsafe { device.run_compute(&ComputeJob { spirv, entry: "main".to_owned(), runs }) }.unwrap();
    Some(words(&outputs[0].buffers[1]).chunks(OPERATIONS.len()).map(<[u32]>::to_vec).collect())
}

fn in_vertex(device: &Device, modes: &str, operands: &[[f32; 3]]) -> Option<Vec<Vec<u32>>> {
    let mut results = vec![Vec::new(); operands.len()];
    // As many outputs as every device has.
    for operations in OPERATIONS.chunks(16) {
        let stride = operations.len() * 4;
        let (mut declarations, mut stores) = (String::new(), String::new());
        for (index, operation) in operations.iter().enumerate() {
            let offset = index * 4;
            declarations += &format!(
                "layout(location = {index}, xfb_buffer = 0, xfb_stride = {stride}, xfb_offset = {offset}) \
                 flat out uint result{index};\n"
            );
            stores += &format!("result{index} = {};\n", operation.glsl);
        }
        let source = format!(
            "#version 460\n#extension GL_EXT_spirv_intrinsics : require
            layout(location = 0) in vec3 operands;
            {declarations}
            {FUNCTIONS}
            {modes}
            layout(xfb_buffer = 0, xfb_stride = {stride}) out;
            void main() {{
                float a = operands.x, b = operands.y, c = operands.z;
                gl_PointSize = 1.0;
                {stores}
            }}"
        );
        let spirv = glsl(&source, glslang::Stage::Vertex)?;
        let values = operands.iter().map(|&[a, b, c]| [a.to_bits(), b.to_bits(), c.to_bits(), 0]).collect();
        let inputs = vec![VertexInput { location: 0, values }];
        let vertices = operands.len() as u32;
        let runs = vec![VertexRun { vertices, inputs, buffers: vec![], push_constants: bytes(&[]) }];
        let job = VertexJob { spirv, entry: "main".to_owned(), runs };
        // SAFETY: glslang makes valid modules.
        let outputs = unsafe { device.run_vertex(&job) }.unwrap();
        for (results, captured) in
            results.iter_mut().zip(words(&outputs[0].captures[&0].data).chunks(operations.len()))
        {
            results.extend(captured);
        }
    }
    Some(results)
}

/// Where a claim holds, and whether it does.
fn holds(claim: Claim, a: f32, got: u32, want: u32) -> bool {
    let (got_float, want_float) = (f32::from_bits(got), f32::from_bits(want));
    if got == want || (got_float.is_nan() && want_float.is_nan()) {
        return true;
    }
    match claim {
        Exact => false,
        ZeroSign => got_float == 0.0 && want_float == 0.0,
        Within(ulps) => {
            a.is_subnormal()
                || want_float.is_subnormal()
                || (got_float == 0.0 && want_float == 0.0)
                || got.abs_diff(want) < ulps
                || (got_float - want_float).abs() < 1.0 / 2_097_152.0
        }
    }
}

/// Prints how often each operation misses its claim over these operands; returns the names of those that do.
fn misses(
    title: &str,
    operands: &[[f32; 3]],
    results: &[Vec<u32>],
    counts: impl Fn(&[f32]) -> bool,
) -> Vec<String> {
    println!("{title}");
    let mut missed = Vec::new();
    for (index, operation) in OPERATIONS.iter().enumerate() {
        let (mut total, mut examples) = (0, Vec::new());
        for (&[a, b, c], results) in operands.iter().zip(results) {
            let (got, want) = (results[index], (operation.reference)(a, b, c));
            // A denormal result counts where denormal operands do.
            let results_counted =
                counts(&[a + b, a - b, a * b, a * c, a / b, 1.0 / a, a * b + c, a * c + b * a]);
            if !counts(&[a, b, c]) || !results_counted {
                continue;
            }
            total += 1;
            if !holds(operation.claim, a, got, want) {
                let [a, b, c] = [a, b, c].map(f32::to_bits);
                examples.push(format!("({a:08x} {b:08x} {c:08x}) gives {got:08x}, not {want:08x}"));
            }
        }
        assert!(total > 100, "{} was tried {total} times", operation.name);
        let (count, claim) = (examples.len(), format!("{:?}", operation.claim));
        let first = examples.first().map_or("", String::as_str);
        println!("  {:16} {claim:10} missed by {count:4} of {total}  {first}", operation.name);
        if count > 0 {
            missed.push(operation.name.to_owned());
        }
    }
    missed
}

#[test]
fn operations_are_as_exact_as_claimed() {
    let Some(device) = device() else { return };
    let operands = operands();
    let (Some(compute), Some(vertex)) =
        (in_compute(&device, modes(&device), &operands), in_vertex(&device, modes(&device), &operands))
    else {
        return;
    };
    let no_denormals = |floats: &[f32]| !floats.iter().any(|float| float.is_subnormal());
    let info = device.info();
    println!("{}, {}; subgroups of {}", info.name, info.driver, info.limits.subgroup_size);
    println!("{:#?}", info.float_controls);
    let missed = [
        misses("compute shader, any operands:", &operands, &compute, |_| true),
        misses("vertex shader, neither operands nor results denormal:", &operands, &vertex, no_denormals),
    ];
    // (1 * smallest denormal): the operands of a vertex shader's arithmetic are flushed, its plain copies are not.
    let at = operands.iter().position(|o| o[0] == 1.0 && o[1].to_bits() == 1).unwrap();
    let product = OPERATIONS.iter().position(|operation| operation.name == "mul").unwrap();
    let flushed = vertex[at][product] == 0;
    println!("denormals in vertex shaders are {}", if flushed { "flushed" } else { "kept" });
    if !info.driver.starts_with("llvmpipe Mesa 25") {
        return xenoglot_testgen::skip("claims about floats are made for lavapipe of Mesa 25 only");
    }
    assert_eq!(missed, [Vec::<String>::new(), Vec::new()]);
    assert!(flushed);
    assert_eq!(compute[at][product], 1);
}
