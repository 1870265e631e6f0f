//! Each command on the bundled shaders.

use crate::common::{folder, json, run, run_with, shader, shaders, text};
use std::fs;
#[cfg(feature = "vulkan")]
use std::path::Path;
use xenoglot_maxwell::container::fatbin::{Compression, Kind};
use xenoglot_testgen::maxwell::fatbin::{Member, fat_binary, in_library};

#[test]
fn help_names_commands_and_exit_codes() {
    let help = text(&["--help"]);
    for word in ["info", "disasm", "asm", "cfg", "ir", "translate", "run", "extract", "demo", "Exit codes"] {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn info_describes_every_shader() {
    let facts = json(&["info", "--json", &shaders().display().to_string()]);
    let names = fs::read_dir(shaders()).unwrap().count();
    assert_eq!(facts.as_array().unwrap().len(), names);
    let skin = json(&["info", "--json", &shader("skin2.v.pica")]);
    let executable = &skin[0]["executables"][0];
    assert_eq!(executable["kind"], "vertex");
    assert_eq!(executable["uniforms"][0], serde_json::json!({ "name": "projection", "registers": "c0-c3" }));
    assert_eq!(executable["module"]["functions"][0]["structured"]["loops"], 1);
    let text = text(&["info", &shader("subdivision.g.pica")]);
    assert!(text.contains("mode: variable") && text.contains("kind: geometry"), "{text}");
}

#[test]
fn info_describes_direct3d_containers() {
    let file = |name: &str| {
        let vectors = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/dxil/stages");
        vectors.join(name).display().to_string()
    };
    let facts = &json(&["info", "--json", &file("cs_rootsig_embedded.dxil")])[0];
    assert_eq!(facts["format"], "Direct3D container (DXBC)");
    assert_eq!(facts["digest"], "unsigned");
    assert_eq!((&facts["program"]["model"], &facts["program"]["kind"]), (&"6.0".into(), &"compute".into()));
    assert_eq!(facts["pipeline"]["group_size"], serde_json::json!([64, 1, 1]));
    let bindings = facts["pipeline"]["bindings"].as_array().unwrap();
    let types: Vec<&str> = bindings.iter().filter_map(|b| b["ty"].as_str()).collect();
    assert_eq!(types, ["CBV", "SRV structured", "UAV structured"]);
    let signature = &facts["root signature"];
    assert_eq!(signature["text"], "RootConstants(num32BitConstants=2, b0), SRV(t0), UAV(u0)");
    assert_eq!(signature["parameters"].as_array().unwrap().len(), 3);
    let text = text(&["info", &file("lib_hit_groups.dxil")]);
    assert!(text.contains("unmangled: Hit") && text.contains("kind: closest-hit"), "{text}");
}

#[test]
fn direct3d_shaders_are_translated_in_both_binding_models() {
    let vectors = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/dxil");
    let file = |name: &str| vectors.join(name).display().to_string();
    let shader = file("bindless/root_addresses.dxil");
    assert!(text(&["disasm", &shader]).contains("@dx.op.bufferStore.i32("));
    let plain = text(&["ir", &shader]);
    assert!(plain.contains("uniform @b1 = set 0 binding 1") && !plain.contains("load global"), "{plain}");
    let bound = text(&["ir", &shader, "--bindings", "root-signature"]);
    assert!(bound.contains("push @root") && bound.contains("load global"), "{bound}");
    // Another container's root signature binds what it names.
    assert_eq!(text(&["ir", &shader, "--root-signature", &shader]), bound);
    let other = file("stages/ps_rootsig.dxil");
    run(&["ir", &shader, "--root-signature", &other], 1);
    run(&["ir", &shader, "--root-signature", &other, "--bindings", "registers"], 1);

    let dir = folder("direct3d");
    for (vulkan, version) in [("1.1", 3), ("1.2", 5), ("1.3", 6)] {
        for bindings in ["registers", "root-signature"] {
            let out = dir.join(format!("{vulkan}.{bindings}.spv"));
            let out = out.to_str().unwrap();
            run(
                &[
                    "translate",
                    &shader,
                    "--to",
                    "spirv",
                    "--vulkan",
                    vulkan,
                    "--bindings",
                    bindings,
                    "-o",
                    out,
                ],
                0,
            );
            let bytes = fs::read(out).unwrap();
            assert_eq!(bytes[..8], [0x03, 0x02, 0x23, 0x07, 0, version, 1, 0]);
        }
    }
}

#[test]
fn assembly_goes_around() {
    let dir = folder("around");
    for name in ["basic.v", "skin4.v", "subdivision.g"] {
        let first = dir.join(format!("{name}.shbin"));
        let first = first.to_str().unwrap();
        run(&["asm", &shader(&format!("{name}.pica")), "-o", first], 0);
        let bytes = fs::read(first).unwrap();
        assert!(bytes.starts_with(b"DVLB"));
        // Through standard input and output.
        let source = run(&["disasm", "--addresses", first], 0).stdout;
        let again = run_with(&["asm", "-", "-o", "-"], &source);
        assert_eq!(again.status.code(), Some(0));
        assert_eq!(again.stdout, bytes, "{name}");
    }
}

#[test]
fn raw_dumps_are_disassembled() {
    // MOV o0, v0 through descriptor 0, then END.
    let words = [0x4c00_0000u32, 0x8800_0000, 0x0000_036f];
    let dump: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let output = run_with(&["disasm", "--raw", "2", "-"], &dump);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("mov o0, v0") && text.contains("end"), "{text}");
    assert_eq!(run_with(&["disasm", "--raw", "9", "-"], &dump).status.code(), Some(1));
}

#[test]
fn ir_text_goes_in_again() {
    let lifted = text(&["ir", &shader("fractal.v.pica")]);
    let output = run_with(&["ir", "-"], lifted.as_bytes());
    let again = String::from_utf8(output.stdout).unwrap();
    let twice = run_with(&["ir", "-"], again.as_bytes());
    assert_eq!(String::from_utf8(twice.stdout).unwrap(), again);
    // What comes of the text is what comes of the shader.
    let direct = text(&["translate", "--to", "glsl", &shader("fractal.v.pica")]);
    let output = run_with(&["translate", "--to", "glsl", "-"], lifted.as_bytes());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), direct);
}

