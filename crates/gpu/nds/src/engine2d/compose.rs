//! Layers to a picture: priorities and colour effects, 32 pixels at a time.

use super::layer::{Layer, WIDTH};
use super::object::Resolved;
use super::registers::Registers;
use super::window::Shown;
use super::{Kind, PictureLine};
use fearless_simd::prelude::*;
use fearless_simd::{mask16x32, u8x32, u16x32};

/// Pixels that are worked on at once.
const LANES: usize = 32;
type Lanes<S> = u16x32<S>;
type Mask<S> = mask16x32<S>;

/// Bit of OBJs among layers; BG0 to BG3 have the lower ones.
const OBJ: u16 = 1 << 4;
/// Bit of the backdrop among layers, and of the colour effect within windows.
const BACKDROP: u16 = 1 << 5;

/// All layers of a line.
pub struct Input<'a> {
    pub registers: &'a Registers,
    /// What each background is; none if it is not shown.
    pub kinds: [Kind; 4],
    pub layers: &'a [Layer; 4],
    pub obj: Option<&'a Resolved>,
    /// What windows show; everything if there are none.
    pub shown: Option<&'a Shown>,
    pub backdrop: u16,
    /// If layers are given by their places in the palettes, the palettes.
    pub palettes: Option<&'a [u16; 512]>,
    /// The line of the 3D engines.
    pub three_d: &'a PictureLine,
}

