/** Blueprints by the dozen and by the hundred blocks, in the file format. */
import { readFile } from 'node:fs/promises'
import { renameNames } from '../../src/expressions/language/rename-names.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'

/**
 * A blueprint with so many blocks: copies of the tasks example under `bench/copy-<n>/…`, and for the rest values. One
 * endpoint more, `bench/version`, replies with the literal of the block `version`.
 */
export async function largeBlueprint(count: number): Promise<JsonObject> {
  const file: unknown = JSON.parse(
    await readFile(new URL('../../examples/tasks/blueprints/tasks.json', import.meta.url), 'utf8'),
  )
  const tasks = isJsonObject(file) && isJsonObject(file.blocks) ? file.blocks : {}
  const size = Object.keys(tasks).length
  const own: JsonObject = {
    on_version: { type: 'on_startup_register_uri_get', in: { uri: 'bench/version' }, scopes: ['*public'] },
    version: { type: 'number_default', in: { value: 0 } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@on_version.flow', value: '@version.number' } },
  }
  const blocks: Record<string, JsonValue> = { ...own }
  let copy = 0
  while (Object.keys(blocks).length + size <= count) Object.assign(blocks, copyOf(tasks, copy++))
  for (let rest = 0; Object.keys(blocks).length < count; rest++)
    blocks[`rest_${rest}`] = { type: 'value_default', in: { value: `${rest}` } }
  return { name: `Bench: ${count} blocks`, blocks }
}

/** The blocks under other names, with wires and expressions among themselves. */
function copyOf(blocks: JsonObject, copy: number): JsonObject {
  const ownName = (name: string) => (name in blocks ? `${name}_${copy}` : undefined)
  const renamed = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(renamed)
    if (typeof value !== 'string') return value
    if (value.startsWith('=')) return `=${renameNames(value.slice(1), ownName)}`
    return value.startsWith('@') ? value.replace('.', `_${copy}.`) : value
  }
  return Object.fromEntries(
    Object.entries(blocks).map(([id, block]) => {
      if (!isJsonObject(block) || !isJsonObject(block.in)) return [`${id}_${copy}`, block]
      const pins = Object.entries(block.in).map(([pin, value]) => [
        pin,
        pin === 'uri' ? `bench/copy-${copy}/${value}` : renamed(value),
      ])
      return [`${id}_${copy}`, { ...block, in: Object.fromEntries(pins) }]
    }),
  )
}

/** A small blueprint with two endpoints: a list and one document of the storage `tasks`. */
export function smallBlueprint(number: number): JsonObject {
  const uri = smallUri(number)
  return {
    name: `Bench: small ${number}`,
    blocks: {
      tasks: { type: 'storage', fields: { storage: 'tasks' } },
      list: { type: 'on_startup_register_uri_get', in: { uri }, scopes: ['*public'] },
      search: { type: 'function_search', in: { flow: '@list.flow', storage: '@tasks.storage' } },
      listed: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: '@search.documents' } },
      one: { type: 'on_startup_register_uri_get', in: { uri: `${uri}/{guid}` }, scopes: ['*public'] },
      guid: { type: 'httpconnection_get_params', in: { connection: '@one.connection', field: 'guid' } },
      get: {
        type: 'function_get_document',
        in: { flow: '@one.flow', storage: '@tasks.storage', guid: '@guid.value' },
      },
      found: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: '@get.document' } },
      missing: { type: 'httpconnection_set_json', in: { flow: '@get.not_found', code: 404 } },
    },
  }
}

export function smallUri(number: number): string {
  return `bench/small-${number}`
}
