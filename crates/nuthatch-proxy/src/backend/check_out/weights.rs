//! Which server of a hostgroup a statement goes to: by weight among those that are online.

use std::cell::Cell;
use std::sync::Arc;

use crate::backend::Server;
use crate::backend::server::health::gate::ALL;
use crate::backend::server::known::caught_up::Need;

/// One of the online servers that have not been tried and show what is needed, by weight; one that has come back gets its share by and by, in `slow_start_ms`.
/// Of who are `doubted`, a connection was lost a moment ago. One that is cold gets little of its share, or none, and all where no other one is left.
pub(in crate::backend) fn choose<'a>(
    servers: &'a [Arc<Server>],
    slow_start_ms: u64,
    now_ms: u64,
    tried: &[Arc<Server>],
    need: Option<&Need>,
    doubted: Doubted,
) -> Option<&'a Arc<Server>> {
    if let ([server], [], None) = (servers, tried, need) {
        // Who is alone rises too: beside one that comes later it has risen.
        return match slow_start_ms {
            0 => server.takes_new_work(now_ms),
            _ => server.share(now_ms, slow_start_ms).is_some(),
        }
        .then_some(server);
    }
    let choose = |leaves_out_doubted: bool, gates: Gates| {
        by_share(|| {
            let is_one = |server: &&Arc<Server>| {
                !tried.iter().any(|known| Arc::ptr_eq(known, server))
                    && (!leaves_out_doubted || !server.is_doubted(now_ms))
                    && need.is_none_or(|need| need.is_met_by(&server.known.caught_up))
            };
            let candidates = servers.iter().filter(is_one);
            candidates.filter_map(|server| {
                let part = if gates == Gates::Count { server.part() } else { 1 };
                if part == 0 {
                    // It rises when it is warm.
                    server.is_held_back();
                    return None;
                }
                Some((server, server.share(now_ms, slow_start_ms)? * part))
            })
        })
    };
    let is_any_cold = servers.iter().any(|server| server.part() < ALL);
    let choose = |leaves_out_doubted: bool| {
        let warm = is_any_cold.then(|| choose(leaves_out_doubted, Gates::Count)).flatten();
        // Rather one that is cold than none.
        warm.or_else(|| choose(leaves_out_doubted, Gates::DoNotCount))
    };
    match doubted {
        Doubted::Alike => choose(false),
        Doubted::Last => choose(true).or_else(|| choose(false)),
    }
}

/// Whether servers that are cold get a part of their share only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gates {
    Count,
    DoNotCount,
}

/// How servers are asked of which a connection was lost a moment ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::backend) enum Doubted {
    /// As the others.
    Alike,
    /// Only for want of another: the statement has just lost its connection, and that server may be about to close the rest.
    Last,
}

impl Doubted {
    /// For a statement that is asked again, or is not.
    pub(in crate::backend) const fn by(is_again: bool) -> Self {
        if is_again { Self::Last } else { Self::Alike }
    }
}

/// One of them, evenly by their shares.
fn by_share<'a, Shares: Iterator<Item = (&'a Arc<Server>, u64)>>(
    shares: impl Fn() -> Shares,
) -> Option<&'a Arc<Server>> {
    let mut ticket = draw(shares().map(|(_, share)| share).sum())?;
    let mut last = None;
    for (server, share) in shares() {
        if ticket < share {
            return Some(server);
        }
        ticket -= share;
        last = Some(server);
    }
    // Shares have become smaller since they were added up.
    last
}

thread_local! {
    /// State of each thread's generator (SplitMix64); it need not be unpredictable, only even.
    static SEED: Cell<u64> = Cell::new(rapidhash::v3::rapidhash_v3(
        format!("{:?}", std::thread::current().id()).as_bytes(),
    ));
}

/// A number below `total`, evenly drawn; `None` when there is none.
fn draw(total: u64) -> Option<u64> {
    let seed = SEED.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
    SEED.set(seed);
    let mut mixed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed ^ (mixed >> 31)).checked_rem(total)
}
#[cfg(test)]
mod tests {
    use nuthatch_config::{HostgroupId, ServerStatus};

    use super::*;

    fn server(port: u16, weight: u32, status: ServerStatus) -> Arc<Server> {
        let mut config = nuthatch_config::Server::new(HostgroupId(0), "127.0.0.1", port);
        config.weight = weight;
        config.status = status;
        Server::of(&config)
    }

    #[test]
    fn weights_are_met_within_2_points_over_10_000_draws() {
        for (first, second) in [(1, 1), (1, 99), (99, 1)] {
            let servers = [server(1, first, ServerStatus::Online), server(2, second, ServerStatus::Online)];
            let hits = (0..10_000)
                .filter(|_| choose(&servers, 0, 0, &[], None, Doubted::Alike).unwrap().port == 1)
                .count();
            let expected = f64::from(first) / f64::from(first + second);
            let found = hits as f64 / 10_000.0;
            assert!((found - expected).abs() < 0.02, "{first}:{second} gave {found}");
        }
    }

