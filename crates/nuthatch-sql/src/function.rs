//! What a call of a built-in function means for the cache and for the session.
//!
//! Only functions listed here are known; a stored or loadable function may do anything, so every other name is unknown.
//! No server has all of them: a stored function may have the name of one that is missing there, and only the server can tell.
//! Names are those of MySQL 5.7 to 9 and MariaDB 10 to 12.

/// What a call means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// Same arguments, same result (under the same session environment).
    Pure,
    /// The same for the same arguments under the same session environment, of which the time zone may change between two calls;
    /// the clock, if it has no arguments.
    OfTimeZone(&'static str),
    /// The result changes by itself.
    Volatile(&'static str),
    /// Effect or result belong to the session or to the moment: never cached.
    Session(&'static str),
    /// Reads the last insert id (or sets it).
    InsertId,
    /// Reads FOUND_ROWS().
    FoundRows,
    /// Reads ROW_COUNT().
    RowCount,
    /// Takes a named lock that the connection then holds.
    GetLock,
    /// Frees all named locks.
    ReleaseAllLocks,
    /// Moves a sequence or reads where this session moved it to.
    Sequence,
    /// A stored or loadable function, or one newer than this list.
    Unknown,
}

const NAME_BYTES_MAX: usize = 32;

/// What the function `name` (any case) is. A keyword that may stand before a parenthesis counts as pure.
pub(crate) fn lookup(name: &[u8]) -> Function {
    let mut buffer = [0; NAME_BYTES_MAX];
    let Some(lower) = buffer.get_mut(..name.len()) else {
        return Function::Unknown;
    };
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    let lower: &[u8] = lower;
    if let Some(special) = special(lower) {
        return special;
    }
    match PURE.binary_search_by(|pure| pure.as_bytes().cmp(lower)) {
        Ok(_) => Function::Pure,
        Err(_) => Function::Unknown,
    }
}

/// Functions that are the server's own only where no space stands before their parenthesis; `count (3)` calls a stored function of
/// that name, unless the SQL mode has IGNORE_SPACE. See "Function Name Parsing and Resolution" in MySQL's manual; measured on
/// MariaDB 10.11 and MySQL 9.7.
const OWN_IF_ADJACENT: [&str; 36] = [
    "adddate",
    "bit_and",
    "bit_or",
    "bit_xor",
    "cast",
    "count",
    "curdate",
    "curtime",
    "date_add",
    "date_sub",
    "extract",
    "group_concat",
    "json_arrayagg",
    "json_objectagg",
    "max",
    "mid",
    "min",
    "now",
    "position",
    "session_user",
    "st_collect",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "subdate",
    "substr",
    "substring",
    "sum",
    "sysdate",
    "system_user",
    "trim",
    "trim_oracle",
    "var_pop",
    "var_samp",
    "variance",
];

/// Whether the name (any case), behind which a space and a parenthesis stand, may be that of a stored function.
pub(crate) fn is_stored_if_apart(name: &[u8]) -> bool {
    OWN_IF_ADJACENT.iter().any(|own| name.eq_ignore_ascii_case(own.as_bytes()))
}

/// The names of functions, keywords and types of which a call with arguments is known to be free of effects and clocks, but for what
/// `footprint/today.rs` says.
pub fn pure_functions() -> impl Iterator<Item = &'static str> {
    let of_time_zone = SPECIAL.iter().filter(|(_, function)| matches!(function, Function::OfTimeZone(_)));
    PURE.iter().copied().chain(of_time_zone.map(|(name, _)| *name))
}

/// The known functions by whose names a stored function of this name may be called.
pub(crate) fn known_like(stored: &[u8]) -> impl Iterator<Item = &'static str> {
    let stored: Vec<char> = String::from_utf8_lossy(stored).chars().collect();
    let special = SPECIAL.iter().map(|(name, _)| name);
    let known = special.chain(SESSION).chain(VOLATILE).chain(PURE).copied();
    known.filter(move |known| {
        known.len() == stored.len()
            && known.chars().zip(&stored).all(|(known, stored)| is_like(known, *stored))
    })
}

/// Whether a server may take the one character of a routine's name for the other. It compares them in `utf8mb3_general_ci`, where
/// no other characters than those of these blocks are equal to one of ASCII (measured on MariaDB 10.11).
fn is_like(ascii: char, other: char) -> bool {
    ascii.eq_ignore_ascii_case(&other) || matches!(other, '\u{C0}'..='\u{2FF}' | '\u{1E00}'..='\u{1EFF}')
}

