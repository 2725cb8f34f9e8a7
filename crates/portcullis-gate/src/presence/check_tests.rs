//! Ways of people to a terminal, and ways of agents to one.

use pretty_assertions::assert_eq;

use super::super::agents::tests::noted;
use super::super::test_table::{MadeUpTable, pts};
use super::*;

/// A desktop: a terminal window with a shell in which an agent runs, which runs a shell for its tools.
///
/// ```text
/// 1 ─ 10 systemd ─ 20 gnome-terminal-server ─ 30 bash (pts 1) ─ 100 claude-like ─ 110 bash -c ─ …
/// ```
fn desktop() -> MadeUpTable {
    MadeUpTable::default()
        .start((10, 1), "systemd", (10, 0))
        .start((20, 10), "gnome-terminal-server", (20, 0))
        .shell((30, 20), 1)
        .start((100, 30), "some-harness", (30, pts(1)))
        .start((110, 100), "bash", (110, 0))
        .start((120, 110), "portcullis", (110, 0))
        .group(100, "terminal-1")
        .group(110, "terminal-1")
        .group(120, "terminal-1")
}

/// Looks at a process on a machine whose agent is process 100, as its hook 120 noted it.
fn looked_at(table: &MadeUpTable, pid: u32) -> Result<(), Absence> {
    let roster = noted(&desktop(), 120, "s1");
    PresenceCheck::new(table, &roster).process(pid)
}

fn made_by(program: &str) -> Result<(), Absence> {
    Err(Absence::MadeTerminal { program: program.to_owned() })
}

fn started_by_agent() -> Result<(), Absence> {
    Err(Absence::StartedByAgent { program: "some-harness".to_owned(), pid: 100 })
}

#[test]
fn a_person_is_let_through_in_every_terminal_of_theirs() {
    let window = desktop().shell((200, 20), 2).start((210, 200), "portcullis", (200, pts(2)));
    assert_eq!(looked_at(&window, 210), Ok(()));
    let console = desktop()
        .start((190, 1), "login", (190, 0))
        .of_root(190)
        .start((200, 190), "bash", (200, (4 << 8) | 2))
        .start((210, 200), "portcullis", (200, (4 << 8) | 2));
    assert_eq!(looked_at(&console, 210), Ok(()));
    let later_window = desktop()
        .start((190, 10), "konsole", (190, 0))
        .group(190, "terminal-2")
        .shell((200, 190), 2)
        .start((210, 200), "portcullis", (200, pts(2)));
    assert_eq!(looked_at(&later_window, 210), Ok(()));
    let editor = desktop()
        .start((40, 10), "code", (40, 0))
        .start((190, 40), "code", (40, 0))
        .shell((200, 190), 2)
        .start((210, 200), "portcullis", (200, pts(2)));
    assert_eq!(looked_at(&editor, 210), Ok(()));
    let container =
        desktop().start((200, 0), "bash", (200, pts(2))).start((210, 200), "portcullis", (200, pts(2)));
    assert_eq!(looked_at(&container, 210), Ok(()));
}

/// A terminal that something makes in a window which was opened after the agent began.
fn inside_a_later_window(window: &str, maker: &str) -> MadeUpTable {
    desktop()
        .start((190, 10), window, (190, 0))
        .group(190, "terminal-2")
        .shell((200, 190), 2)
        .start((205, 200), maker, (200, pts(2)))
        .group(205, "terminal-2")
        .shell((210, 205), 3)
        .start((220, 210), "portcullis", (210, pts(3)))
}

