//! What is asked of a server before anything is done there.
//!
//! Must not know: what follows from the answers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::Admin;
use crate::driver::DriverError;
use crate::model::{Examination, Others};

/// How long a server may take to forget connections of ours that have just ended.
const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(50);

impl Admin {
    /// Everything that can be asked without changing anything.
    pub async fn examine(&mut self) -> Result<Examination, DriverError> {
        let account = self.scalar("SELECT CURRENT_USER()").await?.unwrap_or_default();
        let clock_ahead_ms = self.clock_ahead_ms().await?;
        let grants = self.grants().await?;
        let mut others = self.others().await?;
        let patience = Instant::now() + PATIENCE;
        while others.connections > 0 && Instant::now() < patience {
            tokio::time::sleep(PAUSE).await;
            others = self.others().await?;
        }
        let info = self.server_info().await?;
        let comes_from = self.comes_from().await?;
        let identity = self.identity().await?;
        Ok(Examination { info, account, identity, comes_from, grants, clock_ahead_ms, others })
    }

    /// From where the server sees this connection come.
    async fn comes_from(&mut self) -> Result<Option<String>, DriverError> {
        let sql = "SELECT HOST FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()";
        match self.scalar(sql).await {
            // Not every server lets everybody see its list.
            Err(DriverError::Server { .. }) => Ok(None),
            host => host,
        }
    }

    async fn clock_ahead_ms(&mut self) -> Result<i64, DriverError> {
        let ours = |time: SystemTime| {
            let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        };
        let before = ours(SystemTime::now());
        let theirs = self.scalar("SELECT ROUND(UNIX_TIMESTAMP(NOW(3)) * 1000)").await?;
        let middle = before.midpoint(ours(SystemTime::now()));
        let theirs = theirs.and_then(|text| text.parse::<i64>().ok());
        Ok(theirs.map_or(0, |theirs| theirs.saturating_sub(middle)))
    }

    /// The grants of the account, and of the roles that are in effect for it.
    async fn grants(&mut self) -> Result<Vec<String>, DriverError> {
        // Servers without roles do not know the function.
        let role = self.scalar("SELECT CURRENT_ROLE()").await.ok().flatten();
        let using = match role.as_deref() {
            // MariaDB lists what its current role grants without being asked.
            None | Some("" | "NONE") => String::new(),
            Some(roles) => format!(" FOR CURRENT_USER() USING {roles}"),
        };
        let rows = match self.rows(&format!("SHOW GRANTS{using}")).await {
            Err(DriverError::Server { .. }) => self.rows("SHOW GRANTS").await?,
            rows => rows?,
        };
        Ok(rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect())
    }

    async fn others(&mut self) -> Result<Others, DriverError> {
        let own = self.id().to_string();
        let mut accounts: BTreeMap<String, u64> = BTreeMap::new();
        let mut others = Others::default();
        let mut seen = 0;
        for row in self.rows("SHOW PROCESSLIST").await? {
            let column = |place: usize| row.get(place).and_then(Option::as_deref).unwrap_or("");
            let (id, user, host, command) = (column(0), column(1), column(2), column(4));
            match (user, command) {
                ("event_scheduler", _) | (_, "Daemon") => continue,
                ("system user", _) => {
                    others.is_replica |= !host.is_empty() || is_replication(command);
                    continue;
                }
                _ if id == own => continue,
                (_, "Binlog Dump" | "Binlog Dump GTID") => others.replicas += 1,
                _ => {
                    let host = host.split(':').next().unwrap_or_default();
                    *accounts.entry(format!("{user}@{host}")).or_default() += 1;
                }
            }
            seen += 1;
        }
        // Without the privilege PROCESS only our own account's are listed; all are counted.
        let counted = self.rows("SHOW GLOBAL STATUS LIKE 'Threads_connected'").await?;
        let counted = counted.into_iter().flatten().nth(1).flatten();
        let counted = counted.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        others.connections = seen.max(counted.saturating_sub(1));
        others.accounts = accounts.into_iter().collect();
        Ok(others)
    }
}

/// What the threads of a replica are called.
fn is_replication(command: &str) -> bool {
    command.starts_with("Slave_") || matches!(command, "Connect" | "Query")
}
