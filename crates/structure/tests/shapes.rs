//! What common shapes become, in the text form: to be read, and to notice when it changes.

mod common;

use common::{graph, structured};
use xenoglot_ir::Block;
use xenoglot_structure::{Options, structure_graph};

#[track_caller]
fn becomes(succs: &[&[u32]], want: &str) {
    let succs = succs.iter().map(|out| out.to_vec()).collect();
    let tree = structured(&graph(&succs), Options::DEPTH_LIMIT);
    assert_eq!(text(&tree.to_string()), text(want), "\n{tree}");
}

/// One line, single blanks.
fn text(s: &str) -> String {
    s.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn if_and_else_meet_again_without_a_selector() {
    becomes(
        &[&[1, 2], &[3], &[3], &[]],
        "block0
         branch block0 {
           0: edge block0.0  block1  edge block1.0
           1: edge block0.1  block2  edge block2.0
         }
         block3 terminate block3",
    );
}

#[test]
fn a_branch_with_both_arms_to_one_block_keeps_both_edges() {
    becomes(
        &[&[1, 1], &[]],
        "block0 branch block0 { 0: edge block0.0  1: edge block0.1 } block1 terminate block1",
    );
}

#[test]
fn what_follows_an_early_return_is_not_nested() {
    becomes(
        &[&[1, 2], &[], &[3, 4], &[], &[]],
        "block0
         branch block0 { 0: edge block0.0  block1 terminate block1  1: }
         edge block0.1
         block2
         branch block2 { 0: edge block2.0  block3 terminate block3  1: }
         edge block2.1
         block4 terminate block4",
    );
}

#[test]
fn exits_of_a_loop_to_one_block_need_no_selector() {
    becomes(
        &[&[1], &[2, 4], &[3, 4], &[1], &[]],
        "block0 edge block0.0
         loop block1 {
           block1
           branch block1 { 0:  1: edge block1.1 break }
           edge block1.0
           block2
           branch block2 { 0:  1: edge block2.1 break }
           edge block2.0
           block3 edge block3.0 continue
         }
         block4 terminate block4",
    );
}

/// The code of each exit stands after the loop, where the lanes that left it have come together.
#[test]
fn exits_of_a_loop_to_different_blocks_switch_after_it() {
    becomes(
        &[&[1], &[2, 3], &[1, 4], &[5], &[5], &[]],
        "block0 edge block0.0
         loop block1 {
           block1
           branch block1 { 0:  1: edge block1.1 exit = 3 break }
           edge block1.0
           block2
           branch block2 { 0: edge block2.0 continue  1: }
           edge block2.1 exit = 4 break
         }
         switch exit {
           3: block3 edge block3.0
           4: block4 edge block4.0
         }
         block5 terminate block5",
    );
}

#[test]
fn a_jump_into_the_other_arm_is_a_guard() {
    becomes(
        &[&[1, 2], &[3, 4], &[3, 4], &[4], &[]],
        "block0
         branch block0 {
           0: edge block0.0 block1
              branch block1 { 0: edge block1.0 exit = 3  1: edge block1.1 exit = 4 }
           1: edge block0.1 block2
              branch block2 { 0: edge block2.0 exit = 3  1: edge block2.1 exit = 4 }
         }
         if exit == 3 { block3 edge block3.0 }
         block4 terminate block4",
    );
}

#[test]
fn a_loop_with_two_entries_gets_a_dispatch() {
    becomes(
        &[&[1, 2], &[2], &[1, 3], &[]],
        "block0
         branch block0 { 0: edge block0.0 route = 1  1: edge block0.1 route = 2 }
         loop {
           switch route {
             1: block1 edge block1.0 route = 2 continue
             2:
           }
           block2
           branch block2 { 0: edge block2.0 route = 1 continue  1: }
           edge block2.1 break
         }
         block3 terminate block3",
    );
}

#[test]
fn an_endless_loop_is_followed_by_nothing() {
    becomes(&[&[1], &[1]], "block0 edge block0.0 loop block1 { block1 edge block1.0 continue } unreachable");
}

/// Block 3 does something convergent on its way out of the loop.
#[test]
fn a_pinned_block_stays_in_its_loop() {
    let succs = vec![vec![1], vec![2, 3], vec![1, 4], vec![4], vec![]];
    let b = Block::from_u32;
    let tree = structure_graph(&graph(&succs), &Options { pins: &[(b(3), b(2))], ..Options::default() });
    let want = "block0 edge block0.0
         loop block1 {
           block1
           branch block1 { 0: 1: edge block1.1 block3 edge block3.0 break }
           edge block1.0
           block2
           branch block2 { 0: edge block2.0 continue  1: }
           edge block2.1 break
         }
         block4 terminate block4";
    assert_eq!(text(&tree.to_string()), text(want), "\n{tree}");
    assert_eq!(tree.stats().pinned, 1);
}

/// Block 4 is also reached from outside the loop, so it cannot be inside.
#[test]
fn a_pin_that_would_make_a_second_entry_has_no_effect() {
    let succs = graph(&vec![vec![1, 4], vec![2, 4], vec![1], vec![], vec![]]);
    let b = Block::from_u32;
    let pinned = structure_graph(&succs, &Options { pins: &[(b(4), b(1))], ..Options::default() });
    assert_eq!(pinned.stats().pinned, 0);
    assert_eq!(pinned.to_string(), structured(&succs, 48).to_string());
}
