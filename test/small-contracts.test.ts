/** What an engine of storage has to keep is small, and no code asks for an engine by its name. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

/** The names of an interface's members, with those of the interfaces that it extends. Throws for one that is not there. */
function membersOf(name: string, interfaces: ReadonlyMap<string, ts.InterfaceDeclaration>): string[] {
  const found = interfaces.get(name)
  if (found === undefined) throw new Error(`There is no interface ${name}.`)
  const extended = (found.heritageClauses ?? []).flatMap(({ types }) =>
    types.flatMap(({ expression }) => membersOf(expression.getText(), interfaces)),
  )
  return [...extended, ...found.members.map((member) => member.name?.getText() ?? member.getText())]
}

function interfacesIn(texts: readonly string[]): ReadonlyMap<string, ts.InterfaceDeclaration> {
  const found = new Map<string, ts.InterfaceDeclaration>()
  for (const text of texts)
    ts.forEachChild(ts.createSourceFile('contract.ts', text, ts.ScriptTarget.Latest, true), (node) => {
      if (ts.isInterfaceDeclaration(node)) found.set(node.name.text, node)
    })
  return found
}

describe('an engine keeps small promises', () => {
  const files = ['database.ts', 'claims.ts', 'capabilities.ts', 'cluster.ts', 'job.ts']
  const interfaces = interfacesIn(files.map((file) => textOf(`src/storage/${file}`)))

  test.each([
    ['Database', 8],
    ['Session', 12],
    ['Claims', 3],
    ['Transaction', 4],
    ['Capabilities', 10],
    ['Indexes', 4],
    ['Changes', 2],
    ['ReadVersions', 2],
    ['Cluster', 6],
    ['Jobs', 11],
    ['Queues', 3],
  ])('%s has at most %i members', (name, most) => {
    expect(membersOf(name, interfaces).length).toBeLessThanOrEqual(most)
  })

  test('control: methods, properties and what is extended are counted', () => {
    const text = 'interface A { a(): void; readonly b?: 1 } export interface B extends A { c: () => void }'
    expect(membersOf('B', interfacesIn([text]))).toEqual(['a', 'b', 'c'])
    expect(() => membersOf('C', interfacesIn([text]))).toThrow('There is no interface C.')
  })
})

describe('no code asks for an engine by its name', () => {
  /** `engine === 'x'`, `'x' !== database.capabilities.engine`, and a switch over it. */
  const asked = /\bengine\s*[!=]==?|[!=]==?\s*[\w.?]*\bengine\b|switch \([\w.?]*\bengine\)/

  test('in the sources', () => {
    const sources = globSync('src/**/*.{ts,tsx}', { cwd: root }).filter((file) => !file.includes('.test.'))
    expect(sources.length).toBeGreaterThan(500)
    expect(sources.filter((file) => asked.test(textOf(file)))).toEqual([])
  })

  test.each([
    "if (database.engine === 'sqlite') return",
    "const isShared = 'postgres' !== quoin.database.capabilities.engine",
    'switch (database.capabilities.engine) {',
  ])('control: %s is found', (line) => {
    expect(asked.test(line)).toBe(true)
  })
})
