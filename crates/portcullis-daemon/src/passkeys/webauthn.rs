//! What a passkey says, checked: `WebAuthn` for the two kinds of keys that every authenticator has, ES256 and `EdDSA`.
//!
//! Nothing is asked of the maker of a key, because a key is registered by somebody who showed another way that they are
//! there; so no certificate and no CBOR is read. The libraries for this bring an RSA with known weaknesses or are under a
//! licence that we do not take; the signatures are checked by `ring`, which is here for other reasons.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest;
use ring::signature::{ECDSA_P256_SHA256_ASN1, ED25519, UnparsedPublicKey, VerificationAlgorithm};
use serde::{Deserialize, Serialize};

/// What stands before the point of an ES256 key, and how long the point is.
const ES256_HEAD: &[u8] =
    b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00";
const ES256_LENGTH: usize = 65;
/// What stands before the point of an `EdDSA` key, and how long the point is.
const EDDSA_HEAD: &[u8] = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";
const EDDSA_LENGTH: usize = 32;

/// The flag that somebody touched the authenticator.
const TOUCHED: u8 = 0x01;
/// The flag that a new key is described.
const DESCRIBES_KEY: u8 = 0x40;
/// Where flags, counter, and the id of a new key stand in what an authenticator says.
const FLAGS_AT: usize = 32;
const COUNTER_AT: usize = 33;
const ID_LENGTH_AT: usize = 53;

/// Bytes that are written as base64url.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()
}

/// The kind of a key, and its point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum PasskeyPublicKey {
    /// ECDSA with P-256 and SHA-256.
    Es256(String),
    /// Ed25519.
    EdDsa(String),
}

impl PasskeyPublicKey {
    /// Reads a key as browsers hand it over.
    pub(super) fn read(spki: &[u8]) -> Option<Self> {
        if let Some(point) = spki.strip_prefix(ES256_HEAD).filter(|point| point.len() == ES256_LENGTH) {
            return Some(Self::Es256(URL_SAFE_NO_PAD.encode(point)));
        }
        let point = spki.strip_prefix(EDDSA_HEAD).filter(|point| point.len() == EDDSA_LENGTH)?;
        Some(Self::EdDsa(URL_SAFE_NO_PAD.encode(point)))
    }

    fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let (algorithm, point): (&'static dyn VerificationAlgorithm, _) = match self {
            Self::Es256(point) => (&ECDSA_P256_SHA256_ASN1, point),
            Self::EdDsa(point) => (&ED25519, point),
        };
        let Some(point) = decode(point) else { return false };
        UnparsedPublicKey::new(algorithm, point).verify(message, signature).is_ok()
    }
}

/// Who is asked: the name of the site, and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AskedSite {
    pub(super) name: String,
    pub(super) origin: String,
}

/// What a browser made of a challenge.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PasskeyResponse {
    pub(super) id: String,
    #[serde(rename = "clientDataJSON")]
    client_data: String,
    authenticator_data: String,
    #[serde(default)]
    signature: String,
    #[serde(default)]
    public_key: String,
}

#[derive(Debug, Deserialize)]
struct ClientData {
    #[serde(rename = "type")]
    kind: String,
    challenge: String,
    origin: String,
    #[serde(default, rename = "crossOrigin")]
    is_cross_origin: bool,
}

impl PasskeyResponse {
    /// Returns the challenge that this answers, to be looked for among those that were given out.
    pub(super) fn challenge(&self) -> Option<String> {
        Some(serde_json::from_slice::<ClientData>(&decode(&self.client_data)?).ok()?.challenge)
    }

    /// Returns the key that is registered, with its counter.
    pub(super) fn registered(&self, site: &AskedSite, challenge: &str) -> Option<(PasskeyPublicKey, u32)> {
        self.client_data("webauthn.create", site, challenge)?;
        let data = decode(&self.authenticator_data)?;
        let counter = authenticated(&data, site)?;
        let length: [u8; 2] = data.get(ID_LENGTH_AT..ID_LENGTH_AT + 2)?.try_into().ok()?;
        let id = data.get(ID_LENGTH_AT + 2..)?.get(..usize::from(u16::from_be_bytes(length)))?;
        let is_new = data.get(FLAGS_AT)? & DESCRIBES_KEY != 0 && !id.is_empty();
        if !is_new || decode(&self.id)? != id {
            return None;
        }
        Some((PasskeyPublicKey::read(&decode(&self.public_key)?)?, counter))
    }

