import { type Expression as AcornExpression, parseExpressionAt, tokenizer } from 'acorn'
import { lruCache } from '../../shared/lru-cache.ts'
import type { ParsedExpression, Place } from './expression.ts'
import { type ExpressionProblem, RefusedNode } from './expression-error.ts'
import { MAX_NESTING, type NamedPart, readNodes } from './read-nodes.ts'

export const MAX_EXPRESSION = 10_000

/** What acorn makes of a text, of which our own tree is made anew each time. */
interface Read {
  readonly named: readonly NamedPart[]
  readonly tree: AcornExpression
}

/**
 * Texts that were read, because each deploy reads all expressions of a blueprint again. A tree takes some 40 bytes for each character of its
 * text: 4 MB for 100,000.
 */
const known = lruCache<string, Read>(100_000)

export type Parsed =
  | { readonly expression: ParsedExpression; readonly problem?: undefined }
  | { readonly expression?: undefined; readonly problem: ExpressionProblem }

/** Reads the whole text as one expression. Any text at all gives a tree or one problem; nothing is thrown. */
export function parseExpression(text: string): Parsed {
  if (text.length > MAX_EXPRESSION) {
    const message = `The expression has ${text.length.toLocaleString('en')} characters; at most 10,000 are allowed.`
    return { problem: { message, start: MAX_EXPRESSION, end: text.length } }
  }
  if (text.trim() === '')
    return { problem: { message: 'The expression is empty.', start: 0, end: text.length } }
  try {
    const { named, tree } = read(text)
    return { expression: { text, ...readNodes(tree, named) } }
  } catch (error) {
    return { problem: problemOf(error, text) }
  }
}

function read(text: string): Read {
  const before = known.get(text)
  if (before) return before
  const { named, at } = namedParts(text)
  const found = { named, tree: wholeText(text, at) }
  known.set(text, found, text.length)
  return found
}

/** `let day = …;` as often as it stands before the expression, which begins at `at`. */
function namedParts(text: string): { readonly named: readonly NamedPart[]; readonly at: number } {
  const named: NamedPart[] = []
  let at = 0
  // Most have none, and a tokenizer costs as much as a short expression.
  if (!text.includes('let')) return { named, at }
  for (let found = letAt(text, at); found; found = letAt(text, at)) {
    const tree = parseExpressionAt(text, found.behind, optionsFor(text))
    const end = tokenAt(text, tree.end)
    const place = { start: tree.end, end: Math.min(text.length, tree.end + 1) }
    if (end?.label !== ';') throw new RefusedNode(`Write ; behind the value of let ${found.name}.`, place)
    named.push({ name: found.name, at: found.at, tree })
    at = end.end
  }
  if (named.length > 0 && tokenAt(text, at)?.label === 'eof') {
    const place = { start: Math.max(0, at - 1), end: at }
    throw new RefusedNode('Write the value of the expression behind the last ;.', place)
  }
  return { named, at }
}

/** `let`, a name and `=`: no other expression begins so. */
function letAt(text: string, from: number) {
  const word = tokenAt(text, from)
  if (word?.text !== 'let') return undefined
  const name = tokenAt(text, word.end)
  const equals = name && tokenAt(text, name.end)
  if (name?.label !== 'name' || equals?.label !== '=') return undefined
  return { name: name.text, at: { start: name.start, end: name.end }, behind: equals.end }
}

/** Undefined where the text cannot be read: the parser then says why. */
function tokenAt(text: string, from: number) {
  try {
    const { type, start, end } = tokenizer(text.slice(from), {
      ...optionsFor(text),
      onComment: [],
    }).getToken()
    return {
      label: type.label,
      text: text.slice(from + start, from + end),
      start: from + start,
      end: from + end,
    }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function optionsFor(text: string) {
  const onComment = (_block: boolean, _text: string, start: number) => refuseOldComment(text, start)
  return { ecmaVersion: 2025, preserveParens: true, allowHashBang: false, onComment } as const
}

/** Acorn's tree of the text from there on, of which nothing is left over. */
function wholeText(text: string, from: number): AcornExpression {
  const options = optionsFor(text)
  const tree = parseExpressionAt(text, from, options)
  const rest = tokenizer(text.slice(tree.end), { ...options, onComment: [] }).getToken()
  if (rest.type.label !== 'eof') {
    const place = { start: tree.end + rest.start, end: tree.end + Math.max(rest.end, rest.start + 1) }
    throw new RefusedNode('Unexpected text after the end of the expression.', place)
  }
  return tree
}

/** Browsers still read `<!--` and `-->` as comments, which hides the rest of a line. */
function refuseOldComment(text: string, start: number) {
  const two = text.slice(start, start + 2)
  if (two !== '//' && two !== '/*')
    throw new RefusedNode('Unexpected text.', { start, end: Math.min(text.length, start + 3) })
}

function problemOf(error: unknown, text: string): ExpressionProblem {
  if (error instanceof RefusedNode) return { message: error.message, ...error.place }
  // A chain of operators or methods may be as long as there are parts, and the caller may be deep in its own stack already.
  if (error instanceof RangeError)
    return { message: 'The expression has too many parts one after the other.', start: 0, end: text.length }
  if (!(error instanceof SyntaxError)) throw error
  const at = 'pos' in error && typeof error.pos === 'number' ? Math.min(error.pos, text.length) : 0
  const place: Place = { start: at, end: Math.min(text.length, at + 1) }
  if (error.message.startsWith('Not enough stack')) {
    return {
      message: `The expression is nested deeper than ${MAX_NESTING} levels.`,
      start: 0,
      end: text.length,
    }
  }
  const said = error.message.replace(/ \(\d+:\d+\)$/, '')
  const atEnd = at >= text.trimEnd().length
  if (said === 'Unexpected token')
    return { message: atEnd ? 'The expression is not finished.' : 'Unexpected text.', ...place }
  return { message: `${said}.`, ...place }
}