    #[test]
    fn only_online_servers_with_weight_that_were_not_tried_are_chosen() {
        let servers = [
            server(1, 0, ServerStatus::Online),
            server(2, 5, ServerStatus::OfflineSoft),
            server(3, 5, ServerStatus::Shunned),
            server(4, 5, ServerStatus::OfflineHard),
            server(5, 1, ServerStatus::Online),
        ];
        assert_eq!(choose(&servers, 0, 0, &[], None, Doubted::Alike).unwrap().port, 5);
        assert!(choose(&servers, 0, 0, &[Arc::clone(&servers[4])], None, Doubted::Alike).is_none());
    }

    /// Of so many draws, how many per cent go to the second of two servers of the same weight.
    fn share_of_second(servers: &[Arc<Server>], now_ms: u64) -> u32 {
        let draws = (0..10_000)
            .filter(|_| choose(servers, 1_000, now_ms, &[], None, Doubted::Alike).unwrap().port == 2)
            .count();
        u32::try_from((draws + 50) / 100).unwrap()
    }

    #[test]
    fn one_that_comes_back_gets_its_share_by_and_by() {
        let servers = [server(1, 1, ServerStatus::Online), server(2, 1, ServerStatus::Online)];
        // Both are new: they rise alike.
        assert!(share_of_second(&servers, 10_000).abs_diff(50) <= 2);
        assert!(share_of_second(&servers, 11_000).abs_diff(50) <= 2);
        servers[1].failed(20_000, 1, 10_000, "");
        assert_eq!(share_of_second(&servers, 20_000), 0);
        // 1 part of 11, 5 of 15, all of its half.
        for (now_ms, expected) in [(30_000, 9), (30_450, 33), (31_000, 50)] {
            let share = share_of_second(&servers, now_ms);
            assert!(share.abs_diff(expected) <= 2, "{share} at {now_ms}");
        }
        servers[0].failed(40_000, 1, 10_000, "");
        servers[1].failed(40_000, 1, 5_000, "");
        assert!(choose(&servers, 1_000, 40_000, &[], None, Doubted::Alike).is_none());
        assert_eq!(share_of_second(&servers, 45_000), 100, "who is alone gets all");
    }

    #[test]
    fn one_of_which_a_connection_was_lost_is_asked_for_want_of_another_only() {
        let servers = [server(1, 1000, ServerStatus::Online), server(2, 1, ServerStatus::Online)];
        servers[0].doubt(5_000);
        assert!((0..100).any(|_| choose(&servers, 0, 5_000, &[], None, Doubted::Alike).unwrap().port == 1));
        assert!((0..100).all(|_| choose(&servers, 0, 5_000, &[], None, Doubted::Last).unwrap().port == 2));
        assert_eq!(
            choose(&servers, 0, 5_000, &[Arc::clone(&servers[1])], None, Doubted::Last).unwrap().port,
            1
        );
        assert_eq!(choose(&servers[..1], 0, 5_000, &[], None, Doubted::Last).unwrap().port, 1);
        assert!((0..100).any(|_| choose(&servers, 0, 6_000, &[], None, Doubted::Last).unwrap().port == 1));
    }

    #[test]
    fn one_that_is_cold_gets_a_part_of_its_share_and_all_for_want_of_another() {
        let servers = [server(1, 1, ServerStatus::Online), server(2, 1, ServerStatus::Online)];
        let settings = nuthatch_config::Warming { pct: 90, weight_pct: 25, ..Default::default() };
        let part_of_second = |weight_pct| {
            servers[1].keep_gate(nuthatch_config::Warming { weight_pct, ..settings }, 0);
            servers[1].suspect(0);
            let draws =
                (0..10_000).filter(|_| choose(&servers, 0, 0, &[], None, Doubted::Alike).unwrap().port == 2);
            (draws.count() + 50) / 100
        };
        assert!(part_of_second(25).abs_diff(20) <= 2, "25 of 125");
        assert_eq!(part_of_second(0), 0);
        let chosen =
            |tried: &[Arc<Server>]| choose(&servers, 0, 0, tried, None, Doubted::Alike).unwrap().port;
        assert_eq!(chosen(&[Arc::clone(&servers[0])]), 2, "the other one gave nothing");
        assert_eq!(choose(&servers[1..], 0, 0, &[], None, Doubted::Alike).unwrap().port, 2, "it is alone");
        servers[0].doubt(0);
        assert_eq!(
            choose(&servers, 0, 0, &[], None, Doubted::Last).unwrap().port,
            2,
            "rather cold than lost"
        );
    }

    #[test]
    fn failures_within_a_second_shun_and_time_brings_back() {
        let servers = [server(1, 1, ServerStatus::Online)];
        (0..4).for_each(|_| servers[0].failed(5_000, 5, 10_000, ""));
        assert!(choose(&servers, 0, 5_000, &[], None, Doubted::Alike).is_some());
        servers[0].failed(5_100, 5, 10_000, "");
        assert_eq!(servers[0].status(5_100), ServerStatus::Shunned);
        assert!(choose(&servers, 0, 15_099, &[], None, Doubted::Alike).is_none());
        assert!(choose(&servers, 0, 15_100, &[], None, Doubted::Alike).is_some());
    }
}
