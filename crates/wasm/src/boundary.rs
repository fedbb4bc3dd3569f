//! The exported interface: integers, and two buffers in the module's memory. The host never passes a pointer, so that no invalid
//! pointer can be passed.
//!
//! The host requests a buffer with [`tailback_scenario`], writes a scenario or a request of the lab into it, calls
//! [`tailback_hashes`] or [`tailback_lab`], and reads the response at [`tailback_answer`]. Any of these calls may move the
//! memory: take a new view of it after each call.

#![expect(unsafe_code, reason = "an export needs `no_mangle`; there is no unsafe block")]

use crate::hashes::hashes;
use crate::lab::Lab;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

static SCENARIO: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static ANSWER: Mutex<String> = Mutex::new(String::new());
static LAB: LazyLock<Mutex<Lab>> = LazyLock::new(Mutex::default);

/// Allocates a buffer of `bytes` bytes for a scenario or a request.
#[unsafe(no_mangle)]
pub extern "C" fn tailback_scenario(bytes: usize) -> *mut u8 {
    let mut scenario = held(&SCENARIO);
    scenario.clear();
    scenario.resize(bytes, 0);
    scenario.as_mut_ptr()
}

/// Runs the scenario. True: the response is a JSON object of hashes; false: it is an error message.
#[unsafe(no_mangle)]
pub extern "C" fn tailback_hashes(seed: u32) -> bool {
    let hashes =
        hashes(&held(&SCENARIO), seed).and_then(|hashes| serde_json::to_string(&hashes).map_err(|error| error.to_string()));
    let done = hashes.is_ok();
    *held(&ANSWER) = hashes.unwrap_or_else(|message| message);
    done
}

/// Handles the JSON request in the buffer. True: the response is JSON; false: it is a fault in JSON.
#[unsafe(no_mangle)]
pub extern "C" fn tailback_lab() -> bool {
    let answer = held(&LAB).answer(&held(&SCENARIO));
    let done = answer.is_ok();
    let text = match &answer {
        Ok(answer) => serde_json::to_string(answer),
        Err(fault) => serde_json::to_string(fault),
    };
    // Keys are strings, so that writing cannot fail.
    *held(&ANSWER) = text.unwrap_or_default();
    done
}

/// Address of the response, in UTF-8, until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn tailback_answer() -> *const u8 {
    held(&ANSWER).as_ptr()
}

/// Length of the response in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn tailback_answer_bytes() -> usize {
    held(&ANSWER).len()
}

/// Address of the numbers of the lab's last update, 8 bytes each, until the next update.
#[unsafe(no_mangle)]
pub extern "C" fn tailback_numbers() -> *const f64 {
    held(&LAB).numbers().as_ptr()
}

/// Number of these numbers.
#[unsafe(no_mangle)]
pub extern "C" fn tailback_numbers_count() -> usize {
    held(&LAB).numbers().len()
}

/// A panic while the lock was held leaves bytes that the next call replaces.
fn held<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}
