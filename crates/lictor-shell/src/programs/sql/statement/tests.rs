use super::is_sql;

#[test]
fn statements_are_sql() {
    for text in [
        "DROP TABLE users",
        "drop table if exists a, \"b\" cascade;",
        "DROP DATABASE x",
        "DROP MATERIALIZED VIEW v",
        "TRUNCATE TABLE users RESTART IDENTITY",
        "truncate users",
        "DELETE FROM users",
        "delete from app.users u where u.id = 1",
        "UPDATE users SET a = 1",
        "ALTER TABLE users DROP COLUMN name",
        "WITH x AS (SELECT 1) DELETE FROM users",
        "SELECT 1; DROP TABLE users",
        "SELECT * FROM users",
        "/* a note */ DELETE FROM users -- all",
        "BEGIN; DELETE FROM users; COMMIT",
        "COPY users TO PROGRAM 'sh'",
        "FLUSHALL",
    ] {
        assert!(is_sql(text), "{text}");
    }
}

#[test]
fn words_that_begin_like_one_are_not() {
    for text in [
        "",
        "how to drop table in postgres",
        "drop table in rust macro",
        "drop database vs truncate",
        "delete from list in python",
        "delete from cart button is broken",
        "update docs",
        "update the set of tests",
        "truncate a long string",
        "select a good name",
        "drop the table",
        "create table of contents for the docs and the guides",
        "drop shadow",
        "users; who wins",
        "grant access",
        "begin with tests",
        "explain DELETE",
    ] {
        assert!(!is_sql(text), "{text}");
    }
}
