"""What the proxy said of the SELECTs that a suite sent, and what became of them."""

import json
import re
from collections import Counter

# Names in what was told, which are not counted apart.
PARTICULARS = (
    (r"^the table (information_schema|performance_schema|mysql|sys)\..*? is not known \(yet\)$", r"it reads a table of \1", re.I),
    (r"^the table .*? is not known \(yet\)$", "a table in it is not known (yet)", re.S),
    (r"^\S+ is of an engine other than InnoDB and MyISAM$", "a table in it is of an engine other than InnoDB and MyISAM", 0),
    (r"^\S+ may be a stored function.*", "it calls a function that may be a stored one", re.S),
)


class Judged:
    """By reason: how many SELECTs, and one of them. What is cacheable has the reason ''."""

    def __init__(self, dir):
        self.counts, self.examples = Counter(), {}
        for path in sorted(dir.glob("judged-*.json")):
            for told, count, example in json.loads(path.read_text()):
                reason = in_general(told)
                self.counts[reason] += count
                self.examples.setdefault(reason, example)

    @property
    def percent(self):
        return 100 * self.counts[""] / max(self.counts.total(), 1)

    def __str__(self):
        sent, cacheable = self.counts.total(), self.counts[""]
        return f"{sent} SELECTs were sent; {cacheable} of them are judged cacheable as exact: {self.percent:.1f} %"

    def lines(self):
        yield f"{self}. The rest:"
        for reason, count in self.counts.most_common():
            if reason:
                example = " ".join(self.examples[reason].split())
                yield f"{count:8}  {reason}  e.g. {example[:140]}"


def in_general(told):
    for pattern, reason, flags in PARTICULARS:
        told = re.sub(pattern, reason, told, flags=flags)
    return told


def became(stage):
    """What the proxy's own statistics say of all sessions together, as lines."""
    seen = {name: stage.statistic(name) for name in ("Query_Cache_count_GET", "Query_Cache_count_GET_OK")}
    asked, hits = seen.values()
    sql = (
        "SELECT d.n, c.look_ups, c.fills, c.last_not_cached FROM stats_query_cache c JOIN (SELECT schemaname, username, digest, "
        "SUM(count_star) AS n FROM stats_mysql_query_digest GROUP BY 1, 2, 3) d ON d.schemaname = c.schemaname "
        "AND d.username = c.username AND d.digest = c.digest"
    )
    kept, fills, by_reason = 0, 0, Counter()
    for count, look_ups, filled, reason in stage.admin.rows(sql):
        count, filled = int(count), int(filled)
        kept += count
        fills += filled
        by_reason[reason or "(the last was stored)"] += count - filled
    yield f"the cache was asked {asked} times, gave {hits} hits, and took {fills} answers; of {kept} SELECTs, by the last reason of their digest:"
    for reason, count in by_reason.most_common():
        yield f"{count:8}  {reason}"
