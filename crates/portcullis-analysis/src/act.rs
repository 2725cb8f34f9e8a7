//! The acts: everything a call can do to the world, as far as a judgement needs to tell them apart.
//!
//! One row an act: its name in command profiles, how much it weighs, and what a person is told it does.

/// How much an act weighs by itself, before anybody looks at what it is done to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It changes nothing anywhere; what it shows may still be a secret.
    Observing,
    /// It changes something of the user's own that the project or git can make good; where it is done decides.
    Local,
    /// It leaves the project: a person would want to know, and nothing says it is wrong.
    Outward,
    /// It is the kind of act a finding is about.
    Grave,
    /// Nobody knows what it does.
    Unknown,
}

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// It is read.
    Read,
    /// It is written or created.
    Write,
    /// It is removed.
    Remove,
}

macro_rules! acts {
    ($($variant:ident $name:literal $weight:ident $clause:literal,)+) => {
        /// One thing a call does.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Act {
            $(#[doc = $clause] $variant,)+
        }

        impl Act {
            /// Every act, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the name command profiles use.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Returns how much it weighs by itself.
            pub const fn weight(self) -> Weight {
                match self { $(Self::$variant => Weight::$weight,)+ }
            }

            /// Returns what it does, as a clause that a target may follow: “reads the file”.
            pub const fn clause(self) -> &'static str {
                match self { $(Self::$variant => $clause,)+ }
            }
        }
    };
}