#[test]
fn ir_is_printed_after_passes() {
    let name = shader("skin4.v.pica");
    let promoted = text(&["ir", "--print-after", "promote", &name]);
    assert!(promoted.starts_with("; promote @main\n") && !promoted.contains("slot_get"), "{promoted}");
    assert!(text(&["ir", "--print-after", "lift", &name]).contains("slot_get"));
    assert!(text(&["ir", "--print-after", "all", "--verify", &name]).contains("\n; dead_code @main\n"));
    let table = text(&["ir", "--time", &name]);
    assert!(table.contains("promote") && table.contains("total"), "{table}");
    let error = run(&["ir", "--print-after", "magic", &name], 2);
    assert!(String::from_utf8_lossy(&error.stderr).contains("copy_propagate"));
}

#[test]
fn cfg_draws_both_pictures() {
    let dir = folder("cfg");
    run(&["cfg", &shaders().display().to_string(), "-o", dir.to_str().unwrap()], 0);
    let pictures: Vec<_> = fs::read_dir(&dir).unwrap().map(|f| f.unwrap().path()).collect();
    assert_eq!(pictures.len(), 2 * fs::read_dir(shaders()).unwrap().count());
    for picture in pictures {
        let svg = fs::read_to_string(&picture).unwrap();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{}", picture.display());
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    }
    let svg = text(&["cfg", "--what", "structured", &shader("irreducible.v.pica")]);
    assert!(svg.contains("loop with several entries") && svg.contains("dispatch on route"));
    let stats = json(&["cfg", "--stats", "--json", &shader("irreducible.v.pica")]);
    assert_eq!(stats[0]["dispatches"], 1);
}

