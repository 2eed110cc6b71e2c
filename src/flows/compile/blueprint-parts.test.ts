import { readdir, readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { FlowBlocks } from '../../../test/run-flow.ts'
import type { BlockDefinition } from '../../blocks/block.ts'
import { loadBlocks } from '../../blocks/load-blocks.ts'
import type { Block } from '../../shared/blueprint.ts'
import type { FieldRule, FieldsOf } from '../../shared/field-rule.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { importBlueprint } from '../blueprints/blueprint-file.ts'
import {
  type CompiledBlueprint,
  compileBlueprint,
  compileWhole,
  type PresentFacts,
} from './compile-blueprint.ts'

let catalogue: ReadonlyMap<string, BlockDefinition>
/** Blueprints of the examples of blocks and of `examples`. */
let samples: readonly (readonly Block[])[]

beforeAll(async () => {
  catalogue = await loadBlocks()
  const folders = ['src/blocks', 'examples']
  const found: (readonly Block[])[] = []
  for (const folder of folders)
    for (const path of (await readdir(folder, { recursive: true })).sort()) {
      if (!/\.(example|blueprint)\.json$/.test(path)) continue
      const file: unknown = JSON.parse(await readFile(`${folder}/${path}`, 'utf8'))
      if (!isJsonObject(file)) continue
      let last = 0
      found.push(importBlueprint(file.blueprint ?? file, () => `s${found.length}b${last++}`).blocks)
    }
  samples = found
}, 120_000)

/** All that can be seen of a blueprint from outside. Flows are functions: what is beside them says of what blocks they are. */
function described({ parts: _parts, probed: _probed, blocks: _blocks, ...seen }: CompiledBlueprint): unknown {
  const sorted = (all: readonly unknown[]) => all.map((one) => JSON.stringify(one)).sort()
  const { notes, calls, needs, awaited, ...others } = seen
  return plain({
    ...others,
    needs: new Map([...needs].sort(([a], [b]) => (a < b ? -1 : 1))),
    awaited: [...awaited].sort(),
    notes: sorted(notes),
    calls: sorted(calls),
  })
}

function plain(value: unknown): unknown {
  if (typeof value === 'function') return 'function'
  if (typeof value === 'symbol') return String(value)
  if (value instanceof RegExp || value instanceof Date) return String(value)
  if (value instanceof Set) return [...value].map(plain)
  if (value instanceof Map)
    return [...value].map(([key, one]) => [key, key === 'resumePoints' ? one : plain(one)])
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      key === 'resumePoints' && one instanceof Map ? [...one.keys()] : plain(one),
    ]),
  )
}

/** One edit of a builder: which block, which pin, and what is done there. */
interface Edit {
  readonly kind: (typeof kinds)[number]
  readonly block: number
  readonly pin: number
  readonly other: number
}
const kinds = [
  ...['literal', 'literal', 'unwire', 'wire', 'remove', 'restore', 'move', 'rename', 'expression'],
  ...['scopes', 'setting', 'flow', 'name'],
] as const

function edited(blocks: readonly Block[], former: readonly Block[], edit: Edit): readonly Block[] {
  const at = edit.block % Math.max(1, blocks.length)
  const block = blocks[at]
  const other = blocks[edit.other % Math.max(1, blocks.length)]
  if (!block || !other) return former
  const pinAt = edit.pin % Math.max(1, block.in_pins.length)
  const pin = block.in_pins[pinAt]
  const withBlock = (changed: Block) => blocks.with(at, changed)
  const withPin = (changed: Block['in_pins'][number]) =>
    withBlock({ ...block, in_pins: block.in_pins.with(pinAt, changed) })
  switch (edit.kind) {
    case 'literal': {
      const value = pin?.value
      if (typeof value === 'number') return withPin({ ...pin, id: pin?.id ?? '', value: value + 1 })
      if (typeof value === 'string') return withPin({ ...pin, id: pin?.id ?? '', value: `${value}x` })
      return blocks
    }
    case 'unwire':
      return pin ? withPin({ id: pin.id }) : blocks
    case 'wire': {
      const to = other.in_pins.find(({ from }) => from?.length)
      return pin && to?.from ? withPin({ id: pin.id, from: to.from }) : blocks
    }
    case 'flow': {
      const flow = other.in_pins.find(({ id }) => id === 'flow')
      const own = block.in_pins.findIndex(({ id }) => id === 'flow')
      if (!flow || own < 0) return blocks
      return withBlock({ ...block, in_pins: block.in_pins.with(own, flow) })
    }
    case 'expression': {
      const texts = ['params.n', 'env.X', '1 + 1', `blocks.${other.name ?? 'x'}.value`, 'item.a', 'body.a']
      return pin ? withPin({ id: pin.id, expression: texts[edit.other % texts.length] ?? '1' }) : blocks
    }
    case 'remove':
      return blocks.toSpliced(at, 1)
    case 'restore':
      return former
    case 'move':
      return blocks.with(at, other).with(blocks.indexOf(other), block)
    case 'rename':
      return withBlock({ ...block, name: `${block.name ?? 'b'}2` })
    case 'name': {
      const { name: _name, ...unnamed } = block
      return withBlock(unnamed)
    }
    case 'scopes':
      return withBlock({ ...block, scopes: block.scopes.length > 0 ? [] : ['*public'] })
    case 'setting':
      return withBlock({ ...block, fields: other.type === block.type ? other.fields : block.fields })
  }
  return blocks
}

