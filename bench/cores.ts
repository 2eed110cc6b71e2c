import { spawnSync } from 'node:child_process'

/** Which core has the servers and which the load generator. */
export interface Cores {
  readonly server: number
  readonly load: number
  /** All that this process was allowed, these two included. */
  readonly all: readonly number[]
}

const EVERY_CORE = '0-1023'

/** Of a server: one, or several; undefined: every one. */
export type ServerCores = number | readonly number[] | undefined

/**
 * Puts this process, with all its threads, on one core and leaves another one to the servers. Undefined where that
 * cannot be done: no `taskset`, or only one core.
 */
export function takeCore(): Cores | undefined {
  const own = ownCores()
  if (own === undefined) return undefined
  const allowed = coresIn(own)
  const [server] = allowed
  // Cores with neighbouring numbers can be two threads of one.
  const load = allowed.at(-1)
  if (server === undefined || load === undefined || server === load) return undefined
  return moveTo(String(load)) ? { server, load, all: allowed } : undefined
}

/** Starts what may use every core: it would inherit the one that `takeCore` left to this process. */
export async function onAllCores<T>(start: () => Promise<T>): Promise<T> {
  const own = ownCores()
  if (own !== undefined) takeAllCores()
  try {
    return await start()
  } finally {
    if (own !== undefined) moveTo(own)
  }
}

/** Undoes `takeCore` where a browser or a database would wait for this process. */
export function takeAllCores(): void {
  moveTo(EVERY_CORE)
}

/** As `taskset` writes them; undefined if there is none. */
function ownCores(): string | undefined {
  const shown = spawnSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' })
  return shown.status === 0 ? shown.stdout.split(':').at(-1)?.trim() : undefined
}

/** With all threads. */
function moveTo(cores: string): boolean {
  return spawnSync('taskset', ['-acp', cores, String(process.pid)]).status === 0
}

/**
 * The command, on this core or these, and not on the one of this process if none is given. `taskset` becomes the command, so the
 * process id is the command's own.
 */
export function onCore(core: ServerCores, command: readonly string[]): readonly string[] {
  if (core !== undefined) return ['taskset', '-c', [core].flat().join(','), ...command]
  return ownCores() === undefined ? command : ['taskset', '-c', EVERY_CORE, ...command]
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
