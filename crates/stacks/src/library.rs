//! The stacks and controllers for scenarios: a library with the C interface of `tailback_host::library`.

#![allow(unsafe_code, reason = "the interface of C")]

use crate::end::{parameters, transfer};
use crate::noq::{self, Noq};
use crate::quinn::{self, Quinn};
use crate::str0m::Str0m;
use crate::{s2n, smoltcp};
use serde::Deserialize;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use tailback_host::Host;
use tailback_host::controllers::{self, Controller, Decision, Sender};
use tailback_host::library::{End, EndSettings, Stack, Table, exported};

/// The version of a stack or controller, which is part of content hashes.
macro_rules! version {
    ($of:literal) => {
        concat!($of, ", tailback-stacks ", env!("CARGO_PKG_VERSION"), " ", env!("TAILBACK_SOURCES"), "\0")
    };
}

/// Name in scenarios, crate with version, and the function that creates a host.
macro_rules! stacks {
    ($($name:literal, $of:literal, $create:path;)+) => {
        /// The stacks, and a null pointer.
        static STACKS: Tables<Stack, { [$($name),+].len() + 1 }> = Tables([$({
            unsafe extern "C" fn create(end: *const End, message: *mut c_char, capacity: usize) -> *mut c_void {
                // SAFETY: the arguments are passed on.
                unsafe { exported::create($create, end, message, capacity) }
            }
            static STACK: Stack = exported::stack(text(concat!($name, "\0")), text(version!($of)), create);
            &raw const STACK
        },)+ ptr::null()]);

        #[cfg(test)]
        const STACK_VERSIONS: &[&str] = &[$($of),+];
    };
}

/// Likewise of a controller.
macro_rules! controllers {
    ($($name:literal, $of:literal, $create:path;)+) => {
        /// The controllers, and a null pointer.
        static CONTROLLERS: Tables<Controller, { [$($name),+].len() + 1 }> = Tables([$({
            unsafe extern "C" fn create(
                sender: *const Sender,
                decision: *mut Decision,
                message: *mut c_char,
                capacity: usize,
            ) -> *mut c_void {
                // SAFETY: the arguments are passed on.
                unsafe { controllers::exported::create($create, sender, decision, message, capacity) }
            }
            static CONTROLLER: Controller = controllers::exported::controller(text(concat!($name, "\0")), text(version!($of)), create);
            &raw const CONTROLLER
        },)+ ptr::null()]);

        #[cfg(test)]
        const CONTROLLER_VERSIONS: &[&str] = &[$($of),+];
    };
}

controllers! {
    "quinn-cubic", "quinn-proto 0.11.19", quinn::Alone::cubic;
    "quinn-newreno", "quinn-proto 0.11.19", quinn::Alone::newreno;
    "noq-cubic", "noq-proto 1.4.0", noq::Alone::cubic;
    "noq-newreno", "noq-proto 1.4.0", noq::Alone::newreno;
    "s2n-cubic", "s2n-quic-core 0.91.0", s2n::Cubic::of;
}

stacks! {
    "quinn", "quinn-proto 0.11.19", Quinn::of;
    "noq", "noq-proto 1.4.0", Noq::of;
    "smoltcp", "smoltcp 0.14.0", smoltcp_host;
    "str0m", "str0m 0.25.0", Str0m::of;
}

struct Tables<T, const N: usize>([*const T; N]);

// SAFETY: constant.
unsafe impl<T: Table, const N: usize> Sync for Tables<T, N> {}

/// The controllers of this library, as the function `tailback_controllers` of `tailback.h` returns them.
pub fn controllers() -> *const *const Controller {
    CONTROLLERS.0.as_ptr()
}

/// The stacks of this library, as the function `tailback_stacks` of `tailback.h` returns them.
pub fn stacks() -> *const *const Stack {
    STACKS.0.as_ptr()
}

const fn text(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("the text ends with a zero, and has no other"),
    }
}

/// Parameters of `smoltcp`.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SmoltcpParameters {
    congestion: SmoltcpCongestion,
    buffer: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum SmoltcpCongestion {
    None,
    Reno,
    Cubic,
}

impl Default for SmoltcpParameters {
    fn default() -> SmoltcpParameters {
        SmoltcpParameters { congestion: SmoltcpCongestion::Cubic, buffer: smoltcp::Settings::default().buffer }
    }
}