function rule(name: string, storage: string): FieldRule {
  return { name, type: 'number', storage, required: false, defaultValue: undefined, limits: {} }
}

/** What there is beside the blueprint, in three states. */
function presentFacts(state: number): PresentFacts {
  if (state === 0) return {}
  const env: JsonObject = state === 1 ? { X: 1 } : { X: 'text', Y: 2 }
  const fieldsOf: FieldsOf = (storage) => [rule(state === 1 ? 'title' : 'titel', storage)]
  return { env, fieldsOf, secrets: [], connections: [], mail: state === 1, publicUrl: '' }
}

test('taking over unchanged flows gives what compiling the whole blueprint gives, after any edits', () => {
  const edits = fc.array(
    fc.record({
      kind: fc.constantFrom(...kinds),
      block: fc.nat(1_000),
      pin: fc.nat(20),
      other: fc.nat(1_000),
      state: fc.constantFrom(1, 1, 1, 0, 2),
    }),
    { minLength: 3, maxLength: 10 },
  )
  const chosen = fc.uniqueArray(fc.nat(samples.length - 1), { minLength: 1, maxLength: 6 })
  let [runs, taken] = [0, 0]
  fc.assert(
    fc.property(chosen, edits, (of, all) => {
      let blocks: readonly Block[] = of.flatMap((at) => samples[at] ?? [])
      const states = [blocks]
      let served: CompiledBlueprint | undefined
      for (const edit of [undefined, ...all]) {
        if (edit) blocks = edited(blocks, states.at(edit.other % states.length) ?? blocks, edit)
        states.push(blocks)
        // As they come from the storage.
        const read: readonly Block[] = structuredClone(blocks)
        const present = presentFacts(edit?.state ?? 1)
        const found = compileBlueprint('guid', read, catalogue, present, served)
        const whole = compileWhole('guid', read, catalogue, present)
        expect(found.problems).toEqual(whole.problems)
        if (!found.blueprint || !whole.blueprint) continue
        expect(described(found.blueprint)).toEqual(described(whole.blueprint))
        expect(found.blueprint.blocks).toEqual(read)
        runs += 1
        const before = new Set(served?.parts.map(({ compiled }) => compiled))
        taken += found.blueprint.parts.some(({ compiled }) => before.has(compiled)) ? 1 : 0
        served = found.blueprint
      }
    }),
    { numRuns: 15 },
  )
  // Most edits leave a flow as it is: otherwise nothing was tried here.
  expect(taken / runs).toBeGreaterThan(0.3)
}, 120_000)

const endpoint = (uri: string) => ({ type: 'on_startup_register_uri_get', in: { uri }, scopes: ['*public'] })
const reply = (flow: string, value: unknown) => ({ type: 'httpconnection_set_json', in: { flow, value } })
/** `a` and `b` read one constant, `b` and `c` call one function, and `d` shares nothing. */
const apart: FlowBlocks = {
  storage: { type: 'storage', fields: { storage: 'things' } },
  a: endpoint('a'),
  find: { type: 'function_search', in: { flow: '@a.flow', storage: '@storage.storage' } },
  a_reply: reply('@find.flow', '=find.total'),
  b: endpoint('b'),
  b_find: { type: 'function_search', in: { flow: '@b.flow', storage: '@storage.storage' } },
  b_call: { type: 'function_custom_execute', in: { flow: '@b_find.flow', function: 'log' } },
  c: endpoint('c'),
  c_call: { type: 'function_custom_execute', in: { flow: '@c.flow', function: 'log' } },
  log: { type: 'trigger_custom_function', fields: { name: 'log' } },
  logged: { type: 'function_console_log', in: { flow: '@log.flow', value: 'called' } },
  number: { type: 'value_default', in: { value: 1 } },
  d: endpoint('d'),
  d_reply: reply('@d.flow', '=number.value'),
}

