//! The middle of repeated measurements, and how surely it is known.

/// The middle value, or the mean of the two in the middle; NaN of nothing.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let sorted = sorted(values);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Between which two of the values the true median lies in 95 of 100 such runs, whatever the distribution; below six values, the
/// lowest and the highest, which say less. `None` of nothing.
pub(crate) fn interval(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let sorted = sorted(values);
    let cut = cut(sorted.len());
    Some((*sorted.get(cut)?, *sorted.get(sorted.len() - 1 - cut)?))
}

fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// How many values at each end may be left out: as many heads of `length` throws have at most 2.5 % together.
fn cut(length: usize) -> usize {
    let mut ways = 1.0; // that exactly `heads` of the throws are heads
    let mut share = 0.0;
    for heads in 0..length {
        share += ways / 2f64.powi(i32::try_from(length).unwrap_or(i32::MAX));
        if share > 0.025 {
            return heads.saturating_sub(1);
        }
        ways *= (length - heads) as f64 / (heads + 1) as f64;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle() {
        for (values, middle) in
            [(vec![3.0], 3.0), (vec![9.0, 1.0, 2.0], 2.0), (vec![4.0, 1.0, 2.0, 100.0], 3.0)]
        {
            assert_eq!(median(values.clone()), middle, "{values:?}");
        }
        assert!(median([]).is_nan());
    }

    #[test]
    fn interval_leaves_out_as_many_as_the_tables_say() {
        // Sign test, two-sided 5 %: n and the values that may be left out at each end.
        for (length, left_out) in [(1, 0), (5, 0), (6, 0), (9, 1), (12, 2), (20, 5), (30, 9)] {
            let values = (0..length).map(f64::from);
            let last = f64::from(length - 1);
            let left_out = f64::from(left_out);
            assert_eq!(interval(values), Some((left_out, last - left_out)), "{length}");
        }
        assert_eq!(interval([]), None);
    }
}
