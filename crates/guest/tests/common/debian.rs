//! Debian's packages for `mipsel` and sources, from the machine's own mirror, with a configuration of apt that changes nothing
//! of the machine's: its own lists, state and archives.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use xenoglot_testgen::debian::cache;

/// The last release with packages for `mipsel`.
const RELEASE: &str = "bookworm";
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// One fetches at a time: tests share the folder.
static FETCHING: Mutex<()> = Mutex::new(());

/// Runs a command; what went wrong in words.
fn done(command: &mut Command) -> Result<Vec<u8>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.env("LC_ALL", "C").output().map_err(|e| format!("{name}: {e}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{name}: {}", errors.lines().last().unwrap_or("failed")))
}

/// The mirrors with this machine's release of Debian, as apt reads its own configuration.
fn mirrors(folder: &Path) -> Result<Vec<String>, String> {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let field = |name: &str| release.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    if field("ID=") != "debian" {
        return Err("this is not Debian".into());
    }
    let end = format!("/dists/{}/InRelease", field("VERSION_CODENAME="));
    let lists = format!("Dir::State::lists={}", folder.join("none").display());
    std::fs::create_dir_all(folder.join("none/partial")).map_err(|e| e.to_string())?;
    let addresses = done(Command::new("apt-get").args(["-o", &lists, "--print-uris", "update"]))?;
    let addresses = String::from_utf8_lossy(&addresses).into_owned();
    Ok(addresses
        .lines()
        .filter_map(|line| line.split('\'').nth(1)?.strip_suffix(&end).map(str::to_owned))
        .collect())
}

/// apt with a configuration of its own in the folder, for this kind of source.
struct Apt {
    folder: PathBuf,
}

impl Apt {
    fn new(folder: PathBuf, kind: &str) -> Result<Self, String> {
        for name in ["lists/partial", "archives/partial"] {
            std::fs::create_dir_all(folder.join(name)).map_err(|e| e.to_string())?;
        }
        let state = folder.display();
        // The machine's hooks and indices of no use are cleared; its proxies stay.
        let configuration = format!(
            "#clear APT::Architectures; #clear APT::Update::Pre-Invoke; #clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success; #clear Acquire::IndexTargets::deb::DEP-11;
APT::Architecture \"mipsel\"; APT::Architectures {{ \"mipsel\"; }}; APT::Sandbox::User \"root\";
APT::Install-Recommends \"false\"; Acquire::Languages \"none\"; Acquire::Retries \"1\"; Acquire::http::Timeout \"30\";
Dir::State \"{state}\"; Dir::State::lists \"{state}/lists\"; Dir::State::status \"{state}/status\";
Dir::Cache \"{state}\"; Dir::Cache::archives \"{state}/archives\";
Dir::Etc::sourcelist \"{state}/sources.list\"; Dir::Etc::sourceparts \"-\";\n"
        );
        let signed = if Path::new(KEYS).is_file() { format!("[signed-by={KEYS}] ") } else { String::new() };
        let sources: String = mirrors(&folder)?
            .iter()
            .map(|mirror| format!("{kind} {signed}{mirror} {RELEASE} main\n"))
            .collect();
        if sources.is_empty() {
            return Err("apt has no mirror of Debian".into());
        }
        for (name, text) in
            [("apt.conf", configuration), ("sources.list", sources), ("status", String::new())]
        {
            std::fs::write(folder.join(name), text).map_err(|e| e.to_string())?;
        }
        let apt = Self { folder };
        apt.run(&["update"])?;
        Ok(apt)
    }

    fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        let mut command = Command::new("apt-get");
        command.arg("-c").arg(self.folder.join("apt.conf")).args(["-q", "-y"]).args(arguments);
        done(command.current_dir(self.folder.join("archives")))
    }

    /// The files fetched.
    fn archives(&self) -> Result<Vec<PathBuf>, String> {
        let entries = std::fs::read_dir(self.folder.join("archives")).map_err(|e| e.to_string())?;
        Ok(entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect())
    }
}

/// Does the work in an empty folder of the cache, and only once: later calls find the folder.
fn once(name: &str, work: impl FnOnce(&Path) -> Result<(), String>) -> Result<PathBuf, String> {
    let _one = FETCHING.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = cache().ok_or("no folder for caches")?.join(name);
    if !folder.is_dir() {
        let part = folder.with_extension(format!("part{}", std::process::id()));
        std::fs::create_dir_all(&part).map_err(|e| e.to_string())?;
        let made = work(&part).and_then(|()| std::fs::rename(&part, &folder).map_err(|e| e.to_string()));
        if let Err(e) = made {
            // Another process may have been faster.
            let _ = std::fs::remove_dir_all(&part);
            if !folder.is_dir() {
                return Err(e);
            }
        }
    }
    Ok(folder)
}

/// The packages, and what they depend on, below a root of their own.
pub fn packages(name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let folder = once(name, |folder| {
        let apt = Apt::new(folder.join("apt"), "deb")?;
        apt.run(&[&["install", "--download-only"], packages].concat())?;
        let root = folder.join("root");
        std::fs::create_dir_all(&root).map_err(|e| e.to_string())?;
        for archive in apt.archives()? {
            if archive.extension().is_some_and(|extension| extension == "deb") {
                done(Command::new("dpkg-deb").arg("-x").arg(archive).arg(&root))?;
            }
        }
        std::fs::remove_dir_all(folder.join("apt")).map_err(|e| e.to_string())
    })?;
    Ok(folder.join("root"))
}

/// The unpacked upstream sources of a package.
pub fn sources(package: &str) -> Result<PathBuf, String> {
    let folder = once(package, |folder| {
        let apt = Apt::new(folder.join("apt"), "deb-src")?;
        apt.run(&["source", "--download-only", package])?;
        let root = folder.join("root");
        std::fs::create_dir_all(&root).map_err(|e| e.to_string())?;
        for archive in apt.archives()? {
            if archive.to_string_lossy().contains(".orig.tar.") {
                let mut tar = Command::new("tar");
                done(tar.args(["--strip-components=1", "-xf"]).arg(archive).current_dir(&root))?;
            }
        }
        std::fs::remove_dir_all(folder.join("apt")).map_err(|e| e.to_string())
    })?;
    Ok(folder.join("root"))
}
