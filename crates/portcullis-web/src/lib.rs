//! The pages of the daemon: values to HTML, with the style sheet and the script they need.
//!
//! ```text
//! values of the store ──► views (the binary) ──► pages (templates, escaped) ──► HTML
//!                                    charts ──┘
//! ```
//!
//! Nothing here reads a file, a clock or a socket. Every text that comes from outside is escaped by the templates, and is
//! a [`Text`], in which what would not be seen as itself is spelled out. What a form sends back is a plain string, so that
//! it comes back as it was.
//!
//! Pages have no inline script or style and name no other host, so that a strict content security policy holds.

pub mod assets;
pub mod charts;
mod link;
pub mod pages;
mod text;
pub mod views;

pub use askama::Template;
pub use link::{link, segment};
pub use text::VisibleText;
