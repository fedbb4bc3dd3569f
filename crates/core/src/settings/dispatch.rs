//! Dispatch of an enum of members.

/// Functions of an enum whose variants contain the members of a family. Each calls the function of the same name of the member.
macro_rules! dispatch {
    ($members:tt) => {};
    ($members:tt $(#[$attribute:meta])* $visibility:vis fn $name:ident(&$self:ident $(, $argument:ident: $type:ty)*) $(-> $result:ty)?; $($rest:tt)*) => {
        $(#[$attribute])*
        $visibility fn $name(&$self $(, $argument: $type)*) $(-> $result)? {
            $crate::settings::dispatch!(@arms $members $self $name ($($argument),*))
        }
        $crate::settings::dispatch!($members $($rest)*);
    };
    ($members:tt $(#[$attribute:meta])* $visibility:vis fn $name:ident(&mut $self:ident $(, $argument:ident: $type:ty)*) $(-> $result:ty)?; $($rest:tt)*) => {
        $(#[$attribute])*
        $visibility fn $name(&mut $self $(, $argument: $type)*) $(-> $result)? {
            $crate::settings::dispatch!(@arms $members $self $name ($($argument),*))
        }
        $crate::settings::dispatch!($members $($rest)*);
    };
    (@arms [$enum:ident: $($(#[$when:meta])? $variant:ident),+] $self:ident $name:ident $arguments:tt) => {
        match $self {
            $($(#[$when])? $enum::$variant(member, ..) => member.$name $arguments),+
        }
    };
}

pub(crate) use dispatch;
