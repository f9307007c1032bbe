//! The parts of the contrary server.

mod arguments;
mod behaviour;
mod control;
mod counts;
mod gate;
mod goaway;
mod http1;
mod http2;
mod identity;
mod kubernetes;
mod reply;
mod server;
mod socket;
mod watch;

pub(crate) use arguments::Arguments;
pub(crate) use server::Server;
