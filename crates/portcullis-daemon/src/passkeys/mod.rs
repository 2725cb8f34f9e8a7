//! Passkeys: a person shows in a browser that they are there by a key that no file of theirs holds.
//!
//! ```text
//! /passkeys/challenge ──► browser ──► authenticator, touched ──► /passkeys/register  somebody who is there adds a key
//!                                                           └──► /passkeys/use       signs in, or shows presence again
//! ```
//!
//! A key is added only by somebody who showed with a code of their terminal that they are there; whoever lost theirs gets
//! in by such a code again, and `portcullis tokens forget-passkeys` takes all keys back.

mod keys;
mod routes;
mod webauthn;

pub(crate) use keys::Passkeys;
pub(super) use routes::routes;
