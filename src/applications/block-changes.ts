/** What a release changes of a blueprint that is there: what is said of it, and its blocks, by their names. */
import type { importBlueprint } from '../flows/blueprints/blueprint-file.ts'
import type { BlockEdit } from '../shared/api/blueprints/blueprint-actions.ts'
import type { PartChange } from '../shared/application/application-changes.ts'
import { isJsonObject, type JsonObject, type JsonValue, memberOf, sameJson } from '../shared/json.ts'
import { guidOf, textIn } from '../storage/document-fields.ts'
import type { PresentBlueprint } from './present-application.ts'

export function changesAbout(before: JsonObject, after: JsonObject): boolean {
  const names = ['name', 'description', 'category', 'tags', 'notes']
  return names.some((name) => !sameJson(before[name] ?? null, after[name] ?? null))
}

interface Rewritten {
  readonly file: JsonObject
  readonly before: JsonObject
  readonly known: Pick<PresentBlueprint, 'blockRecords'> | undefined
  /** Of the plan. */
  readonly changes: readonly PartChange[]
}

/**
 * Blocks of the same name, and those that the plan calls renamed, keep their guids: runs that wait and records of runs have them.
 * Blocks that are the same are left alone. What is staged gives way.
 */
export function blockEdits(
  { file, before, known, changes }: Rewritten,
  blocks: ReturnType<typeof importBlueprint>['blocks'],
): BlockEdit[] {
  const all = known?.blockRecords ?? []
  // The saved names, which the plan compares: what is only staged may have taken one that is free since.
  const [saved, staged] = [true, false].map((is) => all.filter((one) => (one.is_created === true) === is))
  const records = new Map([...(staged ?? []), ...(saved ?? [])].map((one) => [textIn(one.name), one]))
  const former = formerNames(changes)
  const recordOf = (name: string) => records.get(former.get(name) ?? name)
  const guids = new Map(
    blocks.map(({ guid, name = '' }) => {
      const record = recordOf(name)
      return [guid, record ? guidOf(record) : guid]
    }),
  )
  const remaining = new Set(guids.values())
  const removed = all.filter((record) => !remaining.has(guidOf(record)))
  const edits = blocks.flatMap(({ guid, ...content }): BlockEdit[] => {
    const name = content.name ?? ''
    const record = recordOf(name)
    const position = hasPlace(file, name) ? content.position : (placeOf(record) ?? content.position)
    if (record && record.unsaved === null && isSame(file, before, name)) return []
    const in_pins = content.in_pins.map(({ from, ...pin }) => ({
      ...pin,
      ...(from && {
        from: from.map(({ block, pin: out }) => ({ block: guids.get(block) ?? block, pin: out })),
      }),
    }))
    return [
      {
        guid: guids.get(guid) ?? guid,
        update_hash: hashOf(record),
        content: { ...content, position, in_pins },
      },
    ]
  })
  return [
    ...removed.map((record) => ({ guid: guidOf(record), update_hash: hashOf(record), content: null })),
    ...edits,
  ]
}

/** By the present ones. */
function formerNames(changes: readonly PartChange[]): ReadonlyMap<string, string> {
  return new Map(
    changes.flatMap(({ kind, name, was }) => (kind === 'block' && was !== undefined ? [[name, was]] : [])),
  )
}

function partIn(file: JsonObject, map: 'blocks' | 'layout', name: string): JsonValue | undefined {
  const parts = file[map]
  return isJsonObject(parts) ? memberOf(parts, name) : undefined
}

function hasPlace(file: JsonObject, name: string): boolean {
  return partIn(file, 'layout', name) !== undefined
}

function isSame(file: JsonObject, before: JsonObject, name: string): boolean {
  if (!sameJson(partIn(file, 'blocks', name), partIn(before, 'blocks', name))) return false
  return !hasPlace(file, name) || sameJson(partIn(file, 'layout', name), partIn(before, 'layout', name))
}

function placeOf(record: JsonObject | undefined) {
  const position = record?.position
  return isJsonObject(position) ? { x: Number(position.x), y: Number(position.y) } : undefined
}

function hashOf(record: JsonObject | undefined): string | null {
  const meta = record?._meta
  return isJsonObject(meta) ? textIn(meta.update_hash) : null
}
