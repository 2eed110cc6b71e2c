/** Which files of `src` a piece of work executes: V8's precise coverage, which counts calls since it was last taken. */
import { Session } from 'node:inspector/promises'
import { join, relative } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const source = join(import.meta.dirname, '../../src')

/** Longer than batched logs wait: what one time has left to do is not counted with the next. */
const QUIET_MS = 300

interface Repeated {
  /** How often the work is done. */
  readonly times?: number
  /** It is done up to four times as often while more files than this are executed each time: on a busy machine timers fall into many. */
  readonly expected: number
  /** Done before each time, and not counted. */
  readonly before?: () => Promise<void>
}

export interface FileCounter {
  /** Sorted paths below `src` that are executed each time: a timer, such as the queue's, may fall into one of them. */
  during(work: () => Promise<void>, repeated: Repeated): Promise<readonly string[]>
  close(): void
}

export async function openFileCounter(): Promise<FileCounter> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

  async function taken(): Promise<readonly string[]> {
    const { result } = await session.post('Profiler.takePreciseCoverage')
    return result
      .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
      .filter(({ url }) => url.startsWith('file:'))
      .map(({ url }) => relative(source, fileURLToPath(url)))
      .filter((file) => !file.startsWith('..'))
      .sort()
  }

  return {
    async during(work, { times = 5, expected, before }) {
      let always: readonly string[] | undefined
      const isDone = (time: number) => time >= times && always !== undefined && always.length <= expected
      for (let time = 0; time < 4 * times && !isDone(time); time++) {
        await before?.()
        await wait(QUIET_MS)
        await taken()
        await work()
        const files = new Set(await taken())
        always = always ? always.filter((file) => files.has(file)) : [...files]
      }
      return always ?? []
    },
    close: () => session.disconnect(),
  }
}
