use super::Node;

/// The types that a combinator accepts as children: an array or vector of one type, or a tuple of different ones.
pub trait Children {
    /// As nodes, in order.
    fn into_nodes(self) -> Vec<Node>;
}

impl<T: Into<Node>, const N: usize> Children for [T; N] {
    fn into_nodes(self) -> Vec<Node> {
        self.into_iter().map(Into::into).collect()
    }
}

impl<T: Into<Node>> Children for Vec<T> {
    fn into_nodes(self) -> Vec<Node> {
        self.into_iter().map(Into::into).collect()
    }
}

macro_rules! tuples {
    ($($name:ident)+) => {
        impl<$($name: Into<Node>),+> Children for ($($name,)+) {
            #[expect(non_snake_case, reason = "type parameters double as variables")]
            fn into_nodes(self) -> Vec<Node> {
                let ($($name,)+) = self;
                vec![$($name.into()),+]
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);