    /// Checks that the holder of a key answers a challenge; returns the counter of the key.
    pub(super) fn verified(&self, key: &PasskeyPublicKey, site: &AskedSite, challenge: &str) -> Option<u32> {
        let client_data = self.client_data("webauthn.get", site, challenge)?;
        let data = decode(&self.authenticator_data)?;
        let counter = authenticated(&data, site)?;
        let hash = digest::digest(&digest::SHA256, &client_data);
        let message = [&data, hash.as_ref()].concat();
        key.verifies(&message, &decode(&self.signature)?).then_some(counter)
    }

    /// Returns what the browser says it was asked, if it is what we asked.
    fn client_data(&self, kind: &str, site: &AskedSite, challenge: &str) -> Option<Vec<u8>> {
        let bytes = decode(&self.client_data)?;
        let said: ClientData = serde_json::from_slice(&bytes).ok()?;
        let is_ours = said.kind == kind && said.origin == site.origin && !said.is_cross_origin;
        (is_ours && said.challenge == challenge && !challenge.is_empty()).then_some(bytes)
    }
}

/// Checks that an authenticator speaks to our site and was touched; returns its counter.
fn authenticated(data: &[u8], site: &AskedSite) -> Option<u32> {
    let name = digest::digest(&digest::SHA256, site.name.as_bytes());
    let is_ours = data.get(..FLAGS_AT)? == name.as_ref() && data.get(FLAGS_AT)? & TOUCHED != 0;
    let counter: [u8; 4] = data.get(COUNTER_AT..COUNTER_AT + 4)?.try_into().ok()?;
    is_ours.then(|| u32::from_be_bytes(counter))
}

