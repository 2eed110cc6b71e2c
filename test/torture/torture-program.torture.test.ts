import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test.each<[string, string[], string]>([
  ['a part that does not exist', ['--only', 'nothing'], 'There is no part "nothing"'],
  ['a seed that is no number', ['--seed', 'x'], '--seed must be a whole number; got "x"'],
])('the program refuses %s and exits with 1', (_, words, message) => {
  const ended = spawnSync(process.execPath, [join(import.meta.dirname, 'torture.ts'), ...words], {
    encoding: 'utf8',
  })
  expect(ended.stderr).toContain(message)
  expect(ended.status).toBe(1)
})

test('--help names the parts, and runs none', () => {
  const words = [join(import.meta.dirname, 'torture.ts'), '--help']
  const ended = spawnSync(process.execPath, words, { encoding: 'utf8' })
  expect(ended.stdout).toMatch(/^fuzz +Good, bad and hostile/m)
  expect(ended.stdout).not.toContain('Seed')
  expect(ended.status).toBe(0)
})
