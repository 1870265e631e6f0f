//! The table of suites.

#[cfg(target_os = "linux")]
use crate::mips;
use crate::report::{Observer, Summary};
use crate::{Error, dxil, maxwell, nds, pica, picagpu, texture, tone, warp, yuv};
use std::path::PathBuf;
use xenoglot_vulkan::isolated::WorkerCommand;

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Request {
    /// A file of the suite, or a folder with some.
    pub path: PathBuf,
    /// One of the suite's engines.
    pub engine: &'static str,
    /// A part of the Vulkan device's name; any device if there is none.
    pub device: Option<String>,
    /// One of the suite's sizes of tiles; the first one if none is given.
    pub tile: Option<u32>,
    /// How to start worker processes for Vulkan: a program that calls `serve_if_worker` first. The running program
    /// if there is none.
    pub worker: Option<WorkerCommand>,
}

impl Request {
    /// Runs `path` on an engine: on any device, with the first size of tiles, workers of the running program.
    pub fn new(path: impl Into<PathBuf>, engine: &'static str) -> Request {
        Request { path: path.into(), engine, device: None, tile: None, worker: None }
    }

    /// The same with workers that are started in another way.
    pub fn with_worker(self, worker: WorkerCommand) -> Request {
        Request { worker: Some(worker), ..self }
    }
}

/// A suite of oracle vectors.
pub struct Suite {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it checks, in a line.
    pub doc: &'static str,
    /// Engines it can be run on, the default first.
    pub engines: &'static [&'static str],
    /// Pixels along a side of the tiles that engines on a device draw, where that can be chosen; the default first.
    pub tiles: &'static [u32],
    /// Runs it.
    run: fn(&Request, &dyn Observer) -> Result<Summary, Error>,
}

/// Every suite.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "pica",
        doc: "PICA200 shader programs: registers, flags, step counts and geometry events",
        engines: &["interp", "lanes", "native", "spirv", "glsl"],
        tiles: &[],
        run: pica::programs,
    },
    Suite {
        name: "picafloats",
        doc: "PICA200 floats of 24, 20 and 16 bits as IEEE singles",
        engines: &["convert"],
        tiles: &[],
        run: pica::floats,
    },
    Suite {
        name: "picagpu",
        doc: "PICA200 scenes: command lists to triangles, memory and interrupts",
        engines: picagpu::ENGINES,
        tiles: &[],
        run: picagpu::suite,
    },
    Suite {
        name: "nds",
        doc: "Nintendo DS scenes: commands to vertices, polygons, colours, depths and attributes",
        engines: nds::ENGINES,
        tiles: &[],
        run: nds::scenes,
    },
    Suite {
        name: "nds-2d",
        doc: "Nintendo DS pictures of both screens: 2D engines, 3D as a layer, capture, video memory",
        engines: &["cpu"],
        tiles: &[],
        run: nds::whole::suite,
    },
    Suite {
        name: "nds-console",
        doc: "Nintendo DS pixels recorded on consoles: scenes of edge cases, coverage of antialiased edges",
        engines: &["cpu"],
        tiles: &[],
        run: nds::console::suite,
    },
    Suite {
        name: "nds-slopes",
        doc: "Nintendo DS edges, captured from a console: a line to every pixel from every corner",
        engines: &["cpu"],
        tiles: &[],
        run: nds::slopes::suite,
    },
    Suite {
        name: "maxwell",
        doc: "SM53 compute kernels: global memory after a launch, of code compiled at -O3 and at -O0",
        engines: &["interp", "spirv", "glsl"],
        tiles: &[],
        run: maxwell::kernels,
    },
    Suite {
        name: "maxwell-graphics",
        doc: "SM53 shaders of every stage: translated, and drawn on the device beside the GLSL they were made from",
        engines: &["spirv", "glsl"],
        tiles: &[],
        run: maxwell::graphics::shaders,
    },
    Suite {
        name: "maxwell-decode",
        doc: "SM53 instruction words: the text of the vendor's disassembler",
        engines: &["disasm"],
        tiles: &[],
        run: maxwell::decode::words,
    },
    Suite {
        name: "dxil",
        doc: "DXIL shaders: buffers after a dispatch, traces of random control flow; those without a test become valid SPIR-V",
        engines: &["interp", "spirv", "glsl", "bindless"],
        tiles: &[],
        run: dxil::shaders,
    },
    #[cfg(target_os = "linux")]
    Suite {
        name: "mips",
        doc: "MIPS programs for Linux: what they print and how they exit",
        engines: mips::ENGINES,
        tiles: &[],
        run: mips::suite,
    },
    Suite {
        name: "texture",
        doc: "blocks of ASTC, BC, ETC and EAC to texels; textures of the PICA200 and the DS; Tegra's block-linear layout",
        engines: texture::ENGINES,
        tiles: &[],
        run: texture::suite,
    },
    Suite {
        name: "texture-files",
        doc: "texture files of every container: what they say of their texels, and pixels",
        engines: texture::ENGINES,
        tiles: &[],
        run: texture::files::suite,
    },
    Suite {
        name: "yuv",
        doc: "frames of luma and chroma to RGB: every model, range, siting and filter",
        engines: yuv::ENGINES,
        tiles: &[],
        run: yuv::suite,
    },
    Suite {
        name: "tone",
        doc: "the filter of 48 tones: signals, mixes, powers, coefficients, and signals cut into blocks",
        engines: tone::ENGINES,
        tiles: &[],
        run: tone::suite,
    },
    Suite {
        name: "warp",
        doc: "Warp: primitives and states to colours and depths; clipping and setup",
        engines: warp::ENGINES,
        tiles: warp::TILES,
        run: warp::suite,
    },
];

impl Suite {
    /// The suite called `name`.
    pub fn find(name: &str) -> Option<&'static Suite> {
        SUITES.iter().find(|s| s.name == name)
    }

    /// The suite's own name of an engine, or its default engine.
    ///
    /// # Errors
    /// [`Error::Engine`] if it has no such engine.
    pub fn engine(&self, name: Option<&str>) -> Result<&'static str, Error> {
        let unknown = || Error::Engine {
            suite: self.name,
            engine: name.unwrap_or_default().into(),
            known: self.engines.join(", "),
        };
        match name {
            None => self.engines.first().copied().ok_or_else(unknown),
            Some(name) => self.engines.iter().copied().find(|e| *e == name).ok_or_else(unknown),
        }
    }

    /// Runs the suite.
    ///
    /// # Errors
    /// [`Error::Tile`] if it has no such tiles. When the vectors cannot be read, or the engine's device is not there. A case that fails is not an error.
    pub fn run(&self, request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
        if let Some(tile) = request.tile.filter(|tile| !self.tiles.contains(tile)) {
            return Err(Error::Tile { suite: self.name, tile });
        }
        (self.run)(request, observer)
    }
}