#[test]
fn what_makes_terminals_in_a_persons_terminal_is_theirs() {
    for maker in ["python3.12", "nvim", "script", "java", "some-notebook"] {
        for window in ["konsole", "kgx", "code"] {
            assert_eq!(looked_at(&inside_a_later_window(window, maker), 220), Ok(()), "{maker} in {window}");
        }
        // The same, started by nobody who is known.
        let service = desktop().start((190, 10), maker, (190, 0)).group(190, "run-u1").shell((200, 190), 2);
        assert_eq!(looked_at(&service, 200), made_by(maker));
        // The window is the agent's own, or only called like one.
        let own = inside_a_later_window("konsole", maker).group(190, "terminal-1");
        assert_eq!(looked_at(&own, 220), made_by(maker));
        let renamed = inside_a_later_window("konsole", maker).not_installed(190);
        assert_eq!(looked_at(&renamed, 220), made_by(maker));
        // An agent runs in the window.
        let agents = inside_a_later_window("konsole", maker).start((205, 200), "claude", (200, pts(2)));
        let agent = Err(Absence::StartedByAgent { program: "claude".to_owned(), pid: 205 });
        assert_eq!(looked_at(&agents, 220), agent);
    }
}

fn over_ssh(connection: &str) -> MadeUpTable {
    desktop()
        .start((190, 1), "sshd", (190, 0))
        .of_root(190)
        .start((195, 190), "sshd", (190, 0))
        .start((200, 195), "bash", (200, pts(2)))
        .set(200, "SSH_CONNECTION", connection)
        .start((210, 200), "portcullis", (200, pts(2)))
        .connected("192.0.2.1 22 192.0.2.9 5000")
}

#[test]
fn ssh_is_a_persons_if_it_comes_from_elsewhere() {
    assert_eq!(looked_at(&over_ssh("192.0.2.9 5000 192.0.2.1 22"), 210), Ok(()));
    for here in
        ["127.0.0.1 5000 127.0.0.1 22", "192.0.2.1 5000 192.0.2.1 22", "", "192.0.2.9 5001 192.0.2.1 22"]
    {
        assert_eq!(looked_at(&over_ssh(here), 210), Err(Absence::SshFromHere), "{here}");
    }
    // Somebody is really there, and an agent that came from here gives its own session out for theirs.
    let forged = over_ssh("192.0.2.9 5000 192.0.2.1 22")
        .connected("127.0.0.1 6000 127.0.0.1 22")
        .connected("127.0.0.1 22 127.0.0.1 6000");
    assert_eq!(looked_at(&forged, 210), Err(Absence::SshFromHere));
    let others = over_ssh("192.0.2.9 5000 192.0.2.1 22")
        .connected("127.0.0.1 6000 127.0.0.1 8080")
        .connected("127.0.0.1 8080 127.0.0.1 6000");
    assert_eq!(looked_at(&others, 210), Ok(()), "a web server of this machine");
    // The other end of the connection is on this machine as well.
    let both = over_ssh("192.0.2.9 5000 192.0.2.1 22").connected("192.0.2.9 5000 192.0.2.1 22");
    assert_eq!(looked_at(&both, 210), Err(Absence::SshFromHere));
}

/// A multiplexer that was started before the agent or after it, perhaps with a client in another window.
fn multiplexer(server: u32, group: &str, client: bool) -> MadeUpTable {
    let table = desktop()
        .start((server, 1), "tmux", (server, 0))
        .group(server, group)
        .shell((300, server), 5)
        .start((310, 300), "portcullis", (300, pts(5)));
    if client {
        table.shell((200, 20), 2).start((210, 200), "tmux", (200, pts(2))).serves(server, 210)
    } else {
        table
    }
}

