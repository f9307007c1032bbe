//! An alarm for an async task at an instant of the monotonic clock: to the microsecond, where the runtime's own timers
//! are rounded to milliseconds.

use rustix::fd::OwnedFd;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::io;
use std::task::{Context, Poll, ready};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Rings once for each instant that it is set to.
pub(super) struct Alarm(AsyncFd<OwnedFd>);

impl Alarm {
    /// Not set. To be called within a runtime.
    pub(super) fn new() -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        // SAFETY: an OwnedFd names one descriptor, and keeps it open until it is dropped.
        let registered = unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) };
        Ok(Self(registered.map_err(io::Error::from)?))
    }

    /// Rings at the instant, or at once where it has passed; not any more at the one before.
    pub(super) fn set(&self, instant_ns: u64) -> io::Result<()> {
        let it_value = Timespec {
            tv_sec: i64::try_from(instant_ns / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(instant_ns % 1_000_000_000).unwrap_or(0),
        };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
        timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::ABSTIME, &once)?;
        Ok(())
    }

    /// Whether it has rung since it was set. It may ring for an instant that it is not set to any more.
    pub(super) fn poll_rung(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The kernel tells of each expiry anew: nothing has to be read.
        ready!(self.0.poll_read_ready(context))?.clear_ready();
        Poll::Ready(Ok(()))
    }
}
