//! Lists of words that the reader looks for, from `programs/sets/words.yaml`.

include!(concat!(env!("OUT_DIR"), "/words.rs"));
