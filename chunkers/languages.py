"""Languages by file name and content, and their grammars: the only module that uses tree-sitter-language-pack."""

from __future__ import annotations

import contextlib
import functools
import logging
import posixpath
import time
import warnings
from importlib.metadata import version
from typing import TYPE_CHECKING

from chunkers.language_content import AMBIGUOUS, language_of_content
from chunkers.unsafe_texts import unsafe_text

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Tree

log = logging.getLogger(__name__)

_BY_EXTENSION_TEXT = """
actionscript as
ada adb ads
agda agda
apex cls trigger
arduino ino
asm asm s
astro astro
bash sh bash zsh ksh bats
beancount beancount
bibtex bib
bicep bicep
bitbake bb bbappend bbclass
bsl bsl os
c c h y l
cairo cairo
capnp capnp
chatito chatito
clarity clar
clojure clj cljs cljc edn
cmake cmake
cobol cob cbl cpy
commonlisp lisp lsp cl
cpp cpp cc cxx c++ hpp hh hxx h++ ipp tpp inl yy
cpon cpon
csharp cs csx
css css
csv csv
cuda cu cuh
d d di
dart dart
dtd dtd
elisp el
elixir ex exs
elm elm
embeddedtemplate erb ejs
erlang erl hrl
fennel fnl
firrtl fir
fish fish
fortran f90 f95 f03 f08 f for
fsharp fs fsx
fsharp_signature fsi
func fc
gdscript gd
gleam gleam
glsl glsl vert frag geom comp
gn gn gni
go go
graphql graphql gql
groovy groovy gradle
hack hack
hare ha
haskell hs lhs
haxe hx
hcl hcl
heex heex
hlsl hlsl
hyprlang hl
html html htm xhtml
ini ini cfg conf
ispc ispc
janet janet
java java
javascript js mjs cjs jsx
json json jsonl ipynb
jsonnet jsonnet libsonnet
julia jl
kdl kdl
kotlin kt kts
latex tex sty
linkerscript ld lds
llvm ll
lua lua
luau luau
magik magik
make mk mak
markdown md markdown mdx
matlab m
mermaid mmd
netlinx axs axi
nim nim nims
ninja ninja
nix nix
nqc nqc
objc mm
ocaml ml
ocaml_interface mli
odin odin
org org
pascal pas pp dpr
pem pem crt
perl pl pm
pgn pgn
php php phtml
po po pot
pony pony
powershell ps1 psm1 psd1
prisma prisma
properties properties
proto proto
psv psv
puppet pp
purescript purs
python py pyi pyw pyx
qmljs qml
query scm
r r
racket rkt
re2c re
rego rego
ron ron
rst rst
ruby rb rake gemspec ru
rust rs
scala scala sc sbt
scheme ss sld
scss scss
smali smali
smithy smithy
solidity sol
sparql rq sparql
sql sql
squirrel nut
starlark bzl star
svelte svelte
swift swift
tablegen td
tcl tcl
terraform tf tfvars
thrift thrift
toml toml
tsv tsv
tsx tsx
twig twig
typescript ts mts cts
typst typ
udev rules
ungrammar ungram
uxntal tal
v v
verilog sv svh vh
vhdl vhd vhdl
vim vim
vue vue
wast wast
wat wat
wgsl wgsl
xcompose xcompose
xml xml xsd xsl xslt svg
yaml yaml yml
yuck yuck
zig zig
"""
_BY_NAME = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "make",
    "gnumakefile": "make",
    "cmakelists.txt": "cmake",
    "meson.build": "meson",
    "meson_options.txt": "meson",
    "build": "starlark",
    "build.bazel": "starlark",
    "workspace": "starlark",
    "rakefile": "ruby",
    "gemfile": "ruby",
    "vagrantfile": "ruby",
    "jenkinsfile": "groovy",
    "kconfig": "kconfig",
    "go.mod": "gomod",
    "go.sum": "gosum",
    "requirements.txt": "requirements",
    "manifest.in": "pymanifest",
    "qmldir": "qmldir",
    ".gitattributes": "gitattributes",
    ".gitignore": "gitignore",
    ".bashrc": "bash",
    ".inputrc": "readline",
    "commit_editmsg": "gitcommit",
    "merge_msg": "gitcommit",
    "hyprland.conf": "hyprlang",
    ".xcompose": "xcompose",
}
_BY_EXTENSION = {
    extension: language
    for language, *extensions in map(str.split, _BY_EXTENSION_TEXT.strip().splitlines())
    for extension in extensions
}

_TEMPLATES = frozenset("in tmpl tpl j2 jinja jinja2 template".split())
"""Extensions after that of the generated text: ``config.h.in`` is C."""

