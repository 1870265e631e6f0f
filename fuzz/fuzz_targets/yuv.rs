#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| xenoglot_fuzzing::yuv(data));
