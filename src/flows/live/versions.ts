/** Former deployments of a blueprint. Each that changed anything is kept, numbered from 1, with a copy of its blocks. */
import {
  type ExtensionCatalogue,
  type ExtensionVersions,
  readVersions,
} from '../../records/extensions/extensions.ts'
import { getRecord, type RecordContext } from '../../records/records.ts'
import type { Block } from '../../shared/blueprint.ts'
import { type Pause, pauses, runCooperatively } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { itemsInSteps, jsonItems, jsonMembers } from '../../shared/json-in-steps.ts'
import { lruCache } from '../../shared/lru-cache.ts'
import { type Search, search } from '../../shared/query.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { findCooperatively } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { type CompiledBlueprint, compileToRun } from '../compile/compile-blueprint.ts'
import type { CompiledFlow } from '../compile/frame.ts'
import type { LiveBlueprint, LiveBlueprints } from './live-blueprints.ts'

interface Version {
  readonly number: number
  /** Unix seconds. */
  readonly deployed: number
  readonly by: { readonly guid: string; readonly username: string }
  readonly blocks: readonly Block[]
  /** That its blocks are of. */
  readonly extensions: ExtensionVersions
}

/** One version with its blocks; NOT_FOUND if there is none of that number. */
export async function getVersion(context: RecordContext, guid: string, number: number): Promise<Version> {
  const session = context.database.session()
  await getRecord(session, systemStorages.blueprints, guid, 'blueprint')
  const query = {
    kind: 'and',
    queries: [
      { kind: 'term', field: 'blueprint_guid', value: guid },
      { kind: 'term', field: 'number', value: number },
    ],
  } as const
  const pause = pauses()
  const [record] = await findCooperatively(
    session,
    systemStorages.deployments,
    { query, limit: 1, sort: [] },
    pause,
  )
  if (!record) throw new QuoinError('NOT_FOUND', `The blueprint has no version ${number}.`)
  const blocks: Block[] = []
  for (const block of objectsIn(record.blocks)) {
    blocks.push({ guid: textIn(block.guid), ...context.readContent(block) })
    await pause()
  }
  return { ...stampOf(record), blocks, extensions: readVersions(record.extensions) }
}

function stampOf(record: JsonObject): Omit<Version, 'blocks' | 'extensions'> {
  const meta = isJsonObject(record._meta) ? record._meta : {}
  const by = isJsonObject(record.by) ? record.by : {}
  return {
    number: Number(record.number),
    deployed: Number(meta.created),
    by: { guid: textIn(by.guid), username: textIn(by.username) },
  }
}

export interface FormerVersions {
  /** A deployment of an active blueprint, compiled; the present one where the number is 0. NOT_FOUND if there is none. */
  compiled(live: LiveBlueprint, deployment: number): Promise<CompiledBlueprint>
  /** The number of the deployment that a flow is of, also when another one has taken its place since the run began. */
  deploymentOf(flow: CompiledFlow, blueprint: string): number | undefined
  close(): void
}

/** Blocks of all versions that are held: 5,000 blocks take about 10 MB. */
const MOST_BLOCKS = 5_000

export function formerVersions(
  context: RecordContext,
  extensions: Pick<ExtensionCatalogue, 'withVersions'>,
  live: LiveBlueprints,
): FormerVersions {
  const compiledBefore = lruCache<string, Promise<CompiledBlueprint>>(MOST_BLOCKS)
  const deployments = new WeakMap<CompiledFlow, number>()
  const seen = new WeakSet<CompiledBlueprint>()

  const unwatch = live.watch(({ blueprints }) => {
    for (const { compiled, deployment } of blueprints.values()) {
      if (seen.has(compiled)) continue
      seen.add(compiled)
      for (const flow of flowsOf(compiled)) if (flow.resumePoints) deployments.set(flow, deployment)
    }
  })

  async function compile(guid: string, number: number): Promise<CompiledBlueprint> {
    const { blocks, extensions: versions } = await getVersion(context, guid, number)
    return compileToRun(guid, blocks, await extensions.withVersions(versions))
  }

  return {
    async compiled({ compiled, deployment }, number) {
      if (number === 0 || number === deployment) return compiled
      const key = `${compiled.guid} ${number}`
      const known = compiledBefore.get(key)
      if (known) return known
      const compiling = compile(compiled.guid, number)
      compiling.catch(() => compiledBefore.delete(key))
      compiledBefore.set(key, compiling)
      const version = await compiling
      compiledBefore.set(key, compiling, Math.max(1, version.blocks.length))
      return version
    },
    deploymentOf: (flow, blueprint) =>
      deployments.get(flow) ?? live.table().blueprints.get(blueprint)?.deployment,
    close: unwatch,
  }
}

export interface VersionSummary extends Omit<Version, 'blocks' | 'extensions'> {
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
  const blueprint = await getRecord(session, systemStorages.blueprints, guid, 'blueprint')
  const pause = pauses()
  const versions: VersionSummary[] = []
  let limit = 1
  for (;;) {
    const found = await session.find(systemStorages.deployments, newest(guid, versions.at(-1)?.number, limit))
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
    if (key === 'blocks') blocks = await runCooperatively(itemsInSteps(text, value), pause)
    else rest[key] = JSON.parse(text.slice(value.from, value.to))
    await pause()
  }
  return { ...stampOf(rest), blocks }
}

/** The flows of all triggers of a blueprint. */
export function flowsOf(compiled: CompiledBlueprint): readonly CompiledFlow[] {
  const { endpoints, pages, functions, storageEvents, schedules, failureEvents } = compiled
  const events = [...storageEvents, ...schedules, ...failureEvents]
  return [...endpoints, ...pages, ...functions.values(), ...events].map(({ flow }) => flow)
}
