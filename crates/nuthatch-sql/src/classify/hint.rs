//! Optimizer hints that set variables for one statement: `/*+ SET_VAR(name = value) */`.
//!
//! What they set stands in the text, and so in the key of an answer. That is enough as long as the answer follows from text, tables and
//! the session's known state. With `sql_auto_is_null` it does not: `id IS NULL` then means the last insert id.

/// All that MySQL 9.7 lets a hint set, but for `sql_auto_is_null`: limits, buffers, the optimizer's switches, what writes do; `time_zone`,
/// `timestamp` and the like, which are as good as literals; `sql_mode`, which comes too late to change how the text is read (measured with
/// ANSI_QUOTES, NO_BACKSLASH_ESCAPES and PIPES_AS_CONCAT).
#[rustfmt::skip]
const HARMLESS: [&str; 53] = [
    "auto_increment_increment", "auto_increment_offset", "big_tables", "bulk_insert_buffer_size", "cte_max_recursion_depth",
    "default_table_encryption", "default_tmp_storage_engine", "div_precision_increment", "enable_secondary_engine_statistics",
    "end_markers_in_json", "eq_range_index_dive_limit", "foreign_key_checks", "group_concat_max_len", "insert_id",
    "internal_tmp_mem_storage_engine", "join_buffer_size", "lock_wait_timeout", "max_error_count", "max_execution_time",
    "max_heap_table_size", "max_join_size", "max_length_for_sort_data", "max_points_in_geometry", "max_seeks_for_key",
    "max_sort_length", "optimizer_max_subgraph_pairs", "optimizer_prune_level", "optimizer_search_depth", "optimizer_switch",
    "range_alloc_block_size", "range_optimizer_max_mem_size", "read_buffer_size", "read_rnd_buffer_size",
    "secondary_engine_cost_threshold", "select_into_buffer_size", "select_into_disk_sync", "select_into_disk_sync_delay",
    "set_operations_buffer_size", "sort_buffer_size", "sql_big_selects", "sql_buffer_result", "sql_mode",
    "sql_require_primary_key", "sql_safe_updates", "sql_select_limit", "time_zone", "timestamp", "tmp_table_size",
    "unique_checks", "updatable_views_with_limit", "use_secondary_engine", "windowing_use_high_precision", "xa_detach_on_prepare",
];

const SET_VAR: &[u8] = b"SET_VAR";

/// Whether the hint sets, or may set, a variable other than those that are known to be harmless.
pub(super) fn sets_odd_variable(hint: &[u8]) -> bool {
    hint.windows(SET_VAR.len())
        .enumerate()
        .filter(|(_, word)| word.eq_ignore_ascii_case(SET_VAR))
        .any(|(at, _)| !is_harmless(hint.get(at + SET_VAR.len()..).unwrap_or_default()))
}

/// Whether a harmless variable stands in the parenthesis that `rest` begins with.
fn is_harmless(rest: &[u8]) -> bool {
    let Some(inside) = rest.trim_ascii_start().strip_prefix(b"(") else { return false };
    let name = inside.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii();
    let bare = name.strip_prefix(b"`").and_then(|name| name.strip_suffix(b"`")).unwrap_or(name);
    HARMLESS.iter().any(|known| bare.eq_ignore_ascii_case(known.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_that_are_known_to_be_harmless_are_set_without_harm() {
        for (hint, expected) in [
            ("/*+ NO_MERGE(t) MAX_EXECUTION_TIME(1000) */", false),
            ("/*+ SET_VAR(sort_buffer_size = 16M) SET_VAR(optimizer_switch = 'mrr=on') */", false),
            ("/*+ set_var ( `SQL_MODE` = '') */", false),
            ("/*+ SET_VAR(sql_auto_is_null=1) */", true),
            ("/*+ SET_VAR(sql_auto_is_null=0) */", true),
            ("/*+ SET_VAR(sort_buffer_size = 16M) set_var\t(\n`sql_auto_is_null` = ON) */", true),
            ("/*+ SET_VAR(newer_than_this_list = 1) */", true),
            ("/*+ SET_VAR */", true),
        ] {
            assert_eq!(sets_odd_variable(hint.as_bytes()), expected, "{hint}");
        }
    }
}