#[test]
fn a_multiplexer_is_a_persons_while_they_look_at_it() {
    for (server, group) in [(50, "terminal-1"), (250, "terminal-1"), (250, "terminal-2")] {
        assert_eq!(looked_at(&multiplexer(server, group, true), 310), Ok(()), "{server} {group}");
        assert_eq!(looked_at(&multiplexer(server, group, false), 310), made_by("tmux"), "{server} {group}");
    }
    // Its only client is the agent's.
    let own = multiplexer(250, "terminal-1", false).serves(250, 115).start((115, 110), "tmux", (110, pts(1)));
    assert_eq!(looked_at(&own, 310), made_by("tmux"));
    // It has a terminal open in which a person runs the client of another one.
    let beside = multiplexer(250, "terminal-1", false)
        .shell((200, 20), 2)
        .start((210, 200), "tmux", (200, pts(2)))
        .opens(250, 2)
        .serves(240, 210);
    assert_eq!(looked_at(&beside, 310), made_by("tmux"));
    // The client of `screen` has ended its talk with the server, which opened its terminal.
    let screen = |client: u32| {
        desktop()
            .start((250, 1), "screen", (250, 0))
            .shell((300, 250), 5)
            .shell((200, 20), 2)
            .start((210, client), "screen", (200, pts(2)))
            .opens(250, 2)
    };
    assert_eq!(looked_at(&screen(200), 300), Ok(()));
    assert_eq!(looked_at(&screen(110), 300), made_by("screen"));
    let marked = multiplexer(250, "terminal-2", true).set(250, "CLAUDECODE", "1");
    assert_eq!(looked_at(&marked, 310), Err(Absence::Marked { variable: "CLAUDECODE" }));
}

#[test]
fn what_an_agent_starts_is_the_agents() {
    let plain = desktop();
    assert_eq!(looked_at(&plain, 120), started_by_agent());
    let renamed = desktop().start((130, 110), "pc", (30, pts(1)));
    assert_eq!(looked_at(&renamed, 130), started_by_agent());
    // script, socat, expect, a library: a terminal below the agent.
    let made = desktop().start((130, 110), "script", (130, 0)).shell((140, 130), 7);
    assert_eq!(looked_at(&made, 140), started_by_agent());
    let window = MadeUpTable::default().start((20, 1), "konsole", (20, 0)).shell((30, 20), 1);
    let by_name =
        window.start((100, 30), "claude", (30, pts(1))).start((110, 100), "portcullis", (30, pts(1)));
    let nobody = AgentRoster::default();
    let agent = Err(Absence::StartedByAgent { program: "claude".to_owned(), pid: 100 });
    assert_eq!(PresenceCheck::new(&by_name, &nobody).process(110), agent);
}

#[test]
fn whoever_forks_twice_gains_nothing() {
    // In the agent's own terminal: its shell did not start this.
    let left = desktop().start((130, 1), "portcullis", (30, pts(1)));
    assert_eq!(looked_at(&left, 130), Err(Absence::Detached));
    // In a session of its own there is no terminal.
    let alone = desktop().start((130, 1), "portcullis", (130, 0));
    assert_eq!(looked_at(&alone, 130), Err(Absence::NoTerminal));
    // A terminal made by what the first process took over.
    let made = desktop().start((130, 1), "script", (130, 0)).group(130, "terminal-1").shell((140, 130), 7);
    assert_eq!(looked_at(&made, 140), made_by("script"));
    // The maker hides what it has open.
    assert_eq!(looked_at(&made.unseen_maker(7), 140), made_by("script"));
    // The agent has ended meanwhile.
    let ended =
        desktop().start((130, 1), "script", (130, 0)).group(130, "terminal-1").shell((140, 130), 7).end(100);
    assert_eq!(looked_at(&ended, 140), made_by("script"));
}

#[test]
fn whoever_hides_a_parent_gains_nothing() {
    // A parent that ended while it was looked at, or that the system hides.
    let gone = desktop().start((130, 125), "script", (130, 0)).shell((140, 130), 7);
    assert_eq!(looked_at(&gone, 140), Err(Absence::Unknown));
    // Its number belongs to a person's shell by now.
    let reused = desktop().start((135, 200), "script", (135, 0)).shell((140, 135), 7).shell((200, 20), 2);
    assert_eq!(looked_at(&reused, 140), Err(Absence::Unknown));
    let deep = |many: u32| {
        let start = |table: MadeUpTable, at: u32| table.start((at, at - 1), "sh", (1_000, 0));
        let chain = (1_001..1_000 + many).fold(desktop().start((1_000, 110), "sh", (1_000, 0)), start);
        chain.shell((5_000, 999 + many), 7)
    };
    assert_eq!(looked_at(&deep(100), 5_000), started_by_agent());
    assert_eq!(looked_at(&deep(1_000), 5_000), Err(Absence::Unknown), "too far to see");
}

