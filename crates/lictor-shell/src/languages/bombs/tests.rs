use super::*;

#[test]
fn values_longer_than_any_memory_are_seen_in_every_spelling() {
    for body in [
        "'x' * 10**12",
        "x = [0] * (1 << 34)",
        "10**10 * 'a'",
        "bytearray(10 ** 11)",
        "'a'.ljust(2_000_000_000)",
        "$x = \"a\" x 1e10;",
        "@a=(1)x1e10",
        "\"a\".center(2**34)",
        "str_repeat(\"a\", 10**10);",
        "Buffer.alloc(2**33)",
    ] {
        assert!(fills_memory(body), "{body}");
    }
}

#[test]
fn ordinary_numbers_are_no_bombs() {
    for body in [
        "print('-' * 80)",
        "random.randint(0, 10**9)",
        "sum(range(10**9))",
        "\"a\".ljust(20)",
        "print 10**12",
        "x = 10**12 * 3",
        "'0' * 1024",
        "time.time() * 1000000000",
        "int(x1e10)",
    ] {
        assert!(!fills_memory(body), "{body}");
    }
}
