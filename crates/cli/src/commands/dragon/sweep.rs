//! `xenoglot dragon sweep`: a frame with each combination of parameters.

use super::SceneArgs;
use crate::failure::usage;
use crate::progress::Progress;
use crate::{output, print};
use anyhow::{Result, anyhow};
use plotters::prelude::*;
use std::io::Write;
use std::path::PathBuf;
use xenoglot_dragon::host::{Axis, SweepRow, psnr, sweep};

/// Arguments of `dragon sweep`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    scene: SceneArgs,
    /// A parameter and its values, such as `vpus=1,2,4,8`; may be given more than once.
    #[arg(long = "axis", value_name = "NAME=VALUES", required = true, value_parser = axis)]
    axes: Vec<Axis>,
    /// The frame of the turn.
    #[arg(long, default_value_t = 0)]
    frame: u32,
    /// Write the table with hit rates, bandwidth and occupancy, as CSV.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print JSON, with all counters.
    #[arg(long)]
    json: bool,
    /// Draw the ticks over the last axis, as SVG.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

fn axis(text: &str) -> Result<Axis, String> {
    let (name, values) = text.split_once('=').ok_or("no `=`")?;
    Ok(Axis { name: name.into(), values: values.split(',').map(str::to_owned).collect() })
}

/// Sweeps and prints a table; pictures are compared with the first one.
pub fn run(args: &Args) -> Result<bool> {
    if let Some(path) = &args.plot {
        output::check_ending(path, "svg")?;
    }
    let stage = args.scene.stage()?;
    let params = args.scene.params()?;
    // How many runs there are is known with the first that is over.
    let progress = Progress::new(0);
    let total = std::sync::Once::new();
    let rows = sweep(stage.animation.as_ref(), &params, &args.axes, args.frame, &|_, runs| {
        total.call_once(|| progress.add_total(runs));
        progress.step();
    })?;
    drop(progress);
    let Some(first) = rows.first() else { return Err(usage("nothing to sweep")) };
    let names: Vec<&str> = args.axes.iter().map(|a| a.name.as_str()).collect();
    if let Some(path) = &args.csv {
        output::write(path, csv(&rows, &args.axes).as_bytes())?;
    }
    let mut out = print::beside(args.plot.iter().chain(&args.csv).map(PathBuf::as_path));
    if args.json {
        let json: Vec<serde_json::Value> = rows.iter().map(|row| json(row, &args.axes)).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&json)?)?;
        return write_plot(args, &rows);
    }
    writeln!(out, "{:<28} {:>10} {:>9} {:>8}  hangs most on", names.join(" "), "ticks", "ms", "dB")?;
    for row in &rows {
        let most = row.path.parts.first().map_or_else(String::new, |part| {
            let share = 100.0 * part.ticks as f64 / row.path.ticks.max(1) as f64;
            format!("{} {} {share:.0} %", part.unit, part.event)
        });
        let difference = match psnr(&row.frame.picture, &first.frame.picture) {
            infinite if infinite.is_infinite() => "equal".to_owned(),
            decibels => format!("{decibels:.1}"),
        };
        let (values, ticks) = (row.values.join(" "), row.frame.ticks);
        writeln!(out, "{values:<28} {ticks:>10} {:>9.3} {difference:>8}  {most}", row.milliseconds)?;
    }
    write_plot(args, &rows)
}

fn write_plot(args: &Args, rows: &[SweepRow]) -> Result<bool> {
    if let Some(path) = &args.plot {
        output::write(path, plot(rows, &args.axes).map_err(|e| anyhow!("{e}"))?.as_bytes())?;
    }
    Ok(true)
}

/// A line for each combination: its values, ticks, what it hangs on, hit rates and bandwidth.
fn csv(rows: &[SweepRow], axes: &[Axis]) -> String {
    let columns = rows.first().map(|row| row.counters.columns()).unwrap_or_default();
    let names = axes
        .iter()
        .map(|a| a.name.clone())
        .chain(["ticks", "ms", "unit", "event", "share"].map(String::from));
    let names: Vec<String> = names.chain(columns.into_iter().map(|(name, _)| name)).collect();
    let mut out = names.join(",") + "\n";
    for row in rows {
        let most = row.path.parts.first();
        let share = most.map_or(0.0, |part| part.ticks as f64 / row.path.ticks.max(1) as f64);
        let text = |pick: fn(&xenoglot_trace::path::Part) -> &str| most.map_or("", pick).to_owned();
        let cells = row.values.iter().cloned().chain([
            row.frame.ticks.to_string(),
            format!("{:.6}", row.milliseconds),
            text(|part| &part.unit),
            text(|part| &part.event),
            format!("{share:.4}"),
        ]);
        let counters = row.counters.columns().into_iter().map(|(_, value)| format!("{value:.6}"));
        out += &(cells.chain(counters).collect::<Vec<_>>().join(",") + "\n");
    }
    out
}

fn json(row: &SweepRow, axes: &[Axis]) -> serde_json::Value {
    let values: serde_json::Map<String, serde_json::Value> = axes
        .iter()
        .zip(&row.values)
        .map(|(axis, value)| (axis.name.clone(), value.as_str().into()))
        .collect();
    serde_json::json!({
        "values": values,
        "ticks": row.frame.ticks,
        "milliseconds": row.milliseconds,
        "path": row.path,
        "units": row.units,
        "counters": row.counters,
    })
}

/// Ticks over the values of the last axis, with a line for each combination of the others.
fn plot(rows: &[SweepRow], axes: &[Axis]) -> Result<String, Box<dyn std::error::Error>> {
    let Some((across, others)) = axes.split_last() else { return Err("no axes".into()) };
    let last = across.values.len();
    let mut out = String::new();
    let most = rows.iter().map(|r| r.frame.ticks).max().unwrap_or(1);
    {
        let root = SVGBackend::with_string(&mut out, (800, 480)).into_drawing_area();
        root.fill(&WHITE)?;
        let end = last.saturating_sub(1).max(1) as f64;
        let mut chart = ChartBuilder::on(&root)
            .caption("Time of a frame", ("sans-serif", 18))
            .margin(16)
            .x_label_area_size(44)
            .y_label_area_size(84)
            .build_cartesian_2d(0.0..end, 0.0..most as f64 * 1.05)?;
        let label = |x: &f64| match x.fract() {
            0.0 => rows.get(*x as usize).and_then(|r| r.values.last()).cloned().unwrap_or_default(),
            _ => String::new(),
        };
        chart
            .configure_mesh()
            .x_labels(last)
            .x_label_formatter(&label)
            .x_desc(&across.name)
            .y_label_formatter(&|ticks| format!("{ticks:.0}"))
            .y_desc("ticks")
            .draw()?;
        for (n, line) in rows.chunks(last.max(1)).enumerate() {
            let points = line.iter().enumerate().map(|(x, r)| (x as f64, r.frame.ticks as f64));
            let color = Palette99::pick(n).to_rgba();
            let drawn = chart.draw_series(LineSeries::new(points, color.stroke_width(2)).point_size(3))?;
            // Of the first row's values those that are the whole line's.
            let fixed = others.iter().zip(line.first().map_or(&[][..], |row| &row.values));
            let name: Vec<String> = fixed.map(|(axis, value)| format!("{} = {value}", axis.name)).collect();
            if !name.is_empty() {
                drawn
                    .label(name.join(", "))
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
            }
        }
        if !others.is_empty() {
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::LowerRight)
                .border_style(BLACK)
                .background_style(WHITE.mix(0.9))
                .draw()?;
        }
        root.present()?;
    }
    Ok(out)
}
