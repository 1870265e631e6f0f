//! Stages of meshes, rays and vertex streams: their modules are valid from SPIR-V 1.4 on and refused before.

mod common;

use common::{emit_all, emit_valid};
use xenoglot_ir::{Module, text, verify};
use xenoglot_spirv::{Error, Options, Version, emit};

fn parse(source: &str) -> Module {
    let module = text::parse(source, &text::Limits::default()).unwrap_or_else(|e| panic!("{e}\n{source}"));
    verify(&module).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        text::parse(&module.to_string(), &text::Limits::default()).unwrap().to_string(),
        module.to_string()
    );
    module
}

/// Valid from 1.4 on, with options for the stage, and refused below.
fn since_1_4(source: &str, options: &Options) {
    let module = parse(source);
    for version in [Version::V1_4, Version::V1_5, Version::V1_6] {
        emit_valid(&module, &Options { version: Some(version), ..options.clone() });
    }
    let old = emit(&module, &Options { version: Some(Version::V1_3), ..options.clone() });
    assert!(matches!(old, Err(Error::Version { needed: Version::V1_4, .. })), "{old:?}");
    // Without a version asked for, it is the one that is needed.
    let words = emit_valid(&module, &Options { version: None, ..options.clone() });
    assert_eq!(words[1], 0x0001_0400);
}

#[test]
fn tasks_launch_meshes() {
    let task = "module task \"t\" {
      workgroup 4 1 1
      input %index = builtin local_invocation_index : i32 flat
      payload @payload = set 0 binding 0 task size 16
      entry func @main() {
      block0:
        v0 : i32 = input %index
        v1 : i32 = const 2
        v2 : i32 = shl v0, v1
        store payload @payload align 4, v2, v0
        barrier workgroup shared exec
        v3 : i32 = const 1
        mesh.dispatch @payload, v1, v3, v3
        return
      }
    }";
    since_1_4(task, &Options::default());
}

#[test]
fn meshes_make_vertices_and_primitives() {
    let source = "module mesh \"m\" {
      workgroup 4 1 1
      mesh out 2 vertices 4 primitives 3
      input %index = builtin local_invocation_index : i32 flat
      output %position = builtin position : f32x4 array 4
      output %planes = builtin clip_distance : f32 array 4 of 2
      output %lines = builtin primitive_indices : i32x2 flat array 3
      output %culled = builtin cull_primitive : bool per_primitive array 3
      output %layer = builtin layer : i32 per_primitive array 3
      output %color = location 0 : f32x4 array 4
      output %number = location 1 component 2 : i32 per_primitive array 3
      payload @payload = set 0 binding 0 task size 16
      entry func @main() {
      block0:
        v0 : i32 = input %index
        v1 : i32 = const 4
        v2 : i32 = const 3
        mesh.set_counts v1, v2
        v3 : f32x4 = const 1.0
        output %position, v3, v0
        output %color, v3, v0
        v4 : f32 = const 0.5
        v5 : i32 = const 1
        output %planes, v4, v0, v5
        v6 : i32 = load payload @payload align 4, v1
        v7 : i32x2 = build v0, v5
        output %lines, v7, v5
        v8 : bool = const true
        output %culled, v8, v5
        output %layer, v6, v5
        output %number, v6, v5
        return
      }
    }";
    since_1_4(source, &Options::default());
    let fragment = "module fragment \"f\" {
      input %number = location 1 component 2 : i32 per_primitive
      input %corner = location 2 : f32x2 per_vertex array 3
      input %at = builtin bary_coord_linear : f32x3 linear_sample
      output %color = location 0 : f32x3
      entry func @main() {
      block0:
        v0 : i32 = input %number
        v1 : f32x2 = input %corner, v0
        v2 : f32x3 = input %at
        output %color, v2
        return
      }
    }";
    since_1_4(fragment, &Options::default());
}

