import type { Connections } from '../../records/connections/connections.ts'
import type { ExtensionVersions } from '../../records/extensions/extensions.ts'
import type { Secrets } from '../../records/secrets/secrets.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import type { CompiledEndpoint, CompiledFunction } from '../compile/frame.ts'
import { pageKey, routeKey } from '../compile/read-triggers.ts'

/** A blueprint that answers requests. */
export interface LiveBlueprint {
  readonly compiled: CompiledBlueprint
  readonly name: string
  readonly deployment: number
  /** With whose blocks it was compiled; none if not said. */
  readonly extensions?: ExtensionVersions
}

/** Everything that is active at one moment. Never changed, only replaced: a request keeps the table it began with. */
export interface LiveTable {
  readonly blueprints: ReadonlyMap<string, LiveBlueprint>
  readonly functions: ReadonlyMap<string, CompiledFunction>
  /** Raised by each replacement. */
  readonly version: number
}

export interface LiveBlueprints {
  table(): LiveTable
  /** Puts a blueprint in, or in place of its former self; undefined takes it out. Listeners are told before it returns. */
  set(guid: string, blueprint: LiveBlueprint | undefined): void
  /**
   * The same for many at once, with one table for all: of 1,000 one by one each would copy those before it. Where a
   * listener throws, everything is as it was.
   */
  setAll(changes: ReadonlyMap<string, LiveBlueprint | undefined>): void
  /** CONFLICT, naming the owner, if the blueprint would answer where another one does. */
  checkClaims(compiled: CompiledBlueprint): void
  /** With the present table; changes of either do not show in the other. */
  copy(): LiveBlueprints
  /** Called at each replacement, and once at once. Gives a function that ends it. */
  watch(listener: (table: LiveTable) => void): () => void
}

/** Names of the active blueprints that read or write a storage. */
export function usersOf(table: LiveTable, storage: string): readonly string[] {
  const users = [...table.blueprints.values()].filter(({ compiled }) => compiled.needs.has(storage))
  return users.map(({ name }) => name)
}

/** Both: first segments of paths that are Quoin's own, under `/api/v1` and for pages. A blueprint cannot have them. */
export function liveBlueprints(
  reservedRoots: ReadonlySet<string>,
  reservedPageRoots: ReadonlySet<string> = new Set(),
): LiveBlueprints {
  const active = activeBlueprints()
  let version = 0
  /** A copy, made when it is asked for: a release puts in each of 1,000 blueprints and asks for the table of few. */
  let table: LiveTable | undefined
  const listeners = new Set<(table: LiveTable) => void>()

  function tableNow(): LiveTable {
    table ??= { blueprints: new Map(active.blueprints), functions: new Map(active.functions), version }
    return table
  }

  function change(changes: ReadonlyMap<string, LiveBlueprint | undefined>): void {
    // All leave before one comes: an endpoint may move between them.
    for (const guid of changes.keys()) active.takeOut(guid)
    for (const [guid, live] of changes) if (live) active.putIn(guid, live)
    version += 1
    table = undefined
    for (const listener of listeners) listener(tableNow())
  }

  function setAll(changes: ReadonlyMap<string, LiveBlueprint | undefined>): void {
    if (changes.size === 0) return
    const former = listeners.size > 0 ? tableNow() : undefined
    try {
      change(changes)
    } catch (error) {
      const before = new Map<string, LiveBlueprint | undefined>(former?.blueprints)
      for (const guid of changes.keys()) before.set(guid, before.get(guid))
      change(before)
      throw error
    }
  }

  return {
    table: tableNow,
    set: (guid, blueprint) => setAll(new Map([[guid, blueprint]])),
    setAll,
    copy() {
      const copied = liveBlueprints(reservedRoots, reservedPageRoots)
      copied.setAll(active.blueprints)
      return copied
    },
    checkClaims(compiled) {
      refuseReserved(compiled, reservedRoots, reservedPageRoots)
      for (const { key } of claimsIn(compiled))
        for (const [guid, { text, name }] of active.owners(key))
          if (guid !== compiled.guid)
            throw new QuoinError('CONFLICT', `${text} belongs to the active blueprint "${name}" (${guid}).`)
    },
    watch(listener) {
      listeners.add(listener)
      listener(tableNow())
      return () => listeners.delete(listener)
    },
  }
}

interface Owner {
  /** Begins a message: `GET tasks`, `The page /tasks`. */
  readonly text: string
  readonly name: string
}

/** With an index of what only one can have. There is more than one owner only between two changes of another node. */
function activeBlueprints() {
  const blueprints = new Map<string, LiveBlueprint>()
  const functions = new Map<string, CompiledFunction>()
  const owners = new Map<string, Map<string, Owner>>()
  const ownersOf = (key: string): ReadonlyMap<string, Owner> => owners.get(key) ?? new Map()
  return {
    blueprints,
    functions,
    owners: ownersOf,
    putIn(guid: string, live: LiveBlueprint) {
      blueprints.set(guid, live)
      for (const [name, compiled] of live.compiled.functions) functions.set(name, compiled)
      for (const { key, text } of claimsIn(live.compiled))
        owners.set(key, new Map([...ownersOf(key), [guid, { text, name: live.name }]]))
    },
    takeOut(guid: string) {
      const former = blueprints.get(guid)
      if (!former) return
      blueprints.delete(guid)
      for (const { key } of claimsIn(former.compiled)) {
        const others = new Map([...ownersOf(key)].filter(([owner]) => owner !== guid))
        if (others.size > 0) owners.set(key, others)
        else owners.delete(key)
      }
      for (const [name, compiled] of former.compiled.functions) {
        if (functions.get(name) !== compiled) continue
        functions.delete(name)
        for (const other of ownersOf(functionKey(name)).keys()) {
          const left = blueprints.get(other)?.compiled.functions.get(name)
          if (left) functions.set(name, left)
        }
      }
    },
  }
}

