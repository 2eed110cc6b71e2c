/** The load of wrk (https://github.com/wg/wrk), a generator that is not ours, where it is installed. It takes the same requests from a file. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Latencies } from '../latencies.ts'
import type { Load, LoadResult } from '../load.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('requests.lua', import.meta.url))

/** More than a server answers in a second here: an address that is new each time does not come twice. */
const REQUESTS_PER_SECOND = 50_000

/** undefined where it is not installed. */
export function wrkVersion(): string | undefined {
  const { stdout } = spawnSync('wrk', ['-v'], { encoding: 'utf8' })
  return /^wrk \D*([\d.]+)/.exec(stdout ?? '')?.[1]
}

/**
 * It measures whole seconds, from the first request on. Of the status of a reply it tells only whether it was 2xx or 3xx, and it counts
 * requests that only go along too.
 */
export async function runWrk({ port, connections, next, seconds = 1 }: Load): Promise<LoadResult> {
  const whole = Math.ceil(seconds)
  const folder = await mkdtemp(join(tmpdir(), 'quoin-bench-wrk-'))
  try {
    const file = join(folder, 'requests')
    await writeFile(file, requestsOf(next, whole * REQUESTS_PER_SECOND))
    const words = ['-t', '1', '-c', String(connections), '-d', `${whole}s`, '--timeout', '10s', '-s', script]
    const { stdout } = await run('wrk', [...words, `http://127.0.0.1:${port}`, '--', file])
    return resultOf(stdout)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function requestsOf(next: Load['next'], most: number): Buffer {
  const parts: Buffer[] = []
  const end = Buffer.alloc(1)
  for (let number = 0; number < most; number++) {
    const one = next()
    if (one === undefined) break
    parts.push(one.bytes, end)
  }
  return Buffer.concat(parts)
}

export function resultOf(printed: string): LoadResult {
  const line = /^RESULT (.+)$/m.exec(printed)?.[1]
  if (line === undefined) throw new Error(`wrk gave no result. It printed:\n${printed}`)
  const [replies = 0, duration = Number.NaN, ...rest] = line.split(' ').map(Number)
  const errors = rest.slice(0, ERRORS.length)
  const latencies = new Latencies()
  for (const microseconds of rest.slice(ERRORS.length)) latencies.note(microseconds / 1000)
  const first = ERRORS.find((_, place) => (errors[place] ?? 0) > 0)
  return {
    replies,
    rate: replies / (duration / 1e6),
    latencies,
    errors: errors.reduce((sum, count) => sum + count, 0),
    firstError: first,
    busy: Number.NaN,
  }
}

/** In the order of the script. */
const ERRORS = [
  'a connection was refused',
  'a reply could not be read',
  'a request could not be written',
  'a reply took more than 10 seconds',
  'a reply was neither 2xx nor 3xx',
]
