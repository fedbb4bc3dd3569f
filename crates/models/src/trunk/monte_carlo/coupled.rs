//! A packet that waited has an exponential transmission time of its own. If it is still arriving, its reception ends with it.

use super::memoryless::WaitingPackets;
use super::packet_queue::PacketQueue;

#[derive(Debug)]
pub struct Coupled {
    /// Inputs whose packet is being discarded.
    discarding: u32,
    queue: PacketQueue<()>,
}

impl WaitingPackets for Coupled {
    fn of(packets: u32) -> Coupled {
        let mut queue = PacketQueue::new();
        (0..packets).for_each(|_| queue.join_arrived(()));
        Coupled { discarding: 0, queue }
    }

    #[inline(always)]
    fn packets(&self) -> u32 {
        self.queue.len()
    }

    #[inline(always)]
    fn join(&mut self) {
        self.queue.join(());
    }

    #[inline(always)]
    fn discard(&mut self) {
        self.discarding += 1;
    }

    #[inline(always)]
    fn received(&mut self, which: u32) {
        if which < self.discarding {
            self.discarding -= 1;
        } else {
            self.queue.arrived(which - self.discarding, |()| ());
        }
    }

    #[inline(always)]
    fn leave(&mut self) -> Option<bool> {
        self.queue.leave().map(|((), arriving)| arriving)
    }
}

impl Clone for Coupled {
    fn clone(&self) -> Coupled {
        Coupled { queue: self.queue.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Coupled) {
        self.queue.clone_from(&source.queue);
        self.discarding = source.discarding;
    }
}
