//! The published benchmarks, scaled.
//!
//! RDS had 25 tables of 40,000 rows (250 MB) and a cache of 512 or 16 MB. Here are 5 tables of 12,500 rows, a sixteenth, and caches of a
//! sixteenth: what is hot fits into the cache, or does not, as it did there. What MySQL's own cache hits of the small one is what was
//! published; this proxy's hits more of it, so there is a case more in which it cannot. The last of its tables had 100 tables of 400,000 rows with
//! results of 2.5 GB; here 4 tables of 32,500 rows have results of 40 MB, a 64th, and so are the sizes.

use super::case::{Axis, Caching, Case, CaseName, Ids, Mode, Script, Servers, Transport};
use super::contestant::Contestant;
use super::published;

/// Tables that the servers have.
pub(super) const TABLES: u32 = 8;

/// Rows of each.
pub(super) const ROWS: u32 = 32_500;

const RDS: Case = Case {
    name: CaseName::Hits80,
    title: "",
    script: Script::ReadOnly,
    mode: Mode::Text,
    tables: 5,
    rows: 12_500,
    ids: Ids::Hot { percent: 1 },
    caching: Caching::Exact { mib: 32 },
    axis: Axis::Connections { max: 1024 },
    transport: Transport::Tcp,
    servers: Servers::One,
    contestants: &[Contestant::Direct, Contestant::Native, Contestant::Off, Contestant::On, Contestant::Peer],
    warm_seconds: 3,
    pairs_at: None,
    hits_percent: None,
    published: None,
};

const WRITERS: &[Contestant] = &[Contestant::Direct, Contestant::Off, Contestant::On];

/// In the order in which they are run.
pub(super) const ALL: &[Case] = &[
    Case {
        name: CaseName::Hits100,
        title: "point selects, all from the cache",
        script: Script::PointSelect,
        rows: 2_000,
        ids: Ids::Uniform,
        contestants: &[
            Contestant::Direct,
            Contestant::Native,
            Contestant::Off,
            Contestant::On,
            Contestant::Peer,
            Contestant::Floor,
        ],
        warm_seconds: 2,
        hits_percent: Some(100),
        published: Some(&published::HITS_100),
        ..RDS
    },
    Case {
        title: "read-only transactions, most reads from the cache",
        hits_percent: Some(80),
        published: Some(&published::HITS_80),
        ..RDS
    },
    Case {
        name: CaseName::Hits10,
        title: "read-only transactions, a cache that is too small",
        caching: Caching::Exact { mib: 1 },
        hits_percent: Some(10),
        published: Some(&published::HITS_10),
        ..RDS
    },
    Case {
        name: CaseName::Hits10Even,
        title: "the same where nothing is hot, so that no cache of that size answers more",
        rows: 5_000,
        ids: Ids::Uniform,
        caching: Caching::Exact { mib: 1 },
        pairs_at: Some(16),
        hits_percent: Some(10),
        published: Some(&published::HITS_10),
        ..RDS
    },
    Case {
        name: CaseName::ReadWrite,
        title: "transactions that write, as text",
        script: Script::ReadWrite,
        contestants: WRITERS,
        warm_seconds: 2,
        published: Some(&published::READ_WRITE),
        ..RDS
    },
    Case {
        name: CaseName::ReadWritePrepared,
        title: "transactions that write, prepared",
        script: Script::ReadWrite,
        mode: Mode::Prepared,
        contestants: WRITERS,
        warm_seconds: 2,
        published: Some(&published::READ_WRITE),
        ..RDS
    },
    Case {
        name: CaseName::Sizes,
        title: "point selects, a fifth of the rows hot",
        script: Script::PointSelect,
        tables: 4,
        rows: ROWS,
        ids: Ids::Hot { percent: 20 },
        axis: Axis::CacheMib { sizes: &[1, 2, 4, 8, 16, 64], scale: 64, connections: 64 },
        contestants: &[Contestant::Off, Contestant::On],
        warm_seconds: 2,
        published: Some(&published::SIZES),
        ..RDS
    },
    Case {
        name: CaseName::ThreePoints,
        title: "three servers, point selects, answers live 5 s",
        script: Script::PointSelect,
        hits_percent: Some(85),
        ..THREE
    },
    Case {
        name: CaseName::ThreeRanges,
        title: "three servers, range selects, answers live 5 s",
        script: Script::Ranges,
        hits_percent: Some(76),
        ..THREE
    },
    Case {
        name: CaseName::Workers,
        title: "1,000 hot rows of 8 tables, Unix sockets, answers live 10 s",
        script: Script::PointSelect,
        tables: TABLES,
        rows: 1_000,
        ids: Ids::Uniform,
        caching: Caching::Ttl { ms: 10_000 },
        axis: Axis::Workers { counts: &[1, 2, 4, 8], connections: 256 },
        transport: Transport::Unix,
        contestants: &[
            Contestant::Direct,
            Contestant::FastForward,
            Contestant::Off,
            Contestant::On,
            Contestant::Peer,
        ],
        warm_seconds: 2,
        ..RDS
    },
];

const THREE: Case = Case {
    tables: 1,
    rows: ROWS,
    caching: Caching::Ttl { ms: 5_000 },
    axis: Axis::Connections { max: 64 },
    servers: Servers::Three,
    contestants: &[Contestant::Direct, Contestant::Off, Contestant::On, Contestant::Peer],
    warm_seconds: 2,
    ..RDS
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_there_once_and_fits_the_servers() {
        let mut names: Vec<_> = ALL.iter().map(|case| case.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        for case in ALL {
            assert!(case.tables <= TABLES && case.rows <= ROWS, "{:?}", case.name);
            assert!(
                case.hits_percent.is_some() || case.published.is_some() || case.name == CaseName::Workers
            );
        }
    }

    #[test]
    fn sizes_stand_beside_the_published_ones() {
        let case = ALL.iter().find(|case| case.name == CaseName::Sizes).unwrap();
        for setting in case.settings(&[1]) {
            assert!(published::SIZES.at(case.published_x(setting.mib)).is_some(), "{setting:?}");
        }
    }

    #[test]
    fn connections_beyond_a_cases_own_are_left_out() {
        let cells = |name, connections: &[u32]| {
            let case = ALL.iter().find(|case| case.name == name).unwrap();
            let settings = case.settings(connections);
            settings
                .iter()
                .flat_map(|setting| &setting.cells)
                .map(|cell| cell.connections)
                .collect::<Vec<_>>()
        };
        assert_eq!(cells(CaseName::Hits100, &[1, 1024]), [1, 1024]);
        assert_eq!(cells(CaseName::ThreePoints, &[1, 64, 1024]), [1, 64]);
        assert_eq!(cells(CaseName::Workers, &[1]), [256; 4]);
    }
}
