/**
 * The spaces of a cluster, in the database of its operator: which hosts are theirs, and where each is open. What is in a space is not here:
 * it has a database of its own.
 *
 *   creating → active ⇄ suspended
 *   creating, active, suspended → removing → gone
 *
 * A node that opens a space adds itself to `nodes` and sets `wakes_at` to 0. The last one that closes it leaves the time at which work is
 * due that no request asks for. So a space that a lost node had open is due at once.
 */
import { type SpaceQuotas, type SpaceState, spaceStates } from '../shared/api/operate/spaces.ts'
import { invalidField, QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import type { Database } from '../storage/database.ts'
import { guidOf, numberIn, textIn, textsIn } from '../storage/document-fields.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { openNamedRecords } from './named-records.ts'
import { type Actor, SYSTEM } from './records.ts'

/** Of one cluster: every node keeps all of them in memory, at 2 kB each. */
const MAX_SPACES = 10_000
/** Of them: each is a database of something that ends in some hours. */
const MAX_PREVIEWS = 20

/** The user of changes that no user asked for, as in the audit log. */

/** What one with an end is for. It has no hosts: it is reached below `/~name/` of the cluster. */
export interface Preview {
  readonly application: string
  /** Unix seconds: it is removed then. */
  readonly until: number
  /** Whether it may call other servers and send mails. */
  readonly outside: boolean
  readonly by: Actor
}

export interface Space {
  readonly guid: string
  readonly name: string
  readonly title: string
  readonly hosts: readonly string[]
  readonly state: SpaceState
  readonly quotas: SpaceQuotas
  /** Guids of the nodes that have it open. */
  readonly nodes: readonly string[]
  /** Unix seconds; 0: at once, if no node has it open. */
  readonly wakesAt: number
  /** Where it is one. */
  readonly preview?: Preview
}

/** Of a preview, as a record: no other space can have a name that begins so. */
export const PREVIEW_MARK = '~'

export interface NewSpace {
  readonly name: string
  readonly title?: string
  readonly hosts: readonly string[]
  readonly quotas?: Partial<SpaceQuotas>
  readonly preview?: Preview
}

/** What is present of them, the same object until something changes. */
export interface SpaceTable {
  readonly ofHost: ReadonlyMap<string, Space>
  readonly ofGuid: ReadonlyMap<string, Space>
  /** Previews, by the first segment of their paths. */
  readonly ofPath: ReadonlyMap<string, Space>
}

export interface SpaceDirectory {
  present(): SpaceTable
  /** In the state `creating`, by this node. CONFLICT for a name or host that is taken. */
  create(input: NewSpace, node: string, by: Actor): Promise<JsonObject>
  get(guid: string): Promise<JsonObject>
  update(guid: string, changes: SpaceChanges, by: Actor): Promise<JsonObject>
  noteOpened(guid: string, node: string): Promise<void>
  /** `wakesAt` counts if no other node has it open. */
  noteClosed(guid: string, node: string, wakesAt: number): Promise<void>
  /** Nodes that are lost have no space open any more. */
  forgetNodes(isLive: (node: string) => boolean): Promise<void>
  /** Does nothing for one that another node has removed meanwhile. */
  remove(guid: string, by: Actor): Promise<void>
  /** Called behind each change, also of another node. Gives what ends it. */
  watch(listener: () => void): () => void
  close(): void
}

type SpaceChanges = Partial<Pick<Space, 'title' | 'hosts' | 'state'>> & Pick<NewSpace, 'quotas' | 'preview'>

/** 0: no limit. */
const UNLIMITED: SpaceQuotas = { documents: 0, bytes: 0, runs_a_minute: 0, jobs: 0 }

/** `isReserved`: hosts that no space may have. */
export async function openSpaceDirectory(
  database: Database,
  isReserved: (host: string) => boolean,
): Promise<SpaceDirectory> {
  const listeners = new Set<() => void>()
  const tableOf = spaceTables()
  let table = tableOf(new Map())
  const records = await openNamedRecords(database, {
    storage: systemStorages.spaces,
    noun: 'space',
    most: MAX_SPACES,
    changed(present) {
      table = tableOf(present)
      for (const listener of listeners) listener()
    },
  })
  // What the table shows within the lock is what all nodes have written; and of two nodes that write a record none overwrites the other.
  const alone = <T>(work: () => Promise<T>) => database.capabilities.withClusterLock('spaces', work)
  const note = (guid: string, changes: (record: JsonObject) => JsonObject) =>
    alone(async () => void (await records.update(guid, changes, SYSTEM)))
  const checkHosts = (hosts: readonly string[], own?: string) => checkFree(hosts, table, isReserved, own)

  return {
    present: () => table,
    create: ({ name, title = '', ...lists }, node, by) =>
      alone(async () => {
        checkHosts(lists.hosts)
        if (lists.preview) checkRoom(table)
        const fields = { name, title, ...listsOf({ quotas: {}, ...lists }) }
        return records.create({ ...fields, state: 'creating', nodes: [node], wakes_at: 0 }, by)
      }),
    get: records.get,
    update: (guid, changes, by) =>
      alone(async () => {
        if (changes.hosts) checkHosts(changes.hosts, guid)
        const { preview: _, ...texts } = changes
        const fields = { ...texts, ...listsOf(changes) }
        return records.update(guid, (record) => allowed(spaceOf(record), fields), by)
      }),
    noteOpened: (guid, node) =>
      note(guid, (record) => ({ nodes: [...othersIn(record, node), node], wakes_at: 0 })),
    noteClosed: async (guid, node, wakesAt) => {
      if (table.ofGuid.has(guid)) await note(guid, (record) => closedBy(record, node, wakesAt))
    },
    async forgetNodes(isLive) {
      const live = (record: JsonObject) => ({ nodes: spaceOf(record).nodes.filter(isLive) })
      for (const { guid, nodes } of table.ofGuid.values()) if (!nodes.every(isLive)) await note(guid, live)
    },
    remove: (guid, by) =>
      alone(async () => {
        if (table.ofGuid.has(guid)) await records.remove(guid, by)
      }),
    watch(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: records.close,
  }
}

/** Asked within the lock: of two that are made at once the second one finds the first. */
function checkRoom({ ofPath }: SpaceTable): void {
  if (ofPath.size >= MAX_PREVIEWS)
    throw new QuoinError('CONFLICT', `A cluster has at most ${MAX_PREVIEWS} previews. Remove one first.`)
}

/** `own`: the space that may have them already. */
function checkFree(
  hosts: readonly string[],
  { ofHost }: SpaceTable,
  isReserved: (host: string) => boolean,
  own: string | undefined,
): void {
  const reserved = hosts.find(isReserved)
  if (reserved !== undefined)
    throw invalidField('hosts', `hosts must not hold ${reserved}: the cluster itself is reached by it.`)
  const taken = hosts.map((host) => ofHost.get(host)).find((space) => space && space.guid !== own)
  if (taken) throw new QuoinError('CONFLICT', `A host of the list is taken by the space ${taken.name}.`)
}

/** Reads each record once. */
function spaceTables(): (present: ReadonlyMap<string, JsonObject>) => SpaceTable {
  const read = new WeakMap<JsonObject, Space>()
  const spaceIn = (record: JsonObject) => {
    const space = read.get(record) ?? spaceOf(record)
    read.set(record, space)
    return space
  }
  return (present) => {
    const all = [...present.values()].map(spaceIn)
    return {
      ofHost: new Map(all.flatMap((space) => space.hosts.map((host) => [host, space]))),
      ofGuid: new Map(all.map((space) => [space.guid, space])),
      ofPath: new Map(all.flatMap((space) => (space.preview ? [[space.name, space]] : []))),
    }
  }
}

function othersIn(record: JsonObject, node: string): readonly string[] {
  return spaceOf(record).nodes.filter((one) => one !== node)
}

function closedBy(record: JsonObject, node: string, wakesAt: number): JsonObject {
  const nodes = othersIn(record, node)
  return { nodes, wakes_at: nodes.length === 0 ? wakesAt : 0 }
}

/** A space that is being removed stays so. */
function allowed<T extends { readonly state?: SpaceState }>({ state, name }: Space, changes: T): T {
  if (state === 'removing' && changes.state !== 'removing')
    throw new QuoinError('CONFLICT', `The space ${name} is being removed.`)
  return changes
}

function spaceOf(record: JsonObject): Space {
  const state = spaceStates.find((one) => one === record.state) ?? 'suspended'
  return {
    guid: guidOf(record),
    name: textIn(record.name),
    title: textIn(record.title),
    hosts: textsIn(record.hosts),
    state,
    quotas: quotasIn(record.quotas),
    nodes: textsIn(record.nodes),
    wakesAt: numberIn(record.wakes_at),
    ...previewIn(record.preview),
  }
}

/** What is no text, as a record has it. */
function listsOf({
  hosts,
  quotas,
  preview,
}: Partial<Pick<NewSpace, 'hosts' | 'quotas' | 'preview'>>): JsonObject {
  return {
    ...(hosts && { hosts: [...hosts] }),
    ...(quotas && { quotas: { ...UNLIMITED, ...quotas } }),
    ...(preview && { preview: previewRecord(preview) }),
  }
}

function previewRecord({ by, ...preview }: Preview): JsonObject {
  return { ...preview, by: { ...by } }
}

function previewIn(value: JsonValue | undefined): Pick<Space, 'preview'> {
  if (!isJsonObject(value)) return {}
  const { application, until, outside, by } = value
  const { guid, username } = isJsonObject(by) ? by : {}
  return {
    preview: {
      application: textIn(application),
      until: numberIn(until),
      outside: outside === true,
      by: { guid: textIn(guid), username: textIn(username) },
    },
  }
}

function quotasIn(value: JsonValue | undefined): SpaceQuotas {
  const { documents, bytes, runs_a_minute, jobs } = isJsonObject(value) ? value : {}
  return {
    documents: numberIn(documents),
    bytes: numberIn(bytes),
    runs_a_minute: numberIn(runs_a_minute),
    jobs: numberIn(jobs),
  }
}
