/** Functions of a source by name, so that what a run recorded is found again after lines have moved. */
import ts from 'typescript'

interface NamedFunction {
  readonly name: string
  readonly from: number
  readonly to: number
}

/** A source, to be asked in which function something stands. */
export interface FunctionsOf {
  /** Name of the innermost function with a name around a position; '' for the module itself. */
  at(position: number): string
  /** The same for each line from `first` on, counted from 1. */
  ofLines(first: number, count: number): ReadonlySet<string>
  readonly names: ReadonlySet<string>
}

export function functionsOf(file: string, source: string): FunctionsOf {
  const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, kind)
  const found: NamedFunction[] = []
  const visit = (node: ts.Node): void => {
    const name = nameOf(node)
    // The node that carries the name: a comment or a modifier before the function is part of it.
    if (name !== undefined) found.push({ name, from: startOf(node), to: node.end })
    ts.forEachChild(node, visit)
  }
  visit(tree)
  // Inner functions come behind outer ones.
  const at = (position: number) =>
    found.findLast(({ from, to }) => from <= position && position < to)?.name ?? ''
  const starts = tree.getLineStarts()
  return {
    at,
    names: new Set(found.map(({ name }) => name)),
    ofLines(first, count) {
      const names = new Set<string>()
      for (let line = first; line < first + count && line <= starts.length; line++) {
        const from = starts[line - 1] ?? 0
        const text = source.slice(from, starts[line] ?? source.length)
        if (text.trim() !== '') names.add(at(from + text.search(/\S/)))
      }
      return names
    },
  }
}

/** With its doc comment. */
const startOf = (node: ts.Node) => declarationOf(node).getFullStart()

/** A variable stands in a list in a statement; the comment is before that. */
function declarationOf(node: ts.Node): ts.Node {
  const named = isValue(node) ? node.parent : node
  return ts.isVariableDeclaration(named) ? named.parent.parent : named
}

function isValue(node: ts.Node): boolean {
  return ts.isArrowFunction(node) || ts.isFunctionExpression(node)
}

function nameOf(node: ts.Node): string | undefined {
  if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return undefined
  if (ts.isConstructorDeclaration(node)) return 'constructor'
  const named = isValue(node) ? node.parent : node
  if (!('name' in named)) return undefined
  const { name } = named
  return isNode(name) ? name.getText() : undefined
}

function isNode(value: unknown): value is ts.Node {
  return typeof value === 'object' && value !== null && 'kind' in value && 'getText' in value
}
