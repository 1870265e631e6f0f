//! Kernels whose lanes talk to each other on a device with subgroups of another width: what the interpreter says.

use xenoglot::host::Subgroups;
use xenoglot::{Code, Host, Options, Translator};
use xenoglot_conformance::{Request, vulkan};
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::{Module, Resource};
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
    let request = Request::new("", "spirv").with_worker(worker.clone());
    let host = match vulkan::device(&request) {
        Ok(info) => Host::of_vulkan(&info),
        Err(e) => return skip(&e.to_string()),
    };
    if host.subgroups == Subgroups::exactly(WARP) {
        return skip("the device's subgroups are as wide as warps: nothing is lowered");
    }
    let start =
        || Ok::<_, ()>((Isolated::new(worker.clone(), IsolatedOptions::default()), Translator::new()));
    let seeds: Vec<u64> = property::seeds(40).collect();
    let compared = spread(&seeds, start, |(device, translator), &seed| {
        let lanes = [32, 64, 40, 96][seed as usize % 4];
        let mut m = kernel(seed, lanes, seed % 2 == 1);
        let Some(want) = interpret(&m, lanes) else { return false };
        let code = translator.compile(&mut m, &host, &Options::default()).unwrap();
        let Code::Words(words) = code else { unreachable!() };
        let buffers = [(0, vec![0; (WORDS * lanes) as usize])];
        let outputs = device.run(&Job::Compute(ComputeJob::on_words(words, &buffers, 1))).unwrap();
        assert_eq!(outputs[0].words()[0], want, "seed {seed}");
        true
    });
    let compared = compared.unwrap().into_iter().filter(|&compared| compared).count();
    println!("{compared} kernels");
    assert!(compared > 25);
}
