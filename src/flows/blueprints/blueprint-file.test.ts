import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { exportBlueprint, type ImportedBlueprint } from '../../shared/application/blueprint-file.ts'
import type { Block } from '../../shared/blueprint.ts'
import type { BlueprintNote } from '../../shared/blueprint-note.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { importBlueprint, partsOfFile } from './blueprint-file.ts'

function counter(): () => string {
  let next = 0
  return () => `guid-${next++}`
}

describe('refused', () => {
  test.each([
    ['no object', [], /at its top/],
    ['no name', { blocks: {} }, /name/],
    ['an id with a dot', { name: 'a', blocks: { 'a.b': { type: 'branch' } } }, /blocks/],
    ['an unknown key', { name: 'a', blocks: { a: { type: 'branch', pins: {} } } }, /blocks.a/],
    [
      'a wire from nowhere',
      { name: 'a', blocks: { a: { type: 'branch', in: { flow: '@b.flow' } } } },
      /no such block/,
    ],
    [
      'a note of another kind',
      { name: 'a', blocks: {}, notes: [{ kind: 'x', text: '', color: 'red', at: [0, 0], size: [1, 1] }] },
      /notes.0.kind/,
    ],
    ['a note that is nowhere', { name: 'a', blocks: {}, notes: [{ kind: 'note' }] }, /notes.0/],
    [
      'a list of a wire and a value',
      { name: 'a', blocks: { a: { type: 'branch', in: { flow: ['@a.flow', 1] } } } },
      /blocks\.a\.in\.flow is a list of wires and of something else.*\{ "literal"/,
    ],
    [
      'a list of a wire and a text',
      { name: 'a', blocks: { a: { type: 'branch', in: { flow: ['plain', '@a.flow'] } } } },
      /blocks\.a\.in\.flow is a list of wires and of something else/,
    ],
    ['a tag that is empty', { name: 'a', blocks: {}, tags: [''] }, /tags.0/],
    ['too many tags', { name: 'a', blocks: {}, tags: Array(51).fill('x') }, /tags/],
    [
      'a value of the environment with a name that is none',
      { name: 'a', blocks: {}, env: ['base-url'] },
      /env.0/,
    ],
    ['a value of the environment that is named twice', { name: 'a', blocks: {}, env: ['A', 'A'] }, /env/],
    ['a category that is no text', { name: 'a', blocks: {}, category: 1 }, /category/],
    [
      'a wire without a pin',
      { name: 'a', blocks: { a: { type: 'branch', in: { flow: '@a' } } } },
      /no such block/,
    ],
  ])('%s', (_, file, message) => {
    expect(() => importBlueprint(file, counter())).toThrow(message)
  })
})

const literal: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(
    '@a.b',
    ['@a.b'],
    ['@a.b', 1],
    ['plain', '@a.b'],
    [['@a.b'], { from: '@a.b' }],
    [],
    { literal: 1 },
    { literal: { literal: '@x' } },
    '@',
    '=',
    '=params.limit',
    ['=params.limit'],
    'plain',
    null,
    false,
    0,
  ),
  fc.jsonValue().map((value): JsonValue => JSON.parse(JSON.stringify(value))),
)

const blueprint: fc.Arbitrary<ImportedBlueprint> = fc.integer({ min: 1, max: 6 }).chain((count) => {
  const guids = Array.from({ length: count }, (_, i) => `guid-${i}`)
  const wire = fc.record({ block: fc.constantFrom(...guids), pin: fc.constantFrom('flow', 'value', 'a.b') })
  const pin = (id: string) =>
    fc.oneof(
      fc.array(wire, { minLength: 1, maxLength: 3 }).map((from) => ({ id, from })),
      literal.map((value) => ({ id, value })),
      fc
        .constantFrom('params.limit ?? 20', '= 1', ' goods.document.price')
        .map((expression) => ({ id, expression })),
    )
  const block = (guid: string): fc.Arbitrary<Block> =>
    fc.record({
      guid: fc.constant(guid),
      name: fc.constant(guid.replace('-', '_')),
      type: fc.constantFrom('branch', 'http_request'),
      title: fc.constantFrom('', 'Open tasks', 'ÄÖ', '1', '日本'),
      description: fc.constantFrom('', 'x'),
      position: fc.record({ x: fc.integer(), y: fc.integer() }),
      in_pins: fc.tuple(pin('one'), pin('two')),
      custom_out_pins: fc.constantFrom([], [{ id: 'p', type: 'number' as const }]),
      fields: fc.constantFrom({}, { storage: 'tasks', names: ['a'] }),
      scopes: fc.constantFrom([], ['*public']),
    })
  const note = (id: string): fc.Arbitrary<BlueprintNote> =>
    fc.record({
      id: fc.constant(id),
      kind: fc.constantFrom('note', 'group'),
      text: fc.constantFrom('', 'Why it is here', '@a.b'),
      color: fc.constantFrom('yellow', 'petrol'),
      position: fc.record({ x: fc.integer(), y: fc.integer() }),
      size: fc.record({ width: fc.integer({ min: 0 }), height: fc.integer({ min: 0 }) }),
    })
  // Ids come from the counter that the blocks had theirs from.
  const notes = fc
    .integer({ min: 0, max: 3 })
    .chain((many) => fc.tuple(...Array.from({ length: many }, (_, i) => note(`guid-${count + i}`))))
  return fc.record({
    notes,
    name: fc.constant('Any'),
    description: fc.constantFrom('', 'About'),
    category: fc.constantFrom('', 'Büro'),
    tags: fc.array(fc.constantFrom('tasks', '@a.b', 'ÄÖ'), { maxLength: 3 }),
    blocks: fc.tuple(...guids.map(block)),
  })
})

test('import(export(b)) is b', () => {
  fc.assert(
    fc.property(blueprint, (b) => {
      // By way of text, as a file is kept.
      const file: unknown = JSON.parse(JSON.stringify(exportBlueprint(b)))
      expect(importBlueprint(file, counter())).toEqual(b)
    }),
  )
})

test('export(import(file)) is the file, for the example that ships', async () => {
  const text = await readFile(
    new URL('../../../examples/tasks/blueprints/tasks.json', import.meta.url),
    'utf8',
  )
  const { $schema: _, ...file } = JSON.parse(text)
  const again = exportBlueprint(importBlueprint(file, counter()))
  expect(JSON.stringify(again)).toBe(JSON.stringify(file))
})

test.each(['fill', 'convert'])(
  'a field with %s is refused: stored documents would not get their values',
  (word) => {
    const field = { storage: 'goods', name: 'price', type: 'string' }
    const file = (more: JsonObject) => ({
      name: 'Goods',
      blocks: {},
      fields: [field, { ...field, name: 'size', ...more }],
    })
    expect(() => partsOfFile(file({ [word]: '=1' }))).toThrow(
      `fields.1.${word} is for the folder of an application`,
    )
    expect(partsOfFile(file({})).fields.length).toBe(2)
  },
)
