//! A second of sysbench.

/// One second, as sysbench tells of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Second {
    pub(super) per_second: f64,
    pub(super) p99_ms: f64,
}

impl Second {
    /// `[ 1s ] thds: 8 tps: 9.00 qps: 9.00 (r/w/o: ...) lat (ms,99%): 0.09 err/s: 0.00 reconn/s: 0.00`
    pub(super) fn parse(line: &str) -> Option<Self> {
        let number_after =
            |name: &str| line.split_once(name)?.1.split_ascii_whitespace().next()?.parse().ok();
        line.starts_with('[').then_some(())?;
        Some(Self { per_second: number_after(" qps: ")?, p99_ms: number_after(" lat (ms,99%): ")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_a_second_is_read_and_others_are_passed_over() {
        let line =
            "[ 2s ] thds: 8 tps: 99.17 qps: 98.50 (r/w/o: 98.50/0.00/0.00) lat (ms,99%): 7.10 err/s: 0.25";
        assert_eq!(Second::parse(line), Some(Second { per_second: 98.5, p99_ms: 7.1 }));
        assert_eq!(Second::parse("Threads started!"), None);
    }
}
