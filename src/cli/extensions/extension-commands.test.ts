import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandFixture, openCommandFixture } from '../../../test/command-fixture.ts'
import { quoinCommand } from '../../../test/recording-terminal.ts'

let folder: string
let fixture: CommandFixture
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-blocks-'))
  fixture = await openCommandFixture('over HTTP', { settings: { QUOIN_BLOCKS: folder } })
})
afterAll(async () => {
  await fixture?.close()
  await rm(folder, { recursive: true, force: true })
})

test('an extension is looked at, switched on by its hash, switched off and removed', async () => {
  const run = (...words: string[]) => fixture.run(['extension', ...words])
  expect(await run('list')).toMatchObject({ code: 0, complained: expect.stringContaining('There are none') })
  expect(await run('on', 'acme')).toMatchObject({ code: 1 })
  await quoinCommand(['extension', 'new', 'acme', '--folder', join(folder, 'acme')], {})
  const { printed } = await run('list')
  expect(printed).toMatch(
    /^acme\toff\n {2}0\.1\.0\tin the folder\t[0-9a-f]{12}\n {4}calls nothing; reads nothing; changes nothing\n {4}acme_greet\tGreet$/,
  )
  expect(await run('on', 'acme', '--hash', 'ffff')).toMatchObject({ code: 1 })
  expect(await run('off', 'acme')).toMatchObject({ code: 1 })
  const [hash = ''] = /[0-9a-f]{12}/.exec(printed) ?? []
  const on = await run('on', 'acme', '--hash', hash)
  expect([on.code, on.printed.split('\n')[0]]).toEqual([0, 'acme\ton: 0.1.0'])
  expect(await run('remove', 'acme')).toMatchObject({ code: 1, complained: expect.stringContaining('is on') })
  expect(await run('off', 'acme')).toMatchObject({ code: 0 })
  expect(await run('remove', 'acme')).toMatchObject({ code: 0 })
  expect((await run('list')).printed).toBe(printed)
})
