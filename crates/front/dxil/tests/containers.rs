//! The parts of real containers. `containers/NAME.dxil` is what DirectXShaderCompiler 1.7 makes of `NAME.hlsl` with the
//! flags in its first line and `-Vd`; expectations are read off the source, and off that compiler's listing.

mod corpus;

use corpus::{own, vectors};
use std::collections::{BTreeMap, BTreeSet};
use xenoglot_dxil::container::{
    BindingType, Container, Content, Digest, Features, FourCc, HitGroupType, OutputTopology,
    PipelineValidation, RuntimeData, StageFacts, SubobjectContent, SystemValue, TessellatorDomain,
    TessellatorOutput, bitcode,
};
use xenoglot_dxil::model::{ResourceClass, ShaderKind, ShaderModel};
use xenoglot_dxil::root_signature::RootSignature;

fn content<'a>(container: &Container<'a>, name: FourCc) -> Content<'a> {
    container.content(container.part(name).unwrap()).unwrap()
}

fn validation<'a>(container: &Container<'a>) -> PipelineValidation<'a> {
    let Content::PipelineValidation(facts) = content(container, FourCc::PSV0) else { panic!() };
    *facts
}

fn runtime_data<'a>(container: &Container<'a>) -> RuntimeData<'a> {
    let Content::RuntimeData(data) = content(container, FourCc::RDAT) else { panic!() };
    data
}

/// The value of a flag.
fn flag<'a>(args: &'a str, name: &str) -> Option<&'a str> {
    args.split_whitespace().skip_while(|&word| word != name).nth(1)
}

#[test]
fn every_part_of_every_container_is_read() {
    let mut parts = BTreeMap::<String, usize>::new();
    for file in vectors() {
        let name = &file.name;
        let container = Container::parse(&file.bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(container.digest(), Digest::Unsigned, "{name}");
        for part in &container.parts {
            let content = container.content(part).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_ne!(content, Content::Opaque, "{name}: {}", part.name);
            serde_json::to_string(&content).unwrap_or_else(|e| panic!("{name}: {e}"));
            *parts.entry(part.name.to_string()).or_default() += 1;
        }
        let program = container.program().unwrap();
        let profile = format!("{}_{}", program.kind.profile(), program.model).replace('.', "_");
        assert_eq!(Some(profile.as_str()), flag(&file.args, "-T"), "{name}");
        assert_eq!(program.dxil, (1, program.model.minor), "{name}");
        assert_eq!(bitcode(&file.bytes).unwrap().bytes, program.bitcode, "{name}");
    }
    let expected = [
        ("DXIL", 169),
        ("HASH", 169),
        ("ISG1", 166),
        ("OSG1", 166),
        ("PSG1", 4),
        ("PSV0", 166),
        ("RDAT", 3),
        ("RTS0", 2),
        ("SFI0", 169),
        ("STAT", 169),
    ];
    assert_eq!(parts, expected.map(|(name, count)| (name.to_owned(), count)).into());
}

/// Pipelines are checked by what the signatures say.
#[test]
fn pipeline_facts_agree_with_signatures() {
    let mut compared = 0;
    for file in vectors() {
        let container = Container::parse(&file.bytes).unwrap();
        if container.part(FourCc::PSV0).is_none() {
            continue;
        }
        let facts = validation(&container);
        assert_eq!(facts.kind, Some(container.program().unwrap().kind), "{}", file.name);
        let signatures = [FourCc::ISG1, FourCc::OSG1, FourCc::PSG1];
        for (name, elements) in
            signatures.into_iter().zip([&facts.inputs, &facts.outputs, &facts.patch_constants])
        {
            // Rows stand in any order there. Compute shaders list no system values, others those with registers.
            let rows: BTreeSet<_> = container
                .signature(name)
                .unwrap()
                .iter()
                .filter_map(|row| Some((row.register?, row.mask, row.index, row.component_type, row.stream)))
                .collect();
            let expected: BTreeSet<_> = elements
                .iter()
                .filter_map(|element| Some((element, element.place?)))
                .flat_map(|(element, (row, column))| {
                    let mask = ((1 << element.columns) - 1) << column;
                    (u32::from(row)..).zip(element.indices.iter()).map(move |(row, index)| {
                        (row, mask, index, element.component_type, u32::from(element.stream))
                    })
                })
                .collect();
            assert_eq!(rows, expected, "{}: {name}", file.name);
            compared += rows.len();
        }
    }
    assert!(compared > 60, "{compared}");
}

/// What a vector binds is what the shader says it uses.
#[test]
fn bindings_are_those_of_the_vectors() {
    let mut checked = 0;
    for file in vectors().iter().filter(|file| !file.test.is_empty()) {
        let container = Container::parse(&file.bytes).unwrap();
        let facts = validation(&container);
        let bound: BTreeSet<(&str, u32, u32)> = file
            .test
            .lines()
            .filter_map(|line| line.strip_prefix("resource "))
            .map(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                (words[0], words[1].parse().unwrap(), words[2].parse().unwrap())
            })
            .collect();
        for binding in &facts.bindings {
            let class = match binding.ty {
                BindingType::Cbv => "cbv",
                BindingType::SrvTyped | BindingType::SrvRaw | BindingType::SrvStructured => "srv",
                BindingType::Invalid | BindingType::Sampler => panic!("{}: {binding:?}", file.name),
                _ => "uav",
            };
            assert!(bound.contains(&(class, binding.space, binding.lower)), "{}: {binding:?}", file.name);
            checked += 1;
        }
    }
    assert!(checked > 250, "{checked}");
}

