//! Enumerations that files hold as numbers.

/// An enumeration with a number and a name for each value: `from_number`, `number`, `name`, and serialisation by name.
macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident { $($number:literal $variant:ident $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`")] $variant = $number,)*
        }

        impl $name {
            /// All values.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// The value of a number.
            pub fn from_number(number: u32) -> Option<$name> {
                match number {
                    $($number => Some($name::$variant),)*
                    _ => None,
                }
            }

            /// Its number.
            pub const fn number(self) -> u32 {
                self as u32
            }

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)*
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    };
}

pub(crate) use numbered;
