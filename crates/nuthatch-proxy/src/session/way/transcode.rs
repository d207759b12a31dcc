//! Texts from one character set into another, for the few that nearly all sessions talk in.

/// What `text` in the character set `from` is in `to`; as it is where one of the two is not known here.
pub(crate) fn transcode(text: &[u8], from: &str, to: &str) -> Vec<u8> {
    if from == to || text.is_ascii() {
        return text.to_vec();
    }
    let Some(decoded) = decode(text, from) else { return text.to_vec() };
    encode(&decoded, to).unwrap_or_else(|| text.to_vec())
}

fn decode(text: &[u8], charset: &str) -> Option<String> {
    match charset {
        "utf8mb4" | "utf8mb3" | "utf8" => Some(String::from_utf8_lossy(text).into_owned()),
        "latin1" => Some(text.iter().map(|byte| of_latin1(*byte)).collect()),
        _ => None,
    }
}

fn encode(text: &str, charset: &str) -> Option<Vec<u8>> {
    match charset {
        "utf8mb4" => Some(text.into()),
        "utf8mb3" | "utf8" => {
            let fits = |character: char| if character.len_utf8() < 4 { character } else { '?' };
            Some(text.chars().map(fits).collect::<String>().into())
        }
        "latin1" => Some(text.chars().map(to_latin1).collect()),
        "ascii" => Some(
            text.chars()
                .map(|character| u8::try_from(character).ok().filter(u8::is_ascii).unwrap_or(b'?'))
                .collect(),
        ),
        _ => None,
    }
}

/// What servers call `latin1` is Windows' code page 1252, whose five holes are control characters.
const HIGH: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

fn of_latin1(byte: u8) -> char {
    byte.checked_sub(0x80).and_then(|place| HIGH.get(usize::from(place))).copied().unwrap_or(char::from(byte))
}

fn to_latin1(character: char) -> u8 {
    let among_high = HIGH.iter().zip(0x80..).find(|(known, _)| **known == character).map(|(_, byte)| byte);
    among_high
        .or_else(|| u8::try_from(character).ok().filter(|byte| !(0x80..0xA0).contains(byte)))
        .unwrap_or(b'?')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_through_and_back() {
        for (text, from, to, expected) in [
            ("three", "utf8mb4", "latin1", &b"three"[..]),
            ("thrée", "utf8mb3", "latin1", b"thr\xE9e"),
            ("5 €", "utf8mb4", "latin1", b"5 \x80"),
            ("π", "utf8mb4", "latin1", b"?"),
            ("thrée", "utf8mb4", "ascii", b"thr?e"),
            ("a😀", "utf8mb4", "utf8mb3", b"a?"),
            ("thrée", "utf8mb4", "utf8mb3", "thrée".as_bytes()),
            ("thrée", "utf8mb4", "gbk", "thrée".as_bytes()),
        ] {
            assert_eq!(transcode(text.as_bytes(), from, to), expected, "{text} from {from} to {to}");
        }
        assert_eq!(transcode(b"\xC3\xA9 \x80", "latin1", "utf8mb4"), "Ã© €".as_bytes());
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(transcode(&transcode(&all, "latin1", "utf8mb4"), "utf8mb4", "latin1"), all);
    }
}
