import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonObject, JsonValue } from '../shared/json.ts'

export interface Reply {
  readonly status: number
  readonly body: JsonValue
}

const program = fileURLToPath(new URL('../../bin/quoin.mjs', import.meta.url))
/** A suite that takes longer is for a build pipeline. */
const LONGEST_MS = 60_000
const MOST_OUTPUT = 4 * 1024 * 1024
/** Of this process: each takes a processor and 150 MB while it runs. */
const AT_ONCE = 1

let running = 0

/**
 * Runs `quoin test` over these files in a process of its own, without the environment of this one: its flows see no secret of the
 * cluster, and hold no request up.
 */
export async function testFiles(files: JsonObject): Promise<Reply> {
  if (running >= AT_ONCE)
    return { status: 429, body: { message: 'Tests of another draft are running. Retry in a minute.' } }
  running += 1
  const folder = await mkdtemp(join(tmpdir(), 'quoin-agent-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(folder, dirname(path)), { recursive: true })
      await writeFile(join(folder, path), String(text))
    }
    return await tested(folder)
  } finally {
    running -= 1
    await rm(folder, { recursive: true, force: true })
  }
}

function tested(folder: string): Promise<Reply> {
  const settings = {
    cwd: folder,
    env: {},
    timeout: LONGEST_MS,
    maxBuffer: MOST_OUTPUT,
    killSignal: 'SIGKILL',
  } as const
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, 'test', '.', '--reporter', 'json'],
      settings,
      (error, output, complaints) => {
        const results = parsed(output)
        if (results !== undefined) return resolve({ status: 200, body: { passed: error === null, results } })
        const ended =
          error?.killed === true ? `The tests did not end within ${LONGEST_MS / 1000} s.` : complaints
        resolve({ status: 422, body: { message: ended.slice(0, 10_000) } })
      },
    )
  })
}

function parsed(output: string): JsonValue | undefined {
  try {
    return JSON.parse(output)
  } catch {
    return undefined
  }
}
