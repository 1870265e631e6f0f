//! Suite `picagpu` on the renderer of the host's GPU: exactly where programs reach the driver as they are. Where naga
//! translates them, products and sums may be fused: colours are near there ([`compare::judge_near`]).

use super::compare;
use super::format::Scene;
use super::{items, run};
use crate::host::device;
use crate::limit::{Emit, Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request};
use std::sync::Arc;
use xenoglot_host::Compilation;
use xenoglot_pica::host::{HostRenderer, Programs};
use xenoglot_pica::shader::Engines;

/// Every scene on the device of the request.
pub(super) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let device = device(request)?;
    let judge = if device.is_native() { compare::judge } else { compare::judge_near };
    let programs = Arc::new(Programs::new(&device, Compilation::Blocking));
    let work = move |item: &Item<Scene>, emit: &mut Emit| {
        let scene = &item.data;
        let verdict: Verdict = match HostRenderer::new(Arc::clone(&programs)) {
            Ok(renderer) => run(scene, renderer, Engines::default(), |got| judge(scene, got)),
            Err(error) => Verdict::Failed(error.to_string()),
        };
        emit(Case { name: scene.name.clone(), verdict });
    };
    Work::plain(items(request)?, work).run(observer)
}
