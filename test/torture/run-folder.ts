/**
 * The folder in which everything of one run lies: what the parts store goes there because it is the run's folder for
 * temporary files, and what they start is known by naming it (a data folder, an environment). So a run that is interrupted
 * leaves no process, no mounted file system and no file, whatever the part was doing.
 */
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

/** Until what was asked to end is ended with SIGKILL. */
const POLITE_MS = 3_000
const LOOK_MS = 25
const run = promisify(execFile)

export interface RunFolder {
  readonly path: string
  /** Ends the processes, unmounts the file systems and removes the files of the run. Gives how many processes it ended. */
  clear(): Promise<number>
}

/** `enter`: told the path, to make it the place of temporary files before a part asks for one. */
export function openRunFolder(enter: (path: string) => void): RunFolder {
  const path = mkdtempSync(join(tmpdir(), 'quoin-run-'))
  // PostgreSQL runs as another user where the tests run as root.
  chmodSync(path, 0o711)
  enter(path)
  return {
    path,
    async clear() {
      const ended = await endProcesses(path)
      for (const place of mountsIn(path)) await run('umount', ['--lazy', place])
      rmSync(path, { recursive: true, force: true })
      return ended
    },
  }
}

async function endProcesses(path: string): Promise<number> {
  const began = performance.now()
  const asked = new Set<number>()
  for (;;) {
    const found = processesNaming(path)
    if (found.length === 0) return asked.size
    const late = performance.now() - began > POLITE_MS
    for (const pid of found) {
      if (late) signalTo(pid, 'SIGKILL')
      else if (!asked.has(pid)) signalTo(pid, 'SIGTERM')
      asked.add(pid)
    }
    await wait(LOOK_MS)
  }
}

/** Other processes that have the folder in their environment or work in it. Empty where there is no /proc. */
export function processesNaming(path: string): number[] {
  return entriesOf('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && names(pid, path))
}

function names(pid: number, path: string): boolean {
  try {
    if (readFileSync(`/proc/${pid}/environ`, 'latin1').includes(path)) return true
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(path)
  } catch {
    // It has ended meanwhile, or belongs to another user.
    return false
  }
}

export function mountsIn(path: string): string[] {
  try {
    const places = readFileSync('/proc/mounts', 'utf8').split('\n')
    return places.map((line) => line.split(' ')[1] ?? '').filter((place) => place.startsWith(path))
  } catch {
    return []
  }
}

function entriesOf(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Ended by itself meanwhile.
  }
}