/// The lines of each block of a picture: address and text.
fn listed(svg: &str) -> Vec<Vec<(u32, String)>> {
    let mut blocks: Vec<Vec<(u32, String)>> = Vec::new();
    let mut address = None;
    for line in svg.lines().filter_map(|line| line.strip_prefix("<text class=\"")) {
        let (class, rest) = line.split_once('"').unwrap();
        let text = rest.split_once('>').unwrap().1.trim_end_matches("</text>").to_owned();
        match (class, address.take()) {
            ("head", _) => blocks.push(Vec::new()),
            ("addr", _) => address = Some(u32::from_str_radix(&text, 16).unwrap()),
            ("", Some(at)) => blocks.last_mut().unwrap().push((at, text)),
            _ => {}
        }
    }
    blocks
}

#[test]
fn the_guests_picture_lists_each_instruction_once_and_in_order() {
    for file in fs::read_dir(shaders()).unwrap() {
        let path = file.unwrap().path().display().to_string();
        let svg = text(&["cfg", "--what", "guest", &path]);
        let mut seen = std::collections::BTreeSet::new();
        for block in listed(&svg) {
            let own: Vec<u32> = block.iter().filter(|(_, t)| !t.starts_with('…')).map(|(a, _)| *a).collect();
            // From one word to the next, or to where a call leads and back.
            let mut once = own.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), own.len(), "{path}: {block:?}");
            seen.extend(own);
        }
        assert!(!seen.is_empty(), "{path}");
        if !svg.contains(" more<") {
            // Only words behind the end of a program are no part of it.
            let last = seen.last().copied().unwrap();
            let missing: Vec<u32> = (0..=last).filter(|a| !seen.contains(a)).collect();
            assert!(missing.is_empty(), "{path}: {missing:x?}");
        }
    }
    // The main program, the subroutine that it calls, and the ways out of the condition.
    let svg = text(&["cfg", "--what", "guest", &shader("textured.v.pica")]);
    let blocks: Vec<Vec<u32>> = listed(&svg)
        .iter()
        .map(|b| b.iter().map(|(a, _)| *a).collect::<Vec<_>>())
        .filter(|b| !b.is_empty())
        .collect();
    let main: Vec<u32> = (0x0..=0x2).chain(0xb..=0x12).chain(0x3..=0x5).collect();
    assert_eq!(blocks, [main, vec![0x6, 0x7], vec![0x8, 0x9], vec![0xa]], "{svg}");
}

#[test]
fn translate_writes_every_language() {
    let dir = folder("translate");
    let name = shader("two_lights.v.pica");
    for version in ["330", "450", "450-vulkan", "310es"] {
        let glsl = text(&["translate", "--to", "glsl", "--glsl-version", version, "--comments", &name]);
        assert!(glsl.starts_with("#version") && glsl.contains("    // 0x0001 mov r0.w, c95.y\n"), "{glsl}");
    }
    for (n, version) in ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6"].into_iter().enumerate() {
        let args = ["translate", "--to", "spirv", "--spirv-version", version, "--robust", &name, "-o", "-"];
        let spirv = run(&args, 0).stdout;
        let words: Vec<u32> = spirv.chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect();
        assert_eq!(words[..2], [0x0723_0203, 0x0001_0000 | (n as u32) << 8]);
    }
    let out = dir.to_str().unwrap();
    run(&["translate", "--to", "spirv,glsl", &shaders().display().to_string(), "-o", out], 0);
    assert!(dir.join("basic.v.spv").is_file() && dir.join("basic.v.vert").is_file());
    assert!(dir.join("particles.g.spv").is_file() && dir.join("particles.g.comp").is_file());
    #[cfg(feature = "naga")]
    for (language, word) in [("wgsl", "@vertex"), ("msl", "metal"), ("hlsl", "SV_Position")] {
        let code = text(&["translate", "--to", language, &name]);
        assert!(code.contains(word), "{language}: {code}");
    }
}