#[test]
fn services_and_schedulers_are_nobodys_terminal() {
    let service = desktop().start((130, 10), "script", (130, 0)).group(130, "run-u1").shell((140, 130), 7);
    assert_eq!(looked_at(&service, 140), made_by("script"));
    let renamed = desktop().start((130, 10), "konsole", (130, 0)).not_installed(130).shell((140, 130), 7);
    assert_eq!(looked_at(&renamed.group(130, "run-u1"), 140), made_by("konsole"));
    let job = desktop().start((130, 1), "atd", (130, 0)).of_root(130).start((135, 130), "script", (130, 0));
    let scheduled = Err(Absence::Scheduled { program: "atd".to_owned() });
    assert_eq!(looked_at(&job.shell((140, 135), 7), 140), scheduled);
}

#[test]
fn in_the_agents_own_terminal_nobody_is_believed() {
    let own = desktop().start((210, 30), "portcullis", (30, pts(1)));
    let there = Err(Absence::AgentsTerminal { program: "some-harness".to_owned(), pid: 100 });
    assert_eq!(looked_at(&own, 210), there);
    assert_eq!(looked_at(&own.end(100), 210), Ok(()), "the agent has ended");
}

#[test]
fn variables_of_agents_are_believed_when_they_say_no() {
    for mark in AGENT_MARKS {
        let window =
            desktop().shell((200, 20), 2).start((210, 200), "portcullis", (200, pts(2))).set(200, mark, "1");
        assert_eq!(looked_at(&window, 210), Err(Absence::Marked { variable: mark }));
    }
}

#[test]
fn whoever_cannot_see_the_agents_is_not_believed() {
    let contained = desktop().shell((200, 20), 2).start((210, 200), "portcullis", (200, pts(2)));
    assert_eq!(looked_at(&contained.in_container(210), 210), Err(Absence::OtherNamespace));
    let hidden = MadeUpTable::default().shell((200, 20), 2).start((210, 200), "portcullis", (200, pts(2)));
    assert_eq!(looked_at(&hidden.inside("pid:[7]"), 210), Err(Absence::OtherNamespace));
    assert_eq!(looked_at(&MadeUpTable::default(), 210), Err(Absence::Unknown));
}

#[test]
fn a_command_knows_whether_an_agent_runs_it() {
    let is_agents = |table: &MadeUpTable, pid: u32| {
        PresenceCheck::new(table, &noted(&desktop(), 120, "s1")).is_agents(pid)
    };
    let own = desktop().start((130, 110), "portcullis", (110, 0));
    assert!(is_agents(&own, 130));
    let left = desktop().start((130, 1), "portcullis", (130, 0)).group(130, "terminal-1");
    assert!(is_agents(&left, 130), "forked twice");
    assert!(is_agents(&desktop().start((130, 125), "portcullis", (130, 0)), 130), "its parent is not seen");
    let window = desktop().shell((200, 20), 2).start((210, 200), "portcullis", (200, pts(2)));
    assert!(!is_agents(&window, 210));
    assert!(is_agents(&window.set(210, "CLAUDECODE", "1"), 210));
    let job =
        desktop().start((190, 1), "cron", (190, 0)).of_root(190).start((200, 190), "portcullis", (200, 0));
    assert!(!is_agents(&job, 200), "a job of a person's");
}

/// What a service manager starts after the agent: nobody knows who asked for it.
fn service(program: &str) -> MadeUpTable {
    desktop().start((190, 10), program, (190, 0)).group(190, "app.slice/any-name.service")
}

fn told(program: &str) -> Result<(), Absence> {
    Err(Absence::ToldToRun { program: program.to_owned() })
}

