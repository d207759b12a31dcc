//! Circles in a graph: its strongly connected parts of more than one.

use std::collections::{BTreeMap, BTreeSet};

/// What points at what.
pub(crate) type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// All circles, each with all that is in it.
pub(crate) fn circles<'a>(graph: &Graph<'a>) -> Vec<BTreeSet<&'a str>> {
    let reach: BTreeMap<_, _> = graph.keys().map(|from| (*from, reached(graph, from))).collect();
    let mut found: Vec<BTreeSet<&str>> = Vec::new();
    for (from, targets) in &reach {
        let is_both_ways = |to: &&&str| reach.get(**to).is_some_and(|back| back.contains(from));
        let mut circle: BTreeSet<_> = targets.iter().filter(is_both_ways).copied().collect();
        circle.insert(*from);
        if circle.len() > 1 && !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

fn reached<'a>(graph: &Graph<'a>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<_> = graph.get(from).into_iter().flatten().copied().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(graph.get(next).into_iter().flatten());
        }
    }
    reached
}