#[test]
fn libraries_of_rays_get_the_spirv_that_they_need() {
    let library = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = library.join("../../vectors/dxil/stages/lib_hit_groups.dxil").display().to_string();
    let dir = folder("rays");
    let args =
        ["translate", &library, "--to", "spirv", "--bindings", "root-signature", "-o", dir.to_str().unwrap()];
    run(&args, 0);
    let mut count = 0;
    for file in fs::read_dir(&dir).unwrap() {
        let words = fs::read(file.unwrap().path()).unwrap();
        assert_eq!(words[4..8], [0, 4, 1, 0], "SPIR-V 1.4");
        count += 1;
    }
    assert!(count > 1);
    // A version that is asked for is the one that is written, or none.
    run(&[&args[..], &["--spirv-version", "1.3"]].concat(), 1);
    run(&[&args[..], &["--vulkan", "1.1"]].concat(), 1);
}

#[test]
fn results_come_in_the_order_of_the_inputs() {
    let (a, b) = (shader("toon.v.pica"), shader("basic.v.pica"));
    let list = json(&["translate", "--to", "glsl", "--json", &a, &b, &a]);
    let inputs: Vec<&str> = list.as_array().unwrap().iter().map(|o| o["input"].as_str().unwrap()).collect();
    assert_eq!(inputs, [a.as_str(), &b, &a]);
    let first = run(&["translate", "--to", "glsl", &a, &b], 0).stdout;
    assert_eq!(run(&["translate", "--to", "glsl", &a, &b], 0).stdout, first);
}

#[test]
fn run_computes_by_hand() {
    // Identity matrices: the position comes out as it is, a component that is not given is 0, the fourth 1.
    let identity = "1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1";
    let projection = format!("projection={identity}");
    let view = format!("modelView={identity}");
    let basic = shader("basic.v.pica");
    let args = ["run", &basic, "--json", "--uniform", &projection, "--uniform", &view];
    let flags = ["--input", "v0=0.5,-2,0x40400000", "--input", "color=0.25,0.5"];
    let result = json(&[&args[..], &flags].concat());
    let vertex = &result["vertices"][0];
    assert_eq!(vertex["outputs"]["o0"]["value"], serde_json::json!([0.5, -2.0, 3.0, 1.0]));
    assert_eq!(vertex["outputs"]["o1"]["value"], serde_json::json!([0.25, 0.5, 0.0, 1.0]));
    assert_eq!(vertex["names"]["out_position"], "o0");
    assert_eq!(vertex["steps"], 12);
    let optimized = json(&[&args[..], &flags, &["--optimized"]].concat());
    assert_eq!(optimized["vertices"][0]["outputs"], vertex["outputs"]);
}

#[test]
fn run_reads_a_document_and_traces() {
    let document = br#"{ "uniforms": { "projection": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]],
        "modelView": [[2,0,0,0],[0,2,0,0],[0,0,2,0],[0,0,0,1]] },
        "vertices": [ { "v0": [1, 2, 3] }, { "position": [4, 5, "0x40c00000"], "v1": [1, 1, 1, 1] } ] }"#;
    let args = ["run", &shader("basic.v.pica"), "--inputs", "-", "--trace", "--json"];
    let output = run_with(&args, document);
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["vertices"][1]["outputs"]["o0"]["value"], serde_json::json!([8.0, 10.0, 12.0, 1.0]));
    // The program has no jump: each of its words once.
    let visits = result["vertices"][0]["trace"].as_array().unwrap().iter();
    let guest: Vec<u64> =
        visits.flat_map(|v| v["guest"].as_array().unwrap()).map(|a| a.as_u64().unwrap()).collect();
    assert_eq!(guest, (0..12).collect::<Vec<_>>());
    let wrong = run_with(&args, br#"{ "uniforms": { "nothing": 1 } }"#);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("nothing"));
    run(&["run", &shader("basic.v.pica"), "--uniform", "i0=300"], 2);
}

#[test]
fn run_shows_events_of_geometry_programs() {
    let args = ["run", &shader("billboard.g.pica"), "--input", "v0=1,2,3,1", "--input", "v1=1,1,1,1"];
    let text = text(&args);
    assert!(text.contains("event 0: vertex"), "{text}");
}

