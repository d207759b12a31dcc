//! Which server of a hostgroup a statement goes to: by weight among those that are online.

use std::cell::Cell;
use std::sync::Arc;

use crate::backend::Server;

/// One of the online servers that have not been tried, by weight.
pub(in crate::backend) fn choose<'a>(
    servers: &'a [Arc<Server>],
    now_ms: u64,
    tried: &[Arc<Server>],
) -> Option<&'a Arc<Server>> {
    if let ([server], []) = (servers, tried) {
        return server.takes_new_work(now_ms).then_some(server);
    }
    let candidates = || {
        servers.iter().filter(|server| {
            server.takes_new_work(now_ms) && !tried.iter().any(|known| Arc::ptr_eq(known, server))
        })
    };
    let total: u64 = candidates().map(|server| u64::from(server.weight())).sum();
    let mut ticket = draw(total)?;
    candidates().find(|server| {
        let weight = u64::from(server.weight());
        let is_winner = ticket < weight;
        ticket = ticket.saturating_sub(weight);
        is_winner
    })
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
            let hits = (0..10_000).filter(|_| choose(&servers, 0, &[]).unwrap().port == 1).count();
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
        assert_eq!(choose(&servers, 0, &[]).unwrap().port, 5);
        assert!(choose(&servers, 0, &[Arc::clone(&servers[4])]).is_none());
    }

    #[test]
    fn failures_within_a_second_shun_and_time_brings_back() {
        let servers = [server(1, 1, ServerStatus::Online)];
        (0..4).for_each(|_| servers[0].failed(5_000, 5, 10_000, ""));
        assert!(choose(&servers, 5_000, &[]).is_some());
        servers[0].failed(5_100, 5, 10_000, "");
        assert_eq!(servers[0].status(5_100), ServerStatus::Shunned);
        assert!(choose(&servers, 15_099, &[]).is_none());
        assert!(choose(&servers, 15_100, &[]).is_some());
    }
}