INJECTED_LANGUAGES = frozenset("comment doxygen gstlaunch jsdoc luadoc luap markdown_inline printf test".split())
"""Grammars of text embedded in other files: never a file's own language."""

DATA_LANGUAGES = frozenset(
    "csv tsv psv json pem po gosum pgn bibtex xml gitignore gitattributes requirements pymanifest".split()
)
"""Languages of data rather than code: a walk skips their files."""

GRAMMAR_PACK = f"tree-sitter-language-pack {version('tree-sitter-language-pack')}"


def language_of(path: str, data: bytes | None = None) -> str | None:
    """Return the grammar's name for a file, or None if neither its name nor its content shows one.

    The content is read only if it can add to the name: scripts without an extension, ambiguous extensions.
    """
    name = posixpath.basename(path).lower()
    if name in _BY_NAME:
        return _BY_NAME[name]
    extension = _extension(name)
    by_name = _BY_EXTENSION.get(extension)
    if data is not None and (extension in AMBIGUOUS or not extension):
        by_content = language_of_content(data, extension)
        return by_name if by_content is None else by_content or None
    return by_name


def name_decides(path: str) -> bool:
    """Return whether a file's name shows its language, or that it has none, without reading its content."""
    name = posixpath.basename(path).lower()
    extension = _extension(name)
    return name in _BY_NAME or (bool(extension) and extension not in AMBIGUOUS)


def _extension(name: str) -> str:
    """Return the extension of a lower-case name that shows a language; empty if there is none."""
    stem, dot, extension = name.rpartition(".")
    if not dot:
        return ""
    if extension in _TEMPLATES and "." in stem.strip("."):
        extension = stem.rpartition(".")[2]
    return extension if stem else name


UNSAFE_GRAMMARS = frozenset({"agda", "cobol", "d", "jsonnet", "typst"})
"""Grammars that are not used: COBOL's scanner never returns on some texts (a last line of fewer than seven columns);
D's and Typst's read out of bounds (D's on some bytes, Typst's on any text, depending on what was in memory before) and
Agda's writes out of bounds (after some hundred quotes), which crashes the process; Jsonnet's keeps in a global variable
whether the previous file ended inside a text, so that a file's cuts depend on what was cut before it."""

PARSE_SECONDS = 2.0
PARSE_SECONDS_PER_MB = 8.0
"""Limit on the processor time for parsing a file. Source code takes a hundredth of it; but most grammars have inputs of
a few kilobytes that take hours."""

LARGEST_PARSED = {"svelte": 20_000}
"""Maximum bytes to parse, for grammars whose time grows with the square of the length on some texts."""


@functools.cache
def known_languages() -> frozenset[str]:
    """Return the names of the grammars in use: all of the pack except the unsafe ones."""
    from typing import get_args

    from tree_sitter_language_pack import SupportedLanguage

    return frozenset(get_args(SupportedLanguage)) - UNSAFE_GRAMMARS


@functools.cache
def grammar(language: str) -> Language:
    """Return the grammar of a known language."""
    from tree_sitter_language_pack import get_language

    return get_language(language)  # type: ignore[arg-type] # a name from `known_languages`


def binding(language: str) -> object:
    """Return the grammar as other libraries take it, a capsule around its C structure."""
    from tree_sitter_language_pack import get_binding

    return get_binding(language)  # type: ignore[arg-type] # a name from `known_languages`


def parser(language: str) -> Parser:
    """Return a new parser; parsers are stateful and not shared between threads."""
    from tree_sitter import Parser

    return Parser(grammar(language))


def parsing_seconds(size: int) -> float:
    """Return the processor time that parsing this many bytes may take."""
    return PARSE_SECONDS + PARSE_SECONDS_PER_MB * size / 1e6


def syntax_tree(language: str, data: bytes, *, seconds: float | None = None) -> Tree | None:
    """Return the tree of a text, or None if its grammar takes too long."""
    if reason := unsafe_text(language, data):
        log.warning("a text of %s bytes is read without its tree: %s", len(data), reason)
        return None
    allowed = parsing_seconds(len(data)) if seconds is None else seconds
    made = parser(language)
    until = time.thread_time() + allowed
    while (left := until - time.thread_time()) > 0:
        with warnings.catch_warnings():
            # Its replacement, a callback, crashes the process in this version of the library.
            warnings.simplefilter("ignore", DeprecationWarning)
            made.timeout_micros = max(int(left * 1e6), 1)  # type: ignore[misc] # the stub forgets the setter
        # The limit is in wall time: if the machine was busy, the same parser continues where it stopped.
        with contextlib.suppress(ValueError):
            return made.parse(data)
    log.warning("a text of %s bytes takes over %.0f s to parse as %s: it is read without", len(data), allowed, language)
    return None
