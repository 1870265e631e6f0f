//! Suite of Warp: `vectors/warp/FORMAT.md`.

#[cfg(feature = "host")]
use crate::limit::Emit;
use crate::limit::{Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request, input};
use xenoglot_warp::golden::{Golden, Scene, SetupCase};
use xenoglot_warp::{Draw, Engine, Frame, Memory, Primitive, clip, reference};

/// Engines of the suite.
pub(crate) const ENGINES: &[&str] = &[
    "cpu",
    "reference",
    #[cfg(feature = "host")]
    "uber",
    #[cfg(feature = "host")]
    "split",
];
/// Pixels along a side of the tiles of engines on the host's GPU.
pub(crate) const TILES: &[u32] = &[8, 16];

/// First bytes of the forms, as far as they agree.
const MAGIC: &[u8] = b"RW";
/// The original's results that ours must equal: of spans without tiles where tiles lose pixels, else those of its
/// single shader, whose alpha test is ours.
const PATHS: [u32; 2] = [0x800, 0x30f];

/// An engine for a scene's draws.
type Drawing<'a> = dyn FnMut(&mut Frame, &Memory, &Draw<'_>) -> Result<(), Failure> + 'a;
type Failure = Box<dyn std::error::Error>;

/// Suite `warp`.
pub(crate) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let files = input::with_magic(&request.path, MAGIC)?;
    let items = files.into_iter().map(|(path, bytes)| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Item::single(name, bytes)
    });
    let items = items.collect();
    #[cfg(feature = "host")]
    if let Some(architecture) = architecture(request.engine) {
        use xenoglot_warp::host::{Options, Renderer};
        let device = crate::host::device(request)?;
        let options = Options::default();
        let options = Options { architecture, tile: request.tile.unwrap_or(options.tile), ..options };
        let start = move || Renderer::new(&device, options).map_err(|e| Error::Device(e.to_string()));
        let judge = |renderer: &mut Renderer, item: &Item<Vec<u8>>, emit: &mut Emit| {
            let verdict =
                judge(&item.data, &mut |frame, memory, draw| Ok(renderer.draw(frame, memory, draw)?));
            emit(Case { name: item.names.concat(), verdict });
        };
        return Work::with(items, start, judge).on_one_thread().run(observer);
    }
    let is_reference = request.engine == "reference";
    let work = Work::plain(items, move |item: &Item<Vec<u8>>, emit| {
        let engine = Engine::new();
        let verdict = judge(&item.data, &mut |frame, memory, draw| {
            if is_reference {
                reference::draw(frame, memory, draw);
            } else {
                engine.draw(frame, memory, draw);
            }
            Ok(())
        });
        emit(Case { name: item.names.concat(), verdict });
    });
    work.run(observer)
}

/// The architecture of an engine on the host's GPU.
#[cfg(feature = "host")]
fn architecture(engine: &str) -> Option<xenoglot_warp::host::Architecture> {
    use xenoglot_warp::host::{Architecture, Compilation};
    match engine {
        "uber" => Some(Architecture::Uber),
        "split" => Some(Architecture::Split(Compilation::Blocking)),
        _ => None,
    }
}

fn judge(bytes: &[u8], engine: &mut Drawing<'_>) -> Verdict {
    match Golden::parse(bytes) {
        Ok(Golden::Scene(scene)) => frames(&scene, engine),
        Ok(Golden::Setups(cases)) => setups(&cases),
        Err(error) => Verdict::Failed(error.to_string()),
    }
}

fn frames(scene: &Scene, engine: &mut Drawing<'_>) -> Verdict {
    let result = match scene.run(engine) {
        Ok(result) => result,
        Err(error) => return Verdict::Failed(error.to_string()),
    };
    let paths = PATHS.into_iter().find(|paths| scene.results.iter().any(|result| result.0 & paths != 0));
    let Some(expected) = scene.expected(paths.unwrap_or(0)) else {
        return Verdict::Failed("the file has no result".into());
    };
    let words = |bytes: &[u8]| bytes.as_chunks::<2>().0.to_vec();
    let (result, expected) = (words(&result), words(expected));
    let mut differing = (0..).zip(result.iter().zip(&expected)).filter(|(_, (a, b))| a != b);
    let first = differing.next();
    let verdict = first.map(|(at, (got, wanted))| {
        let [got, wanted] = [got, wanted].map(|word: &[u8; 2]| u16::from_le_bytes(*word));
        let (count, all) = (1 + differing.count(), expected.len());
        format!("{count} of {all} words differ; word {at} is {got:#06x}, not {wanted:#06x}")
    });
    Verdict::of_differences(verdict.as_slice())
}

fn setups(cases: &[SetupCase]) -> Verdict {
    let bytes = |list: &[Primitive]| list.iter().flat_map(Primitive::to_bytes).collect::<Vec<_>>();
    let failed = (0..).zip(cases).find_map(|(number, case): (usize, _)| {
        let mut out = Vec::new();
        clip::draw(case.vertices, &case.viewport, case.cull, &mut out);
        let differs = bytes(&out) != bytes(&case.expected);
        differs.then(|| format!("input {number}: {} primitives, {} expected", out.len(), case.expected.len()))
    });
    Verdict::of_differences(failed.as_slice())
}
