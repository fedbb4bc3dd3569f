//! PPD, partial packet discard: only cells that do not fit are lost, together with the rest of their packets (Romanow and Floyd, IEEE JSAC
//! 13(4), 1995). The implementation is [`Frame`].

use super::support::frame::Frame;
use super::support::{Occupancy, Policy, Unit, Verdict};
use crate::primitives::units::Time;
use crate::settings::member;
use serde::{Deserialize, Serialize};

member! {
    /// Partial packet discard: if a cell does not fit, the rest of its packet is discarded too, except for the last cell.
    Ppd = "ppd", "Romanow and Floyd, IEEE JSAC 13(4), 1995";
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ppd;

impl Ppd {
    pub(super) fn new(_: &()) -> Ppd {
        Ppd
    }
}

impl Policy for Ppd {
    type PerFlow = Frame;
    const IS_RANDOM: bool = false;
    const DISCARDS_FRAMES: bool = true;

    #[inline]
    fn on_arrival(&mut self, cell: &Unit, vc: &mut Frame, buffer: &Occupancy, _now: Time) -> Verdict {
        vc.judge(cell, buffer, || None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::support::model_buffer::ModelBuffer;

    fn play(places: u64, cells: &str) -> String {
        ModelBuffer::new(Ppd, places, 3).play(cells)
    }

    #[test]
    fn the_rest_of_a_packet_that_overflows_follows_it_although_there_is_room_again() {
        // Two places. The third cell finds both taken; then one cell leaves, and the fourth is discarded nevertheless.
        assert_eq!(play(2, "aaa.aA"), "++F.P+");
    }

    #[test]
    fn the_last_cell_of_a_damaged_packet_is_kept_where_there_is_room() {
        assert_eq!(play(2, "aaaA"), "++FF");
        assert_eq!(play(2, "aaa.A"), "++F.+");
    }

    #[test]
    fn the_packet_after_a_damaged_one_is_whole_again() {
        assert_eq!(play(2, "aaaA..aA"), "++FF..++");
    }

    #[test]
    fn a_packet_whose_last_cell_alone_does_not_fit_damages_no_other() {
        assert_eq!(play(2, "aaA.aA"), "++F.+F");
    }

    #[test]
    fn a_first_cell_that_does_not_fit_discards_its_packet() {
        assert_eq!(play(2, "bbaB.aaA"), "++FF.PP+");
    }

    #[test]
    fn each_vc_has_its_own_packet() {
        // a loses its third cell; b, which arrives in between, is not affected.
        assert_eq!(play(4, "aabba.aBA"), "++++F.P+F");
    }

    #[test]
    fn a_lost_packet_of_one_cell_leaves_no_rest_to_discard() {
        assert_eq!(play(1, "bA.aA"), "+F.+F");
    }
}
