//! What the host sees: whole numbers, and two places in the module's memory. No pointer comes back in, so nothing here can be
//! handed a wrong one.
//!
//! The host asks for room with [`tailback_scenario`], writes the scenario, or a request of the lab, there, calls [`tailback_hashes`] or
//! [`tailback_lab`], and reads the answer at [`tailback_answer`]. Any of these calls may move the memory: take a fresh view of it after each.

#![expect(unsafe_code, reason = "an export needs `no_mangle`; there is no unsafe block")]

use crate::hashes;
use crate::lab::Lab;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

static SCENARIO: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static ANSWER: Mutex<String> = Mutex::new(String::new());
static LAB: LazyLock<Mutex<Lab>> = LazyLock::new(Mutex::default);

/// Room for a scenario, or a request, of `bytes` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn tailback_scenario(bytes: usize) -> *mut u8 {
    let mut scenario = held(&SCENARIO);
    scenario.clear();
    scenario.resize(bytes, 0);
    scenario.as_mut_ptr()
}

/// Runs the scenario. True: the answer is a JSON object of hashes; false: it says, for people, why there are none.
#[unsafe(no_mangle)]
pub extern "C" fn tailback_hashes(seed: u32) -> bool {
    let hashes =
        hashes(&held(&SCENARIO), seed).and_then(|hashes| serde_json::to_string(&hashes).map_err(|error| error.to_string()));
    let done = hashes.is_ok();
    *held(&ANSWER) = hashes.unwrap_or_else(|message| message);
    done
}

/// Asks the lab what has been written as JSON. True: the answer is one; false: it is a fault, in JSON.
#[unsafe(no_mangle)]
pub extern "C" fn tailback_lab() -> bool {
    let answer = held(&LAB).answer(&held(&SCENARIO));
    let done = answer.is_ok();
    let text = match &answer {
        Ok(answer) => serde_json::to_string(answer),
        Err(fault) => serde_json::to_string(fault),
    };
    // Keys are text, so writing cannot fail.
    *held(&ANSWER) = text.unwrap_or_default();
    done
}

/// Where the answer lies, in UTF-8, until the next run.
#[unsafe(no_mangle)]
pub extern "C" fn tailback_answer() -> *const u8 {
    held(&ANSWER).as_ptr()
}

/// Its length in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn tailback_answer_bytes() -> usize {
    held(&ANSWER).len()
}

/// Where the numbers of the lab's last reading lie, 8 bytes each, until the next.
#[unsafe(no_mangle)]
pub extern "C" fn tailback_numbers() -> *const f64 {
    held(&LAB).numbers().as_ptr()
}

/// How many there are.
#[unsafe(no_mangle)]
pub extern "C" fn tailback_numbers_count() -> usize {
    held(&LAB).numbers().len()
}

/// A panic while the place was held leaves bytes that the next call replaces.
fn held<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}
