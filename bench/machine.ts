import { spawnSync } from 'node:child_process'
import { mkdtemp, open, rm, statfs } from 'node:fs/promises'
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { median } from './statistics.ts'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGib: number
  readonly kernel: string
  readonly node: string
  readonly fileSystem: string
  /** Milliseconds of one `fdatasync` after 4 KiB, the median of 200, where the databases are. */
  readonly syncMs: number
  /** Processes that wanted to run in the minute before: above 0, others had a part of the machine. */
  readonly loadBefore: number
  readonly date: string
  readonly commit: string
}

export async function describeMachine(): Promise<Machine> {
  const [first] = cpus()
  return {
    cpu: first?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.version,
    fileSystem: await fileSystemName(),
    syncMs: await measureSync(),
    loadBefore: loadavg()[0] ?? Number.NaN,
    date: new Date().toISOString().slice(0, 10),
    commit: commit(),
  }
}

const fileSystems = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x794c7630, 'overlay'],
  [0x2fc12fc1, 'zfs'],
  [0x01021994, 'tmpfs, where a sync costs nothing and durable rows mean little'],
])

async function fileSystemName(): Promise<string> {
  const { type } = await statfs(tmpdir())
  return fileSystems.get(type) ?? `0x${type.toString(16)}`
}

async function measureSync(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-bench-sync-'))
  try {
    const file = await open(join(folder, 'file'), 'w')
    const block = Buffer.alloc(4096, 1)
    const times: number[] = []
    for (let round = 0; round < 200; round++) {
      await file.write(block)
      const began = performance.now()
      await file.datasync()
      times.push(performance.now() - began)
    }
    await file.close()
    return median(times)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function commit(): string {
  const git = (...words: string[]) =>
    spawnSync('git', words, { cwd: import.meta.dirname, encoding: 'utf8' }).stdout?.trim() ?? ''
  const hash = git('rev-parse', '--short=12', 'HEAD')
  if (hash === '') return 'not from a repository'
  // The report itself is written by the bench.
  const changed = git('status', '--porcelain', '--', ':/', ':(exclude,top)docs/benchmarks.md')
  return changed === '' ? hash : `${hash} with uncommitted changes`
}
