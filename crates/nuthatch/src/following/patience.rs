//! How long a server may take to answer one question.

use nuthatch_source::follow::FollowError;
use tokio::time::{Duration, timeout};

/// See the module's doc.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// What comes of it in time.
pub(super) async fn in_time<T>(
    asked: impl Future<Output = Result<T, FollowError>>,
) -> Result<T, FollowError> {
    match timeout(PATIENCE, asked).await {
        Ok(answered) => answered,
        Err(_elapsed) => Err(FollowError::Lost(format!("no answer within {} s", PATIENCE.as_secs()))),
    }
}
