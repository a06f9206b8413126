"""Which syntax nodes are definitions, by language: the table behind `definitions` and chunk headers."""

from __future__ import annotations

from dataclasses import dataclass, replace


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class DefinitionNodes:
    """Node types of one grammar."""

    simple: frozenset[str]
    """Definitions without inner ones: functions, methods, plain types."""
    containers: frozenset[str]
    """Definitions that contain others: classes, traits, modules."""
    wrappers: frozenset[str]
    """Nodes around one definition that belong to it: decorators, export, template."""
    transparent: frozenset[str]
    """Nodes that are not definitions but can contain some: bodies, namespaces, conditions."""
    leading: frozenset[str]
    """Siblings before a definition that belong to it."""
    imports: frozenset[str]
    taking_comments: frozenset[str]
    """Nodes whose grammar includes the comments after them, though a definition follows."""
    fields: frozenset[str] = frozenset()
    """Class members that are definitions if their value is a function."""


def _nodes(
    *,
    simple: str,
    containers: str = "",
    wrappers: str = "",
    transparent: str = "",
    leading: str = "comment",
    imports: str,
    taking_comments: str = "",
) -> DefinitionNodes:
    fields = (simple, containers, wrappers, transparent, leading, imports, taking_comments)
    return DefinitionNodes(*map(_words, fields))


_PYTHON = _nodes(
    simple="function_definition",
    containers="class_definition",
    wrappers="decorated_definition",
    transparent="block if_statement elif_clause else_clause try_statement except_clause finally_clause with_statement",
    imports="import_statement import_from_statement",
)
_JAVASCRIPT = _nodes(
    simple="function_declaration generator_function_declaration method_definition",
    containers="class_declaration",
    wrappers="export_statement",
    transparent="class_body statement_block if_statement",
    leading="comment decorator",
    imports="import_statement",
)
_TYPESCRIPT = _nodes(
    simple="function_declaration generator_function_declaration method_definition function_signature "
    "abstract_method_signature interface_declaration enum_declaration type_alias_declaration",
    containers="class_declaration abstract_class_declaration internal_module module",
    wrappers="export_statement ambient_declaration expression_statement",
    transparent="class_body statement_block if_statement",
    leading="comment decorator",
    imports="import_statement",
)
_JAVA = _nodes(
    simple="method_declaration constructor_declaration compact_constructor_declaration static_initializer",
    containers="class_declaration interface_declaration enum_declaration record_declaration "
    "annotation_type_declaration",
    transparent="class_body interface_body enum_body enum_body_declarations annotation_type_body",
    leading="line_comment block_comment",
    imports="import_declaration",
)
_C = _nodes(
    simple="function_definition struct_specifier union_specifier enum_specifier type_definition",
    transparent="preproc_if preproc_ifdef preproc_else preproc_elif linkage_specification declaration_list",
    imports="preproc_include",
)
_CPP = _nodes(
    simple="function_definition union_specifier enum_specifier type_definition concept_definition",
    containers="class_specifier struct_specifier",
    wrappers="template_declaration",
    transparent="preproc_if preproc_ifdef preproc_else preproc_elif linkage_specification declaration_list "
    "namespace_definition field_declaration_list",
    imports="preproc_include using_declaration",
)
_CSHARP = _nodes(
    simple="method_declaration constructor_declaration destructor_declaration operator_declaration enum_declaration "
    "conversion_operator_declaration indexer_declaration property_declaration delegate_declaration "
    "local_function_statement",
    containers="class_declaration struct_declaration interface_declaration record_declaration",
    transparent="namespace_declaration file_scoped_namespace_declaration declaration_list global_statement",
    imports="using_directive",
)
_GO = _nodes(simple="function_declaration method_declaration type_declaration", imports="import_declaration")
_RUST = _nodes(
    simple="function_item function_signature_item struct_item enum_item union_item macro_definition",
    containers="impl_item trait_item mod_item",
    transparent="declaration_list foreign_mod_item",
    leading="line_comment block_comment attribute_item",
    imports="use_declaration",
)
_RUBY = _nodes(
    simple="method singleton_method",
    containers="class module singleton_class",
    transparent="body_statement",
    imports="",
)
_PHP = _nodes(
    simple="function_definition method_declaration",
    containers="class_declaration interface_declaration trait_declaration enum_declaration",
    transparent="namespace_definition compound_statement declaration_list enum_declaration_list",
    imports="namespace_use_declaration",
)
_KOTLIN = _nodes(
    simple="function_declaration secondary_constructor",
    containers="class_declaration object_declaration companion_object",
    transparent="class_body enum_class_body",
    leading="comment line_comment block_comment multiline_comment",
    imports="import_header import import_list",
    taking_comments="package_header import_list import_header",
)
_SWIFT = _nodes(
    simple="function_declaration init_declaration deinit_declaration",
    containers="class_declaration protocol_declaration",
    transparent="class_body protocol_body enum_class_body",
    leading="comment multiline_comment",
    imports="import_declaration",
)
_SCALA = _nodes(
    simple="function_definition",
    containers="class_definition object_definition trait_definition",
    transparent="template_body package_clause",
    leading="comment block_comment",
    imports="import_declaration",
)
_LUA = _nodes(simple="function_declaration", imports="")
_BASH = _nodes(simple="function_definition", imports="")

DEFINITION_NODES = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT,
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "java": _JAVA,
    "c": _C,
    "cpp": _CPP,
    "csharp": _CSHARP,
    "go": _GO,
    "rust": _RUST,
    "ruby": _RUBY,
    "php": _PHP,
    "kotlin": _KOTLIN,
    "swift": _SWIFT,
    "scala": _SCALA,
    "lua": _LUA,
    "bash": _BASH,
}

# `definitions` also cuts at these. Headers name only the definitions above, so that existing headers do not change.
_MEMBERS = _words("field_definition public_field_definition")
CUT_NODES = DEFINITION_NODES | {
    "javascript": replace(_JAVASCRIPT, fields=_MEMBERS),
    "typescript": replace(_TYPESCRIPT, fields=_MEMBERS),
    "tsx": replace(_TYPESCRIPT, fields=_MEMBERS),
    "cpp": replace(_CPP, wrappers=_CPP.wrappers | _words("field_declaration")),
    "csharp": replace(_CSHARP, transparent=_CSHARP.transparent | _words("preproc_if preproc_elif preproc_else")),
    "ruby": replace(_RUBY, wrappers=_words("call argument_list")),
    "lua": replace(
        _LUA,
        wrappers=_words("variable_declaration"),
        transparent=_words("if_statement elseif_statement else_statement do_statement block"),
        fields=_words("assignment_statement"),
    ),
    "php": replace(_PHP, transparent=_PHP.transparent | _words("if_statement else_if_clause else_clause colon_block")),
}
