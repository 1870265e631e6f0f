//! Direct3D 12 shaders and where their resources are bound.

use super::{Translator, add_host, compile};
use crate::cache::{Cache, Found};
use crate::failure::Failure;
use crate::key::{Canonical, Key};
use crate::record::{Recorder, Recording, State, from_bytes, to_bytes};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xenoglot::dxil::{Bounds, LiftOptions, Remapper, Slot, lift_bound, load};
use xenoglot::{Host, Options as CodeOptions};
use xenoglot_dxil::binding::{
    BindError, Checks, DescriptorKind, Heap, Location, RegisterSpaces, Registers, StageVariable,
    StreamOutput, Target, Windows,
};
use xenoglot_dxil::lift::Limits;
use xenoglot_dxil::model::{ResourceClass, ShaderKind};
use xenoglot_dxil::root_signature::Register;

/// Registers, by numbers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Declared {
    class: u32,
    number: u32,
    space: u32,
    count: Option<u32>,
    stage: u8,
}

impl From<&Registers> for Declared {
    fn from(registers: &Registers) -> Declared {
        let &Registers { class, first: Register { number, space }, count, stage } = registers;
        Declared { class: class.number(), number, space, count, stage: stage as u8 }
    }
}

impl Declared {
    fn registers(self) -> Option<Registers> {
        let Declared { class, number, space, count, stage } = self;
        let class = ResourceClass::from_number(class)?;
        Some(Registers { class, first: Register { number, space }, count, stage: stage_of(stage)? })
    }
}

fn stage_of(number: u8) -> Option<ShaderKind> {
    ShaderKind::ALL.get(usize::from(number)).copied()
}

/// A row of a signature.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    stage: u8,
    semantic: String,
    index: u32,
    row: u32,
    column: u8,
    stream: u8,
}

impl Row {
    fn new(stage: ShaderKind, variable: &StageVariable) -> Row {
        let &StageVariable { semantic, index, row, column, stream } = variable;
        Row { stage: stage as u8, semantic: semantic.to_owned(), index, row, column, stream }
    }

    fn variable(&self) -> Option<(ShaderKind, StageVariable<'_>)> {
        let &Row { stage, ref semantic, index, row, column, stream } = self;
        Some((stage_of(stage)?, StageVariable { semantic, index, row, column, stream }))
    }
}

/// A question to the binding model. Their bytes are in stores: new ones go to the end, and a change of one that there is
/// raises the schema of [`OptionsInKeys`].
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Query {
    Resource(Declared),
    Counter(Declared),
    Heap(Heap, DescriptorKind),
    IsHeapIndexed(Heap),
    DescriptorChecks(Heap),
    BufferWindows,
    PushWords,
    Input(Row),
    Output(Row),
    StreamOutput(Row),
    ArgumentBlock,
}

fn answer(remapper: &dyn Remapper, query: &Query) -> Option<Vec<u8>> {
    match query {
        Query::Resource(declared) => to_bytes(&remapper.resource(&declared.registers()?)),
        Query::Counter(declared) => to_bytes(&remapper.counter(&declared.registers()?)),
        Query::Heap(heap, kind) => to_bytes(&remapper.heap(*heap, *kind)),
        Query::IsHeapIndexed(heap) => to_bytes(&remapper.is_heap_indexed(*heap)),
        Query::DescriptorChecks(heap) => to_bytes(&remapper.descriptor_checks(*heap)),
        Query::BufferWindows => to_bytes(&remapper.buffer_windows()),
        Query::PushWords => to_bytes(&remapper.push_words()),
        Query::ArgumentBlock => to_bytes(&remapper.argument_block()),
        Query::Input(row) => row.variable().and_then(|(stage, v)| to_bytes(&remapper.input(stage, &v))),
        Query::Output(row) => row.variable().and_then(|(stage, v)| to_bytes(&remapper.output(stage, &v))),
        Query::StreamOutput(row) => {
            row.variable().and_then(|(stage, v)| to_bytes(&remapper.stream_output(stage, &v)))
        }
    }
}

/// A binding model that can be asked what was recorded.
pub struct BindingState<'a>(pub &'a dyn Remapper);

impl State for BindingState<'_> {
    fn answer(&self, query: &[u8]) -> Option<Vec<u8>> {
        answer(self.0, &from_bytes(query)?)
    }
}

/// A binding model whose answers are recorded.
pub struct Recorded<'a> {
    remapper: &'a dyn Remapper,
    recorder: &'a Recorder,
}

impl<'a> Recorded<'a> {
    /// Records what `remapper` answers.
    pub fn new(remapper: &'a dyn Remapper, recorder: &'a Recorder) -> Recorded<'a> {
        Recorded { remapper, recorder }
    }

    fn note(&self, query: &Query) {
        self.recorder.note(query, || answer(self.remapper, query));
    }
}

/// A binding model that answers as a recorded one did; what that one was not asked has the answers of [`RegisterSpaces`].
pub struct Replayed<'a>(pub &'a Recording);

