//! The figures of `stats_mysql_global` and of the metrics: which number of the proxy stands under which name.

use nuthatch_admin::{Sample, Statistic};
use nuthatch_config::Follow;
use nuthatch_proxy::{FollowRow, LearntFigures, Levels, Proxy, Totals, WarmingFigures};

use crate::switching::{Ended, Switching};

/// All of them, as they are now.
pub(super) fn samples(proxy: &Proxy, switching: &Switching) -> Vec<Sample> {
    let (totals, levels) = (proxy.totals(), proxy.levels());
    let mut samples = of_totals(&totals);
    samples.extend(of_cache_totals(&totals));
    samples.extend(of_levels(&levels));
    samples.extend(of_follows(&proxy.follows(), proxy.learnt()));
    samples.extend(of_role_changes(switching));
    samples.extend(of_warming(proxy.warming()));
    samples.extend(proxy.pinned_by().into_iter().filter_map(|(reason, count)| {
        Statistic::labelled("pins", reason).map(|statistic| statistic.sample(count))
    }));
    samples.push(Statistic::ConfigurationEpoch.sample(proxy.snapshot().epoch.0));
    for (worker, sessions) in (0..).zip(&levels.sessions_per_worker) {
        samples.push(Statistic::WorkerSessions.sample_of_part(worker, *sessions));
    }
    samples
}

fn of_warming(figures: WarmingFigures) -> [Sample; 7] {
    use Statistic as S;
    [
        S::ServersWarming.sample(figures.held),
        S::WarmGatesClosed.sample(figures.gates_closed),
        S::WarmDumps.sample(figures.dumps),
        S::WarmDumpsRefused.sample(figures.dumps_refused),
        S::WarmReads.sample(figures.reads_sent),
        S::WarmReadsLeftOut.sample(figures.reads_left_out),
        S::WarmReadsFailed.sample(figures.reads_failed),
    ]
}

fn of_follows(follows: &[FollowRow], learnt: LearntFigures) -> [Sample; 11] {
    use Statistic as S;
    let standing = |mode: Follow| follows.iter().filter(|row| row.standing.mode == mode).count() as u64;
    let sum = |of: fn(&FollowRow) -> u64| follows.iter().map(of).sum();
    [
        S::QueryCacheFollowedOff.sample(standing(Follow::Off)),
        S::QueryCacheFollowedBounded.sample(standing(Follow::Bounded)),
        S::QueryCacheFollowedExact.sample(standing(Follow::Exact)),
        S::QueryCacheFollowTransactions.sample(sum(|row| row.transactions)),
        S::QueryCacheFollowUnproven.sample(sum(|row| row.unproven)),
        S::QueryCacheFollowFalls.sample(sum(|row| row.falls)),
        S::QueryCacheFollowNarrowed.sample(sum(|row| row.narrowed)),
        S::QueryCacheFollowLate.sample(sum(|row| row.late)),
        S::QueryCacheFollowColumns.sample(learnt.columns),
        S::QueryCacheFollowColumnsLeftOut.sample(learnt.left_out),
        S::QueryCacheFollowDelayUs.sample(follows.iter().map(|row| row.delay.p99_us).max().unwrap_or(0)),
    ]
}

fn of_cache_totals(totals: &Totals) -> Vec<Sample> {
    use Statistic as S;
    vec![
        S::QueryCacheProbationAnswers.sample(totals.answers_on_probation),
        S::QueryCacheWaits.sample(totals.cache_waits),
        S::QueryCacheWaitsAnswered.sample(totals.cache_waits_answered),
        S::QueryCacheWaitsOver.sample(totals.cache_waits_over),
        S::QueryCacheRefreshes.sample(totals.cache_refreshes),
        S::QueryCacheRefreshesFailed.sample(totals.cache_refreshes_failed),
        S::QueryCacheRefreshesRefused.sample(totals.cache_refreshes_refused),
        S::QueryCacheStaleAnswers.sample(totals.cache_stale_answers),
        S::QueryCacheSnapshotsOpened.sample(totals.cache_snapshots_opened),
    ]
}

