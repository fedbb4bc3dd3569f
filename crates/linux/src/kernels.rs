//! The kernels that `tailback kernel build` has stored.
//!
//! A kernel is a directory `VERSION-hzN` with the files `linux` (the kernel), `guest` (its root file system) and `kernel.json` (the
//! manifest). Settings select one by the beginning of its version and its tick rate.

use crate::sources::guest_hash;
use serde::Deserialize;
use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The directory of built kernels: `$TAILBACK_KERNELS`, or `tailback/kernels` in the user's cache directory.
pub fn folder() -> PathBuf {
    let given = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // XDG Base Directory Specification: relative paths are invalid and ignored.
    let cache = || given("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let home = || given("HOME").unwrap_or_else(|| PathBuf::from("/")).join(".cache");
    given("TAILBACK_KERNELS").unwrap_or_else(|| cache().unwrap_or_else(home).join("tailback").join("kernels"))
}

/// The manifest of a kernel.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Timer ticks per second.
    pub(crate) hz: u32,
    /// Congestion controls.
    pub(crate) congestion: Vec<String>,
    /// Hashes of the kernel, of the root file system, and of the source of the program in it.
    pub(crate) linux_sha256: String,
    pub(crate) guest_sha256: String,
    guest_source_sha256: String,
    /// The virtual address of the first byte of memory.
    pub(crate) physmem: u64,
    /// Offset and size of the fields of a connection's state.
    pub(crate) fields: HashMap<String, (u64, u64)>,
    /// Offset and mask of the field `icsk_ca_state`.
    pub(crate) ca_state: (u64, u8),
}

/// A built kernel.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) path: PathBuf,
    pub(crate) manifest: Manifest,
}

impl Kernel {
    /// The newest kernel of a folder whose version begins with `version`, if that is given, and with this tick rate.
    ///
    /// # Errors
    /// There is none, or its guest program is that of another version of Tailback.
    pub(crate) fn find(folder: &Path, version: Option<&str>, hz: u32) -> Result<Kernel, String> {
        let all = kernels(folder);
        let matches = |kernel: &&Kernel| {
            kernel.manifest.hz == hz && version.is_none_or(|version| begins(&kernel.manifest.version, version))
        };
        let found = all.iter().filter(matches).max_by_key(|kernel| numbers(&kernel.manifest.version));
        let Some(found) = found else {
            let built = all.iter().map(|kernel| kernel.manifest.name.as_str()).collect::<Vec<_>>().join(", ");
            let built = if built.is_empty() { "none is".into() } else { built };
            let wanted = version.map_or(String::new(), |version| format!(" {version}"));
            let source = version.map_or(String::new(), |version| format!(" --source linux-{version}.tar.xz"));
            return Err(format!(
                "there is no kernel{wanted} with {hz} Hz; type `tailback kernel build{source} --hz {hz}` to build it; expected one that is \
                 built: {built}"
            ));
        };
        if found.manifest.guest_source_sha256 != guest_hash() {
            let Manifest { name, hz, .. } = &found.manifest;
            return Err(format!(
                "the guest program of the kernel `{name}` is that of another version of Tailback; type `tailback kernel build --hz {hz}` with \
                 the same source, which compiles only this program"
            ));
        }
        Ok(found.clone())
    }

    /// Everything on which results depend.
    pub(crate) fn identity(&self) -> String {
        let Manifest { name, linux_sha256, guest_sha256, .. } = &self.manifest;
        format!("Linux {name} {linux_sha256} guest {guest_sha256}")
    }
}

/// All kernels of a folder.
fn kernels(folder: &Path) -> Vec<Kernel> {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let read = |path: PathBuf| {
        let manifest = fs::read_to_string(path.join("kernel.json")).ok()?;
        let manifest: Manifest = serde_json::from_str(&manifest).ok()?;
        let is_named = path.file_name().is_some_and(|name| name == manifest.name.as_str());
        is_named.then_some(Kernel { path, manifest })
    };
    let mut all: Vec<Kernel> = paths.filter_map(read).collect();
    all.sort_by_key(|kernel| numbers(&kernel.manifest.version));
    all
}

/// Whether a version is `start`, or `start` followed by further numbers.
fn begins(version: &str, start: &str) -> bool {
    version.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn numbers(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn write(folder: &Path, version: &str, hz: u32, guest: &str) {
        let name = format!("{version}-hz{hz}");
        let path = folder.join(&name);
        fs::create_dir_all(&path).unwrap();
        let manifest = serde_json::json!({
            "name": name, "version": version, "hz": hz, "congestion": ["htcp", "cubic"], "linux_sha256": "aa", "guest_sha256": "bb",
            "guest_source_sha256": guest, "physmem": 0x6000_0000_u64, "fields": {"snd_cwnd": [8, 4]}, "ca_state": [3, 31],
        });
        fs::write(path.join("kernel.json"), manifest.to_string()).unwrap();
    }

    fn temporary() -> PathBuf {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        env::temp_dir().join(format!("tailback-kernels-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)))
    }

    /// Applies a function to a folder with the manifest of one kernel.
    pub(crate) fn stored<R>(version: &str, hz: u32, apply: impl FnOnce(&Path) -> R) -> R {
        let folder = temporary();
        write(&folder, version, hz, &guest_hash());
        let result = apply(&folder);
        fs::remove_dir_all(&folder).unwrap();
        result
    }

    #[test]
    fn settings_select_the_newest_kernel_that_matches() {
        let folder = temporary();
        for (version, hz) in [("6.12.9", 1000), ("6.12.30", 1000), ("6.1.5", 1000), ("7.2.13", 250)] {
            write(&folder, version, hz, &guest_hash());
        }
        fs::create_dir_all(folder.join("7.0-hz1000")).unwrap();
        let found = |version: Option<&str>, hz| Kernel::find(&folder, version, hz).map(|kernel| kernel.manifest.name);
        assert_eq!(found(None, 1000).unwrap(), "6.12.30-hz1000");
        assert_eq!(found(Some("6.1"), 1000).unwrap(), "6.1.5-hz1000");
        assert_eq!(found(Some("6.12.9"), 1000).unwrap(), "6.12.9-hz1000");
        let missing = found(Some("7.2"), 1000).unwrap_err();
        let command = "type `tailback kernel build --source linux-7.2.tar.xz --hz 1000` to build it";
        let built = "6.1.5-hz1000, 6.12.9-hz1000, 6.12.30-hz1000, 7.2.13-hz250";
        assert_eq!(missing, format!("there is no kernel 7.2 with 1000 Hz; {command}; expected one that is built: {built}"));
        write(&folder, "7.2.13", 250, "old");
        assert!(found(None, 250).unwrap_err().contains("type `tailback kernel build --hz 250`"));
        fs::remove_dir_all(&folder).unwrap();
        assert!(found(None, 1000).unwrap_err().contains("expected one that is built: none is"));
    }
}
