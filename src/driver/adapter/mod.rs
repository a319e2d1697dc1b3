//! The driver over mysql_async: the reference that the load can run on, and [`Admin`] for
//! everything that is not load.
//!
//! Must not know: workloads, datasets. mysql_async's traps are dealt with here: an address
//! never turns into a socket, handles are never closed behind our back, no pool resets a
//! connection, and connecting sends no query of its own.

mod admin;
mod connect;
mod info;

use mysql_async::prelude::{Protocol, Queryable};
use mysql_async::{Conn, Params, QueryResult, Statement, Value};

pub use admin::Admin;
pub use connect::CONNECT_TIMEOUT;

use self::connect::{Address, Connector, protocol};
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
        Self { connector: Connector::new(endpoint) }
    }
}

impl Driver for AsyncDriver {
    type Session = AsyncSession;

    async fn connect(&self) -> Result<AsyncSession, DriverError> {
        let conn = self.connector.connect().await?;
        Ok(AsyncSession { conn, handles: Vec::new(), address: self.connector.address() })
    }
}

/// One connection, with the handles that were prepared on it.
#[derive(Debug)]
pub struct AsyncSession {
    conn: Conn,
    /// By slot. mysql_async's cache of statements is off, so that none of them is closed.
    handles: Vec<Statement>,
    address: Address,
}

impl Session for AsyncSession {
    async fn prepare(&mut self, sql: &str) -> Result<(), DriverError> {
        let handle = self.conn.prep(sql).await.map_err(|error| self.address.error(error))?;
        self.handles.push(handle);
        Ok(())
    }

    async fn send(&mut self, request: &Request) -> Result<Reply, DriverError> {
        let sent = match request.slot {
            None => self.query(&request.text).await,
            Some(slot) => {
                let params = params(request).ok_or_else(|| {
                    protocol(&self.address, "a parameter lies outside of the request's text")
                })?;
                let Some(handle) = self.handles.get(slot) else {
                    return Err(protocol(&self.address, "a handle that was never prepared"));
                };
                execute(&mut self.conn, handle, params).await
            }
        };
        sent.map_err(|error| self.address.error(error))
    }

    async fn close(self) {
        // The server notices a connection that ends without a goodbye all the same.
        let _ = self.conn.disconnect().await;
    }
}

impl AsyncSession {
    async fn query(&mut self, sql: &str) -> mysql_async::Result<Reply> {
        drain(self.conn.query_iter(sql).await?).await
    }
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