#[test]
fn signatures_and_dependencies_on_views() {
    let bytes = own("view");
    let container = Container::parse(&bytes).unwrap();
    let rows: Vec<_> = container.signature(FourCc::ISG1).unwrap();
    let rows: Vec<_> = rows.iter().map(|r| (r.semantic, r.index, r.register, r.mask)).collect();
    assert_eq!(rows, [("POSITION", 0, Some(0), 15), ("UV", 0, Some(1), 3), ("UV", 1, Some(2), 3)]);
    let outputs = container.signature(FourCc::OSG1).unwrap();
    let values: Vec<_> = outputs.iter().map(|r| (r.system_value, r.component_type.name())).collect();
    let none = SystemValue::None;
    assert_eq!(values, [(SystemValue::Position, "float"), (none, "float"), (none, "uint")]);
    let Content::Features(features) = content(&container, FourCc::SFI0) else { panic!() };
    assert_eq!(features, Features::VIEW_ID);

    let facts = validation(&container);
    assert_eq!((facts.version, facts.uses_view_id), (2, true));
    assert_eq!(facts.stage, StageFacts::Vertex { writes_position: true });
    let interpolations: Vec<_> = facts.outputs.iter().map(|e| e.interpolation.name()).collect();
    assert_eq!(interpolations, ["noperspective", "linear", "nointerpolation"]);
    let on_view: Vec<usize> = (0..12).filter(|&o| facts.view_to_outputs[0].depends(0, o)).collect();
    assert_eq!(on_view, [0]);
    let table = &facts.inputs_to_outputs[0];
    let pairs: Vec<(usize, usize)> =
        (0..12).flat_map(|o| (0..12).map(move |i| (o, i))).filter(|&(o, i)| table.depends(i, o)).collect();
    assert_eq!(pairs, [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (4, 9), (5, 5), (5, 8)]);
}

/// Stages by the compiler's listing ("Pipeline Runtime Information"), sizes by the sources.
#[test]
fn stages_have_their_facts() {
    let files = vectors();
    let vector = |name: &str| {
        let file = files.iter().find(|file| file.name == name).unwrap();
        validation(&Container::parse(&file.bytes).unwrap()).stage
    };
    use StageFacts as S;
    use TessellatorDomain as Domain;
    let (quads, ccw) = (Domain::Quad, TessellatorOutput::TriangleCcw);
    let grow = S::Hull { input_points: 4, output_points: 16, domain: quads, output: ccw };
    assert_eq!(vector("hs_quad_grow"), grow);
    let (tris, cw) = (Domain::Tri, TessellatorOutput::TriangleCw);
    assert_eq!(vector("hs_tri"), S::Hull { input_points: 3, output_points: 3, domain: tris, output: cw });
    let domain = |input_points, domain| S::Domain { input_points, writes_position: true, domain };
    assert_eq!(vector("ds_tri"), domain(3, tris));
    assert_eq!(vector("ds_quad_iso"), domain(16, quads));
    let geometry = |input_primitive, topology, streams, max_vertices| S::Geometry {
        input_primitive,
        topology,
        streams,
        writes_position: true,
        max_vertices,
    };
    assert_eq!(vector("gs_expand"), geometry(1, OutputTopology::TriangleStrip, 1, 4));
    assert_eq!(vector("gs_streams_instanced"), geometry(6, OutputTopology::PointList, 3, 6));
    assert_eq!(vector("ps_depth_cons"), S::Pixel { writes_depth: true, per_sample: true });
    assert_eq!(vector("ps_mrt"), S::Pixel { writes_depth: true, per_sample: false });
    assert_eq!(vector("ps_derivs_discard"), S::Pixel { writes_depth: false, per_sample: false });
    assert_eq!(vector("as_cull"), S::Amplification { payload_bytes: 4 + 8 * 12 });
    let bytes = own("mesh");
    let S::Mesh { payload_bytes, max_vertices, max_primitives, topology, .. } =
        validation(&Container::parse(&bytes).unwrap()).stage
    else {
        panic!()
    };
    assert_eq!((payload_bytes, max_vertices, max_primitives), (8, 4, 3));
    assert_eq!(topology, OutputTopology::LineList);
}