fn special(lower: &[u8]) -> Option<Function> {
    let special = SPECIAL.iter().find(|(name, _)| name.as_bytes() == lower).map(|(_, function)| *function);
    special
        .or_else(|| find(SESSION, lower).map(Function::Session))
        .or_else(|| find(VOLATILE, lower).map(Function::Volatile))
}

fn find(names: &'static [&'static str], lower: &[u8]) -> Option<&'static str> {
    let at = names.binary_search_by(|name| name.as_bytes().cmp(lower)).ok()?;
    names.get(at).copied()
}

const SPECIAL: [(&str, Function); 10] = [
    ("last_insert_id", Function::InsertId),
    ("found_rows", Function::FoundRows),
    ("row_count", Function::RowCount),
    ("get_lock", Function::GetLock),
    ("release_all_locks", Function::ReleaseAllLocks),
    ("nextval", Function::Sequence),
    ("setval", Function::Sequence),
    ("lastval", Function::Sequence),
    ("from_unixtime", Function::OfTimeZone("from_unixtime")),
    ("unix_timestamp", Function::OfTimeZone("unix_timestamp")),
];

/// Sorted. Never cached.
const SESSION: &[&str] = &[
    "benchmark",
    "connection_id",
    "current_role",
    // `$@x` in a path is the session's user variable.
    "extractvalue",
    "is_free_lock",
    "is_used_lock",
    "load_file",
    "master_gtid_wait",
    "master_pos_wait",
    "ps_current_thread_id",
    "ps_thread_id",
    "random_bytes",
    "release_lock",
    "roles_graphml",
    "source_pos_wait",
    "sys_guid",
    "updatexml",
    "uuid",
    "uuid_short",
    "uuid_v4",
    "uuid_v7",
    "wait_for_executed_gtid_set",
    "wait_until_sql_thread_after_gtids",
];

/// Sorted. Cached only where the operator gave a time to live.
const VOLATILE: &[&str] = &[
    "aes_decrypt",
    "aes_encrypt",
    // Relevance follows other rows, and in InnoDB statistics that are renewed in the background. MATCH needs no parenthesis.
    "against",
    "binlog_gtid_pos",
    "curdate",
    "current_date",
    "current_time",
    "current_timestamp",
    "curtime",
    // How a document is stored: OPTIMIZE may change that.
    "json_storage_free",
    "json_storage_size",
    "localtime",
    "localtimestamp",
    "now",
    "rand",
    "session_user",
    "sleep",
    "sysdate",
    "system_user",
    // Oracle's takes from today what the format lacks.
    "to_date",
    "user",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    // By a policy that SET GLOBAL changes.
    "validate_password_strength",
];

