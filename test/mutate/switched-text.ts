/** Changes that are in the program from its start, each turned on by its name: for code that is loaded once. */
import ts from 'typescript'

export interface SwitchedChange {
  readonly name: string
  /** One whole expression or statement, unique in its file. */
  readonly find: string
  readonly replace: string
}

declare global {
  /** The one change that is turned on. */
  var switchedOn: string | undefined
}

/** The text with all changes in it, all turned off. Throws for what is not found exactly once, or is no whole node. */
export function switchedText(file: string, text: string, changes: readonly SwitchedChange[]): string {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const places = changes.map((change) => ({ change, node: nodeOf(source, text, change) }))
  let result = text
  let before = text.length
  for (const { change, node } of places.toSorted((a, b) => b.node.getStart() - a.node.getStart())) {
    if (node.end > before) throw new Error(`${file}: two changes overlap at ${change.name}.`)
    before = node.getStart()
    const on = `globalThis.switchedOn === ${JSON.stringify(change.name)}`
    const switched = ts.isStatement(node)
      ? `if (${on}) { ${change.replace} } else { ${change.find} }`
      : `(${on} ? (${change.replace}) : (${change.find}))`
    result = result.slice(0, before) + switched + result.slice(node.end)
  }
  return result
}

export function lineOf(text: string, find: string): number {
  return text.slice(0, text.indexOf(find)).split('\n').length
}

function nodeOf(source: ts.SourceFile, text: string, { name, find }: SwitchedChange): ts.Node {
  const start = text.indexOf(find)
  if (start < 0 || text.indexOf(find, start + 1) >= 0)
    throw new Error(
      `${source.fileName}: ${name}: ${JSON.stringify(find)} is not there exactly once: mend it in chosen-mutants.json.`,
    )
  const exact = (node: ts.Node): ts.Node | undefined => {
    if (
      node.getStart() === start &&
      node.end === start + find.length &&
      (ts.isStatement(node) || ts.isExpression(node))
    )
      return node
    return ts.forEachChild(node, exact)
  }
  const node = exact(source)
  if (node === undefined) throw new Error(`${source.fileName}: ${name} is no whole expression or statement.`)
  return node
}
