//! Figures of the tree: how much there is of what, and how findable it is. `cargo dev house` prints them of any
//! checkout, and the tidy checks on names and module cycles stand on the same readings.

mod declaration;
mod figures;
mod module_graph;
mod page;

pub use declaration::{TypeNames, is_one_word, type_names};
pub use figures::{CrateFigures, HouseFigures};
pub use module_graph::{ModuleCycle, module_cycles};
pub use page::{PAGE, write_page};
