/** An extension whose blocks take what clients send, and one that cannot be switched on. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/shared/json.ts'
import { recordsIn, textAt } from '../../json-at.ts'
import type { Keeper } from './keeper.ts'
import { kindsStorage } from './kinds-blueprint.ts'

export const extensionNames = ['fuzzed', 'broken', 'nowhere']

const turns = `
import { defineFlow } from 'quoin/extension'
export default defineFlow({
  identifier: 'fuzzed_turn',
  title: 'Turn',
  summary: 'Turns a value.',
  in: { value: { type: 'any', help: 'Any.' } },
  out: { turned: { type: 'any', help: 'It, the other way round.' } },
  run({ value }) {
    if (Array.isArray(value)) return { turned: value.toReversed() }
    if (value !== null && typeof value === 'object') return { turned: Object.fromEntries(Object.entries(value).reverse()) }
    return { turned: value === undefined ? null : [...String(value)].reverse().join('') }
  },
})`

const notes = `
import { defineFlow } from 'quoin/extension'
export default defineFlow({
  identifier: 'fuzzed_note',
  title: 'Note',
  summary: 'Reads and writes documents.',
  in: { values: { type: 'any', help: 'Of the new document.' } },
  out: { result: { type: 'any', help: 'What came of it.' } },
  effects: { reads: true, writes: 'changes' },
  async run({ values }, { documents }) {
    try {
      const found = await documents.search('${kindsStorage}', { limit: 3 })
      return { result: [found.length, await documents.create('${kindsStorage}', values)] }
    } catch (error) {
      return { result: error.message }
    }
  },
})`

/** For `QUOIN_BLOCKS`. */
export async function writeExtensions(folder: string): Promise<void> {
  const sources = { fuzzed_turn: turns, fuzzed_note: notes }
  for (const [identifier, source] of Object.entries(sources))
    await writeFile(await placeOf(folder, 'fuzzed', `blocks/${identifier}.js`), source)
  await writeFile(await placeOf(folder, 'broken', 'blocks/broken_x.js'), 'for (;;) {}')
  for (const name of ['fuzzed', 'broken']) {
    const permissions = { read: [kindsStorage], write: [kindsStorage] }
    const manifest = { name, version: '1.0.0', quoin: { extension: name, permissions } }
    await writeFile(join(folder, name, 'package.json'), JSON.stringify(manifest))
  }
}

async function placeOf(folder: string, extension: string, file: string): Promise<string> {
  const place = join(folder, extension, file)
  await mkdir(join(place, '..'), { recursive: true })
  return place
}

/** Also after someone who may has switched it off. */
export async function switchOnExtension({ ask }: Keeper): Promise<void> {
  const { body } = await ask('GET', '/_system/extensions')
  const fuzzed = recordsIn(body ?? []).find(({ name }) => name === 'fuzzed')
  const isOn = fuzzed !== undefined && recordsIn(fuzzed.stored).some(({ on }) => on === true)
  if (isOn) return
  const sent = { on: true, hash: textAt(fuzzed, 'found', 'hash') }
  const { status, text } = await ask('PUT', '/_system/extensions/fuzzed', sent)
  if (status >= 300) throw new Error(`The extension cannot be switched on: ${status} ${text}`)
}

const extensionBlueprint = {
  name: 'Of an extension',
  blocks: {
    turn: { type: 'on_startup_register_uri_post', in: { uri: 'fuzz-turned' }, scopes: ['*public'] },
    turned: { type: 'fuzzed_turn', in: { flow: '@turn.flow', value: '=body' } },
    turn_reply: { type: 'reply', in: { flow: '@turned.flow', value: '@turned.turned' } },

    note: { type: 'on_startup_register_uri_post', in: { uri: 'fuzz-noted' }, scopes: ['*public'] },
    noted: { type: 'fuzzed_note', in: { flow: '@note.flow', values: '=body' } },
    note_reply: { type: 'reply', in: { flow: '@noted.flow', value: '@noted.result' } },
  },
} satisfies JsonObject

/** As an application: `quoin import` knows Quoin's own blocks only. Gives the guid. */
export async function pushExtensionBlueprint({ manage }: Keeper): Promise<string> {
  const application = {
    ...{ about: { name: 'fuzzed', title: 'Fuzzed' }, blueprints: { extension: extensionBlueprint } },
    ...{ storages: {}, groups: {}, templates: {}, seed: {}, tests: {} },
  }
  const plan = await manage('POST', '/_system/applications/plan', { application })
  await manage('POST', '/_system/applications/push', { application, state: textAt(plan, 'state') })
  const found = await manage('POST', '/blueprints/search', { filters: { name: extensionBlueprint.name } })
  return textAt(found, 0, '_meta', 'guid')
}
