//! What every list of the vocabulary is.

/// An enum of names: `Variant = "name" | "alias": "meaning"`.
macro_rules! names {
    ($(#[$about:meta])* $name:ident { $($variant:ident = $text:literal $(| $alias:literal)*: $meaning:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $(#[doc = $meaning] $variant,)+
        }

        impl $name {
            /// All of them, in the order of the vocabulary.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name as a bundle stores it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// What it means: of a format its title, of a reason its sentence with `{name}` for each parameter.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)+
                }
            }

            /// What is called so, or was in an earlier version of the schema.
            pub fn parse(name: &str) -> Option<Self> {
                match name {
                    $($text $(| $alias)* => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.name())
            }
        }
    };
}
