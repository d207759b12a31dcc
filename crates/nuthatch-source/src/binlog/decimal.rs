//! DECIMAL as it is stored: groups of nine digits in four bytes, fewer in fewer at either end, the highest bit inverted, and all bits of a
//! negative one (`decimal2bin` of MySQL and MariaDB).

const DIGITS_OF_4_BYTES: usize = 9;

/// Bytes that hold so many digits.
const BYTES_OF_DIGITS: [usize; DIGITS_OF_4_BYTES] = [0, 1, 1, 2, 2, 3, 3, 4, 4];

/// How many bytes one takes (`decimal_bin_size`).
pub(super) fn size(precision: u8, scale: u8) -> usize {
    let of = |digits: usize| digits / DIGITS_OF_4_BYTES * 4 + bytes_of(digits % DIGITS_OF_4_BYTES);
    of(usize::from(precision.saturating_sub(scale))) + of(usize::from(scale))
}

/// Its digits, with a minus and a point; none if that is no number.
pub(super) fn text(bytes: &[u8], precision: u8, scale: u8) -> Option<String> {
    (bytes.len() == size(precision, scale)).then_some(())?;
    let is_negative = bytes.first()? & 0x80 == 0;
    let mut bits = bytes.to_vec();
    *bits.first_mut()? ^= 0x80;
    if is_negative {
        bits.iter_mut().for_each(|byte| *byte ^= 0xFF);
    }
    let (whole, fraction) = (usize::from(precision.checked_sub(scale)?), usize::from(scale));
    let in_order = [whole % DIGITS_OF_4_BYTES]
        .into_iter()
        .chain(std::iter::repeat_n(
            DIGITS_OF_4_BYTES,
            whole / DIGITS_OF_4_BYTES + fraction / DIGITS_OF_4_BYTES,
        ))
        .chain([fraction % DIGITS_OF_4_BYTES]);
    let (mut digits, mut rest) = (String::new(), &*bits);
    for count in in_order {
        let (group, behind) =
            rest.split_at_checked(if count == DIGITS_OF_4_BYTES { 4 } else { bytes_of(count) })?;
        let number = group.iter().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
        if count > 0 {
            let shown = format!("{number:0count$}");
            (shown.len() == count).then_some(())?;
            digits.push_str(&shown);
        }
        rest = behind;
    }
    let (whole, fraction) = digits.split_at_checked(whole)?;
    Some(format!("{}{whole}.{fraction}", if is_negative { "-" } else { "" }))
}

fn bytes_of(digits: usize) -> usize {
    BYTES_OF_DIGITS.get(digits).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_that_were_stored() {
        // The example of MySQL's documentation of decimal2bin: DECIMAL(14, 4).
        let stored = [0x81, 0x0D, 0xFB, 0x38, 0xD2, 0x04, 0xD2];
        assert_eq!(text(&stored, 14, 4).as_deref(), Some("1234567890.1234"));
        let negative = [0x7E, 0xF2, 0x04, 0xC7, 0x2D, 0xFB, 0x2D];
        assert_eq!(text(&negative, 14, 4).as_deref(), Some("-1234567890.1234"));
        assert_eq!(text(&[0x80, 0x07, 0x05], 4, 2).as_deref(), None, "it is not so long");
        assert_eq!(text(&[0x87, 0x05], 4, 2).as_deref(), Some("07.05"));
        assert_eq!(text(&[0x87, 0xFF], 4, 2), None, "no two digits");
        assert_eq!(text(&[0x80 | 50], 2, 2).as_deref(), Some(".50"));
    }
}
