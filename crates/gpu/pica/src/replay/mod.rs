//! Captures of the PICA200: what its operations mean, a player and a recorder.
//!
//! The container knows no machine (`docs/xgc.md`); here its operations get their types ([`Operation`]). A [`Player`]
//! owns a GPU and its memory and plays a capture frame by frame; a [`Recorder`] makes captures, with [`CommandList`]s.
//!
//! ```
//! use xenoglot_capture::Info;
//! use xenoglot_pica::memory::VRAM;
//! use xenoglot_pica::raster::Renderer;
//! use xenoglot_pica::replay::{Limits, Player, Recorder, Shown};
//! use xenoglot_pica::transfer::Fill;
//!
//! let mut recorder = Recorder::new(Info::default());
//! // Red in RGBA8, 32 bits at a time.
//! recorder.fill(Fill { start: VRAM, end: VRAM + 64, value: 0xff00_00ff, control: 1 << 9 });
//! recorder.end_frame(Shown { address: VRAM, width: 8, height: 2, format: 0, on_its_side: true });
//! let capture = recorder.finish();
//!
//! let mut player = Player::new(&capture, Renderer::new(), Limits::default())?;
//! let frame = player.next_frame().expect("a frame")?;
//! assert_eq!((frame.width, frame.height), (2, 8));
//! assert_eq!(frame.rgba[..4], [255, 0, 0, 255]);
//! assert!(player.next_frame().is_none());
//! # Ok::<(), xenoglot_pica::replay::Error>(())
//! ```

mod list;
mod op;
mod player;
mod record;

pub use crate::lcd::Image;
pub use list::CommandList;
pub use op::{MACHINE, OpError, Operation, Shown, Unmapped};
pub use player::{Error, Limits, Player};
pub use record::Recorder;
