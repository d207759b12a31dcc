//! What stands behind a WHERE.

use super::Author;

/// So many conditions may be inside of one another.
const DEPTH_MAX: u32 = 3;

/// Conditions that say which keys, as they are written by people.
const PLAIN: [&str; 18] = [
    "{id} = {k}",
    "{id} = {k}",
    "{id} = {k}",
    "{k} = {id}",
    "{id} IN ({k}, {k})",
    "{id} IN ({k}, {k}, {k})",
    "{id} IN ({k})",
    "{id} BETWEEN {k} AND {k}",
    "{id} BETWEEN {m} AND {k}",
    "{id} >= {m} AND {id} < {k}",
    "{id} > {m} AND {k} >= {id}",
    "{id} <= {k}",
    "({id} = {k})",
    "(({id}) = ({k}))",
    "({id} = {k} AND {where})",
    "({id} = {k}) AND ({where})",
    "({id} IN (({k}), {k}))",
    "({id}) BETWEEN ({m}) AND ({k})",
];

/// Those that look like one and may be another.
const ODD: [&str; 72] = [
    "({id}) = {k}",
    "({id} = {k})",
    "(({id} = {k}))",
    "({id}, g) = ({k}, {m})",
    "({id}, g) IN (({k}, {m}), ({k}, 1))",
    "({id}) IN (({k}))",
    "ROW({id}, 1) = ROW({k}, 1)",
    "{id} <=> {k}",
    "{id} <> {k}",
    "{id} != {k}",
    "NOT {id} = {k}",
    "NOT ({id} = {k})",
    "! {id} = {k}",
    "!({id} = {k})",
    "{id} NOT IN ({k}, {k})",
    "{id} NOT BETWEEN {k} AND {k}",
    "NOT {id} BETWEEN {k} AND {k}",
    "NOT {id} IN ({k}, NULL)",
    "{id} IN ({k}, NULL)",
    "{id} IN ({k}, {id})",
    "{id} IS NULL",
    "{id} IS NOT NULL",
    "{id} = {k} IS TRUE",
    "{id} = {k} IS FALSE",
    "{id} = {k} IS NOT NULL",
    "{id} = {k} = 1",
    "{id} = {k} = 0",
    "{m} = {id} = {k}",
    "n = {id} = {k}",
    "{id} = {id} = {k}",
    "{id} = {k} + 1",
    "{id} = {k} | 1",
    "{id} = {k} & 3",
    "{id} = {k} MOD 4",
    "{id} = {k} IN (0, 1)",
    "{id} = {k} LIKE {id}",
    "{id} = {k} REGEXP '1'",
    "{id} = {k} BETWEEN 0 AND 1",
    "- {id} = - {k}",
    "~ {id} = {k}",
    "{id} + 0 = {k}",
    "{id} % 4 = {k} % 4",
    "{id} LIKE {k}",
    "{id} LIKE '%7'",
    "{id} = BINARY {k}",
    "BINARY {id} = {k}",
    "{id} = {k} COLLATE utf8mb4_bin",
    "n BETWEEN 1 AND {id} = {k}",
    "n BETWEEN {id} = {k} AND 5",
    "{m} BETWEEN {id} AND {id} = {k}",
    "{id} BETWEEN {k} AND {k} AND n",
    "{id} BETWEEN {k} AND {k} OR n = {m}",
    "CASE WHEN {id} = {k} AND n > 2 THEN 0 ELSE 1 END",
    "CASE n WHEN 4 THEN {id} = {k} ELSE n END",
    "IF({id} = {k}, 0, 1)",
    "INTERVAL({id}, {k}, 5)",
    "{id} = ANY (SELECT u.id FROM {u} AS u WHERE u.n = {k})",
    "{id} IN (SELECT u.id FROM {u} AS u WHERE u.id = {k})",
    "EXISTS (SELECT 1 FROM {u} AS u WHERE u.id = {k} AND u.n > {m})",
    "{id} = (SELECT MAX(u.id) FROM {u} AS u)",
    "n = {m} OR {id} = {k}",
    "{id} = {k} /*!50600 OR n = {m} */",
    "{id} = {k} /*M! OR n = {m} */",
    "{id} = {k} -- OR 1\n",
    "({id} = {k}) = {m}",
    "({id} = {k} OR n = {m})",
    "({id} = {k} AND n OR {m})",
    "(({id} = {k}) IS FALSE)",
    "(SELECT 0 AND {id} = {k} UNION SELECT 1)",
    "(n BETWEEN 1 AND ({id} = {k}) AND g)",
    "({id} = {k}) BETWEEN {m} AND 1",
    "({id} = {k}, n) = (1, {m})",
];

/// On other columns.
const OTHER: [&str; 9] =
    ["n = {m}", "g = 2", "n > {m}", "1", "1 = 1", "n IS NULL", "g IN (1, 2)", "n = {k}", "n LIKE '1%'"];

/// What stands between two.
const JOINED: [&str; 14] = [
    "{where} AND {where}",
    "{where} AND {where}",
    "{where} and {where}",
    "{where} && {where}",
    "{where} AND {where} AND {where}",
    "({where}) AND {where}",
    "{where} AND ({where})",
    "{where} AND NOT {where}",
    "{where} OR {where}",
    "({where} OR {where}) AND {where}",
    "{where} || {where}",
    "{where} XOR {where}",
    "{where} AND {where} OR {where}",
    "{where} OR {where} AND {where}",
];

impl Author {
    pub(super) fn condition(&mut self) -> String {
        self.depth += 1;
        let choices = if self.depth < DEPTH_MAX { 12 } else { 9 };
        let templates = match self.random.below(choices) {
            0..5 => &PLAIN[..],
            5..8 => &ODD[..],
            8 => &OTHER[..],
            _ => &JOINED[..],
        };
        let template = *self.random.pick(templates);
        let condition = self.fill(template);
        self.depth -= 1;
        condition
    }
}
