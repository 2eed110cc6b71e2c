/** Which files of `src` a piece of work executes: V8's precise coverage, which counts calls since it was last taken. */
import { Session } from 'node:inspector/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const source = join(import.meta.dirname, '../../src')

export interface FileCounter {
  /**
   * Sorted paths below `src` that are executed each of `times` times: a timer, such as the queue's, may fall into one of
   * them. What is done `before` each of them is not counted.
   */
  during(work: () => Promise<void>, times?: number, before?: () => Promise<void>): Promise<readonly string[]>
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
    async during(work, times = 5, before = async () => undefined) {
      let always: readonly string[] | undefined
      for (let time = 0; time < times; time++) {
        await before()
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
