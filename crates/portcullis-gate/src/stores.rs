//! Which store holds what outlives a process: files of this machine, or a database that many daemons share.
//!
//! INVARIANT: a hook never opens a database. Its process lives a millisecond; where a store is shared, the daemon of this
//! machine is asked instead.

use std::path::PathBuf;

use portcullis_settings::LoadedSettings;
#[cfg(feature = "postgres")]
use portcullis_settings::StoreUrl;
use portcullis_store::Store;

use crate::Failure;
use crate::session_settings::SessionSettings;

/// Opens the store that settings choose, for a command. A database must have its tables already.
pub fn open(loaded: &LoadedSettings, state: PathBuf) -> Result<Store, Failure> {
    choose(loaded, state, Tables::AreThere)
}

/// Opens the store of a command's settings, which must have a place on this machine too.
pub fn open_for(session: &SessionSettings) -> Result<Store, Failure> {
    let state = session.locations.state.clone().ok_or_else(|| {
        Failure::usage("there is no home directory, so nothing is kept").with_hint("set HOME")
    })?;
    open(&session.loaded, state)
}

/// Opens the store that settings choose, for a daemon, which brings the tables of a database up to date.
pub fn open_for_daemon(loaded: &LoadedSettings, state: PathBuf) -> Result<Store, Failure> {
    choose(loaded, state, Tables::AreMade)
}

/// Returns the failure of settings that name no store that can be used.
pub fn refuse_broken(loaded: &LoadedSettings) -> Result<(), Failure> {
    match &loaded.store.broken {
        Some(why) => Err(Failure::usage(why.clone()).with_hint("see `portcullis settings show`")),
        None => Ok(()),
    }
}

/// What is expected of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tables {
    AreThere,
    AreMade,
}

fn choose(loaded: &LoadedSettings, state: PathBuf, tables: Tables) -> Result<Store, Failure> {
    refuse_broken(loaded)?;
    match &loaded.store.url {
        None => Ok(Store::new(state)),
        #[cfg(feature = "postgres")]
        Some(url) => {
            let fleet = open_fleet(url)?;
            match tables {
                Tables::AreThere => fleet.check().map_err(|error| Failure::from(&error))?,
                Tables::AreMade => drop(fleet.migrate().map_err(|error| Failure::from(&error))?),
            }
            Ok(Store::with_backend(state, std::sync::Arc::new(fleet)))
        }
        #[cfg(not(feature = "postgres"))]
        Some(_) => {
            let _ = (state, tables);
            Err(without_postgres())
        }
    }
}

/// Names the database that is shared; whether it answers is not yet known.
#[cfg(feature = "postgres")]
pub fn open_fleet(url: &StoreUrl) -> Result<portcullis_postgres::PostgresStore, Failure> {
    let password = crate::env_vars::store_password();
    let options =
        portcullis_postgres::PostgresOptions { password, ..portcullis_postgres::PostgresOptions::default() };
    portcullis_postgres::PostgresStore::open(url.expose(), options).map_err(|error| Failure::from(&error))
}

/// Returns the failure of a program that was built without the shared store.
#[cfg(not(feature = "postgres"))]
pub fn without_postgres() -> Failure {
    Failure::usage("`store.url` names a database, and this program was built without PostgreSQL")
        .with_hint("build it with the feature `postgres`, or remove `store.url` from the settings")
}
