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
