use super::*;
use crate::server::HostgroupId;

#[test]
fn no_rules_say_nothing() {
    let rules = Rules::default();
    assert!(rules.is_empty());
    assert_eq!(rules.hits().count(), 0);
    let _ = HostgroupId(0);
}
