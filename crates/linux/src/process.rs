//! The process of a kernel: its start, its console and its end.

use crate::fault::{Fault, fault};
use crate::launcher;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{env, process};

/// A kernel that has started. Its process group ends with this value.
pub(crate) struct Process {
    child: Child,
    console: File,
}

/// Bytes at the end of a console in an error, and lines.
const CONSOLE: u64 = 4000;
const LINES: usize = 8;

/// The beginning of a line of the guest program about a problem.
const PROBLEM: &str = "tailback: ";

impl Process {
    /// Starts a program in a folder. The console is a file in memory. Its own memory is in the temporary folder.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(crate) fn start(program: &Path, arguments: &[String], folder: &Path) -> Result<Process, Fault> {
        let console = memfd_create("console", MemfdFlags::CLOEXEC).map_err(|error| Fault(format!("no console: {error}")))?;
        let shared = |error: io::Error| Fault(format!("no console: {error}"));
        let (out, error) = (console.try_clone().map_err(shared)?, console.try_clone().map_err(shared)?);
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).env_clear().env("HOME", "/").env("TMPDIR", memory_folder());
        command.stdin(Stdio::null()).stdout(out).stderr(error);
        let child =
            launcher::start(command).map_err(|error| Fault(format!("{} cannot be started: {error}", program.display())))?;
        Ok(Process { child, console: File::from(console) })
    }

    /// Whether the kernel has ended, and how.
    pub(crate) fn end(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok()??;
        Some(format!("it ended with {status}"))
    }

    /// The end of the console: only lines of the guest program about a problem, if there are any.
    pub(crate) fn console(&self) -> String {
        let length = self.console.metadata().map_or(0, |metadata| metadata.len());
        let start = length.saturating_sub(CONSOLE);
        let mut bytes = vec![0; (length - start) as usize];
        let count = self.console.read_at(&mut bytes, start).unwrap_or(0);
        let text = String::from_utf8_lossy(bytes.get(..count).unwrap_or_default()).into_owned();
        last_lines(&text)
    }

    /// CPU time that the kernel's main process has used.
    pub(crate) fn cpu_time(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        // User and system time are fields 14 and 15 (proc(5)), in ticks of 10 ms; the name in parentheses may contain spaces.
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        Duration::from_millis(10 * ticks)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(group) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The last lines that are not empty; if the guest program reports a problem, only its lines.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let reported: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix(PROBLEM)).collect();
    let shown = if reported.is_empty() { &lines[lines.len().saturating_sub(LINES)..] } else { &reported[..] };
    shown.join("\n")
}

/// The folder for memory: that of temporary files if it is set, otherwise shared memory if there is any.
fn memory_folder() -> PathBuf {
    let shared = Path::new("/dev/shm");
    if env::var_os("TMPDIR").is_none_or(|folder| folder.is_empty()) && shared.is_dir() { shared.into() } else { env::temp_dir() }
}

/// The folder in which a kernel starts, with the sockets that it connects to; removed at the end.
pub(crate) struct StartFolder {
    path: PathBuf,
}

impl StartFolder {
    /// A new folder with a link to the root file system.
    ///
    /// # Errors
    /// It cannot be created.
    pub(crate) fn new((name, root): (&str, &Path)) -> Result<StartFolder, Fault> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // A process that was killed may have left a folder with this number.
        let (path, created) = loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("tailback-linux-{}-{number}", process::id()));
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => break (path, created),
            }
        };
        let failed = |error: io::Error| Fault(format!("the folder {} cannot be created: {error}", path.display()));
        created.map_err(failed)?;
        let folder = StartFolder { path: path.clone() };
        symlink(root, path.join(name)).map_err(failed)?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A socket in the folder. Its path may be longer than an address of a socket; that of the open folder is not.
    ///
    /// # Errors
    /// It cannot be created.
    pub(crate) fn listen(&self, name: &str) -> Result<UnixListener, Fault> {
        let failed =
            |error: io::Error| Fault(format!("the socket {} cannot be created: {error}", self.path.join(name).display()));
        let folder = File::open(&self.path).map_err(failed)?;
        let number = std::os::fd::AsRawFd::as_raw_fd(&folder);
        UnixListener::bind(format!("/proc/self/fd/{number}/{name}")).map_err(failed)
    }
}

