#![no_main]

// Panics of the database are caught, and count as damage: they must not end the process as libFuzzer has them do.
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| ())),
    |data: &[u8]| xenoglot_fuzzing::cache_store(data)
);