#[test]
fn a_window_that_a_service_manager_opened_must_have_a_shell_to_type_into() {
    let led_by = |window: &str, leader: &str, words: &[&str]| {
        let table = service(window).start((200, 190), leader, (200, pts(2))).made(2, 190).says(200, words);
        looked_at(&table.start((210, 200), "portcullis", (200, pts(2))), 210)
    };
    for window in TERMINALS {
        assert_eq!(led_by(window, "bash", &["bash"]), Ok(()), "{window}");
        assert_eq!(led_by(window, "zsh", &["-zsh"]), Ok(()), "{window}");
        assert_eq!(led_by(window, "bash", &["bash", "-c", "x"]), told("bash"), "{window}");
        assert_eq!(led_by(window, "sh", &["sh", "x.sh"]), told("sh"), "{window}");
        assert_eq!(led_by(window, "portcullis", &["portcullis", "allow"]), told("portcullis"), "{window}");
        assert_eq!(led_by(window, "python3", &["python3", "x.py"]), told("python3"), "{window}");
    }
    let shell = ["bash", "--init-file", "/home/me/.code/init", "-i"];
    assert_eq!(led_by("code", "bash", &shell), Ok(()));
    assert_eq!(led_by("xterm", "bash", &shell), told("bash"));
    let steered = service("xterm").shell((200, 190), 2).set(200, "PROMPT_COMMAND", "x");
    assert_eq!(looked_at(&steered, 200), told("bash"));
    let own_shell = service("xterm").shell((200, 190), 2).not_installed(200);
    assert_eq!(looked_at(&own_shell, 200), told("bash"));
    // The person's desktop opened it, or it was there before.
    let opened = desktop().start((15, 10), "gnome-shell", (15, 0)).start((190, 15), "xterm", (190, 0));
    let opened = opened.start((200, 190), "tmux", (200, pts(2))).made(2, 190).says(200, &["tmux", "new"]);
    assert_eq!(looked_at(&opened, 200), Ok(()));
}

#[test]
fn what_runs_without_a_screen_is_no_window_of_a_service_manager() {
    for program in [
        "dtach",
        "abduco",
        "zellij",
        "tmux",
        "screen",
        "emacs",
        "mosh-server",
        "python3",
        "terminator",
        "socat",
        "ttyd",
    ] {
        assert_eq!(looked_at(&service(program).shell((200, 190), 2), 200), made_by(program));
    }
    // A window around something else makes that no window.
    let inside =
        service("xterm").start((195, 190), "python3", (195, pts(2))).made(2, 190).shell((200, 195), 3);
    assert_eq!(looked_at(&inside, 200), made_by("python3"));
    // The program that the manager started is none, whatever it starts.
    let wrapped = service("python3").start((195, 190), "xterm", (195, 0)).shell((200, 195), 2);
    assert_eq!(looked_at(&wrapped, 200), made_by("xterm"));
}

#[test]
fn services_that_start_programs_for_others_are_service_managers() {
    for service in ["dbus-daemon", "flatpak-session-helper"] {
        let began_before = desktop().start((12, 10), service, (12, 0));
        let started = began_before.start((190, 12), "script", (190, 0)).shell((200, 190), 2);
        assert_eq!(looked_at(&started, 200), made_by("script"));
        // A terminal of the person's, from which a shell is asked for outside.
        let asked = desktop().start((12, 10), service, (12, 0)).start((200, 12), "bash", (200, pts(2)));
        let came = Err(Absence::CameLater { program: "bash".to_owned() });
        assert_eq!(looked_at(&asked.made(2, 20), 200), came);
    }
}

#[test]
fn programs_that_were_there_before_open_no_terminal_for_an_agent() {
    // A server of a build, a desktop that takes orders, a multiplexer that nobody looks at.
    for server in ["java", "watchman", "awesome", "tmux"] {
        let table = desktop().start((50, 1), server, (50, 0)).group(50, "session-1");
        let run =
            table.start((190, 50), "sh", (50, 0)).start((195, 190), "script", (195, 0)).shell((200, 195), 2);
        assert_eq!(looked_at(&run, 200), made_by("script"), "{server}");
    }
    // The same in a window of a multiplexer that somebody looks at, and in one that nobody does.
    let window = |table: MadeUpTable| table.start((320, 300), "script", (300, pts(5))).shell((330, 320), 6);
    assert_eq!(looked_at(&window(multiplexer(50, "session-1", true)), 330), Ok(()));
    assert_eq!(looked_at(&window(multiplexer(50, "session-1", false)), 330), made_by("script"));
}

