//! Dumps as scenes, and the last frames of scenes as dumps.

use super::{BANKS, ConversionError, FrameDump, KINDS, MAX_COMMAND_BYTES, ONE_DOT_DEPTH, State, params};
use crate::container::Scene;
use crate::geometry::GeometryEngine;
use crate::geometry::command::Command;
use crate::geometry::queue::{Entry, Packed};
use crate::memory::{PALETTE_BYTES, TEXTURE_BYTES, TextureMemory};
use crate::play;
use crate::registers::Registers;

/// Where bank `place` puts its bytes: whether in texture memory or among palettes, and from which address on. Source: GBATEK, "DS
/// Memory Control - VRAM".
fn address(place: usize, control: u8) -> (bool, usize) {
    let offset = usize::from(control >> 3 & 3);
    match place {
        0..4 => (true, offset << 17),
        4 => (false, 0),
        _ => (false, ((offset & 1) + 4 * (offset >> 1)) << 14),
    }
}

/// Texture memory and palettes of a dump's banks. Where banks overlap, all of their bits are seen.
fn memory(banks: &[(u8, Vec<u8>); BANKS]) -> (Vec<u8>, Vec<u8>) {
    let (mut textures, mut palettes) = (vec![0; TEXTURE_BYTES], vec![0; PALETTE_BYTES]);
    for (place, ((control, contents), kind)) in banks.iter().zip(&KINDS).enumerate() {
        if kind.is_three_d(*control) {
            let (is_texture, first) = address(place, *control);
            let target = if is_texture { &mut textures } else { &mut palettes };
            for (to, from) in target.iter_mut().skip(first).zip(contents) {
                *to |= from;
            }
        }
    }
    (textures, palettes)
}

/// Banks that have all of the memory: A to D the textures, E to G the palettes.
fn banks(memory: &TextureMemory) -> [(u8, Vec<u8>); BANKS] {
    let palettes = memory.palettes();
    // VRAMCNT: on, a texture or palettes, and the offset that follows from the bank's place.
    let control = |place: usize| match place {
        0..4 => 0x83 | (place as u8) << 3,
        4 => 0x83,
        // Offsets 2 and 3 are the slots behind E's.
        _ => 0x83 | (place as u8 - 3) << 3,
    };
    std::array::from_fn(|place| {
        let (is_texture, first) = address(place, control(place));
        let from = if is_texture { memory.textures().as_slice() } else { &palettes };
        let contents = from.iter().skip(first).take(KINDS[place].bytes).copied().collect();
        (control(place), contents)
    })
}

/// Words that bring engines after a reset into a state, in a frame of its own.
fn words(state: &State) -> Vec<u32> {
    let mut out = Vec::with_capacity(4096);
    let mut put = |command: Command, params: &[u32]| {
        out.push(command as u32);
        out.extend(params);
    };
    let identity = |put: &mut dyn FnMut(Command, &[u32]), mode: u32| {
        put(Command::MtxMode, &[mode]);
        put(Command::MtxIdentity, &[]);
    };
    put(Command::Viewport, &[state.viewport]);
    put(Command::DifAmb, &[state.diffuse_ambient]);
    put(Command::SpeEmi, &[state.specular_emission]);
    put(Command::Shininess, &state.shininess);
    // Vectors of lights are as they were transformed, and texture coordinates as they were given.
    identity(&mut put, 2);
    for (vector, color) in state.light_vectors.iter().zip(&state.light_colors) {
        put(Command::LightVector, &[*vector]);
        put(Command::LightColor, &[*color]);
    }
    identity(&mut put, 3);
    put(Command::TeximageParam, &[state.texture]);
    put(Command::PlttBase, &[state.palette]);
    put(Command::Texcoord, &[state.texcoord]);
    put(Command::MtxLoad4x4, &state.texture_stack);
    put(Command::MtxStore, &[0]);
    put(Command::MtxLoad4x4, &state.texture_matrix);
    put(Command::MtxMode, &[0]);
    put(Command::MtxLoad4x4, &state.projection_stack);
    put(Command::MtxStore, &[0]);
    put(Command::MtxLoad4x4, &state.projection);
    // Mode 2 loads position and vector, mode 1 position alone.
    for (place, (position, vector)) in (0..).zip(state.position_stack.iter().zip(&*state.vector_stack)) {
        put(Command::MtxMode, &[2]);
        put(Command::MtxLoad4x4, vector);
        put(Command::MtxMode, &[1]);
        put(Command::MtxLoad4x4, position);
        put(Command::MtxStore, &[place]);
    }
    put(Command::MtxMode, &[2]);
    put(Command::MtxLoad4x4, &state.vector);
    put(Command::MtxMode, &[1]);
    put(Command::MtxLoad4x4, &state.position);
    put(Command::MtxMode, &[state.mode]);
    // A whole polygon, as the engine hangs in the middle of one. It is not seen: the frame ends.
    put(Command::PolygonAttr, &[state.attributes]);
    put(Command::BeginVtxs, &[state.primitive]);
    let (xy, z) = state.vertex;
    let corners = if state.primitive & 1 == 0 { 3 } else { 4 };
    (0..corners).for_each(|_| put(Command::Vtx16, &[xy, z.into()]));
    // DIF_AMB may have set a colour, too.
    put(Command::Color, &[state.color]);
    put(Command::PolygonAttr, &[state.next_attributes]);
    put(Command::SwapBuffers, &[state.swap]);
    out
}

