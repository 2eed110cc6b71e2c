/** Which resources the filter of the audit log offers, and which the sources write there. */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operateTexts } from '../src/studio/texts/operate.ts'

const root = new URL('..', import.meta.url).pathname
const textOf = (path: string) => readFileSync(`${root}${path}`, 'utf8')

const offered = () => Object.keys(operateTexts.resources)

function written(): Set<string> {
  const files = globSync('src/{access,flows,records,queue,http}/**/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts'),
  )
  const found = files.flatMap((file) => [...textOf(file).matchAll(/\bcategory: '(\w+)'/g)])
  return new Set(found.map(([, name = '']) => name))
}

test('every resource that is written there can be chosen', () => {
  expect(written().size).toBeGreaterThan(15)
  expect([...written()].filter((name) => !offered().includes(name))).toEqual([])
})
