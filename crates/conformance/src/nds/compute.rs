//! The suite of scenes on the host's GPU.

use super::{Loaded, load};
use crate::host::device;
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request};
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::play::play;
use xenoglot_nds::raster::SlopeGaps;
use xenoglot_nds::raster::compute::{ComputeRenderer, Options};

/// Plays a scene and compares all it expects with the last frame as the host's GPU draws it.
pub fn judge(loaded: &Loaded, renderer: &mut ComputeRenderer) -> Verdict {
    let gpu = match play(&loaded.scene, loaded.image(), Gpu::default()) {
        Ok(played) => played,
        Err(error) => return Verdict::Failed(error.to_string()),
    };
    renderer.set_options(Options { gaps: SlopeGaps::Continuous, ..Options::default() });
    if let Err(error) = renderer.draw(gpu.gpu.polygons(), gpu.gpu.registers(), &gpu.gpu.memory) {
        return Verdict::Failed(error.to_string());
    }
    Verdict::of_differences(&gpu.differences_of(renderer, &loaded.scene))
}

/// Every scene on the device of the request.
pub(super) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let scenes = load(&request.path)?;
    observer.total(scenes.len());
    let device = device(request)?;
    let mut renderer =
        ComputeRenderer::new(&device, Options::default()).map_err(|e| Error::Device(e.to_string()))?;
    let mut case = |loaded: &Loaded| {
        let case = Case { name: loaded.name.clone(), verdict: judge(loaded, &mut renderer) };
        observer.case(&case);
        case
    };
    let cases: Vec<Case> = scenes.iter().map(&mut case).collect();
    Ok(Summary::of(&cases))
}
