//! How many prepared statements each connection of a trial may hold.
//!
//! Must not know: which statements, or how they travel.

use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use crate::driver::DriverError;
use crate::driver::adapter::Admin;
use crate::model::{Endpoint, Spec, counted};

/// How long the handles of the trial before are waited for: a server frees them when it has
/// noticed that their connections ended.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);

/// One handle in so many stays free, for connections that replace lost ones.
const SPARE: u64 = 64;

/// The handles that each of `concurrency` connections may hold, where each has `wanted`
/// statements: all of them, or an even share of what the server has room for.
pub(super) fn per_connection(
    endpoint: &Endpoint,
    spec: &Spec,
    wanted: usize,
    concurrency: u32,
) -> anyhow::Result<usize> {
    if wanted == 0 {
        return Ok(0);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let room = runtime.block_on(room(endpoint, wanted as u64 * u64::from(concurrency)));
    let mut room = room.context("cannot ask the server for its prepared statements")?;
    room.limit = room.limit.min(spec.prepared_statements());
    share(room, wanted, concurrency).ok_or_else(|| {
        anyhow!(
            "the server has room for {} more, too few for {}; raise its \
             max_prepared_stmt_count, or measure with statements = \"text\"",
            counted(room.limit.saturating_sub(room.in_use), "prepared statement"),
            counted(concurrency, "connection")
        )
    })
}

/// What the server says of its prepared statements, of all connections together.
#[derive(Debug, Clone, Copy)]
struct Room {
    limit: u64,
    in_use: u64,
}

fn share(room: Room, wanted: usize, concurrency: u32) -> Option<usize> {
    let free = room.limit.saturating_sub(room.in_use);
    let concurrency = u64::from(concurrency.max(1));
    if wanted as u64 * concurrency <= free {
        return Some(wanted);
    }
    let each = (free - free / SPARE) / concurrency;
    usize::try_from(each).ok().filter(|each| *each > 0)
}

async fn room(endpoint: &Endpoint, wanted: u64) -> Result<Room, DriverError> {
    let mut admin = Admin::connect(endpoint).await?;
    let patience = Instant::now() + PATIENCE;
    // No SELECT: those that the server counts meanwhile are held against the trial's.
    let limit = second(admin.rows("SHOW GLOBAL VARIABLES LIKE 'max_prepared_stmt_count'").await?);
    let room = loop {
        let status = admin.rows("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'").await?;
        let in_use = second(status);
        let is_free = in_use == 0 || wanted <= limit.saturating_sub(in_use);
        if is_free || Instant::now() >= patience {
            break Room { limit, in_use };
        }
        tokio::time::sleep(PAUSE).await;
    };
    admin.close().await;
    Ok(room)
}

/// The number in the second column. A server that does not say has no room.
fn second(rows: Vec<Vec<Option<String>>>) -> u64 {
    let text = rows.into_iter().flatten().nth(1).flatten();
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_hold_all_or_an_even_share_of_the_room() {
        let share =
            |limit, in_use, wanted, concurrency| share(Room { limit, in_use }, wanted, concurrency);
        assert_eq!(share(16_382, 0, 91, 64), Some(91));
        assert_eq!(share(16_382, 0, 2_251, 1_024), Some(15));
        assert_eq!(share(5_824, 0, 91, 64), Some(91));
        assert_eq!(share(5_824, 1, 91, 64), Some(89));
        assert_eq!(share(50, 0, 19, 8), Some(6));
        assert_eq!(share(7, 0, 19, 8), None);
        assert_eq!(share(0, 0, 1, 1), None);
        assert_eq!(share(5, 9, 1, 1), None);
    }
}
