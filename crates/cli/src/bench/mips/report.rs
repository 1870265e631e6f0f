//! The report as tables.

use super::{Compiled, Report, Wall};
use std::fmt;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Seconds of the processor, the least of {}; in brackets as multiples of i486.\n",
            self.runs
        )?;
        writeln!(
            f,
            "| program | build | native | i486 | qemu-mips | interpreter | JIT | AOT | tables | calls | unlinked | without baseline | compiling | code/guest bytes | AOT compiling | code/guest bytes |"
        )?;
        writeln!(f, "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")?;
        for row in &self.programs {
            let time = |time: Option<f64>| match (time, row.i486) {
                (None, _) => "-".into(),
                (Some(time), Some(i486)) => format!("{time:.3} ({:.2})", time / i486),
                (Some(time), None) => format!("{time:.3}"),
            };
            let plain = |time: Option<f64>| time.map_or("-".into(), |time| format!("{time:.3}"));
            let code = |code: Option<Compiled>| time(code.map(|code| code.seconds));
            writeln!(
                f,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                row.program,
                row.build,
                time(row.native),
                plain(row.i486),
                time(row.qemu),
                time(row.interpreter),
                code(row.jit),
                time(row.aot.map(|aot| aot.seconds)),
                code(row.jit_tables),
                code(row.jit_calls),
                code(row.jit_unlinked),
                code(row.jit_optimised),
                plain(row.jit.map(|jit| jit.compiling)),
                row.jit.map_or("-".into(), |jit| format!("{:.1}", jit.bytes_per_guest_byte)),
                plain(row.aot.map(|aot| aot.compiling)),
                row.aot.map_or("-".into(), |aot| format!("{:.1}", aot.bytes_per_guest_byte)),
            )?;
        }
        walls(f, "Milliseconds from start to end, the least of ten", "qemu-mips", 1e3, &self.cold)?;
        walls(f, "Programs of Debian for mipsel, seconds from start to end", "qemu-mipsel", 1.0, &self.debian)
    }
}

/// A table of ours beside qemu.
fn walls(f: &mut fmt::Formatter<'_>, title: &str, qemu: &str, unit: f64, rows: &[Wall]) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n{title}:\n\n| program | ours | {qemu} | ratio | output |\n|---|---:|---:|---:|---|")?;
    for row in rows {
        let time = |time: Option<f64>| {
            time.map_or("-".into(), |time| format!("{:.*}", if unit > 1.0 { 1 } else { 3 }, time * unit))
        };
        let ratio =
            row.seconds.zip(row.qemu).map_or("-".into(), |(ours, qemu)| format!("{:.2}", ours / qemu));
        let same = match (row.qemu, row.same) {
            (None, _) => "-",
            (Some(_), true) => "the same",
            (Some(_), false) => "differs",
        };
        writeln!(f, "| {} | {} | {} | {ratio} | {same} |", row.program, time(row.seconds), time(row.qemu))?;
    }
    Ok(())
}
