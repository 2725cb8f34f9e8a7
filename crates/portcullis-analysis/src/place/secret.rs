//! Files that hold secrets: keys, tokens, password stores, histories.

use super::Scope;
use super::pattern::{any, any_ending, any_named};

/// How secret a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Secrecy {
    /// The project's own settings, which may hold keys it works with.
    Project,
    /// Keys, tokens, passwords of the user or the machine.
    Key,
}

/// Below a home directory.
const IN_HOME: &[&str] = &[
    ".ssh/**",
    ".aws/credentials",
    ".aws/cli/cache/**",
    ".aws/sso/cache/**",
    ".azure/**",
    ".kube/config",
    ".kube/cache/**",
    ".docker/config.json",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".git-credentials",
    ".gnupg/**",
    ".password-store/**",
    ".config/gh/hosts.yml",
    ".config/glab-cli/config.yml",
    ".config/hub",
    ".config/gcloud/**",
    ".config/op/**",
    ".config/sops/**",
    ".config/configstore/**",
    ".sentryclirc",
    ".config/stripe/config.toml",
    ".vercel/auth.json",
    ".netlify/config.json",
    ".fly/config.yml",
    ".config/hcloud/**",
    ".config/goa-1.0/**",
    ".config/wireguard/**",
    ".config/evolution/**",
    ".config/remmina/**",
    ".config/filezilla/**",
    ".config/mcp/**",
    ".local/share/containers/**",
    ".config/containers/auth.json",
    ".circleci/cli.yml",
    ".config/helm/registry/config.json",
    ".config/keepassxc/**",
    ".config/age/**",
    ".age/**",
    ".config/git/credentials",
    ".config/doctl/config.yaml",
    ".config/heroku/**",
    ".config/rclone/rclone.conf",
    ".config/borg/**",
    ".config/composer/auth.json",
    ".composer/auth.json",
    ".config/google-chrome/**",
    ".config/chromium/**",
    ".config/BraveSoftware/**",
    ".mozilla/**",
    ".config/Slack/**",
    ".config/discord/**",
    ".config/Signal/**",
    ".thunderbird/**",
    ".local/share/keyrings/**",
    ".local/share/kwalletd/**",
    ".gnome2/keyrings/**",
    ".vault-token",
    ".terraformrc",
    ".terraform.d/credentials.tfrc.json",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet/NuGet.Config",
    ".boto",
    ".s3cfg",
    ".databrickscfg",
    ".snowsql/config",
    ".kaggle/kaggle.json",
    ".huggingface/token",
    ".cache/huggingface/token",
    ".openai/**",
    ".anthropic/**",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".electrum/**",
    ".bitcoin/**",
    ".ethereum/**",
    ".config/solana/id.json",
    ".bash_history",
    ".zsh_history",
    ".sh_history",
    ".python_history",
    ".node_repl_history",
    ".mysql_history",
    ".psql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".lesshst",
    ".viminfo",
    ".local/share/fish/fish_history",
    ".Xauthority",
    ".ICEauthority",
    ".krb5/**",
    ".k5login",
    ".rhosts",
    "Library/Keychains/**",
    // A blank in the name that nobody quoted.
    "Library/Application",
    "Library/Cookies/**",
    "Library/Messages/**",
    "Library/Application Support/Google/Chrome/**",
    "Library/Application Support/Firefox/**",
    "Library/Application Support/BraveSoftware/**",
    "Library/Application Support/com.apple.TCC/**",
    "AppData/Local/Google/Chrome/User Data/**",
    "AppData/Local/Microsoft/Edge/User Data/**",
    "AppData/Roaming/Mozilla/Firefox/**",
    "AppData/Local/Microsoft/Credentials/**",
    "AppData/Roaming/Microsoft/Credentials/**",
    "AppData/Roaming/Microsoft/Protect/**",
];

/// Directories below a home whose whole content is secret.
const DIRECTORIES_IN_HOME: &[&str] = &[
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/op",
    ".docker",
    ".electrum",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".mozilla",
    ".password-store",
    ".ssh",
    ".thunderbird",
    "Library/Keychains",
];