fn of_totals(totals: &Totals) -> Vec<Sample> {
    use Statistic as S;
    vec![
        S::Questions.sample(totals.questions),
        S::SlowQueries.sample(totals.slow_queries),
        S::ClientConnectionsCreated.sample(totals.clients_created),
        S::ClientConnectionsAborted.sample(totals.clients_aborted),
        S::QueriesBackendsBytesRecv.sample(totals.backend_bytes_received),
        S::QueriesBackendsBytesSent.sample(totals.backend_bytes_sent),
        S::QueriesFrontendsBytesRecv.sample(totals.frontend_bytes_received),
        S::QueriesFrontendsBytesSent.sample(totals.frontend_bytes_sent),
        S::ComAutocommit.sample(totals.autocommit),
        S::ComAutocommitFiltered.sample(totals.autocommit_filtered),
        S::ComCommit.sample(totals.commit),
        S::ComCommitEarly.sample(totals.commit_early),
        S::ComCommitFiltered.sample(totals.commit_filtered),
        S::ComRollback.sample(totals.rollback),
        S::ComRollbackFiltered.sample(totals.rollback_filtered),
        S::ServersWithoutRoom.sample(totals.servers_without_room),
        S::ComBackendChangeUser.sample(totals.backend_change_user),
        S::ComBackendInitDb.sample(totals.backend_init_db),
        S::ComBackendSetNames.sample(totals.backend_set_names),
        S::ComBackendSetVariables.sample(totals.backend_set_variables),
        S::ComFrontendInitDb.sample(totals.frontend_init_db),
        S::ComFrontendSetNames.sample(totals.frontend_set_names),
        S::ComFrontendUseDb.sample(totals.frontend_use_db),
        S::ComFrontendStmtPrepare.sample(totals.stmt_prepare),
        S::ComFrontendStmtExecute.sample(totals.stmt_execute),
        S::ComFrontendStmtClose.sample(totals.stmt_close),
        S::AccessDeniedWrongPassword.sample(totals.denied_password),
        S::AccessDeniedMaxConnections.sample(totals.denied_max_connections),
        S::AccessDeniedMaxUserConnections.sample(totals.denied_max_user_connections),
        S::ConnPoolGetConnImmediate.sample(totals.pool_immediate),
        S::ConnPoolGetConnSuccess.sample(totals.pool_success),
        S::ConnPoolGetConnFailure.sample(totals.pool_failure),
        S::MaxConnectTimeouts.sample(totals.connect_timeouts),
        S::GeneratedErrorPackets.sample(totals.generated_errors),
        S::UnexpectedFrontendPackets.sample(totals.malformed_packets),
        S::BackendOfflineDuringQuery.sample(totals.lost_during_query),
        S::QueryCacheCountGet.sample(totals.cache_get),
        S::QueryCacheCountGetOk.sample(totals.cache_get_ok),
        S::QueryCacheDecompressions.sample(totals.cache_decompressions),
        S::QueryCacheDecompressionBytes.sample(totals.cache_scratch_bytes),
        S::QueryCacheBytesOut.sample(totals.cache_bytes_out),
        S::StatementRetries.sample(totals.retries),
        S::ReadsSplit.sample(totals.reads_split),
        S::CausalReadsWaited.sample(totals.causal_reads_waited),
        S::CausalReadsWaitedUs.sample(totals.causal_reads_waited_us),
        S::CausalReadsByWriter.sample(totals.causal_reads_by_writer),
        S::CommitsUnknown.sample(totals.unknown_commits),
        S::TransactionReplays.sample(totals.replays),
        S::TransactionReplaysDone.sample(totals.replays_done),
        S::TransactionReplaysRefusedStatement.sample(totals.replays_refused_statement),
        S::TransactionReplaysRefusedTables.sample(totals.replays_refused_tables),
        S::TransactionReplaysRefusedLimits.sample(totals.replays_refused_limits),
        S::TransactionReplaysRefusedAlive.sample(totals.replays_refused_alive),
        S::TransactionReplaysRefusedDiffers.sample(totals.replays_refused_differs),
        S::StatementsTimedOut.sample(totals.late_statements),
        S::TransactionsTooLong.sample(totals.long_transactions),
        S::TransactionsTooIdle.sample(totals.idle_transactions),
        S::ConnectionsPinned.sample(totals.pins),
        S::KilledBackendConnections.sample(totals.killed_connections),
        S::ServerConnectionsDelayed.sample(totals.throttled),
        S::MyconnpollReset.sample(totals.resets),
        S::DiagnosticsFetched.sample(totals.diagnostics_fetched),
        S::KilledBackendQueries.sample(totals.killed_queries),
    ]
}

fn of_role_changes(switching: &Switching) -> Vec<Sample> {
    use Statistic as S;
    let (totals, lost) = (switching.memory().history.totals(), switching.memory().losses.acknowledged());
    let (switchovers, failovers) = (|ended| totals.switchovers(ended), |ended| totals.failovers(ended));
    vec![
        S::SwitchoversDone.sample(switchovers(Ended::Done)),
        S::SwitchoversRefused.sample(switchovers(Ended::Refused)),
        S::SwitchoversRolledBack.sample(switchovers(Ended::RolledBack)),
        S::SwitchoversUnfinished.sample(switchovers(Ended::Unfinished)),
        S::FailoversDone.sample(failovers(Ended::Done)),
        S::FailoversRefused.sample(failovers(Ended::Refused)),
        S::FailoversRolledBack.sample(failovers(Ended::RolledBack)),
        S::FailoversUnfinished.sample(failovers(Ended::Unfinished)),
        S::FailoverLostTransactions.sample(lost),
    ]
}

