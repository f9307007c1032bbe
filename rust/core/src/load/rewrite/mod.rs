//! Recorded requests, rewritten so that another cluster understands them.

mod body;
mod filter;
mod names;
mod options;
mod rewriter;
mod timeline;
mod versions;

pub use options::RewriteOptions;
pub use rewriter::{Rewriter, Rewritten};
#[cfg(test)]
mod tests;

pub use versions::LATEST_VERSION;
