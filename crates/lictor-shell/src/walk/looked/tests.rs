use super::*;

#[test]
fn masking_leaves_nothing_of_the_value() {
    for script in ["s/=.*/=***/", "s/=.*$/=<set>/p", "s|=.*|=x|", r"s/^\([^=]*\)=.*/\1/", "s/(=).*/\\1/"] {
        assert!(masks(script), "{script}");
    }
    for script in ["s/=.*/&/", "s/a/b/", r"s/=\(.*\)/\1/", "s/#.*//", "s/^/x/"] {
        assert!(!masks(script), "{script}");
    }
}

#[test]
fn patterns_that_end_where_the_value_starts() {
    for pattern in ["^[^=]*", "^[A-Z_]+", "^[A-Z_]*=", r"^\w+"] {
        assert!(names_only(pattern), "{pattern}");
    }
    for pattern in ["^.*", "[A-Z]+", "^[^#]*", "^KEY=[a-z]*", ""] {
        assert!(!names_only(pattern), "{pattern}");
    }
}

#[test]
fn only_the_first_field_is_a_name() {
    assert_eq!(awk(&["-F=", "{print $1}", ".env"]), Shows::Names);
    assert_eq!(awk(&["-F", "=", "/^A/ {print $1\"=***\"}"]), Shows::Names);
    for program in ["{print $2}", "{print}", "{print $0}", "{print $1; print}", "{print $NF}"] {
        assert_eq!(awk(&["-F=", program]), Shows::Content, "{program}");
    }
    assert_eq!(cut(&["-d=", "-f1"]), Shows::Names);
    assert_eq!(cut(&["-d", "=", "-f", "1"]), Shows::Names);
    assert_eq!(cut(&["-d=", "-f2"]), Shows::Content);
    assert_eq!(cut(&["-d=", "-f1-"]), Shows::Content);
}