#[cfg(test)]
pub(super) mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};

    use super::*;

    pub(in crate::passkeys) fn site() -> AskedSite {
        AskedSite { name: "localhost".to_owned(), origin: "http://localhost:7317".to_owned() }
    }

    /// An authenticator with one key.
    pub(in crate::passkeys) enum Authenticator {
        Es256(EcdsaKeyPair),
        EdDsa(Ed25519KeyPair),
    }

    impl Authenticator {
        pub(in crate::passkeys) fn es256() -> Self {
            let (random, kind) = (SystemRandom::new(), &ECDSA_P256_SHA256_ASN1_SIGNING);
            let key = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
            Self::Es256(EcdsaKeyPair::from_pkcs8(kind, key.as_ref(), &random).unwrap())
        }

        pub(in crate::passkeys) fn eddsa() -> Self {
            let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
            Self::EdDsa(Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap())
        }

        fn spki(&self) -> Vec<u8> {
            match self {
                Self::Es256(key) => [ES256_HEAD, key.public_key().as_ref()].concat(),
                Self::EdDsa(key) => [EDDSA_HEAD, key.public_key().as_ref()].concat(),
            }
        }

        fn sign(&self, message: &[u8]) -> Vec<u8> {
            match self {
                Self::Es256(key) => key.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec(),
                Self::EdDsa(key) => key.sign(message).as_ref().to_vec(),
            }
        }

        pub(in crate::passkeys) fn register(&self, challenge: &str) -> PasskeyResponse {
            let mut data = data(&site(), TOUCHED | DESCRIBES_KEY, 0);
            data.extend([0; 16]);
            data.extend([0, 4]);
            data.extend(b"key1");
            PasskeyResponse {
                id: URL_SAFE_NO_PAD.encode("key1"),
                client_data: client_data("webauthn.create", challenge, &site().origin),
                authenticator_data: URL_SAFE_NO_PAD.encode(data),
                signature: String::new(),
                public_key: URL_SAFE_NO_PAD.encode(self.spki()),
            }
        }

        pub(in crate::passkeys) fn answer(&self, challenge: &str, counter: u32) -> PasskeyResponse {
            let data = data(&site(), TOUCHED, counter);
            let client_data = client_data("webauthn.get", challenge, &site().origin);
            let hash = digest::digest(&digest::SHA256, &decode(&client_data).unwrap());
            let signature = self.sign(&[&data, hash.as_ref()].concat());
            PasskeyResponse {
                id: URL_SAFE_NO_PAD.encode("key1"),
                client_data,
                authenticator_data: URL_SAFE_NO_PAD.encode(data),
                signature: URL_SAFE_NO_PAD.encode(signature),
                public_key: String::new(),
            }
        }
    }

    fn data(site: &AskedSite, flags: u8, counter: u32) -> Vec<u8> {
        let name = digest::digest(&digest::SHA256, site.name.as_bytes());
        [name.as_ref(), &[flags], &counter.to_be_bytes()].concat()
    }

    fn client_data(kind: &str, challenge: &str, origin: &str) -> String {
        let text =
            serde_json::json!({"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": false});
        URL_SAFE_NO_PAD.encode(text.to_string())
    }

    #[test]
    fn both_kinds_of_keys_are_registered_and_believed() {
        for key in [Authenticator::es256(), Authenticator::eddsa()] {
            let (public, counter) = key.register("c1").registered(&site(), "c1").unwrap();
            assert_eq!(counter, 0);
            assert_eq!(key.answer("c2", 7).verified(&public, &site(), "c2"), Some(7));
        }
    }

    #[test]
    fn an_answer_to_anything_else_is_none() {
        let (key, other) = (Authenticator::es256(), Authenticator::es256());
        let (public, _) = key.register("c1").registered(&site(), "c1").unwrap();
        let verified = |response: &PasskeyResponse, site: &AskedSite, challenge: &str| {
            response.verified(&public, site, challenge)
        };
        let good = || key.answer("c2", 1);
        assert_eq!(verified(&good(), &site(), "c3"), None, "another challenge");
        assert_eq!(verified(&good(), &site(), ""), None, "no challenge");
        assert_eq!(verified(&other.answer("c2", 1), &site(), "c2"), None, "another key");
        let elsewhere = AskedSite { name: "evil.example".to_owned(), ..site() };
        assert_eq!(verified(&good(), &elsewhere, "c2"), None, "another name");
        let elsewhere = AskedSite { origin: "http://localhost:3000".to_owned(), ..site() };
        assert_eq!(verified(&good(), &elsewhere, "c2"), None, "another origin");
        assert_eq!(verified(&PasskeyResponse { signature: String::new(), ..good() }, &site(), "c2"), None);
        assert_eq!(
            verified(&PasskeyResponse { authenticator_data: String::new(), ..good() }, &site(), "c2"),
            None
        );
        let registering =
            PasskeyResponse { client_data: client_data("webauthn.create", "c2", &site().origin), ..good() };
        assert_eq!(verified(&registering, &site(), "c2"), None, "another purpose");
        let untouched =
            PasskeyResponse { authenticator_data: URL_SAFE_NO_PAD.encode(data(&site(), 0, 1)), ..good() };
        assert_eq!(verified(&untouched, &site(), "c2"), None, "nobody touched it");
    }

    #[test]
    fn a_key_is_registered_whole_or_not() {
        let key = Authenticator::es256();
        let good = || key.register("c1");
        for wrong in [
            PasskeyResponse { id: URL_SAFE_NO_PAD.encode("key2"), ..good() },
            PasskeyResponse { public_key: URL_SAFE_NO_PAD.encode("short"), ..good() },
            PasskeyResponse {
                authenticator_data: URL_SAFE_NO_PAD.encode(data(&site(), TOUCHED, 0)),
                ..good()
            },
            PasskeyResponse { client_data: client_data("webauthn.get", "c1", &site().origin), ..good() },
        ] {
            assert_eq!(wrong.registered(&site(), "c1"), None, "{wrong:?}");
        }
        assert_eq!(good().registered(&site(), "c2"), None);
    }
}
