//! The cache of the command line: where it is, and how it is opened.

use crate::print;
use anyhow::{Context, Result};
use std::path::PathBuf;
use xenoglot_cache::translate::present;
use xenoglot_cache::{Cache, Options, Title};

/// Which cache.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Place {
    /// The folder of the cache. Without it: `xenoglot` in the user's cache folder.
    #[arg(long = "cache-folder", value_name = "FOLDER", global = true)]
    pub folder: Option<PathBuf>,
    /// Whose entries are put: any name, by which `cache gc` and `cache export` find them again.
    #[arg(long, value_name = "NAME", global = true)]
    pub title: Option<String>,
    /// Bytes of the cache on disk, 1 GiB by default.
    #[arg(long, value_name = "BYTES", global = true)]
    pub cache_size: Option<u64>,
    /// A cache that machines share, behind the one on disk: `s3://BUCKET` (server, region and credentials from the environment:
    /// `AWS_ENDPOINT_URL`, `AWS_REGION`, …), `redis://HOST`, or a folder. Its entries are believed: use your own.
    #[cfg(feature = "remote")]
    #[arg(long, value_name = "URL|FOLDER", global = true)]
    pub remote: Option<String>,
}

impl Place {
    /// The folder.
    pub fn folder(&self) -> Result<PathBuf> {
        match &self.folder {
            Some(folder) => Ok(folder.clone()),
            None => user_folder().context("there is no user's cache folder; give --cache-folder"),
        }
    }

    /// The title; none in particular if it is not given.
    pub fn title(&self) -> Option<Title> {
        self.title.as_deref().map(Title::new)
    }

    /// Opens the cache.
    pub fn open(&self) -> Result<Cache> {
        let standard = Options::default();
        let options = Options {
            title: self.title().unwrap_or_default(),
            cap: self.cache_size.unwrap_or(standard.cap),
            ..standard
        };
        self.behind(Cache::open(&self.folder()?, present(), &options)?)
    }

    /// Opens the cache if its folder is given, else one in memory.
    pub fn open_if_wanted(&self) -> Result<Cache> {
        if self.folder.is_some() { self.open() } else { self.behind(Cache::memory(present())) }
    }

    /// The cache with the remote one behind it, if that is wanted.
    fn behind(&self, cache: Cache) -> Result<Cache> {
        #[cfg(feature = "remote")]
        if let Some(name) = &self.remote {
            return Ok(cache.with_remote(remote(name)?));
        }
        Ok(cache)
    }
}

/// The remote cache of a URL or folder.
#[cfg(feature = "remote")]
fn remote(name: &str) -> Result<Box<dyn xenoglot_cache::remote::Remote>> {
    use xenoglot_cache::remote::{Bucket, Objects, Redis};
    Ok(match name.split_once("://") {
        Some(("s3", bucket)) => {
            let endpoint = std::env::var("AWS_ENDPOINT_URL").ok();
            Box::new(Objects::bucket(&Bucket { name: bucket.into(), endpoint, ..Bucket::default() })?)
        }
        Some(_) => Box::new(Redis::new(name)?),
        None => Box::new(Objects::folder(std::path::Path::new(name))?),
    })
}

/// What the platform has for caches, and ours in it.
fn user_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Caches"))
    } else {
        // The XDG base directory specification: relative paths are to be ignored.
        let xdg = variable("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
        xdg.or_else(|| variable("HOME").map(|home| home.join(".cache")))
    };
    folder.map(|folder| folder.join("xenoglot"))
}

/// Says if something is wrong with the cache on disk. Results are as right without it.
pub fn report_problem(cache: &Cache) {
    let flushed = cache.flush();
    if let Some(problem) = cache.problem().or(flushed.err()) {
        print::note(format!("the cache is not on disk: {problem}"));
    }
}
