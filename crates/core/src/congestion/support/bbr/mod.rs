//! Machines that versions 1 and 3 of BBR have in common. Section numbers are those of draft-ietf-ccwg-bbr-06 and, where version 1 differs
//! in them, of draft-cardwell-iccrg-bbr-congestion-control-00.

mod extra_acked;
mod full_pipe;
mod min_rtt;
mod pacing;
mod probe_rtt;
mod recovery;
mod rounds;

pub(in crate::congestion) use self::extra_acked::ExtraAcked;
pub(in crate::congestion) use self::full_pipe::FullPipe;
pub(in crate::congestion) use self::min_rtt::MinRtt;
pub(in crate::congestion) use self::pacing::PacingRate;
pub(in crate::congestion) use self::probe_rtt::ProbeRtt;
pub(in crate::congestion) use self::recovery::{Recovery, Repair};
pub(in crate::congestion) use self::rounds::Rounds;