acts! {
    // Looking.
    Observe "observe" Observing "looks at something and changes nothing",
    Read "read" Observing "reads",
    List "list" Observing "looks at the names and attributes of",
    Query "query" Observing "asks a service about its state",
    Environment "environment" Observing "prints environment variables",
    Fetch "fetch" Local "fetches",
    // Files.
    Write "write" Local "writes",
    Delete "delete" Local "removes",
    DeleteTree "delete-tree" Local "removes with everything below",
    Move "move" Local "moves away",
    SetMode "set-mode" Local "changes permissions or owner of",
    Link "link" Local "makes a link to",
    Wipe "wipe" Grave "overwrites beyond recovery",
    Execute "execute" Local "runs the program or script",
    LoadCode "load-code" Grave "makes a program load foreign code:",
    // The project.
    RunProject "run-project" Local "runs code of the project",
    InstallDeclared "install-declared" Local "installs what the project declares",
    InstallPackage "install-package" Outward "installs a package the project may not declare:",
    InstallGlobal "install-global" Outward "installs software outside the project:",
    Uninstall "uninstall" Outward "removes installed software:",
    // Version control.
    GitLocal "git-local" Local "changes the local repository in a way git can undo",
    GitDiscard "git-discard" Grave "throws away work that was not committed",
    GitRewrite "git-rewrite" Local "rewrites local history",
    GitErase "git-erase" Grave "erases history beyond what git can restore",
    GitPush "git-push" Local "pushes commits",
    GitPushForce "git-push-force" Grave "overwrites history of the remote repository",
    GitDeleteRemote "git-delete-remote" Grave "deletes branches or tags of the remote repository",
    GitRemote "git-remote" Grave "points the repository at another remote:",
    GitConfig "git-config" Outward "changes the configuration of git:",
    // Processes and the machine.
    KillOwn "kill-own" Local "ends a process that this command line started",
    Kill "kill" Grave "ends or signals processes:",
    Inject "inject" Grave "reaches into the memory of another process",
    PowerOff "power-off" Grave "stops or restarts the machine",
    Exhaust "exhaust" Grave "uses up the machine",
    ServiceControl "service-control" Outward "starts or restarts a service:",
    ServiceStop "service-stop" Grave "stops or disables a service:",
    Persist "persist" Grave "makes something run again later:",
    Kernel "kernel" Grave "changes the running kernel",
    Disk "disk" Grave "changes disks, partitions or file systems:",
    Mount "mount" Grave "mounts or unmounts a file system:",
    NetworkConfig "network-config" Grave "changes how the machine reaches the network",
    SystemConfig "system-config" Outward "changes settings of the system:",
    // Power over the machine.
    Elevate "elevate" Outward "takes the rights of another user",
    Account "account" Grave "changes accounts, groups or passwords:",
    Grant "grant" Grave "gives somebody more rights:",
    EscapeContainer "escape-container" Grave "leaves the container or enters another namespace",
    Weaken "weaken" Grave "switches off a protection:",
    WeakenTrust "weaken-trust" Grave "weakens the check of who is at the other end:",
    TamperLog "tamper-log" Grave "removes or stops records of what happened:",
    // Network.
    Send "send" Outward "sends data to",
    Connect "connect" Outward "opens a connection to",
    RemoteRun "remote-run" Outward "runs a command on another machine:",
    RemoteShell "remote-shell" Grave "hands a shell to the other end of a connection",
    Listen "listen" Outward "accepts connections on",
    Tunnel "tunnel" Grave "opens a way from outside to this machine:",
    Scan "scan" Grave "searches other machines or people for openings:",
    Capture "capture" Grave "records traffic, keys, screen or clipboard",
    Attack "attack" Grave "is a tool for breaking in:",
    Malware "malware" Grave "behaves like malicious software:",
    // Secrets.
    SecretRead "secret-read" Grave "shows a secret:",
    SecretHunt "secret-hunt" Grave "searches for secrets:",
    SecretWrite "secret-write" Grave "changes an entry of a secret store:",
    // Services elsewhere.
    CloudWrite "cloud-write" Outward "changes cloud resources:",
    CloudDelete "cloud-delete" Grave "deletes cloud resources:",
    StorageDelete "storage-delete" Grave "deletes stored objects:",
    InfraApply "infra-apply" Outward "applies infrastructure changes",
    InfraBlind "infra-blind" Grave "applies infrastructure changes nobody looked at first",
    InfraDestroy "infra-destroy" Grave "tears down infrastructure",
    Deploy "deploy" Grave "deploys:",
    ClusterWrite "cluster-write" Outward "changes objects in a cluster:",
    ClusterDelete "cluster-delete" Grave "deletes objects of a cluster:",
    ClusterAdmin "cluster-admin" Grave "changes nodes or rules of a whole cluster:",
    ContainerLocal "container-local" Local "builds or runs containers on this machine",
    PullImage "pull-image" Outward "fetches an image that the project may not declare:",
    ContainerPower "container-power" Grave "gives a container power over this machine:",
    ContainerDelete "container-delete" Outward "removes containers, images or volumes",
    ContainerPurge "container-purge" Grave "removes containers, images or volumes in bulk",
    DatabaseQuery "database-query" Observing "asks a database",
    DatabaseWrite "database-write" Outward "changes rows of a database",
    DatabaseDestroy "database-destroy" Grave "destroys data of a database:",
    SharedWrite "shared-write" Grave "changes a queue, cache or other shared store:",
    DnsWrite "dns-write" Grave "changes names, domains or certificates:",
    // Other people.
    Publish "publish" Grave "publishes to everybody:",
    Post "post" Outward "writes to a service under the user's name:",
    Message "message" Grave "sends a message to people:",
    Transact "transact" Grave "moves money or orders something:",
    Merge "merge" Grave "merges a change without review",
    Moderate "moderate" Grave "deletes, closes or changes a shared project:",
    BypassCi "bypass-ci" Grave "gets round checks of the project:",
    Impersonate "impersonate" Grave "makes work look like another person's:",
    // Agents.
    SpawnAgent "spawn-agent" Outward "starts another agent",
    SpawnUnchecked "spawn-unchecked" Grave "starts an agent that nobody checks",
    AgentConfig "agent-config" Grave "changes the permissions or instructions of agents:",
    DriveTerminal "drive-terminal" Grave "types into another terminal session",
    // Hiding and unknown.
    Obfuscate "obfuscate" Grave "hides what it runs",
    Unknown "unknown" Unknown "does something that is not known:",
}

impl Act {
    /// Finds an act by its name in profiles.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|act| act.name() == name)
    }

    /// Returns what it does to a file, if it is something done to files.
    pub fn access(self) -> Option<Access> {
        match self {
            Self::Read | Self::List | Self::Execute | Self::LoadCode => Some(Access::Read),
            Self::Write | Self::SetMode | Self::Link | Self::Disk | Self::Mount => Some(Access::Write),
            Self::Delete | Self::DeleteTree | Self::Move | Self::Wipe => Some(Access::Remove),
            _ => None,
        }
    }

    /// Says whether it changes nothing anywhere.
    pub fn is_observing(self) -> bool {
        self.weight() == Weight::Observing
    }
}