/// A kernel of `vectors/maxwell/compute` as a file.
#[cfg(feature = "vulkan")]
fn kernel(name: &str) -> String {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/maxwell/compute/public.tar.xz");
    let corpus = xenoglot_conformance::maxwell::format::Corpus::read(&corpus).unwrap();
    let path = folder(&format!("kernel {name}")).join("kernel.cubin");
    fs::write(&path, &corpus.cubins[&format!("{name}.cubin")]).unwrap();
    path.display().to_string()
}

#[cfg(feature = "vulkan")]
#[test]
fn run_takes_structures_and_dynamic_shared_memory() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/maxwell-2/compute/public.tar.xz");
    let corpus = xenoglot_conformance::maxwell::format::Corpus::read(&corpus).unwrap();
    let words =
        |bytes: &[u8]| -> Vec<u32> { bytes.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect() };
    for variant in ["o3", "o0"] {
        for name in ["struct_param", "dyn_reverse"] {
            let kernel = corpus.kernels.iter().find(|k| k.name == name).unwrap();
            let file = folder(&format!("kernel {name} {variant}")).join("kernel.cubin");
            fs::write(&file, &corpus.cubins[&format!("{name}.{variant}.cubin")]).unwrap();
            let file = file.display().to_string();
            let list = |n: usize| -> String {
                let words = words(&kernel.buffers[n].before);
                words.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
            };
            let launch = ["run", &file, "--json", "--workgroup", "64"];
            let (result, out) = if name == "struct_param" {
                // As the description has it: 48 bytes with three addresses.
                let (x, y) = (list(0), list(1));
                let whole = format!(
                    "{{u32=77; u16=0x201; u8=200; u32[]={x}; 16: u32=0xdeadbeef; 24: u32[]={y}; i32=-9; 40: u32[64]}}"
                );
                (json(&[&launch[..], &["--args", &whole]].concat()), 2)
            } else {
                let input = format!("u32[]={}", list(0));
                let more = ["--grid", "2", "--shared-bytes", "256", "--args", &input, "u32[128]"];
                // Without, there is less memory than the kernel uses.
                run(
                    &["run", &file, "--workgroup", "64", "--args", &input, "u32[64]", "--shared-bytes", "x"],
                    2,
                );
                (json(&[&launch[..], &more].concat()), 1)
            };
            let after = words(kernel.buffers[out].after.as_deref().unwrap());
            assert_eq!(result["buffers"][out]["values"], serde_json::json!(after), "{name} {variant}");
        }
    }
}

#[cfg(feature = "vulkan")]
#[test]
fn run_takes_arguments_of_kernels() {
    // Sorts 64 numbers in shared memory.
    for name in ["bitonic_sort.o3", "bitonic_sort.o0"] {
        let kernel = kernel(name);
        let input = format!(
            "u32[]={}",
            (0..64).rev().map(|n: u32| (3 * n).to_string()).collect::<Vec<_>>().join(",")
        );
        let args = ["run", &kernel, "--workgroup", "64", "--args", &input, "u32[64]"];
        let result = json(&[&args[..], &["--json"]].concat());
        assert_eq!(result["kernel"], "bitonic_sort");
        let sorted: Vec<u32> = (0..64).map(|n| 3 * n).collect();
        assert_eq!(
            result["buffers"][1],
            serde_json::json!({ "argument": 1, "type": "u32", "values": sorted })
        );
        let shown = text(&args);
        assert!(shown.contains("argument 1: u32[64]\n       0:   0   3   6"), "{shown}");
    }
    let kernel = kernel("bitonic_sort.o3");
    for (args, code) in [
        (&["--args", "u32[64]"][..], 2),
        (&["--args", "u32[64]", "u33[1]"], 2),
        (&["--args", "u32[64]", "1.5e"], 2),
        (&["--args", "0", "0", "--workgroup", "64"], 0),
        (&["--args", "0", "0", "--fuel", "10"], 1),
        (&["--args", "0", "0", "--kernel", "other"], 1),
        (&["--args", "0", "0", "--input", "v0=1"], 2),
    ] {
        run(&[&["run", &kernel][..], args].concat(), code);
    }
    run(&["run", &shader("basic.v.pica"), "--args", "1"], 2);
}

