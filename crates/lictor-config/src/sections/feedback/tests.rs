use lictor_core::feedback::Source as Says;

use crate::{Origin, Source, load};

#[test]
fn a_deadline_is_urgent_two_minutes_before_it_unless_the_policy_says_when() {
    for (more, wanted) in [("", 120_000), (", warn_below: 30s", 30_000)] {
        let policy =
            format!("version: 1\nfeedback: [{{name: end, deadline: 45m, every_n_calls: 10{more}}}]\n");
        let source = Source { origin: Origin::User, path: "g.yaml".to_owned(), bytes: policy.into_bytes() };
        let Ok(loaded) = load(&[source]) else { panic!("the policy is refused") };
        let wanted = Says::Deadline { after: 45 * 60 * 1_000, warn_below: wanted };
        assert_eq!(loaded.policy.feedback()[0].source, wanted);
    }
}
