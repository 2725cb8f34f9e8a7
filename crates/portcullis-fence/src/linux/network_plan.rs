//! Which addresses stand for which hosts inside a fence.
//!
//! A listed name has an address of a block that nobody on the internet has, a listed address has itself. Behind each of
//! them a door is open at every port that may be reached: a socket that the supervisor accepts connections from.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use crate::host::{AllowedHost, HostName, HostTarget};
use crate::policy::NetworkAccess;
use crate::public_address::is_public;

/// The first address of the block for names, and how long its prefix is: it was set aside for tests of networks.
pub(super) const BLOCK: (Ipv4Addr, u8) = (Ipv4Addr::new(198, 18, 0, 1), 15);

/// A way out of the fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Door {
    /// Its address inside.
    pub(super) address: Ipv4Addr,
    /// The port, inside as outside.
    pub(super) port: u16,
    /// What it leads to.
    pub(super) target: HostTarget,
}

/// The network of a fence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct NetworkPlan {
    /// The ways out.
    pub(super) doors: Vec<Door>,
    names: BTreeMap<HostName, Ipv4Addr>,
    listed: Vec<AllowedHost>,
}

impl NetworkPlan {
    /// Makes the plan for what may be reached.
    pub(super) fn new(access: &NetworkAccess) -> Self {
        let NetworkAccess::Hosts(listed) = access else {
            return Self::default();
        };
        let mut plan = Self { listed: listed.clone(), ..Self::default() };
        for host in listed {
            let address = match host.target() {
                // Outside, both are the machine itself; inside, they are the fence.
                HostTarget::Address(address) if address.is_loopback() || address.is_unspecified() => continue,
                HostTarget::Address(address) => *address,
                HostTarget::Name(name) => plan.address_for(name),
            };
            for port in host.ports() {
                let door = Door { address, port: *port, target: host.target().clone() };
                if !plan.doors.contains(&door) {
                    plan.doors.push(door);
                }
            }
        }
        plan
    }

    fn address_for(&mut self, name: &HostName) -> Ipv4Addr {
        let used = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let next = Ipv4Addr::from_bits(BLOCK.0.to_bits().saturating_add(1).saturating_add(used));
        *self.names.entry(name.clone()).or_insert(next)
    }

    /// Returns the address of a listed name.
    pub(super) fn address_of(&self, name: &HostName) -> Option<Ipv4Addr> {
        self.names.get(name).copied()
    }

    /// Returns the addresses that are listed as such, each once.
    pub(super) fn own_addresses(&self) -> Vec<Ipv4Addr> {
        let doors = self.doors.iter().filter(|door| matches!(door.target, HostTarget::Address(_)));
        let mut addresses: Vec<Ipv4Addr> = doors.map(|door| door.address).collect();
        addresses.sort();
        addresses.dedup();
        addresses
    }

    /// Says whether a listed host may be looked for at an address: a public one, or one that is listed itself.
    pub(super) fn may_lead_to(&self, address: IpAddr, port: u16) -> bool {
        let is_listed = |host: &AllowedHost| {
            matches!(host.target(), HostTarget::Address(listed) if IpAddr::V4(*listed) == address)
                && host.ports().contains(&port)
        };
        is_public(address) || self.listed.iter().any(is_listed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(hosts: &[&str]) -> NetworkPlan {
        let hosts = hosts.iter().map(|host| host.parse().expect("a host")).collect();
        NetworkPlan::new(&NetworkAccess::Hosts(hosts))
    }

    #[test]
    fn a_name_has_one_address_and_a_door_for_each_port() {
        let hosts =
            ["a.example", "b.example:22", "a.example:8443", "10.0.0.5:5432", "127.0.0.1:9", "0.0.0.0:9"];
        let plan = plan(&hosts);
        let doors: Vec<String> =
            plan.doors.iter().map(|door| format!("{}:{}", door.address, door.port)).collect();
        assert_eq!(
            doors,
            ["198.18.0.2:443", "198.18.0.2:80", "198.18.0.3:22", "198.18.0.2:8443", "10.0.0.5:5432"]
        );
        assert_eq!(plan.own_addresses(), [Ipv4Addr::new(10, 0, 0, 5)]);
        assert_eq!(NetworkPlan::new(&NetworkAccess::None).doors, []);
    }

    #[test]
    fn a_private_address_must_be_listed_with_its_port() {
        let plan = plan(&["a.example", "10.0.0.5:5432"]);
        let may = |address: &str, port| plan.may_lead_to(address.parse().expect("an address"), port);
        assert!(may("1.1.1.1", 443) && may("10.0.0.5", 5432));
        assert!(
            !may("10.0.0.5", 443) && !may("10.0.0.6", 5432) && !may("127.0.0.1", 5432) && !may("::1", 443)
        );
    }
}
