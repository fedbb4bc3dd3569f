//! `application = {...}`: an application that writes data to TCP over time. Kinds that write messages are a file and a line in the list
//! below.

mod bursts;
mod user;

use crate::decode::{Decoder, Table};
use crate::problem::listed;
use crate::record::{Record, Shape, table};
use crate::user_code::is_user_code;
pub use bursts::{Applications, Bursts, HandOver};
use schemars::SchemaGenerator;
use serde::{Serialize, Serializer};
pub use user::UserClient;

/// Key that selects the kind.
const TAG: &str = "kind";

/// Declares the kinds that write messages, each as its module, its type and its word.
macro_rules! kinds {
    ($($module:ident::$type:ident = $word:literal,)+) => {
        $(mod $module; pub use $module::*;)+

        /// An application above TCP. Data that TCP cannot send yet is buffered without limit.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Application {
            Bursts(Bursts),
            User(UserClient),
            $($type($type),)+
        }

        impl Application {
            const WORDS: &[&str] = &[$($word),+];

            /// The word of a kind that writes messages.
            pub(crate) fn word(&self) -> Option<&'static str> {
                match self {
                    Application::Bursts(_) => None,
                    Application::User(_) => Some("user code"),
                    $(Application::$type(_) => Some($word),)+
                }
            }
        }

        impl Record for Application {
            fn take(table: &mut Table, decoder: &mut Decoder) -> Application {
                let words = Application::all_words();
                let word = match table.node(TAG) {
                    Some(node) if is_user_code(node) => return Application::User(UserClient::take(table, decoder)),
                    Some(node) => decoder.inside(TAG, |decoder| decoder.word(node, "kind of application", &words)),
                    None => {
                        table.missing(TAG, listed(&words));
                        None
                    }
                };
                match word {
                    $(Some($word) => Application::$type($type::take(table, decoder)),)+
                    Some(_) => Application::Bursts(Bursts::take(table, decoder)),
                    None => {
                        // The valid keys are not known, so that none is reported as unknown.
                        table.know_all();
                        Application::default()
                    }
                }
            }

            fn shapes(generator: &mut SchemaGenerator) -> Vec<Shape> {
                let mut shapes = Bursts::shapes(generator);
                $({
                    let own = $type::shapes(generator).into_iter().map(|shape| {
                        shape.tag(TAG, $word, &[$type::SUMMARY], None).source(TAG, $type::SOURCE)
                    });
                    shapes.extend(own);
                })+
                shapes.extend(UserClient::shapes(generator));
                shapes
            }
        }

        impl Serialize for Application {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Application::Bursts(bursts) => bursts.serialize(serializer),
                    Application::User(client) => client.serialize(serializer),
                    $(Application::$type(own) => Tagged { kind: $word, own }.serialize(serializer),)+
                }
            }
        }
    };
}

/// A table with its word.
#[derive(Serialize)]
struct Tagged<'a, T: Serialize> {
    kind: &'static str,
    #[serde(flatten)]
    own: &'a T,
}

kinds! {
    script::Script = "script",
    requests::Requests = "requests",
    video::Video = "video",
}

table!(Application, "An application above TCP. Data that TCP cannot send yet is buffered without limit.");

impl Default for Application {
    fn default() -> Application {
        Application::Bursts(Bursts::default())
    }
}

impl Application {
    /// The processes of bursts, and the kinds that write messages.
    fn all_words() -> Vec<&'static str> {
        let processes = <Applications as crate::member::Family>::members().into_iter().map(|member| member.name);
        processes.chain(Application::WORDS.iter().copied()).collect()
    }

    /// Number of consecutive connections of each flow.
    pub(crate) fn connections(&self) -> u64 {
        match self {
            Application::Requests(Requests { connections: Connections::New, requests, .. }) => requests.0,
            _ => 1,
        }
    }
}
