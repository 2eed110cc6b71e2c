import type { ImportedBlueprint } from '../shared/application/blueprint-file.ts'
import type { Block } from '../shared/blueprint.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { guidOf, type Management, recordsOf } from './management.ts'

/** As many as one request may hold. */
const EDITS = 2000

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
  for (let from = 0; from < edits.length; from += EDITS)
    await management.call('POST', `/blueprints/${guid}/edits`, { edits: edits.slice(from, from + EDITS) })
  await management.call('POST', `/blueprintactions/unsaved/${guid}`)
  const about = { name, description, category, tags: [...tags], notes: notes.map((note) => ({ ...note })) }
  await management.call('PUT', `/blueprints/${guid}`, about)
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
