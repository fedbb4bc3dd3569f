//! Indices of flows, ports and groups. A list is indexed by the id itself: `paths[flow]`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Index, IndexMut, Range, Sub};

macro_rules! ids {
    ($($(#[$doc:meta])* $id:ident)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        #[repr(transparent)]
        pub struct $id(pub u32);

        impl $id {
            /// The ids of a list with `count` items.
            pub fn all(count: usize) -> impl DoubleEndedIterator<Item = $id> + ExactSizeIterator + Clone {
                $id::range($id(0)..$id(count as u32))
            }

            pub fn range(ids: Range<$id>) -> impl DoubleEndedIterator<Item = $id> + ExactSizeIterator + Clone {
                (ids.start.0..ids.end.0).map($id)
            }

            /// The items of a list with their ids.
            pub fn enumerate<T>(list: &[T]) -> impl DoubleEndedIterator<Item = ($id, &T)> + ExactSizeIterator + Clone {
                $id::all(list.len()).zip(list)
            }

            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        /// How far one id is behind another in the list.
        impl Sub for $id {
            type Output = u32;

            #[inline]
            fn sub(self, first: $id) -> u32 {
                self.0 - first.0
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(to)
            }
        }

        ids!($id, Vec<T>);
        ids!($id, [T]);
    )+};
    ($id:ident, $list:ty) => {
        impl<T> Index<$id> for $list {
            type Output = T;

            #[inline]
            fn index(&self, id: $id) -> &T {
                &self[id.index()]
            }
        }

        impl<T> IndexMut<$id> for $list {
            #[inline]
            fn index_mut(&mut self, id: $id) -> &mut T {
                &mut self[id.index()]
            }
        }
    };
}

ids! {
    /// A flow, by its place in [`Network::flows`](crate::network::Network::flows).
    FlowId
    /// A directed port, by its place in [`Network::ports`](crate::network::Network::ports).
    PortId
    /// A group of flows, by its place in [`Network::groups`](crate::network::Network::groups).
    GroupId
}
