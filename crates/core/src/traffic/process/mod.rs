//! Arrival processes, one file each, behind one interface: the times at which a source sends, or an application hands over data.

use super::arrival_process::Process;
use super::schedule::Schedule;
use crate::primitives::units::{Bytes, Rate, Time};
use crate::settings::{MemberInfo, Named, family};
use serde::{Deserialize, Serialize};

/// Settings and dispatch, generated from one list: a new process is a file and one line here.
macro_rules! processes {
    ($($module:ident::$member:ident,)+) => {
        $(mod $module; pub use $module::*;)+

        /// An arrival process with its settings.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum ProcessSpec { $($member(<$member as Named>::Spec)),+ }

        family!(ProcessSpec { $($member),+ } nameless {  });

        impl ProcessSpec {
            /// The processes that applications support.
            pub fn members_of_applications() -> Vec<&'static MemberInfo> {
                let of_datagrams = [$(<<$member as Named>::Spec>::IS_OF_DATAGRAMS),+];
                ProcessSpec::MEMBERS.iter().zip(of_datagrams).filter(|(_, only)| !only).map(|(member, _)| member).collect()
            }

            /// Whether the process supports only datagrams.
            pub fn is_of_datagrams(&self) -> bool {
                match self { $(ProcessSpec::$member(_) => <<$member as Named>::Spec>::IS_OF_DATAGRAMS),+ }
            }

            /// Whether more data may arrive than from a regular source of the same rate.
            pub fn is_random(&self) -> bool {
                match self { $(ProcessSpec::$member(_) => <<$member as Named>::Spec>::IS_RANDOM),+ }
            }

            /// Rate while the source sends.
            pub fn rate(&self) -> Rate {
                match self { $(ProcessSpec::$member(spec) => spec.rate()),+ }
            }

            /// Mean number of arrivals of this size per second.
            pub fn per_second(&self, bytes: Bytes) -> f64 {
                let gap = self.rate().time_to_send(bytes);
                match self { $(ProcessSpec::$member(spec) => spec.per_second(gap)),+ }
            }

            /// First arrival at a source that starts at `start`.
            pub(super) fn first(&self, start: Time, schedule: &mut Schedule) -> Time {
                match self { $(ProcessSpec::$member(spec) => spec.first(start, schedule)),+ }
            }

            /// Arrival after the one at `now`; for alternating sources `now` is the end of its transmission.
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
