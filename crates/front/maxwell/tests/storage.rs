//! Global accesses that become those of storage buffers.

mod common;

use common::{code, set};
use xenoglot_interp::{Bindings, Interpreter};
use xenoglot_maxwell::decode;
use xenoglot_maxwell::gpu::ConstantWord;
use xenoglot_maxwell::info::StorageBinding;
use xenoglot_maxwell::lift::layout::{GLOBAL_BINDING, STORAGE_BINDING, bank_binding};
use xenoglot_maxwell::lift::{Kernel, LiftOptions, Lifted, bind_storage, lift_compute};

/// Lifts words, which have to be the texts given, and binds what can be.
fn bound(program: &[(u64, &str)], alignment: u32) -> Lifted {
    for (word, text) in program {
        assert_eq!(decode(8, *word).map(|i| i.to_string()).as_deref(), Ok(*text));
    }
    let words: Vec<u64> = [set(0, 8)].into_iter().chain(program.iter().map(|p| p.0)).collect();
    let kernel = Kernel {
        code: &code(&words),
        entry: 0,
        workgroup: [1, 1, 1],
        shared_bytes: 0,
        local_bytes: 0,
        constants: &[],
        functions: &[],
    };
    let options = LiftOptions::default();
    let mut lifted = lift_compute(&kernel, &options).unwrap();
    let mut context = xenoglot_opt::Context::new();
    for func in lifted.module.funcs.keys() {
        context.session(&mut lifted.module, func).run(xenoglot_opt::promote::run);
    }
    bind_storage(&mut lifted, &options, alignment);
    xenoglot_ir::verify(&lifted.module).unwrap_or_else(|e| panic!("{e}\n{}", lifted.module));
    lifted
}

/// Copies a word, eight bytes from the addresses in banks' words 0x140 and 0x148.
const COPY: [(u64, &str); 6] = [
    (0x4c10_8000_0507_0002, "IADD R2.CC, R0, c[0x0][0x140]"),
    (0x4c10_0800_0517_ff03, "IADD.X R3, RZ, c[0x0][0x144]"),
    (0xeed4_2000_0007_0206, "LDG.E R6, [R2]"),
    (0x4c10_8000_0527_0004, "IADD R4.CC, R0, c[0x0][0x148]"),
    (0x4c10_0800_0537_ff05, "IADD.X R5, RZ, c[0x0][0x14c]"),
    (0xeedc_2000_0007_0406, "STG.E [R4], R6"),
];

#[test]
fn accesses_are_of_the_buffer_whose_address_they_add_to() {
    for alignment in [1, 0x100] {
        let Lifted { module, info } = bound(&COPY, alignment);
        let binding = |offset, n, written| StorageBinding {
            address: ConstantWord { bank: 0, offset },
            binding: STORAGE_BINDING + n,
            written,
        };
        assert_eq!(info.storage_buffers, [binding(0x140, 0, false), binding(0x148, 1, true)]);
        assert!(!info.reads_global && !info.writes_global);

        // Addresses above 4 GiB, sixteen bytes behind what the host aligns to.
        let addresses = [0x1010, 7, 0x2010, 9];
        let skipped = if alignment == 1 { 0 } else { 4 };
        let mut bindings = Bindings::new(&module);
        let mut written = None;
        for (resource, data) in module.resources.iter() {
            let words: Vec<u32> = match data.binding {
                GLOBAL_BINDING => continue,
                n if n == bank_binding(0) => [vec![0; 0x50], addresses.to_vec()].concat(),
                STORAGE_BINDING => (100..200).collect(),
                _ => {
                    written = Some(resource);
                    vec![0; 64]
                }
            };
            bindings.set_words(resource, &words);
        }
        let mut interpreter = Interpreter::new(&module).unwrap();
        interpreter.dispatch([1, 1, 1], &mut bindings, &Default::default()).unwrap();
        let mut expected = vec![0; 64];
        expected[skipped + 2] = 100 + skipped as u32 + 2;
        assert_eq!(bindings.words(written.unwrap()), expected);
    }
}

/// Which of two addresses it is that is added to, nobody knows.
#[test]
fn sums_of_two_addresses_stay_global() {
    let program = [
        COPY[0],
        COPY[1],
        (0x4c10_8000_0527_0202, "IADD R2.CC, R2, c[0x0][0x148]"),
        (0x4c10_0800_0537_0303, "IADD.X R3, R3, c[0x0][0x14c]"),
        COPY[2],
    ];
    let info = bound(&program, 1).info;
    assert!(info.storage_buffers.is_empty() && info.reads_global && !info.writes_global);
}
