//! The stack `linux` for scenarios, behind the C interface of `tailback_host::library`.

#![allow(unsafe_code, reason = "the interface of C")]

use std::ffi::{c_char, c_void};
use std::ptr;
use tailback_host::Host;
use tailback_host::library::{End, EndSettings, Stack, exported};

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn host(end: &EndSettings) -> Result<Box<dyn Host>, String> {
    crate::host::LinuxHost::of(end)
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn host(_end: &EndSettings) -> Result<Box<dyn Host>, String> {
    use std::env::consts::{ARCH, OS};
    Err(format!("the stack `linux` needs Linux on x86-64; this is {OS} on {ARCH}"))
}

unsafe extern "C" fn create(end: *const End, message: *mut c_char, capacity: usize) -> *mut c_void {
    // SAFETY: the arguments are passed on.
    unsafe { exported::create(host, end, message, capacity) }
}

/// The version of this side; `identity` adds the kernel.
static LINUX: Stack = exported::stack(c"linux", VERSION, create);

const VERSION: &std::ffi::CStr =
    match std::ffi::CStr::from_bytes_with_nul(concat!("tailback-linux ", env!("TAILBACK_SOURCES"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("the text ends with a zero, and has no other"),
    };

struct Tables([*const Stack; 2]);

// SAFETY: constant.
unsafe impl Sync for Tables {}

static STACKS: Tables = Tables([&raw const LINUX, ptr::null()]);

/// The stack, and a null pointer, as the function `tailback_stacks` of `tailback.h` returns them.
pub fn stacks() -> *const *const Stack {
    STACKS.0.as_ptr()
}

/// The kernel that parameters (JSON) select, with its hashes: everything on which results depend, apart from the version of the stack.
///
/// # Errors
/// A parameter is not valid, or the kernel is missing.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub fn identity(parameters: &str) -> Result<String, String> {
    Ok(crate::settings::Settings::of(parameters)?.kernel.identity())
}

/// Likewise where no kernel runs.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub fn identity(_parameters: &str) -> Result<String, String> {
    Ok(String::new())
}
