//! Lists of words that the analysis matches, from `programs/sets/words.yaml`.

include!(concat!(env!("OUT_DIR"), "/words.rs"));
