//! Perfetto's own code reads our traces, and finds as many nanoseconds on each track as the machine had ticks.

mod common;

use common::{demo, machine};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::BufWriter;
use std::process::Command;
use xenoglot_dragon::host::{Demo, torus};
use xenoglot_testgen::skip;
use xenoglot_trace::{Span, Trace, chrome, perfetto};

/// The interpreter with the package `perfetto`; `test.sh` sets it.
const PYTHON: &str = "XENOGLOT_PYTHON";

/// Ticks of work and of waiting of each track, added up.
type Totals = BTreeMap<String, u64>;

/// Compares what Perfetto's code finds in traces with what was recorded.
fn check(readers: &[&str], arguments: &[&OsStr], want: &Totals) {
    let python = std::env::var(PYTHON).unwrap_or_else(|_| "python3".into());
    match Command::new(&python).args(["-c", "import perfetto.protos"]).output() {
        Ok(output) if output.status.success() => {}
        _ => return skip("no Python with the package perfetto"),
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/read_trace.py");
    let output = Command::new(python).arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // What fetches the program prints before it.
    let text = String::from_utf8(output.stdout).unwrap();
    let result: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    for reader in readers {
        let Some(totals) = result[reader].as_object() else {
            skip(&format!(
                "Perfetto's package could not fetch or start trace_processor ({})",
                result["error"]
            ));
            continue;
        };
        for (track, ticks) in want {
            // 100 MHz: ten nanoseconds a tick.
            let found = totals.get(track).and_then(Value::as_u64).unwrap_or(0);
            assert_eq!(found, 10 * ticks, "{reader}: {track}");
        }
    }
}

fn add(totals: &mut Totals, trace: &Trace) {
    for track in &trace.tracks {
        *totals.entry(track.name.clone()).or_default() +=
            track.spans.iter().map(|s| u64::from(s.ticks)).sum::<u64>();
    }
}

#[test]
fn perfetto_finds_our_ticks() {
    let mut machine = machine("");
    machine.start_trace();
    demo().frame(&mut machine, 5).unwrap();
    machine.drain().unwrap();
    let trace = machine.take_trace().unwrap();
    for track in &trace.tracks {
        assert_eq!(track.spans.iter().map(|s| u64::from(s.ticks)).sum::<u64>() + track.idle, trace.ticks);
    }
    let mut totals = Totals::new();
    add(&mut totals, &trace);
    let folder = tempfile::tempdir().unwrap();
    let (packets, json) = (folder.path().join("trace.pftrace"), folder.path().join("trace.json"));
    let mut bytes = Vec::new();
    perfetto::write(&trace, &mut bytes).unwrap();
    std::fs::write(&packets, &bytes).unwrap();
    bytes.clear();
    chrome::write(&trace, &mut bytes).unwrap();
    std::fs::write(&json, &bytes).unwrap();
    check(&["schema", "packets", "json"], &[packets.as_os_str(), json.as_os_str()], &totals);
}

/// An animation whose trace is written frame by frame. In the long run it is the ordinary one, of 200 frames, and neither
/// the file nor what is held of it is large.
#[test]
fn perfetto_finds_the_ticks_of_animations() {
    const MOST_ON_DISK: u64 = 60 << 20;
    const MOST_HELD: usize = 50 << 20;
    let long = std::env::var_os("XENOGLOT_LONG").is_some();
    let (demo, frames) = if long { (Demo::new(torus(48, 24)).unwrap(), 200) } else { (demo(), 20) };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("animation.pftrace");
    let mut machine = machine("");
    machine.start_trace();
    let first = machine.take_trace_part().unwrap();
    let file = BufWriter::new(File::create(&path).unwrap());
    let mut writer = perfetto::Writer::new(file, &first).unwrap();
    let mut totals = Totals::new();
    for n in 0..frames {
        demo.frame(&mut machine, n).unwrap();
        let part = machine.take_trace_part().unwrap();
        let spans: usize = part.tracks.iter().map(|t| t.spans.len() * size_of::<Span>()).sum();
        let samples: usize = part.counters.iter().map(|c| c.samples.len() * size_of::<(u64, i64)>()).sum();
        assert!(spans + samples < MOST_HELD, "frame {n}: {spans} and {samples} bytes");
        add(&mut totals, &part);
        writer.push(&part).unwrap();
    }
    let rest = machine.take_trace().unwrap();
    add(&mut totals, &rest);
    writer.push(&rest).unwrap();
    writer.finish().unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    println!("{frames} frames, {} ticks, {size} bytes", machine.now());
    assert!(size < MOST_ON_DISK, "{size} bytes");
    // The trace processor is WebAssembly, which has 4 GiB; 33 million slices need more.
    match long {
        true => check(&["schema"], &[path.as_os_str(), "--schema-only".as_ref()], &totals),
        false => check(&["schema", "packets"], &[path.as_os_str()], &totals),
    }
}