/// 0 of nothing.
fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or(0)
}

fn of_levels(levels: &Levels) -> Vec<Sample> {
    use Statistic as S;
    let cache = &levels.cache;
    vec![
        S::Uptime.sample(levels.uptime_seconds),
        S::ActiveTransactions.sample(levels.active_transactions),
        S::ThreadWorkers.sample(levels.sessions_per_worker.len() as u64),
        S::ClientConnectionsConnected.sample(levels.clients_connected),
        S::ClientConnectionsNonIdle.sample(levels.clients_non_idle),
        S::ClientConnectionsLimit.sample(levels.max_connections),
        S::ServerConnectionsConnected.sample(levels.servers_connected),
        S::ServerConnectionsPercent.sample(percent(levels.servers_connected, levels.clients_connected)),
        S::ServerConnectionsCreated.sample(levels.servers_created),
        S::ServerConnectionsAborted.sample(levels.servers_failed),
        S::QueryCacheMemoryBytes.sample(cache.bytes),
        S::QueryCacheCountSet.sample(cache.sets),
        S::QueryCacheBytesIn.sample(cache.bytes_in),
        S::QueryCachePurged
            .sample(cache.evicted + cache.expired + cache.invalidated + cache.purged + cache.replaced),
        S::QueryCacheEntries.sample(cache.entries),
        S::QueryCacheLimitBytes.sample(cache.limit_bytes),
        S::QueryCacheEntryLimitBytes.sample(cache.entry_bytes_max),
        S::QueryCacheEvicted.sample(cache.evicted),
        S::QueryCacheExpired.sample(cache.expired),
        S::QueryCacheFlushed.sample(cache.purged),
        S::QueryCacheReplaced.sample(cache.replaced),
        S::QueryCacheRefused.sample(cache.refused),
        S::QueryCacheInvalidated.sample(cache.invalidated),
        S::QueryCacheRepeated.sample(cache.repeated),
        S::QueryCacheCompressedEntries.sample(cache.compressed),
        S::QueryCacheCompressionSparedBytes.sample(cache.spared_bytes),
        S::QueryCacheCompressions.sample(cache.compressions),
        S::QueryCacheMadePlain.sample(cache.made_plain),
        S::QueryCacheTables.sample(levels.exact.tables),
        S::QueryCacheTablesLimit.sample(levels.exact.tables_max),
        S::QueryCacheClockBytes.sample(levels.exact.clock_bytes),
        S::QueryCacheClockMoves.sample(levels.exact.clock_moves),
        S::QueryCacheWritesPending.sample(levels.exact.writes_pending),
        S::QueryCacheWritesStranded.sample(levels.exact.writes_stranded),
        S::QueryDigestEntries.sample(levels.digests),
        S::QueryDigestLimit.sample(levels.digests_max),
        S::StatementShapes.sample(levels.shapes),
        S::StatementShapesLimit.sample(levels.shapes_max),
        S::QueryDigestDropped.sample(levels.digests_dropped),
        S::SessionsWaiting.sample(levels.waiting),
        S::LineLongest.sample(levels.line_longest),
        S::LineLongestLimit.sample(levels.line_statements_max),
        S::LineBytes.sample(levels.line_bytes),
        S::LineBytesLimit.sample(levels.line_bytes_max),
        S::LineRefused.sample(levels.line_refused),
        S::HostgroupsHeld.sample(levels.hostgroups_held),
        S::HostgroupsWithoutServer.sample(levels.hostgroups_without_server),
        S::SessionsPinned.sample(levels.sessions_pinned),
        S::SessionEnvironmentEntries.sample(levels.environments),
        S::SessionEnvironmentLimit.sample(levels.environments_max),
        S::QueryCacheKinds.sample(levels.cache.kinds),
        S::QueryCacheKindBytes.sample(levels.cache.kinds_bytes),
        S::QueryCacheKindBytesLimit.sample(levels.cache.kinds_bytes_max),
        S::QueryCacheRefreshesUnderWay.sample(levels.refreshes_under_way),
        S::QueryCacheCaptureBytes.sample(levels.captures.bytes),
        S::QueryCacheCaptureBytesLimit.sample(levels.captures.bytes_max),
        S::QueryCacheCapturesRefused.sample(levels.captures.refused),
        S::QueryCacheNotAdmitted.sample(levels.cache.not_admitted),
        S::QueryCacheOnProbation.sample(levels.digests_on_probation),
        S::QueryCacheRule.sample(levels.cache.rule.number().into()),
        S::QueryCacheTrials.sample(levels.cache.trials),
        S::QueryCacheTrialHitsRecency.sample(levels.cache.trial_hits[0]),
        S::QueryCacheTrialHitsProven.sample(levels.cache.trial_hits[1]),
        S::QueryCacheTrialHitsFrequency.sample(levels.cache.trial_hits[2]),
        S::WorkerPanics.sample(levels.panics),
    ]
}
