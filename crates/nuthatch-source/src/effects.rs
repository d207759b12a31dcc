//! What can be reached from a table over triggers, cascades and views.

use std::collections::HashSet;

/// What one table may have reached; beyond it, everything is.
pub(crate) const REACHED_MAX: usize = 256;

/// The indices that can be reached from `start` over `next`, `start` first, each once; `None` for more than [`REACHED_MAX`].
pub(crate) fn reach<'n>(start: usize, next: impl Fn(usize) -> &'n [usize]) -> Option<Vec<usize>> {
    let mut reached = vec![start];
    let mut seen = HashSet::from([start]);
    let mut looked_at = 0;
    while let Some(&at) = reached.get(looked_at) {
        looked_at += 1;
        reached.extend(next(at).iter().copied().filter(|to| seen.insert(*to)));
        if reached.len() > REACHED_MAX {
            return None;
        }
    }
    Some(reached)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_follows_is_reached_once_also_in_circles() {
        let edges: [&[usize]; 5] = [&[1, 2], &[2, 0], &[1, 2], &[4], &[]];
        assert_eq!(reach(0, |at| edges[at]), Some(vec![0, 1, 2]));
        assert_eq!(reach(3, |at| edges[at]), Some(vec![3, 4]));
        assert_eq!(reach(4, |at| edges[at]), Some(vec![4]));
    }

    #[test]
    fn what_reaches_too_much_is_said_to() {
        let chain: Vec<[usize; 1]> = (1..=1000).map(|next| [next]).collect();
        let next = |at: usize| chain.get(at).map_or(&[][..], |next| &next[..]);
        assert_eq!(reach(1000 - REACHED_MAX + 1, next).map(|reached| reached.len()), Some(REACHED_MAX));
        assert_eq!(reach(1000 - REACHED_MAX, next), None);
    }
}
