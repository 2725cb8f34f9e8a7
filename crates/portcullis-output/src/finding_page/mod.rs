//! The pages that explain findings and allowances, as people read them in a terminal or on the web page.

mod entry;
mod pages;
mod plain;

pub use entry::PageEntry;
pub use plain::{plain_page, text};
