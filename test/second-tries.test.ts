import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type SecondTry, secondTryProblem } from './second-tries.ts'

const root = join(import.meta.dirname, '..')
const tries = (count: number): SecondTry[] =>
  Array.from({ length: count }, (_, n) => ({ name: `test ${n}`, error: 'was late' }))

test.each([
  ['four', 4, '4 tests passed at the second try only; at most 3 may. The run failed.'],
  ['three', 3, undefined],
  ['none', 0, undefined],
])('%s', (_, count, problem) => {
  expect(secondTryProblem(tries(count))).toBe(problem)
})

test.each([
  [1, 0],
  [4, 1],
])('a run with %i such tests names each with its first error, and ends with %i', (count, status) => {
  const folder = mkdtempSync(join(tmpdir(), 'quoin-second-'))
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const reporters = JSON.stringify(['default', join(root, 'test', 'second-tries.ts')])
    const config = `export default { test: { include: ['*.mjs'], exclude: ['vitest*'], retry: 1, reporters: ${reporters} } }`
    writeFileSync(join(folder, 'vitest.config.mjs'), config)
    const flaky = (n: number) =>
      `let tries${n} = 0; test('number ${n}', () => { tries${n} += 1; if (tries${n} === 1) throw new Error('late ${n}') })`
    const lines = [`import { test } from 'vitest'`, `test('passes', () => undefined)`]
    writeFileSync(
      join(folder, 'some.mjs'),
      [...lines, ...Array.from({ length: count }, (_, n) => flaky(n))].join('\n'),
    )
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
    const options = { cwd: folder, encoding: 'utf8', env: { PATH: process.env.PATH, NO_COLOR: '1' } } as const
    const ended = spawnSync(process.execPath, [vitest, 'run'], options)
    expect(ended.stdout).toContain(`Passed at the second try: ${count}.`)
    for (let n = 0; n < count; n++) expect(ended.stdout).toContain(`some.mjs > number ${n}: late ${n}`)
    expect(ended.stdout).not.toContain('some.mjs > passes')
    expect(ended.status).toBe(status)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
