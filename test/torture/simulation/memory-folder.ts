import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A folder in memory where there is one (Linux), else among the temporary files. A simulated kill loses nothing that was
 * handed to the operating system, so a disk would only cost time: removing the files of one interleaving of the writer
 * waits 9 of 13 ms for a busy disk.
 */
export async function memoryFolder(name: string): Promise<string> {
  try {
    return await mkdtemp(join('/dev/shm', name))
  } catch {
    return mkdtemp(join(tmpdir(), name))
  }
}
