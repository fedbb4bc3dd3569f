//! A packet that waited has an exponential transmission time of its own. If it is still arriving, its reception ends with it.

use super::line::Line;
use super::memoryless::Waiting;

#[derive(Debug)]
pub struct Coupled {
    /// Inputs whose packet is being discarded.
    discarding: u32,
    line: Line<()>,
}

impl Waiting for Coupled {
    fn of(packets: u32) -> Coupled {
        let mut line = Line::new();
        (0..packets).for_each(|_| line.join_arrived(()));
        Coupled { discarding: 0, line }
    }

    #[inline(always)]
    fn packets(&self) -> u32 {
        self.line.len()
    }

    #[inline(always)]
    fn join(&mut self) {
        self.line.join(());
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
            self.line.arrived(which - self.discarding, |()| ());
        }
    }

    #[inline(always)]
    fn leave(&mut self) -> Option<bool> {
        self.line.leave().map(|((), arriving)| arriving)
    }
}

impl Clone for Coupled {
    fn clone(&self) -> Coupled {
        Coupled { line: self.line.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Coupled) {
        self.line.clone_from(&source.line);
        self.discarding = source.discarding;
    }
}
