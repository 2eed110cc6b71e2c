import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { engineSuites } from './engine-suites.ts'

const all = ['src/**/*.test.ts', 'test/**/*.test.ts']

test.each([
  ['src/http/bodies/json-body.test.ts', false],
  ['src/blocks/logic/branch.test.ts', false],
  ['src/records/system-log.test.ts', true],
  ['src/http/routes/data/documents.test.ts', true],
  ['src/blocks/storage/function_search.test.ts', true],
  ['test/end-to-end/scopes.test.ts', true],
  ['test/contract/endpoints.test.ts', true],
])('%s: an engine can matter: %j', (file, matters) => {
  expect(engineSuites([file])).toEqual(matters ? [file] : [])
})

test('whatever opens a database of the run is found', () => {
  const opens = /\bopen(TestDatabase|TemporaryDatabase|TestQuoin|ManagementServer|ContractFixture)\(/
  const root = join(import.meta.dirname, '..')
  const opening = globSync(all, { cwd: root }).filter((file) =>
    opens.test(readFileSync(join(root, file), 'utf8')),
  )
  expect(opening.length).toBeGreaterThan(60)
  const found = new Set(engineSuites(all))
  expect(opening.filter((file) => !found.has(file))).toEqual([])
})
