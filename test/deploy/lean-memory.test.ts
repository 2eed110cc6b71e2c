/** A server is started with the settings of memory of `bin/lean-memory.mjs`, however it is started. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { leanMemory } from '../../bin/lean-memory.mjs'

const root = join(import.meta.dirname, '..', '..')

/** What a program that `npm start` keeps running finds of them. */
async function found(environment: Readonly<Record<string, string>>): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  try {
    const program = join(folder, 'program.mjs')
    const names = JSON.stringify(Object.keys(leanMemory))
    await writeFile(program, `console.log(JSON.stringify(${names}.map((name) => process.env[name])))`)
    const keep = `import { keepRunning } from './bin/keep-running.mjs'; keepRunning(process.argv[1], [])`
    const words = ['--input-type=module', '-e', keep, program]
    const { stdout } = await promisify(execFile)(process.execPath, words, {
      cwd: root,
      env: { PATH: process.env.PATH, ...environment },
    })
    return JSON.parse(stdout)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

test('the kept program has them, and what is set already stays', async () => {
  expect(await found({})).toEqual(Object.values(leanMemory))
  expect(await found({ MALLOC_ARENA_MAX: '7' })).toEqual([leanMemory.MALLOC_TRIM_THRESHOLD_, '7'])
})

test.each(['Dockerfile', 'quoin.service'])('%s has the same', (file) => {
  const text = readFileSync(join(root, 'deploy', file), 'utf8')
  for (const [name, value] of Object.entries(leanMemory)) expect(text).toContain(`${name}=${value}`)
})
