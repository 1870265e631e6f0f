//! What a designer can change of the machine, one thing at a time: each parameter taken to its limit, and each unit made to
//! take no time.

use crate::params::{Instant, Params, Sdram, Timing};
use serde::Serialize;

/// What kind of change a lever is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A latency of one tick.
    Latency,
    /// A queue, FIFO or cache as large as it can be.
    Capacity,
    /// Twice as many, or twice as much a tick.
    Count,
    /// A unit that takes no time at all: a bound, no design.
    Instant,
}

impl Kind {
    /// What it does, in a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Latency => "latency 1",
            Kind::Capacity => "unbounded",
            Kind::Count => "twice",
            Kind::Instant => "instant",
        }
    }
}

/// A change of one parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Lever {
    /// The parameter as in TOML, with dots.
    pub name: String,
    /// Its value now.
    pub from: String,
    /// Its value after the change, in TOML's syntax.
    pub to: String,
    /// The kind of change.
    pub kind: Kind,
}

impl Lever {
    /// The change as [`Params::with`] takes it.
    pub fn assignment(&self) -> String {
        format!("{} = {}", self.name, self.to)
    }
}

/// Every lever of a machine; those that would change nothing are left out.
pub fn levers(params: &Params) -> Vec<Lever> {
    let Params { latency, memory, raster, instant, .. } = params;
    let mut all = Vec::new();
    let mut lever = |kind: Kind, name: &str, from: u32, to: u32| {
        if from != to {
            all.push(Lever { name: name.into(), from: from.to_string(), to: to.to_string(), kind });
        }
    };
    for (name, from) in [
        ("latency.simple", latency.simple),
        ("latency.multiply", latency.multiply),
        ("latency.dot", latency.dot),
        ("latency.special", latency.special),
        ("latency.tile", latency.tile),
        ("latency.texture", latency.texture),
        ("memory.burst", memory.burst),
        ("raster.setup", raster.setup),
    ] {
        lever(Kind::Latency, name, from, 1);
    }
    let Sdram { controller, banks, cas, rcd, rp, ras, rc, rrd, wr, turnaround, rfc, refresh, .. } =
        memory.sdram;
    match memory.timing {
        Timing::Timer => {
            lever(Kind::Latency, "memory.read", memory.read, 1);
            lever(Kind::Latency, "memory.write", memory.write, 1);
        }
        Timing::Sdram => {
            for (name, from) in [
                ("memory.sdram.controller", controller),
                ("memory.sdram.cas", cas),
                ("memory.sdram.rcd", rcd),
                ("memory.sdram.rp", rp),
                ("memory.sdram.ras", ras),
                ("memory.sdram.rc", rc),
                ("memory.sdram.rrd", rrd),
                ("memory.sdram.wr", wr),
                ("memory.sdram.turnaround", turnaround),
                ("memory.sdram.rfc", rfc),
            ] {
                // What is already nothing stays so.
                lever(Kind::Latency, name, from, from.min(1));
            }
            lever(Kind::Count, "memory.sdram.banks", banks, (banks * 2).min(16));
            lever(Kind::Capacity, "memory.sdram.refresh", refresh, 0);
        }
    }
    for (name, from, limit) in [
        ("vpu_queue", params.vpu_queue, 256),
        ("fifo", params.fifo, 65536),
        ("vertex_cache", params.vertex_cache, 4096),
        ("texture_cache", params.texture_cache, 4096),
    ] {
        lever(Kind::Capacity, name, from, limit);
    }
    for (name, from, limit) in [
        ("vpus", params.vpus, 8),
        ("threads", params.threads, 64),
        ("fill_pixels", params.fill_pixels, 4096),
        ("raster.pixels", raster.pixels, 16),
    ] {
        lever(Kind::Count, name, from, from.saturating_mul(2).min(limit));
    }

    let Instant {
        triangle_draw,
        vertex_cache,
        rasterizer,
        texture,
        tile_buffer_fill,
        tile_buffer_store,
        tile_buffer_load,
        vpu,
        memory,
    } = *instant;
    for (unit, from) in [
        ("triangle_draw", triangle_draw),
        ("vertex_cache", vertex_cache),
        ("rasterizer", rasterizer),
        ("texture", texture),
        ("tile_buffer_fill", tile_buffer_fill),
        ("tile_buffer_store", tile_buffer_store),
        ("tile_buffer_load", tile_buffer_load),
        ("vpu", vpu),
        ("memory", memory),
    ] {
        if !from {
            let name = format!("instant.{unit}");
            all.push(Lever { name, from: "false".into(), to: "true".into(), kind: Kind::Instant });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lever_is_a_change_that_parameters_take() {
        let mut timer = Params::default();
        timer.memory.timing = Timing::Timer;
        for params in [Params::default(), timer] {
            let levers = levers(&params);
            assert!(levers.len() > 20);
            for lever in levers {
                let changed = params.with(&[lever.assignment()]).unwrap_or_else(|e| panic!("{lever:?}: {e}"));
                assert!(changed != params, "{lever:?}");
            }
        }
    }

    #[test]
    fn what_is_at_its_limit_is_no_lever() {
        let params = Params { vpus: 8, vertex_cache: 4096, ..Params::default() };
        assert!(levers(&params).iter().all(|l| l.name != "vpus" && l.name != "vertex_cache"));
    }
}
