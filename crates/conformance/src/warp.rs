//! Suite of Warp: `vectors/warp/FORMAT.md`.

use crate::limit::{Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request, input};
use xenoglot_warp::golden::{Golden, Scene, SetupCase};
use xenoglot_warp::{Draw, Engine, Frame, Memory, Primitive, clip, reference};

/// Engines of the suite.
pub(crate) const ENGINES: &[&str] = &["cpu", "reference"];

/// First bytes of the forms, as far as they agree.
const MAGIC: &[u8] = b"RW";
/// The original's results that ours must equal: of spans without tiles where tiles lose pixels, else those of its
/// single shader, whose alpha test is ours.
const PATHS: [u32; 2] = [0x800, 0x30f];

/// Suite `warp`.
pub(crate) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let engine = request.engine;
    let files = input::with_magic(&request.path, MAGIC)?;
    let items = files.into_iter().map(|(path, bytes)| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Item::single(name, bytes)
    });
    let work = Work::plain(items.collect(), move |item: &Item<Vec<u8>>, emit| {
        let verdict = match Golden::parse(&item.data) {
            Ok(Golden::Scene(scene)) => frames(&scene, engine),
            Ok(Golden::Setups(cases)) => setups(&cases),
            Err(error) => Verdict::Failed(error.to_string()),
        };
        emit(Case { name: item.names.concat(), verdict });
    });
    work.run(observer)
}

fn frames(scene: &Scene, engine: &str) -> Verdict {
    let fast = Engine::new();
    let mut draw = |frame: &mut Frame, memory: &Memory, draw: &Draw<'_>| match engine {
        "reference" => reference::draw(frame, memory, draw),
        _ => fast.draw(frame, memory, draw),
    };
    let result = match scene.run(&mut draw) {
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
