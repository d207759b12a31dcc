//! Sizes as a server's option file has them.

/// The bytes that `8M`, `1g` or `4096` are; `None` of anything else.
pub(crate) fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let unit = text.bytes().last()?.to_ascii_uppercase();
    let shift = match unit {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        b'T' => 40,
        _ => 0,
    };
    let digits = if shift == 0 { text } else { &text[..text.len() - 1] };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// The share that `25%` is, in percent: 1 to 100.
pub(crate) fn parse_share(text: &str) -> Option<u64> {
    let share = text.trim().strip_suffix('%')?.trim_end().parse().ok()?;
    (1..=100).contains(&share).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_shares_are_parsed() {
        let bytes = ["4096", "8M", "1g", "2T", "K", "-1", "1.5G", "", "1é", "99999999999T"].map(parse_bytes);
        let wanted = [Some(4096), Some(8 << 20), Some(1 << 30), Some(2 << 40)];
        assert_eq!(bytes[..4], wanted);
        assert!(bytes[4..].iter().all(Option::is_none));
        assert_eq!(
            ["25%", "100 %", "0%", "101%", "25"].map(parse_share),
            [Some(25), Some(100), None, None, None]
        );
    }
}
