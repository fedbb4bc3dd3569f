//! Memory that will be needed soon, asked for early. It changes no result, only the wait.

/// Ask for the cache line in which this lies.
#[inline(always)]
pub fn prefetch<T>(what: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "a hint to the processor: it reads nothing that the program sees, and never faults")]
        // SAFETY: SSE is part of x86-64, and the address is that of a reference.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(what).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = what;
}
