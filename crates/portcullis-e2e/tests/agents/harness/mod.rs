//! What a test needs to run an agent: a place, a client that is set up in it, a script, and what came of it.

mod app_server;
mod chat_setup;
mod client;
mod control_protocol;
mod conversation;
mod daemon;
mod place;
mod registration;
mod run;
mod scripted_hook;
mod setup;
mod stage;

pub(crate) use client::Client;
pub(crate) use registration::Registration;
pub(crate) use run::{Finished, Session};
pub(crate) use scripted_hook::file_of;
pub(crate) use setup::ScriptedUser;
pub(crate) use stage::{SECRET, Stage};
