//! Choices between words without further data.

/// See [`crate::model::Choice`]: an enum whose variants are words. `$parameter` is the models' name for it.
macro_rules! choice {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident as $parameter:literal {
            $($(#[doc = $about:literal])+ $kind:ident { word: $word:literal, title: $title:literal, help: $help:literal, source: $source:literal },)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $about])+ $kind,)+
        }

        impl $crate::model::Choice for $name {
            const NAME: &'static str = stringify!($name);

            fn words() -> Vec<$crate::model::Word> {
                vec![$($crate::model::Word { word: $word, title: $title, help: $help, source: $source }),+]
            }

            fn named(word: &str) -> Result<$name, $crate::parameter::ParameterError> {
                match word {
                    $($word => Ok($name::$kind),)+
                    _ => Err($crate::model::unknown::<$name>($parameter, word)),
                }
            }
        }

        impl $crate::model::Arguments for $name {
            fn describe(asked: $crate::model::ParameterSpec, parameters: &mut Vec<$crate::model::Parameter>) {
                $crate::model::describe_choice::<$name>(&asked, parameters);
            }

            fn read(
                name: &'static str,
                given: &mut $crate::model::Inputs,
            ) -> Result<$name, $crate::parameter::ParameterError> {
                $crate::model::Choice::named(given.word(name)?)
            }
        }
    };
}

pub(super) use choice;
