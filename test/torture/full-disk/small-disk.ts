/** A file system of a few megabytes in memory: only root may mount one. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface SmallDisk {
  readonly folder: string
  close(): Promise<void>
}

const run = promisify(execFile)

/** Why there can be none, where there can be none. */
export async function openSmallDisk(megabytes: number): Promise<SmallDisk | string> {
  if (process.platform !== 'linux') return 'a small file system is mounted on Linux only'
  if (process.getuid?.() !== 0) return 'only root may mount a small file system'
  const folder = await mkdtemp(join(tmpdir(), 'quoin-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder])
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    return `a small file system cannot be mounted: ${error instanceof Error ? error.message.trim() : error}`
  }
  return {
    folder,
    async close() {
      await run('umount', [folder])
      await rm(folder, { recursive: true, force: true })
    },
  }
}
