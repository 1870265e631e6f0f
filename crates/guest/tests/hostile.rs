//! Any code, any calls: a guest ends, or its fuel does, and a second run is the same.

#![cfg(target_os = "linux")]

mod common;

use common::run;
use proptest::prelude::*;
use xenoglot_guest::linux::Config;
use xenoglot_mips::Endian;
use xenoglot_testgen::mips::{elf, i, sequences};
use xenoglot_testgen::rng::Rng;

fn ends_the_same(endian: Endian, code: &[u32]) {
    let once = || {
        let config =
            Config { memory: 1 << 20, stack: 1 << 16, processes: 4, seed: Some(1), ..Config::default() };
        let ran = run(config, elf(endian, code, 0x1_0000), &[], "", 20_000);
        let deaths: Vec<String> = ran.deaths.iter().map(ToString::to_string).collect();
        (ran.end, ran.instructions, ran.stdout, deaths)
    };
    assert_eq!(once(), once());
}

fn endian() -> impl Strategy<Value = Endian> {
    prop_oneof![Just(Endian::Big), Just(Endian::Little)]
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(100))]

    #[test]
    fn any_words(endian in endian(), code in prop::collection::vec(any::<u32>(), 0..64)) {
        ends_the_same(endian, &code);
    }

    #[test]
    fn sequences_with_changed_words(endian in endian(), seed: u64, changes in prop::collection::vec(any::<(prop::sample::Index, u32)>(), 0..8)) {
        let mut code = sequences(&mut Rng::new(seed), 1, 30).code;
        for (at, bits) in changes {
            let at = at.index(code.len());
            code[at] ^= 1 << (bits & 31);
        }
        ends_the_same(endian, &code);
    }

    #[test]
    fn calls_with_any_arguments(
        endian in endian(),
        calls in prop::collection::vec((4000..4450u32, any::<[u32; 6]>(), any::<u8>()), 1..12),
    ) {
        let mut code = vec![i::addiu(29, 29, -64)];
        for (number, arguments, kinds) in calls {
            for (n, argument) in arguments.into_iter().enumerate() {
                // Numbers that are small, addresses of data, and any.
                let value = match kinds >> n & 3 {
                    0 => argument & 31,
                    1 => 0x1000_0000 + (argument & 0xfffc),
                    2 => 0x1000_ffff - (argument & 7),
                    _ => argument,
                };
                code.extend([i::lui(8, (value >> 16) as i32), i::ori(8, 8, value as i32 & 0xffff)]);
                code.push(if n < 4 { i::addu(4 + n as u32, 8, 0) } else { i::sw(8, 29, 4 * n as i32) });
            }
            code.extend([i::addiu(2, 0, number as i32), i::SYSCALL]);
        }
        ends_the_same(endian, &code);
    }
}
