//! Switches of more cases than an `OpSwitch` may have: 16,383.

mod common;

use common::{device, emit_valid, run};
use std::fmt::Write;
use xenoglot_ir::{Module, text, verify};
use xenoglot_spirv::{Error, Options, emit};
use xenoglot_vulkan::isolated::serve_if_worker;

/// Not a test: what the others start as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

/// The most cases of an `OpSwitch`.
const MOST: u64 = 16_383;

/// A compute shader that switches over word `id` of buffer 0, of `cases` cases that are odd numbers, and stores what it finds
/// in buffer 1: the case and 5 more in those that `stores` takes, nothing in the others, and 7 for all other words. With
/// `phi` it stores behind the switch, in the others 3.
fn switch(ty: &str, cases: u64, stores: impl Fn(u64) -> bool, phi: bool) -> Module {
    let value = |n: u64| 2 * n + 1;
    let with = |v: &str| if phi { format!("({v})") } else { String::new() };
    let store = |v: &str| match phi {
        true => format!("jump block2({v})"),
        false => format!("store storage @found align 4, v7, {v}\n jump block2"),
    };
    let of_case = |n: u64| match stores(n) {
        true => format!("block{}", n + 3),
        false => format!("block2{}", with("v3")),
    };
    let list: Vec<String> = (0..cases).map(|n| format!("{}: {}", value(n), of_case(n))).collect();
    let mut bodies = String::new();
    for n in (0..cases).filter(|&n| stores(n)) {
        let v = format!("v{}", 100 + n);
        let _ = write!(bodies, "block{}:\n {v} : i32 = const {}\n {}\n", n + 3, value(n) + 5, store(&v));
    }
    let widened = if ty == "i64" { "zext v2" } else { "freeze v2" };
    let (param, last) = if phi { ("(v8 : i32)", "store storage @found align 4, v7, v8") } else { ("", "") };
    let source = format!(
        "module compute \"switch\" {{
           workgroup 64 1 1
           input %id = builtin global_invocation_id : i32x3 flat
           storage @words = set 0 binding 0 readwrite oob undefined
           storage @found = set 0 binding 1 readwrite oob undefined
           entry func @main() {{
           block0:
             v0 : i32x3 = input %id
             v1 : i32 = extract 0, v0
             v6 : i32 = const 2
             v7 : i32 = shl v1, v6
             v2 : i32 = load storage @words align 4, v7
             v3 : i32 = const 3
             v4 : i32 = const 7
             v5 : {ty} = {widened}
             switch v5, [{}], block1
           block1:
             {}
           {bodies}
           block2{param}:
             {last}
             return
           }}
         }}",
        list.join(", "),
        store("v4")
    );
    let limits = text::Limits::default();
    let module = text::parse(&source, &limits).unwrap_or_else(|e| panic!("{e}"));
    verify(&module).unwrap();
    module
}

/// Cases of each `OpSwitch`.
fn switches(words: &[u32], literal: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 5;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        if words[at] & 0xffff == spirv::Op::Switch as u32 {
            found.push((length - 3) / (literal + 1));
        }
        at += length;
    }
    found
}

#[test]
fn switches_of_more_cases_than_the_limit_are_split() {
    let split = |ty: &str, literal: usize, cases: u64| {
        let module = switch(ty, cases, |n| n % 1000 < 10, true);
        switches(&emit_valid(&module, &Options::default()), literal)
    };
    let most = MOST as usize;
    assert_eq!(split("i32", 1, MOST), [most]);
    assert_eq!(split("i32", 1, MOST + 1), [most, 1]);
    assert_eq!(split("i32", 1, 40_000), [most, most, 40_000 - 2 * most]);
    assert_eq!(split("i64", 2, 20_000), [most, 20_000 - most]);
}

#[test]
fn a_switch_that_would_nest_too_deeply_is_refused() {
    let module = switch("i32", 17 * MOST, |_| false, true);
    let error = emit(&module, &Options::default());
    assert!(matches!(error, Err(Error::Unsupported { .. })), "{error:?}");
}

#[test]
fn split_switches_choose_their_case() {
    let Some(mut device) = device() else { return };
    let cases = MOST + 20;
    // Few cases have blocks of their own, so that drivers are soon done with it.
    let stores = |n: u64| n < 4 || (MOST - 4..MOST + 4).contains(&n) || n + 4 >= cases;
    let module = switch("i32", cases, stores, false);
    let spirv = emit_valid(&module, &Options::default());
    let mut input: Vec<u64> = vec![0, 1, 2, 3, 5, 7, 8, 9, 2 * cases + 1, 2 * cases + 3, u32::MAX.into()];
    input.extend((2 * MOST - 10)..(2 * MOST + 20));
    input.extend(2 * cases - 10..2 * cases);
    input.resize(64, 11);
    let words: Vec<u32> = input.iter().map(|&n| n as u32).collect();
    let want: Vec<u32> = input
        .iter()
        .map(|&word| match (word % 2 == 1).then_some(word / 2).filter(|&n| n < cases) {
            Some(n) if stores(n) => word as u32 + 5,
            Some(_) => 0,
            None => 7,
        })
        .collect();
    let after = run(&mut device, spirv, &[(0, words), (1, vec![0; 64])], 1);
    assert_eq!(after[1], want);
}
