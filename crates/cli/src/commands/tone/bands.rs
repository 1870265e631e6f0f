//! The plot of the tones' power: axes and a legend around a picture with a pixel for each tone and step in time.

use anyhow::{Result, anyhow};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use plotters::prelude::*;
use std::error::Error;
use std::fmt::Write;
use xenoglot_tone::TONES;

const SIZE: (u32, u32) = (1000, 520);
/// Pixels below the axes, for the legend.
const LEGEND: i32 = 40;
/// Tones of an octave.
const OCTAVE: usize = 12;

/// Colours of the picture and what they say.
const COLORS: [(&str, &str); 3] = [
    ("#00f", "muted: less than 0.02 % of the signal's power"),
    ("#0f0", "passed"),
    ("#f00", "held back: more than 9 %"),
];

/// An SVG of `png`, whose columns cover `seconds` and whose rows are the tones, the highest on top. The tone with the
/// number 12 is `tuning` Hz.
pub fn draw(tuning: f64, seconds: f64, png: &[u8]) -> Result<String> {
    chart(tuning, seconds, png).map_err(|e| anyhow!("cannot draw the plot: {e}"))
}

fn chart(tuning: f64, seconds: f64, png: &[u8]) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    let frame = {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption("Power of the tones", ("sans-serif", 16))
            .margin(12)
            .margin_bottom(LEGEND)
            .x_label_area_size(40)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..seconds, 0.0..TONES as f64)?;
        chart.configure_mesh().disable_mesh().x_desc("time, s").y_desc("frequency, Hz").y_labels(0).draw()?;
        let frame = chart.plotting_area().get_pixel_range();
        root.present()?;
        frame
    };
    let (x, y) = frame;
    let end = svg.rfind("</svg>").unwrap_or(svg.len());
    let mut more = format!(
        "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
         style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>\n",
        x.start,
        y.start,
        x.end - x.start,
        y.end - y.start,
        BASE64_STANDARD.encode(png)
    );
    for tone in (0..=TONES).step_by(OCTAVE) {
        let frequency = tuning * ((tone as f64 - 12.0) / 12.0).exp2();
        let at = y.end - (y.end - y.start) * tone as i32 / TONES as i32;
        // Writing to a string cannot fail.
        let _ = writeln!(
            more,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-family=\"sans-serif\" font-size=\"12\">{frequency:.0}</text>",
            x.start - 8,
            at + 4
        );
    }
    let bottom = SIZE.1 as i32 - 14;
    for (n, (color, meaning)) in COLORS.iter().enumerate() {
        let x = x.start + 300 * n as i32;
        let _ = writeln!(
            more,
            "<rect x=\"{x}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{color}\"/>\n\
             <text x=\"{}\" y=\"{bottom}\" font-family=\"sans-serif\" font-size=\"12\">{meaning}</text>",
            bottom - 11,
            x + 18
        );
    }
    svg.insert_str(end, &more);
    Ok(svg)
}