/// Sorted. Functions without effect, keywords that may stand before a parenthesis, and types (in casts and JSON_TABLE).
#[rustfmt::skip]
const PURE: &[&str] = &[
    "abs", "acos", "add_months", "adddate", "addtime", "aggregate", "all", "analyse", "and",
    "any", "any_value", "area", "as", "asbinary", "ascii", "asin", "astext", "aswkb", "aswkt", "atan",
    "atan2", "avg", "between", "bigint", "bin", "bin_to_uuid", "binary", "bit", "bit_and", "bit_count",
    "bit_length", "bit_or", "bit_xor", "boundary", "buffer", "by", "can_access_column", "case", "cast",
    "ceil", "ceiling", "centroid", "char", "char_length", "character", "character_length", "charset", "chr",
    "coalesce", "coercibility", "collation", "columns", "compress", "concat", "concat_operator_oracle",
    "concat_ws", "contains", "conv", "convert", "convert_tz", "convexhull", "cos", "cot", "count", "crc32",
    "crc32c", "crosses", "cube", "cume_dist", "current_user", "database", "date", "date_add", "date_format",
    "date_sub", "datediff", "datetime", "day", "dayname", "dayofmonth", "dayofweek", "dayofyear", "dec",
    "decimal", "decode", "default", "degrees", "dense_rank", "dimension", "disjoint", "distance",
    "distinct", "distinctrow", "div", "double", "else", "elt", "encode", "endpoint", "envelope", "equals",
    "escape", "except", "exists", "exp", "export_set", "exteriorring", "extract", "field",
    "find_in_set", "first_value", "float", "floor", "for", "format", "format_bytes", "format_pico_time",
    "from", "from_base64", "from_days", "from_vector", "geomcollection", "geomcollfromtext",
    "geomcollfromwkb", "geometrycollection", "geometrycollectionfromtext", "geometrycollectionfromwkb",
    "geometryfromtext", "geometryfromwkb", "geometryn", "geometrytype", "geomfromtext", "geomfromwkb",
    "get_format", "glength", "greatest", "group_concat", "grouping", "gtid_subset", "gtid_subtract",
    "having", "hex", "hour", "icu_version", "if", "ifnull", "in", "index", "inet6_aton", "inet6_ntoa",
    "inet_aton", "inet_ntoa", "insert", "instr", "int", "integer", "interiorringn", "intersect",
    "intersects", "interval", "is", "is_ipv4", "is_ipv4_compat", "is_ipv4_mapped", "is_ipv6", "is_uuid",
    "isclosed", "isempty", "isnull", "isring", "issimple", "join", "json", "json_append", "json_array",
    "json_array_append", "json_array_insert", "json_array_intersect", "json_arrayagg", "json_compact",
    "json_contains", "json_contains_path", "json_depth", "json_detailed", "json_equals", "json_exists",
    "json_extract", "json_insert", "json_key_value", "json_keys", "json_length", "json_loose", "json_merge",
    "json_merge_patch", "json_merge_preserve", "json_normalize", "json_object", "json_object_filter_keys",
    "json_object_to_array", "json_objectagg", "json_overlaps", "json_pretty", "json_query", "json_quote",
    "json_remove", "json_replace", "json_schema_valid", "json_schema_validation_report", "json_search",
    "json_set", "json_table", "json_type", "json_unflatten",
    "json_unquote", "json_valid", "json_value", "kdf", "key", "lag", "last_day", "last_value", "lateral",
    "lcase", "lead", "least", "left", "length", "lengthb", "like", "limit", "linefromtext", "linefromwkb",
    "linestring", "linestringfromtext", "linestringfromwkb", "ln", "locate", "log", "log10", "log2",
    "lower", "lpad", "ltrim", "make_set", "makedate", "maketime", "match", "max", "mbrcontains",
    "mbrcoveredby", "mbrcovers", "mbrdisjoint", "mbrequal", "mbrequals", "mbrintersects", "mbroverlaps",
    "mbrtouches", "mbrwithin", "md5", "median", "microsecond", "mid", "min", "minute", "mlinefromtext",
    "mlinefromwkb", "mod", "month", "monthname", "mpointfromtext", "mpointfromwkb", "mpolyfromtext",
    "mpolyfromwkb", "multilinestring", "multilinestringfromtext", "multilinestringfromwkb", "multipoint",
    "multipointfromtext", "multipointfromwkb", "multipolygon", "multipolygonfromtext",
    "multipolygonfromwkb", "name_const", "natural_sort_key", "nchar", "not", "nth_value", "ntile", "nullif",
    "numeric", "numgeometries", "numinteriorrings", "numpoints", "nvarchar", "nvl", "nvl2", "oct",
    "octet_length", "offset", "on", "or", "ord", "order", "over", "overlaps", "partition", "percent_rank",
    "percentile_cont", "percentile_disc", "period_add", "period_diff", "pi", "point", "pointfromtext",
    "pointfromwkb", "pointn", "pointonsurface", "polyfromtext", "polyfromwkb", "polygon", "polygonfromtext",
    "polygonfromwkb", "position", "pow", "power", "quarter", "quote", "radians", "rank", "real", "regexp",
    "regexp_instr", "regexp_like", "regexp_replace", "regexp_substr", "repeat", "replace", "reverse",
    "right", "rlike", "rollup", "round", "row", "row_number", "rpad", "rtrim", "schema", "sec_to_time",
    "second", "select", "separator", "sets", "sformat", "sha", "sha1", "sha2", "sign", "signed", "sin",
    "some", "soundex", "space", "sql_no_cache", "sqrt", "srid", "st_area", "st_asbinary", "st_asgeojson",
    "st_astext", "st_aswkb", "st_aswkt", "st_boundary", "st_buffer", "st_buffer_strategy", "st_centroid",
    "st_collect", "st_contains", "st_convexhull", "st_crosses", "st_difference", "st_dimension",
    "st_disjoint", "st_distance", "st_distance_sphere", "st_endpoint", "st_envelope", "st_equals",
    "st_exteriorring", "st_frechetdistance", "st_geohash", "st_geomcollfromtext", "st_geomcollfromtxt",
    "st_geomcollfromwkb", "st_geometrycollectionfromtext", "st_geometrycollectionfromwkb",
    "st_geometryfromtext", "st_geometryfromwkb", "st_geometryn", "st_geometrytype", "st_geomfromgeojson",
    "st_geomfromtext", "st_geomfromwkb", "st_hausdorffdistance", "st_interiorringn", "st_intersection",
    "st_intersects", "st_isclosed", "st_isempty", "st_isring", "st_issimple", "st_isvalid",
    "st_latfromgeohash", "st_latitude", "st_length", "st_linefromtext", "st_linefromwkb",
    "st_lineinterpolatepoint", "st_lineinterpolatepoints", "st_linestringfromtext", "st_linestringfromwkb",
    "st_longfromgeohash", "st_longitude", "st_makeenvelope", "st_mlinefromtext", "st_mlinefromwkb",
    "st_mpointfromtext", "st_mpointfromwkb", "st_mpolyfromtext", "st_mpolyfromwkb", "st_numgeometries",
    "st_numinteriorring", "st_numinteriorrings", "st_numpoints", "st_overlaps", "st_pointatdistance",
    "st_pointfromgeohash", "st_pointfromtext", "st_pointfromwkb", "st_pointn", "st_pointonsurface",
    "st_polyfromtext", "st_polyfromwkb", "st_polygonfromtext", "st_polygonfromwkb", "st_relate",
    "st_simplify", "st_srid", "st_startpoint", "st_swapxy", "st_symdifference", "st_touches",
    "st_transform", "st_union", "st_validate", "st_within", "st_x", "st_y", "startpoint",
    "statement_digest", "statement_digest_text", "std", "stddev", "stddev_pop", "stddev_samp",
    "str_to_date", "straight_join", "strcmp", "string_to_vector", "subdate", "substr", "substring",
    "substring_index", "subtime", "sum", "tan", "then", "time", "time_format", "time_to_sec", "timediff",
    "timestamp", "timestampadd", "timestampdiff", "tinyint", "to_base64", "to_char", "to_days",
    "to_number", "to_seconds", "to_vector", "touches", "trim", "trim_oracle", "trunc", "truncate", "ucase",
    "uncompress", "uncompressed_length", "unhex", "union", "unsigned", "upper", "use", "using",
    "uuid_to_bin", "value", "values", "var_pop", "var_samp", "varbinary",
    "varchar", "variance", "vec_distance", "vec_distance_cosine", "vec_distance_euclidean", "vec_fromtext",
    "vec_totext", "vector", "vector_dim", "vector_distance", "vector_to_string", "version", "week",
    "weekday", "weekofyear", "weight_string", "when", "where", "with", "within", "x", "xor", "y", "year",
    "yearweek",
];