impl Replayed<'_> {
    fn get<T: DeserializeOwned>(&self, query: &Query) -> Option<T> {
        from_bytes(&self.0.answer(&to_bytes(query)?)?)
    }
}

/// The trait's methods, for both.
macro_rules! accessors {
    ($($method:ident($($argument:ident: $kind:ty),*) -> $result:ty = $query:expr;)*) => {
        impl Remapper for Recorded<'_> {
            $(fn $method(&self $(, $argument: $kind)*) -> $result {
                self.note(&$query);
                self.remapper.$method($($argument),*)
            })*
        }

        impl Remapper for Replayed<'_> {
            $(fn $method(&self $(, $argument: $kind)*) -> $result {
                self.get(&$query).unwrap_or_else(|| RegisterSpaces::default().$method($($argument),*))
            })*
        }
    };
}

accessors! {
    resource(registers: &Registers) -> Result<Target, BindError> = Query::Resource(registers.into());
    counter(registers: &Registers) -> Result<Target, BindError> = Query::Counter(registers.into());
    heap(heap: Heap, kind: DescriptorKind) -> Result<Slot, BindError> = Query::Heap(heap, kind);
    is_heap_indexed(heap: Heap) -> bool = Query::IsHeapIndexed(heap);
    descriptor_checks(heap: Heap) -> Option<Checks> = Query::DescriptorChecks(heap);
    buffer_windows() -> Option<Windows> = Query::BufferWindows;
    push_words() -> u32 = Query::PushWords;
    argument_block() -> Option<Slot> = Query::ArgumentBlock;
    input(stage: ShaderKind, variable: &StageVariable) -> Location = Query::Input(Row::new(stage, variable));
    output(stage: ShaderKind, variable: &StageVariable) -> Location = Query::Output(Row::new(stage, variable));
    stream_output(stage: ShaderKind, variable: &StageVariable) -> Option<StreamOutput> =
        Query::StreamOutput(Row::new(stage, variable));
}

#[derive(Serialize)]
struct OptionsInKeys {
    entry: u64,
    bounds_checked: bool,
    primitive_inputs: u64,
    control_point_rows: Option<u32>,
    all_resident: bool,
    samples: Option<u8>,
    samples_constant: Option<u32>,
    dual_source: bool,
    invariant_position: bool,
    interface_16bit: bool,
    waves_without_helpers: bool,
    precise: bool,
    images_without_format: bool,
    native_min_precision: bool,
    constants_as_storage: bool,
    target_swizzles: [[u8; 4]; 8],
    limits: (u32, u64),
}

impl Canonical for OptionsInKeys {
    const NAME: &'static str = "dxil options";
    const SCHEMA: u16 = 5;
}

impl From<&LiftOptions> for OptionsInKeys {
    fn from(options: &LiftOptions) -> OptionsInKeys {
        // A new field has to be considered here.
        let &LiftOptions {
            entry,
            bounds,
            primitive_inputs,
            control_point_rows,
            all_resident,
            samples,
            samples_constant,
            dual_source,
            invariant_position,
            interface_16bit,
            waves_without_helpers,
            precise,
            images_without_format,
            native_min_precision,
            constants_as_storage,
            target_swizzles,
            limits: Limits { memory, instructions },
        } = options;
        OptionsInKeys {
            entry: entry as u64,
            bounds_checked: bounds == Bounds::Checked,
            primitive_inputs,
            control_point_rows,
            all_resident,
            samples,
            samples_constant,
            dual_source,
            invariant_position,
            interface_16bit,
            waves_without_helpers,
            precise,
            images_without_format,
            native_min_precision,
            constants_as_storage,
            target_swizzles,
            limits: (memory, instructions as u64),
        }
    }
}

/// The base key of the translations of a shader in a container or in bitcode.
///
/// # Errors
/// A value that does not serialise; there is none.
pub fn base(bytes: &[u8], options: &LiftOptions, host: &Host, code: &CodeOptions) -> Result<Key, Failure> {
    let mut key = Key::of("dxil");
    key.bytes(bytes).value(&OptionsInKeys::from(options)).map_err(Failure::refused)?;
    add_host(&mut key, host, code)?;
    Ok(key.finish())
}

/// The code of a shader in a container or in bitcode for a host, from the cache if it is bound as it was when that was made.
///
/// # Errors
/// The lifter's and the translator's, remembered or new.
pub fn translate(
    cache: &Cache,
    bytes: &[u8],
    options: &LiftOptions,
    remapper: &dyn Remapper,
    host: &Host,
    code: &CodeOptions,
) -> Found {
    cache.translate(base(bytes, options, host, code)?, &BindingState(remapper), |recorder| {
        ["dxil", "translate", "ir"].into_iter().for_each(|part| recorder.uses(part));
        let shader = load(bytes).map_err(Failure::refused)?;
        let lifted = lift_bound(&shader, options, &Recorded::new(remapper, recorder));
        let mut module = lifted.map_err(Failure::refused)?.module;
        compile(&mut Translator::new(), recorder, &mut module, host, code)
    })
}
