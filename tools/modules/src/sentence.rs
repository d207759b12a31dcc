//! Where the first sentence of a documentation ends.

/// The first sentence of lines of documentation.
pub(crate) fn first_sentence(lines: &[String]) -> String {
    let first: Vec<&str> = lines.iter().map(|line| line.trim()).take_while(|line| !line.is_empty()).collect();
    let text = first.join(" ");
    let ends =
        text.match_indices(". ").map(|(place, _)| place).find(|place| !ends_in_abbreviation(&text[..*place]));
    text[..ends.map_or(text.len(), |place| place + 1)].to_owned()
}

fn ends_in_abbreviation(text: &str) -> bool {
    ["e.g", "i.e", "etc", "vs"].iter().any(|known| text.ends_with(known))
}
