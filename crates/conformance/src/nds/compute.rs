//! The suite of scenes on the host's GPU.

use super::{Loaded, items};
use crate::host::device;
use crate::limit::{Emit, Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request};
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::play::play;
use xenoglot_nds::raster;
use xenoglot_nds::raster::compute::{ComputeRenderer, Options};

/// Plays a scene and compares all it expects with the last frame as the host's GPU draws it.
pub fn judge(loaded: &Loaded, renderer: &mut ComputeRenderer) -> Verdict {
    let rules = loaded.scene.profile().rules();
    let start = Gpu::new(raster::Options { rules, ..raster::Options::default() });
    let gpu = match play(&loaded.scene, loaded.image(), start) {
        Ok(played) => played,
        Err(error) => return Verdict::Failed(error.to_string()),
    };
    renderer.set_options(Options { rules, ..Options::default() });
    if let Err(error) = renderer.draw(gpu.gpu.polygons(), gpu.gpu.registers(), &gpu.gpu.memory) {
        return Verdict::Failed(error.to_string());
    }
    Verdict::of_differences(&gpu.differences_of(renderer, &loaded.scene))
}

/// Every scene on the device of the request.
pub(super) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let device = device(request)?;
    let start =
        move || ComputeRenderer::new(&device, Options::default()).map_err(|e| Error::Device(e.to_string()));
    let judge = |renderer: &mut ComputeRenderer, item: &Item<Loaded>, emit: &mut Emit| {
        emit(Case { name: item.data.name.clone(), verdict: judge(&item.data, renderer) });
    };
    Work::with(items(request)?, start, judge).on_one_thread().run(observer)
}