/// A layer's place in front of those before it.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// A background, with its bit.
    Background(u16, &'a Layer),
    /// The picture of the 3D engines.
    ThreeD(&'a ThreeD),
    /// The OBJs of a priority.
    Obj(u16, &'a Resolved),
}

/// Most places of a line: four backgrounds, and OBJs of four priorities.
const PLACES: usize = 8;

/// The picture of the 3D engines, by channel.
struct ThreeD {
    channels: [[u16; WIDTH]; 3],
    alpha: [u16; WIDTH],
}

impl ThreeD {
    #[inline(always)]
    fn new(line: &PictureLine) -> ThreeD {
        let mut out = ThreeD { channels: [[0; WIDTH]; 3], alpha: [0; WIDTH] };
        for (i, &color) in line.iter().enumerate() {
            out.channels[0][i] = (color & 63) as u16;
            out.channels[1][i] = (color >> 8 & 63) as u16;
            out.channels[2][i] = (color >> 16 & 63) as u16;
            out.alpha[i] = (color >> 24) as u16;
        }
        out
    }
}

/// How pixels of a line are blended. Every effect is (c1 * a + c2 * b + 16) / 32, with 63 or 0 for the second colour where it
/// gets brighter or darker: that is GBATEK's formula in sixteenths with both sides doubled.
struct Effect {
    first_targets: u16,
    second_targets: u16,
    factors: [u16; 2],
    /// It takes the second colour, and needs it to be a target.
    is_blending: bool,
    /// The second colour is white.
    is_brighter: bool,
    /// Factors of OBJs that are semi-transparent.
    obj_factors: [u16; 2],
}

impl Effect {
    fn new(registers: &Registers) -> Effect {
        let [eva, evb] = registers.blend_factors().map(|f| 2 * u16::from(f));
        let evy = 2 * u16::from(registers.brightness_factor());
        let effect = registers.effect();
        Effect {
            first_targets: if effect == 0 { 0 } else { registers.first_targets().into() },
            second_targets: registers.second_targets().into(),
            factors: match effect {
                1 => [eva, evb],
                2 => [32 - evy, evy],
                _ => [32 - evy, 0],
            },
            is_blending: effect == 1,
            is_brighter: effect == 2,
            obj_factors: [eva, evb],
        }
    }
}

#[inline(always)]
fn all<S: Simd>(simd: S, value: u16) -> Lanes<S> {
    Lanes::splat(simd, value)
}

#[inline(always)]
fn load<S: Simd>(simd: S, line: &[u16; WIDTH], first: usize) -> Lanes<S> {
    Lanes::from_slice(simd, &line[first..first + LANES])
}

#[inline(always)]
fn load_bytes<S: Simd>(simd: S, line: &[u8; WIDTH], first: usize) -> Lanes<S> {
    let (low, high) = simd.widen_u8x32(u8x32::from_slice(simd, &line[first..first + LANES]));
    simd.combine_u16x16(low, high)
}

/// Where any of `bits` is set.
#[inline(always)]
fn any_bit<S: Simd>(numbers: Lanes<S>, bits: u16) -> Mask<S> {
    (numbers & bits).simd_ne(0)
}

/// A channel of a colour in memory, in 6 bits: all but the lowest bit of green are even.
#[inline(always)]
fn channel<S: Simd, const N: usize>(color: Lanes<S>) -> Lanes<S> {
    match N {
        0 => (color << 1) & 62,
        1 => ((color >> 4) & 62) | (color >> 15),
        _ => (color >> 9) & 62,
    }
}

/// The topmost layers of a block of pixels: colours, and which layers those are.
#[derive(Clone, Copy)]
struct Stack<S: Simd> {
    top: Lanes<S>,
    second: Lanes<S>,
    top_layer: Lanes<S>,
    second_layer: Lanes<S>,
}

/// A line's places, from the back to the front.
struct Places<'a> {
    places: [Option<Place<'a>>; PLACES],
    count: usize,
}

impl<'a> Places<'a> {
    #[inline(always)]
    fn new(input: &Input<'a>, three_d: Option<&'a ThreeD>) -> Places<'a> {
        let mut out = Places { places: [None; PLACES], count: 0 };
        for priority in (0..4u16).rev() {
            for n in (0..4).rev() {
                let has_priority = input.registers.background(n) & 3 == priority;
                match (has_priority, input.kinds[n], three_d) {
                    (false, ..) | (_, Kind::None, _) | (_, Kind::ThreeD, None) => {}
                    (_, Kind::ThreeD, Some(three_d)) => out.add(Place::ThreeD(three_d)),
                    _ => out.add(Place::Background(1 << n, &input.layers[n])),
                }
            }
            if let Some(obj) = input.obj.filter(|obj| obj.priorities & 1 << priority != 0) {
                out.add(Place::Obj(priority, obj));
            }
        }
        out
    }

    fn add(&mut self, place: Place<'a>) {
        if let Some(free) = self.places.get_mut(self.count) {
            *free = Some(place);
            self.count += 1;
        }
    }
}

/// Composes a line.
#[inline(always)]
pub fn compose<S: Simd>(simd: S, input: &Input, out: &mut PictureLine) {
    let effect = Effect::new(input.registers);
    let has_three_d = input.kinds[0] == Kind::ThreeD;
    let three_d = has_three_d.then(
        #[inline(always)]
        || ThreeD::new(input.three_d),
    );
    let places = Places::new(input, three_d.as_ref());
    let has_obj_blending = match input.obj {
        Some(obj) => obj.has_blending,
        None => false,
    };
    let needs_second = effect.second_targets != 0
        && (effect.is_blending && effect.first_targets != 0 || has_obj_blending || has_three_d);
    for first in (0..WIDTH).step_by(LANES) {
        let shown = match input.shown {
            Some(Shown(shown)) => load_bytes(simd, shown, first),
            None => all(simd, 0x3f),
        };
        let channels = if needs_second {
            let stack = stack::<S, true>(simd, input, &places, shown, first);
            blend(simd, input, three_d.as_ref(), &effect, shown, first, stack)
        } else {
            let stack = stack::<S, false>(simd, input, &places, shown, first);
            single(simd, three_d.as_ref(), &effect, shown, first, stack)
        };
        let [r, g, b] = channels;
        let (low, high) = simd.widen_u16x32(r | (g << 6));
        let (blue_low, blue_high) = simd.widen_u16x32(b);
        (low | (blue_low << 12)).store_slice(&mut out[first..first + 16]);
        (high | (blue_high << 12)).store_slice(&mut out[first + 16..first + 32]);
    }
}

#[inline(always)]
fn stack<S: Simd, const TWO: bool>(
    simd: S,
    input: &Input,
    places: &Places,
    shown: Lanes<S>,
    first: usize,
) -> Stack<S> {
    let none = all(simd, 0);
    let mut out = Stack {
        // The backdrop is the palette's first colour.
        top: all(simd, if input.palettes.is_some() { 0 } else { input.backdrop }),
        second: none,
        top_layer: all(simd, BACKDROP),
        second_layer: none,
    };
    for place in places.places.iter().take(places.count) {
        let Some(place) = place else { break };
        let (bit, color, visible) = match *place {
            Place::Background(bit, layer) => {
                let index = load_bytes(simd, &layer.index, first);
                let visible = index.simd_ne(0);
                let color = if input.palettes.is_some() { index } else { load(simd, &layer.color, first) };
                (bit, color, visible)
            }
            // Its colour is put in its place at the end.
            Place::ThreeD(three_d) => (1, none, load(simd, &three_d.alpha, first).simd_ne(0)),
            Place::Obj(priority, obj) => {
                let visible = (load(simd, &obj.attributes, first) & 7).simd_eq(priority);
                (OBJ, load(simd, &obj.color, first), visible)
            }
        };
        let visible = visible & any_bit(shown, bit);
        if TWO {
            out.second = visible.select(out.top, out.second);
            out.second_layer = visible.select(out.top_layer, out.second_layer);
        }
        out.top = visible.select(color, out.top);
        out.top_layer = visible.select(all(simd, bit), out.top_layer);
    }
    if let Some(palettes) = input.palettes {
        out.top = look_up(simd, palettes, out.top);
        if TWO {
            out.second = look_up(simd, palettes, out.second);
        }
    }
    out
}

/// Colours by their places in the palettes.
#[inline(always)]
fn look_up<S: Simd>(simd: S, palettes: &[u16; 512], places: Lanes<S>) -> Lanes<S> {
    let mut colors = [0; LANES];
    places.store_slice(&mut colors);
    for color in &mut colors {
        *color = palettes[usize::from(*color) % 512];
    }
    Lanes::from_slice(simd, &colors)
}

/// A channel of a layer that may be the 3D engines'.
#[inline(always)]
fn with_three_d<S: Simd, const N: usize>(
    simd: S,
    color: Lanes<S>,
    layer: Lanes<S>,
    three_d: Option<&ThreeD>,
    first: usize,
) -> Lanes<S> {
    let plain = channel::<S, N>(color);
    match three_d {
        None => plain,
        Some(three_d) => layer.simd_eq(1).select(load(simd, &three_d.channels[N], first), plain),
    }
}

/// Where a block's topmost layer is a first target, and the effect is shown.
#[inline(always)]
fn first_target<S: Simd>(effect: &Effect, shown: Lanes<S>, stack: &Stack<S>) -> Mask<S> {
    any_bit(stack.top_layer, effect.first_targets) & any_bit(shown, BACKDROP)
}

/// Channels of pixels of which only the topmost layer counts.
#[inline(always)]
fn single<S: Simd>(
    simd: S,
    three_d: Option<&ThreeD>,
    effect: &Effect,
    shown: Lanes<S>,
    first: usize,
    stack: Stack<S>,
) -> [Lanes<S>; 3] {
    let mut out = [
        with_three_d::<S, 0>(simd, stack.top, stack.top_layer, three_d, first),
        with_three_d::<S, 1>(simd, stack.top, stack.top_layer, three_d, first),
        with_three_d::<S, 2>(simd, stack.top, stack.top_layer, three_d, first),
    ];
    if effect.first_targets == 0 || effect.is_blending {
        return out;
    }
    let target = first_target(effect, shown, &stack);
    let [a, b] = effect.factors;
    let second = if effect.is_brighter { 63 * b } else { 0 };
    for channel in &mut out {
        *channel = target.select((*channel * a + (second + 16)) >> 5, *channel);
    }
    out
}

/// Channels of pixels in which layers are blended.
#[inline(always)]
fn blend<S: Simd>(
    simd: S,
    input: &Input,
    three_d: Option<&ThreeD>,
    effect: &Effect,
    shown: Lanes<S>,
    first: usize,
    stack: Stack<S>,
) -> [Lanes<S>; 3] {
    let has_second = any_bit(stack.second_layer, effect.second_targets);
    let mut target = first_target(effect, shown, &stack);
    if effect.is_blending {
        target &= has_second;
    }
    let none = all(simd, 0);
    let mut factor = target.select(all(simd, effect.factors[0]), all(simd, 32));
    let mut below = target.select(all(simd, effect.factors[1]), none);
    // What is added for a second colour that is white.
    let white = if effect.is_brighter { 63 * effect.factors[1] } else { 0 };
    let mut added = target.select(all(simd, white + 16), all(simd, 16));
    if !effect.is_blending {
        below = none;
    }
    // What blends by itself does so whatever the effect and its first targets are.
    if let Some(obj) = input.obj {
        let how = load(simd, &obj.attributes, first) >> 8;
        let blends = stack.top_layer.simd_eq(OBJ) & how.simd_ne(0) & has_second;
        let is_semi = how.simd_eq(super::object::SEMI);
        let [eva, evb] = effect.obj_factors;
        let twice = how + how;
        factor = blends.select(is_semi.select(all(simd, eva), twice), factor);
        below = blends.select(is_semi.select(all(simd, evb), all(simd, 32) - twice), below);
        added = blends.select(all(simd, 16), added);
    }
    if let Some(three_d) = three_d {
        let alpha = load(simd, &three_d.alpha, first);
        let blends = stack.top_layer.simd_eq(1) & has_second;
        factor = blends.select(alpha + 1, factor);
        below = blends.select(all(simd, 31) - alpha, below);
        added = blends.select(all(simd, 16), added);
    }
    let [top, second] = [
        [
            with_three_d::<S, 0>(simd, stack.top, stack.top_layer, three_d, first),
            with_three_d::<S, 1>(simd, stack.top, stack.top_layer, three_d, first),
            with_three_d::<S, 2>(simd, stack.top, stack.top_layer, three_d, first),
        ],
        [
            with_three_d::<S, 0>(simd, stack.second, stack.second_layer, three_d, first),
            with_three_d::<S, 1>(simd, stack.second, stack.second_layer, three_d, first),
            with_three_d::<S, 2>(simd, stack.second, stack.second_layer, three_d, first),
        ],
    ];
    let mut out = top;
    for (out, second) in out.iter_mut().zip(second) {
        let sum = *out * factor + second * below + added;
        *out = (sum >> 5).min(63);
    }
    out
}
