import { Compile } from 'typebox/compile'
import { expect, test } from 'vitest'
import { describeBlock } from '../blocks/describe-block.ts'
import { findBlocks } from '../blocks/load-blocks.ts'
import { normalApplication } from '../shared/application/application.ts'
import { filesOf } from '../shared/application/application-files.ts'
import { fileSchemaNames, fileSchemas } from './file-schemas.ts'

const schemas = fileSchemas(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)
const fits = (name: (typeof fileSchemaNames)[number], value: unknown) => Compile(schemas[name]).Check(value)

const block = (more: object) => ({
  name: 'A',
  blocks: { on: { type: 'on_startup_register_uri_get', in: { uri: 'a' }, ...more } },
})

test('the schemas accept the files that are written, and each of them names its schema', () => {
  const files = filesOf(
    normalApplication({
      about: { name: 'shop', needs: { env: ['A'] } },
      blueprints: { a: block({ scopes: ['*public'] }) },
      storages: {
        goods: { history: true, fields: { sku: { type: 'string', was: 'number', unique: true } } },
      },
      groups: { Staff: { scopes: ['a'] } },
      templates: { frame: { name: 'Frame', content: { layout: 'side' }, css: 'a { }' } },
      tests: {
        a: { name: 'A', steps: [{ request: 'GET /a' }] },
        b: { name: 'B', cases: 'b.ndjson', score: '=1', at_least: 0.9, steps: [{ request: 'GET /a' }] },
      },
    }),
  )
  const json = [...files].filter(([path]) => path.endsWith('.json'))
  expect(json).toHaveLength(7)
  for (const [path, text] of json) {
    const value: { $schema: string } = JSON.parse(text)
    const name = fileSchemaNames.find((one) => value.$schema.endsWith(`/api/v1/schemas/${one}.json`))
    expect([path, name && fits(name, value)]).toEqual([path, true])
  }
})

test.each<[string, (typeof fileSchemaNames)[number], object]>([
  ['a block type that there is not', 'blueprint', { name: 'A', blocks: { a: { type: 'no_such_block' } } }],
  ['a pin that the block does not have', 'blueprint', block({ in: { url: 'a' } })],
  ['a setting that the block does not have', 'blueprint', block({ fields: { sumary: 'a' } })],
  ['an unknown word', 'application', { name: 'shop', colour: 'red' }],
  ['a field without a type', 'storage', { fields: { sku: {} } }],
  ['a score above 1', 'test', { name: 'A', steps: [], at_least: 2 }],
])('the schemas refuse %s', (_what, name, value) => {
  expect(fits(name, value)).toBe(false)
})
