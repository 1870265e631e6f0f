//! `xenoglot dragon explain`: which change of the machine saves how much of a frame.

use super::SceneArgs;
use crate::progress::Progress;
use crate::{output, print};
use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::io::Write;
use std::path::PathBuf;
use xenoglot_dragon::host::{ExplainOptions, Explanation, Saving, explain};

/// Arguments of `dragon explain`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    scene: SceneArgs,
    /// Frames to measure, spread evenly over the turn.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    frames: u32,
    /// How many of the best changes to try in pairs.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(0..=32))]
    pairs: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Draw the savings and the critical path, as SVG.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// Measures and prints.
pub fn run(args: &Args) -> Result<bool> {
    if let Some(path) = &args.plot {
        output::check_ending(path, "svg")?;
    }
    let (stage, params) = (args.scene.stage()?, args.scene.params()?);
    let animation = stage.animation.as_ref();
    let options = ExplainOptions {
        paired: args.pairs as usize,
        ..ExplainOptions::spread(args.frames, animation.frames())
    };
    // How many runs there are is known with the first that is over.
    let progress = Progress::new(0);
    let total = std::sync::Once::new();
    let explanation = explain(animation, &params, &options, &|_, runs| {
        total.call_once(|| progress.add_total(runs));
        progress.step();
    })?;
    drop(progress);
    if let Some(path) = &args.plot {
        output::write(path, plot(&explanation).map_err(|e| anyhow!("{e}"))?.as_bytes())?;
    }
    let mut out = print::beside(args.plot.as_deref());
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&explanation)?)?;
    } else {
        write!(out, "{explanation}")?;
    }
    Ok(true)
}

/// Rows of each half of the picture.
const ROWS: usize = 10;

/// Bars of the best changes with their intervals, and of the parts of the critical path.
fn plot(explanation: &Explanation) -> Result<String, Box<dyn std::error::Error>> {
    let mut out = String::new();
    {
        let root = SVGBackend::with_string(&mut out, (1000, 640)).into_drawing_area();
        root.fill(&WHITE)?;
        let (upper, lower) = root.split_vertically(320);
        let savings: Vec<Bar> = explanation.savings.iter().take(ROWS).map(bar).collect();
        bars(
            &upper,
            "What changes save",
            "share of a frame's time, %; lines: 95 % confidence",
            &savings,
            BLUE,
        )?;
        let all = explanation.path.ticks.max(1) as f64;
        let parts = explanation.path.parts.iter().take(ROWS);
        let parts: Vec<Bar> = parts
            .map(|p| Bar {
                name: format!("{} {}", p.unit, p.event),
                value: 100.0 * p.ticks as f64 / all,
                spread: 0.0,
            })
            .collect();
        bars(
            &lower,
            "What the frame hangs on: its critical path",
            "share of a frame's time, %",
            &parts,
            RED,
        )?;
        root.present()?;
    }
    Ok(out)
}

struct Bar {
    name: String,
    /// Per cent.
    value: f64,
    spread: f64,
}

fn bar(saving: &Saving) -> Bar {
    Bar { name: saving.name(), value: 100.0 * saving.mean, spread: 100.0 * saving.spread }
}

/// Horizontal bars, the first on top.
fn bars<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    title: &str,
    axis: &str,
    bars: &[Bar],
    color: RGBColor,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let rows = bars.len().max(1) as f64;
    let most = bars.iter().map(|b| b.value + b.spread).fold(1.0, f64::max);
    let least = bars.iter().map(|b| b.value - b.spread).fold(0.0, f64::min);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(240)
        .build_cartesian_2d(least..most * 1.05, 0.0..rows)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .y_labels(0)
        .x_desc(axis)
        .x_label_formatter(&|v| format!("{v:.0}"))
        .draw()?;
    for (n, bar) in bars.iter().enumerate() {
        let y = rows - n as f64 - 0.5;
        let filled = color.mix(0.6).filled();
        chart.draw_series([Rectangle::new([(0.0, y - 0.35), (bar.value, y + 0.35)], filled)])?;
        if bar.spread > 0.0 {
            let ends = vec![(bar.value - bar.spread, y), (bar.value + bar.spread, y)];
            chart.draw_series([PathElement::new(ends, BLACK.stroke_width(2))])?;
        }
        let style = TextStyle::from(("sans-serif", 13).into_font()).pos(Pos::new(HPos::Right, VPos::Center));
        let label = EmptyElement::at((least, y)) + Text::new(bar.name.clone(), (-6, 0), style);
        chart.plotting_area().draw(&label)?;
    }
    Ok(())
}
