//! Compute programs on the host's GPU, by wgpu.
//!
//! Programs are compute modules of the IR, or WGSL. On Vulkan the words of our SPIR-V writer reach the driver as they are; on
//! other hosts naga translates them, so that rounding is no better there than their compilers'.
//!
//! ```no_run
//! use xenoglot_host::{Access, Arguments, Binding, Commands, Device, DeviceOptions};
//! # fn example(module: xenoglot_host::xenoglot::ir::Module) -> Result<(), xenoglot_host::Error> {
//! let device = Device::open(&DeviceOptions::from_env())?;
//! let layout = device.layout(&[Binding::new(0, Access::Read), Binding::new(1, Access::ReadWrite)]);
//! let program = device.program(&layout, module)?;
//! let input = device.buffer_of(&[1, 2, 3, 4])?;
//! let output = device.buffer(16)?;
//! let arguments = Arguments::new(&device, &layout, &[&input, &output])?;
//! let mut commands = Commands::default();
//! commands.dispatch(&program, &arguments, &[], [1, 1, 1]);
//! commands.submit(&device)?;
//! println!("{:?}", device.read(&[(&output, 0..16)])?);
//! # Ok(())
//! # }
//! ```
//!
//! | room | what it is for |
//! |---|---|
//! | `device` | choosing and opening a device |
//! | `buffer` | buffers, and reading them back |
//! | `texture` | textures that programs write, and reading them back |
//! | `program` | layouts, programs, arguments |
//! | `commands` | dispatches in order |
//! | `compilers` | other processes, in which drivers compile programs first |
//! | `pipelines` | what the driver compiled, kept from run to run |
//! | `rehearsal` | for drivers that compile when a program first runs |
//! | `timing` | how long stages of commands take |
//! | `table` | programs by key, compiled in the background |
//!
//! A device has a [`Cache`](xenoglot_cache::Cache) for the code of modules: in memory, unless it is opened with one on
//! disk ([`Device::open_with`]).
//!
//! [`wgpu`], [`xenoglot`] (with the IR as [`xenoglot::ir`]) and [`xenoglot_cache`] are re-exported: a caller's own device has to be of this version
//! of wgpu. Crates that draw or compute with a [`Device`] re-export this one.
//!
//! Nothing here knows of a guest. A failure of the device is an [`Error`] of the next call that waits for it, never a
//! panic.
#![deny(missing_docs)]

mod buffer;
mod commands;
mod compilers;
mod device;
mod error;
mod pipelines;
mod program;
mod rehearsal;
mod table;
mod texture;
mod timing;

pub use buffer::Buffer;
pub use commands::Commands;
pub use compilers::{Compiler, Compilers};
pub use device::{DEVICE_VARIABLE, Device, DeviceOptions};
pub use error::Error;
pub use program::{Access, Argument, Arguments, Binding, Layout, Program};
pub use table::{Compilation, State, Table};
pub use texture::{Texture, TextureFormat, TextureShape};
pub use {wgpu, xenoglot, xenoglot_cache};
