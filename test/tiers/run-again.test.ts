import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

/** A suite whose tests pass at its second run only: its first one leaves a file behind. */
const late = (name: string) => `import { existsSync, writeFileSync } from 'node:fs'
import { test } from 'vitest'
const isSecond = existsSync('${name}.ran')
writeFileSync('${name}.ran', '')
test('is late', () => { if (!isSecond) throw new Error('late') })`
const passing = `import { test } from 'vitest'
test('passes', () => undefined)`
const failing = passing.replace('undefined', '{ throw new Error() }')
const skipping = `import { test } from 'vitest'
test.skip('without a reason', () => undefined)`
/** An error of no test, beside a suite that would pass the second time. */
const unhandled = `${late('unhandled')}
if (!isSecond) void Promise.reject(new Error('of no suite'))`

test.each([
  ['a suite that fails each time', { CI: '1' }, { a: failing, b: passing }, 1, ['a']],
  [
    'more suites than are an accident',
    { CI: '1' },
    { a: late('a'), b: late('b'), c: late('c'), d: late('d') },
    1,
    [],
  ],
  ['a failed suite at a desk', {}, { a: late('a'), b: passing }, 1, []],
  ['an error that belongs to no suite', { CI: '1' }, { a: unhandled, b: passing }, 1, []],
  ['tests that are skipped without a reason', { CI: '1' }, { a: late('a'), b: skipping }, 1, []],
  ['a suite that passes the second time', { CI: '1' }, { a: late('a'), b: passing }, 0, ['a']],
  ['three of them', { CI: '1' }, { a: late('a'), b: late('b'), c: late('c') }, 0, ['a', 'b', 'c']],
] as const)('%s', (_, env, suites, status, again) => {
  const folder = mkdtempSync(join(tmpdir(), 'quoin-again-'))
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const own = ['second-tries.ts', 'named-skips.ts'].map((name) => join(root, 'test', name))
    const reporters = JSON.stringify(['default', ...own])
    const config = `export default { test: { include: ['*.mjs'], exclude: ['vitest*'], reporters: ${reporters} } }`
    writeFileSync(join(folder, 'vitest.config.mjs'), config)
    for (const [name, text] of Object.entries(suites)) writeFileSync(join(folder, `${name}.mjs`), text)
    const options = {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, NO_COLOR: '1', ...env },
    } as const
    const words = [join(root, 'test', 'tiers', 'run-again.ts'), '--maxWorkers=1']
    const ended = spawnSync(process.execPath, words, options)
    expect([
      ended.status,
      /^Run once more .*: (.*)$/m.exec(ended.stdout)?.[1]?.split(', ').toSorted() ?? [],
    ]).toEqual([status, again.map((name) => `${name}.mjs`)])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
