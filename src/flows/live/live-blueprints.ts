import { QuoinError } from '../../shared/errors.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import type { CompiledFunction } from '../compile/frame.ts'
import { pageKey, routeKey } from '../compile/read-triggers.ts'

/** A blueprint that answers requests. */
export interface LiveBlueprint {
  readonly compiled: CompiledBlueprint
  readonly name: string
  readonly deployment: number
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
  let table: LiveTable = { blueprints: new Map(), functions: new Map(), version: 0 }
  const listeners = new Set<(table: LiveTable) => void>()

  function replace(next: LiveTable): void {
    table = next
    for (const listener of listeners) listener(table)
  }

  function setAll(changes: ReadonlyMap<string, LiveBlueprint | undefined>): void {
    if (changes.size === 0) return
    const blueprints = new Map(table.blueprints)
    for (const [guid, blueprint] of changes) {
      blueprints.delete(guid)
      if (blueprint) blueprints.set(guid, blueprint)
    }
    const functions = new Map<string, CompiledFunction>()
    for (const live of blueprints.values()) {
      for (const [name, compiled] of live.compiled.functions) functions.set(name, compiled)
    }
    const former = table
    try {
      replace({ blueprints, functions, version: former.version + 1 })
    } catch (error) {
      replace({ ...former, version: former.version + 2 })
      throw error
    }
  }

  return {
    table: () => table,
    set: (guid, blueprint) => setAll(new Map([[guid, blueprint]])),
    setAll,
    copy() {
      const copied = liveBlueprints(reservedRoots, reservedPageRoots)
      copied.setAll(table.blueprints)
      return copied
    },
    checkClaims(compiled) {
      refuseReserved(compiled, reservedRoots, reservedPageRoots)
      for (const other of table.blueprints.values())
        if (other.compiled.guid !== compiled.guid) refuseTaken(compiled, other)
    },
    watch(listener) {
      listeners.add(listener)
      listener(table)
      return () => listeners.delete(listener)
    },
  }
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

/** Refuses an endpoint, a page, a function or a tool that another active blueprint has. */
function refuseTaken(compiled: CompiledBlueprint, other: LiveBlueprint): void {
  const belongs = `belongs to the active blueprint "${other.name}" (${other.compiled.guid}).`
  const routes = new Set(compiled.endpoints.map(({ listening }) => routeKey(listening)))
  const taken = other.compiled.endpoints.find(({ listening }) => routes.has(routeKey(listening)))
  if (taken) throw new QuoinError('CONFLICT', `${taken.listening.method} ${taken.listening.uri} ${belongs}`)
  const pages = new Set(compiled.pages.map(({ listening: { uri } }) => pageKey(uri)))
  const page = other.compiled.pages.find(({ listening }) => pages.has(pageKey(listening.uri)))
  if (page) throw new QuoinError('CONFLICT', `The page /${page.listening.uri} ${belongs}`)
  const name = [...other.compiled.functions.keys()].find((key) => compiled.functions.has(key))
  if (name !== undefined) throw new QuoinError('CONFLICT', `The function ${name} ${belongs}`)
  const tools = new Set(toolNames(compiled))
  const tool = toolNames(other.compiled).find((one) => tools.has(one))
  if (tool !== undefined) throw new QuoinError('CONFLICT', `The tool ${tool} ${belongs}`)
}

function toolNames({ endpoints, functions }: CompiledBlueprint): readonly string[] {
  return [...endpoints.map(({ listening }) => listening), ...functions.values()].flatMap(
    ({ tool }) => tool ?? [],
  )
}
