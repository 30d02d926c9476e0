use proptest::prelude::*;

use super::*;

/// A dictionary that changes makes every packed record unreadable.
#[test]
fn the_dictionary_is_part_of_the_format() {
    assert_eq!(
        lictor_core::Digest::of(FIRST).to_string(),
        "d4609715abad678da01f8dbf47af34609271ade8c2bbf1a5c4052d14245276be",
        "add a dictionary with another number instead"
    );
}

#[test]
fn a_record_of_a_pass_gets_small() {
    let body = include_str!("pass.json").trim_end();
    let packed = pack(body).unwrap();
    assert_eq!(unpack(&packed).as_deref(), Some(body));
    assert!(packed.len() * 2 < body.len(), "{} of {}", packed.len(), body.len());
}

#[test]
fn short_and_random_bodies_stay_as_they_are() {
    assert_eq!(pack("{}"), None);
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from_u32(33 + (state >> 16) % 90).unwrap()
    };
    let noise: String = (0..400).map(|_| next()).collect();
    assert_eq!(pack(&noise), None);
}

#[test]
fn a_length_that_cannot_be_is_refused() {
    let bomb = [&[FIRST_NUMBER], u32::MAX.to_le_bytes().as_slice(), &[0; 10]].concat();
    assert_eq!(unpack(&bomb), None);
}

proptest! {
    #[test]
    fn what_is_packed_comes_back(body in "\\PC{0,600}") {
        if let Some(packed) = pack(&body) {
            prop_assert_eq!(unpack(&packed), Some(body));
        }
    }

    #[test]
    fn no_bytes_make_it_fall_over(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = unpack(&bytes);
        let _ = unpack(&[&[FIRST_NUMBER], 300u32.to_le_bytes().as_slice(), &bytes].concat());
    }
}
