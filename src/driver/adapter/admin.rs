//! A connection for administration: few statements, whole answers.
//!
//! Must not know: what it administers.

use std::fmt;

use futures_util::stream;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, InfileData, Params, Row, Statement, Value};

use super::connect::{Address, Connector};
use crate::driver::DriverError;
use crate::model::{Endpoint, Param};

/// A statement that stands prepared on one connection.
#[derive(Debug)]
pub struct Prepared(Statement);

/// One connection, one statement at a time. Needs a tokio runtime with I/O and time.
pub struct Admin {
    conn: Conn,
    address: Address,
    connector: Connector,
}

impl Admin {
    /// Connects and logs in, in [`super::CONNECT_TIMEOUT`] at most.
    pub async fn connect(endpoint: &Endpoint) -> Result<Self, DriverError> {
        // What the load is told besides, a time-out for one, would end what is long by nature.
        let connector = Connector::new(endpoint, endpoint.session.init.clone());
        let (conn, address) = (connector.connect().await?, connector.address());
        Ok(Self { conn, address, connector })
    }

    /// Where it is connected to.
    pub(super) fn endpoint(&self) -> &Endpoint {
        self.connector.endpoint()
    }

    /// Runs a statement and drops its answer; returns the rows that it changed.
    pub async fn execute(&mut self, sql: &str) -> Result<u64, DriverError> {
        let result = self.conn.query_drop(sql).await;
        result.map_err(|error| self.address.error(error))?;
        Ok(self.conn.affected_rows())
    }

    /// Runs a `LOAD DATA LOCAL INFILE` whose file is these pieces, whatever its name; returns
    /// the rows that the server took. Pieces are asked for as they are sent.
    pub async fn load_data<I>(&mut self, sql: &str, pieces: I) -> Result<u64, DriverError>
    where
        I: Iterator<Item = String> + Send + Sync + 'static,
    {
        let pieces = stream::iter(pieces.map(|piece| Ok(piece.into())));
        self.conn.set_infile_handler(async move { Ok(Box::pin(pieces) as InfileData) });
        self.execute(sql).await
    }

    /// Prepares a statement. It stands until it is closed, or the connection is.
    pub async fn prepare(&mut self, sql: &str) -> Result<Prepared, DriverError> {
        let prepared = self.conn.prep(sql).await;
        prepared.map(Prepared).map_err(|error| self.address.error(error))
    }

    /// Runs a prepared statement and drops its answer; returns the rows that it changed. A text
    /// parameter that points outside of `text` is empty.
    pub async fn execute_prepared(
        &mut self,
        prepared: &Prepared,
        text: &str,
        params: &[Param],
    ) -> Result<u64, DriverError> {
        let value = |param: &Param| match *param {
            Param::Int(integer) => Value::Int(integer),
            Param::Text { start, len } => {
                let text = text.as_bytes().get(start..start.saturating_add(len));
                Value::Bytes(text.unwrap_or_default().to_vec())
            }
        };
        let values = Params::Positional(params.iter().map(value).collect());
        let result = self.conn.exec_drop(&prepared.0, values).await;
        result.map_err(|error| self.address.error(error))?;
        Ok(self.conn.affected_rows())
    }

    /// Closes a prepared statement.
    pub async fn close_prepared(&mut self, prepared: Prepared) -> Result<(), DriverError> {
        self.conn.close(prepared.0).await.map_err(|error| self.address.error(error))
    }

    /// Runs a query; one text for each column, `None` for NULL.
    pub async fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DriverError> {
        let rows: Vec<Row> =
            self.conn.query(sql).await.map_err(|error| self.address.error(error))?;
        Ok(rows.into_iter().map(|row| row.unwrap().into_iter().map(text).collect()).collect())
    }

    /// The first column of the first row; `None` for no row, or NULL.
    pub async fn scalar(&mut self, sql: &str) -> Result<Option<String>, DriverError> {
        let first = self.rows(sql).await?.into_iter().next();
        Ok(first.and_then(|row| row.into_iter().next()).flatten())
    }

    /// The server's number of this connection, as KILL takes it.
    pub fn id(&self) -> u32 {
        self.conn.id()
    }

    /// Transport and address, as errors name them.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Says goodbye and closes the connection.
    pub async fn close(self) {
        // The server notices a connection that ends without a goodbye all the same.
        let _ = self.conn.disconnect().await;
    }
}

impl fmt::Debug for Admin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admin").field("address", &self.address).finish_non_exhaustive()
    }
}

/// A value as the text protocol sends it; bytes that are not UTF-8 are replaced.
fn text(value: Value) -> Option<String> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        other => Some(other.as_sql(true)),
    }
}