test.each<[what: string, changes: FlowBlocks, fresh: readonly string[]]>([
  ['nothing', {}, []],
  ['a constant of one flow', { number: { type: 'value_default', in: { value: 2 } } }, ['d']],
  ['a block of one flow', { d_reply: reply('@d.flow', 'other') }, ['d']],
  [
    'a constant of two flows',
    { storage: { type: 'storage', fields: { storage: 'goods' } } },
    ['a', 'b', 'c'],
  ],
  [
    'a custom function',
    { logged: { type: 'function_console_log', in: { flow: '@log.flow', value: 'now' } } },
    ['b', 'c'],
  ],
  [
    'a flow that begins to read what another one finds',
    { d_reply: reply('@d.flow', '=find.total') },
    ['a', 'd'],
  ],
  [
    'a block that reads bodies as they were sent',
    {
      e: { type: 'on_startup_register_uri_post', in: { uri: 'e' }, scopes: ['*public'] },
      signed: {
        type: 'check_signature',
        in: { flow: '@e.flow', secret: 'key' },
        fields: { sender: 'github' },
      },
    },
    ['a', 'b', 'c', 'd', 'e'],
  ],
])('a deploy of %s compiles the flows that depend on it', (_what, changes, fresh) => {
  const read = (blocks: FlowBlocks) => {
    const ids = Object.keys(blocks)
    return importBlueprint({ name: 'Apart', blocks }, () => ids.shift() ?? '').blocks
  }
  const served = compileBlueprint('guid', read(apart), catalogue).blueprint
  const next = compileBlueprint('guid', read({ ...apart, ...changes }), catalogue, {}, served)
  expect(next.problems).toEqual([])
  const before = new Set(served?.endpoints.map(({ flow }) => flow))
  const compiled = next.blueprint?.endpoints.filter(({ flow }) => !before.has(flow)) ?? []
  expect(compiled.map(({ listening }) => listening.uri)).toEqual(fresh)
})

test('a block that takes the name of another one compiles the flow that reads that name', () => {
  const file: FlowBlocks = {
    get: endpoint('named'),
    one: { type: 'value_default', in: { value: 1 } },
    two: { type: 'value_default', in: { value: 2 } },
    log: { type: 'function_console_log', in: { flow: '@get.flow', value: '@one.value' } },
    logs: { type: 'function_console_log', in: { flow: '@log.flow', value: '@two.value' } },
    reply: reply('@logs.flow', '=two.value'),
  }
  const ids = Object.keys(file)
  const blocks = importBlueprint({ name: 'Named', blocks: file }, () => ids.shift() ?? '').blocks.map(
    ({ name, ...block }): Block => {
      if (name !== 'reply') return block
      const in_pins = block.in_pins.map(({ refs: _refs, ...pin }) =>
        pin.expression === undefined ? pin : { ...pin, expression: 'value_default_2.value' },
      )
      return { ...block, in_pins }
    },
  )
  const named = blocks.flatMap((block) =>
    block.guid === 'one' ? [{ ...block, guid: 'named', name: 'value_default' }] : [],
  )
  const served = compileBlueprint('guid', blocks, catalogue).blueprint
  const next = compileBlueprint('guid', [...blocks, ...named], catalogue, {}, served).blueprint
  const sourceOf = (compiled: CompiledBlueprint | undefined) =>
    compiled?.parts
      .flatMap(({ compiled: { graph } }) => graph.nodes)
      .find(({ block }) => block.guid === 'reply')
      ?.wires.get('value')
      ?.map(({ node }) => node.block.guid)
  expect([sourceOf(served), sourceOf(next)]).toEqual([['two'], ['one']])
})

const typo: FieldsOf = (storage) => [rule('titel', storage)]
const right: FieldsOf = (storage) => [rule('title', storage)]

test.each<[what: string, value: string, before: PresentFacts, now: PresentFacts]>([
  ['a value of the environment', '=env.X', { env: {} }, { env: { X: 1 } }],
  ['a field of documents', '=find.documents.map(d => d.title)', { fieldsOf: typo }, { fieldsOf: right }],
  [
    'whether a storage is closed',
    '=find.documents.map(d => d.other)',
    { fieldsOf: Object.assign((storage: string) => right(storage), { isClosed: () => true }) },
    { fieldsOf: Object.assign((storage: string) => right(storage), { isClosed: () => false }) },
  ],
])('%s changes what is said of flows that are taken over', (_what, value, before, now) => {
  const file: FlowBlocks = {
    get: endpoint('said'),
    find: { type: 'function_search', in: { flow: '@get.flow', storage: '@storage.storage' } },
    storage: { type: 'storage', fields: { storage: 'things' } },
    reply: reply('@find.flow', value),
  }
  const ids = Object.keys(file)
  const { blocks } = importBlueprint({ name: 'Said', blocks: file }, () => ids.shift() ?? '')
  const notes: number[] = []
  let served: CompiledBlueprint | undefined
  for (const present of [before, before, now, before]) {
    served = compileBlueprint('guid', blocks, catalogue, present, served).blueprint
    notes.push(served?.notes.length ?? -1)
  }
  expect(notes).toEqual([1, 1, 0, 1])
})
