//! The web page in a real Chromium, served by the built program: what a person sees and does, with pictures kept in
//! `target/screenshots`.
#![cfg(test)]

mod browser;
mod pages;
mod presence;
mod watchtower;