impl Drop for StartFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Time between two checks whether a kernel still runs.
const CHECK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// A kernel that neither waits nor sends anything for this CPU time computes without end, and stops virtual time.
const MOST_COMPUTING: Duration = if cfg!(test) { Duration::from_millis(300) } else { Duration::from_secs(20) };
/// Checks without any message after which a kernel is taken for dead: a minute, because the computer may have much else to do.
const MOST_CHECKS: u32 = 300;

/// Waits until one of the descriptors can be read. Returns which ones can.
///
/// # Errors
/// The kernel has ended, or computes without end.
pub(crate) fn wait_readable<const N: usize>(process: &mut Process, descriptors: [&OwnedFd; N]) -> Result<[bool; N], Fault> {
    let mut polled = descriptors.map(|descriptor| PollFd::from_borrowed_fd(descriptor.as_fd(), PollFlags::IN));
    let mut computed = None;
    for _ in 0..MOST_CHECKS {
        match poll(&mut polled, Some(&CHECK)) {
            Ok(0) => {
                if let Some(end) = process.end() {
                    return fault(end);
                }
                let now = process.cpu_time();
                if now.saturating_sub(*computed.get_or_insert(now)) > MOST_COMPUTING {
                    return fault(format!("it computes for {MOST_COMPUTING:?} of CPU time without waiting"));
                }
            }
            Ok(_) => return Ok(std::array::from_fn(|index| !polled[index].revents().is_empty())),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return fault(format!("waiting for it failed: {error}")),
        }
    }
    fault("it does not answer")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Process {
        Process::start(Path::new("/bin/sh"), &["-c".into(), script.into()], Path::new("/")).unwrap()
    }

    #[test]
    fn a_console_shows_the_problem_or_the_last_lines() {
        assert_eq!(
            last_lines("Linux version\n\ntailback: /proc/sys/a: No such file\n\nreboot: halted\n"),
            "/proc/sys/a: No such file"
        );
        let many: String = (0..20).map(|line| format!("line {line}\n")).collect();
        assert!(last_lines(&many).starts_with("line 12\n") && last_lines(&many).ends_with("line 19"));
    }

    #[test]
    fn the_end_of_a_process_is_a_fault_with_its_console() {
        let mut process = shell("echo out of memory; exit 3");
        let (silent, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let problem = wait_readable(&mut process, [&silent.into()]).unwrap_err();
        assert_eq!((problem.0.as_str(), process.console().as_str()), ("it ended with exit status: 3", "out of memory"));
    }

    #[test]
    fn a_process_that_computes_without_end_is_a_fault() {
        let mut process = shell("while :; do :; done");
        let (silent, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let problem = wait_readable(&mut process, [&silent.into()]).unwrap_err();
        assert_eq!(problem.0, "it computes for 300ms of CPU time without waiting");
    }

    #[test]
    fn a_folder_of_an_earlier_process_is_not_used_again() {
        let folders: Vec<StartFolder> = (0..2).map(|_| StartFolder::new(("guest", Path::new("/nowhere"))).unwrap()).collect();
        let number = |folder: &StartFolder| {
            let name = folder.path().file_name().unwrap().to_string_lossy().into_owned();
            name.rsplit('-').next().unwrap().parse::<u64>().unwrap()
        };
        let next = number(&folders[1]) + 1;
        // Other tests may take numbers meanwhile.
        let left: Vec<PathBuf> = (next..next + 50)
            .map(|number| env::temp_dir().join(format!("tailback-linux-{}-{number}", process::id())))
            .filter(|path| fs::create_dir(path).is_ok())
            .collect();
        let new = StartFolder::new(("guest", Path::new("/nowhere"))).unwrap();
        assert!(!left.contains(&new.path().to_owned()) && left.iter().all(|path| path.exists()));
        left.iter().for_each(|path| fs::remove_dir(path).unwrap());
    }

    #[test]
    fn a_filter_refuses_random_numbers_of_the_host() {
        let mut process = shell("grep Seccomp: /proc/self/status");
        while process.end().is_none() {}
        assert_eq!(process.console(), "Seccomp:\t2");
    }

    #[test]
    fn nothing_is_left_of_a_process_and_its_folder() {
        let folder = StartFolder::new(("guest", Path::new("/nowhere"))).unwrap();
        let path = folder.path().to_owned();
        let _socket = folder.listen("time").unwrap();
        assert!(path.join("time").exists() && path.join("guest").is_symlink());
        drop(folder);
        assert!(!path.exists());
        let process = shell("sleep 1000 & wait");
        let group = process.child.id();
        drop(process);
        assert!(!Path::new(&format!("/proc/{group}")).exists());
    }
}
