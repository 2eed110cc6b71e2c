import { spawnSync } from 'node:child_process'

/** Which core has the servers and which the load generator. */
export interface Cores {
  readonly server: number
  readonly load: number
  /** All that this process was allowed, these two included. */
  readonly all: readonly number[]
}

/** Of a server: one, or several. */
export type ServerCores = number | readonly number[] | undefined

/**
 * Puts this process, with all its threads, on one core and leaves another one to the servers. Undefined where that
 * cannot be done: no `taskset`, or only one core.
 */
export function takeCore(): Cores | undefined {
  const shown = spawnSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' })
  if (shown.status !== 0) return undefined
  const allowed = coresIn(shown.stdout.split(':').at(-1) ?? '')
  const [server] = allowed
  // Cores with neighbouring numbers can be two threads of one.
  const load = allowed.at(-1)
  if (server === undefined || load === undefined || server === load) return undefined
  const set = spawnSync('taskset', ['-acp', String(load), String(process.pid)])
  return set.status === 0 ? { server, load, all: allowed } : undefined
}

/** The command, on this core or these. `taskset` becomes the command, so the process id is the command's own. */
export function onCore(core: ServerCores, command: readonly string[]): readonly string[] {
  return core === undefined ? command : ['taskset', '-c', [core].flat().join(','), ...command]
}

/** "0-2,5" as 0, 1, 2, 5. */
function coresIn(list: string): number[] {
  return list
    .trim()
    .split(',')
    .flatMap((part) => {
      const [first = Number.NaN, last = first] = part.split('-').map(Number)
      if (Number.isNaN(first)) return []
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    })
}
