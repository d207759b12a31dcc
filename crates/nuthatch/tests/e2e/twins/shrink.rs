//! Delta debugging: the shortest part of a list that still fails, as Zeller and Hildebrandt do it (ddmin).

/// Takes out as much of `items` as it can while `fails` holds of the rest. `fails` is asked at most `asks` times.
pub(super) fn shrink<T: Clone>(items: &[T], mut asks: usize, mut fails: impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut kept = items.to_vec();
    let mut width = kept.len().div_ceil(2);
    while width > 0 && asks > 0 {
        let mut from = 0;
        let mut has_shrunk = false;
        while from < kept.len() && asks > 0 {
            let to = (from + width).min(kept.len());
            let candidate = [&kept[..from], &kept[to..]].concat();
            asks -= 1;
            if fails(&candidate) {
                kept = candidate;
                has_shrunk = true;
            } else {
                from = to;
            }
        }
        // At single items it goes on until none can be left out.
        width = if width > 1 { width / 2 } else { usize::from(has_shrunk) };
    }
    kept
}

#[test]
fn what_matters_is_all_that_is_left() {
    let items: Vec<u32> = (0..100).collect();
    let needs = |wanted: &'static [u32]| move |kept: &[u32]| wanted.iter().all(|item| kept.contains(item));
    assert_eq!(shrink(&items, 1000, needs(&[17])), [17]);
    assert_eq!(shrink(&items, 1000, needs(&[0, 50, 99])), [0, 50, 99]);
    assert_eq!(shrink(&items, 1000, |kept| kept.len() >= 4).len(), 4);
    assert_eq!(shrink(&items, 0, needs(&[17])).len(), 100, "nothing is asked");
}
