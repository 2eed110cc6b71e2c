/** All changes of the code that a block consists of: of its own file, and of the functions that do its work. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { declaredIn, idOf } from './block-definition.ts'
import { changesOfNode } from './code-operators.ts'
import { changeOf, type Edit, type Mutant } from './mutant.ts'
import { changesOfPins, changesOfSettings } from './pin-operators.ts'

const root = join(import.meta.dirname, '../..')

/** A file, or one function or constant of it. */
export interface Part {
  readonly file: string
  readonly name?: string
}

/** `pins`: those that are promised. Other pins have no promise. */
export function generatedMutants(block: string, { file, name }: Part, pins: ReadonlySet<string>): Mutant[] {
  const text = readFileSync(join(root, file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const part = name === undefined ? source : namedIn(source, name)
  const declared = declaredIn(part)
  const own = new Set(pinsOf(part))
  const promised = (pin: string) => !own.has(pin) || pins.has(pin)
  const ofPins = declared ? changesOfPins(declared, promised) : []
  const ofSettings = declared ? changesOfSettings(declared) : []
  const changes = [...ofPins, ...ofSettings, ...changesIn(part, source, promised)]
  const seen = new Set<string>()
  return changes.flatMap((edits, index): Mutant[] => {
    const start = edits[0]?.start ?? 0
    const key = JSON.stringify(edits)
    if (seen.has(key)) return []
    seen.add(key)
    const line = source.getLineAndCharacterOfPosition(start).line + 1
    const change = changeOf(text, edits)
    return [{ block, file, line, change, promised: index < ofPins.length, by: { kind: 'edits', edits } }]
  })
}

const pinsOf = (part: ts.Node): string[] => {
  const declared = declaredIn(part)
  return declared ? [...declared.in.keys(), ...declared.out.keys()] : []
}

function namedIn(source: ts.SourceFile, name: string): ts.Node {
  for (const statement of source.statements) {
    if (ts.isFunctionDeclaration(statement) && statement.name?.text === name) return statement
    if (ts.isVariableStatement(statement))
      for (const declaration of statement.declarationList.declarations)
        if (declaration.name.getText() === name) return declaration
  }
  throw new Error(`${source.fileName} has no function or constant ${name}.`)
}

/** What a definition says beside its code: pins are changed as pins, and words are not changed. */
const described = new Set(['in', 'out', 'settings', 'identifier', 'title', 'summary', 'on'])
/** They only make it faster. */
const hints = new Set(['cacheable', 'readsAddress', 'searches'])

function changesIn(part: ts.Node, source: ts.SourceFile, promised: (pin: string) => boolean): Edit[][] {
  const definition = declaredIn(part)?.node
  const changes: Edit[][] = []
  const unpromised = pinsOf(part).filter((pin) => !promised(pin))
  const others = unpromised.length > 0 ? new RegExp(`\\b(?:${unpromised.join('|')})s?\\b`) : undefined
  const counts = (entry: ts.Node) =>
    !isAboutOthers(entry, others) &&
    (!ts.isObjectLiteralElementLike(entry) || (idOf(entry) !== 'help' && promised(idOf(entry))))
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isThrowStatement(node)) return
    if (ts.isObjectLiteralElementLike(node)) {
      if ((node.parent === definition && described.has(idOf(node))) || hints.has(idOf(node))) return
      if (node.parent !== definition && (idOf(node) === 'help' || !promised(idOf(node)))) return
    }
    if (!isAboutOthers(node, others) && node !== definition)
      changes.push(...changesOfNode(node, source, counts))
    ts.forEachChild(node, visit)
  }
  visit(part)
  return changes
}

/** Whether a node is about a pin that nothing is promised of: it names it, or it is a part of what names it. */
function isAboutOthers(node: ts.Node, others: RegExp | undefined): boolean {
  if (others === undefined) return false
  for (let one = node; one !== undefined; one = one.parent) {
    if (ts.isBlock(one) || ts.isFunctionLike(one) || ts.isObjectLiteralExpression(one)) return false
    if (others.test(one.getText())) return true
  }
  return false
}
