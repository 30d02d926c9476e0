use super::*;

fn names(bytes: &[u8]) -> Option<Vec<String>> {
    Some(members(bytes)?.into_iter().map(|member| member.name).collect())
}

/// A tar archive with those empty members.
fn tar_of(names: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for name in names {
        let mut header = [0u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(b"00000000003");
        header[156] = b'0';
        header[148..156].copy_from_slice(b"        ");
        let sum: usize = header.iter().map(|byte| usize::from(*byte)).sum();
        header[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
        header[154] = 0;
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(b"{}\n");
        bytes.extend_from_slice(&[0; 509]);
    }
    bytes.extend_from_slice(&[0; 1024]);
    bytes
}

#[test]
fn tar_members_are_listed() {
    let bytes = tar_of(&["a.txt", ".claude/settings.json"]);
    assert_eq!(names(&bytes), Some(vec!["a.txt".to_owned(), ".claude/settings.json".to_owned()]));
}

#[test]
fn compressed_tar_members_are_listed() {
    use std::io::Write as _;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&tar_of(&["x/y"])).unwrap();
    assert_eq!(names(&packed.finish().unwrap()), Some(vec!["x/y".to_owned()]));
}

#[test]
fn what_is_cut_short_or_no_archive_has_no_names() {
    let mut bytes = tar_of(&["a", "b"]);
    bytes.truncate(1300);
    assert_eq!(names(&bytes), None);
    assert_eq!(names(b"hello"), None);
    assert_eq!(names(b""), None);
    assert_eq!(names(b"PK\x03\x04 and nothing more"), None);
    assert_eq!(names(&[0x1f, 0x8b, 8, 0, 0]), None);
}

#[test]
fn zip_members_come_from_the_directory_at_the_end() {
    let name = b".git/config";
    let mut bytes = b"PK\x03\x04garbage".to_vec();
    let start = bytes.len() as u32;
    bytes.extend_from_slice(b"PK\x01\x02");
    bytes.extend_from_slice(&[0; 24]);
    bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
    bytes.extend_from_slice(&[0; 16]);
    bytes.extend_from_slice(name);
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&start.to_le_bytes());
    bytes.extend_from_slice(&[0; 2]);
    assert_eq!(names(&bytes), Some(vec![".git/config".to_owned()]));
}

#[test]
fn ar_and_cpio_members_are_listed() {
    let mut bytes = b"!<arch>\n".to_vec();
    bytes.extend_from_slice(
        format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "lictor/", 0, 0, 0, 644, 2).as_bytes(),
    );
    bytes.extend_from_slice(b"xx");
    assert_eq!(names(&bytes), Some(vec!["lictor".to_owned()]));

    let entry = |name: &str| {
        let mut out = format!("070701{}{:08x}{:08x}", "00000000".repeat(11), name.len() + 1, 0).into_bytes();
        out.extend_from_slice(name.as_bytes());
        out.push(0);
        out.resize(out.len().next_multiple_of(4), 0);
        out
    };
    let bytes = [entry("hooks/pre-commit"), entry("TRAILER!!!")].concat();
    assert_eq!(names(&bytes), Some(vec!["hooks/pre-commit".to_owned()]));
}

#[test]
fn members_behind_the_end_and_behind_a_program_are_listed() {
    let twice = [tar_of(&["a"]), tar_of(&["b"])].concat();
    assert_eq!(names(&twice), Some(vec!["a".to_owned(), "b".to_owned()]));
    let mut trailing = tar_of(&["a"]);
    trailing.extend_from_slice(&[7; 700]);
    assert_eq!(names(&trailing), Some(vec!["a".to_owned()]));
}

#[test]
fn links_are_members_with_a_target() {
    let mut bytes = tar_of(&["lnk"]);
    bytes[156] = b'2';
    bytes[157..164].copy_from_slice(b".claude");
    bytes[148..156].copy_from_slice(b"        ");
    let sum: usize = bytes[..512].iter().map(|byte| usize::from(*byte)).sum();
    bytes[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
    bytes[154] = 0;
    // A link has no content.
    bytes.drain(512..1024);
    let link = Some(Link::Symbolic(".claude".to_owned()));
    assert_eq!(members(&bytes), Some(vec![Member { name: "lnk".to_owned(), link }]));
}

#[test]
fn dumps_are_read_with_and_without_offsets() {
    assert_eq!(undumped("1f8b08\n00"), [0x1f, 0x8b, 8, 0]);
    assert_eq!(undumped("00000000: 1f8b 0800  ....\n"), [0x1f, 0x8b, 8, 0]);
}
