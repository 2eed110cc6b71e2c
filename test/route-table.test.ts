/** A family of routes that nothing registers has a test that passes, and is not there. */
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')

/** Families of routes that `src/http/routes` exports, and that the table does not both import and call. */
async function unregistered(table: string): Promise<string[]> {
  const files = globSync('src/http/routes/**/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts'),
  )
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')))
  const families = texts.flatMap((text) =>
    [...text.matchAll(/^export (?:async )?(?:function|const) (\w+Routes)\b/gm)].map(([, name = '']) => name),
  )
  expect(families.length).toBeGreaterThan(30)
  const isThere = (name: string) =>
    new RegExp(`^import .*\\b${name}\\b`, 'm').test(table) &&
    new RegExp(`^ +.*\\b${name}\\(`, 'm').test(table)
  return families.filter((name) => !isThere(name))
}

const table = await readFile(join(root, 'src/http/routes.ts'), 'utf8')

test('every family of routes stands in the one table', async () => {
  expect(await unregistered(table)).toEqual([])
})

test('control: one that is missing is named', async () => {
  const line = '    nodeRoutes(parts.nodes),\n'
  expect(table).toContain(line)
  expect(await unregistered(table.replace(line, ''))).toEqual(['nodeRoutes'])
})