impl FrameDump {
    /// A scene that draws the dump's frame, after one in which the state before it is made.
    ///
    /// # Errors
    /// If DISP_1DOT_DEPTH changes within the frame, or it does not end with its only SWAP_BUFFERS.
    pub fn scene(&self) -> Result<Scene, ConversionError> {
        let is_swap = |&command: &u8| command == Command::SwapBuffers as u8;
        let swap = self.commands.iter().position(is_swap);
        if swap.is_none_or(|swap| swap + 1 != self.commands.len()) {
            return Err(ConversionError::Swap(swap));
        }
        let mut stream = words(&self.state);
        let mut left = self.params.as_slice();
        for (place, &command) in self.commands.iter().enumerate() {
            let (own, rest) = left.split_at_checked(params(command).unwrap_or(0)).unwrap_or((left, &[]));
            left = rest;
            if command != ONE_DOT_DEPTH {
                stream.push(command.into());
                stream.extend(own);
            } else if own
                .first()
                .is_none_or(|&depth| depth & 0x7fff != u32::from(self.registers.one_dot_depth))
            {
                return Err(ConversionError::OneDotDepth(place));
            }
        }
        let (textures, palettes) = memory(&self.banks);
        Ok(Scene {
            meta: format!("name=frame dump\ncommands={}", self.commands.len()),
            registers: self.registers.clone(),
            textures: vec![(0, textures)],
            palettes: vec![(0, palettes)],
            stream,
            ..Scene::default()
        })
    }

    /// The last frame of a scene; `image` is what its memory starts with, if it names one. What a dump has no room for is left
    /// out: the scroll, results, and commands that draw nothing.
    ///
    /// # Errors
    /// If the scene has no frame, a state before its last frame that a dump cannot have, or too many commands in it.
    pub fn of_scene(scene: &Scene, image: Option<&[u8]>) -> Result<FrameDump, ConversionError> {
        let mut gpu = crate::gpu::Gpu::default();
        play::load(scene, image, &mut gpu)?;
        let mut entries: Vec<Entry> = Vec::with_capacity(scene.stream.len());
        let mut packed = Packed::default();
        scene.stream.iter().for_each(|&word| packed.word(word, |entry| entries.push(entry)));
        let is_swap = |entry: &Entry| entry.0 == Command::SwapBuffers as u8;
        let end = entries.iter().rposition(is_swap).ok_or(ConversionError::NoFrame)?;
        let begin = entries[..end].iter().rposition(is_swap).map_or(0, |swap| swap + 1);
        let mut engine = GeometryEngine::default();
        engine.set_one_dot_depth(scene.registers.one_dot_depth);
        for &(command, param) in &entries[..begin] {
            engine.accept(command, param);
            engine.vblank();
        }
        let frame = &entries[begin..=end];
        let begins = |command: u8| command == Command::BeginVtxs as u8;
        let is_vertex = |command: u8| (Command::Vtx16 as u8..=Command::VtxDiff as u8).contains(&command);
        let first = frame.iter().find(|entry| begins(entry.0) || is_vertex(entry.0));
        if first.is_some_and(|entry| is_vertex(entry.0)) && engine.is_within_polygon() {
            return Err(ConversionError::State("a polygon has some of its vertices"));
        }
        let state = engine.dumped().map_err(ConversionError::State)?;
        let (mut commands, mut values) = (Vec::new(), Vec::new());
        let mut missing = 0;
        for &(command, param) in frame {
            let Some(wanted) = params(command).filter(|_| command != ONE_DOT_DEPTH) else { continue };
            if missing == 0 {
                commands.push(command);
                missing = wanted;
            }
            if missing > 0 {
                values.push(param);
                missing -= 1;
            }
        }
        let length = commands.len() + 4 * values.len();
        if length >= MAX_COMMAND_BYTES {
            return Err(ConversionError::Commands(length));
        }
        Ok(FrameDump {
            registers: Registers { scroll_x: 0, ..scene.registers.clone() },
            state,
            banks: banks(&gpu.memory),
            commands,
            params: values,
        })
    }
}
