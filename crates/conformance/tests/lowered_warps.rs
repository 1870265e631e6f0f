//! Kernels whose lanes talk to each other on a device with subgroups of another width: what the interpreter says.

use std::path::PathBuf;
use xenoglot::{Code, Target, Translator};
use xenoglot_conformance::{Request, vulkan};
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::{Module, Resource};
use xenoglot_opt::Options;
use xenoglot_testgen::property;
use xenoglot_testgen::skip::skip;
use xenoglot_testgen::warps::{WARP, WORDS, kernel};
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand, serve_if_worker};
use xenoglot_vulkan::{ComputeJob, Job, spread};

/// Not a test: what the other starts as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

fn interpret(m: &Module, lanes: u32) -> Option<Vec<u32>> {
    let mut bindings = Bindings::new(m);
    bindings.set_words(Resource::new(0), &vec![0; (WORDS * lanes) as usize]);
    let mut interpreter = Interpreter::new(m).unwrap();
    interpreter.set_subgroup_width(WARP);
    // Lanes that ended are missed at a barrier: no program of the machine does that.
    interpreter.dispatch([1; 3], &mut bindings, &Limits::default()).ok()?;
    Some(bindings.words(Resource::new(0)))
}

#[test]
fn lanes_hear_what_the_interpreter_says() {
    let worker = WorkerCommand::this_test("vulkan_worker").unwrap();
    let request =
        Request { path: PathBuf::new(), engine: "spirv", device: None, worker: Some(worker.clone()) };
    let width = match vulkan::device(&request) {
        Ok(info) => u8::try_from(info.limits.subgroup_size).unwrap_or(0),
        Err(e) => return skip(&e.to_string()),
    };
    let start =
        || Ok::<_, ()>((Isolated::new(worker.clone(), IsolatedOptions::default()), Translator::new()));
    let seeds: Vec<u64> = property::seeds(40).collect();
    let compared = spread(&seeds, start, |(device, translator), &seed| {
        let lanes = [32, 64, 40, 96][seed as usize % 4];
        let mut m = kernel(seed, lanes, seed % 2 == 1);
        let Some(want) = interpret(&m, lanes) else { return false };
        translator.optimize(&mut m, &Options { subgroup_width: width, ..Options::default() });
        let spirv = xenoglot_spirv::Options { subgroup_width: width, ..Default::default() };
        let Code::Words(words) = translator.emit(&m, &Target::Spirv(spirv)).unwrap() else { unreachable!() };
        let buffers = [(0, vec![0; (WORDS * lanes) as usize])];
        let outputs = device.run(&Job::Compute(ComputeJob::on_words(words, &buffers, 1))).unwrap();
        assert_eq!(outputs[0].words()[0], want, "seed {seed}");
        true
    });
    let compared = compared.unwrap().into_iter().filter(|&compared| compared).count();
    println!("{compared} kernels");
    assert!(compared > 25);
}
