import { getRecord, type RecordContext } from '../../records/records.ts'
import { inTurns, type Pause, pauses } from '../../shared/in-turns.ts'
import type { JsonValue } from '../../shared/json.ts'
import { itemsInSteps, jsonItems, jsonMembers } from '../../shared/json-in-steps.ts'
import { type Search, search } from '../../shared/query.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { stampOf, type Version } from './versions.ts'

export interface VersionSummary extends Omit<Version, 'blocks'> {
  readonly blocks: number
  /** Whether it is the deployed one. */
  readonly live: boolean
}

/** The newest so many, the newest first. */
const LISTED = 100
/** Characters of versions that are read in one search, once their size is known: a version of 500 blocks has 200,000. */
const READ_AT_ONCE = 1_000_000

/**
 * The blocks of a version are counted and not parsed, and few versions are read at a time: 100 versions of 500 blocks are 20 MB,
 * which held the event loop for some tenths of a second.
 */
export async function listVersions(context: RecordContext, guid: string): Promise<VersionSummary[]> {
  const session = context.database.session()
  const blueprint = await getRecord(session, ownStorages.blueprints, guid, 'blueprint')
  const pause = pauses()
  const versions: VersionSummary[] = []
  let limit = 1
  for (;;) {
    const found = await session.find(ownStorages.deployments, newest(guid, versions.at(-1)?.number, limit))
    for (const text of jsonItems(found.documents.text)) {
      const version = await summaryOf(text, pause)
      versions.push({ ...version, live: version.number === blueprint.version })
    }
    if (found.length < limit || versions.length === LISTED) return versions
    const size = found.documents.text.length / found.length
    limit = Math.min(LISTED - versions.length, Math.max(1, Math.floor(READ_AT_ONCE / size)))
  }
}

function newest(guid: string, before: number | undefined, limit: number): Search {
  const ofBlueprint = { kind: 'term', field: 'blueprint_guid', value: guid } as const
  const older = { kind: 'range', field: 'number', bounds: { lt: before ?? Number.MAX_SAFE_INTEGER } } as const
  return search({
    query: { kind: 'and', queries: [ofBlueprint, older] },
    sort: [{ field: 'number', order: 'desc', missing: 'last' }],
    limit,
  })
}

async function summaryOf(text: string, pause: Pause): Promise<Omit<VersionSummary, 'live'>> {
  let blocks = 0
  const rest: Record<string, JsonValue> = {}
  for (const { key, value } of jsonMembers(text)) {
    if (key === 'blocks') blocks = await inTurns(itemsInSteps(text, value), pause)
    else rest[key] = JSON.parse(text.slice(value.from, value.to))
    await pause()
  }
  return { ...stampOf(rest), blocks }
}
