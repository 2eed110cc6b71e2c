/** Which files of `src` a piece of work executes: V8's precise coverage, which counts calls since it was last taken. */
import { Session } from 'node:inspector/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const source = join(import.meta.dirname, '../../src')

export interface FileCounter {
  /** Sorted paths below `src`. Of `times` the fewest: a poll of the queue may fall into one of them. */
  during(work: () => Promise<void>, times?: number): Promise<readonly string[]>
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
    async during(work, times = 3) {
      let fewest: readonly string[] | undefined
      for (let time = 0; time < times; time++) {
        await taken()
        await work()
        const files = await taken()
        if (fewest === undefined || files.length < fewest.length) fewest = files
      }
      return fewest ?? []
    },
    close: () => session.disconnect(),
  }
}
