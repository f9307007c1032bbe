//! The request engine against small real servers, over sockets of this machine.

mod bench;
mod http1;
mod http2;
mod runs;
mod trouble;
mod watches;
mod watches_going_on;
