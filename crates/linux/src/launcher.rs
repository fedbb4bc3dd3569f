//! The thread that starts kernels.
//!
//! A child can end with the thread that has started it (`PR_SET_PDEATHSIG`), so that no kernel outlives this process, however it ends.
//! Threads of a run end before their kernels do; this one lives as long as the process. A kernel takes nothing from the host's
//! random numbers: a filter (seccomp) refuses getrandom(2), after which it derives all of them from its command line and virtual time.

#![allow(unsafe_code, reason = "settings of the child between fork and exec")]

use rustix::process::{Signal, set_parent_process_death_signal};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{self, Child, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

type Order = (Command, Sender<io::Result<Child>>);

/// The queue of the thread, and the process to which it belongs: a fork has none.
static QUEUE: Mutex<Option<(u32, Sender<Order>)>> = Mutex::new(None);

/// Starts a command in a process group of its own, without random numbers of the host, which ends with this process.
///
/// # Errors
/// It cannot be started.
pub(crate) fn start(command: Command) -> io::Result<Child> {
    let (answer, started) = channel();
    queue()?.send((command, answer)).map_err(|_| ended())?;
    started.recv().map_err(|_| ended())?
}

fn ended() -> io::Error {
    io::Error::other("the thread that starts kernels has ended")
}

fn queue() -> io::Result<Sender<Order>> {
    let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
    let own = process::id();
    if let Some((_, sender)) = queue.as_ref().filter(|(process, _)| *process == own) {
        return Ok(sender.clone());
    }
    let (sender, orders) = channel();
    thread::Builder::new().name("kernels".into()).spawn(move || serve(&orders))?;
    *queue = Some((own, sender.clone()));
    Ok(sender)
}

fn serve(orders: &Receiver<Order>) {
    while let Ok((mut command, answer)) = orders.recv() {
        command.process_group(0);
        // SAFETY: the function only makes system calls, as is permitted between fork and exec.
        unsafe { command.pre_exec(prepare) };
        let _ = answer.send(command.spawn());
    }
}

/// Settings of the child.
fn prepare() -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    refuse_getrandom()
}

/// One instruction of a filter (classic BPF): code, jumps if true and false, value.
const fn instruction(code: u32, jump_true: u8, jump_false: u8, value: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: jump_true, jf: jump_false, k: value }
}

/// Installs a filter after which getrandom(2) fails with ENOSYS. It does not slow down speculation, as filters of untrusted programs do.
fn refuse_getrandom() -> io::Result<()> {
    // The number of the call is the first word of `struct seccomp_data`.
    let mut program = [
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_getrandom as u32),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    let (mode, flags) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW);
    // SAFETY: both calls only read the arguments, which outlive them.
    let result = unsafe {
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            -1
        } else {
            libc::syscall(libc::SYS_seccomp, mode, flags, &raw const filter)
        }
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
