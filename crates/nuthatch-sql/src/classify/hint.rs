//! Optimizer hints that set variables for one statement: `/*+ SET_VAR(name = value) */`.
//!
//! What they set stands in the text, and so in the key of an answer. That is enough as long as the answer follows from text, tables and
//! the session's known state. With `sql_auto_is_null` it does not: `id IS NULL` then means the last insert id.
//!
//! MySQL puts back what it was before, but not of all variables, and tells of a changed session behind each such statement, whatever it
//! set (measured on 9.7).

/// What the hints of a statement set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hints {
    /// Some variable is set.
    pub(crate) set_any: bool,
    /// One is set, or may be, that an answer may follow besides its text.
    pub(crate) set_odd: bool,
    /// One is set, or may be, that is not as before when the statement ends.
    pub(crate) leave_state: bool,
}

/// The server does not put back what these were: the next INSERT takes the `insert_id`, the clock of the session stands for ever at the
/// moment of the statement with a `timestamp`, and `max_join_size` turns `sql_big_selects` on. Measured on MySQL 9.7, with each variable that
/// a hint may set.
const LEFT: [&str; 3] = ["insert_id", "max_join_size", "timestamp"];

/// All that MySQL 9.7 lets a hint set, but for `sql_auto_is_null` and those above: limits, buffers, the optimizer's switches, what writes do;
/// `time_zone` and the like, which are as good as literals; `sql_mode`, which comes too late to change how the text is read (measured with
/// ANSI_QUOTES, NO_BACKSLASH_ESCAPES and PIPES_AS_CONCAT).
#[rustfmt::skip]
const HARMLESS: [&str; 50] = [
    "auto_increment_increment", "auto_increment_offset", "big_tables", "bulk_insert_buffer_size", "cte_max_recursion_depth",
    "default_table_encryption", "default_tmp_storage_engine", "div_precision_increment", "enable_secondary_engine_statistics",
    "end_markers_in_json", "eq_range_index_dive_limit", "foreign_key_checks", "group_concat_max_len", 
    "internal_tmp_mem_storage_engine", "join_buffer_size", "lock_wait_timeout", "max_error_count", "max_execution_time",
    "max_heap_table_size", "max_length_for_sort_data", "max_points_in_geometry", "max_seeks_for_key",
    "max_sort_length", "optimizer_max_subgraph_pairs", "optimizer_prune_level", "optimizer_search_depth", "optimizer_switch",
    "range_alloc_block_size", "range_optimizer_max_mem_size", "read_buffer_size", "read_rnd_buffer_size",
    "secondary_engine_cost_threshold", "select_into_buffer_size", "select_into_disk_sync", "select_into_disk_sync_delay",
    "set_operations_buffer_size", "sort_buffer_size", "sql_big_selects", "sql_buffer_result", "sql_mode",
    "sql_require_primary_key", "sql_safe_updates", "sql_select_limit", "time_zone", "tmp_table_size",
    "unique_checks", "updatable_views_with_limit", "use_secondary_engine", "windowing_use_high_precision", "xa_detach_on_prepare",
];

const SET_VAR: &[u8] = b"SET_VAR";
const AUTO_IS_NULL: &[u8] = b"sql_auto_is_null";

impl Hints {
    /// Those of a comment that begins with `/*+`.
    pub(super) fn of(comment: &[u8]) -> Self {
        let settings = comment.windows(SET_VAR.len()).enumerate();
        settings
            .filter(|(_, word)| word.eq_ignore_ascii_case(SET_VAR))
            .map(|(at, _)| Self::of_setting(comment.get(at + SET_VAR.len()..).unwrap_or_default()))
            .fold(Self::default(), Self::and)
    }

    /// Those of a SET_VAR with this behind it.
    fn of_setting(rest: &[u8]) -> Self {
        let name = variable(rest).unwrap_or_default();
        let is_one_of =
            |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
        let is_harmless = is_one_of(&HARMLESS);
        let is_left = is_one_of(&LEFT);
        let is_read = name.eq_ignore_ascii_case(AUTO_IS_NULL);
        Self { set_any: true, set_odd: !is_harmless && !is_left, leave_state: !is_harmless && !is_read }
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self {
            set_any: self.set_any || other.set_any,
            set_odd: self.set_odd || other.set_odd,
            leave_state: self.leave_state || other.leave_state,
        }
    }
}

/// The variable that stands in the parenthesis that `rest` begins with.
fn variable(rest: &[u8]) -> Option<&[u8]> {
    let inside = rest.trim_ascii_start().strip_prefix(b"(")?;
    let name = inside.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii();
    Some(name.strip_prefix(b"`").and_then(|name| name.strip_suffix(b"`")).unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_that_are_known_to_be_harmless_are_set_without_harm() {
        for (hint, set_any, set_odd, leave_state) in [
            ("/*+ NO_MERGE(t) MAX_EXECUTION_TIME(1000) */", false, false, false),
            (
                "/*+ SET_VAR(sort_buffer_size = 16M) SET_VAR(optimizer_switch = 'mrr=on') */",
                true,
                false,
                false,
            ),
            ("/*+ set_var ( `SQL_MODE` = '') */", true, false, false),
            ("/*+ SET_VAR(sql_auto_is_null=1) */", true, true, false),
            ("/*+ SET_VAR(sql_auto_is_null=0) */", true, true, false),
            (
                "/*+ SET_VAR(sort_buffer_size = 16M) set_var\t(\n`sql_auto_is_null` = ON) */",
                true,
                true,
                false,
            ),
            ("/*+ SET_VAR(newer_than_this_list = 1) */", true, true, true),
            ("/*+ SET_VAR */", true, true, true),
            ("/*+ set_var(`Timestamp`=5) */", true, false, true),
            ("/*+ SET_VAR(sql_mode='') SET_VAR(insert_id=5) */", true, false, true),
            ("/*+ SET_VAR(max_join_size = 1) SET_VAR(sql_mode='') */", true, false, true),
        ] {
            assert_eq!(Hints::of(hint.as_bytes()), Hints { set_any, set_odd, leave_state }, "{hint}");
        }
    }
}
