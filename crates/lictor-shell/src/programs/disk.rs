//! Disks, file systems and volumes.

use lictor_core::facts::{Access, ProcessEffect};

use super::options::Grammar;
use super::say::written;
use crate::call::{Call, Report};
use crate::operand::Arg;

/// Formats or wipes what the operands name.
fn format(call: &Call<'_>, report: &mut Report, targets: &[Arg]) {
    report.process(ProcessEffect::Format);
    for target in targets {
        report.file(call, Access::Destroy, target, false);
    }
}

pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    let mut options = Grammar::anywhere("LUtbTOEimde", "label= type= size= sector-size=").parse(call.args);
    // Letters mean different things to different tools; a device is a target wherever it stands.
    let swallowed = call.args.iter().filter(|arg| super::files::is_disk(arg.prefix())).cloned();
    let swallowed: Vec<Arg> = swallowed.filter(|arg| !options.operands.contains(arg)).collect();
    options.operands.extend(swallowed);
    let words: Vec<&str> = options.words().collect();
    let first = options.word(0);
    let second = options.word(1);
    let listed = options.has(&["l", "list", "p", "print", "n", "no-act", "dry-run", "h", "V", "version"]);
    let only_shows =
        options.has(&["n"]) && (call.program.starts_with("mkfs.ext") || call.program == "mke2fs");
    match call.program {
        _ if only_shows => {}
        program
            if program.starts_with("mkfs")
                || program.starts_with("mke2fs")
                || program.starts_with("newfs") =>
        {
            let device =
                options.operands.iter().filter(|arg| arg.prefix().starts_with('/') || arg.known().is_none());
            // An image file in the project is a file like any other; a device is a disk.
            for target in
                device.clone().filter(|arg| !arg.prefix().starts_with("/dev/") && arg.known().is_some())
            {
                report.file(call, Access::Destroy, target, false);
            }
            let disks: Vec<Arg> = device
                .filter(|arg| arg.prefix().starts_with("/dev/") || arg.known().is_none())
                .cloned()
                .collect();
            if !disks.is_empty() {
                format(call, report, &disks);
            } else if !words.iter().any(|word| word.starts_with('/')) {
                for target in options.operands.get(..1).unwrap_or_default() {
                    report.file(call, Access::Destroy, target, false);
                }
            }
        }
        "mkswap" | "blkdiscard" | "badblocks" | "mkdosfs" | "mkntfs" | "zerofree" | "mkudffs"
        | "pvcreate" => {
            let writes = call.program != "badblocks" || options.has(&["w"]);
            let (disks, files): (Vec<Arg>, Vec<Arg>) = options
                .operands
                .iter()
                .cloned()
                .partition(|arg| arg.known().is_none_or(super::files::is_disk));
            if writes && !disks.is_empty() {
                format(call, report, &disks);
            }
            for file in files.iter().filter(|_| writes) {
                report.file(call, Access::Write, file, false);
            }
        }
        "zpool" if first == "create" && words.iter().any(|word| super::files::is_disk(word)) => {
            report.process(ProcessEffect::Format);
        }
        "debugfs" if options.has(&["w"]) => {
            format(call, report, options.operands.get(..1).unwrap_or_default())
        }
        program if program.starts_with("partclone.") || program == "ntfsclone" => {
            let restores = options.has(&["r", "restore", "restore-image", "O", "overwrite"])
                || program.ends_with(".restore")
                || program.ends_with(".dd");
            let disks: Vec<Arg> =
                options.operands.iter().filter(|arg| super::files::is_disk(arg.prefix())).cloned().collect();
            if restores && !disks.is_empty() {
                format(call, report, &disks);
            }
        }
        "sg_format" if options.has(&["format", "F"]) => report.process(ProcessEffect::Format),
        "fallocate" => {
            let options = Grammar::anywhere("lo", "length= offset=").parse(call.args);
            for target in &options.operands {
                super::files::write_maybe_device(call, report, target, Access::Modify);
            }
        }
        "asr" if first == "restore" => report.process(ProcessEffect::Format),
        "fdisk" | "gdisk" | "sgdisk" | "cfdisk" | "sfdisk" | "cgdisk"
            if (!listed || options.has(&["Z", "o", "zap-all", "clear", "zap"]))
                && (!options.has(&["d", "dump", "s", "x"]) || call.program == "sgdisk")
                && !options.operands.is_empty() =>
        {
            format(call, report, options.operands.get(..1).unwrap_or_default());
        }
        "parted" | "gparted" => {
            let changes = ["mklabel", "mktable", "rm", "mkpart", "resizepart", "rescue"];
            if words.iter().any(|word| changes.contains(word)) {
                format(call, report, options.operands.get(..1).unwrap_or_default());
            }
        }
        "wipefs" if options.has(&["a", "all", "o", "offset"]) && !options.has(&["n", "no-act"]) => {
            format(call, report, &options.operands);
        }
        "hdparm" | "sdparm" => {
            let wipes = call.args.iter().any(|arg| {
                let word = arg.prefix();
                word.starts_with("--security-erase")
                    || word.starts_with("--trim-sector")
                    || word.starts_with("--write-sector")
                    || word.starts_with("--make-bad-sector")
                    || word.starts_with("--dco-restore")
            });
            if wipes {
                format(call, report, options.operands.last().map(std::slice::from_ref).unwrap_or_default());
            }
        }
        "nvme" if matches!(first, "format" | "sanitize" | "write-zeroes" | "delete-ns") => {
            format(call, report, options.from(1));
        }
        "cryptsetup" => {
            if matches!(
                first,
                "luksFormat" | "erase" | "luksErase" | "luksKillSlot" | "luksRemoveKey" | "reencrypt"
            ) {
                format(call, report, options.operands.get(1..2).unwrap_or_default());
            }
        }
        "diskutil" => {
            let lower = first.to_ascii_lowercase();
            let wipes = lower.starts_with("erase")
                || lower.starts_with("partition")
                || lower.starts_with("zero")
                || lower.starts_with("random")
                || lower.starts_with("secureerase")
                || lower == "reformat"
                || (lower == "apfs" && second.to_ascii_lowercase().starts_with("delete"));
            if wipes {
                format(call, report, options.operands.last().map(std::slice::from_ref).unwrap_or_default());
            }
        }
        "zpool" if matches!(first, "destroy" | "labelclear") => {
            report.process(ProcessEffect::Format);
            report.infrastructure("zpool", &words.join(" "), true);
        }
        "zpool" if matches!(first, "remove" | "detach" | "offline") => {
            report.infrastructure("zpool", &words.join(" "), false);
        }
        "zfs" if matches!(first, "destroy" | "rollback") && !listed => {
            report.infrastructure("zfs", &words.join(" "), options.has(&["r", "R"]));
        }
        "lvremove" | "vgremove" | "pvremove" | "lvreduce" => {
            report.infrastructure(call.program, &written(call), call.program != "lvreduce");
        }
        "lvm" if matches!(first, "lvremove" | "vgremove" | "pvremove") => {
            report.infrastructure("lvm", &words.join(" "), true);
        }
        "btrfs" => match (first, second) {
            ("subvolume" | "sub", "delete" | "del") => {
                for target in options.from(2) {
                    report.file(call, Access::Delete, target, true);
                }
            }
            ("device" | "dev", "delete" | "remove") => report.infrastructure("btrfs", "device delete", false),
            _ => {}
        },
        "mdadm"
            if (options.has(&["zero-superblock", "stop", "remove", "fail", "S", "r"])
                || (options.has(&["create", "C"]))) =>
        {
            report.infrastructure("mdadm", &written(call), options.has(&["zero-superblock"]));
        }
        "mount" => {
            let remounts =
                call.args.iter().any(|arg| arg.known().is_some_and(|word| word.contains("remount")));
            // What is mounted over a directory of the system hides it.
            let hides = words.len() > 1 && words.last().is_some_and(|place| is_needed(place));
            if remounts || hides {
                report.infrastructure("mount", &written(call), false);
            }
        }
        "umount" if options.has(&["a", "all"]) || words.iter().any(|place| is_needed(place)) => {
            report.infrastructure("umount", &written(call), false);
        }
        "swapoff" if options.has(&["a", "all"]) => report.infrastructure("swapoff", "-a", false),
        "flashrom" | "fwupdmgr" | "efibootmgr" | "nvram" | "grub-install" => {
            let writes = match call.program {
                "flashrom" => options.has(&["w", "E", "write", "erase"]),
                "efibootmgr" => options.has(&["B", "delete-bootnum"]),
                "nvram" => options.has(&["c", "d"]),
                "grub-install" => true,
                _ => false,
            };
            if writes {
                report.infrastructure(call.program, &written(call), false);
            }
        }
        "tmutil" if matches!(first, "delete" | "deletelocalsnapshots" | "disable") => {
            report.infrastructure("tmutil", &words.join(" "), first == "delete");
        }
        _ => {}
    }
}

/// Directories without which a machine or its people cannot go on.
fn is_needed(place: &str) -> bool {
    let place = place.trim_end_matches('/');
    matches!(
        place,
        "" | "/home" | "/etc" | "/usr" | "/var" | "/bin" | "/sbin" | "/lib" | "/boot" | "/root" | "/Users"
    )
}
