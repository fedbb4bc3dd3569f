//! Processes of arrivals, one file each, behind one interface: when a source sends, or an application hands over data.

use super::schedule::Schedule;
use crate::primitives::units::{Bytes, Rate, Span, Time};
use crate::settings::{Member, Named, family};
use serde::{Deserialize, Serialize};

/// When things arrive. From a process's rate and the size of what arrives follows the gap between arrivals while it sends.
pub(super) trait Process {
    /// Whether more may arrive than a regular source of the same rate sends.
    const IS_RANDOM: bool;

    /// Whether an arrival waits until the one before has been sent, which only datagrams can tell.
    const IS_OF_DATAGRAMS: bool = false;

    fn rate(&self) -> Rate;

    /// The first arrival at a source that starts at `start`.
    fn first(&self, start: Time, schedule: &mut Schedule) -> Time;

    /// The arrival after the one that was taken at `now`; where arrivals wait until what was taken has been sent, `now` is that instant.
    fn next(&self, now: Time, schedule: &mut Schedule) -> Time;

    /// Arrivals in a second, on average, where one takes `gap` to be sent at the rate.
    fn per_second(&self, gap: Span) -> f64 {
        1.0 / gap.seconds()
    }
}

/// Settings and dispatch, from one list: a new process is its file and one line here.
macro_rules! processes {
    ($($module:ident::$member:ident,)+) => {
        $(mod $module; pub use $module::*;)+

        /// A process of arrivals with its settings.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum ProcessSpec { $($member(<$member as Named>::Spec)),+ }

        family!(ProcessSpec { $($member),+ } nameless {  });

        impl ProcessSpec {
            /// The members by which an application can hand over data.
            pub fn members_of_applications() -> Vec<&'static Member> {
                let of_datagrams = [$(<<$member as Named>::Spec>::IS_OF_DATAGRAMS),+];
                ProcessSpec::MEMBERS.iter().zip(of_datagrams).filter(|(_, only)| !only).map(|(member, _)| member).collect()
            }

            /// Whether only datagrams can arrive like this.
            pub fn is_of_datagrams(&self) -> bool {
                match self { $(ProcessSpec::$member(_) => <<$member as Named>::Spec>::IS_OF_DATAGRAMS),+ }
            }

            /// Whether more may arrive than a regular source of the same rate sends.
            pub fn is_random(&self) -> bool {
                match self { $(ProcessSpec::$member(_) => <<$member as Named>::Spec>::IS_RANDOM),+ }
            }

            /// While it sends.
            pub fn rate(&self) -> Rate {
                match self { $(ProcessSpec::$member(spec) => spec.rate()),+ }
            }

            /// Arrivals in a second, on average, of this size each.
            pub fn per_second(&self, bytes: Bytes) -> f64 {
                let gap = self.rate().time_to_send(bytes);
                match self { $(ProcessSpec::$member(spec) => spec.per_second(gap)),+ }
            }

            pub(super) fn first(&self, start: Time, schedule: &mut Schedule) -> Time {
                match self { $(ProcessSpec::$member(spec) => spec.first(start, schedule)),+ }
            }

            pub(super) fn next(&self, now: Time, schedule: &mut Schedule) -> Time {
                match self { $(ProcessSpec::$member(spec) => spec.next(now, schedule)),+ }
            }
        }
    };
}

processes! {
    constant::Constant,
    poisson::Poisson,
    on_off::OnOff,
    alternating::Alternating,
}
