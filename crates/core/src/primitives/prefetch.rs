//! Prefetching of memory. It affects the speed, but not the results.

/// Whether prefetching is implemented for this platform.
pub const CAN_PREFETCH: bool = cfg!(target_arch = "x86_64");

/// Prefetch the cache lines of a value.
#[inline(always)]
pub fn prefetch<T>(what: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "a hint to the processor: it reads nothing that the program sees, and never faults")]
        // SAFETY: SSE is part of x86-64, and the addresses are within the object that the reference points to.
        let ask = |byte: usize| unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(what).cast::<i8>().wrapping_add(byte)) };
        (0..size_of::<T>()).step_by(64).for_each(ask);
        ask(size_of::<T>() - 1);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = what;
}
