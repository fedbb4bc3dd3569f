//! A packet that waited has an exponential transmission time of its own, regardless of its reception. Neither order nor times
//! matter: the trunk is a Markov chain of three counts.

use super::memoryless::WaitingPackets;

/// Number of waiting packets. Receptions that end have no effect.
#[derive(Clone, Copy, Debug)]
pub struct Fresh(u32);

impl WaitingPackets for Fresh {
    fn of(packets: u32) -> Fresh {
        Fresh(packets)
    }

    #[inline(always)]
    fn packets(&self) -> u32 {
        self.0
    }

    #[inline(always)]
    fn join(&mut self) {
        self.0 += 1;
    }

    #[inline(always)]
    fn discard(&mut self) {}

    #[inline(always)]
    fn received(&mut self, _which: u32) {}

    #[inline(always)]
    fn leave(&mut self) -> Option<bool> {
        self.0 = self.0.checked_sub(1)?;
        Some(false)
    }
}
