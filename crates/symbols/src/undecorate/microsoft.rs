//! Names of Microsoft's scheme in the spelling of private symbols, so that a function has one name
//! whether or not a file has private symbols.
//!
//! The demangler parses and writes; in between, what it writes in another way is replaced. It takes
//! no new text with a space in it, so such text is a mark, which is replaced after writing.

use std::borrow::Cow;

use msvc_demangler::{
    DemangleFlags, FuncClass, Name, NameSequence, Operator, Params, ParseResult, StorageClass,
    Symbol, Type, parse, serialize,
};

/// Name of a class that is repeated as the name of its constructor.
const CLASS: &str = "\u{1}";
/// Scope around a function whose address is a template argument.
const ADDRESS: &str = "\u{2}";
/// Scope around an enumeration.
const ENUM: &str = "\u{3}";
/// Pointers to functions that are themselves constant or volatile, which the demangler does not
/// know.
const FIXED_POINTERS: [&str; 3] = ["Q6", "R6", "S6"];
/// Without `class`, as private symbols have them.
const FLAGS: DemangleFlags = DemangleFlags::NAME_ONLY
    .union(DemangleFlags::NO_CLASS_TYPE)
    .union(DemangleFlags::MS_TYPENAMES);

/// The name alone, without parameters and return type.
pub(super) fn name(text: &str) -> Option<String> {
    // The marks must not come from the file.
    if text.bytes().any(|byte| byte < b' ') {
        return None;
    }
    match parse(text) {
        Ok(parsed) => Some(written(parsed)),
        Err(_) => with_other_pointers(text),
    }
}

/// The name, if constant pointers to functions are in the parameters only: then it does not depend
/// on the kind of these pointers.
fn with_other_pointers(text: &str) -> Option<String> {
    let with = |kind: &str| {
        let replace = |text: String, fixed: &&str| text.replace(*fixed, kind);
        let text = FIXED_POINTERS.iter().fold(text.to_owned(), replace);
        parse(&text).ok().map(written)
    };
    FIXED_POINTERS
        .iter()
        .any(|fixed| text.contains(fixed))
        .then(|| with("P6").filter(|name| with("A6").as_ref() == Some(name)))?
}

fn written(mut parsed: ParseResult<'_>) -> String {
    let special = special(&mut parsed);
    rewrite_symbol(&mut parsed.symbol);
    let text = serialize(&parsed, FLAGS);
    let mut name = spaced(&text);
    for (mark, text) in [(ADDRESS, "&"), (ENUM, "enum ")] {
        if name.contains(mark) {
            name = name.replace(&format!("{mark}::"), text).into();
        }
    }
    match special {
        Some(Special::Class(class)) => name.replace(CLASS, &class),
        Some(Special::Conversion(to)) => format!("{name} {to}"),
        None => name.into_owned(),
    }
}

/// The part of a template member's name that follows from its class or return type.
enum Special {
    /// Name of a constructor or destructor.
    Class(String),
    /// Target type of a conversion.
    Conversion(String),
}

/// Replaces the name of a constructor, destructor or conversion that is a template.
fn special(parsed: &mut ParseResult<'_>) -> Option<Special> {
    let Name::Template(inner, _) = &mut parsed.symbol.name else {
        return None;
    };
    let (mark, special) = match **inner {
        Name::Operator(Operator::Ctor | Operator::Dtor) => {
            let class = parsed.symbol.scope.names.first()?.clone();
            let tilde = if **inner == Name::Operator(Operator::Dtor) {
                "~"
            } else {
                ""
            };
            (CLASS, Special::Class(tilde.to_owned() + &alone(class)))
        }
        Name::Operator(Operator::Conversion) => {
            let Type::MemberFunction(_, _, _, _, to) = &parsed.symbol_type else {
                return None;
            };
            ("operator", Special::Conversion(type_alone((**to).clone())))
        }
        _ => return None,
    };
    **inner = Name::NonTemplate(mark.as_bytes());
    Some(special)
}

fn alone(name: Name<'_>) -> String {
    let scope = NameSequence { names: Vec::new() };
    let symbol = Symbol { name, scope };
    written(ParseResult {
        symbol,
        symbol_type: Type::None,
    })
}

fn type_alone(type_: Type<'_>) -> String {
    // As the only argument of a template without a name, it is written as a part of a name.
    let arguments = Params { types: vec![type_] };
    let name = Name::Template(Box::new(Name::NonTemplate(b"")), arguments);
    let text = alone(name);
    let inner = text.strip_prefix('<').and_then(|it| it.strip_suffix('>'));
    inner.unwrap_or(&text).trim_end().to_owned()
}

fn rewrite_symbol(symbol: &mut Symbol<'_>) {
    rewrite_name(&mut symbol.name);
    symbol.scope.names.iter_mut().for_each(rewrite_name);
}

fn rewrite_name(name: &mut Name<'_>) {
    match name {
        Name::Template(inner, arguments) => {
            rewrite_name(inner);
            arguments.types.iter_mut().for_each(rewrite_argument);
        }
        Name::ParsedName(parsed) => {
            rewrite_symbol(&mut parsed.symbol);
        }
        _ => {}
    }
}

/// An argument of a template: a type, or the address of a function.
fn rewrite_argument(type_: &mut Type<'_>) {
    if let Type::MemberFunctionPointer(function, class, ..) = type_
        // The type of a pointer has no class, the function itself has one.
        && *class != FuncClass::empty()
    {
        rewrite_symbol(function);
        let mut function = function.clone();
        mark(&mut function, ADDRESS);
        *type_ = Type::Alias(function, StorageClass::empty());
        return;
    }
    rewrite_type(type_);
}