/// From the root.
const ABSOLUTE: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/shadow*",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/master.passwd",
    "/etc/security/passwd",
    "/etc/security/opasswd",
    "/etc/sudoers",
    "/etc/sudoers.d/**",
    "/etc/ssl/private/**",
    "/etc/pki/tls/private/**",
    "/etc/ssh/ssh_host_*_key",
    "/etc/ssh/ssh_host_*",
    "/etc/ipsec.conf",
    "/etc/ipsec.secrets",
    "/etc/ipsec.d/private/**",
    "/etc/wireguard/**",
    "/etc/openvpn/**",
    "/etc/ppp/chap-secrets",
    "/etc/ppp/pap-secrets",
    "/etc/krb5.keytab",
    "/etc/kubernetes/**",
    "/etc/rancher/k3s/k3s.yaml",
    "/etc/docker/key.json",
    "/etc/mysql/debian.cnf",
    "/etc/postfix/sasl_passwd",
    "/etc/exim4/passwd.client",
    "/etc/NetworkManager/system-connections/**",
    "/etc/wpa_supplicant/**",
    "/etc/machine-id.key",
    "/tmp/krb5cc*",
    "/var/lib/pam/**",
    "/var/lib/sss/**",
    "/var/lib/samba/private/**",
    "/var/lib/docker/**",
    "/var/lib/kubelet/**",
    "/var/run/secrets/**",
    "/run/secrets/**",
    "/var/db/dslocal/**",
    "/var/db/shadow/**",
    "/private/var/db/dslocal/**",
    "/private/etc/master.passwd",
    "/Library/Keychains/**",
    "/System/Library/Keychains/**",
    "/proc/kcore",
    "/dev/mem",
    "/dev/kmem",
    "/dev/port",
    "/proc/*/environ",
    "/proc/*/root/**",
    "/proc/*/cwd/**",
    "/proc/*/mem",
    "/proc/*/maps",
    "/proc/*/fd/**",
    "/proc/*/auxv",
];

/// Anywhere, by their last components.
const ANYWHERE: &[&str] = &[
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ecdsa_sk",
    "id_ed25519_sk",
    ".git-credentials",
    ".netrc",
    ".pgpass",
    ".vault_pass",
    ".vault-password",
    ".htpasswd",
    "*.kdbx",
    "*.kdb",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.ppk",
    "*.ovpn",
    "*.keytab",
    "wallet.dat",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "logins.json",
    "key3.db",
    "key4.db",
    "cookies.sqlite",
    "Login Data",
    "Web Data",
    "Login Data*",
    "Cookies",
    "ntds.dit",
    "autounattend.xml",
    "unattend.xml",
    "sysprep.inf",
    "sysprep.xml",
    "ConsoleHost_history.txt",
    "client_secret*.json",
    "service-account*.json",
    "serviceaccount*.json",
    ".aws/credentials",
    ".ssh/**",
    ".gnupg/**",
    ".kube/config",
    ".docker/config.json",
];

/// Settings of the project that may hold keys.
const OF_PROJECT: &[&str] = &[
    ".env",
    ".env.local",
    ".env.*",
    "*.env",
    ".envrc",
    ".dev.vars",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "credentials.json",
    "credentials.yml",
    "credentials.yaml",
    "credentials",
    "master.key",
    "*.pem",
    "*.key",
    "*.tfvars",
    ".npmrc",
    ".pypirc",
];

/// Of these kinds the ones that hold nothing secret.
const HARMLESS: &[&str] = &[
    ".ssh/known_hosts",
    ".ssh/known_hosts.old",
    ".ssh/config",
    ".ssh/*.pub",
    "*.pub",
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.defaults",
    ".env.test",
    "example.env",
    "sample.env",
    "public.key",
    "public.pem",
    "cert.pem",
    "ca.pem",
    "cacert.pem",
    "*.crt.pem",
    "fullchain.pem",
];

fn is_secret_in_home(below: &str) -> bool {
    any(IN_HOME, below) || any_named(IN_HOME, below) || DIRECTORIES_IN_HOME.contains(&below)
}

/// Says how secret a file is; `None` if nothing says that it is.
pub fn secrecy(path: &str, scope: &Scope) -> Option<Secrecy> {
    if any_ending(HARMLESS, path) {
        return None;
    }
    let is_own_process = path.starts_with("/proc/self/fd/");
    if any(ABSOLUTE, path) && !is_own_process || scope.below_home(path).is_some_and(is_secret_in_home) {
        return Some(Secrecy::Key);
    }
    if any_ending(ANYWHERE, path) {
        return Some(Secrecy::Key);
    }
    any_ending(OF_PROJECT, path).then_some(Secrecy::Project)
}

/// Says how secret a file is whose directory is only known when the command runs: `%APPDATA%\\Mozilla\\key4.db`.
pub(crate) fn secrecy_by_text(written: &str) -> Option<Secrecy> {
    const VARIABLES: &[(&str, &str)] =
        &[("localappdata", "AppData/Local"), ("appdata", "AppData/Roaming"), ("userprofile", "")];
    let path = written.trim_matches(['"', '\'']).replace('\\', "/");
    let (first, rest) = path.split_once('/')?;
    let name = first.trim_matches('%').to_ascii_lowercase();
    let name = name.trim_start_matches("$env:").trim_start_matches("${env:").trim_end_matches('}');
    let known = VARIABLES.iter().find(|(variable, _)| *variable == name).map(|(_, directory)| *directory);
    let below = known.map(|directory| format!("{directory}/{rest}"));
    let below = below.as_deref().map(|below| below.trim_start_matches('/'));
    let is_key = below.is_some_and(is_secret_in_home) || any_ending(ANYWHERE, rest);
    (is_key && !any_ending(HARMLESS, rest)).then_some(Secrecy::Key)
}