/// Kernels of a library are listed, extracted, disassembled and run as those of a file of their own.
#[test]
fn kernels_of_fat_binaries_are_programs() {
    let cubin = concat!(env!("CARGO_MANIFEST_DIR"), "/demo/reduce_shared.cubin");
    let (alone, contents) = (text(&["disasm", cubin]), fs::read(cubin).unwrap());
    for compression in [None, Some(Compression::Lz4), Some(Compression::Zstd)] {
        let member = |kind, sm, contents| Member { kind, sm, contents, compression };
        let ptx = &b".version 8.8  "[..];
        let file = fat_binary(&[member(Kind::Ptx, 90, ptx), member(Kind::Cubin, 53, &contents)]);
        let path = folder(&format!("fat {compression:?}")).join("library.so");
        fs::write(&path, in_library(&file)).unwrap();
        let library = path.to_str().unwrap();
        assert!(text(&["info", library]).contains("fat binary"));
        assert_eq!(text(&["disasm", library]), alone);
        let list = text(&["extract", library]);
        assert!(list.contains("sm_53   cubin") && list.contains("sm_90   ptx"), "{list}");
        let out = folder(&format!("fat out {compression:?}"));
        run(&["extract", library, "-o", &format!("{}/", out.display())], 0);
        let cubins: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
        let extracted = cubins.iter().find(|path| path.extension().is_some_and(|ending| ending == "cubin"));
        assert_eq!(fs::read(extracted.unwrap()).unwrap()[..contents.len()], contents);
        let launch = ["--kernel", "reduce_shared", "--workgroup", "64", "--args", "u32[64]", "u32[1]"];
        let ran = |file| text(&[&["run", file], &launch[..]].concat());
        assert_eq!(ran(library), ran(cubin));
    }
}

#[test]
fn extract_finds_what_was_hidden() {
    let dir = folder("extract");
    let mut dump = vec![0x5a; 1000];
    let mut offsets = Vec::new();
    for name in ["basic.v.pica", "particles.g.pica"] {
        offsets.push(dump.len());
        let binary = run(&["asm", &shader(name), "-o", "-"], 0).stdout;
        dump.extend(&binary);
        dump.extend(b"DVLB, but not one");
    }
    let file = dir.join("memory.bin");
    fs::write(&file, &dump).unwrap();
    let file = file.to_str().unwrap();
    let found = json(&["extract", "--json", file]);
    let places: Vec<u64> = found.as_array().unwrap().iter().map(|f| f["offset"].as_u64().unwrap()).collect();
    assert_eq!(places, offsets.iter().map(|&o| o as u64).collect::<Vec<_>>());
    let out = dir.join("out");
    run(&["extract", file, "-o", &format!("{}/", out.display())], 0);
    let first = fs::read(out.join(format!("memory.{:06x}.shbin", offsets[0]))).unwrap();
    assert_eq!(first, dump[offsets[0]..][..first.len()]);
    // Every command sees inside, and `--at` chooses.
    assert_eq!(json(&["translate", "--to", "glsl", "--json", file]).as_array().unwrap().len(), 2);
    let at = format!("{:#x}", offsets[1]);
    assert!(text(&["disasm", "--at", &at, file]).contains("setemit"));
    assert!(text(&["extract", &shader("basic.v.pica")]).contains("no shader binary inside"));
}

#[test]
fn demo_writes_an_index() {
    let dir = folder("demo");
    let said = text(&["demo", "-o", dir.to_str().unwrap()]);
    assert!(said.contains("index.html"), "{said}");
    let index = fs::read_to_string(dir.join("index.html")).unwrap();
    // Every link leads to a file that is there, and none leads away.
    let mut links = 0;
    for part in index.split(['"']).filter(|p| p.contains('/') && p.contains('.') && !p.contains(['<', ' '])) {
        assert!(dir.join(part).is_file(), "{part}");
        links += 1;
    }
    assert!(links > 100, "{links}");
    assert!(!index.contains("http"));
}

