import { execFile, execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const script = join(import.meta.dirname, '../scripts/check-changelog.mjs')

let upstream: string
beforeAll(async () => {
  upstream = await mkdtemp(join(tmpdir(), 'quoin-changelog-'))
  git(upstream, 'init', '--quiet', '--initial-branch=main')
  await write(upstream, { 'src/a.ts': '1', 'CHANGELOG.md': '1', 'docs/a.md': '1' })
  commit(upstream)
})
afterAll(() => rm(upstream, { recursive: true }))

test.each<[string, committed: Record<string, string>, open: Record<string, string>, code: number]>([
  ['a file of the program', {}, { 'src/a.ts': '2' }, 1],
  ['a new file of the program', {}, { 'src/b.ts': '2' }, 1],
  ['a commit of the program', { 'src/a.ts': '2' }, {}, 1],
  ['a commit of the program and a line after it', { 'src/a.ts': '2' }, { 'CHANGELOG.md': '2' }, 0],
  ['both in one commit', { 'src/a.ts': '2', 'CHANGELOG.md': '2' }, {}, 0],
  ['a test and a page', {}, { 'src/a.test.ts': '2', 'docs/a.md': '2' }, 0],
  ['nothing', {}, {}, 0],
])('%s', async (_what, committed, open, code) => {
  const clone = await mkdtemp(join(tmpdir(), 'quoin-changelog-'))
  try {
    git(clone, 'clone', '--quiet', upstream, '.')
    if (Object.keys(committed).length > 0) {
      await write(clone, committed)
      commit(clone)
    }
    await write(clone, open)
    const run = promisify(execFile)(process.execPath, [script], { cwd: clone })
    const ended = await run.then(
      () => ({ code: 0, stderr: '' }),
      (error: { code: number; stderr: string }) => error,
    )
    expect(ended.code).toBe(code)
    expect(ended.stderr.split('\n').length - 1).toBe(code)
  } finally {
    await rm(clone, { recursive: true })
  }
})

test('outside of a checkout nothing is asked', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-changelog-'))
  const env = { PATH: process.env.PATH, GIT_CEILING_DIRECTORIES: tmpdir() }
  await promisify(execFile)(process.execPath, [script], { cwd: folder, env })
  await rm(folder, { recursive: true })
})

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
}

function commit(folder: string): void {
  git(folder, 'add', '--all')
  git(folder, '-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', 'commit', '--quiet', '-m', 'Change')
}

function git(folder: string, ...words: readonly string[]): void {
  execFileSync('git', words, { cwd: folder, stdio: 'ignore' })
}
