//! What operators send to the admin interface: how a text is cut into statements, and what each is taken for.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for statement in nuthatch_admin::fuzzing::statements(text) {
        assert!(text.contains(statement));
        let (sql, variables) = nuthatch_admin::fuzzing::parse(statement);
        assert!(variables > 0 || sql == statement);
    }
});
