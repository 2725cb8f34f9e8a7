//! Installing what the project declares.
//!
//! The manifest or lock file of the project says what is installed; nothing is chosen by the agent.
//! A package named on the command line is not covered, unless it is the project itself.

use crate::act::Act;
use crate::allowances::Allowance;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::ExampleCall;
use crate::reach;

pub(super) static ALLOWANCE: Allowance = Allowance {
    code: "PA03",
    name: "declared-dependencies",
    title: "installing what the project declares",
    clears: &[],
    hits: &[
        ExampleCall::Bash("npm ci"),
        ExampleCall::Bash("npm install"),
        ExampleCall::Bash("pip install -r requirements.txt"),
        ExampleCall::Bash("pip install -e ."),
        ExampleCall::Bash("uv sync --locked"),
        ExampleCall::Bash("bundle install"),
        ExampleCall::Bash("go mod download"),
        ExampleCall::Bash("cargo fetch --locked"),
    ],
    misses: &[
        ExampleCall::Bash("npm install left-pad"),
        ExampleCall::Bash("npm install -g typescript"),
        ExampleCall::Bash("pip install requests"),
        ExampleCall::Bash("sudo apt-get install -y jq"),
        ExampleCall::Bash("cargo install ripgrep"),
        ExampleCall::Bash("gem install rails"),
        ExampleCall::Bash("go install example.com/tool@latest"),
        ExampleCall::Bash("brew install wget"),
        ExampleCall::Bash("pip install -r /tmp/names.txt"),
        ExampleCall::Bash("pip install -r requirements.txt --find-links /tmp/wheels"),
        ExampleCall::Bash("bundle install --path /home/me/gems"),
    ],
    covers: |case: Case<'_>, effect: &Effect| {
        effect.act == Act::InstallDeclared && !reach::leads_out(case, effect)
    },
};