/** Endpoints, pages, functions and tools, which only one active blueprint can have. */
function claimsIn({ endpoints, pages, functions }: CompiledBlueprint) {
  const offered = [...endpoints.map(({ listening }) => listening), ...functions.values()]
  return [
    ...endpoints.map(({ listening }) => ({
      key: routeKey(listening),
      text: `${listening.method} ${listening.uri}`,
    })),
    ...pages.map(({ listening: { uri } }) => ({ key: pageKey(uri), text: `The page /${uri}` })),
    ...[...functions.keys()].map((name) => ({ key: functionKey(name), text: `The function ${name}` })),
    ...offered.flatMap(({ tool }) =>
      tool === undefined ? [] : [{ key: `tool ${tool}`, text: `The tool ${tool}` }],
    ),
  ]
}

function functionKey(name: string): string {
  return `function ${name}`
}

function refuseReserved(
  { pages, endpoints }: CompiledBlueprint,
  reservedRoots: ReadonlySet<string>,
  reservedPageRoots: ReadonlySet<string>,
): void {
  for (const { listening } of pages) {
    const root = listening.uri.split('/')[0] ?? ''
    // Browsers and people take /Studio for /studio.
    if (reservedPageRoots.has(root.toLowerCase()))
      throw new QuoinError(
        'CONFLICT',
        `The page /${listening.uri} lies under /${root}, which is reserved for Quoin.`,
      )
  }
  for (const { listening } of endpoints) {
    const root = listening.uri.split('/')[0] ?? ''
    if (reservedRoots.has(root))
      throw new QuoinError(
        'CONFLICT',
        `The URI ${listening.uri} starts with ${root}, which is a path of Quoin itself.`,
      )
  }
}

/** A function or an endpoint of an active blueprint that agents get as a tool. */
export type OfferedTool = {
  readonly name: string
  readonly blueprint: string
  /** Any of them is enough. */
  readonly scopes: readonly string[]
} & ({ readonly endpoint: CompiledEndpoint } | { readonly function: CompiledFunction })

const known = new WeakMap<LiveTable, ReadonlyMap<string, OfferedTool>>()

/** By name, in the order of names. A table never changes, so its tools are looked for once. */
export function offeredTools(table: LiveTable): ReadonlyMap<string, OfferedTool> {
  const found = known.get(table)
  if (found) return found
  const all = [...table.blueprints.values()].flatMap(({ compiled }) => {
    const { guid: blueprint, endpoints, functions } = compiled
    const offered: OfferedTool[] = []
    for (const endpoint of endpoints) {
      const { tool: name } = endpoint.listening
      // A stream of events has no end that a tool could wait for.
      if (name !== undefined && !endpoint.subscribes)
        offered.push({ name, blueprint, scopes: endpoint.scopes, endpoint })
    }
    for (const one of functions.values())
      if (one.tool !== undefined)
        offered.push({ name: one.tool, blueprint, scopes: one.scopes, function: one })
    return offered
  })
  const byName = all.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const tools = new Map(byName.map((tool) => [tool.name, tool]))
  known.set(table, tools)
  return tools
}

type User = { readonly guid: string; readonly name: string }

/** The active blueprints with a block that names a secret, by the name of the secret. */
export function usersOfSecrets({ blueprints }: LiveTable): ReadonlyMap<string, readonly User[]> {
  const users = new Map<string, Map<string, User>>()
  for (const [guid, { compiled, name }] of blueprints)
    for (const secret of compiled.secrets) {
      const known = users.get(secret) ?? new Map<string, User>()
      users.set(secret, known.set(guid, { guid, name }))
    }
  return new Map([...users].map(([secret, found]) => [secret, [...found.values()]]))
}

/** The connections that send a secret, by its name. */
export function sendersOfSecrets({
  names,
  find,
}: Pick<Connections, 'names' | 'find'>): ReadonlyMap<string, readonly string[]> {
  const senders = new Map<string, string[]>()
  for (const name of [...names()].sort()) {
    const { auth } = find(name) ?? {}
    if (!auth || auth.kind === 'none') continue
    const known = senders.get(auth.secret) ?? []
    known.push(name)
    senders.set(auth.secret, known)
  }
  return senders
}

/** What an operator should know at the start, in one line: secrets that are sent and have no list of hosts. */
export function anywhereProblem(
  secrets: Pick<Secrets, 'goesAnywhere'>,
  connections: Pick<Connections, 'names' | 'find'>,
): string | undefined {
  const names = [...sendersOfSecrets(connections).keys()].filter((name) => secrets.goesAnywhere(name)).sort()
  if (names.length === 0) return undefined
  const more = names.length > 5 ? ` and ${names.length - 5} more` : ''
  return `Secrets without a list of hosts, which connections may send to any server: ${names.slice(0, 5).join(', ')}${more}. Name their hosts: quoin secret set <name> --host <host>`
}