#[test]
fn a_program_that_nobody_installed_is_a_window_if_the_desktop_opened_it() {
    let opened_by = |desktop_program: &str, table: MadeUpTable| {
        let table = table.start((15, 10), desktop_program, (15, 0)).start((190, 15), "sh", (190, 0));
        let table = table.start((195, 190), "my-terminal", (190, 0)).not_installed(195);
        looked_at(&table.shell((200, 195), 2), 200)
    };
    assert_eq!(opened_by("gnome-shell", desktop()), Ok(()));
    assert_eq!(opened_by("awesome", desktop()), made_by("my-terminal"));
    let login = desktop().start((185, 1), "login", (185, 0)).of_root(185);
    let login = login.start((190, 185), "my-terminal", (190, 0)).not_installed(190).shell((200, 190), 2);
    assert_eq!(looked_at(&login, 200), Ok(()));
    let editor = desktop().start((185, 0), "sh", (185, 0)).start((190, 185), "node", (185, 0));
    let editor = editor.start((195, 190), "node", (185, 0)).shell((200, 195), 2);
    assert_eq!(looked_at(&editor, 200), Ok(()), "an editor's server in a container");
    let called = desktop().start((15, 10), "awesome", (15, 0)).start((190, 15), "script", (190, 0));
    let called = called.called(190, "awesome").shell((200, 190), 2);
    assert_eq!(looked_at(&called, 200), made_by("awesome"));
    // Who signed in again has a desktop that began after the agent.
    let again = desktop().start((185, 10), "gnome-shell", (185, 0)).group(185, "shell");
    let window = again.start((190, 185), "xterm", (190, 0)).shell((200, 190), 2);
    assert_eq!(looked_at(&window, 200), Ok(()));
}

#[test]
fn a_terminal_that_somebody_left_is_not_whose_who_takes_it() {
    let came = |program: &str| Err(Absence::CameLater { program: program.to_owned() });
    for parent in [1, 10] {
        // The window still shows a shell that has ended.
        let left = desktop().made(2, 20).start((200, parent), "portcullis", (200, pts(2))).group(200, "any");
        assert_eq!(looked_at(&left, 200), came("portcullis"));
        let before = desktop().made(2, 20).start((90, parent), "bash", (90, pts(2)));
        assert_eq!(looked_at(&before, 90), Ok(()), "it was there before the agent");
        // A serial line that everybody of a group may open.
        let line = desktop().start((200, parent), "portcullis", (200, (188 << 8) | 1)).group(200, "any");
        assert_eq!(looked_at(&line, 200), came("portcullis"));
    }
}

#[test]
fn mosh_counts_where_a_login_from_elsewhere_started_it() {
    let mosh = |group: &str, connection: &str| {
        let table = desktop().start((190, 1), "mosh-server", (190, 0)).group(190, group);
        looked_at(&table.set(190, "SSH_CONNECTION", connection).shell((200, 190), 2), 200)
    };
    let login = "0::/user.slice/user-1000.slice/session-7.scope\n";
    let elsewhere = "192.0.2.9 5000 192.0.2.1 22";
    assert_eq!(mosh(login, elsewhere), Ok(()));
    assert_eq!(mosh(login, "127.0.0.1 5000 127.0.0.1 22"), made_by("mosh-server"));
    for own in [
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-u7.service\n",
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/session-7.scope\n",
        "0::/\n",
        "terminal-1",
    ] {
        assert_eq!(mosh(own, elsewhere), made_by("mosh-server"), "{own}");
    }
}