#[test]
fn rays_are_traced_and_hits_reported() {
    let generate = "module ray_gen \"g\" {
      input %id = builtin launch_id : i32x3 flat
      accel @scene = set 0 binding 0
      payload @ray = set 0 binding 0 ray size 16
      payload @call = set 0 binding 1 callable size 4
      entry func @main() {
      block0:
        v0 : i32x3 = input %id
        v1 : i32 = extract 0, v0
        v2 : f32x3 = const 1.0
        v3 : f32 = const 0.5
        v4 : i32 = const 0
        store payload @ray align 4, v4, v3
        v5 : accel = resource_handle @scene
        ray.trace @ray, v5, v4, v1, v4, v4, v4, v2, v3, v2, v3
        v6 : i32 = load payload @ray align 4, v4
        store payload @call align 4, v4, v6
        ray.call @call, v1
        return
      }
    }";
    since_1_4(generate, &Options::default());
    let intersection = "module intersection \"i\" {
      input %origin = builtin object_ray_origin : f32x3 flat
      payload @hit = set 0 binding 0 hit_attribute size 8
      entry func @main() {
      block0:
        v0 : f32x3 = input %origin
        v1 : f32 = extract 2, v0
        v2 : i32 = const 4
        store payload @hit align 4, v2, v1
        v3 : f32 = ray.t
        v4 : bool = ray.report v3, v2
        return
      }
    }";
    since_1_4(intersection, &Options::default());
    let any = "module any_hit \"a\" {
      input %kind = builtin hit_kind : i32 flat
      input %matrix = builtin object_to_world : f32x3 flat array 4
      payload @ray = set 0 binding 0 incoming_ray size 12
      entry func @main() {
      block0:
        v0 : i32 = input %kind
        v1 : i32 = const 3
        v2 : bool = icmp.eq v0, v1
        branch v2, block1, block2
      block1:
        ray.ignore
        return
      block2:
        v3 : f32x3 = input %matrix, v1
        v4 : f32 = extract 1, v3
        v5 : i32 = const 8
        store payload @ray align 4, v5, v4
        ray.accept
        return
      }
    }";
    since_1_4(any, &Options::default());
}

#[test]
fn queries_are_stepped_through() {
    let source = "module compute \"q\" {
      accel @scene = set 0 binding 0
      query @query = set 0 binding 0
      storage @out = set 0 binding 1 readwrite
      entry func @main() {
      block0:
        v0 : accel = resource_handle @scene
        v1 : i32 = const 0
        v2 : f32x3 = const 1.0
        v3 : f32 = const 0.5
        query.start @query, v0, v1, v1, v2, v3, v2, v3
        jump block1
      block1:
        v4 : bool = query.proceed @query
        branch v4, block2, block3
      block2:
        v5 : i32 = query.get @query kind
        v6 : bool = icmp.eq v5, v1
        branch v6, block4, block5
      block4:
        query.confirm @query
        jump block1
      block5:
        query.generate @query, v3
        query.terminate @query
        jump block1
      block3:
        v7 : f32x3 = query.get @query object_to_world committed column 3
        v8 : f32 = extract 0, v7
        store storage @out align 4, v1, v8
        return
      }
    }";
    since_1_4(source, &Options::default());
}

#[test]
fn vertices_go_to_streams() {
    let source = "module geometry \"s\" {
      geometry in 1 out 1 vertices 2 invocations 1
      input %position = builtin position : f32x4 array 1
      output %out = builtin position : f32x4
      output %other = location 0 : f32x4 stream 1
      entry func @main() {
      block0:
        v0 : i32 = const 0
        v1 : f32x4 = input %position, v0
        output %out, v1
        emit_vertex
        output %other, v1
        emit_vertex stream 1
        end_primitive stream 1
        return
      }
    }";
    emit_valid(&parse(source), &Options::default());
}

#[test]
fn both_tessellation_stages_may_name_the_tessellator() {
    let source = "module tess_control \"c\" {
      patch 4
      tessellator quads fractional_odd cw
      output %levels = builtin tess_level_outer : f32 patch array 4
      entry func @main() {
      block0:
        v0 : i32 = const 0
        v1 : f32 = const 2.0
        output %levels, v1, v0
        return
      }
    }";
    emit_valid(&parse(source), &Options::default());
}

#[test]
fn fragments_put_out_what_tests_take() {
    let source = "module fragment \"d\" {
      input %covered = builtin fully_covered : bool flat
      input %rate = builtin shading_rate : i32 flat
      input %view = builtin view_index : i32 flat
      input %a = location 0 : f32x4 centroid
      input %b = location 1 : f32 linear_centroid
      output %depth = builtin frag_depth : f32
      output %reference = builtin stencil_ref : i32
      entry func @main() {
      block0:
        v0 : bool = input %covered
        v1 : i32 = input %rate
        v2 : i32 = input %view
        v3 : i32 = select v0, v1, v2
        v4 : f32 = input %b
        output %depth, v4
        output %reference, v3
        return
      }
    }";
    emit_all(&parse(source), Version::V1_3);
}
