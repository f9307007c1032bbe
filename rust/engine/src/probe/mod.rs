//! The listener for clients that report from inside: JSON lines on a Unix socket.
