/** Functions with more lines than one can take in at a look. */
import ts from 'typescript'

const MOST_LINES = 60

export interface LongFunction {
  readonly name: string
  readonly lines: number
}

/**
 * The functions of a source with more than {@link MOST_LINES} lines, comments and blank lines within them included. Of a long function within another one only
 * the outer is named: the inner one is found when that is short.
 */
export function longFunctions(file: string, source: string): readonly LongFunction[] {
  if (!mayHoldLong(source)) return []
  const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, kind)
  const found: LongFunction[] = []
  function visit(node: ts.Node): void {
    const lines = isFunction(node) ? linesOf(node, tree) : 0
    if (lines > MOST_LINES) found.push({ name: nameOf(node, tree), lines })
    else ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

/** Tables and classes, which are no functions however long they are. */
const NO_FUNCTION =
  /^(?:export )?(?:default )?(?:(?:abstract )?class\b|interface\b|type\b|const \w+(?:: .*)? = (?:new \w+\()?[{[]+$)/

/**
 * By the indentation that Biome gives: lines of a function are further in than its first one, but for closing brackets. Only
 * files with a long piece are parsed, which takes a third of the time. A text over several lines may have any indentation.
 */
function mayHoldLong(source: string): boolean {
  const lines = source.split('\n')
  if (lines.length <= MOST_LINES) return false
  if (lines.some((line) => line.split('`').length % 2 === 0)) return true
  /** Where the pieces begin that are open at a line, the innermost last. */
  const open: { readonly indent: number; readonly line: number }[] = []
  const isLong = (from: number, to: number) =>
    to - from > MOST_LINES && !NO_FUNCTION.test(lines[from]?.trim() ?? '')
  for (const [number, line] of [...lines, '.'].entries()) {
    const indent = line.search(/\S/)
    if (indent === -1) continue
    const closes = /^[})\]>]/.test(line.trimStart())
    for (
      let last = open.at(-1);
      last && (last.indent > indent || (last.indent === indent && !closes));
      last = open.at(-1)
    ) {
      if (isLong(last.line, number)) return true
      open.pop()
    }
    if (open.at(-1)?.indent !== indent) open.push({ indent, line: number })
  }
  return false
}

function isFunction(node: ts.Node): boolean {
  return ts.isFunctionLike(node) && 'body' in node && node.body !== undefined
}

function linesOf(node: ts.Node, tree: ts.SourceFile): number {
  const lineAt = (position: number) => tree.getLineAndCharacterOfPosition(position).line
  return lineAt(node.end) - lineAt(node.getStart(tree)) + 1
}

/** Its own name, or that of what it is given to. */
function nameOf(node: ts.Node, tree: ts.SourceFile): string {
  const named = ts.isArrowFunction(node) || ts.isFunctionExpression(node) ? node.parent : node
  const name = 'name' in named ? named.name : undefined
  return isNode(name) ? name.getText(tree) : '(without a name)'
}

function isNode(value: unknown): value is ts.Node {
  return typeof value === 'object' && value !== null && 'kind' in value && 'getText' in value
}
