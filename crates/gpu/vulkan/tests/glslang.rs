//! The GLSL compiler as a child process.

use xenoglot_testgen::skip;
use xenoglot_vulkan::glslang::{self, Error, Stage};

#[test]
fn good_shaders_compile_and_bad_ones_come_back_with_the_compilers_words() {
    if !glslang::available() {
        return skip("glslangValidator is not installed");
    }
    let words = glslang::compile("#version 450\nvoid main() {}", Stage::Compute).unwrap();
    assert_eq!(words.first(), Some(&0x0723_0203));
    match glslang::compile("#version 450\nvoid main() { nothing(); }", Stage::Compute) {
        Err(Error::Refused { log, .. }) => assert!(log.contains("nothing"), "{log}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn shaders_for_opengl_are_checked_by_its_rules() {
    if !glslang::available() {
        return skip("glslangValidator is not installed");
    }
    let loose = "#version 330\nuniform vec4 c; void main() { gl_Position = c; }";
    glslang::validate(loose, Stage::Vertex).unwrap();
    // A uniform outside of a block does not exist in Vulkan.
    assert!(matches!(glslang::compile(loose, Stage::Vertex), Err(Error::Refused { .. })));
    glslang::validate("#version 310 es\nlayout(local_size_x = 1) in; void main() {}", Stage::Compute)
        .unwrap();
}
