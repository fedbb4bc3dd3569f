//! Choices between words without further data.

/// See [`crate::model::Keyword`]: an enum whose variants are words. `$parameter` is the models' name for it.
macro_rules! keyword {
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

        impl $crate::model::Keyword for $name {
            const NAME: &'static str = stringify!($name);

            fn words() -> Vec<$crate::model::KeywordInfo> {
                vec![$($crate::model::KeywordInfo { word: $word, title: $title, help: $help, source: $source }),+]
            }

            fn named(word: &str) -> Result<$name, $crate::parameter::ParameterError> {
                match word {
                    $($word => Ok($name::$kind),)+
                    _ => Err($crate::model::unknown_keyword::<$name>($parameter, word)),
                }
            }
        }

        impl $crate::model::Arguments for $name {
            fn describe(asked: $crate::model::ParameterSpec, parameters: &mut Vec<$crate::model::Parameter>) {
                $crate::model::describe_keyword::<$name>(&asked, parameters);
            }

            fn read(
                name: &'static str,
                given: &mut $crate::model::Inputs,
            ) -> Result<$name, $crate::parameter::ParameterError> {
                $crate::model::Keyword::named(given.word(name)?)
            }
        }
    };
}

pub(super) use keyword;
