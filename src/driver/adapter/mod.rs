//! The driver over mysql_async: the reference that the load can run on, and [`Admin`] for
//! everything that is not load.
//!
//! Must not know: workloads, datasets. mysql_async's traps are dealt with here: an address
//! never turns into a socket, handles are never closed behind our back, no pool resets a
//! connection, and connecting sends no query of its own.

mod admin;
mod connect;
mod examine;
mod info;

use std::sync::Arc;
use std::time::Duration;

use mysql_async::prelude::{Protocol, Queryable};
use mysql_async::{Conn, Params, QueryResult, Statement, Value};

pub use admin::{Admin, Prepared};
pub use connect::CONNECT_TIMEOUT;

use self::connect::{Address, Connector, protocol};
use super::handles::{Handles, Sql, Way};
use super::{Driver, DriverError, Reply, Session};
use crate::model::{Endpoint, Param, Request};

/// Opens connections of mysql_async to one endpoint. Needs a tokio runtime with I/O and time.
#[derive(Debug, Clone)]
pub struct AsyncDriver {
    connector: Connector,
}

impl AsyncDriver {
    /// A driver for the endpoint, its schema included; connects to nothing yet.
    pub fn new(endpoint: &Endpoint) -> Self {
        let init = endpoint.session.statements();
        Self { connector: Connector::new(endpoint, init) }
    }
}

impl Driver for AsyncDriver {
    type Session = AsyncSession;

    async fn connect(&self) -> Result<AsyncSession, DriverError> {
        let conn = self.connector.connect().await?;
        Ok(AsyncSession { conn, handles: Handles::default(), address: self.connector.address() })
    }

    fn read_timeout(&self) -> Option<Duration> {
        self.connector.endpoint().session.read_timeout
    }
}

/// One connection, with the handles that were prepared on it.
#[derive(Debug)]
pub struct AsyncSession {
    conn: Conn,
    /// mysql_async's cache of statements is off, so that none is closed behind our back.
    handles: Handles<Statement>,
    address: Address,
}

impl Session for AsyncSession {
    fn expect_statements(&mut self, statements: &Arc<[String]>, handles_max: usize) {
        self.handles = Handles::new(statements, handles_max);
    }

    async fn prepare(&mut self, slot: usize) -> Result<(), DriverError> {
        if !matches!(self.handles.get(slot), Way::Unknown) {
            return Ok(());
        }
        let Some(sql) = self.handles.sql(slot) else {
            return Err(protocol(&self.address, "a slot that names no statement"));
        };
        let mut to_close = self.handles.make_room();
        loop {
            match self.replace(&sql, to_close).await {
                Ok(handle) => {
                    self.handles.insert(slot, handle);
                    return Ok(());
                }
                Err(error) if error.is_not_preparable() && !sql.has_parameters() => {
                    self.handles.insert_text(slot);
                    return Ok(());
                }
                Err(error) => {
                    let gives_way = error.is_out_of_handles();
                    to_close = if gives_way { self.handles.give_up_one() } else { None };
                    if to_close.is_none() {
                        return Err(error);
                    }
                }
            }
        }
    }

    async fn send(&mut self, request: &Request) -> Result<Reply, DriverError> {
        let Some(slot) = request.slot else {
            let sent = query(&mut self.conn, &request.text).await;
            return sent.map_err(|error| self.address.error(error));
        };
        let params = params(request).ok_or_else(|| {
            protocol(&self.address, "a parameter lies outside of the request's text")
        })?;
        self.prepare(slot).await?;
        let sent = match self.handles.get(slot) {
            Way::Handle(handle) => execute(&mut self.conn, handle, params).await,
            Way::Text(sql) => query(&mut self.conn, sql).await,
            Way::Unknown => unreachable!("it was prepared a moment ago"),
        };
        sent.map_err(|error| self.address.error(error))
    }

    async fn close(self) {
        // The server notices a connection that ends without a goodbye all the same.
        let _ = self.conn.disconnect().await;
    }
}

impl AsyncSession {
    /// Closes one statement, prepares another.
    async fn replace(
        &mut self,
        sql: &Sql,
        to_close: Option<Statement>,
    ) -> Result<Statement, DriverError> {
        if let Some(handle) = to_close {
            let closed = self.conn.close(handle).await;
            closed.map_err(|error| self.address.error(error))?;
        }
        self.conn.prep(sql.as_str()).await.map_err(|error| self.address.error(error))
    }
}

async fn query(conn: &mut Conn, sql: &str) -> mysql_async::Result<Reply> {
    drain(conn.query_iter(sql).await?).await
}

async fn execute(
    conn: &mut Conn,
    handle: &Statement,
    params: Vec<Value>,
) -> mysql_async::Result<Reply> {
    drain(conn.exec_iter(handle, Params::Positional(params)).await?).await
}

/// Reads a reply to its end; rows are counted and dropped one by one.
async fn drain<P: Protocol>(mut result: QueryResult<'_, '_, P>) -> mysql_async::Result<Reply> {
    let mut reply = Reply { result_set: !result.columns_ref().is_empty(), ..Reply::default() };
    if reply.result_set {
        while result.next().await?.is_some() {
            reply.rows += 1;
        }
    } else {
        reply.affected_rows = result.affected_rows();
    }
    reply.warnings = result.warnings();
    result.drop_result().await?;
    Ok(reply)
}

/// The parameters as values of mysql_async; `None` if one points outside of the text.
fn params(request: &Request) -> Option<Vec<Value>> {
    let value = |param: &Param| match *param {
        Param::Int(integer) => Some(Value::Int(integer)),
        Param::Text { start, len } => {
            let text = request.text.as_bytes().get(start..start.checked_add(len)?)?;
            Some(Value::Bytes(text.to_vec()))
        }
    };
    request.params.iter().map(value).collect()
}
