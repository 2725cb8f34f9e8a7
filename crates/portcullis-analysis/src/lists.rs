//! Lists of names that a judgement goes by, compiled from `data/lists`: a module a file, a constant a list.

include!(concat!(env!("OUT_DIR"), "/lists.rs"));
