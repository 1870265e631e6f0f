//! The Dragon GPU's simulator.

use crate::common::{folder, json, picture, run, text};
use std::fs;

#[test]
fn programs_assemble_and_disassemble() {
    let folder = folder("dragon-programs");
    let path = |name: &str| folder.join(name).display().to_string();
    fs::write(path("a.vpu"), "again: mad.sat r1.xy, r2, g3, r0\n jz r1, again\n store tb0, r1\n exit\n")
        .unwrap();
    run(&["dragon", "asm", &path("a.vpu"), "-o", &path("a.bin")], 0);
    let disassembled = text(&["dragon", "disasm", &path("a.bin")]);
    assert!(disassembled.contains("mad.sat r1.xy, r2, g3, r0"), "{disassembled}");
    fs::write(path("b.vpu"), disassembled).unwrap();
    let words = |name: &str| text(&["dragon", "asm", &path(name)]);
    assert_eq!(words("a.vpu"), words("b.vpu"));
    fs::write(path("c.vpu"), "nop\n  mov r1").unwrap();
    let failed = run(&["dragon", "asm", &path("c.vpu")], 1);
    assert!(String::from_utf8_lossy(&failed.stderr).contains("c.vpu:2:9: expected `,`"));
}

#[test]
fn frames_become_pictures_traces_and_reports() {
    let folder = folder("dragon-frames");
    let path = |name: &str| folder.join(name).display().to_string();
    fs::write(
        path("quad.obj"),
        "v -1 -1 0 1 0 0\nv 1 -1 0 0 1 0\nv 1 1 0 0 0 1\nv -1 1 0 1 1 1\nf 1 2 3 4\n",
    )
    .unwrap();
    let scene = ["--model", &path("quad.obj"), "--set", "vpus=2"].map(str::to_owned);
    let run_scene = |more: &[&str]| {
        let scene: Vec<&str> = scene.iter().map(String::as_str).collect();
        text(&[&["dragon", "run"], &scene[..], more].concat())
    };
    let printed = run_scene(&["-o", &path("quad.png"), "--trace", &path("a.json"), "--report"]);
    assert!(printed.contains("rasterizer") && printed.contains("hangs on"), "{printed}");
    let ((width, height), pixels) = picture(&folder.join("quad.png"));
    assert_eq!((width, height), (320, 240));
    assert!(pixels.iter().any(|p| p[0] > 200 && p[1] < 80));
    let single =
        ["--order", "single", "--trace", &path("b.json"), "--timeline", &path("b.svg")].map(str::to_owned);
    run_scene(&single.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(fs::read_to_string(path("b.svg")).unwrap().contains("tile_buffer_store"));
    let change = json(&["dragon", "report", "--json", &path("b.json"), &path("a.json")]);
    assert!(change["before"].as_u64() > change["after"].as_u64(), "{change}");
    let table = text(&[
        "dragon",
        "sweep",
        "--model",
        &path("quad.obj"),
        "--axis",
        "vpus=1,4",
        "--axis",
        "threads=4,16",
        "--plot",
        &path("s.svg"),
    ]);
    assert_eq!(table.lines().count(), 5, "{table}");
    let plot = fs::read_to_string(path("s.svg")).unwrap();
    for part in ["ticks", "threads", "vpus = 1", "vpus = 4"] {
        assert!(plot.contains(part), "{part}");
    }
    assert!(table.lines().nth(2).unwrap().contains("equal"), "{table}");
    run(&["dragon", "run", "--set", "vpus=9"], 1);
}

#[test]
fn runs_stop_and_go_on_from_checkpoints() {
    let folder = folder("dragon-checkpoints");
    let path = |name: &str| folder.join(name).display().to_string();
    let [whole, resumed, trace, rest] = ["a.png", "b.png", "a.json", "b.json"].map(path);
    let first =
        ["dragon", "run", "--frames", "2", "-o", &whole, "--trace", &trace, "--at", "9000", "--checkpoint"];
    let printed = text(&[&first[..], &[&path("run.xgc")]].concat());
    let again =
        ["dragon", "run", "--frames", "2", "-o", &resumed, "--trace", &rest, "--resume", &path("run.xgc")];
    assert_eq!(text(&again), printed);
    assert!(fs::read(&whole).unwrap() == fs::read(&resumed).unwrap());
    assert!(fs::read(&trace).unwrap() == fs::read(&rest).unwrap());

    let step = |more: &[&str]| json(&[&["dragon", "step", "--json"], more].concat());
    let unit = |stop: &serde_json::Value, name: &str| {
        let units = stop["units"].as_array().unwrap();
        units.iter().find(|u| u["name"] == name).unwrap()["event"].as_str().unwrap().to_owned()
    };
    let stop = step(&["--break", "register=31", "--checkpoint", &path("step.xgc")]);
    assert_eq!(
        (stop["at"].as_str(), unit(&stop, "command")),
        (Some("register=31"), "GPUProcessCommand".into())
    );
    let tick = stop["tick"].as_u64().unwrap();
    let next = step(&["--resume", &path("step.xgc")]);
    assert_eq!(next["tick"].as_u64(), Some(tick + 1));
    let stop =
        step(&["--resume", &path("step.xgc"), "--break", "vpu1=Exec", "--break", "pc=5", "--count", "2"]);
    assert_eq!(unit(&stop, "vpu1"), "Exec");
    let there = format!("tick={}", tick + 500);
    assert_eq!(step(&["--break", &there])["tick"].as_u64(), Some(tick + 500));
    assert!(text(&["dragon", "step", "--break", &there]).contains("rasterizer"));

    run(&["dragon", "step", "--break", "rasterizer=Nothing"], 2);
    run(&["dragon", "run", "--at", "99999999", "--checkpoint", &path("late.xgc")], 1);
    fs::write(path("broken.xgc"), &fs::read(path("step.xgc")).unwrap()[..1000]).unwrap();
    let failed = run(&["dragon", "step", "--resume", &path("broken.xgc")], 1);
    assert!(String::from_utf8_lossy(&failed.stderr).contains("early"));
}

/// The same frames whatever their number at a time; counters in all forms; heat maps.
#[test]
fn frames_are_drawn_side_by_side_and_counted() {
    let folder = folder("dragon-counters");
    let path = |name: &str| folder.join(name).display().to_string();
    let draw = |jobs: &str, name: &str| {
        let (png, trace) = (path(&format!("{name}.png")), path(&format!("{name}.json")));
        let counters = path(&format!("{name}-counters.json"));
        let args = ["dragon", "run", "--model", "crate", "--frames", "3", "--jobs", jobs];
        let outputs = ["-o", &png, "--trace", &trace, "--counters", &counters];
        (text(&[&args[..], &outputs].concat()), [png, trace, counters].map(|path| fs::read(path).unwrap()))
    };
    assert!(draw("1", "one") == draw("3", "three"));
    let counters: serde_json::Value =
        serde_json::from_slice(&fs::read(path("one-counters.json")).unwrap()).unwrap();
    assert!(counters["texture_cache"]["rate"].as_f64().unwrap() > 0.5, "{counters}");
    assert_eq!(counters["hot"][0]["line"].as_u64().map(|line| line > 0), Some(true), "{counters}");
    let report = text(&["dragon", "report", &path("one.json")]);
    assert!(report.contains("hit rate") && report.contains("instruction"), "{report}");
    let csv = text(&["dragon", "report", "--csv", &path("one.json")]);
    assert!(csv.contains("\nvertex_cache_hit_rate,") && csv.contains("\nx,y,draw_ticks"), "{csv}");
    let report = json(&["dragon", "report", "--json", &path("one.json")]);
    assert_eq!(report["counters"], counters);
    let heat = path("heat");
    let printed = text(&["dragon", "run", "--model", "glass", "--heat", &heat, "--counters", &path("c.csv")]);
    assert!(printed.contains("fragments of a pixel"), "{printed}");
    for name in ["overdraw", "instructions", "bins", "tiles"] {
        let ((width, height), pixels) = picture(&folder.join(format!("heat-{name}.png")));
        assert_eq!((width, height), (320, 260), "{name}");
        assert!(pixels.contains(&[255; 4]), "{name}");
    }
    let table = ["dragon", "sweep", "--axis", "vertex_cache=1,64", "--csv", &path("s.csv"), "--json"];
    let rows = json(&table);
    let rate = |n: usize| rows[n]["counters"]["vertex_cache"]["rate"].as_f64().unwrap();
    assert!(rate(0) < rate(1), "{} {}", rate(0), rate(1));
    assert_eq!(fs::read_to_string(path("s.csv")).unwrap().lines().count(), 3);
}

/// A model's materials lie beside it; what is not read of them is said.
#[test]
fn models_have_materials() {
    let folder = folder("dragon-materials");
    let path = |name: &str| folder.join(name).display().to_string();
    let quad = "mtllib quad.mtl\nv -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n";
    fs::write(path("quad.obj"), format!("{quad}usemtl green\nf 1/1 2/2 3/3 4/4\n")).unwrap();
    fs::write(path("quad.mtl"), "newmtl green\nKd 0 1 0\nmap_Kd ../secret.png\n").unwrap();
    fs::write(path("red.vpu"), "imm r2.x, 1\nimm r2.yzw, 0\nstore tb0, r2\nexit\n").unwrap();
    let draw = |more: &[&str], code: i32| {
        let args = ["dragon", "run", "--model", &path("quad.obj"), "-o", &path("quad.png")];
        let output = run(&[&args[..], more].concat(), code);
        let pixel = |pixels: Vec<[u8; 4]>| pixels[120 * 320 + 160];
        (String::from_utf8_lossy(&output.stderr).into_owned(), pixel(picture(&folder.join("quad.png")).1))
    };
    let (notes, pixel) = draw(&[], 0);
    assert!(notes.contains("../secret.png: no such file"), "{notes}");
    assert_eq!(pixel, [0, 255, 0, 255]);
    let program = format!("green={}", path("red.vpu"));
    assert_eq!(draw(&["--program", &program], 0).1, [255, 0, 0, 255]);
    let (error, _) = draw(&["--program", &format!("blue={}", path("red.vpu"))], 2);
    assert!(error.contains("no material \"blue\""), "{error}");
}

/// Peak signal-to-noise ratio where the first picture is not the background's grey.
fn alike(dragon: &[[u8; 4]], pica: &[[u8; 4]]) -> (f64, usize) {
    let (mut squares, mut drawn) = (0, 0);
    for (d, p) in dragon.iter().zip(pica) {
        let background = d[..3].iter().zip([0x39, 0x38, 0x39]).all(|(a, b)| a.abs_diff(b) <= 4);
        if !background {
            drawn += 1;
            squares += d[..3].iter().zip(p).map(|(a, b)| u64::from(a.abs_diff(*b)).pow(2)).sum::<u64>();
        }
    }
    let mean = squares as f64 / (3 * drawn.max(1)) as f64;
    (10.0 * (255.0 * 255.0 / mean).log10(), drawn)
}

/// Frames of the PICA200 look as there, as far as the machine goes: cubes are lit there and not here, so that only where they
/// are is compared.
#[test]
fn captures_of_the_pica200_are_drawn() {
    let folder = folder("dragon-captures");
    let path = |name: &str| folder.join(name).display().to_string();
    run(&["scenes", "triangles", "cubes", "--frames", "2", "-o", &path("")], 0);
    for (name, least) in [("triangles", 35.0), ("cubes", 0.0)] {
        let (capture, dragon, pica) =
            (path(&format!("{name}.xgc")), path(&format!("{name}-d.png")), path(&format!("{name}-p.png")));
        run(&["dragon", "run", "--model", &capture, "--set", "memory.bytes=33554432", "-o", &dragon], 0);
        run(&["render", &capture, "--frame", "0", "-o", &pica], 0);
        let [a, b] = [&dragon, &pica].map(|path| picture(std::path::Path::new(path)));
        assert_eq!(a.0, b.0, "{name}");
        let (decibels, drawn) = alike(&a.1, &b.1);
        let empty = |pixels: &[[u8; 4]]| pixels.iter().map(|p| *p == pixels[0]).collect::<Vec<bool>>();
        let differ = empty(&a.1).iter().zip(empty(&b.1)).filter(|(a, b)| **a != *b).count();
        println!("{name}: {drawn} pixels, {differ} here or there only, {decibels:.1} dB");
        assert!(differ * 100 < drawn, "{name}: {differ} pixels are drawn by one only");
        assert!(drawn > 2000 && decibels > least, "{name}: {drawn} pixels, {decibels} dB");
    }
}
