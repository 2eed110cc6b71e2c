/** Every block of the house is complete, and keeps the pins that saved blueprints rely on. */

import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { BlockDefinition } from '../src/blocks/block.ts'
import { describeBlock } from '../src/blocks/describe-block.ts'
import { effectsOf, sendsMail } from '../src/blocks/effects.ts'
import { findBlocks, loadBlocks } from '../src/blocks/load-blocks.ts'
import { readSettings } from '../src/blocks/pins/read-settings.ts'
import type { Setting } from '../src/blocks/setting.ts'
import { outsideKinds } from '../src/flows/compile/compile-flow.ts'
import type { CustomOutPin } from '../src/shared/blueprint.ts'
import type { JsonValue } from '../src/shared/json.ts'
import { pinTypes } from '../src/shared/pin-type.ts'
import promisedBlocks from './promised-blocks.json' with { type: 'json' }

interface Promised {
  readonly in: readonly string[]
  readonly out: readonly string[]
  readonly settings?: readonly string[]
  readonly defaults?: Readonly<Record<string, JsonValue>>
  readonly several?: readonly string[]
}

const found = await findBlocks()
const catalogue = await loadBlocks()
const promised: [string, Promised][] = Object.entries(promisedBlocks)

describe.each(found.map((one) => [one.definition.identifier, one] as const))('%s', (_identifier, one) => {
  const { definition, file, group } = one

  test('has a test beside it', () => {
    expect(existsSync(file.replace(/\.ts$/, '.test.ts'))).toBe(true)
  })

  test('its description survives JSON', () => {
    const description = describeBlock(definition, group)
    expect(JSON.parse(JSON.stringify(description))).toEqual(description)
  })

  test('speaks to the builder in sentences', () => {
    const sentences = [
      definition.summary,
      ...Object.values(definition.in).map((pin) => pin.help),
      ...Object.values(definition.out).map((pin) => pin.help),
      ...Object.values(definition.settings).map((setting) => setting.help),
    ]
    for (const sentence of sentences) expect(sentence).toMatch(/^(?:\p{Lu}|[a-z_]+:).*[.!?]$/u)
    expect(definition.title).toMatch(/^\p{Lu}.*[^.]$/u)
  })

  test('its words name pins and settings that it has', () => {
    const names = [...(definition.words ?? '').matchAll(/\{([^}]+)\}/g)].flatMap(([, all = '']) =>
      all.split('|'),
    )
    expect(names.filter((name) => !(name in definition.in || name in definition.settings))).toEqual([])
    // Brackets come in pairs and hold a pin each, or the title would show them.
    const optional = (definition.words ?? '').match(/\[[^[\]]*\{[^[\]]*\}[^[\]]*\]/g) ?? []
    expect((definition.words ?? '').match(/[[\]]/g)?.length ?? 0).toBe(optional.length * 2)
  })

  test('has its flow pins', () => {
    if (definition.kind === 'flow')
      expect([definition.in.flow?.type, definition.out.error?.type]).toEqual(['flow', 'flow'])
    // A resource has hooks in place of a flow.
    if (definition.kind === 'trigger')
      expect(Object.values(definition.out).map(({ type }) => type)).toContain('flow')
  })

  test('pins that settings and builders add are described as well, and cannot be mixed up with its own', () => {
    const { settings, custom } = filledSettings(definition)
    const more = {
      in: definition.moreIn?.(settings) ?? {},
      out: definition.moreOut?.(settings, custom) ?? {},
    }
    for (const side of ['in', 'out'] as const) {
      for (const [id, pin] of Object.entries(more[side])) {
        expect(pinTypes).toContain(pin.type)
        expect(pin.help).toMatch(/\S/)
        expect(Object.keys(definition[side])).not.toContain(id)
        expect(JSON.parse(JSON.stringify(pin))).toEqual(pin)
      }
    }
  })
})

/** Settings as a builder might fill them in: names wherever names are taken. */
function filledSettings(definition: BlockDefinition) {
  const fields = Object.entries(definition.settings).map(([id, setting]) => [id, filled(setting)] as const)
  const { values, problems } = readSettings(definition.settings, Object.fromEntries(fields))
  expect(problems).toEqual([])
  const custom: CustomOutPin[] = [{ id: 'alpha', type: 'value' }]
  return { settings: values, custom }
}

function filled(setting: Setting): JsonValue {
  switch (setting.kind) {
    case 'names':
      return ['alpha', 'beta.gamma']
    case 'fields':
      return [{ name: 'alpha_field', type: 'text' }]
    case 'choice':
      return setting.options[0] ?? null
    case 'number':
      return setting.default ?? setting.min ?? 1
    case 'switch':
      return true
    case 'operation':
      return { id: 'alpha', hash: 'a', title: 'Alpha', method: 'GET', path: '/alpha', pins: [] }
    case 'text':
    case 'storage':
      return 'tasks'
  }
}

test('of each block that touches the world outside it is known whether what it does would happen twice', () => {
  const looks = ['each_row', 'function_kvstore_cache_delete_key', 'limit', 'read_file']
  const outside = [...catalogue.values()].filter((one) => effectsOf(one).calls && !sendsMail(effectsOf(one)))
  const names = new Set(outside.map(({ identifier }) => identifier))
  expect(names).toEqual(new Set([...looks, ...Object.keys(outsideKinds)]))
})

test('no two blocks have the same title', () => {
  const titles = found.map(({ definition }) => definition.title)
  expect(titles).toEqual([...new Set(titles)])
})

describe.each(promised)('promised: %s', (identifier, promise) => {
  const definition = catalogue.get(identifier)

  test('is there', () => {
    expect(definition).toBeDefined()
  })

  test('has its pins and settings', () => {
    expect(Object.keys(definition?.in ?? {})).toEqual(expect.arrayContaining([...promise.in]))
    expect(Object.keys(definition?.out ?? {})).toEqual(expect.arrayContaining([...promise.out]))
    expect(Object.keys(definition?.settings ?? {})).toEqual(
      expect.arrayContaining([...(promise.settings ?? [])]),
    )
  })

  test('has the promised defaults, and takes several where it is promised', () => {
    const pins = Object.entries(definition?.in ?? {})
    const defaults = Object.fromEntries(pins.map(([id, pin]) => [id, pin.default]))
    expect(defaults).toMatchObject(promise.defaults ?? {})
    const several = pins.filter(([, pin]) => pin.several).map(([id]) => id)
    expect(several).toEqual(expect.arrayContaining([...(promise.several ?? [])]))
  })

  test('no pin that need not be wired is required', () => {
    const optional = Object.keys(promise.defaults ?? {})
    for (const id of optional) expect(definition?.in[id]?.required).toBeUndefined()
  })
})
