//! Why a dataset does not stand.
//!
//! Must not know: how it is told to the user beyond one sentence with its remedy.

use crate::driver::DriverError;
use crate::model::{Bytes, Checksum, Endpoint, counted};

/// Why a dataset could not be loaded. Whatever it was, what is in stays, and the next call goes on
/// from there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The user asked to stop.
    #[error(
        "loading was interrupted; the rows that are in stay, and the next run goes on from them"
    )]
    Interrupted,
    /// The schema's name is taken by something that is not this dataset.
    #[error(
        "schema `{database}` at {address} is not touched, because {found}; name another one as \
         `database` in the targets file, or, if nobody needs what is in it, add --replace, which \
         drops all its tables"
    )]
    Foreign {
        /// The schema.
        database: String,
        /// Transport and address.
        address: String,
        /// What was found in it.
        found: String,
    },
    /// A view has the name of one of the dataset's tables.
    #[error(
        "schema `{database}` at {address} is not touched, because `{name}` in it is a view and no \
         table, whatever rows it shows; drop or rename it and run again, or name another schema as \
         `database` in the targets file"
    )]
    View {
        /// The schema.
        database: String,
        /// Transport and address.
        address: String,
        /// The view.
        name: String,
    },
    /// The account may not log in.
    #[error(
        "{address} refused the login of `{user}`: {message}; see `user` and `password` of the \
         targets file"
    )]
    Login {
        /// Transport and address.
        address: String,
        /// The account.
        user: String,
        /// The server's words.
        message: String,
    },
    /// Somebody else is loading the same dataset.
    #[error(
        "schema `{database}` at {address} is being loaded by another gridbench; wait for it, or \
         stop it, and run again"
    )]
    Busy {
        /// The schema.
        database: String,
        /// Transport and address.
        address: String,
    },
    /// The dataset names a character set that no server can have.
    #[error("`{charset}` is not the name of a character set; for example utf8mb4 is")]
    Charset {
        /// The name.
        charset: String,
    },
    /// A schema that holds no dataset, whatever is asked.
    #[error(
        "`{database}` cannot hold a dataset: it is the server's own, or no name of a schema; name \
         another one as `database` in the targets file"
    )]
    NoSchema {
        /// The name.
        database: String,
    },
    /// What is missing of the dataset does not fit; nothing was written.
    #[error(
        "the dataset needs about {} MB more, and {} MB are free where the server keeps its data; \
         free some, keep the data elsewhere, or load fewer rows",
        needed.megabytes(), free.megabytes()
    )]
    NoRoom {
        /// Planned room of the missing tables.
        needed: Bytes,
        /// Room that there is.
        free: Bytes,
    },
    /// The server has no room left.
    #[error(
        "the server ran out of disk space {doing}: {message}; free some, or load fewer rows, and \
         run again: the rows that are in stay"
    )]
    DiskFull {
        /// What was being done.
        doing: String,
        /// The server's words.
        message: String,
    },
    /// The account may not do what loading takes.
    #[error(
        "the server refused {doing}: {message}; the account needs all privileges on schema \
         `{database}`: GRANT ALL ON `{database}`.* TO the account"
    )]
    Denied {
        /// What was being done.
        doing: String,
        /// The schema.
        database: String,
        /// The server's words.
        message: String,
    },
    /// The server or the connection failed otherwise.
    #[error("{doing}: {source}")]
    Driver {
        /// What was being done.
        doing: String,
        /// The error.
        source: DriverError,
    },
    /// A table does not hold what was sent.
    #[error(
        "table `{database}`.{table} does not hold what was sent: the server counts {found} from id \
         {first}, and {expected} were sent; look for what else writes to it and run again: it will \
         be made anew"
    )]
    Content {
        /// The schema.
        database: String,
        /// The table.
        table: String,
        /// The first id of the rows that were compared.
        first: u64,
        /// What the server counts.
        found: Checksum,
        /// What was sent.
        expected: Checksum,
    },
    /// A workload's own table does not hold what was sent.
    #[error(
        "table `{database}`.{table} holds {} after loading, not {expected}; look for what \
         else writes to it and run again",
        counted(*found, "row")
    )]
    Count {
        /// The schema.
        database: String,
        /// The table.
        table: String,
        /// Rows that the server counts.
        found: u64,
        /// Rows that were sent.
        expected: u64,
    },
    /// The server was started anew again and again, each time without what it had committed.
    #[error(
        "the server of dataset `{database}` has lost what it had committed, several times; see why \
         it ends, and whether innodb_flush_log_at_trx_commit should be 1, and run again"
    )]
    Forgetful {
        /// The schema.
        database: String,
    },
    /// This machine did not give a thread or a runtime.
    #[error("a load thread could not be started: {message}")]
    System {
        /// The system's words.
        message: String,
    },
}

