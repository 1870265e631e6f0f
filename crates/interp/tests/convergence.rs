//! Lanes that part and meet again on arbitrary graphs, and what they compute meanwhile.

mod common;

use common::group::{HOST, LIMITS, here, subgroup};
use common::{STEPS, walker};
use std::collections::{BTreeMap, BTreeSet};
use xenoglot_interp::{Bindings, Interpreter};
use xenoglot_ir::{Builder, Op, Resource, Type};
use xenoglot_testgen::cfg::{self, Succs};
use xenoglot_testgen::ir;
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;

/// What one lane visits by the oracle.
fn alone(succs: &Succs, oracle: &[u32]) -> Vec<u32> {
    let mut node = 0;
    let mut visits = Vec::new();
    for &word in oracle {
        visits.push(node);
        let to = &succs[node as usize];
        if to.is_empty() {
            break;
        }
        let way = word % to.len() as u32;
        // Case k is the k+1st successor, the default the first.
        node = to[if way as usize + 1 < to.len() { way as usize + 1 } else { 0 }];
    }
    visits
}

const LANES: u32 = 8;

/// Runs random graphs with a ballot in each block; gives per graph each lane's blocks and ballots.
fn random_walks(rng: &mut Rng, succs: &Succs) -> Vec<Vec<(u32, u32)>> {
    let words: Vec<u32> = (0..LANES * STEPS).map(|_| rng.next_u32()).collect();
    let (m, oracle, visits) = walker(succs, LANES, |b, node| {
        let mask = here(b);
        let (sixteen, node) = (b.i32(16), b.i32(node + 1));
        let high = b.op(Op::Shl, &[node, sixteen]);
        b.op(Op::Or, &[high, mask])
    });
    let mut interp = Interpreter::new(&m).unwrap();
    interp.set_subgroup_width(LANES as u8);
    let mut bind = Bindings::new(&m);
    bind.set_words(oracle, &words);
    bind.set_words(visits, &vec![0; words.len()]);
    interp.dispatch([1; 3], &mut bind, &LIMITS).unwrap();
    let got = bind.words(visits);
    (0..LANES as usize)
        .map(|lane| {
            let mine = lane * STEPS as usize..(lane + 1) * STEPS as usize;
            let walk: Vec<(u32, u32)> = got[mine.clone()]
                .iter()
                .take_while(|&&w| w != 0)
                .map(|&w| ((w >> 16) - 1, w & 0xffff))
                .collect();
            let blocks: Vec<u32> = walk.iter().map(|v| v.0).collect();
            assert_eq!(blocks, alone(succs, &words[mine]), "lane {lane}");
            walk
        })
        .collect()
}

/// The oracle: in a graph without cycles each block has one meeting, of all who ever come by.
#[test]
fn without_cycles_all_who_reach_a_block_execute_it_together() {
    let mut rng = property::rng(1);
    let mut parted = 0;
    for _ in 0..200 {
        let mut succs = cfg::random(&mut rng, 24);
        for (node, to) in (0..).zip(&mut succs) {
            to.retain(|&t| t > node);
        }
        let walks = random_walks(&mut rng, &succs);
        let mut who = BTreeMap::new();
        for (lane, walk) in walks.iter().enumerate() {
            walk.iter().for_each(|&(node, _)| *who.entry(node).or_insert(0u32) |= 1 << lane);
        }
        parted += who.values().filter(|&&mask| mask != 0xff).count();
        for walk in &walks {
            walk.iter().for_each(|&(node, mask)| assert_eq!(mask, who[&node], "{succs:?}"));
        }
    }
    println!("{parted} blocks were executed by a part of the lanes");
    assert!(parted > 100);
}

/// Any graph: nobody's way depends on the others, and ballots are consistent: the lanes of a ballot saw the same one.
#[test]
fn everyone_goes_their_own_way_and_ballots_agree() {
    let mut rng = property::rng(2);
    let (mut together, mut all) = (0, 0);
    for _ in 0..300 {
        let succs = cfg::random(&mut rng, 24);
        let walks = random_walks(&mut rng, &succs);
        let mut seen = BTreeMap::new();
        for (lane, walk) in walks.iter().enumerate() {
            for &(node, mask) in walk {
                assert!(mask >> lane & 1 == 1);
                *seen.entry((lane, node, mask)).or_insert(0u32) += 1;
                all += 1;
                together += u32::from(mask.count_ones() > 1);
            }
        }
        for (&(lane, node, mask), count) in &seen {
            for other in (0..LANES as usize).filter(|o| mask >> o & 1 == 1) {
                assert_eq!(seen.get(&(other, node, mask)), Some(count), "lane {lane} {succs:?}");
            }
        }
    }
    println!("{together} of {all} visits with company");
    assert!(together * 4 > all);
}

/// In single-entry loops, lanes meet again at the header in each iteration, even where they took different ways.
#[test]
fn iterations_begin_together() {
    // 1 is the header; 2 and 3 are ways through the body of different lengths, 3 also by `continue`.
    let succs: Succs = vec![vec![1], vec![2, 3, 5], vec![4], vec![1], vec![1], vec![]];
    let mut rng = property::rng(3);
    for _ in 0..20 {
        let walks = random_walks(&mut rng, &succs);
        // The k-th visit of the header is shared by all who have a k-th visit.
        let heads: Vec<Vec<u32>> =
            walks.iter().map(|walk| walk.iter().filter(|v| v.0 == 1).map(|v| v.1).collect()).collect();
        for (lane, masks) in heads.iter().enumerate() {
            for (k, &mask) in masks.iter().enumerate() {
                let want = (0..).zip(&heads).fold(0, |m, (l, h)| m | u32::from(h.len() > k) << l);
                assert_eq!(mask, want, "lane {lane} visit {k}");
            }
        }
        let exits: BTreeSet<u32> =
            walks.iter().filter_map(|w| w.last().filter(|v| v.0 == 5)).map(|v| v.1).collect();
        assert!(exits.len() <= 1, "all leave together");
    }
}

/// Running in lock step, in subgroups of any width, changes nothing for those who do nothing together.
#[test]
fn lock_step_does_not_change_results() {
    let options = ir::Options { invocations: 5, ..ir::Options::default() };
    let (mut insts, count) = (0, 100);
    for seed in property::seeds(count) {
        let alone = ir::generate(seed, &options);
        let mut together = alone.clone();
        for f in together.funcs.values_mut() {
            let start = f.layout[0];
            subgroup(&mut Builder::new(f, start), Op::SgSize, HOST, &[], Type::I32);
        }
        let results = [(&alone, 1), (&together, 1), (&together, 4), (&together, 64)].map(|(m, width)| {
            let mut interp = Interpreter::new(m).unwrap();
            interp.set_subgroup_width(width);
            let mut bind = Bindings::new(m);
            let [input, output] = [ir::INPUT, ir::OUTPUT].map(Resource::from_u32);
            bind.set_words(input, &ir::inputs(seed, &options));
            bind.set_words(output, &vec![0; ir::output_words(&options)]);
            let out = interp.dispatch([1; 3], &mut bind, &LIMITS).unwrap();
            insts += out.stats.insts;
            bind.words(output)
        });
        assert!(results.iter().all(|r| *r == results[0]), "seed {seed}");
    }
    println!("{count} programs four ways, {insts} instructions");
}

#[test]
fn deep_nests_cost_little_and_still_run() {
    let succs = cfg::nested_loops(300);
    let walks = random_walks(&mut Rng::new(4), &succs);
    assert_eq!(walks.len(), LANES as usize);
}
