/**
 * Which storages were written to, by any node, for what is shown while it changes: pages and event streams.
 *
 * Each node tells the others twice a second at most which storages it has written to. The storages are not watched
 * (`changes.watch`): a write would then wait for every node, for the sake of a screen. So the news of another node comes
 * about a second late, and a write never waits for it.
 */
import type { LiveBlueprints } from '../../flows/live/live-blueprints.ts'
import { isPromise, type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import type { Cluster } from '../../storage/cluster.ts'
import type { Database } from '../../storage/database.ts'
import { systemStorages } from '../../storage/system-storages.ts'

const TELL_MS = 500
/** What nodes tell each other under; no storage has such a name. */
const TOPIC = 'page changes'

export interface ChangeFeed {
  /** Raised by this node's writes when they are committed, and by what other nodes tell of theirs. */
  version(storage: string): number
  /** The same of what users see of it: rules may lead to documents of other storages. */
  shownVersion(storage: string): number
  /** Raised on each node by a change of a rule, which may show other documents and fields. */
  ruleVersion(): number
  close(): void
}

/** `dependentOn`: the storages whose documents decide too which ones of a storage a user sees. */
export function openChangeFeed(
  database: Database,
  live: LiveBlueprints,
  dependentOn: (storage: string) => MaybePromise<readonly string[]>,
): ChangeFeed {
  const { changes, cluster } = database.capabilities
  /** Of the storages that are shown: the version that the other nodes know of. */
  const reported = new Map<string, number>()
  const elsewhere = new Map<string, number>()

  const dependent = new Map<string, readonly string[]>()

  const unwatchLive = live.watch(() => {
    for (const name of shownStorages(live)) if (!reported.has(name)) reported.set(name, changes.version(name))
  })

  /** As far as it is known without waiting: rules that are being read count at the next look. */
  function deciding(name: string): readonly string[] {
    const found = recover(
      () => dependentOn(name),
      () => dependent.get(name) ?? [],
    )
    if (!isPromise(found)) dependent.set(name, found)
    else void found.then((names) => dependent.set(name, names))
    return dependent.get(name) ?? []
  }
  const unwatch = changes.watch(TOPIC, (names) => {
    for (const name of names ?? reported.keys()) elsewhere.set(name, (elsewhere.get(name) ?? 0) + 1)
  })
  const timer = cluster && setInterval(() => tellOthers(cluster), TELL_MS).unref()

  /** What this node has written since it last told. */
  function tellOthers(others: Cluster): void {
    // Told once at first: it may have been written to between the rule and now.
    for (const name of [...reported.keys()])
      for (const one of deciding(name)) if (!reported.has(one)) reported.set(one, -1)
    const written: string[] = []
    for (const [name, version] of reported) {
      const now = changes.version(name)
      if (now === version) continue
      reported.set(name, now)
      written.push(name)
    }
    if (written.length === 0) return
    others.notify(TOPIC, written).catch(() => {
      for (const name of written) if (reported.has(name)) reported.set(name, -1)
    })
  }

  const version = (name: string) => changes.version(name) + (elsewhere.get(name) ?? 0)
  return {
    version,
    shownVersion: (name) => deciding(name).reduce((sum, one) => sum + version(one), version(name)),
    ruleVersion: () => changes.version(systemStorages.fields) + changes.version(systemStorages.storages),
    close() {
      unwatchLive()
      unwatch()
      clearInterval(timer)
    },
  }
}

/** The storages that active blueprints use which have pages, or endpoints whose reply can be followed. */
function* shownStorages(live: LiveBlueprints): Generator<string, void> {
  for (const { compiled } of live.table().blueprints.values())
    if (compiled.pages.length > 0 || compiled.endpoints.some(({ flow }) => flow.cacheable))
      yield* compiled.needs.keys()
}
