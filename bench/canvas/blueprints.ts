/** Six blueprints of 12 to 133 blocks, as they are drawn: the examples, and all pages of the CRM as one. */
import { readFile } from 'node:fs/promises'
import { renameNames } from '../../src/expressions/language/rename-names.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'

const files: Readonly<Record<string, readonly string[]>> = {
  Webhooks: ['webhooks'],
  Tasks: ['tasks'],
  Inventory: ['inventory'],
  Booking: ['booking'],
  'CRM customers': ['crm/customers'],
  'CRM as one': ['crm/customers', 'crm/deals', 'crm/jobs'],
}

/** Without places. */
export async function canvasBlueprints(): Promise<JsonObject[]> {
  return Promise.all(
    Object.entries(files).map(async ([name, parts]) => {
      const read = await Promise.all(parts.map(blocksOf))
      const blocks = read.flatMap((one, part) => Object.entries(parts.length > 1 ? prefixed(one, part) : one))
      return { name, blocks: Object.fromEntries(blocks) }
    }),
  )
}

async function blocksOf(part: string): Promise<JsonObject> {
  const [folder, name = folder] = part.split('/')
  const path = new URL(`../../examples/${folder}/blueprints/${name}.json`, import.meta.url)
  const file: unknown = JSON.parse(await readFile(path, 'utf8'))
  return isJsonObject(file) && isJsonObject(file.blocks) ? file.blocks : {}
}

function prefixed(blocks: JsonObject, part: number): JsonObject {
  const own = (name: string) => (name in blocks ? `p${part}_${name}` : undefined)
  const renamed = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(renamed)
    if (typeof value !== 'string') return value
    if (value.startsWith('=')) return `=${renameNames(value.slice(1), own)}`
    return value.startsWith('@') ? `@p${part}_${value.slice(1)}` : value
  }
  return Object.fromEntries(
    Object.entries(blocks).map(([id, block]) => {
      if (!isJsonObject(block) || !isJsonObject(block.in)) return [`p${part}_${id}`, block]
      const pins = Object.entries(block.in).map(([pin, value]) => [pin, renamed(value)])
      return [`p${part}_${id}`, { ...block, in: Object.fromEntries(pins) }]
    }),
  )
}