fn smoltcp_host(end: &EndSettings) -> Result<Box<dyn Host>, String> {
    let given: SmoltcpParameters = parameters(end)?;
    let congestion = match given.congestion {
        SmoltcpCongestion::None => smoltcp::Congestion::None,
        SmoltcpCongestion::Reno => smoltcp::Congestion::Reno,
        SmoltcpCongestion::Cubic => smoltcp::Congestion::Cubic,
    };
    // The scaled window of RFC 7323 section 2.3.
    if !(1..=1 << 30).contains(&given.buffer) {
        return Err(format!("`buffer` is {}; expected 1 to {} bytes", given.buffer, 1 << 30));
    }
    let settings = smoltcp::Settings { congestion, seed: end.seed, buffer: given.buffer, mtu: end.mtu.0 as usize };
    Ok(match transfer(end) {
        Some(transfer) => Box::new(smoltcp::Smoltcp::sender(&settings, transfer)),
        None => Box::new(smoltcp::Smoltcp::receiver(&settings, end.local)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, SocketAddrV4};
    use tailback_core::primitives::units::{Bytes, Time};
    use tailback_host::library::Library;

    fn refused(name: &str, parameters: &str, mtu: u64) -> Option<String> {
        let end = |last| SocketAddrV4::new(Ipv4Addr::new(198, 18, 0, last), 443);
        let settings = EndSettings {
            is_sender: true,
            seed: 1,
            size: None,
            start: Time::ZERO,
            stop: Time::NEVER,
            local: end(1),
            remote: end(2),
            mtu: Bytes(mtu),
            parameters: parameters.into(),
        };
        // SAFETY: the array is static and ends with a null pointer.
        let library = unsafe { Library::at(stacks() as usize) }.unwrap();
        library.host(name, &settings).err().map(|error| error.0)
    }

    #[test]
    fn wrong_parameters_are_refused_with_the_valid_ones() {
        assert_eq!(refused("quinn", "{\"congestion\":\"bbr\",\"train\":3}", 1500), None);
        assert_eq!(refused("noq", "{\"congestion\":\"newreno\",\"train\":1}", 1500), None);
        assert_eq!(refused("smoltcp", "{\"congestion\":\"none\",\"buffer\":20000}", 576), None);
        let text = refused("quinn", "{\"congestion\":\"reno\"}", 1500).unwrap();
        assert_eq!(text, "`congestion` is \"reno\": unknown variant `reno`, expected one of `cubic`, `newreno`, `bbr`");
        let text = refused("smoltcp", "{\"windows\":1}", 1500).unwrap();
        assert_eq!(text, "unknown field `windows`, expected `congestion` or `buffer`");
        assert_eq!(refused("quinn", "{}", 1000).unwrap(), "`mtu` is 1000 bytes; expected 1228 to 65535, as QUIC requires");
        assert_eq!(refused("quinn", "{\"crypto\":\"rustls\"}", 1500), None);
        let text = refused("noq", "{\"crypto\":\"tls\"}", 1500).unwrap();
        assert_eq!(text, "`crypto` is \"tls\": unknown variant `tls`, expected `null` or `rustls`");
        let text = refused("quinn", "{\"train\":-1}", 1500).unwrap();
        assert_eq!(text, "`train` is -1: invalid value: integer `-1`, expected a whole number");
        assert_eq!(refused("quinn", "{\"train\":0}", 1500).unwrap(), "`train` is 0; expected at least 1");
        assert_eq!(refused("noq", "{\"send_window\":0}", 1500).unwrap(), "`send_window` is 0; expected at least 1");
        let text = refused("quinn", "{\"initial_mtu\":1473}", 1500).unwrap();
        assert_eq!(text, "`initial_mtu` is 1473; expected 1200 to 1472 bytes, with an `mtu` of 1500");
        let all = "{\"stream_receive_window\":1,\"receive_window\":1,\"send_window\":1,\"initial_window\":1,\"initial_mtu\":1472,\"mtu_upper_bound\":1472,\"ack_eliciting_threshold\":0,\"max_ack_delay_ms\":1}";
        assert_eq!([refused("quinn", all, 1500), refused("noq", all, 1500)], [None, None]);
        assert_eq!(refused("smoltcp", "{\"buffer\":0}", 1500).unwrap(), "`buffer` is 0; expected 1 to 1073741824 bytes");
        assert_eq!(refused("str0m", "{\"congestion\":\"gcc\",\"max\":10000000,\"frame_rate\":60}", 604), None);
        let text = refused("str0m", "{\"max\":200000}", 1500).unwrap();
        assert_eq!(text, "`max` is 200000; expected 300000 to 10000000000 bit/s, with `initial` of 300000");
        let text = refused("str0m", "{\"frame_rate\":29.97}", 1500).unwrap();
        assert_eq!(text, "`frame_rate` is 29.97: invalid type: floating point `29.97`, expected a whole number");
        let text = refused("str0m", "{\"min\":0}", 1500).unwrap();
        assert_eq!(text, "`min` is 0; expected at least 1");
        assert_eq!(refused("str0m", "{\"frame_rate\":1001}", 1500).unwrap(), "`frame_rate` is 1001; expected 1 to 1000");
        assert_eq!(refused("str0m", "{}", 600).unwrap(), "`mtu` is 600 bytes; expected at least 604, as str0m requires");
    }

    #[test]
    fn versions_are_those_of_the_lock_file() {
        let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock")).unwrap();
        for text in STACK_VERSIONS.iter().chain(CONTROLLER_VERSIONS) {
            let (name, version) = text.split_once(' ').unwrap();
            assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"\n")), "{name} {version}");
        }
    }
}
