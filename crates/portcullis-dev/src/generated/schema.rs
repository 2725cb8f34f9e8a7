//! The JSON Schema of settings files, as `portcullis schema settings` prints it.

use portcullis_settings::settings_schema;

pub(super) fn page() -> String {
    settings_schema()
}
