//! Perfetto's own code reads our traces, and finds as many nanoseconds on each track as the machine had ticks.

mod common;

use common::{demo, machine};
use serde_json::Value;
use std::process::Command;
use xenoglot_testgen::skip;
use xenoglot_trace::{chrome, perfetto};

/// The interpreter with the package `perfetto`; `test.sh` sets it.
const PYTHON: &str = "XENOGLOT_PYTHON";

#[test]
fn perfetto_finds_our_ticks() {
    let mut machine = machine("");
    machine.start_trace();
    demo().frame(&mut machine, 5).unwrap();
    machine.drain().unwrap();
    let trace = machine.take_trace().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (packets, json) = (folder.path().join("trace.pftrace"), folder.path().join("trace.json"));
    let mut bytes = Vec::new();
    perfetto::write(&trace, &mut bytes).unwrap();
    std::fs::write(&packets, &bytes).unwrap();
    bytes.clear();
    chrome::write(&trace, &mut bytes).unwrap();
    std::fs::write(&json, &bytes).unwrap();

    let python = std::env::var(PYTHON).unwrap_or_else(|_| "python3".into());
    match Command::new(&python).args(["-c", "import perfetto.protos"]).output() {
        Ok(output) if output.status.success() => {}
        _ => return skip("no Python with the package perfetto"),
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/read_trace.py");
    let output = Command::new(python).arg(script).args([&packets, &json]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // What fetches the program prints before it.
    let text = String::from_utf8(output.stdout).unwrap();
    let result: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    for reader in ["schema", "packets", "json"] {
        let Some(totals) = result[reader].as_object() else {
            skip(&format!(
                "Perfetto's package could not fetch or start trace_processor ({})",
                result["error"]
            ));
            continue;
        };
        for track in &trace.tracks {
            let ticks: u64 = track.spans.iter().map(|s| s.ticks).sum();
            assert_eq!(ticks + track.idle, trace.ticks);
            // 100 MHz: ten nanoseconds a tick.
            let found = totals.get(&track.name).and_then(Value::as_u64).unwrap_or(0);
            assert_eq!(found, 10 * ticks, "{reader}: {}", track.name);
        }
    }
}