#[test]
fn debug_information() {
    let bytes = own("debug");
    let container = Container::parse(&bytes).unwrap();
    assert_eq!(content(&container, FourCc::ILDN), Content::DebugName("debug.pdb"));
    let Content::Program(debug) = content(&container, FourCc::ILDB) else { panic!() };
    let program = container.program().unwrap();
    assert_eq!((debug.model, debug.kind), (ShaderModel::sm6(0), ShaderKind::Compute));
    assert_ne!(debug.bitcode, program.bitcode);
    let facts = validation(&container);
    assert_eq!(facts.group_size, Some([4, 2, 1]));
    let binding = facts.bindings[0];
    assert_eq!((binding.ty, binding.space, binding.lower, binding.upper), (BindingType::UavRaw, 2, 3, 3));
}

#[test]
fn libraries_list_functions_and_resources() {
    let files = vectors();
    let file = files.iter().find(|file| file.name == "lib_hit_groups").unwrap();
    let data = runtime_data(&Container::parse(&file.bytes).unwrap());
    let names = |function: &str| -> Vec<&str> {
        let function = data.functions.iter().find(|f| f.unmangled == function).unwrap();
        function.resources.iter().map(|i| data.resources[i as usize].name).collect()
    };
    let functions: Vec<_> =
        data.functions.iter().map(|f| (f.unmangled, f.kind, f.payload_bytes, f.attribute_bytes)).collect();
    let expected = [
        ("Any", Some(ShaderKind::AnyHit), 16, 8),
        ("Box", Some(ShaderKind::Intersection), 0, 0),
        ("Hit", Some(ShaderKind::ClosestHit), 16, 8),
    ];
    let sorted: BTreeMap<_, _> = functions.iter().map(|f| (f.0, *f)).collect();
    assert_eq!(sorted.into_values().collect::<Vec<_>>(), expected);
    assert_eq!(BTreeSet::from_iter(names("Hit")), BTreeSet::from(["loc", "normals", "tlas"]));
    assert_eq!(BTreeSet::from_iter(names("Any")), BTreeSet::from(["alpha", "s"]));
    assert_eq!(names("Box"), [""; 0]);
    let alpha = data.resources.iter().find(|r| r.name == "alpha").unwrap();
    assert_eq!((alpha.class, alpha.space, alpha.lower, alpha.upper), (ResourceClass::Srv, 3, 0, u32::MAX));
}

#[test]
fn libraries_declare_subobjects() {
    let bytes = own("subobjects");
    let data = runtime_data(&Container::parse(&bytes).unwrap());
    let find = |name: &str| &data.subobjects.iter().find(|s| s.name == name).unwrap().content;
    use SubobjectContent as S;
    assert_eq!(find("config"), &S::StateObjectConfig { flags: 1 });
    assert_eq!(find("shader_config"), &S::ShaderConfig { payload_bytes: 16, attribute_bytes: 8 });
    assert_eq!(find("pipeline_config"), &S::PipelineConfig { max_depth: 2, flags: 0 });
    let S::GlobalRootSignature(global) = find("global_signature") else { panic!() };
    let global = RootSignature::parse(global).unwrap();
    assert_eq!(global.to_string(), "SRV(t0), DescriptorTable(UAV(u1))");
    let S::LocalRootSignature(local) = find("local_signature") else { panic!() };
    let local = RootSignature::parse(local).unwrap();
    let text = "RootFlags(LOCAL_ROOT_SIGNATURE), RootConstants(num32BitConstants=4, b0, space=15)";
    assert_eq!(local.to_string(), text);
    let S::ExportsAssociation { subobject, exports } = find("association") else { panic!() };
    assert_eq!(
        (*subobject, exports.iter().collect::<Vec<_>>()),
        ("local_signature", vec!["ClosestHit", "Miss"])
    );
    let group = |ty, intersection| S::HitGroup { ty, any_hit: "", closest_hit: "ClosestHit", intersection };
    assert_eq!(find("triangles"), &group(HitGroupType::Triangle, ""));
    assert_eq!(find("boxes"), &group(HitGroupType::ProceduralPrimitive, "Box"));
    assert_eq!(data.subobjects.len(), 8);
}

#[test]
fn root_signatures_print_as_in_the_source() {
    let files = vectors();
    let text = |name: &str| {
        let file = files.iter().find(|file| file.name == name).unwrap();
        RootSignature::parse(&file.bytes).unwrap().to_string()
    };
    assert_eq!(text("cs_rootsig_embedded"), "RootConstants(num32BitConstants=2, b0), SRV(t0), UAV(u0)");
    assert_eq!(
        text("ps_rootsig"),
        "RootFlags(ALLOW_INPUT_ASSEMBLER_INPUT_LAYOUT), RootConstants(num32BitConstants=4, b0), \
         CBV(b1, visibility=SHADER_VISIBILITY_PIXEL), SRV(t0, space=1, flags=DATA_STATIC), UAV(u0), \
         DescriptorTable(SRV(t1, numDescriptors=4), CBV(b2)), DescriptorTable(Sampler(s0)), \
         StaticSampler(s1, filter=FILTER_MIN_MAG_MIP_POINT, addressU=TEXTURE_ADDRESS_CLAMP)"
    );
}
