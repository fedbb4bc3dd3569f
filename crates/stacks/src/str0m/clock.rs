//! The instant of time 0, so that the times in RTCP, and the RTTs that are computed from them, are the same in every process.
//!
//! str0m converts an [`Instant`] to NTP time by the clocks of the machine at its first use. A first sender report shows this conversion, and
//! time 0 becomes the instant of a fixed date.

use super::{Settings, connection};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime};
use str0m::net::{Receive, Transmit};
use str0m::rtp::RawPacket;
use str0m::rtp::rtcp::Rtcp;
use str0m::{Event, Input, Output, Rtc, RtcConfig, RtcError};

/// 2035-01-01 after the epoch of Unix. str0m has no times before the start of the process, and NTP time begins again in February 2036, which
/// leaves more than the longest run.
const DATE: Duration = Duration::from_secs(2_051_222_400);

/// The instant of time 0.
pub(super) fn origin() -> Result<Instant, String> {
    static ORIGIN: LazyLock<Result<Instant, String>> =
        LazyLock::new(|| measure().map_err(|error| error.to_string())?.ok_or_else(|| "str0m sent no report in 10 s".into()));
    ORIGIN.clone()
}

/// Connects two ends and lets time pass until the first report.
fn measure() -> Result<Option<Instant>, RtcError> {
    let [local, remote] = [1, 2].map(|last| SocketAddrV4::new(Ipv4Addr::new(198, 18, 0, last), 443));
    let (settings, config) = (Settings::default(), || RtcConfig::new().enable_raw_packets(true));
    let mut now = Instant::now();
    let mut sender = connection(&settings, local, Some(remote), config(), now)?;
    let mut receiver = connection(&settings, remote, None, config(), now)?;
    let mut to_sender = Vec::new();
    for _ in 0..1000 {
        now += Duration::from_millis(10);
        let mut to_receiver = Vec::new();
        if let Some(reported) = advance(&mut sender, now, to_sender, &mut to_receiver)? {
            let date = SystemTime::UNIX_EPOCH + DATE;
            return Ok(match date.duration_since(reported) {
                Ok(later) => now.checked_add(later),
                Err(earlier) => now.checked_sub(earlier.duration()),
            });
        }
        to_sender = Vec::new();
        advance(&mut receiver, now, to_receiver, &mut to_sender)?;
    }
    Ok(None)
}

/// Passes packets to an end. Returns the NTP time of its report, if it sends one.
fn advance(
    rtc: &mut Rtc,
    now: Instant,
    arrived: Vec<Transmit>,
    sent: &mut Vec<Transmit>,
) -> Result<Option<SystemTime>, RtcError> {
    let packets = arrived.iter().filter_map(|packet| Receive::try_from(packet).ok());
    for input in packets.map(|packet| Input::Receive(now, packet)).chain([Input::Timeout(now)]) {
        rtc.handle_input(input)?;
        loop {
            match rtc.poll_output()? {
                Output::Transmit(packet) => sent.push(packet),
                Output::Event(Event::RawPacket(packet)) => {
                    if let RawPacket::RtcpTx(Rtcp::SenderReport(report)) = *packet {
                        return Ok(Some(report.sender_info.ntp_time));
                    }
                }
                Output::Event(_) => {}
                Output::Timeout(_) => break,
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    #[test]
    fn the_instant_of_time_0_does_not_depend_on_the_time_of_its_measurement() {
        let first = measure().unwrap();
        sleep(Duration::from_millis(3));
        assert!(first.is_some());
        assert_eq!(measure().unwrap(), first);
    }
}
