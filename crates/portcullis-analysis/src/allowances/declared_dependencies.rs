//! Installing what the project declares.
//!
//! The manifest or lock file of the project says what is installed; nothing is chosen by the agent.
//! A package named on the command line is not covered, unless it is the project itself.

use crate::act::Act;
use crate::allowances::Allowance;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::Sample;
use crate::reach;

pub(super) static ALLOWANCE: Allowance = Allowance {
    code: "PA03",
    name: "declared-dependencies",
    title: "installing what the project declares",
    clears: &[],
    hits: &[
        Sample::Bash("npm ci"),
        Sample::Bash("npm install"),
        Sample::Bash("pip install -r requirements.txt"),
        Sample::Bash("pip install -e ."),
        Sample::Bash("uv sync --locked"),
        Sample::Bash("bundle install"),
        Sample::Bash("go mod download"),
        Sample::Bash("cargo fetch --locked"),
    ],
    misses: &[
        Sample::Bash("npm install left-pad"),
        Sample::Bash("npm install -g typescript"),
        Sample::Bash("pip install requests"),
        Sample::Bash("sudo apt-get install -y jq"),
        Sample::Bash("cargo install ripgrep"),
        Sample::Bash("gem install rails"),
        Sample::Bash("go install example.com/tool@latest"),
        Sample::Bash("brew install wget"),
        Sample::Bash("pip install -r /tmp/names.txt"),
        Sample::Bash("pip install -r requirements.txt --find-links /tmp/wheels"),
        Sample::Bash("bundle install --path /home/me/gems"),
    ],
    covers: |case: Case<'_>, effect: &Effect| {
        effect.act == Act::InstallDeclared && !reach::leads_out(case, effect)
    },
};
