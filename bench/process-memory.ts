import { readFileSync, writeFileSync } from 'node:fs'

/** Bytes of memory that a process has, and the most it has had since it was last asked to forget that. */
export interface ProcessMemory {
  readonly resident: number
  /** Of that, pages of files: the program's own and those of a database that is mapped. The kernel takes them back. */
  readonly mapped: number
  readonly peak: number
}

/** undefined where the kernel does not tell (it is not Linux). */
export function memoryOf(pid: number): ProcessMemory | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return {
      resident: bytesIn(status, 'VmRSS'),
      mapped: bytesIn(status, 'RssFile'),
      peak: bytesIn(status, 'VmHWM'),
    }
  } catch {
    return undefined
  }
}

/** From now on the peak is counted again: what the start of the process took is none of a request's. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

function bytesIn(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024
}
