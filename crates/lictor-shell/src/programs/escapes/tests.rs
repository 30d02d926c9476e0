use super::commands;

#[test]
fn commands_stand_in_quotes_behind_a_call() {
    assert_eq!(commands("system(\"rm -rf /\")"), ["rm -rf /"]);
    assert_eq!(commands("BEGIN { system('id'); exit }"), ["id"]);
    assert_eq!(commands("plot 'system'"), Vec::<String>::new());
    assert_eq!(commands("subsystem(\"x\")"), Vec::<String>::new());
    assert_eq!(commands("set title \"exec\""), Vec::<String>::new());
}