#[cfg(test)]
mod tests {
    use super::{Function, PURE, SESSION, VOLATILE, known_like, lookup};

    #[test]
    fn the_lists_are_sorted_for_the_binary_search() {
        for list in [PURE, SESSION, VOLATILE] {
            for (name, next) in list.iter().zip(list.iter().skip(1)) {
                assert!(name < next, "{name} before {next}");
            }
        }
    }

    #[test]
    fn stored_functions_are_like_those_whose_names_the_server_takes_for_theirs() {
        for (stored, expected) in [
            ("NVL", &["nvl"][..]),
            ("\u{f1}vl", &["nvl"]),
            ("Last_Insert_Id", &["last_insert_id"]),
            ("uuid", &["uuid"]),
            ("now", &["now"]),
            ("my_function", &[]),
            ("nvl3", &[]),
            ("\u{8ba1}\u{7b97}", &[]),
            ("", &[]),
        ] {
            assert_eq!(known_like(stored.as_bytes()).collect::<Vec<_>>(), expected, "{stored}");
        }
        assert!(known_like("\u{ed}n".as_bytes()).any(|name| name == "in"));
    }

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(lookup(b"CONCAT"), Function::Pure);
        assert_eq!(lookup(b"Now"), Function::Volatile("now"));
        assert_eq!(lookup(b"uuid"), Function::Session("uuid"));
        assert_eq!(lookup(b"Last_Insert_ID"), Function::InsertId);
        assert_eq!(lookup(b"my_function"), Function::Unknown);
        assert_eq!(lookup(&[b'a'; 200]), Function::Unknown);
        assert_eq!(lookup(b""), Function::Unknown);
    }
}
