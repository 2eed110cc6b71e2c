import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type SkippedTest, skipProblem } from './named-skips.ts'

const root = join(import.meta.dirname, '..')
const skips = (count: number, reason?: string): SkippedTest[] =>
  Array.from({ length: count }, (_, n) => ({ name: `test ${n}`, reason }))

test.each([
  ['six', skips(6, 'no server'), '6 tests were skipped; at most 5 may be'],
  ['one without a reason', [...skips(1, 'no server'), ...skips(1)], '1 tests were skipped without a reason'],
  ['five with a reason', skips(5, 'no server'), undefined],
  ['none', [], undefined],
])('%s', (_, skipped, problem) => {
  if (problem === undefined) expect(skipProblem(skipped)).toBe(undefined)
  else expect(skipProblem(skipped)).toContain(problem)
})

test('a run whose tests pass ends with 1 when too many were skipped, and names each', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quoin-skips-'))
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const reporters = JSON.stringify(['default', join(root, 'test', 'named-skips.ts')])
    const config = `export default { test: { include: ['*.mjs'], exclude: ['vitest*'], reporters: ${reporters} } }`
    writeFileSync(join(folder, 'vitest.config.mjs'), config)
    const titles = [1, 2, 3, 4, 5].map(
      (n) => `test.skip('number ${n} (server ${n} is missing)', () => undefined)`,
    )
    const recorded = `test('number 6', (context) => context.skip('server 6 is missing'))`
    const lines = [`import { test } from 'vitest'`, `test('passes', () => undefined)`, ...titles, recorded]
    writeFileSync(join(folder, 'some.mjs'), lines.join('\n'))
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
    const options = { cwd: folder, encoding: 'utf8', env: { PATH: process.env.PATH, NO_COLOR: '1' } } as const
    const ended = spawnSync(process.execPath, [vitest, 'run'], options)
    for (let n = 1; n <= 6; n++)
      expect(ended.stdout).toContain(`some.mjs > number ${n}: server ${n} is missing`)
    expect(ended.stdout).toContain('1 passed')
    expect(ended.stderr).toContain('6 tests were skipped; at most 5 may be. The run failed.')
    expect(ended.status).toBe(1)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