#[cfg(feature = "vulkan")]
#[test]
fn conformance_runs_the_suite() {
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/pica");
    let said = text(&["conformance", "picafloats", vectors]);
    assert!(said.lines().last().unwrap().ends_with("passed, 0 failed, 0 unconfirmed"), "{said}");
    run(&["conformance", "nonsense", vectors], 2);
    run(&["conformance", "picafloats", "--engine", "abacus", vectors], 2);
    run(&["conformance", "picafloats", "/no/such/folder"], 1);
}

#[cfg(feature = "vulkan")]
#[test]
fn vulkan_gives_what_the_interpreter_gives() {
    for name in ["skin4.v.pica", "irreducible.v.pica", "billboard.g.pica"] {
        let name = shader(name);
        let args = ["run", &name, "--json", "--input", "v0=1,2,3", "--input", "v1=0.5,0,1"];
        let output = run_with(&[&args[..], &["--backend", "vulkan"]].concat(), b"");
        let stderr = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(1) && stderr.contains("no Vulkan on this host") {
            return xenoglot_testgen::skip(stderr.trim());
        }
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let device: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(device, json(&args), "{name}");
    }
}

#[test]
fn machine_code_gives_what_the_interpreter_gives() {
    for name in ["skin4.v.pica", "irreducible.v.pica", "billboard.g.pica"] {
        let name = shader(name);
        let args = ["run", &name, "--json", "--input", "v0=1,2,3", "--input", "v1=0.5,0,1"];
        assert_eq!(json(&[&args[..], &["--backend", "native"]].concat()), json(&args), "{name}");
    }
    let module = folder("native").join("squares.xgir");
    let source = r#"module compute "squares" {
  workgroup 4 1 1
  input %local = builtin local_invocation_index : i32
  input %group = builtin workgroup_id : i32x3
  storage @out = set 0 binding 0 readwrite oob zero
  entry func @main() {
  block0:
    v0 : i32 = input %local
    v1 : i32x3 = input %group
    v2 : i32 = extract 0, v1
    v3 : i32 = const 4
    v4 : i32 = imul v2, v3
    v5 : i32 = iadd v4, v0
    v6 : i64 = zext v5
    v7 : i64 = imul v6, v6
    v8 : i32 = trunc_int v7
    v9 : i32 = imul v5, v3
    store storage @out align 4, v9, v8
    return
  }
}"#;
    fs::write(&module, source).unwrap();
    let args = ["run", module.to_str().unwrap(), "--json", "--grid", "3,1,1", "--bind", "out=u32[12]"];
    let native = json(&[&args[..], &["--backend", "native"]].concat());
    assert_eq!(native, json(&args));
    assert_eq!(native["buffers"][0]["values"][11], 121);
    let plane = ["--backend", "native", "--grid", "1,2,1"];
    run(&[&args[..3], &args[5..], &plane[..]].concat(), 1);
}

#[test]
fn maxwell_programs_are_described_and_disassembled() {
    // A vertex header (`vectors/maxwell/FORMAT.md`), a scheduling word and EXIT.
    let mut words = [0u32; 24];
    (words[0], words[4], words[6], words[13]) = (0x60461, 0xff000, 0x377, 0x37_f000);
    words[20..].copy_from_slice(&[0xfc00_07ff, 0x001f_8000, 0x0007_000f, 0xe300_0000]);
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let path = folder("maxwell").join("exit.bin");
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    let facts = json(&["info", "--json", path]);
    let program = &facts[0]["programs"][0];
    assert_eq!((&program["stage"], &program["code bytes"]), (&"vertex".into(), &16.into()));
    assert_eq!(program["header"]["version"], 3);
    assert!(text(&["disasm", path]).contains("EXIT"));
    run(&["disasm", "--kernel", "other", path], 1);
    assert!(text(&["translate", "--to", "glsl", path]).contains("void main()"));
}
