//! Programs that run a command in their arguments, by what they change about it.

use super::{ALL, Layout, after, changing, shell, transparent};

pub(in crate::wrapper) const WRAPPERS: &[Layout] = &[
    // What only passes on.
    after(
        1,
        Layout {
            flags_long: TIMEOUT_FLAGS,
            valued_long: TIMEOUT_VALUED,
            ..transparent("timeout", "fpv", "ks")
        },
    ),
    after(
        1,
        Layout {
            flags_long: TIMEOUT_FLAGS,
            valued_long: TIMEOUT_VALUED,
            ..transparent("gtimeout", "fpv", "ks")
        },
    ),
    Layout { valued_long: &["adjustment"], ..transparent("nice", "0123456789", "n") },
    transparent("nohup", "", ""),
    Layout { valued_long: &["input", "output", "error"], ..transparent("stdbuf", "", "ioe") },
    transparent("command", "p", ""),
    transparent("builtin", "", ""),
    transparent("noglob", "", ""),
    Layout {
        flags_long: &[
            "ignore-environment",
            "null",
            "debug",
            "block-signal",
            "default-signal",
            "ignore-signal",
        ],
        valued_long: &["unset", "chdir", "split-string", "argv0"],
        assigns: true,
        text: &["-S", "--split-string"],
        directory: &["-C", "--chdir"],
        ..transparent("env", "i0v", "uCSPa")
    },
    // Who runs it.
    shell(Layout {
        flags_long: &[
            "login",
            "shell",
            "preserve-env",
            "non-interactive",
            "stdin",
            "background",
            "askpass",
            "set-home",
        ],
        valued_long: &[
            "user",
            "group",
            "host",
            "prompt",
            "close-from",
            "role",
            "type",
            "command-timeout",
            "other-user",
            "chdir",
            "chroot",
        ],
        assigns: true,
        directory: &["-D", "--chdir"],
        ..changing("sudo", "AbEeHiKklnPSsVv", "ughpCrtTUDR")
    }),
    shell(changing("doas", "Lns", "uCa")),
    Layout {
        flags_long: &["disable-internal-agent", "keep-cwd"],
        valued_long: &["user"],
        ..changing("pkexec", "", "u")
    },
    after(ALL, shell(Layout { text: SU_TEXT, valued_long: SU_VALUED, ..changing("su", "flmpP", "cgsGw") })),
    after(
        ALL,
        shell(Layout { text: SU_TEXT, valued_long: SU_VALUED, ..changing("runuser", "flmpP", "cgsGwu") }),
    ),
    Layout { valued_long: &["user", "group"], ..changing("runuser", "flmpP", "cgsGwu") },
    after(1, Layout { text: &["-c"], ..changing("sg", "", "c") }),
    after(1, changing("gosu", "", "")),
    after(1, changing("su-exec", "", "")),
    after(1, changing("setuidgid", "", "")),
    changing("chpst", "vP012", "ubenmdofcrUt/"),
    Layout {
        valued_long: &["reuid", "regid", "groups", "ambient-caps", "inh-caps", "bounding-set"],
        ..changing("setpriv", "", "")
    },
    shell(changing("fakeroot", "u", "lsib")),
    changing("runcon", "c", "turl"),
    // Where it runs.
    after(
        1,
        shell(Layout {
            valued_long: &["userspec", "groups"],
            flags_long: &["skip-chdir"],
            ..changing("chroot", "", "")
        }),
    ),
    shell(Layout {
        valued_long: &["root", "wd", "setuid", "setgid", "map-user", "map-group", "propagation"],
        attached: "muinpUCT",
        ..changing("unshare", "rcf", "RwSGl")
    }),
    shell(Layout {
        valued_long: &["target", "setuid", "setgid"],
        attached: "muinpUCTrw",
        ..changing("nsenter", "aFZ", "tSGW")
    }),
    Layout {
        valued_long: &[
            "unit",
            "property",
            "slice",
            "uid",
            "gid",
            "description",
            "working-directory",
            "machine",
            "host",
            "setenv",
            "on-active",
            "service-type",
        ],
        ..changing("systemd-run", "tPqSGdr", "puEMH")
    },
    after(
        1,
        shell(Layout {
            joins: true,
            ..changing("ssh", "1246AaCfGgKkMNnqsTtVvXxYy", "BbcDEeFIiJLlmOopPQRSWw")
        }),
    ),
    after(
        1,
        shell(Layout {
            joins: true,
            ..changing("autossh", "1246AaCfGgKkMNnqsTtVvXxYy", "BbcDEeFIiJLlmOopPQRSWwM")
        }),
    ),
    changing("sshpass", "eVvh", "pfdP"),
    changing("proxychains", "q", "f"),
    changing("proxychains4", "q", "f"),
    changing("torsocks", "i", ""),
    changing("firejail", "", ""),
    changing("wsl", "e", "du"),
    // How it runs.
    Layout { valued_long: &["format", "output"], ..changing("time", "apv", "fo") },
    Layout { valued_long: &["format", "output"], ..changing("gtime", "apv", "fo") },
    changing("nocorrect", "", ""),
    changing("-", "", ""),
    after(1, changing("repeat", "", "")),
    changing("exec", "cl", "a"),
    Layout {
        joins: true,
        valued_long: &["interval", "equexit"],
        attached: "d",
        ..changing("watch", "bcegprtwx", "nq")
    },
    Layout { valued_long: &["class", "classdata"], ..changing("ionice", "t", "cn") },
    changing("setsid", "cfw", ""),
    after(1, changing("taskset", "acp", "")),
    after(1, changing("chrt", "abfimorRv", "TPD")),
    Layout {
        valued_long: &["output", "trace", "attach", "user", "env"],
        ..changing("strace", "cCdDfFhiknqrtTvVwxyYzZ", "oepsuUEabIOSXP")
    },
    changing("ltrace", "bcCfhiLrStTV", "oepsuEanlADFwx"),
    after(
        ALL,
        Layout {
            text: &["-c", "--command"],
            valued_long: FLOCK_VALUED,
            ..changing("flock", "enosuxF", "wEc")
        },
    ),
    after(
        1,
        Layout {
            text: &["-c", "--command"],
            valued_long: FLOCK_VALUED,
            ..changing("flock", "enosuxF", "wEc")
        },
    ),
    after(
        ALL,
        shell(Layout {
            text: &["-c", "--command"],
            valued_long: &["command"],
            attached: "t",
            ..changing("script", "aefqrkdp", "cEIOBTmo")
        }),
    ),
    after(1, changing("script", "aefqrkdp", "cEIOBTmot")),
    changing("caffeinate", "dimsu", "tw"),
    changing("xvfb-run", "al", "enfpsw"),
    changing("dbus-run-session", "", ""),
    changing("dbus-launch", "", ""),
    changing("busybox", "", ""),
    changing("toybox", "", ""),
    after(1, changing("setarch", "RBFILSTXZv3", "")),
    changing("setarch", "RBFILSTXZv3", ""),
    changing("linux32", "RBFILSTXZv3", ""),
    changing("linux64", "RBFILSTXZv3", ""),
    changing("i386", "RBFILSTXZv3", ""),
    changing("x86_64", "RBFILSTXZv3", ""),
    changing("arch", "", ""),
    changing("prlimit", "", "op"),
    changing("choom", "", "np"),
    changing("cgexec", "", "g"),
    changing("numactl", "la", "NmCpir"),
    changing("trickle", "sv", "duwtlnp"),
    changing("cpulimit", "bqvzi", "lpeP"),
    changing("unbuffer", "p", ""),
    changing("chronic", "ev", ""),
    changing("ifne", "n", ""),
    changing("rlwrap", "", ""),
    changing("eatmydata", "", ""),
    changing("catchsegv", "", ""),
    changing("daemonize", "av", "ceopluE"),
    changing("dumb-init", "cv", ""),
    changing("tini", "gsvw", "pe"),
    changing("valgrind", "qv", ""),
    changing("heaptrack", "", ""),
    changing("hyperfine", "iN", "wrmMpscPDLSnu"),
    Layout { joins: true, ..changing("entr", "acdnprsxz", "") },
    changing("watchexec", "cnqrv1", "dewifsWE"),
    after(1, changing("envdir", "", "")),
    changing("softlimit", "", "mdsloaptrcf"),
    changing("nq", "cq", ""),
    changing("tsp", "fgmnEB", "LNSD"),
    changing("screen", "dmDLUARrx", "SceshtpT"),
    Layout { assigns: true, ..changing("cross-env", "", "") },
    Layout { assigns: true, joins: true, ..changing("cross-env-shell", "", "") },
    changing("env-cmd", "", "fe"),
];

const TIMEOUT_FLAGS: &[&str] = &["foreground", "preserve-status", "verbose"];
const TIMEOUT_VALUED: &[&str] = &["kill-after", "signal"];
const SU_VALUED: &[&str] = &["command", "session-command", "group", "supp-group", "shell", "user"];
const SU_TEXT: &[&str] = &["-c", "--command", "--session-command"];
const FLOCK_VALUED: &[&str] = &["wait", "timeout", "command", "conflict-exit-code"];
