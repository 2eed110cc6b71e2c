import type { ImportedBlueprint } from '../shared/application/blueprint-file.ts'
import type { Block } from '../shared/blueprint.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { guidOf, type Management, recordsOf } from './management.ts'

/** In one request. It may hold 2,000, and 1 MiB unless QUOIN_BODY_LIMIT says otherwise. */
const EDITS = 500
const BYTES = 512 * 1024

/**
 * Makes an existing blueprint what a file says, and saves it: blocks of the same name keep their guids, so that versions,
 * runs and logs still speak of the same blocks; the others are added or removed.
 */
export async function replaceBlueprint(
  management: Management,
  guid: string,
  imported: ImportedBlueprint,
): Promise<void> {
  const { name, description, category, tags, notes } = imported
  const known = recordsOf(await management.call('GET', `/blueprints/${guid}/blocks`))
  const edits = editsFor(known, imported.blocks)
  await saveEdits(management, guid, edits)
  const about = { name, description, category, tags: [...tags], notes: notes.map((note) => ({ ...note })) }
  await management.call('PUT', `/blueprints/${guid}`, about)
}

/** Makes the blocks of a file in a blueprint that has none, and saves them. */
export const makeBlocks = (management: Management, guid: string, blocks: readonly Block[]): Promise<void> =>
  saveEdits(management, guid, editsFor([], blocks))

async function saveEdits(management: Management, guid: string, edits: readonly JsonObject[]): Promise<void> {
  let batch: JsonObject[] = []
  let bytes = 0
  const stage = async () => {
    if (batch.length > 0) await management.call('POST', `/blueprints/${guid}/edits`, { edits: batch })
    batch = []
    bytes = 0
  }
  for (const edit of edits) {
    const size = Buffer.byteLength(JSON.stringify(edit))
    if (batch.length === EDITS || bytes + size > BYTES) await stage()
    batch.push(edit)
    bytes += size
  }
  await stage()
  await management.call('POST', `/blueprintactions/unsaved/${guid}`)
}

function editsFor(known: readonly JsonObject[], blocks: readonly Block[]): JsonObject[] {
  const records = new Map(known.map((record) => [nameOf(record), record]))
  const guids = new Map(
    blocks.map(({ guid, name = '' }) => {
      const record = records.get(name)
      return [guid, record ? guidOf(record) : guid]
    }),
  )
  const kept = new Set(guids.values())
  const removed = known.filter((record) => !kept.has(guidOf(record)))
  const edited = blocks.map(({ guid, ...content }): JsonObject => {
    const record = records.get(content.name ?? '')
    const in_pins = content.in_pins.map(({ from, ...pin }) => ({
      ...pin,
      ...(from && { from: from.map((end) => ({ pin: end.pin, block: guids.get(end.block) ?? end.block })) }),
    }))
    const given: JsonValue = JSON.parse(JSON.stringify({ ...content, in_pins }))
    return { guid: guids.get(guid) ?? guid, update_hash: hashOf(record), content: given }
  })
  return [
    ...removed.map((record) => ({ guid: guidOf(record), update_hash: hashOf(record), content: null })),
    ...edited,
  ]
}

/** What it is called with everything that is staged. */
function nameOf({ name, unsaved }: JsonObject): string {
  const staged = isJsonObject(unsaved) ? unsaved.name : undefined
  return String(staged ?? name)
}

function hashOf(record: JsonObject | undefined): string | null {
  const meta = record?._meta
  return isJsonObject(meta) ? String(meta.update_hash) : null
}
