//! What is built in: options for every instance, and templates. A file of the same name in the root's `templates` takes a template's place.

/// For every instance.
pub(crate) const DEFAULTS: &str = include_str!("../built_in/defaults.cnf");

/// Which template is taken where none is named.
pub const USUAL: &str = "small";

/// The templates, by name.
pub(crate) const TEMPLATES: [(&str, &str); 3] = [
    ("small", include_str!("../built_in/small.cnf")),
    ("oltp", include_str!("../built_in/oltp.cnf")),
    ("reporting", include_str!("../built_in/reporting.cnf")),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::option_file::OptionFile;

    #[test]
    fn what_is_built_in_has_no_mistakes() {
        for (name, text) in TEMPLATES.into_iter().chain([("defaults", DEFAULTS)]) {
            assert!(OptionFile::parse(text).is_ok(), "{name}: {:?}", OptionFile::parse(text));
        }
    }
}
