//! What can be reached from a table over triggers, cascades and views.

use std::borrow::Cow;
use std::collections::HashSet;

/// What one table may have reached; beyond it, everything is.
pub(crate) const REACHED_MAX: usize = 256;

/// The indices that can be reached from those in `start`, these included, over `next`, each once; `None` for more than [`REACHED_MAX`].
pub(crate) fn reach<'n>(start: &[usize], next: impl Fn(usize) -> Cow<'n, [usize]>) -> Option<Vec<usize>> {
    let mut seen = HashSet::new();
    let mut reached: Vec<_> = start.iter().copied().filter(|to| seen.insert(*to)).collect();
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
        for (start, expected) in [
            (&[0][..], vec![0, 1, 2]),
            (&[3], vec![3, 4]),
            (&[4], vec![4]),
            (&[4, 3, 4], vec![4, 3]),
            (&[], vec![]),
        ] {
            assert_eq!(reach(start, |at| Cow::Borrowed(edges[at])), Some(expected));
        }
    }

    #[test]
    fn what_reaches_too_much_is_said_to() {
        let chain: Vec<[usize; 1]> = (1..=1000).map(|next| [next]).collect();
        let next = |at: usize| Cow::Borrowed(chain.get(at).map_or(&[][..], |next| &next[..]));
        assert_eq!(reach(&[1000 - REACHED_MAX + 1], next).map(|reached| reached.len()), Some(REACHED_MAX));
        assert_eq!(reach(&[1000 - REACHED_MAX], next), None);
    }
}