impl LoadError {
    /// An error of the server or the connection, told apart by what the user can do about it.
    pub(super) fn new(doing: String, database: &str, source: DriverError) -> Self {
        let message = source.to_string();
        if is_disk_full(&source) {
            Self::DiskFull { doing, message }
        } else if matches!(source.code(), 1044 | 1142 | 1143 | 1227 | 1370) {
            Self::Denied { doing, database: database.to_owned(), message }
        } else {
            Self::Driver { doing, source }
        }
    }

    /// An error of making a connection.
    pub(super) fn connecting(
        doing: String,
        (endpoint, database): (&Endpoint, &str),
        source: DriverError,
    ) -> Self {
        match source {
            DriverError::Server { code, message, .. } if LOGIN_CODES.contains(&code) => {
                let (address, user) = (endpoint.address.to_string(), endpoint.user.clone());
                Self::Login { address, user, message }
            }
            source => Self::new(doing, database, source),
        }
    }

    /// Whether another try may do: the connection was lost, or the server is too busy just now.
    pub(super) fn is_transient(&self) -> bool {
        let Self::Driver { source, .. } = self else { return false };
        self.is_lost() || PASSING_CODES.contains(&source.code())
    }

    /// Whether the connection is gone.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self, Self::Driver { source: DriverError::Lost { .. }, .. })
    }

    /// Whether the server takes no files from this client.
    pub(super) fn is_files_refused(&self) -> bool {
        matches!(self, Self::Driver { source, .. } if FILES_REFUSED_CODES.contains(&source.code()))
    }

    /// Whether rows were there already (ER_DUP_ENTRY), or a file's were fewer than were sent, which
    /// is how a server says the same of a file.
    pub(super) fn is_about_duplicates(&self) -> bool {
        matches!(self, Self::Content { .. })
            || matches!(self, Self::Driver { source, .. } if source.code() == 1062)
    }

    /// Whether an index of that name is there already (ER_DUP_KEYNAME).
    pub(super) fn is_duplicate_index(&self) -> bool {
        matches!(self, Self::Driver { source, .. } if source.code() == 1061)
    }
}

/// Wrong password, an account that logs in without one, a host that may not connect.
const LOGIN_CODES: [u16; 3] = [1045, 1698, 1130];
/// What passes: lock wait timeout, deadlock, a row that changed since it was read, a table that
/// did, too many connections.
const PASSING_CODES: [u16; 5] = [1205, 1213, 1020, 1412, 1040];
/// LOAD DATA LOCAL is not allowed, in the words of three generations of servers.
const FILES_REFUSED_CODES: [u16; 3] = [1148, 3948, 4166];

/// 1114 "the table is full", 1021 "disk full", or the system's error 28 in another's words; 14 is
/// a file that could not be made larger, for which MariaDB gives an error number of no system.
fn is_disk_full(error: &DriverError) -> bool {
    let DriverError::Server { code, message, .. } = error else { return false };
    let words = ["No space left", "errno: 28 ", "error 28 ", "Got error 28"];
    matches!(code, 1114 | 1021 | 14) || words.iter().any(|word| message.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: u16, message: &str) -> LoadError {
        let message = message.to_owned();
        let source = DriverError::Server { code, sqlstate: "HY000".into(), message };
        LoadError::new("loading sbtest1".into(), "sbtest_1x1", source)
    }

    #[test]
    fn a_full_disk_is_recognised_in_every_spelling() {
        for (code, message) in [
            (1114, "The table 'sbtest1' is full"),
            (14, "Can't change size of file (Errcode: 940285776 \"Unknown error 940285776\")"),
            (1021, "Disk full (/tmp); waiting for someone to free some space"),
            (1030, "Got error 28 \"No space left on device\" from storage engine InnoDB"),
            (1005, "Can't create table `a`.`b` (errno: 28 \"No space left on device\")"),
        ] {
            let error = error(code, message);
            assert!(matches!(error, LoadError::DiskFull { .. }), "{error}");
            assert!(error.to_string().contains("ran out of disk space loading sbtest1"));
        }
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        assert!(error(1205, "Lock wait timeout exceeded").is_transient());
        assert!(!error(1064, "syntax").is_transient());
        assert!(!error(1114, "The table 'sbtest1' is full").is_transient());
        let source = DriverError::Lost { address: "tcp://db:3306".into(), message: "gone".into() };
        let lost = LoadError::new("loading".into(), "sbtest", source);
        assert!(lost.is_transient() && lost.is_lost());
        assert!(error(1148, "not allowed").is_files_refused());
    }

    #[test]
    fn a_missing_privilege_names_the_grant() {
        let denied = error(1044, "Access denied for user 'bench'@'%' to database 'sbtest_1x1'");
        assert!(denied.to_string().contains("GRANT ALL ON `sbtest_1x1`.*"), "{denied}");
        assert!(matches!(error(1064, "syntax"), LoadError::Driver { .. }));
    }
}
