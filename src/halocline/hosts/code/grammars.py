"""The languages we can parse: their grammar, file suffixes, and a query for definitions.

A pattern's outer capture is the kind of definition, `@name` its name. Kinds that a grammar does not know are omitted.
"""

from halocline.protocol.values import Value


class Grammar(Value, frozen=True):
    """One language. `module` is the grammar's package, `function` its function that returns the language.

    `judges` is false for a grammar that reports errors in valid code; its errors are not used. An `ascii_only` grammar
    reads beyond its tables for some other characters and may crash; it gets letters instead of them.
    """

    module: str
    suffixes: tuple[str, ...]
    query: str
    function: str = "language"
    judges: bool = True
    ascii_only: bool = False


_ECMASCRIPT = """
(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(method_definition name: (_) @name) @method
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) @function
"""
_JAVASCRIPT = (
    _ECMASCRIPT
    + """
(class_declaration name: (_) @name) @class
(field_definition property: (_) @name value: (arrow_function)) @method
"""
)
_TYPESCRIPT = (
    _ECMASCRIPT
    + """
(class_declaration name: (_) @name) @class
(abstract_class_declaration name: (_) @name) @class
(public_field_definition name: (_) @name value: (arrow_function)) @method
(abstract_method_signature name: (_) @name) @method
(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @enum
(internal_module name: (_) @name) @namespace
(function_signature name: (_) @name) @function
"""
)
_C = """
(function_definition declarator: (function_declarator declarator: (_) @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name))) @function
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @union
(enum_specifier name: (_) @name body: (_)) @enum
(type_definition declarator: (type_identifier) @name) @type
(preproc_function_def name: (_) @name) @macro
"""
_CPP = (
    _C
    + """
(function_definition declarator: (reference_declarator (function_declarator declarator: (_) @name))) @function
(class_specifier name: (_) @name body: (_)) @class
(namespace_definition name: (_) @name) @namespace
(alias_declaration name: (_) @name) @type
(concept_definition name: (_) @name) @concept
"""
)

GRAMMARS: tuple[Grammar, ...] = (
    Grammar(
        "tree_sitter_python",
        (".py", ".pyi", ".pyw"),
        "(class_definition name: (_) @name) @class (function_definition name: (_) @name) @function",
    ),
    Grammar("tree_sitter_javascript", (".js", ".jsx", ".mjs", ".cjs"), _JAVASCRIPT),
    Grammar("tree_sitter_typescript", (".ts", ".mts", ".cts"), _TYPESCRIPT, "language_typescript"),
    Grammar("tree_sitter_typescript", (".tsx",), _TYPESCRIPT, "language_tsx"),
    Grammar(
        "tree_sitter_go",
        (".go",),
        """
        (function_declaration name: (_) @name) @function
        (method_declaration receiver: (_ (_ type: [(type_identifier) @of (pointer_type (type_identifier) @of)
            (generic_type type: (_) @of) (pointer_type (generic_type type: (_) @of))])) name: (_) @name) @method
        (type_spec name: (_) @name) @type
        (type_alias name: (_) @name) @type
        """,
    ),
    Grammar(
        "tree_sitter_rust",
        (".rs",),
        """
        (function_item name: (_) @name) @function
        (function_signature_item name: (_) @name) @function
        (struct_item name: (_) @name) @struct
        (enum_item name: (_) @name) @enum
        (union_item name: (_) @name) @union
        (trait_item name: (_) @name) @trait
        (type_item name: (_) @name) @type
        (mod_item name: (_) @name body: (_)) @module
        (macro_definition name: (_) @name) @macro
        (impl_item type: [(type_identifier) @name (generic_type type: (_) @name)]) @impl
        """,
    ),
    Grammar(
        "tree_sitter_java",
        (".java",),
        """
        (class_declaration name: (_) @name) @class
        (record_declaration name: (_) @name) @record
        (interface_declaration name: (_) @name) @interface
        (annotation_type_declaration name: (_) @name) @annotation
        (enum_declaration name: (_) @name) @enum
        (method_declaration name: (_) @name) @method
        (constructor_declaration name: (_) @name) @constructor
        """,
    ),
    Grammar("tree_sitter_c", (".c",), _C),
    Grammar("tree_sitter_cpp", (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx", ".h"), _CPP),
    Grammar(
        "tree_sitter_c_sharp",
        (".cs",),
        """
        (class_declaration name: (_) @name) @class
        (record_declaration name: (_) @name) @record
        (struct_declaration name: (_) @name) @struct
        (interface_declaration name: (_) @name) @interface
        (enum_declaration name: (_) @name) @enum
        (delegate_declaration name: (_) @name) @delegate
        (method_declaration name: (_) @name) @method
        (constructor_declaration name: (_) @name) @constructor
        (property_declaration name: (_) @name) @property
        (namespace_declaration name: (_) @name) @namespace
        (local_function_statement name: (_) @name) @function
        """,
    ),
    Grammar(
        "tree_sitter_ruby",
        (".rb", ".rake", ".gemspec"),
        """
        (class name: (_) @name) @class
        (module name: (_) @name) @module
        (method name: (_) @name) @method
        (singleton_method name: (_) @name) @method
        """,
    ),
    Grammar(
        "tree_sitter_php",
        (".php",),
        """
        (class_declaration name: (_) @name) @class
        (interface_declaration name: (_) @name) @interface
        (trait_declaration name: (_) @name) @trait
        (enum_declaration name: (_) @name) @enum
        (function_definition name: (_) @name) @function
        (method_declaration name: (_) @name) @method
        """,
        "language_php",
    ),
    Grammar("tree_sitter_bash", (".sh", ".bash"), "(function_definition name: (_) @name) @function", ascii_only=True),
    Grammar(
        "tree_sitter_kotlin",
        (".kt", ".kts"),
        """
        (class_declaration name: (_) @name) @class
        (object_declaration name: (_) @name) @object
        (function_declaration name: (_) @name) @function
        (type_alias type: (_) @name) @type
        """,
        judges=False,
    ),
    Grammar(
        "tree_sitter_swift",
        (".swift",),
        """
        (class_declaration name: (_) @name) @class
        (protocol_declaration name: (_) @name) @protocol
        (function_declaration name: (_) @name) @function
        (protocol_function_declaration name: (_) @name) @function
        (typealias_declaration name: (type_identifier) @name) @type
        """,
    ),
)

BY_SUFFIX = {suffix: grammar for grammar in GRAMMARS for suffix in grammar.suffixes}
