//! What is refused, and how it is named.

mod corpus;

use corpus::own;
use xenoglot_dxil::bitcode::{Limits, read};
use xenoglot_dxil::container::bitcode;
use xenoglot_dxil::lift::{LiftError, LiftOptions, lift};
use xenoglot_dxil::program::{Program, Vendor};

fn refusal(name: &str) -> LiftError {
    let bytes = own(name);
    let module = read(bitcode(&bytes).unwrap().bytes, &Limits::default()).unwrap();
    lift(&module, &LiftOptions::default()).expect_err(name)
}

#[test]
fn intrinsics_of_vendors_libraries_are_refused_by_name() {
    let error = refusal("nvapi_refused");
    let text = "NvGetShadingRate of NVIDIA's NVAPI is not supported";
    assert!(error.to_string().ends_with(text), "{error}");
    let LiftError::Vendor { library, intrinsic, .. } = error else { panic!("{error}") };
    assert_eq!((library, intrinsic.as_str()), (Vendor::Nvapi, "NvGetShadingRate"));
}

#[test]
fn vendors_uavs_are_told_from_buffers() {
    for (name, uavs) in [("nvapi", [None, Some(Vendor::Nvapi)]), ("ags", [None, Some(Vendor::Ags)])] {
        let bytes = own(name);
        let module = read(bitcode(&bytes).unwrap().bytes, &Limits::default()).unwrap();
        let mut found: Vec<_> =
            Program::of(&module).unwrap().resources.iter().map(|r| (r.space, r.vendor)).collect();
        found.sort_by_key(|&(space, _)| space);
        assert_eq!(found.iter().map(|&(_, vendor)| vendor).collect::<Vec<_>>(), uavs, "{name}");
    }
}

#[test]
fn choices_between_handles_are_refused_where_they_are_made() {
    let error = refusal("handle_choice");
    let LiftError::Unsupported { text, why, .. } = &error else { panic!("{error}") };
    assert_eq!((text.as_str(), *why), ("phi", "a choice between handles"));
}

#[test]
fn intrinsics_that_vulkan_has_are_lifted() {
    for (name, op) in
        [("ags", "sg.id"), ("nvapi", "sg.id"), ("nvapi66", "sg.id"), ("nvapi_clock", "device_clock")]
    {
        let bytes = own(name);
        let module = read(bitcode(&bytes).unwrap().bytes, &Limits::default()).unwrap();
        let lifted = lift(&module, &LiftOptions::default()).unwrap().module;
        assert!(lifted.to_string().contains(op), "{lifted}");
        // The UAV that they are accesses to is no resource.
        assert_eq!(lifted.resources.len(), 1, "{lifted}");
    }
}
