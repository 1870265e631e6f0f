//! Entries as objects: in a bucket of an S3-compatible server, or in a folder that machines share.

use super::{Remote, RemoteError};
use crate::key::Key;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ClientOptions, Error, ObjectStoreExt, RetryConfig};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How long a call may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// Where a bucket is and who we are there.
#[derive(Clone, Debug, Default)]
pub struct Bucket {
    /// Its name.
    pub name: String,
    /// The server, as `https://host:9000`; Amazon's if there is none.
    pub endpoint: Option<String>,
    /// Its region.
    pub region: Option<String>,
    /// Key id and secret. Without them, what the environment says (`AWS_ACCESS_KEY_ID`, …).
    pub credentials: Option<(String, String)>,
}

/// A bucket or a folder. Objects have the names `xenoglot/1/AB/KEY`, AB being the first digits of the key.
#[derive(Debug)]
pub struct Objects {
    store: Arc<dyn object_store::ObjectStore>,
    runtime: Runtime,
}

impl Objects {
    /// A folder, as a shared drive has them; it is made if it is not there.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn folder(folder: &std::path::Path) -> Result<Objects, RemoteError> {
        std::fs::create_dir_all(folder).map_err(RemoteError::new)?;
        Objects::of(LocalFileSystem::new_with_prefix(folder).map_err(RemoteError::new)?)
    }

    /// A bucket, which is there already. Where the program has chosen no provider of TLS for rustls yet, it becomes ring.
    ///
    /// # Errors
    /// What it is called makes no sense. Whether it can be reached shows when it is asked.
    pub fn bucket(bucket: &Bucket) -> Result<Objects, RemoteError> {
        // Fails where the program has chosen a provider, which then stays.
        _ = rustls::crypto::ring::default_provider().install_default();
        let retry = RetryConfig { max_retries: 1, retry_timeout: PATIENCE, ..RetryConfig::default() };
        let client = ClientOptions::new()
            .with_timeout(PATIENCE)
            .with_connect_timeout(PATIENCE)
            // A server of one's own network may have no certificate.
            .with_allow_http(bucket.endpoint.as_ref().is_some_and(|e| e.starts_with("http://")));
        let mut builder = AmazonS3Builder::from_env()
            .with_bucket_name(&bucket.name)
            .with_retry(retry)
            .with_client_options(client);
        if let Some(endpoint) = &bucket.endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        if let Some(region) = &bucket.region {
            builder = builder.with_region(region);
        }
        if let Some((id, secret)) = &bucket.credentials {
            builder = builder.with_access_key_id(id).with_secret_access_key(secret);
        }
        Objects::of(builder.build().map_err(RemoteError::new)?)
    }

    fn of(store: impl object_store::ObjectStore) -> Result<Objects, RemoteError> {
        // Calls are made from threads that wait; one thread serves the network.
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("remote cache")
            .enable_all()
            .build()
            .map_err(RemoteError::new)?;
        Ok(Objects { store: Arc::new(store), runtime })
    }

    fn call<T>(&self, call: impl Future<Output = Result<T, Error>>) -> Result<T, CallError> {
        let limited = async { tokio::time::timeout(2 * PATIENCE, call).await };
        match self.runtime.block_on(limited) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(Error::NotFound { .. })) => Err(CallError::NotFound),
            Ok(Err(error)) => Err(CallError::Other(RemoteError::new(error))),
            Err(_) => Err(CallError::Other(RemoteError::new("no answer in time"))),
        }
    }
}

enum CallError {
    NotFound,
    Other(RemoteError),
}

fn path(key: &Key) -> Path {
    let key = key.to_string();
    let folder = key.get(..2).unwrap_or_default();
    Path::from(format!("xenoglot/1/{folder}/{key}"))
}

impl Remote for Objects {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, RemoteError> {
        let path = path(key);
        match self.call(async { self.store.get(&path).await?.bytes().await }) {
            Ok(bytes) => Ok(Some(bytes.to_vec())),
            Err(CallError::NotFound) => Ok(None),
            Err(CallError::Other(error)) => Err(error),
        }
    }

    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), RemoteError> {
        let (path, bytes) = (path(key), bytes.to_vec());
        match self.call(async { self.store.put(&path, bytes.into()).await }) {
            Ok(_) => Ok(()),
            Err(CallError::NotFound) => Err(RemoteError::new("the bucket is not there")),
            Err(CallError::Other(error)) => Err(error),
        }
    }
}
