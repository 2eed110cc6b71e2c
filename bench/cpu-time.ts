import { readdirSync, readFileSync } from 'node:fs'

/**
 * Microseconds for which the process's threads have had a core so far; undefined where the kernel does not tell (it is
 * not Linux). Waiting for the core is not in it, so it suffers less than replies a second when others want the core too.
 */
export function cpuMicroseconds(pid: number): number | undefined {
  const threads = `/proc/${pid}/task`
  try {
    const nanoseconds = readdirSync(threads).map((thread) => {
      const [onCore] = readFileSync(`${threads}/${thread}/schedstat`, 'utf8').split(' ')
      return Number(onCore)
    })
    return nanoseconds.reduce((sum, one) => sum + one, 0) / 1000
  } catch {
    return undefined
  }
}
