import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandFixture, openCommandFixture } from '../../../test/command-fixture.ts'

let fixture: CommandFixture
beforeAll(async () => {
  fixture = await openCommandFixture('over HTTP')
})
afterAll(() => fixture?.close())

test('a space is made, shown, changed, suspended and deleted', async () => {
  const run = (...words: string[]) => fixture.run(['space', ...words])
  expect(await run('list')).toMatchObject({ code: 0, complained: expect.stringContaining('no spaces') })
  expect(await run('create', 'red')).toMatchObject({ code: 2 })
  expect(await run('create', 'red', '--hosts', 'red.test', '--jobs', 'many')).toMatchObject({ code: 2 })
  expect(await run('show', 'red')).toMatchObject({
    code: 1,
    complained: expect.stringContaining('no space "red"'),
  })
  const made = await run('create', 'red', '--hosts', 'red.test, rouge.test', '--documents', '5')
  expect([made.code, made.printed]).toEqual([0, expect.stringMatching(/^admin \/ \S{16,}$/)])
  expect((await run('list')).printed).toBe('red\tactive\topen\tred.test,rouge.test')
  expect((await run('show', 'red')).printed).toMatch(/documents\t0 of 5\n[\s\S]*\nhealth\topen$/)
  expect(await run('set', 'red', '--jobs', '7', '--suspended', 'maybe')).toMatchObject({ code: 2 })
  expect(await run('set', 'red', '--jobs', '7', '--suspended', 'yes')).toMatchObject({ code: 0 })
  const { printed } = await run('show', 'red')
  expect(printed).toMatch(/^red\tsuspended\t/)
  // Quotas that were not named stay.
  expect(printed).toMatch(/documents\t0 of 5\n[\s\S]*jobs\t0 of 7\nhealth\tclosed$/)
  expect(await run('backup', 'red')).toMatchObject({ code: 1 })
  expect(await run('delete', 'red')).toMatchObject({
    code: 2,
    complained: expect.stringContaining('--confirm red'),
  })
  expect(await run('delete', 'red', '--confirm', 'blue')).toMatchObject({ code: 2 })
  expect((await run('list')).printed).toContain('red')
  expect(await run('delete', 'red', '--confirm', 'red')).toMatchObject({ code: 0 })
  expect((await run('list')).printed).toBe('')
})