fn rewrite_type(type_: &mut Type<'_>) {
    match type_ {
        Type::Enum(symbol, _) => {
            rewrite_symbol(symbol);
            mark(symbol, ENUM);
        }
        Type::Struct(symbol, _)
        | Type::Union(symbol, _)
        | Type::Class(symbol, _)
        | Type::Alias(symbol, _) => rewrite_symbol(symbol),
        Type::Ptr(inner, _)
        | Type::Ref(inner, _)
        | Type::RValueRef(inner, _)
        | Type::Array(_, inner, _)
        | Type::Var(inner, _, _) => rewrite_type(inner),
        Type::NonMemberFunction(_, parameters, _, result)
        | Type::MemberFunction(_, _, parameters, _, result) => {
            parameters.types.iter_mut().for_each(rewrite_type);
            rewrite_type(result);
        }
        Type::MemberFunctionPointer(symbol, _, _, parameters, _, result) => {
            rewrite_symbol(symbol);
            parameters.types.iter_mut().for_each(rewrite_type);
            rewrite_type(result);
        }
        _ => {}
    }
}

/// Adds an outermost scope.
fn mark(symbol: &mut Symbol<'_>, mark: &'static str) {
    symbol.scope.names.push(Name::NonTemplate(mark.as_bytes()));
}

/// The spaces of private symbols: `(__cdecl*)`, `HWND__ *`, `f<char const >`.
fn spaced(text: &str) -> Cow<'_, str> {
    let is_plain =
        !text.contains(['*', '&']) && !text.contains("const") && !text.contains("volatile");
    if is_plain {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for (at, c) in text.char_indices() {
        match c {
            '*' | '&' if is_calling_convention(&out) => {
                out.pop();
            }
            '*' | '&' if out.ends_with(|last: char| last == '_' || last.is_ascii_digit()) => {
                out.push(' ');
            }
            '>' | ',' if text.get(..at).is_some_and(is_constant) => out.push(' '),
            _ => {}
        }
        out.push(c);
    }
    Cow::Owned(out)
}

/// True if text ends in the `(__cdecl ` of a pointer to a function.
fn is_calling_convention(text: &str) -> bool {
    let word = text
        .strip_suffix(' ')
        .and_then(|text| text.rsplit_once('('));
    word.is_some_and(|(_, word)| {
        word.strip_prefix("__")
            .is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()))
    })
}

/// True if text ends in a constant type that is no pointer.
fn is_constant(text: &str) -> bool {
    let last = [" const", " volatile"]
        .iter()
        .find_map(|word| text.strip_suffix(word));
    last.is_some_and(|text| !text.ends_with(['*', '&', ')']))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decorated names of functions, and the names that the compiler gives them in private symbols.
    #[test]
    fn names_are_those_of_private_symbols() {
        for (text, expected) in [
            ("?f@@YAXQ6AXXZ@Z", "f"),
            ("?f@@YAXS6AXXZR6AXXZ@Z", "f"),
            (
                "??$__crt_fast_encode_pointer@P6AHXZ@@YAP6AHXZQ6AHXZ@Z",
                "__crt_fast_encode_pointer<int (__cdecl*)(void)>",
            ),
            ("??$?0H@X@@QAE@H@Z", "X::X<int>"),
            ("??$?0H@?$X@D@n@@QAE@H@Z", "n::X<char>::X<char><int>"),
            ("??$?1H@A@@QAE@XZ", "A::~A<int>"),
            ("??$?BX@A@@QBEPAXXZ", "A::operator<void> void *"),
            ("??$?BH@A@@QBE?AW4E@n@@XZ", "A::operator<int> enum n::E"),
            ("??BA@@QBEHXZ", "A::operator int"),
            ("??$f@_J@@YAXXZ", "f<__int64>"),
            ("??$f@_K@@YAXXZ", "f<unsigned __int64>"),
            ("??$f@Uint64_t@@@@YAXXZ", "f<int64_t>"),
            ("??$f@P6AXXZ@@YAXXZ", "f<void (__cdecl*)(void)>"),
            ("??$f@P6GHPAX@Z@@YAXXZ", "f<int (__stdcall*)(void *)>"),
            ("??$f@PAUHWND__@@@@YAXXZ", "f<HWND__ *>"),
            ("??$f@AAUA2@@@@YAXXZ", "f<A2 &>"),
            ("??$f@$$CBD@@YAXXZ", "f<char const >"),
            ("??$f@$$CBDH@@YAXXZ", "f<char const ,int>"),
            ("??$f@QBD@@YAXXZ", "f<char const * const>"),
            ("??$f@W4E@@@@YAXXZ", "f<enum E>"),
            ("??$f@W4E@n@@H@@YAXXZ", "f<enum n::E,int>"),
            ("??$f@PAV?$X@W4E@@@@@@YAXXZ", "f<X<enum E> *>"),
            ("??$f@$1?g@@YAXXZ@@YAXXZ", "f<&g>"),
            ("??$f@$1?g@n@@YAXXZ@@YAXXZ", "f<&n::g>"),
            ("??$f@P8A@@AEXXZ@@YAXXZ", "f<void (__thiscall A::*)(void)>"),
            ("?f@?A0x12345678@@YAXXZ", "`anonymous namespace'::f"),
        ] {
            assert_eq!(name(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_names_are_left_to_the_caller() {
        // The pointer is a part of the name, and an identifier looks like one.
        for text in [
            "??$f@Q6AXXZ@@YAXXZ",
            "?fQ6@@YAXQ6AXXZ@Z",
            "?f\u{1}@@YAXXZ",
            "?f",
            // The address of a method, which the demangler does not know.
            "??$f@$1?g@A@n@@QAEXXZ@@YAXXZ",
        ] {
            assert_eq!(name(text), None, "{text}");
        }
    }
}
