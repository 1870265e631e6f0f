//! Entries in a Redis server, or one of the servers that speak its protocol.

use super::{Remote, RemoteError};
use crate::key::Key;
use redis::{Client, Commands, Connection};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a call may take, and connecting.
const PATIENCE: Duration = Duration::from_secs(2);

/// A server. Entries have the names `xenoglot:1:KEY`; the server's own settings say which it drops when it is full.
pub struct Redis {
    client: Client,
    /// Connections that nobody uses at the moment.
    idle: Mutex<Vec<Connection>>,
}

impl Redis {
    /// The server of a URL, as `redis://host:6379/0` or `unix:///run/redis.sock`. It is connected to when it is asked first.
    ///
    /// # Errors
    /// No URL of a server.
    pub fn new(url: &str) -> Result<Redis, RemoteError> {
        let client = Client::open(url).map_err(RemoteError::new)?;
        Ok(Redis { client, idle: Mutex::default() })
    }

    fn call<T>(&self, call: impl FnOnce(&mut Connection) -> redis::RedisResult<T>) -> Result<T, RemoteError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connect = || {
            let connection = self.client.get_connection_with_timeout(PATIENCE)?;
            connection.set_read_timeout(Some(PATIENCE))?;
            connection.set_write_timeout(Some(PATIENCE))?;
            Ok(connection)
        };
        let mut connection =
            idle.map_or_else(connect, Ok).map_err(|e: redis::RedisError| RemoteError::new(e))?;
        // One on which a call failed may have half an answer.
        let done = call(&mut connection).map_err(RemoteError::new)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        Ok(done)
    }
}

impl std::fmt::Debug for Redis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redis")
            .field("server", &self.client.get_connection_info().addr())
            .finish_non_exhaustive()
    }
}

fn name(key: &Key) -> String {
    format!("xenoglot:1:{key}")
}

impl Remote for Redis {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, RemoteError> {
        self.call(|connection| connection.get(name(key)))
    }

    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), RemoteError> {
        self.call(|connection| connection.set(name(key), bytes))
    }
}
